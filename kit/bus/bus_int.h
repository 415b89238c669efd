/*
 * bus_int.h - the bodies of a bus and a subscriber, for its three kinds of thread.
 *
 * Access: one lock guards the topics, their rings, the queues and the counts; no callback runs
 * while it is held. A subscriber belongs to the pump, except its pending events, and the fields of
 * a catch-up while `is_reading_log`. The server's thread only posts events.
 */
#ifndef BUS_BUS_INT_H
#define BUS_BUS_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "bus/bus.h"
#include "bus/topic.h"
#include "thread/thread.h"

/* Receives a subscriber's events: the server's streams, or a test's. */
struct bus_output {
    mcp_status (*send)(void *stream, mcp_event *event); /* as mcp_stream_send */
    void (*close)(void *stream);
    void (*free)(void *stream);
};

/* Events about a subscriber for the pump; flags. */
enum bus_reader_event {
    BUS_READER_NEW = 1,       /* begin */
    BUS_READER_DRAINED = 2,   /* the stream takes events again */
    BUS_READER_CLOSED = 4,    /* the stream is closed: its last event */
    BUS_READER_CAUGHT_UP = 8, /* a catch-up thread has read the log for it */
    BUS_READER_STOP = 16,     /* the bus ends */
    BUS_READER_BARRED = 32    /* nothing more may be sent to it */
};

struct bus_subscriber {
    struct bus *bus;
    struct bus_topic *topic;
    const struct bus_output *output;
    void *stream;
    uint32_t kinds;
    char *owner, *group; /* NULL: none */
    int64_t expires_ms;  /* monotonic; 0: never */

    /* under the lock */
    unsigned events;                                    /* pending for the pump */
    bool is_barred;                                     /* nothing more may be sent */
    struct bus_subscriber *next_begun, *previous_begun; /* of the topic, once it has begun */
    struct bus_subscriber *next_pending;
    struct bus_subscriber *next_catching_up; /* in the catch-ups' queue */

    /* the pump's; while `is_reading_log` the fields of the catch-up belong to its thread */
    struct bus_subscriber *next, *previous; /* of the topic */
    uint64_t cursor;                        /* position in the ring of the next event to send */
    int64_t seen;                           /* events up to this id are skipped */
    int64_t until_ms;                       /* monotonic; 0: for ever */
    bool is_begun;
    bool is_catching_up; /* the next events come from the log */
    bool is_reading_log; /* with a catch-up thread, or in its queue */
    bool is_full;        /* the stream takes nothing until it has drained */
    bool has_drained;    /* it has, while the log was being read */
    bool needs_resync;
    bool is_ending; /* the bus closed it, or its reader is gone: nothing more is sent */
    bool is_over;   /* the stream has reported that it is closed */

    /* the catch-up's: `seen` is the last id with all events sent */
    int64_t partial;       /* the id with only some events sent */
    unsigned sent;         /* how many of them */
    mcp_status log_status; /* the result of reading the log; MCP_E_LIMIT: the stream was full */
};

/* A thread that reads logs. */
struct bus_catch_up_worker {
    thread_worker worker;
    struct bus *bus;
};

struct bus {
    bus_options options; /* without zeros */
    pthread_mutex_t lock;
    pthread_cond_t emptied; /* the last subscriber is gone */

    struct bus_topic **topics; /* by name; counts.topics of them */
    size_t topic_room;
    size_t unread;           /* topics without subscribers */
    struct bus_topic *ended; /* ended, with readers left */
    struct bus_topic *dirty;
    struct bus_topic **last_dirty;
    struct bus_subscriber *pending; /* with events for the pump */
    struct bus_subscriber **last_pending;
    struct bus_subscriber *catching_up; /* the catch-ups' queue */
    struct bus_subscriber **last_catching_up;
    bus_counts counts; /* without the next two, which need no lock */
    _Atomic uint64_t delivered;
    _Atomic uint64_t resynced;
    bool is_stopping;  /* no new subscribers; all streams are being closed */
    int64_t expiry_ms; /* monotonic: when the next stream expires; INT64_MAX: none does */

    thread_worker pump;
    struct bus_catch_up_worker *catch_ups;
    int catch_up_count;
};

/* pump.c */
void bus_pump_run(void *data);
void bus_post_event(struct bus_subscriber *subscriber, unsigned events);
void bus_mark_dirty(struct bus *self, struct bus_topic *topic); /* under the lock, as the next */
void bus_bar(struct bus_subscriber *subscriber);

/* Whether a subscriber receives events of a kind. */
static inline bool bus_wants(const struct bus_subscriber *subscriber, uint32_t kind)
{
    return kind == 0 || subscriber->kinds == 0 || (kind & subscriber->kinds);
}

/* catch_up.c */
void bus_catch_up_run(void *data);

/* bus.c */

/*
 * A subscriber that is not served yet; bus_begin or bus_detach must follow.
 *
 * @return MCP_OK; MCP_E_LIMIT; MCP_E_STOPPED; MCP_E_NOMEM
 */
mcp_status bus_attach(struct bus_subscriber **out, struct bus *self, const char *topic,
                      const bus_subscription *how, mcp_error *err);

/* Serve it. It belongs to the pump until its stream is closed. */
void bus_begin(struct bus_subscriber *subscriber, const struct bus_output *sink, void *stream);

/* Free it, and its topic where the topic has ended and has no other reader. */
void bus_detach(struct bus_subscriber *subscriber);

/* Free a topic that has ended and is unused. Under the lock. */
void bus_free_ended(struct bus *self, struct bus_topic *topic);

/* Make the event of a stream. */
mcp_status bus_encode(mcp_event **out, const bus_event *event, bool has_id, mcp_error *err);

/* Free topics that were not used for long. Under the lock. */
void bus_sweep(struct bus *self);

#endif
