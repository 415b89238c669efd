/**
 * expression.h - reads the expressions of generic constraints.
 *
 *     expression = ["+" | "-"] term { ("+" | "-") term }
 *     term       = [number "*"] name "(" id ["," block] ")"
 *
 * "2.5 * hydro_turbined(3) - thermal_generation(0, 1)". White space is free. Ids are not resolved
 * here. Source: the case page, section 8.1.
 */
#ifndef COBRE_CASE_EXPRESSION_H
#define COBRE_CASE_EXPRESSION_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "case/fields.h"

enum { COBRE_EXPRESSION_MAX = 1 << 20, COBRE_TERMS_MAX = 10000 }; /* bytes, terms */

typedef struct cobre_raw_term {
    cobre_variable variable;
    int64_t id;
    int64_t block; /* COBRE_ABSENT: the block of the row */
    double coefficient;
} cobre_raw_term;

/**
 * Read an expression.
 *
 * @param terms in the order of the text; the arena's
 * @return MCP_OK; MCP_E_PARSE (err->offset is the byte of the problem); MCP_E_LIMIT (too long, too
 *         many terms); MCP_E_NOMEM
 */
mcp_status cobre_expression_read(cobre_raw_term **terms, size_t *count, mcp_arena *arena,
                                 const char *text, mcp_error *err);

/** "hydro_storage", ...; the registry of its ids; whether it takes a block. */
const char *cobre_variable_name(cobre_variable variable);
cobre_registry cobre_variable_registry(cobre_variable variable);
bool cobre_variable_takes_block(cobre_variable variable);

#endif
