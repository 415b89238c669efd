/*
 * approval.c - storing, reading and deciding requests.
 */
#include "jobs/approval.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault/fault.h"
#include "guard/paths.h"
#include "jobs/audit.h"
#include "jobs/state/events.h"
#include "jobs/state/job_row.h"
#include "jobs/state/queue.h"
#include "jobs/state/snapshot.h"
#include "jobs/state/uuid.h"
#include "jobs/store_int.h"

enum { TTL_S = 3600, LIST_MAX = 1000, EXPIRE_MAX = 1000, SETTLE_MAX = 100 };

/* Writing a promotion takes so long at most; one that takes longer corrects its result. */
enum { PROMOTION_MS = 30000 };

#define COLUMNS                                                                                    \
    "approval_id, status, operation_type, operation_json, summary, snapshot_json, subject_hash, "  \
    "requested_by, created_at, expires_at, decided_at, decided_by, rejection_reason, job_id, "     \
    "result_json"

bool casparian_approval_id_is_valid(const char *text)
{
    return casparian_uuid_is_valid(text);
}

/* ---- reading --------------------------------------------------------------------------------- */

static mcp_status read_row(casparian_approval *out, const db_rows *rows, mcp_arena *arena,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;
    casparian_approval approval = {
        .id = casparian_row_text(rows, 0, arena, &st),
        .status = casparian_row_text(rows, 1, arena, &st),
        .operation = casparian_row_text(rows, 2, arena, &st),
        .snapshot_sha256 = casparian_row_text(rows, 6, arena, &st),
        .requested_by = casparian_row_text(rows, 7, arena, &st),
        .created_ms = db_int_at(rows, 8),
        .expires_ms = db_int_at(rows, 9),
        .decided_ms = db_int_at(rows, 10),
        .decided_by = casparian_row_text(rows, 11, arena, &st),
        .rejection_reason = casparian_row_text(rows, 12, arena, &st),
        .job = db_int_at(rows, 13),
    };
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for a request");
    approval.details = casparian_row_json(rows, 3, arena, &st, err);
    approval.summary = casparian_row_json(rows, 4, arena, &st, err);
    approval.snapshot = casparian_row_json(rows, 5, arena, &st, err);
    approval.result = casparian_row_json(rows, 14, arena, &st, err);
    if (st == MCP_OK)
        *out = approval;
    return st;
}

static mcp_status read_stored(casparian_approval *out, db_session *session, mcp_arena *arena,
                              const char *id, mcp_error *err)
{
    const db_value value = db_text(id);
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT " COLUMNS " FROM cf_api_approvals WHERE approval_id = $1",
                             &value, 1, err);
    if (casparian_next(rows, &st, err))
        st = read_row(out, rows, arena, err);
    else if (st == MCP_OK)
        st = mcp_error_set(err, MCP_E_INTERNAL, "the request '%s' is gone", id);
    db_rows_free(rows);
    return st;
}

static mcp_status not_found(const char *id, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no request '%.60s'", id ? id : "");
}

static mcp_status wake(db_session *session, const char *id, mcp_error *err)
{
    char key[CASPARIAN_KEY_SIZE];
    casparian_approval_key(key, id);
    return db_notify(session, CASPARIAN_CHANNEL, key, err);
}

/* The line of a request whose time is over. It has become so, whatever happens to the line. */
static void audit_expired(const char *scope, const char *id, void *data)
{
    casparian_store *store = data;
    mcp_error err = MCP_ERROR_INIT;
    (void)scope;
    if (casparian_audit_approval_line(
            store, &(casparian_audit_approval){ .approval_id = id, .action = "expired" }, &err) !=
        MCP_OK)
        mcp_log_write(&store->options.log, MCP_LOG_ERROR, "audit of the request %s: %s", id,
                      err.message);
}

static mcp_status look(casparian_approval *out, bool *found, casparian_store *store,
                       db_session *session, mcp_arena *arena, const char *id, mcp_error *err)
{
    approvals_result result;
    mcp_status st = approvals_look(&result, store->requests, session, NULL, id, arena, err);
    *found = st == MCP_OK && result.outcome != APPROVALS_ABSENT;
    if (!*found)
        return st;
    if (result.outcome == APPROVALS_EXPIRED) {
        audit_expired(NULL, id, store);
        st = wake(session, id, err);
    }
    return st == MCP_OK ? read_stored(out, session, arena, id, err) : st;
}

/* ---- promotions that were interrupted -------------------------------------------------------- */

static mcp_status store_result(casparian_approval *approval, casparian_store *store,
                               mcp_arena *arena, const casparian_promotion *code,
                               const mcp_error *failure, mcp_error *err);

/* Whether the process that decided has ended before it stored what became of the files. */
static mcp_status look_at_promotion(bool *is_interrupted, const casparian_approval *approval,
                                    db_session *session, mcp_error *err)
{
    int64_t now_ms = 0;
    *is_interrupted = false;
    if (strcmp(approval->operation, "schema_promote") != 0 ||
        strcmp(approval->status, "approved") != 0 || approval->result)
        return MCP_OK;
    mcp_status st = db_now(session, &now_ms, err);
    *is_interrupted = st == MCP_OK && now_ms - approval->decided_ms >= PROMOTION_MS;
    return st;
}

/* Store what became of it: all files are there, or it has failed. Nothing is written here: this
 * process may have other allowed roots, and nobody waits for the files any more. */
static mcp_status settle(casparian_approval *approval, casparian_store *store, mcp_arena *arena,
                         mcp_error *err)
{
    casparian_promotion code = { 0 };
    mcp_error failure = MCP_ERROR_INIT;
    mcp_status st = casparian_snapshot_code(&code, arena, approval->snapshot, &failure);
    size_t count = st == MCP_OK ? casparian_promote_count(&code) : 0;
    if (st == MCP_OK && count < code.count)
        st = mcp_error_set(&failure, MCP_E_STOPPED,
                           "interrupted: the program ended before it had written the files "
                           "(%zu of %zu are there); remove those, and request it again",
                           count, code.count);
    return store_result(approval, store, arena, &code, st == MCP_OK ? NULL : &failure, err);
}

static mcp_status list_interrupted(const char **ids, size_t *count, casparian_store *store,
                                   mcp_arena *arena, mcp_error *err)
{
    int64_t now_ms = 0;
    db_session *session = NULL;
    db_rows *rows = NULL;
    mcp_status st = db_begin(&session, store->database, DB_READ, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    const db_value before = db_int(now_ms - PROMOTION_MS);
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT approval_id FROM cf_api_approvals WHERE status = 'approved' AND "
                      "operation_type = 'schema_promote' AND result_json IS NULL AND decided_at <= "
                      "$1",
                      &before, 1, err);
    while (*count < SETTLE_MAX && casparian_next(rows, &st, err)) {
        ids[*count] = casparian_row_text(rows, 0, arena, &st);
        *count += st == MCP_OK;
    }
    db_rows_free(rows);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_approval_settle(casparian_store *store, mcp_error *err)
{
    const char *ids[SETTLE_MAX];
    size_t count = 0;
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for interrupted promotions");
    mcp_status st = list_interrupted(ids, &count, store, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        casparian_approval approval;
        st = casparian_approval_read(&approval, store, arena, ids[i], err);
    }
    mcp_arena_free(arena);
    return st;
}

mcp_status casparian_approval_read(casparian_approval *out, casparian_store *store,
                                   mcp_arena *arena, const char *id, mcp_error *err)
{
    db_session *session = NULL;
    bool found = false, is_interrupted = false;
    if (!casparian_approval_id_is_valid(id))
        return not_found(id, err);
    mcp_status st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = look(out, &found, store, session, arena, id, err);
    if (st == MCP_OK && found)
        st = look_at_promotion(&is_interrupted, out, session, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK && is_interrupted)
        st = settle(out, store, arena, err);
    return st == MCP_OK && !found ? not_found(id, err) : st;
}

static mcp_status list(casparian_approval *out, size_t *count, db_session *session,
                       mcp_arena *arena, const char *status, size_t limit, mcp_error *err)
{
    const db_value values[] = { db_text(status), db_int((int64_t)limit) };
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT " COLUMNS " FROM cf_api_approvals WHERE $1 IN ('all', status) "
                             "ORDER BY created_at DESC, approval_id LIMIT $2",
                             values, 2, err);
    while (casparian_next(rows, &st, err)) {
        st = read_row(&out[*count], rows, arena, err);
        ++*count;
    }
    db_rows_free(rows);
    return st;
}

static bool is_status(const char *text)
{
    static const char *const known[] = { "pending", "approved", "rejected", "expired", "all" };
    for (size_t i = 0; text && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i]) == 0)
            return true;
    return false;
}

mcp_status casparian_approval_list(const casparian_approval **out, size_t *count,
                                   casparian_store *store, mcp_arena *arena, const char *status,
                                   size_t limit, mcp_error *err)
{
    db_session *session = NULL;
    size_t listed = 0;
    limit = limit < LIST_MAX ? limit : LIST_MAX;
    if (!is_status(status))
        return mcp_error_set(err, MCP_E_PARAMS, "no request has the status '%.40s'",
                             status ? status : "");
    casparian_approval *items = mcp_arena_array(arena, limit, sizeof *items);
    if (!items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of requests");
    mcp_status st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = approvals_expire(store->requests, session, EXPIRE_MAX, audit_expired, store, NULL,
                              err);
    if (st == MCP_OK)
        st = list(items, &listed, session, arena, status, limit, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK) {
        *out = items;
        *count = listed;
    }
    return st;
}

mcp_status casparian_approval_expire(int64_t *count, casparian_store *store, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = approvals_expire(store->requests, session, EXPIRE_MAX, audit_expired, store, count,
                              err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_approval_files(const casparian_job_outcome **out, size_t *count,
                                    casparian_store *store, mcp_arena *arena, const char *id,
                                    const char *after, size_t limit, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, store->database, DB_READ, err);
    if (st == MCP_OK)
        st = casparian_file_rows(out, count, session, arena, "approval_id", db_text(id), after,
                                 limit, err);
    return casparian_store_end(session, st, err);
}

/* ---- writing as JSON ------------------------------------------------------------------------- */

static void write_command(mcp_json_writer *out, const casparian_approval *approval)
{
    char command[128];
    if (strcmp(approval->status, "pending") != 0)
        return;
    snprintf(command, sizeof command, "casparian approvals approve %s", approval->id);
    mcp_write_member_string(out, "approve_command", command);
}

void casparian_approval_write(mcp_json_writer *out, const casparian_approval *approval)
{
    mcp_write_member_string(out, "approval_id", approval->id);
    mcp_write_member_string(out, "status", approval->status);
    mcp_write_member_string(out, "operation", approval->operation);
    mcp_write_member_value(out, "summary", approval->summary);
    casparian_write_job(out, "job_id", approval->job);
    casparian_write_time(out, "created_at", approval->created_ms);
    casparian_write_time(out, "expires_at", approval->expires_ms);
    casparian_write_time(out, "decided_at", approval->decided_ms);
    casparian_write_text(out, "decided_by", approval->decided_by);
    casparian_write_text(out, "rejection_reason", approval->rejection_reason);
    if (approval->result)
        mcp_write_member_value(out, "result", approval->result);
    write_command(out, approval);
}

void casparian_approval_write_item(mcp_json_writer *out, const casparian_approval *approval)
{
    mcp_write_object(out);
    mcp_write_member_string(out, "approval_id", approval->id);
    mcp_write_member_string(out, "status", approval->status);
    mcp_write_member_string(out, "operation", approval->operation);
    mcp_write_member_value(out, "summary", approval->summary);
    casparian_write_time(out, "created_at", approval->created_ms);
    casparian_write_time(out, "expires_at", approval->expires_ms);
    write_command(out, approval);
    mcp_write_end(out);
}

/* ---- requesting ------------------------------------------------------------------------------ */

/* What is stored of a request, whatever it is for. */
typedef struct request {
    const casparian_snapshot *snapshot;
    const char *requested_by;
    const casparian_job_file *files;
    size_t file_count;
} request;

static mcp_status insert(db_session *session, casparian_store *store, const char *id,
                         const request *self, mcp_error *err)
{
    const casparian_snapshot *texts = self->snapshot;
    int64_t ttl_s = store->options.settings->approvals.ttl_s;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = {
        db_text(id),
        db_text(texts->sha256),
        db_text(texts->type),
        db_text(texts->operation),
        db_text(texts->summary),
        db_text(texts->snapshot),
        db_text(texts->spec),
        db_text(self->requested_by),
        db_int(now_ms),
        db_int(now_ms + 1000 * (ttl_s > 0 ? ttl_s : TTL_S)),
    };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "INSERT INTO cf_api_approvals (approval_id, status, subject_hash, "
                    "operation_type, operation_json, summary, snapshot_json, job_spec_json, "
                    "requested_by, created_at, expires_at) VALUES ($1, 'pending', $2, $3, $4, $5, "
                    "$6, $7, $8, $9, $10)",
                    values, sizeof values / sizeof values[0], err);
    if (st == MCP_OK)
        st = casparian_queue_files(session, 0, id, self->files, self->file_count, err);
    return st == MCP_OK ? wake(session, id, err) : st;
}

/* Write the line before the commit: nothing happens that the audit does not have. */
static mcp_status audit(casparian_store *store, const casparian_audit_approval *line,
                        mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = casparian_audit_approval_line(store, line, &cause);
    if (st == MCP_OK)
        return MCP_OK;
    mcp_log_write(&store->options.log, MCP_LOG_ERROR, "audit of the request %s: %s",
                  line->approval_id, cause.message);
    return store->options.is_audit_required
               ? mcp_error_set(err, st, "the audit log: %s", cause.message)
               : MCP_OK;
}

static mcp_status store_request(casparian_approval *out, casparian_store *store, mcp_arena *arena,
                                const request *self, mcp_error *err)
{
    char id[CASPARIAN_APPROVAL_ID_SIZE];
    db_session *session = NULL;
    const casparian_audit_approval line = { .approval_id = id,
                                            .action = "requested",
                                            .operation = self->snapshot->type,
                                            .snapshot_sha256 = self->snapshot->sha256 };
    mcp_status st = casparian_uuid(id, err);
    if (st == MCP_OK)
        st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = insert(session, store, id, self, err);
    if (st == MCP_OK)
        st = read_stored(out, session, arena, id, err);
    if (st == MCP_OK)
        st = audit(store, &line, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_approval_request_run(casparian_approval *out, casparian_store *store,
                                          mcp_arena *arena, const casparian_run_request *wanted,
                                          mcp_error *err)
{
    casparian_snapshot snapshot;
    if (wanted->reason && strlen(wanted->reason) > CASPARIAN_REASON_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the reason has more than %d bytes",
                             CASPARIAN_REASON_MAX);
    if (wanted->file_count > CASPARIAN_MAX_FILES)
        return mcp_error_set(err, MCP_E_LIMIT, "a run has at most %d files", CASPARIAN_MAX_FILES);
    mcp_status st = casparian_snapshot_run(&snapshot, arena, wanted, err);
    const request self = { .snapshot = &snapshot,
                           .requested_by = wanted->requested_by,
                           .files = wanted->files,
                           .file_count = wanted->file_count };
    return st == MCP_OK ? store_request(out, store, arena, &self, err) : st;
}

mcp_status casparian_approval_request_promote(casparian_approval *out, casparian_store *store,
                                              mcp_arena *arena,
                                              const casparian_promote_request *wanted,
                                              mcp_error *err)
{
    casparian_snapshot snapshot;
    mcp_status st = casparian_snapshot_promote(&snapshot, arena, wanted, err);
    const request self = { .snapshot = &snapshot, .requested_by = wanted->requested_by };
    return st == MCP_OK ? store_request(out, store, arena, &self, err) : st;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static const char *const decided_texts[] = {
    "approved", "rejected", "already_approved", "already_rejected", "expired", "not_found",
};

const char *casparian_decided_text(casparian_decided decided)
{
    return decided_texts[decided];
}

static casparian_decided outcome_of(const approvals_result *result, bool approves)
{
    if (result->outcome == APPROVALS_ABSENT)
        return CASPARIAN_DECIDED_ABSENT;
    if (result->outcome == APPROVALS_MOVED)
        return approves ? CASPARIAN_DECIDED_APPROVED : CASPARIAN_DECIDED_REJECTED;
    if (result->status && strcmp(result->status, "approved") == 0)
        return CASPARIAN_DECIDED_ALREADY_APPROVED;
    if (result->status && strcmp(result->status, "rejected") == 0)
        return CASPARIAN_DECIDED_ALREADY_REJECTED;
    return CASPARIAN_DECIDED_EXPIRED;
}

/* A value as a JSON text in the arena; NULL: no memory. */
static const char *text_of(const mcp_json *json, mcp_arena *arena)
{
    mcp_json_writer out;
    mcp_buf buf;
    mcp_buf_init(&buf, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&out, &buf);
    mcp_write_value(&out, json);
    const char *text = mcp_json_writer_status(&out) == MCP_OK
                           ? mcp_arena_strndup(arena, buf.data, buf.length)
                           : NULL;
    mcp_buf_clear(&buf);
    return text;
}

static mcp_status read_spec(const char **out, db_session *session, mcp_arena *arena, const char *id,
                            mcp_error *err)
{
    const db_value value = db_text(id);
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT job_spec_json FROM cf_api_approvals WHERE approval_id = $1",
                             &value, 1, err);
    if (casparian_next(rows, &st, err))
        *out = casparian_row_text(rows, 0, arena, &st);
    db_rows_free(rows);
    return st;
}

/* The job of an approved run, which takes over the frozen files. */
static mcp_status create_job(int64_t *job, casparian_store *store, db_session *session,
                             mcp_arena *arena, const casparian_approval *approval, mcp_error *err)
{
    const mcp_json *snapshot = approval->snapshot;
    casparian_queued queued = {
        .type = "run",
        .plugin_name = mcp_json_get_string(snapshot, "plugin"),
        .plugin_version = mcp_json_get_string(snapshot, "version"),
        .artifact_hash = mcp_json_get_string(snapshot, "artifact_hash"),
        .plugin_ref = text_of(mcp_json_get(approval->details, "plugin_ref"), arena),
        .plugin_path = mcp_json_get_string(snapshot, "path"),
        .input_dir = mcp_json_get_string(approval->details, "input_dir"),
        .sink_uri = mcp_json_get_string(snapshot, "sink_uri"),
        .approval_id = approval->id,
    };
    mcp_json_int(mcp_json_get(approval->details, "timeout_ms"), &queued.timeout_ms);
    mcp_status st = queued.plugin_ref ? read_spec(&queued.spec, session, arena, approval->id, err)
                                      : mcp_error_set(err, MCP_E_NOMEM, "no memory for a job");
    if (st == MCP_OK)
        st = casparian_queue_add(job, NULL, session, &store->options.settings->jobs, &queued, err);
    const db_value values[] = { db_text(approval->id), db_int(*job) };
    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE cf_api_approvals SET job_id = $2 WHERE approval_id = $1",
                    values, 2, err);
    return st == MCP_OK ? db_run(session, NULL,
                                 "UPDATE cf_api_job_files SET job_id = $2 WHERE approval_id = $1",
                                 values, 2, err)
                        : st;
}

static mcp_status store_reason(db_session *session, const casparian_decision *decision,
                               mcp_error *err)
{
    const db_value values[] = { db_text(decision->id), db_text(decision->reason) };
    return db_run(session, NULL,
                  "UPDATE cf_api_approvals SET rejection_reason = $2 WHERE approval_id = $1",
                  values, 2, err);
}

/* What follows from a decision that counts, in its transaction. */
static mcp_status follow(casparian_approval *approval, casparian_store *store, db_session *session,
                         mcp_arena *arena, const casparian_decision *decision, mcp_error *err)
{
    int64_t job = 0;
    mcp_status st = read_stored(approval, session, arena, decision->id, err);
    if (st == MCP_OK && decision->approves && strcmp(approval->operation, "run") == 0)
        st = create_job(&job, store, session, arena, approval, err);
    else if (st == MCP_OK && !decision->approves)
        st = store_reason(session, decision, err);
    const casparian_audit_approval line = {
        .approval_id = decision->id,
        .action = decision->approves ? "approved" : "rejected",
        .operation = approval->operation,
        .decided_by = decision->by,
        .job = job,
        .snapshot_sha256 = approval->snapshot_sha256,
    };
    if (st == MCP_OK)
        st = audit(store, &line, err);
    return st == MCP_OK ? wake(session, decision->id, err) : st;
}

static mcp_status decide(casparian_decided *decided, casparian_approval *approval,
                         casparian_store *store, db_session *session, mcp_arena *arena,
                         const casparian_decision *decision, mcp_error *err)
{
    const approvals_change change = { .id = decision->id,
                                      .to = decision->approves ? "approved" : "rejected",
                                      .by = decision->by,
                                      .subject_hash = decision->snapshot_sha256 };
    approvals_result result;
    mcp_status st = approvals_move(&result, store->requests, session, &change, arena, err);
    if (st != MCP_OK)
        return st;
    if (result.outcome == APPROVALS_STALE)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "the request '%s' is not the one that was shown: look at it again",
                             decision->id);
    *decided = outcome_of(&result, decision->approves);
    if (result.outcome == APPROVALS_MOVED)
        st = follow(approval, store, session, arena, decision, err);
    if (result.outcome == APPROVALS_EXPIRED) {
        audit_expired(NULL, decision->id, store);
        st = wake(session, decision->id, err);
    }
    return st == MCP_OK && *decided != CASPARIAN_DECIDED_ABSENT
               ? read_stored(approval, session, arena, decision->id, err)
               : st;
}

/* ---- writing a promotion --------------------------------------------------------------------- */

static mcp_status open_parent(int *fd, mcp_arena *arena, const char *path,
                              const casparian_decision *decision, mcp_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *folder = mcp_arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
    if (!folder)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    mcp_status st = MCP_OK;
    if (decision->open_folder)
        st = decision->open_folder(fd, folder, decision->data, err);
    else
        *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (st == MCP_OK && *fd < 0)
        st = mcp_error_errno(err, errno, "the folder '%s'", folder);
    if (st != MCP_OK || guard_is_at(*fd, folder))
        return st;
    close(*fd);
    return mcp_error_set(err, MCP_E_DENIED, "the folder '%.200s' " CASPARIAN_NOT_AS_APPROVED,
                         folder);
}

/* The files are in one folder. */
static mcp_status write_code(const casparian_promotion *code, mcp_arena *arena,
                             const casparian_decision *decision, mcp_error *err)
{
    int folder = -1;
    mcp_status st = open_parent(&folder, arena, code->files[0].path, decision, err);
    if (st != MCP_OK)
        return st;
    st = casparian_promote_write(folder, code, err);
    close(folder);
    return st;
}

static void write_result(mcp_json_writer *out, const casparian_approval *approval,
                         const casparian_promotion *code, const mcp_error *failure)
{
    size_t bytes = 0;
    for (size_t i = 0; i < code->count; i++)
        bytes += code->files[i].length;
    mcp_write_member_string(out, "path", mcp_json_get_string(approval->details, "output_path"));
    if (failure) {
        mcp_write_member_string(out, "error", failure->message);
        return;
    }
    mcp_write_member_int(out, "bytes", (int64_t)bytes);
    mcp_write_member_string(out, "sha256", code->sha256);
}

static mcp_status update_result(casparian_approval *approval, casparian_store *store,
                                mcp_arena *arena, const casparian_text *result, mcp_error *err)
{
    const db_value values[] = { db_text(approval->id), casparian_text_value(result) };
    db_session *session = NULL;
    mcp_status st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_api_approvals SET result_json = $2 WHERE approval_id = $1", values,
                    2, err);
    if (st == MCP_OK)
        st = wake(session, approval->id, err);
    st = casparian_store_end(session, st, err);
    return st == MCP_OK
               ? mcp_json_read(&approval->result, arena, result->buf.data, result->buf.length, err)
               : st;
}

/* What became of the files. @param failure NULL: they are there */
static mcp_status store_result(casparian_approval *approval, casparian_store *store,
                               mcp_arena *arena, const casparian_promotion *code,
                               const mcp_error *failure, mcp_error *err)
{
    casparian_text result;
    casparian_text_init(&result);
    write_result(&result.out, approval, code, failure);
    mcp_status st = casparian_text_end(&result, err);
    if (st == MCP_OK)
        st = update_result(approval, store, arena, &result, err);
    casparian_text_free(&result);
    return st;
}

/* The decision stands, whatever becomes of the file: that is the result. */
static mcp_status promote(casparian_approval *approval, casparian_store *store, mcp_arena *arena,
                          const casparian_decision *decision, mcp_error *err)
{
    casparian_promotion code = { 0 };
    mcp_error failure = MCP_ERROR_INIT;
    mcp_status st = casparian_snapshot_code(&code, arena, approval->snapshot, &failure);
    FAULT_POINT("promote");
    if (st == MCP_OK)
        st = write_code(&code, arena, decision, &failure);
    FAULT_POINT("promoted");
    return store_result(approval, store, arena, &code, st == MCP_OK ? NULL : &failure, err);
}

mcp_status casparian_approval_decide(casparian_decided *decided, casparian_approval *approval,
                                     casparian_store *store, mcp_arena *arena,
                                     const casparian_decision *decision, mcp_error *err)
{
    casparian_decided how = CASPARIAN_DECIDED_ABSENT;
    db_session *session = NULL;
    if (!decision->by)
        return mcp_error_set(err, MCP_E_PARAMS, "a decision says who decides");
    if (decision->reason && strlen(decision->reason) > CASPARIAN_REASON_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the reason has more than %d bytes",
                             CASPARIAN_REASON_MAX);
    if (!casparian_approval_id_is_valid(decision->id)) {
        *decided = CASPARIAN_DECIDED_ABSENT;
        return MCP_OK;
    }
    mcp_status st = db_begin(&session, store->database, DB_WRITE, err);
    if (st == MCP_OK)
        st = decide(&how, approval, store, session, arena, decision, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK && how == CASPARIAN_DECIDED_APPROVED &&
        strcmp(approval->operation, "schema_promote") == 0)
        st = promote(approval, store, arena, decision, err);
    if (st == MCP_OK)
        *decided = how;
    return st;
}
