/*
 * stream.c - lines, fields, events.
 */
#include "commands/stream.h"

#include <stdio.h>
#include <string.h>

enum { EVENT_MAX = 1 << 20 };

static void keep(char out[PORTARIUM_STREAM_ID_MAX + 1], const char *value)
{
    snprintf(out, PORTARIUM_STREAM_ID_MAX + 1, "%s", value);
}

void portarium_stream_init(portarium_stream *self, portarium_on_event *on_event, void *context)
{
    *self = (portarium_stream){ .on_event = on_event, .context = context };
    mcp_buf_init(&self->line, EVENT_MAX);
    mcp_buf_init(&self->data, EVENT_MAX);
}

void portarium_stream_clear(portarium_stream *self)
{
    mcp_buf_clear(&self->line);
    mcp_buf_clear(&self->data);
}

void portarium_stream_restart(portarium_stream *self)
{
    mcp_buf_reset(&self->line);
    mcp_buf_reset(&self->data);
    self->name[0] = '\0';
    keep(self->next_id, self->id);
    self->after_cr = false;
}

/* An empty line: the event is complete. One without data is none. */
static mcp_status end_event(portarium_stream *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    keep(self->id, self->next_id);
    if (self->data.length > 0) {
        self->data.data[self->data.length - 1] = '\0'; /* the last line feed */
        st = self->on_event(self->context, self->id, self->name, self->data.data, err);
    }
    mcp_buf_reset(&self->data);
    self->name[0] = '\0';
    return st;
}

static mcp_status end_line(portarium_stream *self, mcp_error *err)
{
    char *line = self->line.data;
    if (self->line.length == 0)
        return end_event(self, err);
    mcp_buf_putc(&self->line, '\0');
    line = self->line.data;
    if (self->line.status != MCP_OK)
        return MCP_OK; /* told by feed */
    char *value = strchr(line, ':');
    if (value) {
        *value++ = '\0';
        value += *value == ' ';
    }
    if (strcmp(line, "data") == 0) {
        mcp_buf_puts(&self->data, value ? value : "");
        mcp_buf_putc(&self->data, '\n');
    } else if (strcmp(line, "event") == 0) {
        keep(self->name, value ? value : "");
    } else if (strcmp(line, "id") == 0) {
        keep(self->next_id, value ? value : "");
    }
    mcp_buf_reset(&self->line);
    return MCP_OK;
}

static mcp_status feed_byte(portarium_stream *self, char byte, mcp_error *err)
{
    bool after_cr = self->after_cr;
    self->after_cr = byte == '\r';
    if (byte == '\n' && after_cr)
        return MCP_OK;
    if (byte == '\n' || byte == '\r')
        return end_line(self, err);
    mcp_buf_putc(&self->line, byte);
    return MCP_OK;
}

mcp_status portarium_stream_feed(portarium_stream *self, const char *bytes, size_t length,
                                 mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < length; i++) {
        st = feed_byte(self, bytes[i], err);
        mcp_status full = self->line.status != MCP_OK ? self->line.status : self->data.status;
        if (st == MCP_OK && full != MCP_OK)
            st = mcp_error_set(err, full, "an event is longer than %d bytes", EVENT_MAX);
    }
    return st;
}
