/**
 * runner.h - threads that claim queued jobs and run them.
 *
 * Every server has one, and so has `casparian worker`. Over all processes at most
 * `jobs.max_concurrent` jobs run at once: the transaction that claims a job counts the leases that
 * are held. A claim is a lease of kit/jobs on the job's row, whose owner is the runner's id; the
 * fence rises with each claim. It lasts for 45 seconds (a claim of 30, and 15 before another runner
 * may take the job over) and is renewed every ten.
 *
 * A job whose lease has ended is recovered by whatever runner sees it first: a commit that was
 * under way is settled; a job that was not recovered before goes back to the queue; another fails
 * with the code `interrupted`. A runner that has lost a job finds that its fence is not the row's,
 * kills the guest and drops what it had.
 *
 * Threads: one that claims, renews and recovers (the watch), and one for each job that runs.
 */
#ifndef CASPARIAN_JOBS_RUNNER_H
#define CASPARIAN_JOBS_RUNNER_H

#include "jobs/store.h"

struct casparian_driver;

typedef struct casparian_runner casparian_runner;

/** Zero is the default of every field that is not required. */
typedef struct casparian_runner_options {
    casparian_store *store;          /* required; outlives the runner */
    struct casparian_driver *driver; /* required; outlives the runner */
    int threads;                     /* jobs at once in this process; 0: `jobs.max_concurrent` */
    bool finishes_jobs; /* the end waits for jobs that run, however long (--finish-jobs) */
} casparian_runner_options;

/** Start. @param out yours, end it with casparian_runner_free. @return MCP_OK; MCP_E_NOMEM;
 *  MCP_E_LIMIT, MCP_E_IO: the system has no thread; statuses of db_listen */
mcp_status casparian_runner_new(casparian_runner **out, const casparian_runner_options *options,
                                mcp_error *err);

/**
 * Claim nothing more, wait `jobs.shutdown_grace_ms` for jobs that run (or until they have ended),
 * give back those that still do, and end. NULL is fine.
 */
void casparian_runner_free(casparian_runner *self);

/** Whether the queue is empty and nothing runs here: the end of `casparian worker --once`. */
mcp_status casparian_runner_is_idle(casparian_runner *self, bool *out, mcp_error *err);

/** Whether any process has claimed a job, or looked for one, within the last minute. A command that
 *  waits for its job runs it by itself where there is none. */
mcp_status casparian_runner_is_alive(casparian_store *store, bool *out, mcp_error *err);

#endif
