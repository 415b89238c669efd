/**
 * start.h - the beginning of a run: the checks of spec 5.2, and its first records.
 */
#ifndef PORTARIUM_ENGINE_START_H
#define PORTARIUM_ENGINE_START_H

#include "model/fields.h"
#include "model/workflow.h"
#include "store/record.h"

/** What is to be started. */
typedef struct portarium_start {
    const char *workflow;       /* id, or the name of one active workflow */
    const mcp_json *parameters; /* an object; NULL: none */
} portarium_start;

/**
 * Start a run: a record with status Pending, its actions, evidence and the event RunStarted. The
 * engine takes it up after the commit.
 *
 * @param fields what is wrong with the parameters
 * @return MCP_OK; MCP_E_NOT_FOUND (no such workflow); MCP_E_EXISTS (it is not active, a name is not
 *         unique, a port family has not exactly one enabled adapter, or too many runs are pending);
 *         MCP_E_SCHEMA (the parameters); statuses of db.h
 */
mcp_status portarium_start_run(portarium_record *out, portarium_tx *tx,
                               const portarium_start *start, portarium_fields *fields,
                               mcp_error *err);

/** The checks alone: the workflow of which a run would be started. Stores nothing. */
mcp_status portarium_start_check(const portarium_workflow **out, portarium_tx *tx,
                                 const portarium_start *start, portarium_fields *fields,
                                 mcp_error *err);

#endif
