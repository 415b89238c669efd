/*
 * bus_int.h - the bodies of a bus and a subscriber, for its three kinds of thread.
 *
 * Who may touch what: one lock guards the topics, their rings, the queues and the counts; nothing
 * is called while it is held. A subscriber is the pump's, but for its mail and what a catch-up needs
 * while `is_away`. The server's thread only drops mail.
 */
#ifndef BUS_BUS_INT_H
#define BUS_BUS_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "bus/topic.h"

/* Where a subscriber's events go: the server's streams, or a test's. */
struct bus_sink {
    mcp_status (*send)(void *stream, mcp_event *event); /* as mcp_stream_send */
    void (*close)(void *stream);
    void (*free)(void *stream);
};

/* What the pump is told about a subscriber. */
enum bus_mail {
    BUS_MAIL_NEW = 1,     /* begin */
    BUS_MAIL_DRAINED = 2, /* the stream takes events again */
    BUS_MAIL_CLOSED = 4,  /* the stream is over: the last that is heard of it */
    BUS_MAIL_BACK = 8,    /* a page of the log was read */
    BUS_MAIL_STOP = 16    /* the bus ends */
};

struct bus_subscriber {
    struct bus *bus;
    struct bus_topic *topic;
    const struct bus_sink *sink;
    void *stream;
    uint32_t kinds;

    /* under the lock */
    unsigned mail;
    struct bus_subscriber *next_mail;
    struct bus_subscriber *next_away; /* in the catch-ups' queue */

    /* the pump's; while `is_away` those of the catch-up belong to its thread */
    struct bus_subscriber *next, *previous; /* of the topic */
    uint64_t place;                         /* of the next event to send, once it is live */
    int64_t seen;                           /* events up to this id are not for it */
    bool is_begun;
    bool is_catching_up;
    bool is_away;     /* with a catch-up thread, or in its queue */
    bool is_full;     /* the stream takes nothing until it has drained */
    bool has_drained; /* it did, while the subscriber was away */
    bool needs_resync;
    bool is_ending; /* we closed it, or its reader has gone: nothing more is sent */
    bool is_over;   /* the stream has said that it is closed */

    /* the catch-up's: `seen` is the last id of which all is sent */
    int64_t partial; /* the id of which some may be sent */
    unsigned sent;   /* so many events of it */
    mcp_status page; /* how the page ended; MCP_E_LIMIT: the stream was full */
};

struct bus {
    bus_options options; /* without zeros */
    pthread_mutex_t lock;
    pthread_cond_t pump_woken;
    pthread_cond_t catch_up_woken;
    pthread_cond_t emptied; /* the last subscriber has gone */

    struct bus_topic **topics; /* by name; counts.topics of them */
    size_t topic_room;
    size_t unread;           /* topics without subscribers */
    struct bus_topic *ended; /* whose readers have not all gone */
    struct bus_topic *dirty;
    struct bus_topic **last_dirty;
    struct bus_subscriber *mail;
    struct bus_subscriber **last_mail;
    struct bus_subscriber *away;
    struct bus_subscriber **last_away;
    bus_counts counts; /* but for the two that follow, which need no lock */
    _Atomic uint64_t delivered;
    _Atomic uint64_t resynced;
    bool is_stopping; /* nothing new; all streams are closed */
    bool is_ending;   /* the threads end */

    pthread_t pump;
    pthread_t *catch_ups;
    int catch_up_count; /* that run */
};

/* pump.c */
void *bus_pump(void *data);
void bus_drop_mail(struct bus_subscriber *subscriber, unsigned mail);
void bus_mark_dirty(struct bus *self, struct bus_topic *topic); /* under the lock */

/* Whether events of a kind are for it. */
static inline bool bus_wants(const struct bus_subscriber *subscriber, uint32_t kind)
{
    return kind == 0 || subscriber->kinds == 0 || (kind & subscriber->kinds);
}

/* catch_up.c */
void *bus_catch_up_thread(void *data);

/* bus.c */

/*
 * A subscriber of a topic that nobody serves yet: follow it by bus_begin or bus_detach.
 *
 * @return MCP_OK; MCP_E_LIMIT; MCP_E_STOPPED; MCP_E_NOMEM
 */
mcp_status bus_attach(struct bus_subscriber **out, struct bus *self, const char *topic,
                      const bus_subscription *how, mcp_error *err);

/* Serve it. From now on it is the pump's, until the stream was closed. */
void bus_begin(struct bus_subscriber *subscriber, const struct bus_sink *sink, void *stream);

/* Forget it, and its topic where that has ended and nobody is left. */
void bus_detach(struct bus_subscriber *subscriber);

/* Free a topic that has ended and that nobody follows or handles any more. Under the lock. */
void bus_forget_ended(struct bus *self, struct bus_topic *topic);

/* Put an event together. */
mcp_status bus_encode(mcp_event **out, const bus_event *event, bool has_id, mcp_error *err);

/* Drop topics that nobody has used for long. Under the lock. */
void bus_sweep(struct bus *self);

#endif
