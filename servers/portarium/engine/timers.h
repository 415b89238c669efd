/**
 * timers.h - moments at which the plane does something by itself for one record of a workspace.
 *
 * A timer is set and cancelled in the transaction of the change that it belongs to (kit/jobs), and
 * fires on one replica, in a transaction of its workspace, by the database's clock. A record has
 * at most one timer of a kind; setting it again moves it.
 */
#ifndef PORTARIUM_ENGINE_TIMERS_H
#define PORTARIUM_ENGINE_TIMERS_H

#include "store/committer.h"

typedef struct portarium_timers portarium_timers;

/** A kind of timers, and what is done when one fires. */
typedef struct portarium_timer_kind {
    const char *name; /* NULL ends a table */
    mcp_status (*work)(portarium_tx *tx, const char *id, mcp_error *err);
} portarium_timer_kind;

/** Begin to fire. The actor of the transactions is system:scheduler.
 *  @param kinds outlives it */
mcp_status portarium_timers_new(portarium_timers **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                const portarium_timer_kind *kinds, mcp_error *err);

/** Stop. NULL is fine. */
void portarium_timers_free(portarium_timers *self);

/** Set the timer of a record. @param id of the record */
mcp_status portarium_timer_set(portarium_tx *tx, const char *kind, const char *id, int64_t at_ms,
                               mcp_error *err);

/** Cancel it; nothing happens when there is none. */
mcp_status portarium_timer_cancel(portarium_tx *tx, const char *kind, const char *id,
                                  mcp_error *err);

#endif
