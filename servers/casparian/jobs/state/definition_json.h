/*
 * definition_json.h - definitions of schemas inside JSON texts of the state.
 */
#ifndef CASPARIAN_JOBS_STATE_DEFINITION_JSON_H
#define CASPARIAN_JOBS_STATE_DEFINITION_JSON_H

#include "schema/definition.h"

/* Write the canonical form as a value. A failure is the writer's, or MCP_E_NOMEM. */
mcp_status casparian_write_definition(mcp_json_writer *out, const casparian_definition *definition,
                                      mcp_error *err);

/* Write definitions as an object by output. */
mcp_status casparian_write_schemas(mcp_json_writer *out, const casparian_schemas *schemas,
                                   mcp_error *err);

#endif
