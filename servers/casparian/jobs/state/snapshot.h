/*
 * snapshot.h - what a request binds: the JSON texts of an approval.
 */
#ifndef CASPARIAN_JOBS_STATE_SNAPSHOT_H
#define CASPARIAN_JOBS_STATE_SNAPSHOT_H

#include "jobs/approval.h"
#include "keys/canonical.h"

/* The texts of a request's columns. In the arena of its maker. */
typedef struct casparian_snapshot {
    const char *type; /* "run" or "schema_promote" */
    const char *operation, *summary, *snapshot;
    const char *spec; /* of a run's job; NULL: a promotion */
    char sha256[KEYS_HEX_SIZE];
} casparian_snapshot;

/* MCP_OK; MCP_E_PARAMS (a text is not UTF-8); MCP_E_NOMEM; MCP_E_LIMIT. */
mcp_status casparian_snapshot_run(casparian_snapshot *out, mcp_arena *arena,
                                  const casparian_run_request *request, mcp_error *err);
mcp_status casparian_snapshot_promote(casparian_snapshot *out, mcp_arena *arena,
                                      const casparian_promote_request *request, mcp_error *err);

/* The code that a snapshot has. MCP_OK; MCP_E_INTERNAL: the snapshot was damaged; MCP_E_NOMEM. */
mcp_status casparian_snapshot_code(casparian_promotion *out, mcp_arena *arena,
                                   const mcp_json *snapshot, mcp_error *err);

/* SHA-256 over path, size, mtime (ns) and inode of each file, each followed by a byte 0x1F. */
mcp_status casparian_files_hash(char out[KEYS_HEX_SIZE], const casparian_job_file *files,
                                size_t count, mcp_error *err);

#endif
