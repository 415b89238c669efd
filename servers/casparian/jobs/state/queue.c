/*
 * queue.c - inserting a job.
 */
#include "jobs/state/queue.h"

#include "jobs/state/events.h"

enum { MAX_QUEUED = 100, TIMEOUT_MS = 1800000 };

static mcp_status check_room(int64_t *ahead, db_session *session, int64_t max, int64_t priority,
                             mcp_error *err)
{
    const db_value value = db_int(priority);
    int64_t queued = 0;
    mcp_status st = casparian_query_int(&queued, 0, session,
                                        "SELECT count(*) FROM cf_api_jobs WHERE status = 'queued'",
                                        NULL, 0, err);
    if (st == MCP_OK && queued >= max)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "%lld jobs are queued already: wait for some, or cancel them",
                             (long long)queued);
    return st == MCP_OK ? casparian_query_int(ahead, 0, session,
                                              "SELECT count(*) FROM cf_api_jobs WHERE status = "
                                              "'queued' AND priority >= $1",
                                              &value, 1, err)
                        : st;
}

static int64_t timeout_of(const casparian_jobs_settings *settings, int64_t wanted_ms)
{
    int64_t most = settings->timeout_ms > 0 ? settings->timeout_ms : TIMEOUT_MS;
    return wanted_ms > 0 && wanted_ms < most ? wanted_ms : most;
}

static mcp_status insert(int64_t *id, db_session *session, const casparian_jobs_settings *settings,
                         const casparian_queued *job, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value values[] = {
        db_text(job->type),
        db_text(job->plugin_name),
        db_text(job->plugin_version),
        db_text(job->plugin_ref),
        db_text(job->artifact_hash),
        db_text(job->input_dir),
        db_text(job->sink_uri),
        db_text(job->approval_id),
        db_text(job->spec),
        db_int(job->priority),
        db_int(timeout_of(settings, job->timeout_ms)),
        db_int(now_ms),
        db_text(job->plugin_path),
    };
    return st == MCP_OK
               ? casparian_query_int(
                     id, 0, session,
                     "INSERT INTO cf_api_jobs (job_type, status, plugin_name, plugin_version, "
                     "plugin_ref_json, artifact_hash, input_dir, output_sink, approval_id, "
                     "job_spec_json, priority, timeout_ms, created_at, plugin_path) VALUES ($1, 'queued', $2, "
                     "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING job_id",
                     values, sizeof values / sizeof values[0], err)
               : st;
}

mcp_status casparian_queue_add(int64_t *id, int64_t *position, db_session *session,
                               const casparian_jobs_settings *settings, const casparian_queued *job,
                               mcp_error *err)
{
    int64_t max = settings->max_queued > 0 ? settings->max_queued : MAX_QUEUED;
    casparian_text payload;
    int64_t ahead = 0;
    int64_t created = 0;
    mcp_status st = check_room(&ahead, session, max, job->priority, err);
    if (st == MCP_OK)
        st = insert(&created, session, settings, job, err);
    if (st != MCP_OK)
        return st;
    casparian_event_begin(&payload, "job_queued");
    mcp_write_member_int(&payload.out, "position", ahead + 1);
    st = casparian_event_add(session, created, "job_queued", &payload, err);
    if (st == MCP_OK)
        st = casparian_wake_queue(session, err);
    if (st != MCP_OK)
        return st;
    *id = created;
    if (position)
        *position = ahead + 1;
    return MCP_OK;
}

mcp_status casparian_queue_files(db_session *session, int64_t job, const char *approval,
                                 const casparian_job_file *files, size_t count, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        const casparian_job_file *file = &files[i];
        const db_value values[] = { db_text(approval),      job > 0 ? db_int(job) : db_null(),
                                    db_text(file->path),    db_int(file->size),
                                    db_int(file->mtime_ns), db_int(file->inode) };
        st = db_run(session, NULL,
                    "INSERT INTO cf_api_job_files (approval_id, job_id, path, size, mtime, inode) "
                    "VALUES ($1, $2, $3, $4, $5, $6)",
                    values, 6, err);
    }
    return st;
}
