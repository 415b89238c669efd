/*
 * fixture_more.c - handlers that use what came after the first revisions.
 */
#include "fixture_more.h"

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

static mcp_status read_kept(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_cache(call, 60000, false);
    return mcp_call_contents_text(call, NULL, NULL, "kept", 4);
}

static const mcp_tool tools[] = {
    { "more/value", give_value, MCP_READS, 0, 0 },
    { "more/sampling", need_sampling, MCP_READS, 0, 0 },
    { 0 },
};

static const char resources_json[] =
    "{\"resources\":[{\"uri\":\"more://kept\",\"name\":\"kept\",\"mimeType\":\"text/plain\"}]}";

static const mcp_resource resources[] = { { "more://kept", read_kept, MCP_READS, 0 }, { 0 } };

static const mcp_file files[] = {
    FILE_OF("tools/value.json", value_json),
    FILE_OF("tools/sampling.json", PLAIN_TOOL("more/sampling")),
    FILE_OF("resources.json", resources_json),
    { 0 },
};

const mcp_features fixture_more = { .files = files, .tools = tools, .resources = resources };
