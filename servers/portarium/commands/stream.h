/**
 * stream.h - server-sent events (WHATWG HTML, section 9.2) with their names and ids, read as they
 * come.
 */
#ifndef PORTARIUM_COMMANDS_STREAM_H
#define PORTARIUM_COMMANDS_STREAM_H

#include <stdbool.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#define PORTARIUM_STREAM_ID_MAX 64

/** One event. `data` ends with NUL. Anything but MCP_OK ends the reading. */
typedef mcp_status portarium_on_event(void *context, const char *id, const char *name,
                                      const char *data, mcp_error *err);

/** A reader. One thread. */
typedef struct portarium_stream {
    mcp_buf line, data;
    char id[PORTARIUM_STREAM_ID_MAX + 1];      /* of the last complete event; "": none */
    char next_id[PORTARIUM_STREAM_ID_MAX + 1]; /* of the event so far */
    char name[PORTARIUM_STREAM_ID_MAX + 1];
    bool after_cr;
    portarium_on_event *on_event;
    void *context;
} portarium_stream;

void portarium_stream_init(portarium_stream *self, portarium_on_event *on_event, void *context);
void portarium_stream_clear(portarium_stream *self);

/** Another connection begins: what is left of an unfinished event is dropped, the id stays. */
void portarium_stream_restart(portarium_stream *self);

/** @return MCP_OK; MCP_E_LIMIT: a line or an event is longer than 1 MiB; MCP_E_NOMEM; what
 *          `on_event` returned */
mcp_status portarium_stream_feed(portarium_stream *self, const char *bytes, size_t length,
                                 mcp_error *err);

#endif
