/*
 * web_client.h - one connection to a server of ours, read piece by piece: answers, events, frames.
 *
 * All waits are bounded by CLIENT_WAIT_MS (rig.h); what does not come, or is no HTTP, no event or
 * no frame, ends the test.
 */
#ifndef TESTS_WEB_CLIENT_H
#define TESTS_WEB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"

/** How the end of what follows an answer's head is known. */
typedef enum web_body {
    WEB_BODY_NONE,    /* there is none, or it was read */
    WEB_BODY_COUNTED, /* Content-Length */
    WEB_BODY_CHUNKED,
    WEB_BODY_TO_END, /* of the connection */
    WEB_BODY_FRAMES  /* it is a WebSocket now */
} web_body;

typedef struct web_client {
    int fd;       /* -1: not connected */
    mcp_buf in;   /* as it came */
    size_t in_at; /* up to where it was read */
    int status;
    mcp_buf head; /* of the newest answer, each line ending in CRLF, with a NUL */
    web_body body;
    size_t left;     /* bytes of a counted body */
    mcp_buf payload; /* of the body, put together */
    size_t payload_at;
    mcp_buf before; /* lines of the newest event */
    bool is_events; /* the body is a stream of events */
    bool is_last;   /* the server closes behind this answer */
} web_client;

/** One event of a stream. Its texts are borrowed until the next call; NULL: no such field. */
typedef struct web_event {
    const char *comment; /* a comment alone; then there is nothing else */
    const char *event;
    const char *id;
    const char *retry;
    const char *data;
} web_event;

/** One frame of a WebSocket. */
typedef struct web_frame {
    bool is_final;
    int opcode;
    const char *bytes; /* with a NUL behind them */
    size_t length;
} web_frame;

void web_client_init(web_client *self);

/** Connect where it is not connected. */
void web_client_connect(web_client *self, int port);

/** Close, if open; forget all that came. */
void web_client_close(web_client *self);

/** Send all of it; what the server no longer reads is dropped. */
void web_client_send(web_client *self, const char *bytes, size_t length);

/** Read the head of the next answer. `has_no_body`: it answers HEAD. */
void web_client_read_head(web_client *self, bool has_no_body);

/** A field of that head, its repetitions joined by commas; false when it is absent. */
bool web_client_field(const web_client *self, const char *name, mcp_buf *out);

/** The rest of the body, to its end; "" when there is none. Borrowed until the next call. */
const char *web_client_read_body(web_client *self, size_t *length);

/** The next event; false: the stream has ended. */
bool web_client_read_event(web_client *self, web_event *out);

/** The next frame; false: the server has closed. */
bool web_client_read_frame(web_client *self, web_frame *out);

/** Send a frame as clients must, masked. `first` is its first byte: FIN and the opcode. */
void web_client_send_frame(web_client *self, unsigned first, const char *bytes, size_t length);

/** Wait for the server to close; false: it sent something instead, which `web_client.in` has. */
bool web_client_is_closed(web_client *self);

#endif
