/*
 * job_row.h - the columns of a job, and of the files of one.
 */
#ifndef CASPARIAN_JOBS_STATE_JOB_ROW_H
#define CASPARIAN_JOBS_STATE_JOB_ROW_H

#include "jobs/job.h"
#include "jobs/state/rows.h"

/* What casparian_job_row_read reads, after SELECT. */
#define CASPARIAN_JOB_COLUMNS                                                                      \
    "job_id, job_type, status, cancel_requested, plugin_name, plugin_version, artifact_hash, "     \
    "plugin_ref_json, input_dir, output_sink, approval_id, job_spec_json, created_at, "            \
    "started_at, finished_at, timeout_ms, restart_count, error_code, error_message, "              \
    "progress_json, progress_updated_at, result_json, lease_owner, plugin_path"

/* Read the present row. `stall_ms`: the setting; `now_ms`: of the database's clock. */
mcp_status casparian_job_row_read(casparian_job *out, const db_rows *rows, mcp_arena *arena,
                                  int64_t stall_ms, int64_t now_ms, mcp_error *err);

/* The setting, or its default. */
int64_t casparian_stall_ms(const casparian_jobs_settings *settings);

/* Read files of a job or an approval: `where` is a condition on $1, the `id`. */
mcp_status casparian_file_rows(const casparian_job_outcome **out, size_t *count,
                               db_session *session, mcp_arena *arena, const char *where,
                               db_value id, const char *after, size_t limit, mcp_error *err);

#endif
