/*
 * utf8.c - UTF-8, eight bytes at a time where they are ASCII.
 */
#include "check/utf8.h"

#include <stdint.h>
#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The range that the second byte must be in (RFC 3629, 4). */
static bool second_fits(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

size_t casparian_utf8_next(const char *text, size_t length, bool *is_valid)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t count = sequence_length(bytes[0]);
    bool fits = count > 0 && count <= length && (count < 2 || second_fits(bytes[0], bytes[1]));
    for (size_t i = 2; fits && i < count; i++)
        fits = is_tail(bytes[i]);
    if (is_valid)
        *is_valid = fits;
    return fits ? count : 1;
}

/* Where the first byte is that is not ASCII. */
static size_t skip_ascii(const char *text, size_t length, size_t at)
{
    for (; at + sizeof(uint64_t) <= length; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word);
        if (word & HIGH_BITS)
            break;
    }
    while (at < length && (unsigned char)text[at] < 0x80)
        at++;
    return at;
}

bool casparian_utf8_is_valid(const char *text, size_t length)
{
    bool is_valid = true;
    size_t at = skip_ascii(text, length, 0);
    while (at < length && is_valid) {
        at += casparian_utf8_next(text + at, length - at, &is_valid);
        at = skip_ascii(text, length, at);
    }
    return is_valid;
}

mcp_status casparian_utf8_repair(mcp_buf *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        bool is_valid;
        size_t count = casparian_utf8_next(text + at, length - at, &is_valid);
        if (is_valid)
            mcp_buf_append(out, text + at, count);
        else
            mcp_buf_puts(out, "\xEF\xBF\xBD");
        at += count;
    }
    return out->status;
}
