/*
 * instance.h - the engine inside the process: opened, given its views, sealed.
 */
#ifndef COLUMNS_SEALED_INSTANCE_H
#define COLUMNS_SEALED_INSTANCE_H

#include <duckdb.h>

#include "columns/engine.h"
#include "columns/sealed/sealed.h"

/* Open the library and an instance without threads, so that the process can fork and rules of
 * Landlock can still be set for all that it starts. As engine_open. */
mcp_status instance_open(struct engine *engine, mcp_error *err);

/* Connect to the instance. After the fork: a connection has a random seed. */
mcp_status instance_connect(struct engine *engine, mcp_error *err);

/* Make the views of a request and seal the engine. MCP_E_STORAGE: a view cannot be made. */
mcp_status instance_seal(struct engine *engine, const columns_sealed_request *request,
                         uint64_t memory_bytes, int threads, columns_sealed_end *end,
                         mcp_error *err);

/* Detach the databases of the setup. Views of them stay listed. */
mcp_status instance_detach(struct engine *engine, const columns_sealed_request *request,
                           columns_sealed_end *end, mcp_error *err);

/* Take the engine's words for a failure into `end` and `err`. */
mcp_status instance_failure(columns_sealed_end *end, duckdb_error_type type, const char *words,
                            mcp_error *err);

#endif
