/*
 * judge.h - the engine's parse of a statement, held against what it may use.
 *
 * Everything that is not known to be harmless is refused: kinds of tables, expressions and clauses
 * that are not in the tables of judge.c, functions and tables that the rules do not name.
 */
#ifndef COLUMNS_SEALED_JUDGE_H
#define COLUMNS_SEALED_JUDGE_H

#include "columns/sealed/ast.h"
#include "columns/sealed/sealed.h"

/*
 * Judge a statement.
 *
 * `parse` is what json_serialize_sql gives of it. `views` and `rules` of the request count. Fills
 * `end->name` with what is refused or missing, and `end->is_volatile`.
 *
 * `has_system_table`: the databases of the request must be detached before it is run.
 *
 * MCP_E_DENIED; MCP_E_NOT_FOUND: a table that there is not; MCP_E_PARSE: it was not parsed.
 */
mcp_status judge_statement(bool *has_system_table, columns_sealed_end *end, const struct ast *parse,
                           const columns_sealed_request *request, mcp_error *err);

#endif
