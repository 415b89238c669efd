/*
 * ast.h - the engine's JSON of a parsed statement, as a tree of values.
 *
 * mcp/json.h ends at 64 levels, which a statement that is not unusual exceeds, so it has a
 * reader of its own. It reads what the engine writes, so it has no words for what is wrong.
 */
#ifndef COLUMNS_SEALED_AST_H
#define COLUMNS_SEALED_AST_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#define AST_DEPTH_MAX 4000

enum ast_kind { AST_OTHER, AST_TEXT, AST_LIST, AST_OBJECT };

/* A value. Items of a list and members of an object are linked in their order. */
struct ast {
    enum ast_kind kind;
    bool is_true;     /* OTHER: the word true */
    const char *name; /* of a member; NULL: an item */
    const char *text; /* of TEXT */
    size_t length;    /* of `text` */
    struct ast *first, *next;
};

/* Read it into the arena. MCP_E_PARSE; MCP_E_LIMIT: deeper than AST_DEPTH_MAX; MCP_E_NOMEM. */
mcp_status ast_read(const struct ast **out, mcp_arena *arena, const char *json, size_t length,
                    mcp_error *err);

/* The member of that name; NULL: there is none, or `object` is NULL or no object. */
const struct ast *ast_get(const struct ast *object, const char *name);

/* Its text; NULL: it is absent or no text. */
const char *ast_text(const struct ast *object, const char *name);

#endif
