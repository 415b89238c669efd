/**
 * tx.h - one transaction of portarium: what every operation reads and writes through.
 *
 * A transaction belongs to one workspace. One that writes locks the workspace's row in `heads`
 * first, so the commands of a workspace run one after the other, on every replica, and its evidence
 * and its events have the order of commits.
 *
 * A transaction may run again after a deadlock (kit/db's group commit), so it has no effect outside
 * the database. What is to happen after the commit is collected in `after`, which begins empty each
 * time.
 *
 * Several of them follow each other in one transaction of the database. They share what they know
 * of a workspace (tx/held.h). What one of them changes is written at its end, or before a statement
 * that may see it (tx/pending.h).
 */
#ifndef PORTARIUM_STORE_TX_H
#define PORTARIUM_STORE_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "mcp/arena.h"
#include "mcp/clock.h"
#include "mcp/json.h"
#include "model/identity.h"
#include "store/actor.h"
#include "store/settings.h"

/** The channel on which a commit with events is announced; the payload is the workspace. */
#define PORTARIUM_CHANNEL "portarium"

/** The ends of a workspace's evidence and events: its row in `heads`. */
typedef struct portarium_head {
    int64_t evidence_seq; /* of the last entry; 0: none */
    char evidence_hash[65];
    int64_t evidence_at; /* of the last entry, milliseconds */
    int64_t event_seq;   /* of the last event; 0: none */
    int64_t pending;     /* runs that are Pending */
    int64_t evaluations; /* number of the last judgement that was stored; 0: not read (judge.c) */
    bool is_frozen;      /* nothing is dispatched */
    bool has_changed;
} portarium_head;

/** What is to happen once the transaction is committed. Strings in the transaction's arena. */
typedef struct portarium_after {
    const char *runs[16]; /* that the engine has something to do for */
    size_t run_count;
    bool has_more_runs; /* others, too: the engine looks for them */
    bool has_events;
    bool changes_policies; /* policies, roles or the exposure of tools */
    bool changes_timers;
} portarium_after;

typedef struct portarium_tx {
    db_session *session;
    mcp_arena *arena; /* of the operation; what is read lives there */
    const char *workspace;
    const portarium_settings *settings;
    const portarium_actor *actor;
    const char *correlation_id;
    portarium_trace trace;
    bool writes;
    int64_t now_ms;  /* of the database's clock, one value for the whole transaction; of one that
                      * only reads, as db_now_recent */
    int64_t mono_ms; /* the process's clock at that time or before: a lease from then on ends here
                      * no later than in the database */
    char now[MCP_CLOCK_UTC_SIZE];
    portarium_head head;
    portarium_after after;
    struct {
        const char *id, *sha256;
    } payload;                         /* the last one that it has stored; NULL: none */
    struct portarium_held *held;       /* NULL: the workspace is not locked */
    struct portarium_pending *pending; /* tx/pending.h; NULL: writes are not kept back */
} portarium_tx;

/**
 * Begin: read the clock and, for a transaction that writes, lock the workspace.
 *
 * @param tx all members up to `writes` are set
 * @return MCP_OK; MCP_E_NOT_FOUND: there is no such workspace; statuses of db.h
 */
mcp_status portarium_tx_begin(portarium_tx *tx, mcp_error *err);

/** End: the next one begins with this head. The session is still to be flushed and committed. */
mcp_status portarium_tx_end(portarium_tx *tx, mcp_error *err);

/** Store the heads that have changed, and announce events: once before the session's commit. */
mcp_status portarium_tx_flush(db_session *session, const portarium_settings *settings,
                              mcp_error *err);

/** A run has become Pending (1), or is so no longer (-1). */
void portarium_tx_count_pending(portarium_tx *tx, int more);

/** Freeze or unfreeze the workspace. */
void portarium_tx_freeze(portarium_tx *tx, bool is_frozen);

/** The engine is to look at the run after the commit. @param run in the arena */
void portarium_tx_wake_run(portarium_tx *tx, const char *run);

/** Go to the next row, as long as *st is MCP_OK. @return false: there is none, or *st says why */
bool portarium_next(db_rows *rows, mcp_status *st, mcp_error *err);

/** Parse a text that the database holds or that was written here. @return MCP_E_INTERNAL: the
 * stored text is not JSON */
mcp_status portarium_tx_json(portarium_tx *tx, const mcp_json **out, const char *text,
                             size_t length, mcp_error *err);

#endif
