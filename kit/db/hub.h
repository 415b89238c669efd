/*
 * hub.h - notifications within one process, for engines that have none of their own.
 */
#ifndef DB_HUB_H
#define DB_HUB_H

#include <pthread.h>

#include "db/driver.h"

struct db_hub_listener;

struct db_hub {
    pthread_mutex_t lock;              /* guards the list and every listener's queue */
    struct db_hub_listener *listeners; /* newest first */
};

void db_hub_init(struct db_hub *hub);

/* There must be no listener. */
void db_hub_clear(struct db_hub *hub);

/* Queue a payload for the listeners of the channel. Without memory they receive NULL instead. */
void db_hub_post(struct db_hub *hub, const char *channel, const char *payload);

/* Queue NULL for every listener: notifications may be missing. */
void db_hub_miss(struct db_hub *hub);

/* As db_listen. */
mcp_status db_hub_listen(db_listener **out, struct db_hub *hub, const char *channel,
                         db_on_notify *on_notify, void *data, mcp_error *err);

#endif
