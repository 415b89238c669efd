/**
 * ephemeral.h - proposed schemas with an id, for iteration: files below <home>/ai/contracts that
 * are never the system of record and expire after a week.
 *
 * A proposal is a folder with schemas.json, schema_hashes.json and metadata.json. It appears whole
 * or not at all, and never changes but for the id of the last job that used it.
 */
#ifndef CASPARIAN_JOBS_EPHEMERAL_H
#define CASPARIAN_JOBS_EPHEMERAL_H

#include "jobs/store.h"
#include "schema/definition.h"

/** Room for an id, "eph_" and a UUID, with its NUL. */
#define CASPARIAN_EPHEMERAL_ID_SIZE 41

/** Whether a text is an id, so it names nothing outside the folder of the proposals. */
bool casparian_ephemeral_id_is_valid(const char *text);

/** Proposed schemas. In the arena of their reader. */
typedef struct casparian_ephemeral {
    char id[CASPARIAN_EPHEMERAL_ID_SIZE];
    casparian_schemas schemas;
    int64_t created_ms, expires_ms; /* wall clock */
    const char *source;             /* "ai_iteration", "cli_preview" or "tui_test" */
    int64_t last_job;               /* that used it; 0: none */
} casparian_ephemeral;

/**
 * Store proposed schemas, which are valid.
 *
 * @param source see above
 * @param hints  {"plugin_ref"?, "output"?} of the proposer, stored in the metadata; NULL: none
 * @param schemas at least one
 * @return MCP_OK; MCP_E_PARAMS: no such source; MCP_E_IO, MCP_E_DENIED, MCP_E_STORAGE: the home;
 *         MCP_E_NOMEM
 */
mcp_status casparian_ephemeral_propose(casparian_ephemeral *out, casparian_store *store,
                                       mcp_arena *arena, const casparian_schemas *schemas,
                                       const char *source, const mcp_json *hints, mcp_error *err);

/**
 * Load proposed schemas.
 *
 * @return MCP_OK; MCP_E_PARAMS: it is no id; MCP_E_NOT_FOUND: unknown, or expired;
 *         MCP_E_IO, MCP_E_PARSE: it was damaged; MCP_E_NOMEM
 */
mcp_status casparian_ephemeral_load(casparian_ephemeral *out, casparian_store *store,
                                    mcp_arena *arena, const char *id, mcp_error *err);

/** Note the job that uses it. @return as casparian_ephemeral_load */
mcp_status casparian_ephemeral_use(casparian_store *store, const char *id, int64_t job,
                                   mcp_error *err);

/**
 * Write `warnings`, an array, where something speaks against promoting proposed schemas: no job has
 * used them, the last one has not ended well, or not all of its rows were valid.
 *
 * @param out an object is open
 * @return MCP_OK; statuses of db.h; MCP_E_NOMEM
 */
mcp_status casparian_ephemeral_warn(mcp_json_writer *out, casparian_store *store, mcp_arena *arena,
                                    const casparian_ephemeral *self, mcp_error *err);

/** Delete what has expired. @param count how many; may be NULL */
mcp_status casparian_ephemeral_sweep(casparian_store *store, int64_t *count, mcp_error *err);

#endif
