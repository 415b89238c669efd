/*
 * utf8.h - UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef MCP_BASE_UTF8_H
#define MCP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the bytes are well-formed; if not, *bad_offset (may be NULL) is where they go wrong. */
bool mcp__utf8_valid(const char *text, size_t length, size_t *bad_offset);

/* How many code points well-formed text has. */
size_t mcp__utf8_length(const char *text, size_t length);

/*
 * Decode the character at the front of `text`.
 *
 * @param code_point may be NULL; set only when a character is there
 * @return how many bytes it takes; 0 when `length` is 0 or the bytes are ill-formed
 */
size_t mcp__utf8_next(const char *text, size_t length, uint32_t *code_point);

/* How many bytes of well-formed text may stay when at most `max_bytes` may: never half a
 * character. */
size_t mcp__utf8_cut(const char *text, size_t length, size_t max_bytes);

/* Make a C string one line of well-formed UTF-8 in place: control characters become spaces,
 * bytes that are no UTF-8 become '?', and it ends before the character that passes `max_bytes`. */
void mcp__utf8_tidy(char *text, size_t length, size_t max_bytes);

#ifdef __cplusplus
}
#endif

#endif
