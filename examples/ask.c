/*
 * ask.c - tools that request input from the client, and hold no thread while they wait.
 *
 *     {"method":"tools/call","params":{"name":"book_table","arguments":{"restaurant":"Chez Ada"}}}
 *
 * The handler runs again from the start when the responses are there. It reads as "given these
 * responses, continue", so it is the same for a client that gets a request (up to 2025-11-25) and
 * for one that gets the requests as a result and calls again (from 2026-07-28). What was kept by
 * mcp_call_set_request_state comes back with the answers; the client may see it but cannot change
 * it.
 */
#include <stdio.h>

#include "mcp/mcp.h"

static const char book_table_json[] =
    "{\"name\":\"book_table\",\"description\":\"Books a table after asking for how many\","
    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"restaurant\"],"
    "\"properties\":{\"restaurant\":{\"type\":\"string\"}}}}";

static const char guests_form[] =
    "{\"type\":\"object\",\"required\":[\"guests\"],\"properties\":{"
    "\"guests\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":12,\"title\":\"How many?\"},"
    "\"outside\":{\"type\":\"boolean\",\"title\":\"On the terrace?\",\"default\":false}}}";

static const char name_project_json[] =
    "{\"name\":\"name_project\",\"description\":\"Has the client's model name the client's project\","
    "\"inputSchema\":{\"type\":\"object\"}}";

static const mcp_file files[] = {
    { "tools/book_table.json", book_table_json, sizeof book_table_json - 1 },
    { "tools/name_project.json", name_project_json, sizeof name_project_json - 1 },
    { 0 },
};

/* The request is sent after the first run; the price of that moment must still hold. */
static mcp_status ask(mcp_call *call)
{
    mcp_status st = mcp_call_set_request_state(call, "35 a head");

    return st == MCP_OK ? mcp_call_input_required(call) : st;
}

static mcp_status book_table(mcp_call *call, void *data)
{
    const char *restaurant = mcp_arg_string(call, "restaurant");
    const mcp_json *answer = mcp_call_elicit_form(call, "guests", "A table for how many?",
                                                  guests_form);
    const mcp_json *form = mcp_json_get(answer, "content");
    int64_t guests = 0;
    bool outside = false;

    (void)data;
    if (!answer)
        return ask(call);
    if (!restaurant || !mcp_json_int(mcp_json_get(form, "guests"), &guests))
        return mcp_call_tool_error(call, "No table was booked.");
    (void)mcp_json_bool(mcp_json_get(form, "outside"), &outside);
    mcp_write_member_string(mcp_call_result(call), "restaurant", restaurant);
    mcp_write_member_int(mcp_call_result(call), "guests", guests);
    mcp_write_member_bool(mcp_call_result(call), "outside", outside);
    mcp_write_member_string(mcp_call_result(call), "price", mcp_call_request_state(call));
    return MCP_OK;
}

/* Two requests after each other: what the model is asked depends on the client's roots. */
static mcp_status name_project(mcp_call *call, void *data)
{
    const mcp_json *roots = mcp_call_list_roots(call, "roots");
    const char *uri = mcp_json_string(mcp_json_pointer(roots, "/roots/0/uri"), NULL);

    (void)data;
    if (!roots)
        return mcp_call_input_required(call);
    const char *params = mcp_arena_printf(
        mcp_call_arena(call),
        "{\"maxTokens\":20,\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
        "\"text\":\"Name a project with %zu roots\"}}]}",
        mcp_json_count(mcp_json_get(roots, "roots")));
    const mcp_json *answer = mcp_call_sample(call, "name", params);
    if (!answer)
        return mcp_call_input_required(call);
    mcp_write_member_string(mcp_call_result(call), "root", uri);
    mcp_write_member_value(mcp_call_result(call), "name",
                           mcp_json_pointer(answer, "/content/text"));
    return MCP_OK;
}

static const mcp_tool tools[] = { { "book_table", book_table, MCP_READS, 0, 0 },
                                  { "name_project", name_project, MCP_READS, 0, 0 },
                                  { 0 } };

int main(void)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_features features = { .files = files, .tools = tools };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.name = "ask";
    options.version = "1.0.0";
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    if (st != MCP_OK)
        fprintf(stderr, "ask: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
