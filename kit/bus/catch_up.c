/*
 * catch_up.c - the threads that read the owner's log for readers that are far behind.
 *
 * A subscriber is lent to such a thread for one read of the log and returns to the pump as an
 * event. The events go straight into the subscriber's stream, so none is stored: where the stream
 * is full the read ends, and the next one begins after the last id with all events sent. Of an id
 * with only some events sent their number is kept, so none is sent twice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bus/bus_int.h"

struct bus_sink {
    struct bus_subscriber *one;
    int64_t id;        /* of the last event; INT64_MIN: none yet */
    unsigned count;    /* events of that id so far */
    mcp_status status; /* not MCP_OK: no further event is taken */
};

static mcp_status send_event(struct bus_subscriber *one, const bus_event *event)
{
    mcp_event *made = NULL;

    if (!bus_wants(one, event->kind))
        return MCP_OK;
    mcp_status st = bus_encode(&made, event, true, NULL);
    if (st != MCP_OK)
        return st;
    st = one->output->send(one->stream, made);
    mcp_event_release(made);
    if (st == MCP_OK)
        atomic_fetch_add_explicit(&one->bus->delivered, 1, memory_order_relaxed);
    return st;
}

/* All events of the last id were sent. */
static void complete(bus_sink *sink)
{
    if (sink->id > sink->one->seen)
        sink->one->seen = sink->id;
}

static void begin_id(bus_sink *sink, int64_t id)
{
    complete(sink);
    sink->id = id;
    sink->count = 0;
    if (sink->one->partial == id)
        return;
    sink->one->partial = id;
    sink->one->sent = 0;
}

mcp_status bus_sink_add(bus_sink *sink, const bus_event *event)
{
    struct bus_subscriber *one = sink->one;

    if (sink->status != MCP_OK)
        return sink->status;
    if (event->id < sink->id)
        sink->status = MCP_E_PARAMS; /* ids must not fall */
    if (sink->status != MCP_OK || event->id <= one->seen)
        return sink->status;
    if (event->id != sink->id)
        begin_id(sink, event->id);
    if (++sink->count <= one->sent)
        return MCP_OK;
    sink->status = send_event(one, event);
    if (sink->status == MCP_OK)
        one->sent = sink->count;
    return sink->status;
}

/* One read of the log; its status stays in the subscriber. */
static void read_log(struct bus_subscriber *one)
{
    const bus_options *options = &one->bus->options;
    bus_sink sink = { .one = one, .id = INT64_MIN };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = options->catch_up(one->topic->name, one->seen, &sink, options->data, &err);

    if (sink.status != MCP_OK)
        st = sink.status;
    if (st == MCP_OK)
        complete(&sink);
    if (st != MCP_OK && st != MCP_E_LIMIT && st != MCP_E_NOT_FOUND && st != MCP_E_STOPPED)
        mcp_log_write(&options->log, MCP_LOG_WARNING,
                      "the events after %" PRId64 " could not be read: %s", one->seen,
                      err.message[0] ? err.message : mcp_status_words(st));
    one->log_status = st;
}

/* The first subscriber in the queue; NULL: there is none. */
static struct bus_subscriber *take_first(struct bus *self)
{
    struct bus_subscriber *one = self->catching_up;

    if (!one)
        return NULL;
    self->catching_up = one->next_catching_up;
    if (!self->catching_up)
        self->last_catching_up = &self->catching_up;
    return one;
}

void bus_catch_up_run(void *data)
{
    struct bus_catch_up_worker *self = data;
    struct bus *owner = self->bus;

    pthread_mutex_lock(&owner->lock);
    while (!self->worker.is_stopping) {
        struct bus_subscriber *one = take_first(owner);
        if (!one) {
            thread_worker_wait(&self->worker, THREAD_FOREVER);
            continue;
        }
        pthread_mutex_unlock(&owner->lock);
        read_log(one);
        bus_post_event(one, BUS_READER_CAUGHT_UP);
        pthread_mutex_lock(&owner->lock);
    }
    pthread_mutex_unlock(&owner->lock);
}
