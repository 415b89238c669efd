/*
 * events.c - lines end with CR LF, LF or CR; an empty line ends an event.
 */
#include "client/events.h"

#include <string.h>

void client_events_init(struct client_events *self, size_t max_bytes, client_on_event *on_event,
                        void *context)
{
    *self = (struct client_events){
        .retry_ms = -1, .is_message = true, .on_event = on_event, .context = context
    };
    mcp_buf_init(&self->line, max_bytes);
    mcp_buf_init(&self->data, max_bytes);
}

void client_events_clear(struct client_events *self)
{
    mcp_buf_clear(&self->line);
    mcp_buf_clear(&self->data);
}

void client_events_restart(struct client_events *self)
{
    mcp_buf_reset(&self->line);
    mcp_buf_reset(&self->data);
    self->is_message = true;
    self->after_cr = false;
    self->has_begun = false;
}

static mcp_status end_event(struct client_events *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    /* The last newline does not count. Data that is empty is a priming event of 2025-11-25. */
    if (self->is_message && self->data.length > 1)
        st = self->on_event(self->context, self->data.data, self->data.length - 1, err);
    mcp_buf_reset(&self->data);
    self->is_message = true;
    return st;
}

static void take_id(struct client_events *self, const char *value, size_t length)
{
    if (length > CLIENT_EVENT_ID_MAX || memchr(value, '\0', length))
        return;
    memcpy(self->id, value, length);
    self->id[length] = '\0';
}

static void take_retry(struct client_events *self, const char *value, size_t length)
{
    int64_t ms = 0;

    if (length == 0 || length > 9)
        return;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9')
            return;
        ms = ms * 10 + (value[i] - '0');
    }
    self->retry_ms = ms;
}

static bool is_field(const char *line, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(line, name, length) == 0;
}

static mcp_status end_line(struct client_events *self, mcp_error *err)
{
    const char *line = self->line.data ? self->line.data : "";
    size_t length = self->line.length;
    const char *colon = memchr(line, ':', length);
    size_t name = colon ? (size_t)(colon - line) : length;
    const char *value = colon ? colon + 1 : line + length;

    if (length == 0)
        return end_event(self, err);
    if (colon && value < line + length && *value == ' ')
        value++;
    size_t rest = (size_t)(line + length - value);
    if (is_field(line, name, "data")) {
        mcp_buf_append(&self->data, value, rest);
        mcp_buf_putc(&self->data, '\n');
    } else if (is_field(line, name, "event")) {
        self->is_message = rest == 0 || is_field(value, rest, "message");
    } else if (is_field(line, name, "id")) {
        take_id(self, value, rest);
    } else if (is_field(line, name, "retry")) {
        take_retry(self, value, rest);
    }
    mcp_buf_reset(&self->line);
    return self->data.status;
}

/* Drop a byte order mark at the beginning of a stream. */
static void drop_mark(struct client_events *self)
{
    static const char mark[] = "\xef\xbb\xbf";

    if (self->has_begun)
        return;
    self->has_begun = true;
    if (self->line.length >= 3 && memcmp(self->line.data, mark, 3) == 0) {
        memmove(self->line.data, self->line.data + 3, self->line.length - 2);
        self->line.length -= 3;
    }
}

mcp_status client_events_feed(struct client_events *self, const char *bytes, size_t length,
                              mcp_error *err)
{
    mcp_status st = MCP_OK;
    size_t at = 0;

    while (at < length && st == MCP_OK) {
        if (self->after_cr && bytes[at] == '\n') {
            self->after_cr = false;
            at++;
            continue;
        }
        self->after_cr = false;
        size_t end = at;
        while (end < length && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        st = mcp_buf_append(&self->line, bytes + at, end - at);
        if (end < length && st == MCP_OK) {
            self->after_cr = bytes[end] == '\r';
            drop_mark(self);
            st = end_line(self, err);
        }
        at = end + 1;
    }
    if (self->line.status != MCP_OK || self->data.status != MCP_OK)
        st = mcp_error_set(err, st, "an event is longer than %zu bytes", self->line.max_bytes);
    return st;
}
