/*
 * url_elicitation.c - notifications/elicitation/complete, to the one client that it concerns.
 *
 * An elicitation is remembered when the client learns of it, and forgotten when it is complete, or
 * with the session. Programs that complete them in another way never report it, so their number is
 * bounded: beyond it the client is not notified, which it has to expect in any case.
 */
#include "mcp/core/session/url_elicitation.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/response.h"

#define ELICITATIONS_MAX 100
#define MESSAGE_MAX ((size_t)64 * 1024)

static void keep(mcp__session *session, const char *id)
{
    size_t length = strlen(id);
    mcp__map *elicitations = &session->elicitations;

    if (mcp__map_get(elicitations, id, length) || elicitations->count >= ELICITATIONS_MAX)
        return;
    char *copy = mcp_alloc(length + 1);
    if (copy)
        memcpy(copy, id, length + 1);
    if (copy && mcp__map_put(elicitations, copy, length, copy) != MCP_OK)
        free(copy);
}

void mcp__url_elicitation_keep(mcp__session *session, const mcp_call *call)
{
    const mcp__url_elicitation *elicitation = session ? call->input.elicitations : NULL;

    for (; elicitation; elicitation = elicitation->next)
        keep(session, elicitation->id);
}

static void notify(mcp__session *session, const char *id)
{
    mcp_json_writer writer;
    mcp_buf message;

    mcp__notification_begin(&writer, &message, MESSAGE_MAX, "notifications/elicitation/complete");
    mcp_write_member_object(&writer, "params");
    mcp_write_member_string(&writer, "elicitationId", id);
    mcp_write_end(&writer);
    mcp__notification_send(session->listener, &writer, &message);
}

void mcp__url_elicitation_complete(mcp__session *session, const mcp__map *ids)
{
    size_t at = 0;
    const char *id;

    for (id = mcp__map_next(ids, &at); id != NULL; id = mcp__map_next(ids, &at)) {
        char *kept = mcp__map_remove(&session->elicitations, id, strlen(id));
        if (kept && session->listener)
            notify(session, kept);
        free(kept);
    }
}

void mcp__url_elicitation_clear(mcp__session *session)
{
    mcp__map_free_values(&session->elicitations);
}
