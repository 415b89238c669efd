/*
 * claim.c - the transitions of a running job, each under its lease.
 *
 * kit/jobs takes and renews the leases; a lease that was ended, by a transition out of `running`,
 * is free, and the fence stays, so an old holder finds no row to change.
 */
#include "jobs/state/claim.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault/fault.h"
#include "jobs/audit.h"
#include "jobs/state/events.h"
#include "jobs/state/job_row.h"
#include "mcp/random.h"

enum { LEASE_MS = 45000, MAX_CONCURRENT = 8, STALLS_MAX = 100 };

/* Only the first of the queue is free to take. */
static const jobs_table table = {
    .name = "cf_api_jobs",
    .id = "job_id",
    .where = "job_id = (SELECT job_id FROM cf_api_jobs WHERE status = 'queued' "
             "ORDER BY priority DESC, job_id LIMIT 1)",
};

mcp_status casparian_runner_name(char out[CASPARIAN_RUNNER_SIZE], mcp_error *err)
{
    char host[65] = "localhost";
    char id[MCP_RANDOM_ID_SIZE];
    struct timespec boot = { 0 };
    mcp_status st = mcp_random_id(id, err);
    if (st != MCP_OK)
        return st;
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    snprintf(out, CASPARIAN_RUNNER_SIZE, "%.60s:%ld:%lld:%.8s", host, (long)getpid(),
             (long long)(time(NULL) - boot.tv_sec), id);
    return MCP_OK;
}

int64_t casparian_lease_ms(const casparian_store *store)
{
    int64_t wanted = fault_lease_ms();
    if (wanted == 0)
        wanted = casparian_store_settings(store)->jobs.lease_ms;
    return wanted > 0 ? wanted : LEASE_MS;
}

int64_t casparian_max_concurrent(const casparian_store *store)
{
    int wanted = casparian_store_settings(store)->jobs.max_concurrent;
    return wanted <= 0 ? 1 : wanted < MAX_CONCURRENT ? wanted : MAX_CONCURRENT;
}

/* A lost lease is no failure of the database: another runner has the job. */
static mcp_status lost(mcp_status st, const casparian_claim *claim, mcp_error *err)
{
    return st != MCP_E_NOT_FOUND
               ? st
               : mcp_error_set(err, MCP_E_STOPPED, "job %lld has another runner now",
                               (long long)claim->job);
}

mcp_status casparian_claim_check(db_session *session, const casparian_claim *claim, mcp_error *err)
{
    const db_value value = db_int(claim->job);
    int64_t is_running = 0;
    mcp_status st = lost(jobs_check(session, &table, &claim->lease, err), claim, err);
    if (st == MCP_OK)
        st = casparian_query_int(&is_running, 0, session,
                                 "SELECT status = 'running' FROM cf_api_jobs WHERE job_id = $1",
                                 &value, 1, err);
    return st == MCP_OK && !is_running ? lost(MCP_E_NOT_FOUND, claim, err) : st;
}

static mcp_status begin(db_session **session, casparian_store *store, const casparian_claim *claim,
                        mcp_error *err)
{
    mcp_status st = db_begin(session, casparian_store_database(store), DB_WRITE, err);
    return st == MCP_OK ? casparian_claim_check(*session, claim, err) : st;
}

/* ---- claiming -------------------------------------------------------------------------------- */

static mcp_status take(casparian_claim *out, size_t *count, db_session *session, jobs_which which,
                       const jobs_holder *holder, mcp_error *err)
{
    mcp_status st = jobs_take(&out->lease, count, 1, session, &table, which, holder, err);
    if (st == MCP_OK && *count == 1 && !casparian_job_id_read(&out->job, out->lease.id))
        st = mcp_error_set(err, MCP_E_INTERNAL, "a job has the id %.40s", out->lease.id);
    return st;
}

static mcp_status start(db_session *session, const casparian_claim *claim, const char *runner,
                        int64_t now_ms, mcp_error *err)
{
    const db_value values[] = { db_int(claim->job), db_int(now_ms) };
    casparian_text payload;
    mcp_status st = db_run(
        session, NULL,
        "UPDATE cf_api_jobs SET status = 'running', started_at = $2, "
        "progress_phase = 'discovery', progress_items_done = 0, "
        "progress_items_total = 0, progress_json = NULL, "
        "progress_updated_at = $2, is_stalled = 0, result_json = NULL, "
        "error_code = NULL, error_message = NULL WHERE job_id = $1 AND status = 'queued'",
        values, 2, err);
    if (st != MCP_OK)
        return st;
    casparian_event_begin(&payload, "job_started");
    mcp_write_member_string(&payload.out, "runner_id", runner);
    return casparian_event_add(session, claim->job, "job_started", &payload, err);
}

static mcp_status take_queued(casparian_claim *out, size_t *count, casparian_store *store,
                              db_session *session, const char *runner, mcp_error *err)
{
    const jobs_holder holder = { .owner = runner, .lease_ms = casparian_lease_ms(store) };
    int64_t running = 0;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value now = db_int(now_ms);
    if (st == MCP_OK)
        st = casparian_query_int(&running, 0, session, CASPARIAN_COUNT_RUNNING, &now, 1, err);
    if (st != MCP_OK || running >= casparian_max_concurrent(store))
        return st;
    st = take(out, count, session, JOBS_FREE, &holder, err);
    return st == MCP_OK && *count == 1 ? start(session, out, runner, now_ms, err) : st;
}

mcp_status casparian_claim_take(casparian_claim *out, bool *found, casparian_store *store,
                                const char *runner, mcp_error *err)
{
    db_session *session = NULL;
    size_t count = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = take_queued(out, &count, store, session, runner, err);
    st = casparian_store_end(session, st, err);
    if (st != MCP_OK)
        return st;
    *found = count == 1;
    if (*found) {
        FAULT_POINT("claimed");
        casparian_audit_job_line(
            store,
            &(casparian_audit_job){ .job = out->job, .action = "started", .status = "running" });
    }
    return MCP_OK;
}

/* A lease that lasts longer than any is of a clock that was set back. From now on it lasts as long
 * as one does: its holder renews it, or has died. */
static mcp_status shorten_leases(casparian_store *store, db_session *session, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value until = db_int(now_ms + casparian_lease_ms(store));
    return st == MCP_OK
               ? db_run(session, NULL,
                        "UPDATE cf_api_jobs SET lease_until = $1 WHERE lease_owner IS NOT NULL AND "
                        "lease_until > $1",
                        &until, 1, err)
               : st;
}

mcp_status casparian_claim_take_expired(casparian_claim *out, bool *found, casparian_store *store,
                                        const char *runner, mcp_error *err)
{
    const jobs_holder holder = { .owner = runner, .lease_ms = casparian_lease_ms(store) };
    db_session *session = NULL;
    size_t count = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = shorten_leases(store, session, err);
    if (st == MCP_OK)
        st = take(out, &count, session, JOBS_EXPIRED, &holder, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        *found = count == 1;
    return st;
}

mcp_status casparian_claim_defer_intent(casparian_store *store, const casparian_claim *claim,
                                        mcp_error *err)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(claim->job), db_int(now_ms) };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_commit_intents SET deferred_at = $2 WHERE job_id = $1", values, 2,
                    err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_claim_beat(casparian_store *store, casparian_claim *claim, bool *is_cancelled,
                                mcp_error *err)
{
    const db_value value = db_int(claim->job);
    db_session *session = NULL;
    int64_t asked = 0;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = jobs_renew(session, &table, &claim->lease, casparian_lease_ms(store), err);
    if (st == MCP_OK)
        st = casparian_query_int(&asked, 0, session,
                                 "SELECT cancel_requested FROM cf_api_jobs WHERE job_id = $1",
                                 &value, 1, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        *is_cancelled = asked == 1;
    return st;
}

/* ---- working --------------------------------------------------------------------------------- */

static mcp_status note_resumed(db_session *session, int64_t job, mcp_error *err)
{
    const db_value value = db_int(job);
    int64_t changed = 0;
    mcp_status st = db_run(session, &changed,
                           "UPDATE cf_api_jobs SET is_stalled = 0 WHERE job_id = $1 AND "
                           "is_stalled = 1",
                           &value, 1, err);
    return st == MCP_OK && changed == 1 ? casparian_event_plain(session, job, "resumed", err) : st;
}

mcp_status casparian_claim_report_in(db_session *session, const casparian_claim *claim,
                                     const casparian_progress *progress, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = casparian_claim_check(session, claim, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(claim->job),
                                db_text(progress->phase),
                                db_int(progress->items_done),
                                db_int(progress->items_total),
                                db_text_n(progress->progress, progress->length),
                                progress->has_advanced ? db_int(now_ms) : db_null() };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_api_jobs SET progress_phase = $2, progress_items_done = $3, "
                    "progress_items_total = $4, progress_json = $5, progress_updated_at = "
                    "coalesce(CAST($6 AS BIGINT), progress_updated_at) WHERE job_id = $1",
                    values, 6, err);
    if (st == MCP_OK && progress->has_advanced)
        st = note_resumed(session, claim->job, err);
    return st == MCP_OK ? casparian_wake_job(session, claim->job, err) : st;
}

mcp_status casparian_claim_report(casparian_store *store, const casparian_claim *claim,
                                  const casparian_progress *progress, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_claim_report_in(session, claim, progress, err);
    return casparian_store_end(session, st, err);
}

/* The jobs that have become stalled; their ids in `out`. */
static mcp_status find_stalls(int64_t *out, size_t *count, db_session *session, int64_t stall_ms,
                              mcp_error *err)
{
    db_rows *rows = NULL;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(now_ms - stall_ms), db_int(STALLS_MAX) };
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "UPDATE cf_api_jobs SET is_stalled = 1 WHERE job_id IN (SELECT job_id FROM "
                      "cf_api_jobs WHERE status = 'running' AND is_stalled = 0 AND "
                      "progress_updated_at <= $1 LIMIT $2) RETURNING job_id",
                      values, 2, err);
    while (casparian_next(rows, &st, err))
        out[(*count)++] = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

mcp_status casparian_note_stalls(casparian_store *store, mcp_error *err)
{
    int64_t stall_ms = casparian_stall_ms(&casparian_store_settings(store)->jobs);
    int64_t jobs[STALLS_MAX];
    db_session *session = NULL;
    size_t count = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = find_stalls(jobs, &count, session, stall_ms, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = casparian_event_plain(session, jobs[i], "stalled", err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_claim_event(casparian_store *store, const casparian_claim *claim,
                                 const char *type, casparian_text *payload, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = casparian_event_add(session, claim->job, type, payload, err);
    else
        casparian_text_free(payload);
    return casparian_store_end(session, st, err);
}

/* ---- back to the queue ----------------------------------------------------------------------- */

static mcp_status requeue(db_session *session, const casparian_claim *claim, bool counts,
                          mcp_error *err)
{
    const db_value values[] = { db_int(claim->job), db_int(counts) };
    casparian_text payload;
    mcp_status st = jobs_give_up(session, &table, &claim->lease, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_api_jobs SET status = 'queued', started_at = NULL, "
                    "progress_json = NULL, is_stalled = 0, restart_count = restart_count + $2 "
                    "WHERE job_id = $1 AND status = 'running'",
                    values, 2, err);
    if (st == MCP_OK) /* the frozen list of a run stays */
        st = db_run(session, NULL,
                    "DELETE FROM cf_api_job_files WHERE job_id = $1 AND approval_id IS NULL AND "
                    "(SELECT job_type FROM cf_api_jobs WHERE job_id = $1) = 'backtest'",
                    values, 1, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_api_job_files SET status = 'pending', sha256 = NULL, rows = NULL, "
                    "rows_quarantined = NULL, error_kind = NULL, error_message = NULL, "
                    "duration_ms = NULL WHERE job_id = $1",
                    values, 1, err);
    if (st != MCP_OK)
        return st;
    casparian_event_begin(&payload, "requeued");
    mcp_write_member_string(&payload.out, "reason",
                            counts ? "runner disappeared" : "runner is ending");
    st = casparian_event_add(session, claim->job, "requeued", &payload, err);
    return st == MCP_OK ? casparian_wake_queue(session, err) : st;
}

mcp_status casparian_claim_give_back(casparian_store *store, const casparian_claim *claim,
                                     mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = requeue(session, claim, false, err);
    return casparian_store_end(session, st, err);
}

static mcp_status recover(casparian_recovered *out, casparian_end *end, db_session *session,
                          const casparian_claim *claim, mcp_error *err)
{
    const db_value value = db_int(claim->job);
    int64_t is_cancelled = 0;
    int64_t restarts = 0;
    mcp_status st = casparian_query_int(&is_cancelled, 0, session,
                                        "SELECT cancel_requested FROM cf_api_jobs "
                                        "WHERE job_id = $1",
                                        &value, 1, err);
    if (st == MCP_OK)
        st = casparian_query_int(&restarts, 0, session,
                                 "SELECT restart_count FROM cf_api_jobs WHERE job_id = $1", &value,
                                 1, err);
    if (st != MCP_OK)
        return st;
    if (!is_cancelled && restarts == 0) {
        *out = CASPARIAN_RECOVERED_QUEUED;
        return requeue(session, claim, true, err);
    }
    *out = is_cancelled ? CASPARIAN_RECOVERED_CANCELLED : CASPARIAN_RECOVERED_FAILED;
    *end = is_cancelled ? (casparian_end){ .state = CASPARIAN_JOB_CANCELLED,
                                           .error_message = "Cancelled by user" }
                        : (casparian_end){ .state = CASPARIAN_JOB_FAILED,
                                           .error_code = "interrupted",
                                           .error_message = "runner disappeared" };
    return casparian_claim_end_in(session, claim, end, err);
}

mcp_status casparian_claim_recover(casparian_recovered *out, casparian_store *store,
                                   const casparian_claim *claim, mcp_error *err)
{
    casparian_end end = { .state = CASPARIAN_JOB_QUEUED };
    casparian_recovered how = CASPARIAN_RECOVERED_QUEUED;
    db_session *session = NULL;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = recover(&how, &end, session, claim, err);
    st = casparian_store_end(session, st, err);
    if (st != MCP_OK)
        return st;
    *out = how;
    if (how != CASPARIAN_RECOVERED_QUEUED)
        casparian_claim_audit(store, claim, &end);
    return MCP_OK;
}

/* ---- ending ---------------------------------------------------------------------------------- */

mcp_status casparian_claim_end_in(db_session *session, const casparian_claim *claim,
                                  const casparian_end *end, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = {
        db_int(claim->job),
        db_text(casparian_job_state_text(end->state)),
        db_int(now_ms),
        db_text(end->error_code),
        db_text(end->error_message),
        db_text(end->result),
        db_text(end->outputs),
        db_text(end->metrics),
        end->result ? db_int(end->rows) : db_null(),
        end->result ? db_int(end->bytes_written) : db_null(),
        db_text(end->progress),
    };
    if (st == MCP_OK)
        st = lost(jobs_give_up(session, &table, &claim->lease, err), claim, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_api_jobs SET status = $2, finished_at = $3, error_code = $4, "
                    "error_message = $5, result_json = coalesce(CAST($6 AS TEXT), result_json), "
                    "result_outputs_json = coalesce(CAST($7 AS TEXT), result_outputs_json), "
                    "result_metrics_json = coalesce(CAST($8 AS TEXT), result_metrics_json), "
                    "result_rows_processed = coalesce(CAST($9 AS BIGINT), result_rows_processed), "
                    "result_bytes_written = coalesce(CAST($10 AS BIGINT), result_bytes_written), "
                    "progress_phase = 'done', "
                    "progress_json = coalesce(CAST($11 AS TEXT), progress_json) "
                    "WHERE job_id = $1 AND status = 'running'",
                    values, sizeof values / sizeof values[0], err);
    if (st == MCP_OK)
        st = db_run(session, NULL, "DELETE FROM cf_commit_intents WHERE job_id = $1", values, 1,
                    err);
    if (st == MCP_OK)
        st = casparian_event_finished(session, claim->job, casparian_job_state_text(end->state),
                                      end->error_message, err);
    return st == MCP_OK ? casparian_wake_queue(session, err) : st;
}

void casparian_claim_audit(casparian_store *store, const casparian_claim *claim,
                           const casparian_end *end)
{
    bool is_cancelled = end->state == CASPARIAN_JOB_CANCELLED;
    casparian_audit_job_line(
        store, &(casparian_audit_job){ .job = claim->job,
                                       .action = is_cancelled ? "cancelled" : "finished",
                                       .status = casparian_job_state_text(end->state),
                                       .error_code = end->error_code,
                                       .manifests = end->manifests });
}

mcp_status casparian_claim_finish(casparian_store *store, const casparian_claim *claim,
                                  const casparian_end *end, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = casparian_claim_end_in(session, claim, end, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        casparian_claim_audit(store, claim, end);
    return st;
}

/* ---- the commit ------------------------------------------------------------------------------ */

static mcp_status guard_commit(db_session *session, const casparian_claim *claim, const char *pairs,
                               mcp_error *err)
{
    int64_t is_cancelled = 0;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(claim->job), db_text(pairs), db_int(now_ms) };
    if (st == MCP_OK)
        st = casparian_query_int(&is_cancelled, 0, session,
                                 "SELECT cancel_requested FROM cf_api_jobs WHERE job_id = $1",
                                 values, 1, err);
    if (st == MCP_OK && is_cancelled)
        return mcp_error_set(err, MCP_E_DENIED, "job %lld was cancelled", (long long)claim->job);
    return st == MCP_OK ? db_run(session, NULL,
                                 "INSERT INTO cf_commit_intents (job_id, pairs_json, created_at) "
                                 "VALUES ($1, $2, $3)",
                                 values, 3, err)
                        : st;
}

mcp_status casparian_claim_guard_in(db_session *session, const casparian_claim *claim,
                                    const char *pairs, mcp_error *err)
{
    mcp_status st = casparian_claim_check(session, claim, err);
    return st == MCP_OK ? guard_commit(session, claim, pairs, err) : st;
}

mcp_status casparian_claim_guard(casparian_store *store, const casparian_claim *claim,
                                 const char *pairs, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = begin(&session, store, claim, err);
    if (st == MCP_OK)
        st = guard_commit(session, claim, pairs, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_claim_intent(const char **pairs, casparian_store *store, mcp_arena *arena,
                                  const casparian_claim *claim, mcp_error *err)
{
    const db_value value = db_int(claim->job);
    db_session *session = NULL;
    db_rows *rows = NULL;
    const char *text = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = db_query(&rows, session, "SELECT pairs_json FROM cf_commit_intents WHERE job_id = $1",
                      &value, 1, err);
    if (casparian_next(rows, &st, err))
        text = casparian_row_text(rows, 0, arena, &st);
    db_rows_free(rows);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        *pairs = text;
    return st;
}
