/**
 * bus.h - topics, and the readers of server-sent events that follow them.
 *
 * A topic keeps its last events in a ring; a reader is a place in that ring and has only a few
 * events waiting in its own stream. So publishing costs the same however many readers there are and
 * however slow they are: it appends and wakes one thread, the pump, which serves the readers.
 *
 * Events have rising numbers, which go to readers as `id:`. A reader that comes back says the last
 * it has seen, and goes on from there: from the ring, or, where that begins later, from the owner's
 * log by way of `catch_up`, without a gap and without a double. A reader that falls behind the ring
 * gets what `resync` makes ("fetch the state again") and goes on from the newest event.
 *
 *     bus_publish(app->bus, universe_id, &(bus_event){ .id = version, .name = "command",
 *                                                      .data = json, .length = length }, 1, err);
 *
 *     static mcp_status events(mcp_call *call, void *data)      a route's handler
 *     {
 *         bus_subscription how = { .first = ":connected\n\n", .retry_ms = 2000 };
 *         how.has_after = bus_read_id(&how.after, mcp_call_last_event_id(call));
 *         return bus_subscribe(app->bus, call, mcp_arg_string(call, "id"), &how,
 *                              mcp_call_error(call));
 *     }
 *
 * Order: make an event durable first, then publish it. What is published about one topic comes by
 * rising id, so from one thread at a time; different topics do not mind each other.
 */
#ifndef BUS_BUS_H
#define BUS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/log.h"

/** The topics of a program and their readers. Any thread. */
typedef struct bus bus;

/** What a log's events are given to, see bus_catch_up. */
typedef struct bus_page bus_page;

/** An event to publish. Everything is borrowed for the call. */
typedef struct bus_event {
    int64_t id;       /* rising within a topic; several of one call may share one */
    uint32_t kind;    /* a bit that readers may choose by; 0: for every reader */
    const char *name; /* as mcp_event_new takes it; NULL: "message" */
    const char *data; /* UTF-8; NULL: empty */
    size_t length;
} bus_event;

/**
 * Read older events from the owner's log, in order, and give each to bus_page_add, until that
 * returns anything but MCP_OK or there are no more. Events of one id come together. Called again,
 * from where the page ended, whenever the reader can take more.
 *
 * Runs on a thread of the bus; may block; one call a reader at a time, several readers at once.
 *
 * @param after events up to this id are not wanted
 * @return MCP_OK; MCP_E_NOT_FOUND: the log does not reach back so far (the reader gets `resync`);
 *         anything else closes the reader's stream, and it will come back by itself
 */
typedef mcp_status bus_catch_up(const char *topic, int64_t after, bus_page *page, void *data,
                                mcp_error *err);

/**
 * Make the event that tells a reader to fetch the state again.
 *
 * Runs on a thread of the bus; must not block. What has an id above `newest` will follow.
 *
 * @param newest id of the last event published; INT64_MIN: none was since the topic was made
 * @return one count, which the bus takes; NULL: the reader's stream is closed instead
 */
typedef mcp_event *bus_resync(const char *topic, int64_t newest, void *data);

/** Zero is the default of every field but `resync`. */
typedef struct bus_options {
    size_t topics;          /* at most: 10,000 */
    size_t subscribers;     /* at most, of all topics: 10,000 */
    size_t ring_events;     /* that a topic keeps: 1,000 */
    size_t ring_bytes;      /* that a topic keeps: 8 MiB; one event always fits */
    size_t total_bytes;     /* that all topics keep together: 256 MiB */
    unsigned window_events; /* that may wait in one reader's stream: 256 */
    size_t window_bytes;    /* 256 KiB */
    int idle_ms;            /* a topic without readers is dropped after: 60,000 */
    int catch_up_threads;   /* 2 */
    bus_catch_up *catch_up; /* NULL: who is behind the ring gets `resync` */
    bus_resync *resync;     /* must be given */
    void *data;             /* given to both */
    mcp_log log;            /* logs that could not be read */
} bus_options;

/**
 * @param out     yours, end it with bus_free
 * @param options copied
 * @return MCP_OK; MCP_E_PARAMS (no `resync`); MCP_E_NOMEM; MCP_E_IO (no thread)
 */
mcp_status bus_new(bus **out, const bus_options *options, mcp_error *err);

/**
 * Close all streams, wait until the server has let go of them (at most ten seconds), end the
 * threads. Call it when the server has ended, or while it still runs; nobody may use the bus any
 * more. NULL is fine.
 */
void bus_free(bus *self);

/**
 * Publish events: they are in the ring when this returns, and on their way to the readers. Never
 * waits for a reader. Events whose id is not above what was published before are left out, so to
 * publish twice what may have been published does no harm.
 *
 * @param events by rising id
 * @return MCP_OK; MCP_E_PARAMS (a name that mcp_event_new refuses); MCP_E_LIMIT (one event is too
 *         long); MCP_E_NOMEM: then readers get `resync` instead
 */
mcp_status bus_publish(bus *self, const char *topic, const bus_event *events, size_t count,
                       mcp_error *err);

/**
 * The id of the last event of a topic, or what bus_begin_at said. An owner that skips ids sees by it that
 * readers have missed some.
 *
 * @return false: there is no such topic, so no readers, or nothing was published to it yet
 */
bool bus_newest(int64_t *id, bus *self, const char *topic);

/**
 * Say where a topic begins to which nothing was published yet: events up to `id` were before its time.
 * With another topic nothing happens.
 */
void bus_begin_at(bus *self, const char *topic, int64_t id);

/** How a reader is served. Zero is the default. */
typedef struct bus_subscription {
    bool has_after; /* go on behind `after`; false: from now on */
    int64_t after;
    uint32_t kinds;    /* those it wants, beside kind 0; 0: all */
    const char *first; /* these three as in mcp_stream_options */
    int retry_ms;
    int keepalive_ms;
} bus_subscription;

/**
 * For a route's handler: answer with a stream that follows a topic until the reader goes. With
 * `has_after` false it gets every event whose publication begins after this has returned.
 *
 * @param how copied; may be NULL
 * @return MCP_OK; MCP_E_LIMIT (too many readers or topics); MCP_E_STOPPED (bus_free was called); and
 *         what mcp_call_stream returns
 */
mcp_status bus_subscribe(bus *self, mcp_call *call, const char *topic, const bus_subscription *how,
                         mcp_error *err);

/**
 * End a topic: its readers get what is in the ring, then this event, then the end of their streams.
 * A topic of that name begins anew afterwards. Without one of that name nothing happens.
 *
 * @param last its id is not looked at; NULL: none
 */
mcp_status bus_end_topic(bus *self, const char *topic, const bus_event *last, mcp_error *err);

/**
 * Give an event of the log to the reader.
 *
 * @return MCP_OK: go on; MCP_E_LIMIT: it can take no more now, so end the page and return MCP_OK;
 *         MCP_E_STOPPED: it has gone; MCP_E_PARAMS, MCP_E_NOMEM: return it
 */
mcp_status bus_page_add(bus_page *page, const bus_event *event);

/** Read an id as readers send it: decimal digits, nothing else. NULL and all that is none: false. */
bool bus_read_id(int64_t *out, const char *text);

/** What a bus has done and holds, for metrics. */
typedef struct bus_counts {
    size_t topics;
    size_t subscribers;
    size_t ring_bytes;
    uint64_t published; /* events */
    uint64_t delivered; /* events handed to streams */
    uint64_t caught_up; /* pages read from logs */
    uint64_t resynced;  /* readers that fell behind */
} bus_counts;

void bus_count(bus *self, bus_counts *out);

#endif
