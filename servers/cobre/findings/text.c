/*
 * text.c - makes text of unknown bytes valid UTF-8 of bounded length.
 *
 * Invalid bytes are replaced in place, so the text does not grow.
 */
#include "findings/text.h"

#include <string.h>

/* The bounds of the second byte after `lead`: no overlong forms, surrogates, or above U+10FFFF. */
static size_t sequence(unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/* The length of the character at `at`; 0: invalid. A NUL ends any sequence. */
static size_t character(const unsigned char *at)
{
    unsigned char low, high;
    size_t length = sequence(*at, &low, &high);

    if (length > 1 && (at[1] < low || at[1] > high))
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

char *cobre_text_clean(mcp_arena *arena, const char *text)
{
    char *copy = mcp_arena_strdup(arena, text);

    for (unsigned char *at = (unsigned char *)copy; at && *at;) {
        size_t length = character(at);
        if (length == 0)
            *at = '?';
        at += length ? length : 1;
    }
    return copy;
}

char *cobre_text_short(mcp_arena *arena, const char *text, size_t max_bytes)
{
    static const char dots[] = "...";
    size_t end = max_bytes - (sizeof dots - 1);
    char *copy;

    if (!text || strnlen(text, max_bytes + 1) <= max_bytes)
        return cobre_text_clean(arena, text);
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    copy = mcp_arena_printf(arena, "%.*s%s", (int)end, text, dots);
    return copy ? cobre_text_clean(arena, copy) : NULL;
}
