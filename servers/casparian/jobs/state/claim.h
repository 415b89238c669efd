/*
 * claim.h - a runner's claim on a job: taking it, keeping it, and ending it.
 *
 * A claim is a lease of kit/jobs. Each function below first checks, in its transaction, that the
 * lease is still held: MCP_E_STOPPED says that it is not, so another has the job, and nothing was
 * written. Threads: one at a time for each claim, except that casparian_claim_beat may run while
 * another thread works.
 */
#ifndef CASPARIAN_JOBS_STATE_CLAIM_H
#define CASPARIAN_JOBS_STATE_CLAIM_H

#include "jobs/job.h"
#include "jobs/lease.h"
#include "jobs/state/rows.h"

/* Room for the id of a runner, "host:pid:boot-time:random". */
#define CASPARIAN_RUNNER_SIZE 128

/* Make the id of a runner, which no other has or had. */
mcp_status casparian_runner_name(char out[CASPARIAN_RUNNER_SIZE], mcp_error *err);

/* How long a claim lasts that is not renewed. */
int64_t casparian_lease_ms(const casparian_store *store);

/* How many jobs may run at once in all processes. */
int64_t casparian_max_concurrent(const casparian_store *store);

/* How many do at the time $1. One whose commit could not be settled is none of them: where a folder
 * of it is away, that takes as long, and the others need not wait. */
#define CASPARIAN_COUNT_RUNNING                                                                    \
    "SELECT count(*) FROM cf_api_jobs j WHERE lease_owner IS NOT NULL AND lease_until > $1 AND "   \
    "NOT EXISTS (SELECT 1 FROM cf_commit_intents i WHERE i.job_id = j.job_id AND "                 \
    "i.deferred_at IS NOT NULL)"

typedef struct casparian_claim {
    int64_t job;
    jobs_lease lease;
} casparian_claim;

/*
 * Claim the job that is next in the queue, unless `max_concurrent` jobs run in all processes.
 * The job is running then, with the event job_started.
 */
mcp_status casparian_claim_take(casparian_claim *out, bool *found, casparian_store *store,
                                const char *runner, mcp_error *err);

/* Claim a job whose runner has let its lease end. It is still running, for casparian_claim_recover
 * to decide about. A lease whose end is further away than one lasts is shortened to that. */
mcp_status casparian_claim_take_expired(casparian_claim *out, bool *found, casparian_store *store,
                                        const char *runner, mcp_error *err);

/* What has become of a job that was recovered. */
typedef enum casparian_recovered {
    CASPARIAN_RECOVERED_QUEUED,
    CASPARIAN_RECOVERED_FAILED,
    CASPARIAN_RECOVERED_CANCELLED
} casparian_recovered;

/*
 * Decide about a job of casparian_claim_take_expired whose commit was not under way, or has been
 * undone: it is cancelled where that was asked for; goes back to the queue the first time; fails as
 * `interrupted` the second. Ends the claim.
 */
mcp_status casparian_claim_recover(casparian_recovered *out, casparian_store *store,
                                   const casparian_claim *claim, mcp_error *err);

/* Whether a commit was under way. `pairs` is the intent's JSON text, in the arena; NULL: none. */
mcp_status casparian_claim_intent(const char **pairs, casparian_store *store, mcp_arena *arena,
                                  const casparian_claim *claim, mcp_error *err);

/* Note that it could not be settled now: until it is, the job counts as none that runs. A failure
 * leaves it counted. */
mcp_status casparian_claim_defer_intent(casparian_store *store, const casparian_claim *claim,
                                        mcp_error *err);

/* Hold the lease for its time again. `is_cancelled`: somebody has asked to cancel the job. */
mcp_status casparian_claim_beat(casparian_store *store, casparian_claim *claim, bool *is_cancelled,
                                mcp_error *err);

/* What a runner reports while it works. */
typedef struct casparian_progress {
    const char *phase;
    int64_t items_done, items_total;
    const char *progress; /* JSON text of progress_json */
    size_t length;
    bool has_advanced; /* counts as progress: the job is not stalled */
} casparian_progress;

/* Store it. After a stall that was noted, writes the event `resumed`. */
mcp_status casparian_claim_report(casparian_store *store, const casparian_claim *claim,
                                  const casparian_progress *progress, mcp_error *err);

/* The same in a transaction that does more. */
mcp_status casparian_claim_report_in(db_session *session, const casparian_claim *claim,
                                     const casparian_progress *progress, mcp_error *err);

/* Write the event `stalled` for jobs of all runners that have become so. */
mcp_status casparian_note_stalls(casparian_store *store, mcp_error *err);

/* Add an event. Ends and frees the payload. */
mcp_status casparian_claim_event(casparian_store *store, const casparian_claim *claim,
                                 const char *type, casparian_text *payload, mcp_error *err);

/* Give the job back to the queue: the runner ends. The event is `requeued`. */
mcp_status casparian_claim_give_back(casparian_store *store, const casparian_claim *claim,
                                     mcp_error *err);

/* How a job ends. Texts are NULL where there is none, or where the job has them already. */
typedef struct casparian_end {
    casparian_job_state state; /* COMPLETED, FAILED or CANCELLED */
    const char *error_code, *error_message;
    const char *result, *outputs, *metrics; /* JSON texts */
    const char *progress;                   /* JSON text of the last progress */
    int64_t rows, bytes_written;
    const char *const *manifests; /* their hashes, for the audit, ended by NULL; NULL: none */
} casparian_end;

/* End the job, with its last event. */
mcp_status casparian_claim_finish(casparian_store *store, const casparian_claim *claim,
                                  const casparian_end *end, mcp_error *err);

/*
 * The commit guard: store the intent, unless the job was cancelled meanwhile.
 *
 * MCP_OK: the commit may go on, and a cancellation comes too late from now on. MCP_E_DENIED: the
 * job is to be cancelled.
 */
mcp_status casparian_claim_guard(casparian_store *store, const casparian_claim *claim,
                                 const char *pairs, mcp_error *err);

/* The same in a transaction that does more. */
mcp_status casparian_claim_guard_in(db_session *session, const casparian_claim *claim,
                                    const char *pairs, mcp_error *err);

/* For the transaction of a commit: check the lease, and end the job in it, without the intent. */
mcp_status casparian_claim_check(db_session *session, const casparian_claim *claim, mcp_error *err);
mcp_status casparian_claim_end_in(db_session *session, const casparian_claim *claim,
                                  const casparian_end *end, mcp_error *err);

/* The audit line of an end. */
void casparian_claim_audit(casparian_store *store, const casparian_claim *claim,
                           const casparian_end *end);

#endif
