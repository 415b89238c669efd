/*
 * name.h - the two names of a tool or prompt: the one it was registered by, and the safe one that
 * hosts without '/' in their rules can take.
 */
#ifndef MCP_FEATURE_NAME_H
#define MCP_FEATURE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/server.h"

/** Room for a safe name with its NUL. */
#define MCP__SAFE_NAME_SIZE 65

/** Write the safe form of a name: every byte outside A-Z a-z 0-9 _ becomes '_', cut at 64. */
void mcp__safe_name(char out[MCP__SAFE_NAME_SIZE], const char *name);

/** Whether a text is a registered name. */
typedef bool mcp__name_known(const void *data, const char *name, size_t length);

/**
 * A text with the safe form of each registered name that is a word of it.
 *
 * @return the arena's; NULL when memory is out
 */
char *mcp__safe_text(mcp_arena *arena, const char *text, mcp__name_known *known, const void *data);

/** True when a list shows safe names in that revision. */
bool mcp__safe_names_shown(mcp_tool_names mode, mcp_revision revision);

#endif
