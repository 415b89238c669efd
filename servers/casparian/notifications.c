/*
 * notifications.c - from announcements of the state to notifications of resources.
 *
 * A commit of this process names what has changed; of one of another process only the fact is
 * known. Then what this process has named last is notified: that is what clients look at.
 */
#include "notifications.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/resources.h"
#include "jobs/store.h"
#include "mcp/alloc.h"

enum { RECENT = 32, URI_SIZE = CASPARIAN_KEY_SIZE + 32 };

/* All on the listener's thread. */
struct casparian_notifications {
    mcp_server *server;
    mcp_log log;
    db_listener *listener;
    char recent[RECENT][CASPARIAN_KEY_SIZE]; /* keys; the oldest is overwritten */
    size_t next;
};

/* A key is "job/42" or "approval/...", and the rest of a URI. */
static void notify(casparian_notifications *self, const char *key)
{
    mcp_error err = MCP_ERROR_INIT;
    char uri[URI_SIZE];
    snprintf(uri, sizeof uri, "casparian://%s", key);
    if (mcp_server_resource_updated(self->server, uri, &err) != MCP_OK)
        mcp_log_write(&self->log, MCP_LOG_WARNING, "%s: %s", uri, err.message);
}

static void remember(casparian_notifications *self, const char *key)
{
    for (size_t i = 0; i < RECENT; i++)
        if (strcmp(self->recent[i], key) == 0)
            return;
    snprintf(self->recent[self->next], CASPARIAN_KEY_SIZE, "%s", key);
    self->next = (self->next + 1) % RECENT;
}

static void on_notify(const char *payload, void *data)
{
    casparian_notifications *self = data;
    if (payload && strchr(payload, '/')) {
        remember(self, payload);
        notify(self, payload);
        return;
    }
    for (size_t i = 0; !payload && i < RECENT; i++)
        if (self->recent[i][0])
            notify(self, self->recent[i]);
}

mcp_status casparian_notifications_new(casparian_notifications **out, mcp_server *server,
                                       casparian_app *app, mcp_error *err)
{
    casparian_notifications *self = mcp_alloc_zeroed(1, sizeof *self);
    *out = self;
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for notifications");
    self->server = server;
    self->log = app->log;
    return db_listen(&self->listener, casparian_store_database(app->store), CASPARIAN_CHANNEL,
                     on_notify, self, err);
}

void casparian_notifications_free(casparian_notifications *self)
{
    if (!self)
        return;
    db_listener_free(self->listener);
    free(self);
}
