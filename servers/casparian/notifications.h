/**
 * notifications.h - notifies subscribers of jobs and approvals that have changed, in this process
 * or another.
 */
#ifndef CASPARIAN_NOTIFICATIONS_H
#define CASPARIAN_NOTIFICATIONS_H

#include "gateway/app.h"
#include "mcp/server.h"

typedef struct casparian_notifications casparian_notifications;

/** Start. @param out yours, end it with casparian_notifications_free. @return MCP_OK; MCP_E_NOMEM;
 *  statuses of db_listen */
mcp_status casparian_notifications_new(casparian_notifications **out, mcp_server *server,
                                       casparian_app *app, mcp_error *err);

/** NULL is fine. */
void casparian_notifications_free(casparian_notifications *self);

#endif
