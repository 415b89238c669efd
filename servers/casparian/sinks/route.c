/*
 * route.c - from the name of an output to its sink.
 */
#include "sinks/route.h"

#include <string.h>

mcp_status casparian_route_sink(casparian_sink_uri *out, mcp_arena *arena,
                                const casparian_route *route, const char *base, mcp_error *err)
{
    casparian_sink_uri sink;
    mcp_status st = casparian_sink_uri_read(&sink, arena, route->uri, base, err);
    if (st != MCP_OK)
        return st;
    if (route->mode && strcmp(route->mode, casparian_sink_mode_text(sink.mode)) != 0) {
        const char *query = strchr(route->uri, '?');
        if (sink.kind != CASPARIAN_SINK_DUCKDB)
            return mcp_error_set(err, MCP_E_PARAMS, "a sink of %s has the mode append alone",
                                 casparian_sink_kind_text(sink.kind));
        if (query && strstr(query, "mode="))
            return mcp_error_set(err, MCP_E_PARAMS, "the mode %s is not that of '%.200s'",
                                 route->mode, route->uri);
        const char *text = mcp_arena_printf(arena, "%s%cmode=%s", route->uri, query ? '&' : '?',
                                            route->mode);
        st = text ? casparian_sink_uri_read(&sink, arena, text, base, err)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    }
    if (st == MCP_OK)
        *out = sink;
    return st;
}

static const casparian_route *find_named(const casparian_route *routes, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(routes[i].topic, name) == 0)
            return &routes[i];
    return NULL;
}

mcp_status casparian_route_find(const casparian_route **out, const casparian_route *routes,
                                size_t count, const char *output, mcp_error *err)
{
    const casparian_route *found = find_named(routes, count, output);
    if (!found)
        found = find_named(routes, count, "*");
    if (!found)
        found = find_named(routes, count, "output");
    if (!found && count == 1)
        found = routes;
    if (!found)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "no entry of [[sinks]] has the topic '%.63s' or '*'", output);
    *out = found;
    return MCP_OK;
}
