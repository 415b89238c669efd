/**
 * definitions.h - stored definitions of workflows, read once.
 *
 * A stored version never changes, so what was read of it is kept for the life of the process: up to
 * 1,000 definitions; further ones are read each time, and so are those that a transaction reads
 * after it has stored a version: it may be rolled back, and another version gets that number.
 */
#ifndef PORTARIUM_STORE_DEFINITIONS_H
#define PORTARIUM_STORE_DEFINITIONS_H

#include "model/workflow.h"
#include "store/tx.h"

/** Any thread. */
typedef struct portarium_definitions portarium_definitions;

/** @param shapes outlives it */
mcp_status portarium_definitions_new(portarium_definitions **out, const portarium_shapes *shapes,
                                     mcp_error *err);

/** NULL is fine. */
void portarium_definitions_free(portarium_definitions *self);

/**
 * A version of a workflow.
 *
 * @param out lives as long as the transaction's arena and the definitions
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_INTERNAL: the stored text is no definition; statuses of
 *         db.h
 */
mcp_status portarium_definition_get(const portarium_workflow **out, portarium_tx *tx,
                                    const char *id, int64_t version, mcp_error *err);

/** The same as clients see it. @param out of the transaction's arena */
mcp_status portarium_definition_json(const mcp_json **out, portarium_tx *tx, const char *id,
                                     int64_t version, mcp_error *err);

/** Store a version. */
mcp_status portarium_definition_add(portarium_tx *tx, const char *id, int64_t version,
                                    const mcp_json *json, mcp_error *err);

#endif
