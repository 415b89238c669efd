/*
 * control.h - tables of the state as files of a catalog: casparian."jobs", "events", "approvals"
 * and "files" for queries ([query] expose_control).
 */
#ifndef CASPARIAN_JOBS_STATE_CONTROL_H
#define CASPARIAN_JOBS_STATE_CONTROL_H

#include "jobs/store.h"
#include "query/catalog.h"

/* Bounds of a copy: its newest rows, and their bytes. */
#define CASPARIAN_CONTROL_ROWS_MAX 100000
#define CASPARIAN_CONTROL_BYTES_MAX ((size_t)64 << 20)

/*
 * Add them to a catalog. A table is copied when a query that names it opens it, so a query sees the
 * rows of its own moment and never the database.
 *
 * `store` outlives the catalog. MCP_OK; MCP_E_NOMEM.
 */
mcp_status casparian_control_add(casparian_catalog *catalog, casparian_store *store,
                                 mcp_arena *arena, mcp_error *err);

#endif
