/**
 * lease.h - leases on the rows of a table: which process works on a row, and until when.
 *
 * The table belongs to the server. It has a column of unique values (TEXT or BIGINT), and
 *
 *     lease_owner TEXT,
 *     lease_until BIGINT,
 *     fence       BIGINT NOT NULL DEFAULT 0
 *
 * A free row has no owner. To take it sets the three, and the fence rises by one: so a number is
 * never that of two leases of a row, and the holder of an older lease is refused by every function
 * below. A holder that was suspended for longer than its lease, and whose row another has taken
 * meanwhile, therefore writes nothing, if each of its transactions begins with jobs_check.
 *
 *     static const jobs_table actions = {
 *         .name = "run_actions", .id = "id", .due = "next_attempt_at", .where = "state = 'Pending'"
 *     };
 *     jobs_lease taken[16];
 *     size_t count = 0;
 *     mcp_status st = jobs_take(taken, &count, 16, session, &actions, JOBS_FREE,
 *                               &(jobs_holder){ app->name, 60000 }, err);
 *     ...
 *     st = jobs_check(session, &actions, &taken[0], err);      in the transaction of the result
 *     if (st == MCP_OK)
 *         st = store_result(session, err);
 *     if (st == MCP_OK)
 *         st = jobs_give_up(session, &actions, &taken[0], err);
 *
 * An expired lease is not free: it is taken by JOBS_EXPIRED, and who takes it decides what becomes
 * of the work, of which some may have been done. A lease that has expired and that nobody has taken
 * is still its holder's.
 *
 * Times are of db_now. When that clock is set forward, leases end too soon; when it is set back,
 * those of dead processes end later. Fences hold in both cases. With the steady time of db_options
 * a lease lasts as long as it would have (db_time_lapsed), or twice as long.
 *
 * Indexes that these functions use (the condition in both is for either engine):
 *     CREATE INDEX a ON t (due) WHERE lease_owner IS NULL
 *     CREATE INDEX b ON t (lease_until) WHERE lease_owner IS NOT NULL
 *
 * All functions return the statuses of db.h too; the session then has failed.
 */
#ifndef JOBS_LEASE_H
#define JOBS_LEASE_H

#include "db/db.h"

/** A table with leases. The texts are SQL of the program, never from outside. */
typedef struct jobs_table {
    const char *name;
    const char *id;  /* the column of unique values */
    const char *due; /* a BIGINT column, from when on a free row may be taken, NULL: never. No such
                        * column: NULL, all are due */
    const char *where; /* a further condition for free rows; NULL: none */
} jobs_table;

/** Room for a row's id with its NUL. */
#define JOBS_ID_SIZE 128

/** A lease that was taken. */
typedef struct jobs_lease {
    char id[JOBS_ID_SIZE]; /* the row's; a BIGINT as digits */
    int64_t fence;
    int64_t until_ms;
} jobs_lease;

/** Who takes leases, and for how long. */
typedef struct jobs_holder {
    const char *owner; /* a name for this process that no other has or had, such as a random one */
    int64_t lease_ms;
} jobs_holder;

/** Which rows to take. */
typedef enum jobs_which {
    JOBS_FREE,   /* free and due, `where` holds; those due first come first */
    JOBS_EXPIRED /* held, and the lease has ended */
} jobs_which;

/**
 * Take rows. Rows that another transaction has locked are skipped. The leases are held when the
 * session has been committed.
 *
 * @param out   room for `max`
 * @param count how many were taken; in no order
 * @param max   at most 1,000
 * @return MCP_OK, also for none; MCP_E_LIMIT: an id is too long
 */
mcp_status jobs_take(jobs_lease *out, size_t *count, size_t max, db_session *session,
                     const jobs_table *table, jobs_which which, const jobs_holder *holder,
                     mcp_error *err);

/**
 * Lock the row until the session ends, and check that the lease is still held.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: another has taken it, it was given up, or the row is gone. The
 *         session has not failed, but should be rolled back
 */
mcp_status jobs_check(db_session *session, const jobs_table *table, const jobs_lease *lease,
                      mcp_error *err);

/** Hold it for `lease_ms` from now, also if it has expired meanwhile. @return as jobs_check */
mcp_status jobs_renew(db_session *session, const jobs_table *table, jobs_lease *lease,
                      int64_t lease_ms, mcp_error *err);

/** Make the row free. @return as jobs_check */
mcp_status jobs_give_up(db_session *session, const jobs_table *table, const jobs_lease *lease,
                        mcp_error *err);

/**
 * Find out when there will be something to take.
 *
 * @param at_ms when the first free row is due or the first lease ends, on the clock of db_now;
 *              INT64_MAX: there is neither
 */
mcp_status jobs_next(db_session *session, const jobs_table *table, int64_t *at_ms, mcp_error *err);

#endif
