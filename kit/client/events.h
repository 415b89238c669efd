/*
 * events.h - server-sent events (WHATWG HTML, section 9.2), read as they come.
 */
#ifndef CLIENT_EVENTS_H
#define CLIENT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/buf.h"

#define CLIENT_EVENT_ID_MAX 256

/* The data of one event of type "message"; never empty. Anything but MCP_OK ends the reading. */
typedef mcp_status client_on_event(void *data, const char *text, size_t length, mcp_error *err);

/* A reader. Its state outlives a connection, so that a stream can be resumed. */
struct client_events {
    mcp_buf line;
    mcp_buf data;                     /* of the event so far, each line with a newline */
    char id[CLIENT_EVENT_ID_MAX + 1]; /* the last one; "": none */
    int64_t retry_ms;                 /* -1: none */
    bool is_message;                  /* the type of the event so far */
    bool after_cr;                    /* a line feed ends the same line */
    bool has_begun;                   /* the place of a byte order mark is passed */
    client_on_event *on_event;
    void *context;
};

/* @param max_bytes of a line, and of the data of an event */
void client_events_init(struct client_events *self, size_t max_bytes, client_on_event *on_event,
                        void *context);
void client_events_clear(struct client_events *self);

/* Another connection begins: what is left of an unfinished event is dropped. */
void client_events_restart(struct client_events *self);

/* @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM; what `on_event` returned */
mcp_status client_events_feed(struct client_events *self, const char *bytes, size_t length,
                              mcp_error *err);

#endif
