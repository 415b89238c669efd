/**
 * audit.h - the audit lines of jobs and approvals (kit/guard/audit.h has the file).
 */
#ifndef CASPARIAN_JOBS_AUDIT_H
#define CASPARIAN_JOBS_AUDIT_H

#include "jobs/store.h"

/** A line of the type "approval". Texts are NULL where there is none. */
typedef struct casparian_audit_approval {
    const char *approval_id;
    const char *action;    /* "requested", "approved", "rejected" or "expired" */
    const char *operation; /* "run" or "schema_promote" */
    const char *decided_by;
    int64_t job; /* 0: none */
    const char *snapshot_sha256;
} casparian_audit_approval;

/** Write the line and wait until the disk has it. @return MCP_OK, also without an audit; statuses
 *  of guard_audit_write */
mcp_status casparian_audit_approval_line(casparian_store *store,
                                         const casparian_audit_approval *line, mcp_error *err);

/** A line of the type "job". */
typedef struct casparian_audit_job {
    int64_t job;
    const char *action; /* "created", "started", "finished" or "cancelled" */
    const char *status; /* of the job now */
    const char *error_code;
    const char *const
        *manifests; /* hashes of what a run has committed, ended by NULL; NULL: none */
    const char *by; /* who cancelled */
} casparian_audit_job;

/** Write the line. A failure is logged: the job has happened. */
void casparian_audit_job_line(casparian_store *store, const casparian_audit_job *line);

#endif
