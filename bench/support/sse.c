/*
 * sse.c - the lines, fields and blocks of an event stream.
 */
#include "support/sse.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct line {
    char *text;
    char *end;  /* of the text, where its line end begins */
    char *next; /* the following line */
} line;

/* False while the line is incomplete: a CR at the end of the bytes may be half of a CR LF. */
static bool find_line(line *out, char *at, const char *end)
{
    out->text = out->end = at;
    while (out->end < end && *out->end != '\n' && *out->end != '\r')
        out->end++;
    if (out->end == end || (*out->end == '\r' && out->end + 1 == end))
        return false;
    out->next = out->end + (out->end[0] == '\r' && out->end[1] == '\n' ? 2 : 1);
    return true;
}

/* Data lines move up behind the first one, so they only ever overwrite parsed bytes. */
static void take_data(sse_event *out, const char *value, size_t length)
{
    char *to = out->data + strlen(out->data);

    *to++ = '\n';
    memmove(to, value, length);
    to[length] = '\0';
}

static void take_field(sse_event *out, const line *it)
{
    char *colon = memchr(it->text, ':', (size_t)(it->end - it->text));
    char *value = colon ? colon + 1 : it->end;

    if (value < it->end && *value == ' ')
        value++;
    int length = (int)(it->end - value);
    size_t name = (size_t)((colon ? colon : it->end) - it->text);
    if (name == 5 && memcmp(it->text, "event", 5) == 0)
        snprintf(out->type, sizeof out->type, "%.*s", length, value);
    if (name == 2 && memcmp(it->text, "id", 2) == 0)
        snprintf(out->id, sizeof out->id, "%.*s", length, value);
    if (name != 4 || memcmp(it->text, "data", 4) != 0)
        return;
    if (out->data) {
        take_data(out, value, (size_t)length);
    } else {
        out->data = value;
        *it->end = '\0';
    }
}

size_t sse_next(sse_event *out, char *bytes, size_t length)
{
    const char *end = bytes + length;
    line it;

    *out = (sse_event){ .type = "message" };
    it.next = bytes;
    do {
        if (!find_line(&it, it.next, end))
            return 0;
    } while (it.text != it.end);
    const char *block_end = it.next;
    for (find_line(&it, bytes, block_end); it.text != it.end; find_line(&it, it.next, block_end))
        take_field(out, &it);
    return (size_t)(block_end - bytes);
}
