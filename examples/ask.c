/*
 * ask.c - a tool that asks the user before it goes on, and never holds a thread while it waits.
 *
 *     {"method":"tools/call","params":{"name":"book_table","arguments":{"restaurant":"Chez Ada"}}}
 *
 * The handler is run from the top again when the answers are there. It reads as "given these answers, go
 * on", so it is the same for a client that is asked by a request (up to 2025-11-25) and for one that is
 * told what is missing and calls again (from 2026-07-28). What was kept by mcp_call_keep comes back with
 * the answers; the client may see it but cannot change it.
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

static const mcp_file files[] = {
    { "tools/book_table.json", book_table_json, sizeof book_table_json - 1 },
    { 0 },
};

/* The question goes out with the first run; the price that was told then must still hold. */
static mcp_status ask(mcp_call *call)
{
    mcp_status st = mcp_call_keep(call, "35 a head");

    return st == MCP_OK ? mcp_call_asked(call) : st;
}

static mcp_status book_table(mcp_call *call, void *data)
{
    const char *restaurant = mcp_arg_string(call, "restaurant");
    const mcp_json *answer = mcp_call_ask_form(call, "guests", "A table for how many?",
                                               guests_form);
    const mcp_json *form = mcp_json_get(answer, "content");
    int64_t guests = 0;
    bool outside = false;

    (void)data;
    if (!answer)
        return ask(call);
    if (!restaurant || !mcp_json_int(mcp_json_get(form, "guests"), &guests))
        return mcp_call_refuse(call, "No table was booked.");
    (void)mcp_json_bool(mcp_json_get(form, "outside"), &outside);
    mcp_write_member_string(mcp_call_result(call), "restaurant", restaurant);
    mcp_write_member_int(mcp_call_result(call), "guests", guests);
    mcp_write_member_bool(mcp_call_result(call), "outside", outside);
    mcp_write_member_string(mcp_call_result(call), "price", mcp_call_kept(call));
    return MCP_OK;
}

static const mcp_tool tools[] = { { "book_table", book_table, MCP_READS, 0, 0 }, { 0 } };

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
