/*
 * hello.c - the smallest server: one tool that greets.
 */
#include <mcp/mcp.h>
#include <stdio.h>

static mcp_status hello(mcp_call *call, void *data)
{
    const char *name = mcp_arg_string(call, "name");

    (void)data;
    if (!name)
        return mcp_call_tool_error(call, "A name holds no NUL byte.");
    mcp_write_member_string(mcp_call_result(call), "greeting",
                            mcp_arena_printf(mcp_call_arena(call), "Hello, %s!", name));
    return MCP_OK;
}

static const char definition[] =
    "{\"name\":\"hello\",\"description\":\"Greets somebody.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"name\":{\"type\":\"string\",\"default\":\"world\"}}}}";

static const mcp_file files[] = { { "tools/hello.json", definition, sizeof definition - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "hello", hello, MCP_READS, 0, 0 }, { 0 } };

int main(void)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_features features = MCP_FEATURES_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.name = "hello";
    options.version = "1.0.0";
    features.files = files;
    features.tools = tools;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    mcp_server_free(server);
    if (st != MCP_OK)
        fprintf(stderr, "hello: %s\n", err.message);
    return st == MCP_OK ? 0 : 1;
}
