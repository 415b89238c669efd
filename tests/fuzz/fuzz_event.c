/*
 * fuzz_event.c - an event is read as what it was made of: by a reader written after section 9.2.6
 * of HTML, whatever the id, the name and the data are, there comes exactly one event with them.
 *
 * The input: a byte that says which parts there are, the lengths of id and name, the two, the data.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/transport/http/stream.h"

struct heard {
    mcp_buf data;
    mcp_buf id, name;
    bool has_id;
    int events;
};

static bool is_field(const char *line, size_t length, const char *name, const char **value,
                     size_t *value_length)
{
    size_t size = strlen(name);

    if (length < size || memcmp(line, name, size) != 0 || (length > size && line[size] != ':'))
        return false;
    *value = line + size + (length > size);
    *value_length = length - (size_t)(*value - line);
    if (*value_length > 0 && **value == ' ') {
        ++*value;
        --*value_length;
    }
    return true;
}

static void hear_line(struct heard *heard, const char *line, size_t length)
{
    const char *value = NULL;
    size_t size = 0;

    if (length == 0) {
        heard->events++;
    } else if (is_field(line, length, "data", &value, &size)) {
        mcp_buf_append(&heard->data, value, size);
        mcp_buf_putc(&heard->data, '\n');
    } else if (is_field(line, length, "id", &value, &size)) {
        mcp_buf_reset(&heard->id);
        mcp_buf_append(&heard->id, value, size);
        heard->has_id = true;
    } else if (is_field(line, length, "event", &value, &size)) {
        mcp_buf_reset(&heard->name);
        mcp_buf_append(&heard->name, value, size);
    } else {
        abort(); /* there is nothing else in an event of ours */
    }
}

static void hear(struct heard *heard, const char *bytes, size_t length)
{
    size_t at = 0;

    while (at < length) {
        size_t end = at;
        while (end < length && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        if (end == length)
            abort(); /* the last line has no end */
        hear_line(heard, bytes + at, end - at);
        at = end + (bytes[end] == '\r' && end + 1 < length && bytes[end + 1] == '\n' ? 2 : 1);
    }
}

/* Every line end as LF, and one more behind the last line. */
static void normalize(mcp_buf *out, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool is_pair = data[i] == '\r' && i + 1 < length && data[i + 1] == '\n';
        mcp_buf_putc(out, data[i] == '\r' ? '\n' : data[i]);
        i += is_pair;
    }
    mcp_buf_putc(out, '\n');
}

static void must_be(const mcp_buf *have, const char *bytes, size_t length)
{
    if (have->length != length || (length > 0 && memcmp(have->data, bytes, length) != 0))
        abort();
}

static void check(const mcp_event *event, const char *id, const char *name, const char *data,
                  size_t length)
{
    struct heard heard = { .has_id = false };
    mcp_buf wanted;
    size_t size = 0;
    const char *bytes = mcp__event_bytes(event, &size);

    mcp_buf_init(&heard.data, 1 << 20);
    mcp_buf_init(&heard.id, 1 << 20);
    mcp_buf_init(&heard.name, 1 << 20);
    mcp_buf_init(&wanted, 1 << 20);
    hear(&heard, bytes, size);
    normalize(&wanted, data, length);
    must_be(&heard.data, wanted.data, wanted.length);
    must_be(&heard.name, name ? name : "", name ? strlen(name) : 0);
    must_be(&heard.id, id ? id : "", id ? strlen(id) : 0);
    if (heard.events != 1 || heard.has_id != (id != NULL))
        abort();
    mcp_buf_clear(&heard.data);
    mcp_buf_clear(&heard.id);
    mcp_buf_clear(&heard.name);
    mcp_buf_clear(&wanted);
}

/* A part of the input as a C string, which ends at its first NUL. */
static char *take(const uint8_t **at, size_t *left, size_t length)
{
    size_t size = length < *left ? length : *left;
    char *text = calloc(1, size + 1);

    if (!text)
        abort();
    memcpy(text, *at, size);
    *at += size;
    *left -= size;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_event *event = NULL;
    mcp_event *comment = NULL;

    if (size < 3 || size > 100000)
        return 0;
    const uint8_t *at = data + 3;
    size_t left = size - 3;
    char *id = take(&at, &left, data[1]);
    char *name = take(&at, &left, data[2]);
    bool has_line_end = strpbrk(id, "\r\n") != NULL || strpbrk(name, "\r\n") != NULL;
    const char *used_id = data[0] & 1 ? id : NULL;
    const char *used_name = data[0] & 2 ? name : NULL;
    mcp_status st = mcp_event_new(&event, used_id, used_name, (const char *)at, left, NULL);

    if (st == MCP_OK)
        check(event, used_id, used_name, (const char *)at, left);
    else if (!has_line_end || st != MCP_E_PARAMS)
        abort();
    if (mcp_event_comment(&comment, name, NULL) == MCP_OK && strpbrk(name, "\r\n"))
        abort();
    mcp_event_release(event);
    mcp_event_release(comment);
    free(id);
    free(name);
    return 0;
}
