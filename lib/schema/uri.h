/*
 * uri.h - resolving URI references (RFC 3986 section 5.2) as `$id` and `$ref` need it.
 */
#ifndef MCP_SCHEMA_URI_H
#define MCP_SCHEMA_URI_H

#include <stddef.h>

#include "mcp/arena.h"

/*
 * The reference as seen from `base`, fragment included. A base that is itself relative, or "",
 * is fine: then the answer may be relative too. The answer is the arena's; NULL when memory is
 * out.
 */
char *mcp__uri_resolve(mcp_arena *arena, const char *base, const char *reference);

/*
 * Cut a URI in place at its '#' and hand the fragment back, percent-decoded in place; "" when
 * there is none. NULL when the fragment holds a NUL or a broken escape.
 */
char *mcp__uri_split(char *uri);

#endif
