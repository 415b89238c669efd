/*
 * commit.c - the end of a job.
 *
 * prepare (files complete under temporary names), guard (one transaction: not cancelled, the
 * intent, and all rows of the state), apply (files get their names), confirm (one transaction: the
 * rows count, the job is completed). A process that dies after the guard leaves an intent, which
 * the runner that recovers the job settles.
 */
#include "jobs/drive/commit.h"

#include <string.h>

#include "fault/fault.h"
#include "jobs/drive/input/inputs.h"
#include "jobs/drive/journal.h"
#include "jobs/drive/outputs.h"
#include "jobs/drive/records.h"
#include "mcp/clock.h"

static const int64_t second_ns = 1000000000;

/* ---- a job without a commit ------------------------------------------------------------------ */

static mcp_status end_in(casparian_drive *self, db_session *session, const casparian_end *end,
                         bool has_result, mcp_error *err)
{
    mcp_status st = casparian_claim_check(session, self->claim, err);
    if (st == MCP_OK)
        st = casparian_journal_store(self, session, err);
    if (st == MCP_OK && has_result && self->job.type == CASPARIAN_JOB_BACKTEST)
        st = casparian_inputs_remember(self, session, err);
    if (st == MCP_OK && has_result)
        st = casparian_records_summary(self, session, err);
    return st == MCP_OK ? casparian_claim_end_in(session, self->claim, end, err) : st;
}

mcp_status casparian_drive_end(casparian_drive *self, casparian_job_state state,
                               const char *error_code, const char *error_message, bool has_result,
                               mcp_error *err)
{
    casparian_results results;
    db_session *session = NULL;
    self->phase = "done";
    self->current = NULL;
    mcp_status st = casparian_results_make(&results, self, NULL, 0, err);
    const casparian_end end = {
        .state = state,
        .error_code = error_code,
        .error_message = error_message,
        .result = has_result ? results.result.buf.data : NULL,
        .outputs = has_result ? results.outputs.buf.data : NULL,
        .metrics = has_result ? results.metrics.buf.data : NULL,
        .progress = results.progress.buf.data,
        .rows = results.rows,
    };
    if (st == MCP_OK)
        st = db_begin(&session, casparian_store_database(self->store), DB_WRITE, err);
    if (st == MCP_OK)
        st = end_in(self, session, &end, has_result, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        casparian_claim_audit(self->store, self->claim, &end);
    casparian_results_free(&results);
    return st;
}

/* ---- judging --------------------------------------------------------------------------------- */

static mcp_status judge(casparian_drive *self)
{
    for (const casparian_output *output = self->outputs.first; output; output = output->next) {
        casparian_check_counts counts;
        casparian_output_count(output, &counts);
        casparian_verdict verdict = casparian_quarantine_judge(&self->policy, counts.rows_valid,
                                                               counts.rows_quarantined);
        if (verdict <= CASPARIAN_VERDICT_QUARANTINED)
            continue;
        bool is_threshold = verdict == CASPARIAN_VERDICT_THRESHOLD;
        return casparian_drive_fail(
            self, is_threshold ? "quarantine_threshold" : "quarantine_not_allowed",
            "%lld of %lld rows of '%s' are invalid, %s", (long long)counts.rows_quarantined,
            (long long)counts.rows_emitted, output->name,
            is_threshold ? "more than the policy allows (max_quarantine_pct, max_quarantine_count)"
                         : "and quarantine is not allowed (allow_quarantine)");
    }
    return MCP_OK;
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* Texts of the facts that are made for them. */
typedef struct fact_texts {
    char created_at[MCP_CLOCK_UTC_SIZE], decided_at[MCP_CLOCK_UTC_SIZE];
    const mcp_json *quarantine;
} fact_texts;

static const mcp_json *policy_json(casparian_drive *self)
{
    const mcp_json *json = NULL;
    mcp_json_writer out;
    mcp_buf buf;
    mcp_buf_init(&buf, 1024);
    mcp_json_writer_init(&out, &buf);
    casparian_quarantine_write(&out, &self->policy);
    if (mcp_json_writer_status(&out) == MCP_OK)
        mcp_json_read(&json, self->arena, buf.data, buf.length, NULL);
    mcp_buf_clear(&buf);
    return json;
}

static mcp_status list_inputs(casparian_manifest_input **out, casparian_drive *self, mcp_error *err)
{
    casparian_manifest_input *inputs = mcp_arena_array(self->arena, self->input_count,
                                                       sizeof *inputs);
    if (!inputs)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the manifest");
    for (size_t i = 0; i < self->input_count; i++)
        inputs[i] = (casparian_manifest_input){ .path = self->inputs[i].file.path,
                                                .size = self->inputs[i].file.size,
                                                .mtime_s = self->inputs[i].file.mtime_ns /
                                                           second_ns,
                                                .sha256 = self->inputs[i].sha256,
                                                .status = self->inputs[i].status,
                                                .rows = self->inputs[i].rows };
    *out = inputs;
    return MCP_OK;
}

/* Takes the sink. */
static mcp_status prepare(casparian_commit **out, casparian_drive *self, mcp_error *err)
{
    const casparian_approval *approval = &self->approval;
    casparian_manifest_input *inputs = NULL;
    fact_texts texts;
    mcp_status st = list_inputs(&inputs, self, err);
    if (st != MCP_OK)
        return st;
    mcp_clock_utc(texts.created_at, mcp_clock_wall_ms(), 1);
    mcp_clock_utc(texts.decided_at, approval->decided_ms, 1);
    const casparian_manifest_facts facts = {
        .created_at = texts.created_at,
        .program = self->driver->program,
        .artifact_hash = self->plugin.artifact_hash,
        .signer = self->plugin.signer,
        .approval_id = approval->id,
        .decided_by = approval->decided_by,
        .decided_at = approval->id ? texts.decided_at : NULL,
        .snapshot_sha256 = approval->snapshot_sha256,
        .quarantine = policy_json(self),
        .inputs = inputs,
        .input_count = self->input_count,
        .key = self->driver->options.signing_key,
    };
    casparian_sink *sink = self->outputs.sink;
    self->outputs.sink = NULL;
    st = casparian_commit_prepare(out, sink, &facts, err);
    return st == MCP_OK ? MCP_OK : casparian_drive_fail(self, "sink_error", "%s", err->message);
}

/* ---- the guard and what follows -------------------------------------------------------------- */

/* A commit on its way. */
typedef struct commit_task {
    casparian_drive *drive;
    casparian_commit *commit;
    const casparian_record *records;
    size_t count;
    casparian_results results;
    const char *intent;                                   /* in the arena of the job */
    const char *manifests[CASPARIAN_SINK_PLACES_MAX + 1]; /* their hashes, also there; NULL ends */
} commit_task;

static mcp_status pass_guard(commit_task *self, mcp_error *err)
{
    casparian_drive *drive = self->drive;
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(drive->store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_claim_guard_in(session, drive->claim, self->intent, err);
    if (st == MCP_OK)
        st = casparian_records_store(drive, session, self->records, self->count, &self->results,
                                     err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        FAULT_POINT("guarded");
    return st;
}

static mcp_status undo(casparian_store *store, const casparian_claim *claim, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_claim_check(session, claim, err);
    if (st == MCP_OK)
        st = casparian_records_undo(session, claim->job, err);
    return casparian_store_end(session, st, err);
}

static mcp_status confirm(casparian_drive *drive, casparian_store *store,
                          const casparian_claim *claim, const casparian_end *end, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_claim_check(session, claim, err);
    if (st == MCP_OK && drive)
        st = casparian_journal_store(drive, session, err);
    if (st == MCP_OK)
        st = casparian_records_confirm(session, claim->job, err);
    if (st == MCP_OK)
        st = casparian_claim_end_in(session, claim, end, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK) {
        FAULT_POINT("committed");
        casparian_claim_audit(store, claim, end);
    }
    return st;
}

/* A commit that failed on its way has made some of its files visible, perhaps: all or none. */
static mcp_status settle_own(commit_task *self, const mcp_error *cause, mcp_error *err)
{
    casparian_drive *drive = self->drive;
    mcp_error failure = *cause;
    bool is_committed = false;
    mcp_status st = casparian_commit_settle(&is_committed, self->intent, strlen(self->intent), err);
    if (st != MCP_OK || is_committed)
        return st;
    st = undo(drive->store, drive->claim, err);
    return st == MCP_OK ? casparian_drive_fail(drive, "sink_error", "%s", failure.message) : st;
}

static mcp_status apply(commit_task *self, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = casparian_commit_apply(self->commit, &cause);
    casparian_commit_free(self->commit);
    self->commit = NULL;
    if (st != MCP_OK)
        st = settle_own(self, &cause, err);
    if (st != MCP_OK)
        return st;
    FAULT_POINT("renamed");
    const casparian_end end = { .state = CASPARIAN_JOB_COMPLETED,
                                .progress = self->results.progress.buf.data,
                                .manifests = self->manifests };
    return confirm(self->drive, self->drive->store, self->drive->claim, &end, err);
}

static bool copy_manifests(commit_task *self)
{
    const char *hash = casparian_commit_manifest_hash(self->commit, 0);
    for (size_t i = 0; hash; hash = casparian_commit_manifest_hash(self->commit, ++i)) {
        self->manifests[i] = mcp_arena_strdup(self->drive->arena, hash);
        if (!self->manifests[i])
            return false;
    }
    return true;
}

static mcp_status guard_and_apply(commit_task *self, mcp_error *err)
{
    casparian_drive *drive = self->drive;
    self->intent = mcp_arena_strdup(drive->arena, casparian_commit_intent(self->commit));
    mcp_status st = self->intent && copy_manifests(self)
                        ? casparian_records_copy(&self->records, &self->count, drive, self->commit,
                                                 err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
    if (st != MCP_OK)
        return st;
    drive->phase = "done";
    st = casparian_results_make(&self->results, drive, self->records, self->count, err);
    if (st == MCP_OK)
        st = pass_guard(self, err);
    if (st == MCP_OK)
        st = apply(self, err);
    casparian_results_free(&self->results);
    return st;
}

mcp_status casparian_drive_commit(casparian_drive *self, mcp_error *err)
{
    commit_task task = { .drive = self };
    self->current = NULL;
    mcp_status st = judge(self);
    if (st == MCP_OK)
        st = casparian_journal_phase(self, "writing", err);
    if (st == MCP_OK && !self->outputs.sink)
        return casparian_drive_end(self, CASPARIAN_JOB_COMPLETED, NULL, NULL, true, err);
    if (st == MCP_OK)
        st = prepare(&task.commit, self, err);
    if (st != MCP_OK)
        return st;
    FAULT_POINT("prepared");
    st = guard_and_apply(&task, err);
    casparian_commit_abort(task.commit); /* NULL once it was applied */
    return st;
}

/* ---- a commit that was left ------------------------------------------------------------------ */

/* The hashes of its manifests, which are stored with its outputs. @param out NULL ends them */
static mcp_status find_manifests(const char *out[CASPARIAN_SINK_PLACES_MAX + 1],
                                 casparian_store *store, int64_t job, mcp_arena *arena,
                                 mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = casparian_records_manifests(out, CASPARIAN_SINK_PLACES_MAX, session, job, arena, err);
    return casparian_store_end(session, st, err);
}

static mcp_status confirm_left(casparian_store *store, const casparian_claim *claim, mcp_error *err)
{
    const char *manifests[CASPARIAN_SINK_PLACES_MAX + 1] = { NULL };
    const casparian_end end = { .state = CASPARIAN_JOB_COMPLETED, .manifests = manifests };
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? find_manifests(manifests, store, claim->job, arena, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
    if (st == MCP_OK)
        st = confirm(NULL, store, claim, &end, err);
    mcp_arena_free(arena);
    return st;
}

mcp_status casparian_settle(bool *is_committed, casparian_store *store,
                            const casparian_claim *claim, const char *intent, mcp_error *err)
{
    mcp_status st = casparian_commit_settle(is_committed, intent, strlen(intent), err);
    if (st != MCP_OK)
        return st;
    return *is_committed ? confirm_left(store, claim, err) : undo(store, claim, err);
}
