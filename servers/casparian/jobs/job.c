/*
 * job.c - creating, reading, listing and cancelling jobs.
 */
#include "jobs/job.h"

#include <string.h>

#include "fault/fault.h"
#include "jobs/audit.h"
#include "jobs/state/events.h"
#include "jobs/state/job_row.h"
#include "jobs/state/queue.h"

enum { LIST_DEFAULT = 20, LIST_MAX = 1000 };

/* ---- creating -------------------------------------------------------------------------------- */

static mcp_status add(int64_t *id, int64_t *position, casparian_store *store,
                      const casparian_job_request *request, const casparian_queued *job,
                      mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_queue_add(id, position, session, &casparian_store_settings(store)->jobs, job,
                                 err);
    if (st == MCP_OK && request->files)
        st = casparian_queue_files(session, *id, NULL, request->files, request->file_count, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_job_create(int64_t *id, int64_t *position, casparian_store *store,
                                const casparian_job_request *request, mcp_error *err)
{
    static const casparian_spec nothing;
    const casparian_job_plugin *plugin = &request->plugin;
    int64_t created = 0;
    casparian_text ref;
    casparian_text spec;
    mcp_buf_init(&ref.buf, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&ref.out, &ref.buf);
    mcp_write_value(&ref.out, plugin->ref);
    mcp_buf_init(&spec.buf, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&spec.out, &spec.buf);
    casparian_spec_write(&spec.out, request->spec ? request->spec : &nothing);
    mcp_status st = mcp_json_writer_status(&ref.out);
    if (st == MCP_OK)
        st = mcp_json_writer_status(&spec.out);
    if (st != MCP_OK) {
        st = mcp_error_set(err, st == MCP_E_LIMIT ? MCP_E_PARAMS : st,
                           "the description of the job is too long, or not UTF-8");
    } else {
        const casparian_queued job = {
            .type = casparian_job_type_text(request->type),
            .plugin_name = plugin->name,
            .plugin_version = plugin->version,
            .artifact_hash = plugin->artifact_hash,
            .plugin_ref = ref.buf.data,
            .plugin_path = plugin->path,
            .input_dir = request->input_dir,
            .sink_uri = request->sink_uri,
            .spec = spec.buf.data,
            .timeout_ms = request->timeout_ms,
            .priority = request->priority,
        };
        st = add(&created, position, store, request, &job, err);
    }
    casparian_text_free(&ref);
    casparian_text_free(&spec);
    if (st != MCP_OK)
        return st;
    *id = created;
    FAULT_POINT("queued");
    casparian_audit_job_line(
        store, &(casparian_audit_job){ .job = created, .action = "created", .status = "queued" });
    return MCP_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

mcp_status casparian_job_read(casparian_job *out, casparian_store *store, mcp_arena *arena,
                              int64_t id, mcp_error *err)
{
    const casparian_jobs_settings *settings = &casparian_store_settings(store)->jobs;
    const db_value value = db_int(id);
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool found = false;
    int64_t now_ms = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT " CASPARIAN_JOB_COLUMNS " FROM cf_api_jobs WHERE job_id = $1", &value,
                      1, err);
    found = casparian_next(rows, &st, err);
    if (found)
        st = casparian_job_row_read(out, rows, arena, casparian_stall_ms(settings), now_ms, err);
    db_rows_free(rows);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK && !found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no job %lld", (long long)id);
    return st;
}

/* The condition of a status, on $2 (now - stall_ms). NULL: no such status. */
static const char *condition_of(const char *status)
{
    static const struct {
        const char *status, *condition;
    } conditions[] = {
        { "all", "$2 = $2" },
        { "stalled", "status = 'running' AND progress_updated_at <= $2" },
        { "queued", "status = 'queued' AND $2 = $2" },
        { "running", "status = 'running' AND $2 = $2" },
        { "completed", "status = 'completed' AND $2 = $2" },
        { "failed", "status = 'failed' AND $2 = $2" },
        { "cancelled", "status = 'cancelled' AND $2 = $2" },
    };
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        if (!status || strcmp(status, conditions[i].status) == 0)
            return conditions[i].condition;
    return NULL;
}

static mcp_status list(casparian_job *out, size_t *count, db_session *session, mcp_arena *arena,
                       const casparian_job_filter *filter, int64_t limit, int64_t stall_ms,
                       mcp_error *err)
{
    char sql[900];
    db_rows *rows = NULL;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(limit), db_int(now_ms - stall_ms), db_text(filter->plugin) };
    snprintf(sql, sizeof sql,
             "SELECT " CASPARIAN_JOB_COLUMNS " FROM cf_api_jobs WHERE %s AND "
             "(CAST($3 AS TEXT) IS NULL OR plugin_name = $3) ORDER BY job_id DESC LIMIT $1",
             condition_of(filter->status));
    if (st == MCP_OK)
        st = db_query(&rows, session, sql, values, 3, err);
    while (casparian_next(rows, &st, err)) {
        st = casparian_job_row_read(&out[*count], rows, arena, stall_ms, now_ms, err);
        ++*count;
    }
    db_rows_free(rows);
    return st;
}

mcp_status casparian_job_list(const casparian_job **out, size_t *count, casparian_store *store,
                              mcp_arena *arena, const casparian_job_filter *filter, mcp_error *err)
{
    int64_t limit = filter->limit > 0 ? filter->limit : LIST_DEFAULT;
    int64_t stall_ms = casparian_stall_ms(&casparian_store_settings(store)->jobs);
    db_session *session = NULL;
    size_t listed = 0;
    if (!condition_of(filter->status))
        return mcp_error_set(err, MCP_E_PARAMS, "no job has the status '%.40s'", filter->status);
    limit = limit < LIST_MAX ? limit : LIST_MAX;
    casparian_job *jobs = mcp_arena_array(arena, (size_t)limit, sizeof *jobs);
    if (!jobs)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of jobs");
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = list(jobs, &listed, session, arena, filter, limit, stall_ms, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK) {
        *out = jobs;
        *count = listed;
    }
    return st;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

static mcp_status cancel_queued(db_session *session, int64_t id, bool *done, mcp_error *err)
{
    int64_t now_ms = 0;
    int64_t changed = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = { db_int(id), db_int(now_ms) };
    if (st == MCP_OK)
        st = db_run(session, &changed,
                    "UPDATE cf_api_jobs SET status = 'cancelled', finished_at = $2, "
                    "error_message = 'Cancelled by user' WHERE job_id = $1 AND status = 'queued'",
                    values, 2, err);
    *done = changed == 1;
    return st == MCP_OK && *done
               ? casparian_event_finished(session, id, "cancelled", "Cancelled by user", err)
               : st;
}

/* Once the commit guard has passed, the job cannot be stopped any more. */
static mcp_status cancel_running(db_session *session, int64_t id, const char *by, bool *done,
                                 mcp_error *err)
{
    const db_value value = db_int(id);
    casparian_text payload;
    int64_t changed = 0;
    int64_t asked = 0;
    mcp_status st = casparian_query_int(&asked, 0, session,
                                        "SELECT cancel_requested FROM cf_api_jobs "
                                        "WHERE job_id = $1 AND status = 'running'",
                                        &value, 1, err);
    *done = asked == 1;
    if (st != MCP_OK || *done)
        return st;
    st = db_run(session, &changed,
                "UPDATE cf_api_jobs SET cancel_requested = 1 WHERE job_id = $1 AND "
                "status = 'running' AND NOT EXISTS (SELECT 1 FROM cf_commit_intents "
                "WHERE job_id = $1)",
                &value, 1, err);
    *done = changed == 1;
    if (st != MCP_OK || !*done)
        return st;
    casparian_event_begin(&payload, "cancel_requested");
    casparian_write_text(&payload.out, "by", by);
    return casparian_event_add(session, id, "cancel_requested", &payload, err);
}

static mcp_status cancel(casparian_cancelled *out, db_session *session, int64_t id, const char *by,
                         mcp_error *err)
{
    const db_value value = db_int(id);
    bool done = false;
    int64_t exists = 0;
    mcp_status st = cancel_queued(session, id, &done, err);
    if (st == MCP_OK && !done)
        st = cancel_running(session, id, by, &done, err);
    if (st == MCP_OK && !done)
        st = casparian_query_int(&exists, 0, session, "SELECT 1 FROM cf_api_jobs WHERE job_id = $1",
                                 &value, 1, err);
    *out = done ? CASPARIAN_CANCEL_DONE : exists ? CASPARIAN_CANCEL_LATE : CASPARIAN_CANCEL_ABSENT;
    return st;
}

mcp_status casparian_job_cancel(casparian_cancelled *out, casparian_store *store, int64_t id,
                                const char *by, mcp_error *err)
{
    casparian_cancelled how = CASPARIAN_CANCEL_ABSENT;
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = cancel(&how, session, id, by, err);
    st = casparian_store_end(session, st, err);
    if (st != MCP_OK)
        return st;
    *out = how;
    if (how == CASPARIAN_CANCEL_DONE)
        casparian_audit_job_line(
            store, &(casparian_audit_job){ .job = id, .action = "cancelled", .by = by });
    return MCP_OK;
}

/* ---- events and files ------------------------------------------------------------------------ */

static mcp_status read_events(casparian_event *out, size_t *count, db_session *session,
                              mcp_arena *arena, const db_value *values, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT event_id, event_type, timestamp, payload_json FROM "
                             "cf_api_events WHERE job_id = $1 AND event_id > $2 ORDER BY event_id "
                             "LIMIT $3",
                             values, 3, err);
    while (casparian_next(rows, &st, err)) {
        casparian_event *event = &out[(*count)++];
        event->id = db_int_at(rows, 0);
        event->type = casparian_row_text(rows, 1, arena, &st);
        event->timestamp_ms = db_int_at(rows, 2);
        event->payload = casparian_row_json(rows, 3, arena, &st, err);
    }
    db_rows_free(rows);
    return st;
}

mcp_status casparian_job_events(const casparian_event **out, size_t *count, casparian_store *store,
                                mcp_arena *arena, int64_t job, int64_t after, size_t limit,
                                mcp_error *err)
{
    size_t most = limit < LIST_MAX ? limit : LIST_MAX;
    const db_value values[] = { db_int(job), db_int(after), db_int((int64_t)most) };
    db_session *session = NULL;
    size_t read = 0;
    casparian_event *events = mcp_arena_array(arena, most, sizeof *events);
    if (!events)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of events");
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = read_events(events, &read, session, arena, values, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK) {
        *out = events;
        *count = read;
    }
    return st;
}

mcp_status casparian_job_files(const casparian_job_outcome **out, size_t *count,
                               casparian_store *store, mcp_arena *arena, int64_t job,
                               const char *after, size_t limit, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = casparian_file_rows(out, count, session, arena, "job_id", db_int(job), after, limit,
                                 err);
    return casparian_store_end(session, st, err);
}
