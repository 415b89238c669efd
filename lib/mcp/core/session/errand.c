/*
 * errand.c - notifications/elicitation/complete, to the one client that it concerns.
 *
 * An errand is remembered when the client is told of it, and forgotten when it is done, or with the session.
 * Most are never reported done by programs that see it another way, so their number is bounded: beyond it
 * the client is not told, which it has to reckon with in any case.
 */
#include "mcp/core/session/errand.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/news/subscribe.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task_table.h"

#define ERRANDS_MAX 100
#define MESSAGE_MAX ((size_t)64 * 1024)

static void keep(mcp__session *session, const char *id)
{
    size_t length = strlen(id);
    mcp__map *errands = &session->errands;

    if (mcp__map_get(errands, id, length) || errands->count >= ERRANDS_MAX)
        return;
    char *copy = mcp__alloc(length + 1);
    if (copy)
        memcpy(copy, id, length + 1);
    if (copy && mcp__map_put(errands, copy, length, copy) != MCP_OK)
        free(copy);
}

void mcp__errand_keep(const mcp_call *call)
{
    /* A task runs in the session of the task table. */
    mcp__session *client = call->as_task ? call->as_task->session : call->session;
    const mcp__errand *errand = client ? call->asking.errands : NULL;

    for (; errand; errand = errand->next)
        keep(client, errand->id);
}

static void tell(mcp__session *session, const char *id)
{
    mcp_json_writer writer;
    mcp_buf message;

    mcp_buf_init(&message, MESSAGE_MAX);
    mcp_json_writer_init(&writer, &message);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_string(&writer, "method", "notifications/elicitation/complete");
    mcp_write_member_object(&writer, "params");
    mcp_write_member_string(&writer, "elicitationId", id);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        session->news->notify(session->news, &message);
    mcp_buf_clear(&message);
}

void mcp__errand_tell(mcp__session *session, const mcp__map *ids)
{
    size_t at = 0;
    const char *id;

    while ((id = mcp__map_next(ids, &at)) != NULL) {
        char *kept = mcp__map_remove(&session->errands, id, strlen(id));
        if (kept && session->news)
            tell(session, kept);
        free(kept);
    }
}

void mcp__errand_clear(mcp__session *session)
{
    mcp__subscribe_free_uris(&session->errands);
}
