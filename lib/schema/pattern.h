/*
 * pattern.h - ECMA-262 regular expressions on PCRE2.
 *
 * The expression is read as with the `u` flag, translated to PCRE2's language and compiled
 * there. Matching is bounded: a match that needs too much work is an error, not an answer.
 */
#ifndef MCP_SCHEMA_PATTERN_H
#define MCP_SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

typedef struct mcp__pattern mcp__pattern;

/* What matching needs besides the pattern; one for a check. Start with zeros. */
typedef struct mcp__matcher {
    void *data;    /* pcre2_match_data */
    void *context; /* pcre2_match_context */
    uint64_t steps_left;
    size_t position; /* where the running match was at its last step */
} mcp__matcher;

/*
 * Compile an expression; the pattern is put at the front of *list.
 *
 * Returns MCP_OK; MCP_E_SCHEMA (not an expression of ECMA-262, or one that PCRE2 cannot do:
 * look-behind of no fixed length); MCP_E_LIMIT (too long); MCP_E_NOMEM.
 */
mcp_status mcp__pattern_compile(mcp__pattern **list, mcp_arena *arena, const char *text,
                                size_t length, mcp_error *err);

/* Whether the text is an expression that compiles. Leaves nothing behind. */
bool mcp__pattern_is_valid(const char *text, size_t length);

/* Free what the arena does not own, of all patterns in the list. NULL is fine. */
void mcp__pattern_free_all(mcp__pattern *list);

/*
 * Whether the expression matches anywhere in `text`, which must be UTF-8.
 *
 * *steps_left is what the match may cost, and shrinks by what it did cost. Returns MCP_OK;
 * MCP_E_LIMIT (the steps are used up, or the match limit is reached); MCP_E_NOMEM.
 */
mcp_status mcp__pattern_match(bool *out, const mcp__pattern *pattern, mcp__matcher *matcher,
                              const char *text, size_t length, uint64_t *steps_left,
                              mcp_error *err);

void mcp__matcher_clear(mcp__matcher *matcher);

#endif
