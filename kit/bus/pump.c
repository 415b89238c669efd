/*
 * pump.c - the thread that hands events to streams.
 *
 * It sleeps until there is mail about a subscriber or a topic with news. Subscribers are its own:
 * it alone begins, serves and ends them, so they need no lock. It takes the bus's lock to look into
 * a ring and to fetch mail, and never while it sends.
 *
 * A subscriber that is live is at a place in the ring. It is given what follows until its stream is
 * full; then it waits for the mail that the stream has drained, costing nothing. Where the ring has
 * moved on beyond its place it is told to fetch the state again and set to the newest.
 */
#include <stdlib.h>
#include <time.h>

#include "bus/bus_int.h"
#include "mcp/clock.h"

enum { BATCH = 64, SWEEP_MIN_MS = 50 };

/* A few entries of a ring, each with a count of our own. */
struct batch {
    struct bus_entry entries[BATCH];
    uint64_t places[BATCH];
    size_t count;
    uint64_t end; /* the place behind the last that was looked at */
    bool is_last; /* the topic has ended, and there it ends */
};

static void queue_mail(struct bus_subscriber *subscriber, unsigned mail)
{
    struct bus *self = subscriber->bus;

    if (subscriber->mail == 0) {
        subscriber->next_mail = NULL;
        *self->last_mail = subscriber;
        self->last_mail = &subscriber->next_mail;
    }
    subscriber->mail |= mail;
    pthread_cond_signal(&self->pump_woken);
}

void bus_drop_mail(struct bus_subscriber *subscriber, unsigned mail)
{
    struct bus *self = subscriber->bus;

    pthread_mutex_lock(&self->lock);
    queue_mail(subscriber, mail);
    pthread_mutex_unlock(&self->lock);
}

void bus_mark_dirty(struct bus *self, struct bus_topic *topic)
{
    if (topic->is_dirty)
        return;
    topic->is_dirty = true;
    topic->next_dirty = NULL;
    *self->last_dirty = topic;
    self->last_dirty = &topic->next_dirty;
    pthread_cond_signal(&self->pump_woken);
}

/* ---- sending ---------------------------------------------------------------------------------- */

static void end_stream(struct bus_subscriber *one)
{
    one->is_ending = true;
    one->sink->close(one->stream);
}

/* @return whether it was taken */
static bool send(struct bus_subscriber *one, mcp_event *event)
{
    mcp_status status = one->sink->send(one->stream, event);

    if (status == MCP_OK)
        atomic_fetch_add_explicit(&one->bus->delivered, 1, memory_order_relaxed);
    else if (status == MCP_E_LIMIT)
        one->is_full = true;
    else if (status == MCP_E_STOPPED)
        one->is_ending = true;
    else
        end_stream(one); /* no memory: it will come back with the last id it has seen */
    return status == MCP_OK;
}

/* The newest is where it goes on; in a topic that has ended, that is the last entry. */
static void move_to_newest(struct bus_subscriber *one)
{
    struct bus *self = one->bus;
    const struct bus_topic *topic = one->topic;

    pthread_mutex_lock(&self->lock);
    one->place = topic->next;
    one->seen = topic->newest;
    if (topic->is_ended && topic->first < topic->next) {
        one->place = topic->next - 1;
        one->seen = bus_topic_entry(topic, one->place)->id - 1;
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
    mcp_event_free(event);
    if (!one->needs_resync)
        atomic_fetch_add_explicit(&self->resynced, 1, memory_order_relaxed);
}

/* ---- serving one ------------------------------------------------------------------------------ */

/* Take what is next for it out of the ring; false: the ring has moved on without it. */
static bool fetch(const struct bus_subscriber *one, struct batch *batch)
{
    const struct bus_topic *topic = one->topic;

    batch->count = 0;
    pthread_mutex_lock(&one->bus->lock);
    bool is_there = one->place >= topic->first;
    uint64_t place = one->place;
    for (; is_there && place < topic->next && batch->count < BATCH; place++) {
        const struct bus_entry *entry = bus_topic_entry(topic, place);
        if (entry->id <= one->seen || !bus_wants(one, entry->kind))
            continue;
        batch->entries[batch->count] = *entry;
        batch->places[batch->count++] = place;
        (void)mcp_event_keep(entry->event);
    }
    batch->end = place;
    batch->is_last = topic->is_ended && place >= topic->next;
    pthread_mutex_unlock(&one->bus->lock);
    return is_there;
}

static void send_batch(struct bus_subscriber *one, const struct batch *batch)
{
    size_t sent = 0;

    while (sent < batch->count && send(one, batch->entries[sent].event))
        sent++;
    one->place = sent < batch->count ? batch->places[sent] : batch->end;
    for (size_t i = 0; i < batch->count; i++)
        mcp_event_free(batch->entries[i].event);
}

static bool takes_events(const struct bus_subscriber *one)
{
    return one->is_begun && !one->is_catching_up && !one->is_full && !one->is_ending;
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
        uint64_t before = one->place;
        send_batch(one, &batch);
        if (batch.is_last && takes_events(one))
            end_stream(one);
        else if (one->place == before)
            return;
    }
}

/* ---- mail ------------------------------------------------------------------------------------- */

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

static void ask_log(struct bus_subscriber *one)
{
    struct bus *self = one->bus;

    one->is_away = true;
    one->has_drained = false;
    pthread_mutex_lock(&self->lock);
    one->next_away = NULL;
    *self->last_away = one;
    self->last_away = &one->next_away;
    self->counts.caught_up++;
    pthread_cond_signal(&self->catch_up_woken);
    pthread_mutex_unlock(&self->lock);
}

/*
 * All of the log is sent. What was published since the reading began is in the ring, unless it has
 * left it again; then the log has it.
 */
static void join_ring(struct bus_subscriber *one)
{
    pthread_mutex_lock(&one->bus->lock);
    one->is_catching_up = one->topic->dropped > one->seen;
    one->place = one->topic->first;
    pthread_mutex_unlock(&one->bus->lock);
}

static void come_back(struct bus_subscriber *one)
{
    one->is_away = false;
    switch (one->page) {
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

static void note(struct bus_subscriber *one, unsigned mail)
{
    if (mail & BUS_MAIL_NEW)
        link_reader(one);
    if (mail & BUS_MAIL_DRAINED) {
        one->has_drained = true;
        one->is_full = false;
    }
    if (mail & BUS_MAIL_BACK)
        come_back(one);
    if (mail & BUS_MAIL_CLOSED)
        one->is_ending = one->is_over = true;
}

static void open_mail(struct bus_subscriber *one, unsigned mail, bool is_stopping)
{
    note(one, mail);
    if (!one->is_begun || one->is_away)
        return;
    if (one->is_over) {
        unlink_reader(one);
        bus_detach(one);
        return;
    }
    if (is_stopping && !one->is_ending)
        end_stream(one);
    if (one->is_ending)
        return;
    if (one->is_catching_up && !one->is_full)
        ask_log(one);
    else
        deliver(one);
}

/* ---- the thread ------------------------------------------------------------------------------- */

/* Each of these is called with the lock held, gives it up meanwhile, and has it again at the end. */

static bool serve_mail(struct bus *self)
{
    struct bus_subscriber *one = self->mail;

    if (!one)
        return false;
    unsigned mail = one->mail;
    bool is_stopping = self->is_stopping;
    self->mail = one->next_mail;
    if (!self->mail)
        self->last_mail = &self->mail;
    one->mail = 0;
    pthread_mutex_unlock(&self->lock);
    open_mail(one, mail, is_stopping);
    pthread_mutex_lock(&self->lock);
    return true;
}

static bool serve_topic(struct bus *self)
{
    struct bus_topic *topic = self->dirty;

    if (!topic)
        return false;
    self->dirty = topic->next_dirty;
    if (!self->dirty)
        self->last_dirty = &self->dirty;
    topic->is_dirty = false;
    topic->is_served = true;
    pthread_mutex_unlock(&self->lock);
    for (struct bus_subscriber *one = topic->readers; one; one = one->next)
        deliver(one);
    pthread_mutex_lock(&self->lock);
    topic->is_served = false;
    bus_forget_ended(self, topic);
    return true;
}

static void stop_readers(struct bus_topic *topic)
{
    for (struct bus_subscriber *one = topic->readers; one; one = one->next)
        queue_mail(one, BUS_MAIL_STOP);
}

/* Those that are not begun yet are stopped when they are. */
static void stop_all(struct bus *self)
{
    for (size_t i = 0; i < self->counts.topics; i++)
        stop_readers(self->topics[i]);
    for (struct bus_topic *topic = self->ended; topic; topic = topic->next_ended)
        stop_readers(topic);
}

static void wait_for_work(struct bus *self, int64_t until_ms)
{
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };

    pthread_cond_timedwait(&self->pump_woken, &self->lock, &until);
}

void *bus_pump(void *data)
{
    struct bus *self = data;
    int64_t sweep_every_ms = self->options.idle_ms / 4 + SWEEP_MIN_MS;
    int64_t sweep_at_ms = mcp_clock_mono_ms() + sweep_every_ms;
    bool has_stopped_all = false;

    pthread_mutex_lock(&self->lock);
    while (!self->is_ending) {
        if (self->is_stopping && !has_stopped_all) {
            stop_all(self);
            has_stopped_all = true;
        }
        if (mcp_clock_mono_ms() >= sweep_at_ms) {
            bus_sweep(self);
            sweep_at_ms = mcp_clock_mono_ms() + sweep_every_ms;
        }
        bool had_mail = serve_mail(self);
        bool had_news = serve_topic(self);
        if (!had_mail && !had_news)
            wait_for_work(self, sweep_at_ms);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}
