/*
 * changes.c - tools that change what the server offers while it serves, and say so to those who
 * listen.
 *
 * Each trigger turns one thing on and off again: a tool, a prompt. Workers run side by side, so a
 * lock keeps "is it there?" and "take it away" together.
 */
#include <pthread.h>

#include "everything.h"

static const char dummy_tool[] = "{\"name\":\"dummy\",\"description\":\"Comes and goes\","
                                 "\"inputSchema\":{\"type\":\"object\"}}";
static const char dummy_prompt[] = "---\nname: dummy\ndescription: Comes and goes\n---\nNothing.\n";

static const mcp_file tool_files[] = { { "tools/dummy.json", dummy_tool, sizeof dummy_tool - 1 },
                                       { 0 } };
static const mcp_file prompt_files[] = {
    { "prompts/dummy.md", dummy_prompt, sizeof dummy_prompt - 1 },
    { 0 },
};
static const mcp_tool tools[] = { { "dummy", test_simple_text, MCP_READS, 0, 0 }, { 0 } };
static const mcp_prompt prompts[] = { { "dummy", NULL, MCP_READS, 0 }, { 0 } };

/* What comes and goes. */
struct guest {
    mcp_features features;
    bool is_here;
};

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER; /* of both guests */
static struct guest tool_guest = { { .files = tool_files, .tools = tools }, false };
static struct guest prompt_guest = { { .files = prompt_files, .prompts = prompts }, false };

static mcp_status turn(mcp_call *call, struct guest *guest)
{
    mcp_server *server = mcp_call_server(call);
    mcp_error *err = mcp_call_error(call);

    pthread_mutex_lock(&door);
    mcp_status st = guest->is_here ? mcp_server_remove_features(server, &guest->features, err)
                                   : mcp_server_add_features(server, &guest->features, err);
    if (st == MCP_OK)
        guest->is_here = !guest->is_here;
    bool is_here = guest->is_here;
    pthread_mutex_unlock(&door);
    return st == MCP_OK ? mcp_call_text(call, is_here ? "It is there." : "It is gone.") : st;
}

mcp_status test_trigger_tool_change(mcp_call *call, void *data)
{
    (void)data;
    return turn(call, &tool_guest);
}

mcp_status test_trigger_prompt_change(mcp_call *call, void *data)
{
    (void)data;
    return turn(call, &prompt_guest);
}

mcp_status test_trigger_resource_update(mcp_call *call, void *data)
{
    mcp_status st = mcp_server_resource_updated(mcp_call_server(call), "test://watched-resource",
                                                mcp_call_error(call));

    (void)data;
    return st == MCP_OK ? mcp_call_text(call, "Subscribers were notified.") : st;
}
