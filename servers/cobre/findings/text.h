/**
 * text.h - makes text of unknown bytes valid UTF-8 of bounded length.
 *
 * File names, command-line arguments and truncated messages may hold bytes that are not UTF-8,
 * which JSON cannot hold.
 */
#ifndef COBRE_FINDINGS_TEXT_H
#define COBRE_FINDINGS_TEXT_H

#include <stddef.h>

#include "mcp/arena.h"

/**
 * A copy in UTF-8 (RFC 3629): each invalid byte becomes '?'.
 *
 * @return the arena's; NULL for NULL or when memory is out
 */
char *cobre_text_clean(mcp_arena *arena, const char *text);

/** As cobre_text_clean, cut at `max_bytes` (>= 4) bytes: a longer text ends with "...". */
char *cobre_text_short(mcp_arena *arena, const char *text, size_t max_bytes);

#endif
