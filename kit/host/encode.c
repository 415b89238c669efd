/*
 * encode.c - the forms in which settings are pasted: JSON in lines, words of a shell, parts of
 * URLs.
 */
#include <string.h>

#include "host/host_int.h"

#define INDENT 2

static void break_line(mcp_buf *out, unsigned depth)
{
    mcp_buf_putc(out, '\n');
    for (unsigned i = 0; i < depth * INDENT; i++)
        mcp_buf_putc(out, ' ');
}

/* A string with its quotes. @return where it ends */
static const char *add_string(mcp_buf *out, const char *at)
{
    const char *end = at + 1;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    end += *end == '"';
    mcp_buf_append(out, at, (size_t)(end - at));
    return end;
}

/* What is inside an array stays in its line. */
mcp_status host_add_lines(mcp_buf *out, const char *json)
{
    unsigned depth = 0, arrays = 0;
    while (*json) {
        char byte = *json;
        if (byte == '"') {
            json = add_string(out, json);
            continue;
        }
        arrays -= byte == ']';
        depth -= byte == '}' && arrays == 0;
        if (byte == '}' && arrays == 0)
            break_line(out, depth);
        mcp_buf_putc(out, byte);
        arrays += byte == '[';
        depth += byte == '{' && arrays == 0;
        if ((byte == '{' || byte == ',') && arrays == 0)
            break_line(out, depth);
        else if (byte == ',' || byte == ':')
            mcp_buf_putc(out, ' ');
        json++;
    }
    return out->status;
}

mcp_status host_add_shell(mcp_buf *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_@%+=:,./-";
    if (*word && strspn(word, plain) == strlen(word))
        return mcp_buf_puts(out, word);
    mcp_buf_putc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            mcp_buf_puts(out, "'\\''");
        else
            mcp_buf_putc(out, *word);
    return mcp_buf_putc(out, '\'');
}

mcp_status host_add_percent(mcp_buf *out, const char *text, size_t length)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~";
    for (size_t i = 0; i < length; i++)
        if (text[i] && strchr(plain, text[i]))
            mcp_buf_putc(out, text[i]);
        else
            mcp_buf_printf(out, "%%%02X", (unsigned char)text[i]);
    return out->status;
}
