/**
 * stream.h - server-sent events: a route's answer as a stream of events (WHATWG HTML, section 9.2).
 */
#ifndef MCP_STREAM_H
#define MCP_STREAM_H

#include <stddef.h>

#include "mcp/call.h"
#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One server-sent event, encoded once for any number of readers. It is immutable and reference
 * counted: every owner holds a reference. Any thread.
 */
typedef struct mcp_event mcp_event;

/**
 * Create an event.
 *
 * @param out    yours, free it with mcp_event_release
 * @param id     the Last-Event-ID that a reconnecting reader sends; NULL: the last id stays valid
 * @param name   the event type; NULL: "message"
 * @param data   UTF-8, copied; each of its lines becomes a `data` line, whatever its line end;
 *               NULL: empty
 * @param length of `data`
 * @return MCP_OK; MCP_E_PARAMS (a line end in `id` or `name`); MCP_E_LIMIT (more than 32 MiB);
 *         MCP_E_NOMEM
 */
mcp_status mcp_event_new(mcp_event **out, const char *id, const char *name, const char *data,
                         size_t length, mcp_error *err);

/** Create a comment, ":text", which readers ignore. @return as mcp_event_new */
mcp_status mcp_event_comment(mcp_event **out, const char *text, mcp_error *err);

/** Add a reference. @return `event` */
mcp_event *mcp_event_retain(mcp_event *event);

/** Drop a reference; the last one frees the event. NULL is allowed. */
void mcp_event_release(mcp_event *event);

/**
 * A stream of events to one reader: the client of a route whose handler answered with
 * mcp_call_stream. It outlives the handler. It is reference counted: the server holds one reference
 * until the reader has disconnected, and its opener holds another.
 *
 * Any thread may send to it and close it, several at once; events of one thread keep their order. A
 * slow reader delays no other: its events wait in its own bounded queue, and its connection is
 * closed when it reads nothing for half a minute.
 */
typedef struct mcp_stream mcp_stream;

/** Options of a stream. Zero is the default of every field. */
typedef struct mcp_stream_options {
    size_t queue_bytes;    /* limit of queued bytes; an empty queue takes any event. 0: 8 MiB */
    unsigned queue_events; /* limit of queued events; 0: 1000 */
    int keepalive_ms;      /* silence before a comment is sent; 0: the server's */
    int retry_ms;          /* reconnection time, sent first (`retry`); 0: not sent */
    const char *first;     /* bytes sent first, whole lines: ":connected\n\n"; may be NULL */

    /** The queue is empty again, after mcp_stream_send has returned MCP_E_LIMIT. Runs on the
     *  serving thread: must not block; may send and close. May be NULL. */
    void (*drained)(mcp_stream *stream, void *data);
    /** The stream has ended: the reader disconnected, or shut its side of the connection; its token
     *  expired; the stream was closed, or its handler failed.
     *  Called once per stream, as the last callback. Runs on the serving thread: must not block.
     *  May be NULL. */
    void (*closed)(mcp_stream *stream, void *data);
    void *data; /* passed to both; must live until `closed` */
} mcp_stream_options;

/** Every field at its default. */
#define MCP_STREAM_OPTIONS_INIT MCP_ZERO_INIT

/**
 * For a route's handler: answer with a stream of events, 200 and text/event-stream. The handler may
 * send at once, may keep the stream for other threads, and returns as any other: the stream begins
 * when it returns MCP_OK; any other status is answered as an error, and the stream is closed.
 * Header fields that were set are sent. A HEAD request gets the header section alone.
 *
 * @param out     yours, one reference; release it with mcp_stream_release, at the latest in
 *                `closed`
 * @param options copied; may be NULL
 * @return MCP_OK; MCP_E_PARAMS (`first` does not end with a line end; a second stream);
 *         MCP_E_UNSUPPORTED (not a route's handler); MCP_E_NOMEM
 */
mcp_status mcp_call_stream(mcp_stream **out, mcp_call *call, const mcp_stream_options *options,
                           mcp_error *err);

/** The Last-Event-ID of a reconnecting reader; NULL when it sent none. */
const char *mcp_call_last_event_id(const mcp_call *call);

/**
 * Send an event. Any thread; never blocks.
 *
 * @param event retained until it is written; the caller keeps its own reference
 * @return MCP_OK: queued; MCP_E_LIMIT: the queue is full, nothing was queued, `drained` will be
 *         called; MCP_E_STOPPED: the stream is closed, or its reader has disconnected; MCP_E_NOMEM
 */
mcp_status mcp_stream_send(mcp_stream *stream, mcp_event *event, mcp_error *err);

/** Add a reference. @return `stream` */
mcp_stream *mcp_stream_retain(mcp_stream *stream);

/** Close the stream after the queued events. Any thread; may be called again. `closed` follows.
 *  NULL is allowed. */
void mcp_stream_close(mcp_stream *stream);

/** Drop a reference. This does not close the stream: it lasts until its reader disconnects. NULL is
 *  allowed. */
void mcp_stream_release(mcp_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
