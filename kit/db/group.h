/**
 * group.h - group commit: functions of many callers in one transaction.
 *
 * To make a transaction durable costs more than most of what is done in it. A group has threads
 * that write; each takes the functions that were submitted while its last commit ran, runs them in
 * one transaction, and answers every caller after the commit. No timer delays a lone caller.
 *
 *     static mcp_status add(db_session *session, void *data, mcp_error *err)
 *     {
 *         const struct order *order = data;
 *         db_value values[] = { db_text(order->id), db_int(order->amount) };
 *         return db_run(session, NULL, "INSERT INTO orders VALUES ($1, $2)", values, 2, err);
 *     }
 *     ...
 *     mcp_status st = db_group_run(app->group, order->account, add, order, err);
 *
 * When a function fails, what it did is undone, and its status is its caller's alone. If it has
 * sent anything but statements that begin with SELECT, the others of its transaction run again for
 * that, each in a savepoint. When a transaction cannot be committed because of another one (a
 * deadlock, a lock that was not free in time, a lost connection: MCP_E_BUSY), its functions run
 * again, each in a transaction of its own, until `retry_ms` after they were submitted. So a
 * function must be repeatable:
 *   - it has no effect outside its session, except that it writes results to `data`;
 *   - it sets these from the beginning each time, and the caller reads them after the commit only;
 *   - it neither calls the group nor begins a session of the same database.
 * A function that returns MCP_E_BUSY is repeated, too.
 *
 * Functions with equal keys run one after the other: those of db_group_run in the order in which
 * they were called, those of db_group_submit likewise. Functions with different keys run in any
 * order or at once. So the key names the row that a function locks first, such as that of its
 * workspace. In a batch, functions run in an order of keys that is the same in all processes, so
 * that batches of two processes do not wait for each other in a circle.
 *
 * Callers of db_group_run go first, because they wait. A transaction has the more submitted
 * functions the longer their queue is: one at least, as many as callers when the queue is half
 * full, and at most half of all. This holds, too, for callers that come while a transaction runs
 * submitted functions: those beyond that number wait. On SQLite the callers run in that very
 * transaction, on PostgreSQL in the next one.
 *
 * On SQLite one connection writes, so all writes of a process should go through one group.
 */
#ifndef DB_GROUP_H
#define DB_GROUP_H

#include "db/db.h"

/** Threads that write, and their queues. Any thread. */
typedef struct db_group db_group;

/** Does the work of one caller; see above. Runs on a thread of the group, perhaps several times. */
typedef mcp_status db_group_fn(db_session *session, void *data, mcp_error *err);

/**
 * Receives the outcome of db_group_submit, once, on a thread of the group, which does nothing else
 * meanwhile: so it must not block. It may submit, and call mcp_call_resume.
 *
 * @param status as db_group_run returns it
 * @param err    borrowed; its status is `status`
 */
typedef void db_group_done(void *data, mcp_status status, const mcp_error *err);

/**
 * Zero is the default everywhere.
 *
 * `finish` is for what need be done once for several functions, as to store a counter that each of
 * them raises. It runs in the transaction, after the functions and before the commit, or before the
 * savepoint of one of them ends; what it knows of them is in db_session_shared. If it fails, they
 * have failed.
 */
typedef struct db_group_options {
    int threads; /* that write; SQLite: always 1. PostgreSQL: 0: as many as there are processors, 2
                  * to 4, and one connection of the db is always left for others */
    int batch_max; /* functions in a transaction, 2 to 1,000. 0: 500; PostgreSQL: 60, because its
                    * transactions get slow with more savepoints than that */
    int batch_ms;  /* no further function begins in a transaction after so long; 0: 20 */
    int queue_max; /* functions that wait; 0: 10,000 */
    int retry_ms;  /* how long after it was submitted a function is repeated; 0: 10,000 */
    db_group_fn *finish; /* NULL: nothing */
    void *finish_data;
} db_group_options;

/**
 * Start a group.
 *
 * @param out     yours, end it with db_group_free
 * @param self    outlives the group
 * @param options NULL for the defaults; copied
 * @return MCP_OK; MCP_E_DENIED: the database was opened for reading only; MCP_E_NOMEM; MCP_E_LIMIT
 *         or MCP_E_IO: the system has no thread
 */
mcp_status db_group_new(db_group **out, db *self, const db_group_options *options, mcp_error *err);

/** Commit what was submitted (without repeating), then end the threads. NULL is fine. */
void db_group_free(db_group *group);

/**
 * Run a function and wait until it was committed.
 *
 * @param key  see above; NULL: none
 * @param data for `fn`
 * @return MCP_OK: committed. The status of `fn`: nothing was done. MCP_E_LIMIT: the queue is full;
 *         MCP_E_STOPPED: the group ends. Else those of db_begin and db_commit, where MCP_E_IO means
 *         that it is not known whether it was done; MCP_E_BUSY only after `retry_ms`
 */
mcp_status db_group_run(db_group *group, const char *key, db_group_fn *fn, void *data,
                        mcp_error *err);

/**
 * The same without waiting.
 *
 * @param done called with `data` when this has returned MCP_OK, perhaps before; never else
 * @return MCP_OK; MCP_E_LIMIT: the queue is full; MCP_E_STOPPED: the group ends; MCP_E_NOMEM
 */
mcp_status db_group_submit(db_group *group, const char *key, db_group_fn *fn, void *data,
                           db_group_done *done, mcp_error *err);

/** The figures of a group, for metrics. */
typedef struct db_group_counts {
    size_t waiting;    /* functions in the queues */
    uint64_t accepted; /* functions that were submitted */
    uint64_t commits;  /* transactions that were committed */
    uint64_t repeated; /* times that a function ran again */
} db_group_counts;

void db_group_count(db_group *group, db_group_counts *out);

#endif
