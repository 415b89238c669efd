/*
 * base64url.c - reading base64url, strictly.
 *
 * Four letters make three bytes; two or three letters at the end make one or two, and the bits that
 * they have too many must be zero.
 */
#include "auth/base64url.h"

/* The six bits of a letter, or -1. */
static int bits_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    if (letter == '-')
        return 62;
    return letter == '_' ? 63 : -1;
}

mcp_status auth_base64url_decode(const uint8_t **out, size_t *out_length, const char *text,
                                 size_t length, mcp_arena *arena, mcp_error *err)
{
    uint32_t held = 0; /* bits read and not yet written, the newest lowest */
    unsigned held_count = 0;
    size_t written = 0;

    if (length % 4 == 1)
        return mcp_error_at(err, MCP_E_PARSE, (int64_t)length, "base64url ends within a byte");
    uint8_t *bytes = mcp_arena_alloc(arena, length / 4 * 3 + 3);
    if (!bytes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to decode base64url");
    for (size_t i = 0; i < length; i++) {
        int bits = bits_of(text[i]);
        if (bits < 0)
            return mcp_error_at(err, MCP_E_PARSE, (int64_t)i, "not a letter of base64url");
        held = held << 6 | (uint32_t)bits;
        held_count += 6;
        if (held_count >= 8) {
            held_count -= 8;
            bytes[written++] = (uint8_t)(held >> held_count);
            held &= (1u << held_count) - 1;
        }
    }
    if (held != 0)
        return mcp_error_at(err, MCP_E_PARSE, (int64_t)length, "base64url has bits left over");
    *out = bytes;
    *out_length = written;
    return MCP_OK;
}
