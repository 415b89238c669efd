/**
 * guard.h - the first of four layers around a client's SQL: which words a statement has outside its
 * quotes and comments.
 *
 * It is lexical, knows nothing of the grammar, and refuses what cannot be a query before anything
 * parses it. What passes is not safe yet: EXPLAIN, table functions and strings in place of tables
 * are judged by the engine's own parse (kit/columns/sealed/sealed.h).
 *
 * Source: casparian's tools, 5.1.
 */
#ifndef CASPARIAN_QUERY_GUARD_H
#define CASPARIAN_QUERY_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

/** A statement that has passed. */
typedef struct casparian_guarded {
    bool is_explain;    /* it starts with EXPLAIN, which is not within the following */
    size_t from, until; /* where its SELECT or WITH begins, and where it ends, without `;` */
} casparian_guarded;

/**
 * Judge a statement. Pure; any thread.
 *
 * @param sql any bytes
 * @return MCP_OK; MCP_E_DENIED: the message is one of "Query is empty", "Query must start with
 *         SELECT, WITH, or EXPLAIN", "Query contains forbidden keyword: X", "Multiple statements
 *         are not allowed", or says that it is too long, is not UTF-8, holds NUL, or does not end a
 *         quote or a comment
 */
mcp_status casparian_guard(casparian_guarded *out, const char *sql, size_t length, mcp_error *err);

/** A word of a statement outside quotes and comments, or a quoted identifier without its quotes. */
typedef struct casparian_guard_name {
    const char *text; /* of the statement; a quoted one has its "" doubled as written */
    size_t length;
    bool is_quoted;
} casparian_guard_name;

/** Receives a word. */
typedef void casparian_guard_visit(void *data, const casparian_guard_name *name);

/** Visit the words of a statement that has passed, and the strings that may stand for identifiers
 *  ('x' in FROM 'x'), in their order. */
void casparian_guard_names(const char *sql, size_t length, casparian_guard_visit *visit,
                           void *data);

#endif
