/**
 * text.h - making text of unknown bytes fit for records.
 *
 * File names, arguments of a command line and messages that were cut may hold bytes that are no
 * UTF-8: JSON cannot carry those.
 */
#ifndef COBRE_VALIDATE_TEXT_H
#define COBRE_VALIDATE_TEXT_H

#include <stddef.h>

#include "mcp/arena.h"

/**
 * A copy that is UTF-8 (RFC 3629): each byte that is not becomes '?'.
 *
 * @return the arena's; NULL for NULL or when memory is out
 */
char *cobre_text_clean(mcp_arena *arena, const char *text);

/** As cobre_text_clean, of at most `max_bytes` (>= 4) bytes: what is longer ends with "...". */
char *cobre_text_short(mcp_arena *arena, const char *text, size_t max_bytes);

#endif
