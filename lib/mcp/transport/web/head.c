/*
 * head.c - fields in their order.
 *
 * A stream says in three ways that nothing between us and the client may hold it back or change it:
 * caches are told by Cache-Control, nginx by X-Accel-Buffering.
 */
#include "mcp/transport/web/head.h"

#include <assert.h>

void mcp__head_add(mcp__head *head, const char *name, const char *value)
{
    if (!value)
        return;
    assert(head->count < MCP__HEAD_FIELDS);
    head->fields[head->count++] = (mcp__http_field_out){ .name = name, .value = value };
}

static void share(mcp__head *head, const char *origin, const char *exposed)
{
    if (!origin)
        return;
    mcp__head_add(head, "Access-Control-Allow-Origin", origin);
    mcp__head_add(head, "Access-Control-Expose-Headers", exposed);
    mcp__head_add(head, "Vary", "Origin");
}

void mcp__head_share(mcp__head *head, const char *origin)
{
    share(head, origin, "Mcp-Session-Id, WWW-Authenticate");
}

void mcp__head_share_route(mcp__head *head, const char *origin)
{
    share(head, origin, "ETag, Location, Next-Cursor, Retry-After, WWW-Authenticate");
}

void mcp__head_events(mcp__head *head)
{
    mcp__head_add(head, "Content-Type", "text/event-stream");
    mcp__head_add(head, "Cache-Control", "no-cache, no-transform");
    mcp__head_add(head, "X-Accel-Buffering", "no");
}

mcp__http_head_out mcp__head_out(const mcp__head *head, int status)
{
    return (mcp__http_head_out){
        .status = status,
        .fields = head->fields,
        .count = head->count,
    };
}
