/*
 * changes.c - a server whose list of tools changes while it serves, and a resource with
 * subscribers.
 *
 *     open_shop     offers the tool "buy"; clients with a subscription are notified that the list has changed
 *     close_shop    withdraws it; a purchase that is being made is still answered
 *     buy           takes one apple: subscribers of shop://apples are notified
 *
 * Features are added and removed as a set: the shop's tables and files are one set, identified by
 * its pointer. Handlers and any other thread of the program may add and remove sets.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mcp/mcp.h"

#define FILE_OF(path, text)                                                                        \
    {                                                                                              \
        path, text, sizeof text - 1                                                                \
    }

static const char open_json[] = "{\"name\":\"open_shop\",\"description\":\"Opens the shop\","
                                "\"inputSchema\":{\"type\":\"object\"}}";
static const char close_json[] = "{\"name\":\"close_shop\",\"description\":\"Closes the shop\","
                                 "\"inputSchema\":{\"type\":\"object\"}}";
static const char buy_json[] = "{\"name\":\"buy\",\"description\":\"Buys an apple\","
                               "\"inputSchema\":{\"type\":\"object\"}}";
static const char resources_json[] =
    "{\"resources\":[{\"uri\":\"shop://apples\",\"name\":\"apples\","
    "\"description\":\"How many apples are left\",\"mimeType\":\"text/plain\"}]}";

static atomic_int apples = 12;

static mcp_status buy(mcp_call *call, void *data)
{
    (void)data;
    if (atomic_fetch_sub(&apples, 1) <= 0) {
        atomic_fetch_add(&apples, 1);
        return mcp_call_tool_error(call, "There are no apples left.");
    }
    mcp_status st = mcp_server_resource_updated(mcp_call_server(call), "shop://apples",
                                                mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "Here is your apple.") : st;
}

static const mcp_file shop_files[] = { FILE_OF("tools/buy.json", buy_json), { 0 } };
static const mcp_tool shop_tools[] = { { "buy", buy, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features shop = { .files = shop_files, .tools = shop_tools };

static mcp_status open_shop(mcp_call *call, void *data)
{
    mcp_status st = mcp_server_add_features(mcp_call_server(call), &shop, mcp_call_error(call));

    (void)data;
    return st == MCP_OK ? mcp_call_text(call, "The shop is open.") : st;
}

static mcp_status close_shop(mcp_call *call, void *data)
{
    mcp_status st = mcp_server_remove_features(mcp_call_server(call), &shop, mcp_call_error(call));

    (void)data;
    return st == MCP_OK ? mcp_call_text(call, "The shop is closed.") : st;
}

static mcp_status read_apples(mcp_call *call, void *data)
{
    char *text = mcp_arena_printf(mcp_call_arena(call), "%d apples", atomic_load(&apples));

    (void)data;
    return text ? mcp_call_contents_text(call, NULL, NULL, text, strlen(text)) : MCP_E_NOMEM;
}

static const mcp_file files[] = { FILE_OF("tools/open_shop.json", open_json),
                                  FILE_OF("tools/close_shop.json", close_json),
                                  FILE_OF("resources.json", resources_json),
                                  { 0 } };
static const mcp_tool tools[] = { { "open_shop", open_shop, MCP_READS, 0, 0 },
                                  { "close_shop", close_shop, MCP_READS, 0, 0 },
                                  { 0 } };
static const mcp_resource resources[] = { { "shop://apples", read_apples, MCP_READS, 0 }, { 0 } };

int main(void)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_features features = { .files = files, .tools = tools, .resources = resources };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.name = "changes";
    options.version = "1.0.0";
    options.list_changed = true;
    options.subscriptions = true;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    if (st != MCP_OK)
        fprintf(stderr, "changes: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
