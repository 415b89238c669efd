/*
 * notifications.h - notifications/resources/updated for clients that subscribed to
 * universe://{id}/state or /summary: at once, and then at most once a second for each universe.
 */
#ifndef UNIVERSE_NOTIFICATIONS_H
#define UNIVERSE_NOTIFICATIONS_H

#include "mcp/server.h"
#include "service/service.h"

typedef struct universe_notifications universe_notifications;

/**
 * Start, as the watcher of the service.
 *
 * @param out     yours, end it by universe_notifications_stop before the server and the service are
 *                freed
 * @param server  borrowed
 * @param service borrowed
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: no thread
 */
mcp_status universe_notifications_start(universe_notifications **out, mcp_server *server,
                                        universe_service *service, const mcp_log *log,
                                        mcp_error *err);

/** Stop: no notification follows. NULL is fine. */
void universe_notifications_stop(universe_notifications *notifications);

#endif
