/*
 * events.c - the events of a workspace as server-sent events.
 */
#include "mcp/clock.h"
#include "rest/rest.h"
#include "rest/routes.h"
#include "service/feed.h"
#include "store/record.h"
#include "store/tokens.h"

/* A stream ends with its token: when that expires, and when the feed reads that it was revoked or
 * that its user was deactivated. What else may change is seen when the reader comes back after its
 * lifetime. */
enum { KEEPALIVE_MS = 30000, RETRY_MS = 2000, LIFETIME_MS = 10 * 60 * 1000 };

/* Runs before the stream begins: a reader of the workspace may read its events. */
static mcp_status find_workspace(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record workspace;
    const char *text = portarium_argument(request, "after");
    int64_t after;
    if (text && !bus_read_id(&after, text))
        return portarium_refuse(reply, tx, err, 422, "after must be the id of an event.");
    reply->status = 200;
    return portarium_record_get(&workspace, tx, &portarium_workspaces, request->workspace, err);
}

static const portarium_operation stream = {
    .name = "streamEvents",
    .method = "GET",
    .path = "/events:stream",
    .permission = PORTARIUM_MAY_READ,
    .body = PORTARIUM_NO_BODY,
    .run = find_workspace,
};

/* Until the actor's token expires; 0: it does not. */
static int64_t time_left(const portarium_actor *actor)
{
    int64_t left_ms = actor->expires_ms - mcp_clock_wall_ms();
    return actor->expires_ms == 0 ? 0 : left_ms > 0 ? left_ms : 1;
}

static mcp_status check_caller(portarium_tx *tx, void *data, mcp_error *err)
{
    const portarium_actor *actor = data;
    portarium_token token;
    return actor->token_hash ? portarium_token_read(&token, tx, actor->token_hash, err)
                             : portarium_subject_check(tx, actor->subject, err);
}

/* The feed has ended the streams of a token that was revoked, or of a user who was deactivated,
 * perhaps just before this one was there. Where that cannot be read, they end, too, and their
 * readers come back. */
static mcp_status look_again(mcp_call *call, portarium_app *app, const portarium_request *request,
                             const bus_subscription *how)
{
    mcp_error err = MCP_ERROR_INIT;
    portarium_actor actor = *request->actor;
    mcp_status st = portarium_plane_read(app->plane, request->workspace, mcp_call_arena(call),
                                         check_caller, &actor, &err);
    if (st != MCP_OK)
        bus_end_owner(portarium_plane_events(app->plane), request->workspace,
                      how->owner ? how->owner : how->group);
    return MCP_OK;
}

static mcp_status follow(mcp_call *call, const portarium_request *request,
                         const portarium_reply *reply, void *data)
{
    portarium_app *app = data;
    char group[PORTARIUM_GROUP_SIZE];
    bus_subscription how = { .first = ": connected\n\n",
                             .retry_ms = RETRY_MS,
                             .keepalive_ms = KEEPALIVE_MS,
                             .lifetime_ms = LIFETIME_MS,
                             .owner = request->actor->token_id,
                             .group = group,
                             .expires_ms = time_left(request->actor) };
    if (reply->status != 200)
        return portarium_rest_answer(call, app, reply, request->correlation_id);
    portarium_feed_group(group, request->actor->subject);
    how.has_after = bus_read_id(&how.after, mcp_call_last_event_id(call)) ||
                    bus_read_id(&how.after, portarium_argument(request, "after"));
    portarium_rest_headers(call, app, reply, request->correlation_id);
    mcp_status st = bus_subscribe(portarium_plane_events(app->plane), call, request->workspace,
                                  &how, mcp_call_error(call));
    return st == MCP_OK ? look_again(call, app, request, &how) : st;
}

mcp_status portarium_rest_events(mcp_call *call, void *data)
{
    return portarium_rest_run(call, data, &stream, follow);
}
