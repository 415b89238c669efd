/*
 * job_row.c - the columns of a job as a struct, and the struct as clients see it.
 */
#include "jobs/state/job_row.h"

#include <stdio.h>
#include <string.h>

enum { STALL_MS = 30000, POLL_FIRST_MS = 200, POLL_MAX_MS = 5000, LIMIT_MAX = 1000 };

static const char *const states[] = {
#define STATE_TEXT(name, text) text,
    CASPARIAN_JOB_STATE_MAP(STATE_TEXT)
#undef STATE_TEXT
};

const char *casparian_job_state_text(casparian_job_state state)
{
    return states[state];
}

bool casparian_job_may_become(casparian_job_state from, casparian_job_state to)
{
    static const bool legal[CASPARIAN_JOB_STATES][CASPARIAN_JOB_STATES] = {
        [CASPARIAN_JOB_QUEUED] = { [CASPARIAN_JOB_RUNNING] = true,
                                   [CASPARIAN_JOB_CANCELLED] = true },
        [CASPARIAN_JOB_RUNNING] = { [CASPARIAN_JOB_QUEUED] = true,
                                    [CASPARIAN_JOB_COMPLETED] = true,
                                    [CASPARIAN_JOB_FAILED] = true,
                                    [CASPARIAN_JOB_CANCELLED] = true },
    };
    return legal[from][to];
}

const char *casparian_job_type_text(casparian_job_type type)
{
    return type == CASPARIAN_JOB_RUN ? "run" : "backtest";
}

bool casparian_job_id_read(int64_t *out, const char *text)
{
    size_t digits = text ? strspn(text, "0123456789") : 0;
    if (digits == 0 || digits > 18 || text[digits] != '\0' || text[0] == '0')
        return false;
    *out = 0;
    for (size_t i = 0; i < digits; i++)
        *out = *out * 10 + (text[i] - '0');
    return true;
}

int64_t casparian_stall_ms(const casparian_jobs_settings *settings)
{
    return settings->stall_ms > 0 ? settings->stall_ms : STALL_MS;
}

/* ---- reading --------------------------------------------------------------------------------- */

static casparian_job_state state_of(const char *text)
{
    int state = 0;
    while (state < CASPARIAN_JOB_STATES - 1 && strcmp(states[state], text) != 0)
        state++;
    return (casparian_job_state)state;
}

mcp_status casparian_job_row_read(casparian_job *out, const db_rows *rows, mcp_arena *arena,
                                  int64_t stall_ms, int64_t now_ms, mcp_error *err)
{
    mcp_status st = MCP_OK;
    const char *type = db_text_at(rows, 1, NULL);
    const char *status = db_text_at(rows, 2, NULL);
    if (!type || !status)
        return mcp_error_set(err, MCP_E_INTERNAL, "a job of the state has no type or status");
    casparian_job job = {
        .id = db_int_at(rows, 0),
        .type = strcmp(type, "run") == 0 ? CASPARIAN_JOB_RUN : CASPARIAN_JOB_BACKTEST,
        .state = state_of(status),
        .is_cancel_requested = db_int_at(rows, 3) != 0,
        .plugin_name = casparian_row_text(rows, 4, arena, &st),
        .plugin_version = casparian_row_text(rows, 5, arena, &st),
        .artifact_hash = casparian_row_text(rows, 6, arena, &st),
        .input_dir = casparian_row_text(rows, 8, arena, &st),
        .sink_uri = casparian_row_text(rows, 9, arena, &st),
        .approval_id = casparian_row_text(rows, 10, arena, &st),
        .created_ms = db_int_at(rows, 12),
        .started_ms = db_int_at(rows, 13),
        .finished_ms = db_int_at(rows, 14),
        .timeout_ms = db_int_at(rows, 15),
        .restart_count = db_int_at(rows, 16),
        .error_code = casparian_row_text(rows, 17, arena, &st),
        .error_message = casparian_row_text(rows, 18, arena, &st),
        .progress_ms = db_int_at(rows, 20),
        .runner = casparian_row_text(rows, 22, arena, &st),
        .plugin_path = casparian_row_text(rows, 23, arena, &st),
    };
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for a job");
    job.plugin_ref = casparian_row_json(rows, 7, arena, &st, err);
    job.spec = casparian_row_json(rows, 11, arena, &st, err);
    job.progress = casparian_row_json(rows, 19, arena, &st, err);
    job.result = casparian_row_json(rows, 21, arena, &st, err);
    job.is_stalled = job.state == CASPARIAN_JOB_RUNNING && now_ms - job.progress_ms >= stall_ms;
    if (st == MCP_OK)
        *out = job;
    return st;
}

static mcp_status read_file(casparian_job_outcome *out, const db_rows *rows, mcp_arena *arena,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;
    *out = (casparian_job_outcome){
        .file = { .path = casparian_row_text(rows, 0, arena, &st),
                  .size = db_int_at(rows, 1),
                  .mtime_ns = db_int_at(rows, 2),
                  .inode = db_int_at(rows, 3) },
        .status = casparian_row_text(rows, 4, arena, &st),
        .sha256 = casparian_row_text(rows, 5, arena, &st),
        .rows = db_null_at(rows, 6) ? -1 : db_int_at(rows, 6),
        .rows_quarantined = db_null_at(rows, 7) ? -1 : db_int_at(rows, 7),
        .error_kind = casparian_row_text(rows, 8, arena, &st),
        .error_message = casparian_row_text(rows, 9, arena, &st),
        .duration_ms = db_int_at(rows, 10),
    };
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for a list of files");
}

mcp_status casparian_file_rows(const casparian_job_outcome **out, size_t *count,
                               db_session *session, mcp_arena *arena, const char *where,
                               db_value id, const char *after, size_t limit, mcp_error *err)
{
    char sql[400];
    size_t read = 0;
    db_rows *rows = NULL;
    size_t most = limit < CASPARIAN_MAX_FILES ? limit : CASPARIAN_MAX_FILES;
    const db_value values[] = { id, db_text(after ? after : ""), db_int((int64_t)most) };
    snprintf(sql, sizeof sql,
             "SELECT path, size, mtime, inode, status, sha256, rows, rows_quarantined, error_kind, "
             "error_message, duration_ms FROM cf_api_job_files WHERE %s = $1 AND path > $2 "
             "ORDER BY path LIMIT $3",
             where);
    casparian_job_outcome *files = mcp_arena_array(arena, most, sizeof *files);
    if (!files)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of files");
    mcp_status st = db_query(&rows, session, sql, values, 3, err);
    while (casparian_next(rows, &st, err)) {
        st = read_file(&files[read], rows, arena, err);
        read++;
    }
    db_rows_free(rows);
    if (st == MCP_OK) {
        *out = files;
        *count = read;
    }
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *shown_status(const casparian_job *job)
{
    return job->is_stalled ? "stalled" : states[job->state];
}

/* A job that has run for long is asked for less often. */
static int64_t poll_after_ms(const casparian_job *job)
{
    int64_t elapsed = job->progress_ms > job->started_ms ? job->progress_ms - job->started_ms : 0;
    int64_t ms = POLL_FIRST_MS + elapsed / 10;
    return ms < POLL_MAX_MS ? ms : POLL_MAX_MS;
}

static void write_error(mcp_json_writer *out, const casparian_job *job)
{
    char text[600];
    if (job->state != CASPARIAN_JOB_FAILED && !job->error_message)
        return;
    casparian_write_text(out, "error_code", job->error_code);
    const char *message = job->error_message ? job->error_message : "the job failed";
    if (!job->error_code) {
        mcp_write_member_string(out, "error", message);
        return;
    }
    snprintf(text, sizeof text, "%s: ", job->error_code);
    size_t prefix = strlen(text);
    size_t length = strlen(message);
    length = length < sizeof text - prefix - 1 ? length : sizeof text - prefix - 1;
    memcpy(text + prefix, message, length);
    while (length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80) /* inside a character */
        length--;
    mcp_write_name(out, "error");
    mcp_write_string_n(out, text, prefix + length);
}

void casparian_job_write(mcp_json_writer *out, const casparian_job *job)
{
    casparian_write_job(out, "job_id", job->id);
    mcp_write_member_string(out, "type", casparian_job_type_text(job->type));
    mcp_write_member_string(out, "status", shown_status(job));
    mcp_write_member_value(out, "plugin_ref", job->plugin_ref);
    mcp_write_member_string(out, "input_dir", job->input_dir);
    casparian_write_text(out, "output_sink", job->sink_uri);
    casparian_write_text(out, "approval_id", job->approval_id);
    casparian_write_time(out, "created_at", job->created_ms);
    casparian_write_time(out, "started_at", job->started_ms);
    casparian_write_time(out, "finished_at", job->finished_ms);
    if (job->progress)
        mcp_write_member_value(out, "progress", job->progress);
    if (job->result)
        mcp_write_member_value(
            out, job->state == CASPARIAN_JOB_COMPLETED ? "result" : "partial_result", job->result);
    write_error(out, job);
    if (job->state <= CASPARIAN_JOB_RUNNING)
        mcp_write_member_int(out, "poll_after_ms", poll_after_ms(job));
}

void casparian_job_write_item(mcp_json_writer *out, const casparian_job *job)
{
    int64_t rows = 0;
    mcp_write_object(out);
    casparian_write_job(out, "job_id", job->id);
    mcp_write_member_string(out, "type", casparian_job_type_text(job->type));
    mcp_write_member_string(out, "status", shown_status(job));
    casparian_write_time(out, "created_at", job->created_ms);
    casparian_write_time(out, "finished_at", job->finished_ms);
    mcp_write_member_value(out, "plugin_ref", job->plugin_ref);
    mcp_write_member_string(out, "input_dir", job->input_dir);
    casparian_write_text(out, "approval_id", job->approval_id);
    if (mcp_json_int(mcp_json_get(job->progress, "rows_emitted"), &rows))
        mcp_write_member_int(out, "rows", rows);
    mcp_write_end(out);
}
