/*
 * base64.h - bytes as text (RFC 4648): the standard alphabet for content and headers, the URL-safe
 * one for cursors.
 */
#ifndef MCP_BASE_BASE64_H
#define MCP_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"

/** How long `length` bytes are in the standard alphabet with padding; 0 when it cannot be said. */
size_t mcp__base64_length(size_t length);

/** Write the standard form with padding to `out`, which has room for mcp__base64_length(length). */
void mcp__base64_encode(char *out, const void *bytes, size_t length);

/** The bytes of a text in the standard alphabet with its padding, with a NUL behind them; NULL
 *  when it is none, or when memory is out. */
char *mcp__base64_decode(mcp_arena *arena, const char *text, size_t length, size_t *out_length);

/** The URL-safe form without padding, with a NUL; NULL when memory is out. */
char *mcp__base64url_encode(mcp_arena *arena, const void *bytes, size_t length);

/** The bytes of a URL-safe text without padding, with a NUL behind them; NULL when it is none, or
 * when memory is out. */
char *mcp__base64url_decode(mcp_arena *arena, const char *text, size_t length, size_t *out_length);

#endif
