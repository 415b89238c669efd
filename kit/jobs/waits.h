/**
 * waits.h - calls that wait for something until a deadline, without a thread each.
 *
 * A wait is for a key, such as the id of a row; a thread that changes the row wakes all waits of
 * the key. One thread ends the waits. 10,000 of them cost about 2 MB and no processor time.
 *
 * A handler that answers later reads a mark, looks, and waits:
 *
 *     static mcp_status answer(mcp_call *call, void *data)          also the continuation
 *     {
 *         uint64_t mark = jobs_waits_mark(app->waits, id);
 *         if (is_decided(app, id) || now >= deadline || mcp_call_stop(call) != MCP_STOP_NONE)
 *             return write_answer(call);
 *         mcp_status st = jobs_wait(app->waits, id, mark, deadline, resume, call,
 *                                   mcp_call_error(call));
 *         return st == MCP_OK ? MCP_E_DEFERRED : st;
 *     }
 *
 *     static void resume(void *call, jobs_outcome outcome)
 *     {
 *         mcp_call_resume(call, answer, NULL, 0);
 *     }
 *
 * A wake between the mark and jobs_wait ends the wait at once, so none is missed. A wait may also
 * end without a wake of its key (two keys may share a mark): look again.
 *
 * For changes of other processes, wake what db_listen brings: jobs_wake with the key of the
 * payload, jobs_wake_all for NULL.
 */
#ifndef JOBS_WAITS_H
#define JOBS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

/** Waits and the thread that ends them. Any thread. */
typedef struct jobs_waits jobs_waits;

/** How a wait ended. */
typedef enum jobs_outcome {
    JOBS_WOKEN,
    JOBS_TIMED_OUT,
    JOBS_CANCELLED /* by jobs_wait_cancel, `is_over` or jobs_waits_free */
} jobs_outcome;

/**
 * Ends a wait: called once. Runs on the thread of the waits, which does nothing else meanwhile, so
 * it must not block. It may wait again, wake, and call mcp_call_resume.
 */
typedef void jobs_wait_end(void *data, jobs_outcome outcome);

/** Zero is the default everywhere. */
typedef struct jobs_waits_options {
    size_t max; /* waits at once; 0: 10,000 */
    /* Whether nobody needs a wait any more, by its `data`: for a call, whether mcp_call_stop is not
     * MCP_STOP_NONE. Called every 250 ms for each wait, on the thread of the waits; such a wait is
     * cancelled. So calls whose clients are gone end, and those of a server that goes down. NULL:
     * none */
    bool (*is_over)(void *data);
} jobs_waits_options;

/**
 * @param out     yours, end it with jobs_waits_free
 * @param options NULL for the defaults; copied
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT or MCP_E_IO: the system has no thread
 */
mcp_status jobs_waits_new(jobs_waits **out, const jobs_waits_options *options, mcp_error *err);

/** Cancel all waits: their ends have run when this returns. NULL is fine. */
void jobs_waits_free(jobs_waits *self);

/** The mark of a key; it changes whenever the key is woken. Read it before looking. */
uint64_t jobs_waits_mark(jobs_waits *self, const char *key);

/**
 * Wait until the key is woken, or that moment of mcp_clock_mono_ms.
 *
 * @param mark of jobs_waits_mark
 * @param end  called with `data` when this has returned MCP_OK, perhaps before; never else
 * @return MCP_OK; MCP_E_LIMIT: too many wait; MCP_E_STOPPED: jobs_waits_free was called;
 *         MCP_E_NOMEM
 */
mcp_status jobs_wait(jobs_waits *self, const char *key, uint64_t mark, int64_t deadline_mono_ms,
                     jobs_wait_end *end, void *data, mcp_error *err);

/** Wake all waits of a key. Does not wait for their ends. */
void jobs_wake(jobs_waits *self, const char *key);

/** Wake all waits. */
void jobs_wake_all(jobs_waits *self);

/** Cancel the waits of a key that have this `data`, if they have not ended. */
void jobs_wait_cancel(jobs_waits *self, const char *key, const void *data);

/** The number of waits that have not ended, for metrics. */
size_t jobs_waits_count(jobs_waits *self);

#endif
