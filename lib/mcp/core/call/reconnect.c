/*
 * reconnect.c - a handler sends its client away for a while.
 *
 * Only the peer knows whether its client can come back. The message to the loop is the call's memory: what a
 * worker posts is run before its call is done, so it is still there.
 */
#include "mcp/core/call/call_int.h"

struct wish {
    mcp__node node; /* first */
    mcp_call *call;
};

static void on_wish(mcp__node *node)
{
    mcp_call *call = ((struct wish *)node)->call;

    if (call->loop.is_open && call->notices->reconnect)
        call->notices->reconnect(call->notices);
}

void mcp_call_reconnect(mcp_call *call)
{
    struct wish *wish = mcp_arena_alloc(call->arena, sizeof(*wish));

    if (!wish) /* the client keeps its connection, that is all */
        return;
    *wish = (struct wish){ .node.run = on_wish, .call = call };
    mcp__call_post(call, &wish->node);
}
