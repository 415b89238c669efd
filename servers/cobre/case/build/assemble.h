/**
 * assemble.h - builds the case from input without errors.
 */
#ifndef COBRE_CASE_ASSEMBLE_H
#define COBRE_CASE_ASSEMBLE_H

#include "mcp/error.h"

#include "case/input.h"

/**
 * Resolve ids to indices, defaults and overrides to values.
 *
 * @param out the input's arena owns it
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status cobre_assemble(cobre_case **out, const cobre_input *input, const char *directory,
                          mcp_error *err);

/** The number of records of the registries, the stages and the generic constraints together. */
int64_t cobre_input_entities(const cobre_input *input);

#endif
