/**
 * canonical.h - JSON in one form only (RFC 8785, JCS), so that equal values have equal hashes.
 *
 * No whitespace; members sorted by the UTF-16 code units of their names; strings escaped as little
 * as JSON allows; numbers as ECMAScript writes them.
 *
 * The value must be I-JSON (RFC 7493). Refused with MCP_E_PARAMS:
 *   - a name that occurs twice in one object;
 *   - a noncharacter (U+FDD0 to U+FDEF, and the last two of each plane) in a string or a name; a
 *     single surrogate is refused by mcp_json_read already;
 *   - an integer whose digits ECMAScript would change, such as 2^53 + 1, or 2^60, which it writes
 *     as 1152921504606847000: other readers of JSON round it, and two different integers would have
 *     one hash. Send it as a string. Integers up to 2^53 are never changed.
 * An integer of more than 64 bits is a double for mcp_json_read, and is written as that double.
 */
#ifndef KEYS_CANONICAL_H
#define KEYS_CANONICAL_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/hash.h"
#include "mcp/json.h"

/** Room for a digest as 64 hexadecimal digits, with its NUL. */
#define KEYS_HEX_SIZE (2 * MCP_SHA256_SIZE + 1)

/**
 * Append the canonical form of a value. Any thread.
 *
 * @param out   on a failure it holds a part of the text
 * @param value NULL is null
 * @return MCP_OK; MCP_E_PARAMS (no I-JSON, see above); MCP_E_LIMIT (the buffer); MCP_E_NOMEM
 */
mcp_status keys_canonical(mcp_buf *out, const mcp_json *value, mcp_error *err);

/**
 * The same for an object without some of its members. Only the outermost object leaves them out.
 *
 * @param except their names, ended by NULL
 */
mcp_status keys_canonical_without(mcp_buf *out, const mcp_json *object, const char *const *except,
                                  mcp_error *err);

/**
 * The SHA-256 of the canonical form, as lower-case hexadecimal digits.
 *
 * @return as keys_canonical; MCP_E_LIMIT: the form is longer than 16 MiB; MCP_E_INTERNAL: libcrypto
 */
mcp_status keys_canonical_hash(char out[KEYS_HEX_SIZE], const mcp_json *value, mcp_error *err);

/** Write a digest as lower-case hexadecimal digits. */
void keys_hex(char out[KEYS_HEX_SIZE], const uint8_t digest[MCP_SHA256_SIZE]);

/** Read 64 lower-case hexadecimal digits. @return false: `text` is NULL or something else */
bool keys_unhex(uint8_t digest[MCP_SHA256_SIZE], const char *text, size_t length);

#endif
