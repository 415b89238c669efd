/*
 * plan.h - what a job works with: its plugin, the schemas that count, and the policy.
 */
#ifndef CASPARIAN_JOBS_DRIVE_PLAN_H
#define CASPARIAN_JOBS_DRIVE_PLAN_H

#include "jobs/drive/drive.h"

/* Resolve a plugin, and refuse one that may not run. As casparian_driver_prepare.
 * `plugin_path`: of a reference by path. */
mcp_status casparian_plan_plugin(casparian_plugin *out, casparian_plugin_problem *problem,
                                 casparian_driver *driver, mcp_arena *arena,
                                 const casparian_plugin_ref *ref, const char *plugin_path,
                                 mcp_error *err);

/* What is known before a job. In the arena. */
typedef struct casparian_plan {
    const casparian_effective *schemas;
    size_t schema_count;
    casparian_quarantine contract; /* what a contract says of quarantine */
} casparian_plan;

/*
 * Find the schema of each output, by precedence: the request, the ephemeral schemas, the approved
 * contract, the plugin's declaration.
 *
 * MCP_OK; MCP_E_NOT_FOUND: the ephemeral schema; statuses of db.h.
 */
mcp_status casparian_plan_schemas(casparian_plan *out, casparian_store *store, mcp_arena *arena,
                                  const casparian_plugin *plugin, const casparian_spec *spec,
                                  mcp_error *err);

/* The schemas that an approved request has bound. */
mcp_status casparian_plan_bound(casparian_plan *out, mcp_arena *arena, const mcp_json *snapshot,
                                mcp_error *err);

#endif
