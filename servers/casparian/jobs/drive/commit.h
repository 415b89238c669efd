/*
 * commit.h - the end of a job: all of its outputs, or none, and the job's last state.
 */
#ifndef CASPARIAN_JOBS_DRIVE_COMMIT_H
#define CASPARIAN_JOBS_DRIVE_COMMIT_H

#include "jobs/drive/drive.h"

/*
 * Judge the outputs of a run by the quarantine policy, and commit them; the job is completed then.
 *
 * MCP_OK: it is. MCP_E_DENIED: the job fails (self->error_code), or was cancelled (no code);
 * nothing was committed. MCP_E_STOPPED: it has another runner. Another status: the state could not
 * be written; the recovery of the job settles what has happened.
 */
mcp_status casparian_drive_commit(casparian_drive *self, mcp_error *err);

/* End a job that commits nothing. `result`: it has figures. */
mcp_status casparian_drive_end(casparian_drive *self, casparian_job_state state,
                               const char *error_code, const char *error_message, bool has_result,
                               mcp_error *err);

/* Make a commit that another process has left whole, or undo it. `is_committed`: the job is
 * completed, and the claim has ended. */
mcp_status casparian_settle(bool *is_committed, casparian_store *store,
                            const casparian_claim *claim, const char *intent, mcp_error *err);

#endif
