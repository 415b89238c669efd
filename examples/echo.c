/*
 * echo.c - the least that a tool can do: say what it is told, as text. bench/ measures it.
 */
#include <mcp/mcp.h>
#include <stdio.h>

static mcp_status echo(mcp_call *call, void *data)
{
    const char *message = mcp_arg_string(call, "message");

    (void)data;
    if (!message)
        return mcp_call_refuse(call, "A message holds no NUL byte.");
    return mcp_call_text(call, message);
}

static const char definition[] =
    "{\"name\":\"echo\",\"description\":\"Says what it is told.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"message\":{\"type\":\"string\"}},\"required\":[\"message\"]}}";

int main(void)
{
    static const mcp_file files[] = { { "tools/echo.json", definition, sizeof definition - 1 },
                                      { 0 } };
    static const mcp_tool tools[] = { { "echo", echo, MCP_READS, 0, 0 }, { 0 } };
    mcp_server_options options = { .name = "echo", .version = "1.0.0" };
    mcp_features features = { .files = files, .tools = tools };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    mcp_server_free(server);
    if (st != MCP_OK)
        fprintf(stderr, "echo: %s\n", err.message);
    return st == MCP_OK ? 0 : 1;
}
