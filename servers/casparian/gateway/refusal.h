/**
 * refusal.h - errors of tools: a result with isError and
 * {"error": {"code", "message", "details"?, "suggestion"?}}.
 */
#ifndef CASPARIAN_GATEWAY_REFUSAL_H
#define CASPARIAN_GATEWAY_REFUSAL_H

#include "mcp/error.h"
#include "mcp/json.h"

/** The codes, and the exit status of a command that fails with one (0 ok, 2 usage, 3 environment,
 *  4 not found, 5 refused by policy). */
#define CASPARIAN_CODE_MAP(X)                                                                      \
    X(INVALID_ARGUMENTS, "invalid_arguments", 2)                                                   \
    X(PATH_NOT_ALLOWED, "path_not_allowed", 5)                                                     \
    X(PATH_TRAVERSAL, "path_traversal", 5)                                                         \
    X(SYMLINK_ESCAPE, "symlink_escape", 5)                                                         \
    X(NOT_FOUND, "not_found", 4)                                                                   \
    X(PLUGIN_NOT_TRUSTED, "plugin_not_trusted", 5)                                                 \
    X(PLUGIN_MODIFIED, "plugin_modified", 5)                                                       \
    X(PLUGIN_ERROR, "plugin_error", 1)                                                             \
    X(SCHEMA_INVALID, "schema_invalid", 1)                                                         \
    X(SQL_NOT_ALLOWED, "sql_not_allowed", 5)                                                       \
    X(SQL_ERROR, "sql_error", 1)                                                                   \
    X(QUERY_TIMEOUT, "query_timeout", 1)                                                           \
    X(QUEUE_FULL, "queue_full", 1)                                                                 \
    X(RATE_LIMITED, "rate_limited", 5)                                                             \
    X(PERMISSION_DENIED, "permission_denied", 5)                                                   \
    X(APPROVAL_REQUIRED, "approval_required", 5)                                                   \
    X(CONFLICT, "conflict", 1)                                                                     \
    X(FAILED, "failed", 1)                                                                         \
    X(STORE_ERROR, "store_error", 3)                                                               \
    X(INTERNAL, "internal", 1)

typedef enum casparian_code {
#define CASPARIAN_CODE_VALUE(name, word, exit_status) CASPARIAN_CODE_##name,
    CASPARIAN_CODE_MAP(CASPARIAN_CODE_VALUE)
#undef CASPARIAN_CODE_VALUE
} casparian_code;

/** The word of a code, "not_found". */
const char *casparian_code_text(casparian_code code);

/** The exit status of a command that fails with it. */
int casparian_code_exit_status(casparian_code code);

/** The code of that word; CASPARIAN_CODE_INTERNAL for one that is none. */
casparian_code casparian_code_find(const char *word);

/** The code of a failure that has no code of its own: MCP_E_NOT_FOUND is not_found, and so on. */
casparian_code casparian_code_of(mcp_status status);

/** One refusal. Texts are borrowed. */
typedef struct casparian_refusal {
    casparian_code code;
    const char *message;    /* one line; a word that it begins with gets a capital */
    const char *details;    /* the text of a JSON object; NULL: none */
    const char *suggestion; /* the way out, a sentence; NULL: none */
} casparian_refusal;

/** Write {"error": {...}}. */
void casparian_refusal_write(mcp_json_writer *json, const casparian_refusal *refusal);

#endif
