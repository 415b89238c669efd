/*
 * base64url.h - base64url without padding (RFC 7515 section 2), read strictly.
 */
#ifndef AUTH_BASE64URL_H
#define AUTH_BASE64URL_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/*
 * Decode. There is exactly one spelling of any bytes: padding, blanks, the letters of plain base64
 * and left-over bits that are not zero are refused, so that one token cannot have two texts.
 *
 * @param out the arena's, followed by a NUL that is not counted
 * @return MCP_OK; MCP_E_PARSE (err->offset says where); MCP_E_NOMEM
 */
mcp_status auth_base64url_decode(const uint8_t **out, size_t *out_length, const char *text,
                                 size_t length, mcp_arena *arena, mcp_error *err);

#endif
