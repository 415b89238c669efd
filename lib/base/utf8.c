/*
 * utf8.c - checking, counting and cutting UTF-8.
 *
 * Nearly all text is ASCII, so eight bytes at a time are looked at first; only what is left is
 * decoded character by character. The bounds of the second byte carry all the special cases: 0xE0
 * and 0xF0 (overlong), 0xED (surrogates), 0xF4 (above U+10FFFF); RFC 3629 section 4.
 */
#include "base/utf8.h"

#include <string.h>

static size_t ascii_run(const char *text, size_t length)
{
    size_t at = 0;
    uint64_t word;

    for (; at + sizeof word <= length; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (at < length && (unsigned char)text[at] < 0x80)
        at++;
    return at;
}

/* How many bytes a character takes that begins with `lead`, and the bounds of its second byte. */
static size_t sequence(unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (lead == 0xE0)
            *low = 0xA0;
        if (lead == 0xED)
            *high = 0x9F;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (lead == 0xF0)
            *low = 0x90;
        if (lead == 0xF4)
            *high = 0x8F;
        return 4;
    }
    return 0;
}

size_t mcp__utf8_next(const char *text, size_t length, uint32_t *code_point)
{
    const unsigned char *byte = (const unsigned char *)text;
    unsigned char low;
    unsigned char high;

    if (length == 0)
        return 0;
    if (byte[0] < 0x80) {
        if (code_point)
            *code_point = byte[0];
        return 1;
    }
    size_t size = sequence(byte[0], &low, &high);
    if (size == 0 || size > length || byte[1] < low || byte[1] > high)
        return 0;

    uint32_t point = byte[0] & (0x7FU >> size);
    point = point << 6 | (byte[1] & 0x3FU);
    for (size_t i = 2; i < size; i++) {
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (byte[i] & 0x3FU);
    }
    if (code_point)
        *code_point = point;
    return size;
}

bool mcp__utf8_valid(const char *text, size_t length, size_t *bad_offset)
{
    size_t at = 0;

    for (;;) {
        at += ascii_run(text + at, length - at);
        if (at == length)
            return true;
        size_t size = mcp__utf8_next(text + at, length - at, NULL);
        if (size == 0)
            break;
        at += size;
    }
    if (bad_offset)
        *bad_offset = at;
    return false;
}

size_t mcp__utf8_length(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

size_t mcp__utf8_cut(const char *text, size_t length, size_t max_bytes)
{
    if (length <= max_bytes)
        return length;

    size_t end = max_bytes;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    return end;
}

void mcp__utf8_tidy(char *text, size_t length, size_t max_bytes)
{
    size_t at = 0;

    while (at < length) {
        uint32_t point = 0;
        size_t size = mcp__utf8_next(text + at, length - at, &point);
        if (at + (size ? size : 1) > max_bytes)
            break;
        if (size == 0) {
            text[at++] = '?';
            continue;
        }
        /* U+0080 to U+009F are control characters too, but two bytes long: left as they are. */
        if (point < 0x20 || point == 0x7F)
            text[at] = ' ';
        at += size;
    }
    text[at] = '\0';
}
