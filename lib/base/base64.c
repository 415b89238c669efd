/*
 * base64.c - RFC 4648, sections 4 and 5.
 *
 * Decoding is strict: padding where it belongs, no other character, no bits left over that encoding
 * would not have written. So a text has one form, and a cursor that was tampered with is seen.
 */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t mcp__base64_length(size_t length)
{
    return length > SIZE_MAX / 4 * 3 - 3 ? 0 : (length + 2) / 3 * 4;
}

/* Returns how many characters were written, without padding. */
static size_t encode(char *out, const uint8_t *bytes, size_t length, const char *alphabet)
{
    char *at = out;

    for (; length >= 3; length -= 3, bytes += 3) {
        uint32_t group = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
        *at++ = alphabet[group >> 18];
        *at++ = alphabet[group >> 12 & 63];
        *at++ = alphabet[group >> 6 & 63];
        *at++ = alphabet[group & 63];
    }
    if (length > 0) {
        uint32_t group = (uint32_t)bytes[0] << 16 | (length > 1 ? (uint32_t)bytes[1] << 8 : 0);
        *at++ = alphabet[group >> 18];
        *at++ = alphabet[group >> 12 & 63];
        if (length > 1)
            *at++ = alphabet[group >> 6 & 63];
    }
    return (size_t)(at - out);
}

void mcp__base64_encode(char *out, const void *bytes, size_t length)
{
    size_t written = encode(out, bytes, length, standard);

    while (written % 4 != 0)
        out[written++] = '=';
}

char *mcp__base64url_encode(mcp_arena *arena, const void *bytes, size_t length)
{
    char *out = mcp_arena_alloc(arena, mcp__base64_length(length) + 1);

    if (out)
        out[encode(out, bytes, length, url_safe)] = '\0';
    return out;
}

static int value_of(char c, const char *alphabet)
{
    const char *at = c ? strchr(alphabet, c) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

static char *decode(mcp_arena *arena, const char *text, size_t length, const char *alphabet,
                    size_t *out_length)
{
    char *out = length % 4 == 1 ? NULL : mcp_arena_alloc(arena, length / 4 * 3 + 3);
    uint32_t bits = 0;
    unsigned held = 0;
    size_t written = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        int value = value_of(text[i], alphabet);
        if (value < 0)
            return NULL;
        bits = (bits << 6 | (uint32_t)value) & 0xffffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[written++] = (char)(bits >> held & 0xff);
        }
    }
    if (held > 0 && (bits & ((1u << held) - 1)) != 0)
        return NULL;
    out[written] = '\0';
    *out_length = written;
    return out;
}

char *mcp__base64_decode(mcp_arena *arena, const char *text, size_t length, size_t *out_length)
{
    if (length % 4 != 0)
        return NULL;
    for (int padding = 0; padding < 2 && length > 0 && text[length - 1] == '='; padding++)
        length--;
    return decode(arena, text, length, standard, out_length);
}

char *mcp__base64url_decode(mcp_arena *arena, const char *text, size_t length, size_t *out_length)
{
    return decode(arena, text, length, url_safe, out_length);
}
