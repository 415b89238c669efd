/**
 * assemble.h - the case out of its input, once the input holds no error.
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

/** Every number of fields to sum for a summary: registries, stages and generic constraints. */
int64_t cobre_input_entities(const cobre_input *input);

#endif
