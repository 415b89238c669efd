/*
 * fixture_more.c - handlers that use what came after the first revisions.
 */
#include "fixture_more.h"

#include <string.h>

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
#define PLAIN_TOOL(name)                                                                           \
    "{\"name\":\"" name "\",\"description\":\"More\",\"inputSchema\":{\"type\":\"object\"}}"
/* clang-format on */

static const char value_json[] = "{\"name\":\"more/value\",\"description\":\"Gives an array\","
                                 "\"inputSchema\":{\"type\":\"object\"},"
                                 "\"outputSchema\":{\"type\":\"array\"}}";

static mcp_status give_value(mcp_call *call, void *data)
{
    mcp_json_writer *value = mcp_call_value(call);

    (void)data;
    mcp_write_array(value);
    mcp_write_int(value, 1);
    mcp_write_double(value, 2.5);
    mcp_write_null(value);
    mcp_write_end(value);
    return MCP_OK;
}

static mcp_status need_sampling(mcp_call *call, void *data)
{
    mcp_status st = mcp_call_require(call, MCP_CLIENT_SAMPLING);

    (void)data;
    if (st == MCP_OK)
        mcp_write_member_bool(mcp_call_result(call), "can", true);
    return st;
}

/* Three log messages, a progress report between them. */
static mcp_status log_some(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1 };

    (void)data;
    mcp_call_log(call, MCP_LEVEL_DEBUG, NULL, "gentle");
    mcp_call_log(call, MCP_LEVEL_INFO, "more", "step %d", 1);
    mcp_call_progress(call, &progress);
    mcp_call_log_json(call, MCP_LEVEL_ERROR, NULL, "{\"left\":0.5}");
    return mcp_call_text(call, "logged");
}

static mcp_status read_kept(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_cache(call, 60000, false);
    return mcp_call_contents_text(call, NULL, NULL, "kept", 4);
}

static const mcp_tool tools[] = {
    { "more/value", give_value, MCP_READS, 0, 0 },
    { "more/sampling", need_sampling, MCP_READS, 0, 0 },
    { "more/log", log_some, MCP_READS, 0, 0 },
    { 0 },
};

static const char resources_json[] =
    "{\"resources\":[{\"uri\":\"more://kept\",\"name\":\"kept\",\"mimeType\":\"text/plain\"}],"
    "\"resourceTemplates\":[{\"uriTemplate\":\"more://city/{city}\",\"name\":\"city\"}]}";

static const mcp_resource resources[] = {
    { "more://kept", read_kept, MCP_READS, 0 },
    { "more://city/{city}", read_kept, MCP_READS, 0 },
    { 0 },
};

static const char trip_md[] = "---\n"
                              "name: more/trip\n"
                              "argument: country, required, Where\n"
                              "argument: city, required, Where exactly\n"
                              "---\n"
                              "Go to {{city}} in {{country}}.\n";

static const mcp_prompt prompts[] = { { "more/trip", NULL, MCP_READS, 0 }, { 0 } };

static mcp_status complete_city(mcp_call *call, void *data)
{
    static const char *const cities[] = { "Paris", "Pau", "Padua", "Lyon" };
    const char *country = mcp_arg_string(call, "country");
    const char *typed = mcp_call_typed(call);

    (void)data;
    for (size_t i = 0; i < 4; i++) {
        bool is_there = !country || (strcmp(country, "Italy") == 0) == (i == 2);
        if (is_there && strncmp(cities[i], typed, strlen(typed)) == 0)
            mcp_call_suggest(call, cities[i]);
    }
    return MCP_OK;
}

static mcp_status complete_many(mcp_call *call, void *data)
{
    (void)data;
    for (int i = 0; i < 101; i++)
        mcp_call_suggest(call, mcp_arena_printf(mcp_call_arena(call), "%d", i));
    return MCP_OK;
}

static const mcp_completion completions[] = {
    { "more/trip", "city", complete_city },
    { "more://city/{city}", "city", complete_many },
    { 0 },
};

static const mcp_file files[] = {
    FILE_OF("tools/value.json", value_json),
    FILE_OF("tools/sampling.json", PLAIN_TOOL("more/sampling")),
    FILE_OF("tools/log.json", PLAIN_TOOL("more/log")),
    FILE_OF("prompts/trip.md", trip_md),
    FILE_OF("resources.json", resources_json),
    { 0 },
};

const mcp_features fixture_more = { .files = files,
                                    .tools = tools,
                                    .resources = resources,
                                    .prompts = prompts,
                                    .completions = completions };
