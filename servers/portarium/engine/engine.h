/**
 * engine.h - moves runs: from Pending, by gates and attempts, to their end.
 *
 * The database is the only truth. The engine repeats one step for each run that is due
 * (runs.due_at): a transaction that reads the run and its actions and does all that can be done
 * without waiting: skips, gates, attempts of `builtin` actions, the end of the run. What takes time
 * is an attempt: the step stores it with a lease, and a thread performs it after the commit; its
 * result is another transaction, which compares the lease's fence, and makes the run due again.
 *
 *     start, decision, result, timer ──> due_at = now ──> step ──> attempt (lease) ──> result
 *
 * A step is repeatable: two replicas that take the same run do it one after the other, and the
 * second finds nothing to do. A replica that dies leaves leases; when they expire, another one puts
 * the action back if its executor is idempotent, and otherwise ends it with the class
 * unknown-outcome, for a person to resolve.
 */
#ifndef PORTARIUM_ENGINE_ENGINE_H
#define PORTARIUM_ENGINE_ENGINE_H

#include "executors/executor.h"
#include "store/committer.h"

typedef struct portarium_engine portarium_engine;

typedef struct portarium_engine_options {
    int threads;      /* attempts at once; 0: 16 */
    int lease_ms;     /* 0: 60,000; renewed every third of it */
    int poll_ms;      /* the longest time between two looks at the database; 0: 1,000 */
    int64_t grace_ms; /* of attempts when the engine ends; 0: 10,000 */
    const portarium_executors *executors; /* NULL: only builtin actions are performed */
} portarium_engine_options;

/** Start it. @param out yours, end it with portarium_engine_free */
mcp_status portarium_engine_new(portarium_engine **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                const portarium_engine_options *options, mcp_error *err);

/** Stop: nothing new is dispatched, attempts in flight end or are given up. NULL is fine. */
void portarium_engine_free(portarium_engine *self);

/** A run is due. Any thread; never blocks. */
void portarium_engine_wake(portarium_engine *self, const char *workspace, const char *run);

/** Something is due: look at the database. Any thread; never blocks. */
void portarium_engine_look(portarium_engine *self);

#endif
