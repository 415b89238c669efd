/*
 * pump.c - the thread that hands events to streams.
 *
 * It sleeps until a subscriber has an event or a topic has changed. Subscribers belong to it: it
 * alone begins, serves and ends them, so they need no lock. It takes the bus's lock to read a ring
 * and the queues, and never holds it while it sends.
 *
 * A live subscriber has a cursor in the ring. It receives the following events until its stream is
 * full, and costs nothing until the stream reports that it has drained. Where the ring has moved
 * past the cursor, the subscriber receives a resync and its cursor moves to the newest event.
 */
#include <stdlib.h>

#include "bus/bus_int.h"
#include "mcp/clock.h"

enum { BATCH = 64, SWEEP_MIN_MS = 50 };
enum { UNPACED = 1000, PACED_PER_MS = 40 }; /* readers of a topic */

/* A few entries of a ring, with a reference to each event. */
struct batch {
    struct bus_entry entries[BATCH];
    uint64_t positions[BATCH];
    size_t count;
    uint64_t end;   /* the position after the last entry read */
    bool is_last;   /* the topic has ended, and `end` is its end */
    bool is_barred; /* the reader may have nothing more */
};

static void queue_events(struct bus_subscriber *subscriber, unsigned events)
{
    struct bus *self = subscriber->bus;

    if (subscriber->events == 0) {
        subscriber->next_pending = NULL;
        *self->last_pending = subscriber;
        self->last_pending = &subscriber->next_pending;
    }
    subscriber->events |= events;
    thread_worker_wake(&self->pump);
}

void bus_post_event(struct bus_subscriber *subscriber, unsigned events)
{
    struct bus *self = subscriber->bus;

    pthread_mutex_lock(&self->lock);
    queue_events(subscriber, events);
    pthread_mutex_unlock(&self->lock);
}

void bus_bar(struct bus_subscriber *subscriber)
{
    subscriber->is_barred = true;
    queue_events(subscriber, BUS_READER_BARRED);
}

void bus_mark_dirty(struct bus *self, struct bus_topic *topic)
{
    if (topic->is_dirty)
        return;
    topic->is_dirty = true;
    topic->next_dirty = NULL;
    *self->last_dirty = topic;
    self->last_dirty = &topic->next_dirty;
    thread_worker_wake(&self->pump);
}

/* ---- sending ------------------------------------------------------------------------------- */

static void end_stream(struct bus_subscriber *one)
{
    one->is_ending = true;
    one->output->close(one->stream);
}

/* @return whether the stream took it */
static bool send(struct bus_subscriber *one, mcp_event *event)
{
    mcp_status st = one->output->send(one->stream, event);

    if (st == MCP_OK)
        atomic_fetch_add_explicit(&one->bus->delivered, 1, memory_order_relaxed);
    else if (st == MCP_E_LIMIT)
        one->is_full = true;
    else if (st == MCP_E_STOPPED)
        one->is_ending = true;
    else
        end_stream(one); /* no memory: the reader reconnects with the last id it has seen */
    return st == MCP_OK;
}

/* Continue with the newest event; in a topic that has ended, with the last entry. */
static void move_to_newest(struct bus_subscriber *one)
{
    struct bus *self = one->bus;
    const struct bus_topic *topic = one->topic;

    pthread_mutex_lock(&self->lock);
    one->cursor = topic->next;
    one->seen = topic->newest;
    if (topic->is_ended && topic->first < topic->next) {
        one->cursor = topic->next - 1;
        one->seen = bus_topic_entry(topic, one->cursor)->id - 1;
    }
    pthread_mutex_unlock(&self->lock);
}

static void resync(struct bus_subscriber *one)
{
    struct bus *self = one->bus;

    move_to_newest(one);
    mcp_event *event = self->options.resync(one->topic->name, one->seen, self->options.data);
    if (!event)
        end_stream(one);
    else if (send(one, event))
        one->needs_resync = false;
    mcp_event_release(event);
    if (!one->needs_resync)
        atomic_fetch_add_explicit(&self->resynced, 1, memory_order_relaxed);
}

/* ---- serving one --------------------------------------------------------------------------- */

static bool has_expired(const struct bus_subscriber *one)
{
    return one->expires_ms > 0 && mcp_clock_mono_ms() >= one->expires_ms;
}

/* Copy the next entries of the ring; false: the ring has moved past the cursor. */
static bool fetch(const struct bus_subscriber *one, struct batch *batch)
{
    const struct bus_topic *topic = one->topic;

    batch->count = 0;
    pthread_mutex_lock(&one->bus->lock);
    batch->is_barred = one->is_barred || has_expired(one);
    bool is_there = batch->is_barred || one->cursor >= topic->first;
    uint64_t at = one->cursor;
    for (; is_there && !batch->is_barred && at < topic->next && batch->count < BATCH; at++) {
        const struct bus_entry *entry = bus_topic_entry(topic, at);
        if (entry->id <= one->seen || !bus_wants(one, entry->kind))
            continue;
        batch->entries[batch->count] = *entry;
        batch->positions[batch->count++] = at;
        (void)mcp_event_retain(entry->event);
    }
    batch->end = at;
    batch->is_last = topic->is_ended && at >= topic->next;
    pthread_mutex_unlock(&one->bus->lock);
    return is_there;
}

static void send_batch(struct bus_subscriber *one, const struct batch *batch)
{
    size_t sent = 0;

    while (sent < batch->count && send(one, batch->entries[sent].event))
        sent++;
    one->cursor = sent < batch->count ? batch->positions[sent] : batch->end;
    for (size_t i = 0; i < batch->count; i++)
        mcp_event_release(batch->entries[i].event);
}

static bool takes_events(const struct bus_subscriber *one)
{
    return one->is_begun && !one->is_catching_up && !one->is_full && !one->is_ending;
}

static bool has_lived(const struct bus_subscriber *one)
{
    return one->until_ms > 0 && mcp_clock_mono_ms() >= one->until_ms;
}

static void deliver(struct bus_subscriber *one)
{
    struct batch batch;

    while (takes_events(one)) {
        if (one->needs_resync) {
            resync(one);
            continue;
        }
        if (!fetch(one, &batch)) {
            one->needs_resync = true;
            continue;
        }
        if (batch.is_barred) {
            end_stream(one);
            return;
        }
        uint64_t before = one->cursor;
        send_batch(one, &batch);
        if ((batch.is_last || (batch.count > 0 && has_lived(one))) && takes_events(one))
            end_stream(one);
        else if (one->cursor == before)
            return;
    }
}

/* ---- events of subscribers ----------------------------------------------------------------- */

static void link_reader(struct bus_subscriber *one)
{
    struct bus_topic *topic = one->topic;

    one->is_begun = true;
    one->next = topic->readers;
    if (topic->readers)
        topic->readers->previous = one;
    topic->readers = one;
}

static void unlink_reader(struct bus_subscriber *one)
{
    if (one->previous)
        one->previous->next = one->next;
    else
        one->topic->readers = one->next;
    if (one->next)
        one->next->previous = one->previous;
}

static void queue_catch_up(struct bus_subscriber *one)
{
    struct bus *self = one->bus;

    one->is_reading_log = true;
    one->has_drained = false;
    pthread_mutex_lock(&self->lock);
    one->next_catching_up = NULL;
    *self->last_catching_up = one;
    self->last_catching_up = &one->next_catching_up;
    self->counts.caught_up++;
    for (int i = 0; i < self->catch_up_count; i++)
        thread_worker_wake(&self->catch_ups[i].worker);
    pthread_mutex_unlock(&self->lock);
}

/*
 * The log is sent to its end. Events that were published meanwhile are in the ring or, where they
 * have left the ring again, in the log.
 */
static void join_ring(struct bus_subscriber *one)
{
    pthread_mutex_lock(&one->bus->lock);
    one->is_catching_up = one->topic->dropped > one->seen;
    one->cursor = one->topic->first;
    pthread_mutex_unlock(&one->bus->lock);
}

static void end_catch_up(struct bus_subscriber *one)
{
    one->is_reading_log = false;
    switch (one->log_status) {
    case MCP_OK:
        join_ring(one);
        break;
    case MCP_E_LIMIT:
        one->is_full = !one->has_drained;
        break;
    case MCP_E_NOT_FOUND:
        one->is_catching_up = false;
        one->needs_resync = true;
        break;
    case MCP_E_STOPPED:
        one->is_ending = true;
        break;
    default:
        end_stream(one);
        break;
    }
}

static void note(struct bus_subscriber *one, unsigned events)
{
    if (events & BUS_READER_NEW)
        link_reader(one);
    if (events & BUS_READER_DRAINED) {
        one->has_drained = true;
        one->is_full = false;
    }
    if (events & BUS_READER_CAUGHT_UP)
        end_catch_up(one);
    if (events & BUS_READER_CLOSED)
        one->is_ending = one->is_over = true;
}

static void handle_events(struct bus_subscriber *one, unsigned events, bool must_end)
{
    note(one, events);
    if (!one->is_begun || one->is_reading_log)
        return;
    if (one->is_over) {
        unlink_reader(one);
        bus_detach(one);
        return;
    }
    if (must_end && !one->is_ending)
        end_stream(one);
    if (one->is_ending)
        return;
    if (one->is_catching_up && !one->is_full)
        queue_catch_up(one);
    else
        deliver(one);
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* Each of these is called with the lock held, and releases it while it serves. */

static bool serve_pending(struct bus *self)
{
    struct bus_subscriber *one = self->pending;

    if (!one)
        return false;
    unsigned events = one->events;
    bool must_end = self->is_stopping || one->is_barred;
    self->pending = one->next_pending;
    if (!self->pending)
        self->last_pending = &self->pending;
    one->events = 0;
    pthread_mutex_unlock(&self->lock);
    handle_events(one, events, must_end);
    pthread_mutex_lock(&self->lock);
    return true;
}

/* Take the first topic whose readers may be served now. *wait_ms shrinks to the time until another
 * one's may. */
static struct bus_topic *take_due(struct bus *self, int64_t *wait_ms)
{
    int64_t now = mcp_clock_mono_ms();
    struct bus_topic **at = &self->dirty;

    for (; *at; at = &(*at)->next_dirty) {
        struct bus_topic *topic = *at;
        int64_t left = topic->is_ended ? 0 : topic->not_before_ms - now;
        if (left <= 0) {
            *at = topic->next_dirty;
            if (!*at)
                self->last_dirty = at;
            topic->is_dirty = false;
            return topic;
        }
        *wait_ms = left < *wait_ms ? left : *wait_ms;
    }
    return NULL;
}

/*
 * Each round wakes the server's loop for each reader. Where there are very many, rounds are spaced,
 * so that events leave together and the loop has time for requests.
 */
static int64_t pause_after(const struct bus_topic *topic)
{
    return topic->subscribers > UNPACED ? (int64_t)(topic->subscribers - UNPACED) / PACED_PER_MS
                                        : 0;
}

static bool serve_topic(struct bus *self, int64_t *wait_ms)
{
    struct bus_topic *topic = take_due(self, wait_ms);

    if (!topic)
        return false;
    int64_t pause_ms = pause_after(topic);
    topic->is_served = true;
    pthread_mutex_unlock(&self->lock);
    for (struct bus_subscriber *one = topic->readers; one; one = one->next)
        deliver(one);
    pthread_mutex_lock(&self->lock);
    topic->not_before_ms = pause_ms > 0 ? mcp_clock_mono_ms() + pause_ms : 0;
    topic->is_served = false;
    bus_free_ended(self, topic);
    return true;
}

static void stop_readers(struct bus_topic *topic)
{
    for (struct bus_subscriber *one = topic->readers; one; one = one->next)
        queue_events(one, BUS_READER_STOP);
}

/* Subscribers that have not begun yet are stopped when they begin. */
static void stop_all(struct bus *self)
{
    for (size_t i = 0; i < self->counts.topics; i++)
        stop_readers(self->topics[i]);
    for (struct bus_topic *topic = self->ended; topic; topic = topic->next_ended)
        stop_readers(topic);
}

/* Bar the readers of a topic that have expired. @return when the next one does */
static int64_t bar_expired(const struct bus_topic *topic, int64_t now_ms, int64_t next_ms)
{
    for (struct bus_subscriber *one = topic->begun; one; one = one->next_begun) {
        if (one->expires_ms == 0 || one->is_barred)
            continue;
        if (one->expires_ms <= now_ms)
            bus_bar(one);
        else if (one->expires_ms < next_ms)
            next_ms = one->expires_ms;
    }
    return next_ms;
}

static void bar_all_expired(struct bus *self)
{
    int64_t now_ms = mcp_clock_mono_ms(), next_ms = INT64_MAX;

    if (now_ms < self->expiry_ms)
        return;
    for (size_t i = 0; i < self->counts.topics; i++)
        next_ms = bar_expired(self->topics[i], now_ms, next_ms);
    for (struct bus_topic *topic = self->ended; topic; topic = topic->next_ended)
        next_ms = bar_expired(topic, now_ms, next_ms);
    self->expiry_ms = next_ms;
}

/* The earlier of the two, as a wait. */
static int64_t wait_until(int64_t one_ms, int64_t other_ms)
{
    int64_t left_ms = (one_ms < other_ms ? one_ms : other_ms) - mcp_clock_mono_ms();
    return left_ms > 0 ? left_ms : 0;
}

void bus_pump_run(void *data)
{
    struct bus *self = data;
    int64_t sweep_every_ms = self->options.idle_ms / 4 + SWEEP_MIN_MS;
    int64_t sweep_at_ms = mcp_clock_mono_ms() + sweep_every_ms;
    bool has_stopped_all = false;

    pthread_mutex_lock(&self->lock);
    while (!self->pump.is_stopping) {
        if (self->is_stopping && !has_stopped_all) {
            stop_all(self);
            has_stopped_all = true;
        }
        if (mcp_clock_mono_ms() >= sweep_at_ms) {
            bus_sweep(self);
            sweep_at_ms = mcp_clock_mono_ms() + sweep_every_ms;
        }
        bar_all_expired(self);
        bool had_events = serve_pending(self);
        int64_t wait_ms = wait_until(sweep_at_ms, self->expiry_ms);
        bool had_topic = serve_topic(self, &wait_ms);
        if (!had_events && !had_topic)
            thread_worker_wait(&self->pump, wait_ms);
    }
    pthread_mutex_unlock(&self->lock);
}
