/*
 * server.c - a server as somebody else writes it, against the installed library alone.
 */
#include <mcp/mcp.h>

extern const mcp_file echo_files[];

static mcp_status echo(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, mcp_arg_string(call, "message"));
}

int main(void)
{
    static const mcp_tool tools[] = { { "echo", echo, MCP_READS, 0, 0 }, { 0 } };
    mcp_server_options options = { .name = "installed", .version = "1.0.0" };
    mcp_features features = { .files = echo_files, .tools = tools };
    mcp_server *server = NULL;
    int failed = mcp_server_new(&server, &options, NULL) ||
                 mcp_server_add(server, &features, NULL) || mcp_server_stdio(server, NULL);

    mcp_server_free(server);
    return failed;
}
