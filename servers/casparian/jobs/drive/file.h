/*
 * file.h - one input file of a job: opened, hashed, parsed, checked.
 */
#ifndef CASPARIAN_JOBS_DRIVE_FILE_H
#define CASPARIAN_JOBS_DRIVE_FILE_H

#include "jobs/drive/drive.h"

/* Make the guest of a job. The limits are those of the settings. */
mcp_status casparian_guest_make(casparian_guest **out, casparian_store *store,
                                const casparian_plugin *plugin, const char *job,
                                const char *const *inputs, size_t input_count,
                                bool checks_schema_hash, mcp_error *err);

/*
 * Parse one file.
 *
 * MCP_OK: input->status says what became of it. MCP_E_STOPPED: the job should stop, or has another
 * runner. MCP_E_DENIED: the job has failed (self->error_code). Another status: the state could not
 * be written.
 */
mcp_status casparian_file_run(casparian_drive *self, casparian_input *input, mcp_error *err);

#endif
