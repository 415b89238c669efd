/**
 * timers.h - moments in a database at which something is to be done, and the thread that waits for
 * them.
 *
 * A timer is a row, so it is set and cancelled in the transaction of the change that it belongs to,
 * and survives a restart. Any number of processes may wait for the timers of one database: each
 * timer that is due is taken by lease (lease.h), by one of them, and taken over if that one dies.
 *
 * The server's migration makes the table:
 *
 *     CREATE TABLE timers (
 *         id          TEXT PRIMARY KEY,
 *         due_at      BIGINT NOT NULL,
 *         kind        TEXT NOT NULL,
 *         ref         TEXT NOT NULL,
 *         lease_owner TEXT,
 *         lease_until BIGINT,
 *         fence       BIGINT NOT NULL
 *     );
 *     CREATE INDEX timers_due ON timers (due_at) WHERE lease_owner IS NULL;
 *     CREATE INDEX timers_leased ON timers (lease_until) WHERE lease_owner IS NOT NULL;
 *
 * When a timer is due, the function of the options is called. It has the work done, and the
 * transaction of the work ends the timer:
 *
 *     static mcp_status expire(db_session *session, void *data, mcp_error *err)
 *     {
 *         const struct expiry *expiry = data;
 *         mcp_status st = jobs_timer_finish(session, &expiry->lease, err);
 *         return st == MCP_OK ? expire_approval(session, expiry->ref, err) : st;
 *     }
 *
 * So the work is done once, although the function may be called more than once: when a process dies
 * or is too slow, the lease ends and the timer fires again.
 *
 * Times are of db_now. A timer fires when that clock shows its time: later or sooner if the clock
 * is set meanwhile (with the steady time of db_options only sooner, or within twice the time).
 */
#ifndef JOBS_TIMERS_H
#define JOBS_TIMERS_H

#include "jobs/lease.h"

/** The thread that waits. Any thread. */
typedef struct jobs_timers jobs_timers;

/** A timer that is due. Borrowed for the call; copy the lease. */
typedef struct jobs_timer {
    jobs_lease lease; /* its id is the timer's */
    int64_t due_ms;
    const char *kind; /* as they were set */
    const char *ref;
} jobs_timer;

/**
 * Has the work of a timer done: by itself, or by another thread before the lease ends. Runs on the
 * thread of the timers, which fires no other meanwhile, outside of a session.
 *
 * @return MCP_OK: it is, or will be, done; the timer ends by jobs_timer_finish. Another status is
 *         logged, and the timer fires again a second later
 */
typedef mcp_status jobs_timers_fire(const jobs_timer *timer, void *data, mcp_error *err);

typedef struct jobs_timers_options {
    jobs_timers_fire *fire; /* required */
    void *data;
    const char *owner; /* required; copied: see jobs_holder */
    int64_t lease_ms;  /* 0: 30,000 */
    int64_t poll_ms;   /* the longest between two looks; 0: 1,000 */
    mcp_log log;       /* of failures */
} jobs_timers_options;

/**
 * Start to wait. Timers that are due already fire at once.
 *
 * @param out     yours, end it with jobs_timers_free
 * @param self    its schema has the table; outlives the timers
 * @param options copied
 * @return MCP_OK; MCP_E_PARAMS: a required option is missing; MCP_E_LIMIT or MCP_E_IO: the system
 *         has no thread; as db_listen
 */
mcp_status jobs_timers_new(jobs_timers **out, db *self, const jobs_timers_options *options,
                           mcp_error *err);

/** Stop, after the function that may be running has returned. NULL is fine. */
void jobs_timers_free(jobs_timers *self);

/** Look now. Timers set by jobs_timer_set need no call. */
void jobs_timers_wake(jobs_timers *self);

/**
 * Set a timer, or set it again: a firing of an older setting that has not finished then fails. The
 * waiting threads of all processes learn of it after the commit (a timer that is due within two
 * seconds at once, others by their next look).
 *
 * @param id at most 127 bytes: what the timer is for, such as "approval-due:" and an id
 */
mcp_status jobs_timer_set(db_session *session, const char *id, int64_t due_ms, const char *kind,
                          const char *ref, mcp_error *err);

/** Cancel a timer, also one that is firing and has not finished. @param was_set may be NULL */
mcp_status jobs_timer_cancel(bool *was_set, db_session *session, const char *id, mcp_error *err);

/**
 * End a timer that fired, in the transaction of its work. To repeat it, set it again afterwards.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: another process has taken it over, or it was set again or
 *         cancelled: do nothing, and roll back. The session has not failed
 */
mcp_status jobs_timer_finish(db_session *session, const jobs_lease *lease, mcp_error *err);

#endif
