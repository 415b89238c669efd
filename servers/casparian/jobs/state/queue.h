/*
 * queue.h - inserting a job, in a transaction that may do more: an approval's, for example.
 */
#ifndef CASPARIAN_JOBS_STATE_QUEUE_H
#define CASPARIAN_JOBS_STATE_QUEUE_H

#include "db/db.h"
#include "jobs/spec.h"

/* A job as it is inserted: texts of its columns. */
typedef struct casparian_queued {
    const char *type;
    const char *plugin_name, *plugin_version, *artifact_hash;
    const char *plugin_ref; /* JSON */
    const char *plugin_path;
    const char *input_dir, *sink_uri, *approval_id;
    const char *spec; /* JSON */
    int64_t timeout_ms, priority;
} casparian_queued;

/*
 * Insert it, with the event job_queued. MCP_E_LIMIT: `max_queued` jobs are queued.
 */
mcp_status casparian_queue_add(int64_t *id, int64_t *position, db_session *session,
                               const casparian_jobs_settings *settings, const casparian_queued *job,
                               mcp_error *err);

/* Insert the frozen inputs of a job or of an approval; the other is 0 or NULL. */
mcp_status casparian_queue_files(db_session *session, int64_t job, const char *approval,
                                 const casparian_job_file *files, size_t count, mcp_error *err);

#endif
