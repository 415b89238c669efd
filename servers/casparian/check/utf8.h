/**
 * utf8.h - texts from outside as UTF-8 (RFC 3629): tested, and repaired where they are not.
 *
 * Every function is pure; any thread.
 */
#ifndef CASPARIAN_CHECK_UTF8_H
#define CASPARIAN_CHECK_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"

/** Whether all bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool casparian_utf8_is_valid(const char *text, size_t length);

/** Bytes of the code point at the beginning; a byte that begins none is one of its own, `*is_valid`
 *  false. @param length at least 1. @param is_valid may be NULL */
size_t casparian_utf8_next(const char *text, size_t length, bool *is_valid);

/** Append a text with U+FFFD in place of each byte that belongs to no code point.
 *  @return out->status */
mcp_status casparian_utf8_repair(mcp_buf *out, const char *text, size_t length);

#endif
