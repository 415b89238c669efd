/**
 * base64.h - base64 (RFC 4648, section 4, with padding) of keys, signatures and sealed texts.
 */
#ifndef KEYS_BASE64_H
#define KEYS_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

/** The length of the text of so many bytes. */
#define KEYS_BASE64_LENGTH(bytes) (((bytes) + 2) / 3 * 4)

/** Append the text of bytes. @return out->status */
mcp_status keys_base64(mcp_buf *out, const void *bytes, size_t length);

/**
 * Append the bytes of a text. Each sequence of bytes has exactly one text that is read: no
 * whitespace, full padding, and unused bits that are zero.
 *
 * @return MCP_OK; MCP_E_PARSE, with nothing appended; out->status
 */
mcp_status keys_unbase64(mcp_buf *out, const char *text, size_t length, mcp_error *err);

/** Read a text of exactly `size` bytes. @return false: it is something else */
bool keys_unbase64_exact(void *out, size_t size, const char *text, size_t length);

#endif
