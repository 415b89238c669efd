/*
 * principal.h - on whose behalf a call runs.
 */
#ifndef MCP_CORE_PRINCIPAL_H
#define MCP_CORE_PRINCIPAL_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/http.h"

/** A copy in `arena`; NULL for NULL, and when memory is out, which `*is_lost` then tells. */
const mcp_principal *mcp__principal_copy(mcp_arena *arena, const mcp_principal *principal,
                                         bool *is_lost);

/** Whether a list of scopes has that one, of `length` bytes. */
bool mcp__scopes_have(const char *list, const char *word, size_t length);

/** Append those of a list of scopes that `out` does not have yet. */
void mcp__scopes_add(mcp_buf *out, const char *scopes);

/** Whether a list of scopes has every one of another list; lists are separated by spaces. */
bool mcp__scopes_cover(const char *scopes, const char *wanted);

#endif
