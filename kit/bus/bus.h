/**
 * bus.h - topics, and the readers of server-sent events that follow them.
 *
 * A topic keeps its last events in a ring. A reader is a cursor in that ring, with only a few
 * events queued in its own stream. The cost of publishing does not depend on the number of readers
 * or on their speed: it appends an event and wakes one thread, the pump, which serves the readers.
 * A topic of more than 1,000 readers is served in rounds, at most 225 ms apart, so that several
 * events leave together.
 *
 * Events have rising numbers, which readers receive as `id:`. A reader that reconnects sends the
 * last id it has seen and continues there: from the ring or, where the ring begins later, from the
 * owner's log through `catch_up`, with no event missing and none repeated. A reader that falls
 * behind the ring receives the event of `resync` ("fetch the state again") and continues with the
 * newest event.
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
 * Order: make an event durable first, then publish it. Events of one topic are published by rising
 * id, so from one thread at a time; topics are independent of each other.
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

/** Receives the events of a log, see bus_catch_up. */
typedef struct bus_sink bus_sink;

/** An event to publish. Everything is borrowed for the call. */
typedef struct bus_event {
    int64_t id;       /* rising within a topic; several of one call may share one */
    uint32_t kind;    /* a bit by which readers select; 0: for every reader */
    const char *name; /* as for mcp_event_new; NULL: "message" */
    const char *data; /* UTF-8; NULL: empty */
    size_t length;
} bus_event;

/**
 * Read older events from the owner's log, in order, and pass each to bus_sink_add, until that
 * returns anything but MCP_OK or the log ends. Events with one id follow each other. Called again,
 * from the last event taken, whenever the reader has room.
 *
 * Runs on a thread of the bus; may block; one call a reader at a time, several readers at once.
 *
 * @param after events up to this id are skipped
 * @return MCP_OK; MCP_E_NOT_FOUND: the log begins later (the reader receives `resync`); any other
 *         status closes the reader's stream, and the reader reconnects
 */
typedef mcp_status bus_catch_up(const char *topic, int64_t after, bus_sink *sink, void *data,
                                mcp_error *err);

/**
 * Make the event after which a reader fetches the state again.
 *
 * Runs on a thread of the bus; must not block. Events with ids above `newest` follow it.
 *
 * @param newest id of the last event published; INT64_MIN: none since the topic was made
 * @return one reference, which the bus takes; NULL: the reader's stream is closed instead
 */
typedef mcp_event *bus_resync(const char *topic, int64_t newest, void *data);

/** Zero is the default of every field but `resync`. */
typedef struct bus_options {
    size_t topics;          /* at most: 10,000 */
    size_t subscribers;     /* at most, of all topics: 10,000 */
    size_t ring_events;     /* of a topic: 1,000 */
    size_t ring_bytes;      /* of a topic: 8 MiB; one event always fits */
    size_t total_bytes;     /* of all rings together: 256 MiB */
    unsigned window_events; /* queued in one reader's stream: 256 */
    size_t window_bytes;    /* 256 KiB */
    int idle_ms;            /* a topic without readers is dropped after: 60,000 */
    int catch_up_threads;   /* 2 */
    bus_catch_up *catch_up; /* NULL: readers behind the ring receive `resync` */
    bus_resync *resync;     /* required */
    void *data;             /* given to both */
    mcp_log log;            /* of failures to read the owner's log */
} bus_options;

/**
 * @param out     yours, end it with bus_free
 * @param options copied
 * @return MCP_OK; MCP_E_PARAMS (no `resync`); MCP_E_NOMEM; MCP_E_IO (no thread)
 */
mcp_status bus_new(bus **out, const bus_options *options, mcp_error *err);

/**
 * Close all streams, wait until the server has released them (at most ten seconds), and stop the
 * threads. The server may still run or have ended; no other thread may use the bus. NULL is fine.
 */
void bus_free(bus *self);

/**
 * Publish events: they are in the ring when this returns, and the pump sends them to the readers.
 * Never waits for a reader. Events with an id that is not above the newest one are skipped, so an
 * event may be published twice.
 *
 * @param events by rising id
 * @return MCP_OK; MCP_E_PARAMS (a name that mcp_event_new refuses); MCP_E_LIMIT (one event is too
 *         long); MCP_E_NOMEM: readers receive `resync` instead
 */
mcp_status bus_publish(bus *self, const char *topic, const bus_event *events, size_t count,
                       mcp_error *err);

/**
 * The id of the last event of a topic, or that of bus_begin_at. An owner that skips ids sees by it
 * which events readers have missed.
 *
 * @return false: there is no such topic, so no readers, or nothing was published to it yet
 */
bool bus_newest(int64_t *id, bus *self, const char *topic);

/**
 * Set the newest id of a topic without events: events up to `id` precede it. Any other topic stays
 * as it is.
 */
void bus_begin_at(bus *self, const char *topic, int64_t id);

/** How a reader is served. Zero is the default. */
typedef struct bus_subscription {
    bool has_after; /* continue after the id `after`; false: with the next event */
    int64_t after;
    uint32_t kinds;    /* besides kind 0; 0: all */
    const char *first; /* this and the next two as in mcp_stream_options */
    int retry_ms;
    int keepalive_ms;
    const char *owner;  /* who reads, for bus_end_owner; copied. NULL: nobody that can be named */
    const char *group;  /* the owner is one of these, for bus_end_owner; copied. NULL: of none */
    int64_t expires_ms; /* after so long the stream is closed, and nothing more is sent. 0: never */
    int lifetime_ms; /* after so long the stream is closed behind the events that are sent next: the
                      * reader reconnects behind them, and has to show its token again. 0: never */
} bus_subscription;

/**
 * For a route's handler: answer with a stream that follows a topic until the reader disconnects.
 * With `has_after` false it carries every event whose publication begins after this has returned.
 *
 * @param how copied; may be NULL
 * @return MCP_OK; MCP_E_LIMIT (too many readers or topics); MCP_E_STOPPED (bus_free was called); or
 *         as mcp_call_stream
 */
mcp_status bus_subscribe(bus *self, mcp_call *call, const char *topic, const bus_subscription *how,
                         mcp_error *err);

/**
 * End a topic: its readers receive the ring, then this event, then the end of their streams. The
 * name is then free for a new topic. Without a topic of that name nothing happens.
 *
 * @param last its id is ignored; NULL: none
 */
mcp_status bus_end_topic(bus *self, const char *topic, const bus_event *last, mcp_error *err);

/**
 * End the streams of a topic's readers that an owner has, or a group of owners: because they may
 * not read any more. Nothing is sent to them that is published after this has returned; a read of
 * the log that is under way ends first. A bus_subscribe that has not returned is not affected.
 */
void bus_end_owner(bus *self, const char *topic, const char *name);

/**
 * Send an event of the log to the reader.
 *
 * @return MCP_OK: continue; MCP_E_LIMIT: the reader has no room now, so stop and return MCP_OK;
 *         MCP_E_STOPPED: the reader is gone; MCP_E_PARAMS, MCP_E_NOMEM: return it
 */
mcp_status bus_sink_add(bus_sink *sink, const bus_event *event);

/** Read an id as readers send it: decimal digits only. @return false: NULL, or no such number */
bool bus_read_id(int64_t *out, const char *text);

/** The figures of a bus, for metrics. */
typedef struct bus_counts {
    size_t topics;
    size_t subscribers;
    size_t ring_bytes;
    uint64_t published; /* events */
    uint64_t delivered; /* events handed to streams */
    uint64_t caught_up; /* reads of logs */
    uint64_t resynced;  /* readers that fell behind */
} bus_counts;

void bus_count(bus *self, bus_counts *out);

#endif
