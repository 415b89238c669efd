/*
 * events.c - the events of a workspace as server-sent events.
 */
#include "rest/rest.h"
#include "rest/routes.h"
#include "store/record.h"

enum { KEEPALIVE_MS = 30000, RETRY_MS = 2000 };

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

static mcp_status follow(mcp_call *call, const portarium_request *request,
                         const portarium_reply *reply, void *data)
{
    portarium_app *app = data;
    bus_subscription how = { .first = ": connected\n\n",
                             .retry_ms = RETRY_MS,
                             .keepalive_ms = KEEPALIVE_MS };
    if (reply->status != 200)
        return portarium_rest_answer(call, app, reply, request->correlation_id);
    how.has_after = bus_read_id(&how.after, mcp_call_last_event_id(call)) ||
                    bus_read_id(&how.after, portarium_argument(request, "after"));
    portarium_rest_headers(call, app, reply, request->correlation_id);
    return bus_subscribe(portarium_plane_events(app->plane), call, request->workspace, &how,
                         mcp_call_error(call));
}

mcp_status portarium_rest_events(mcp_call *call, void *data)
{
    return portarium_rest_run(call, data, &stream, follow);
}
