/**
 * route.h - which sink of several an output goes to, by its name.
 *
 * Source: casparian's data model, 9.1.
 */
#ifndef CASPARIAN_SINKS_ROUTE_H
#define CASPARIAN_SINKS_ROUTE_H

#include <stddef.h>

#include "sinks/uri.h"

/** An entry of [[sinks]]: where outputs go. */
typedef struct casparian_route {
    const char *topic; /* the name of an output; "*" or "output": those without an entry */
    const char *uri;
    const char *mode; /* "append", "replace" or "error"; NULL: that of the URI */
} casparian_route;

/**
 * Read the sink of a route, with its mode.
 *
 * @param base as in casparian_sink_uri_read
 * @return as casparian_sink_uri_read; MCP_E_PARAMS also where the mode is none of the sink, or
 *         another one than the URI names
 */
mcp_status casparian_route_sink(casparian_sink_uri *out, mcp_arena *arena,
                                const casparian_route *route, const char *base, mcp_error *err);

/**
 * Find the route of an output: the one of its name, else that of "*" or "output", else the only
 * one.
 *
 * @param output its name; "*": those that have no entry
 * @return MCP_OK; MCP_E_NOT_FOUND: it has no route
 */
mcp_status casparian_route_find(const casparian_route **out, const casparian_route *routes,
                                size_t count, const char *output, mcp_error *err);

#endif
