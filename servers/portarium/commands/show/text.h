/**
 * text.h - texts of others on a terminal. Pure; any thread.
 */
#ifndef PORTARIUM_COMMANDS_SHOW_TEXT_H
#define PORTARIUM_COMMANDS_SHOW_TEXT_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/buf.h"

/**
 * Append a text in which everything can be seen: control and bidirectional characters, line
 * separators, and what has no width, become \uXXXX, two of them beyond U+FFFF. So does each byte
 * that is not UTF-8. Compact JSON stays JSON with the same value.
 */
void portarium_visible(mcp_buf *out, const char *text, size_t length);

/** The same in the arena, on one line. @return NULL: the text is NULL, or no memory */
const char *portarium_visible_text(mcp_arena *arena, const char *text);

/** A time of RFC 3339 as people at this machine read it: "2026-11-26 13:45:22". Another text stays.
 *  In the arena. */
const char *portarium_local_time(mcp_arena *arena, const char *time);

/** The text, cut behind `most` characters with an ellipsis. In the arena. */
const char *portarium_cut(mcp_arena *arena, const char *text, size_t most);

#endif
