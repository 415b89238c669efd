/*
 * text.c - what a terminal would obey, and what nobody would see, as numbers.
 */
#include "commands/show/text.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "model/identity.h"

enum { VISIBLE_MAX = 64 << 20, TIME_SIZE = 32 };

/* The same characters as in the cockpit (web/text.js), and tab and line feed. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x34f, 0x34f },
    { 0x61c, 0x61c },     { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
    { 0x200b, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
    { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
    { 0xe0000, 0xe0fff },
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    }
    return false;
}

/* The character at a place. @return its bytes; 0: they are not UTF-8 */
static size_t read_character(uint32_t *code, const unsigned char *at, size_t left)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t size = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (size > left || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4)
        return 0;
    *code = size == 1 ? *at : *at & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    return *code >= least[size] && *code <= 0x10ffff ? size : 0;
}

static void put_number(mcp_buf *out, uint32_t code)
{
    if (code <= 0xffff)
        mcp_buf_printf(out, "\\u%04x", (unsigned)code);
    else
        mcp_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (unsigned)((code - 0x10000) >> 10),
                       0xdc00 + (unsigned)((code - 0x10000) & 0x3ff));
}

void portarium_visible(mcp_buf *out, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t left = length; left > 0;) {
        uint32_t code = 0;
        size_t size = read_character(&code, at, left);
        if (size == 0)
            put_number(out, *at);
        else if (is_hidden(code))
            put_number(out, code);
        else
            mcp_buf_append(out, at, size);
        size += size == 0;
        at += size;
        left -= size;
    }
}

const char *portarium_visible_text(mcp_arena *arena, const char *text)
{
    mcp_buf out;
    if (!text)
        return NULL;
    mcp_buf_init(&out, VISIBLE_MAX);
    portarium_visible(&out, text, strlen(text));
    const char *copy = out.status == MCP_OK
                           ? mcp_arena_strndup(arena, out.data ? out.data : "", out.length)
                           : NULL;
    mcp_buf_clear(&out);
    return copy;
}

const char *portarium_local_time(mcp_arena *arena, const char *time)
{
    char out[TIME_SIZE];
    struct tm local;
    int64_t ms = 0;
    if (!time || !portarium_time_read(&ms, time))
        return time;
    time_t seconds = (time_t)(ms / 1000);
    if (!localtime_r(&seconds, &local) ||
        strftime(out, sizeof out, "%Y-%m-%d %H:%M:%S", &local) == 0)
        return time;
    return mcp_arena_strdup(arena, out);
}

const char *portarium_cut(mcp_arena *arena, const char *text, size_t most)
{
    size_t characters = 0;
    if (!text)
        return NULL;
    for (const char *at = text; *at; at++) {
        bool begins = ((unsigned char)*at & 0xc0) != 0x80;
        if (begins && characters == most)
            return mcp_arena_printf(arena, "%.*s\u2026", (int)(at - text), text);
        characters += begins;
    }
    return text;
}
