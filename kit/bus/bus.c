/*
 * bus.c - topics by name, publishing, subscribing.
 *
 * The topics are in one array sorted by name: names come from outside, and no choice of names makes
 * a binary search slow. At a limit, topics without readers are freed first, beginning with the one
 * unused for longest; then the oldest events of the publishing topic.
 */
#include "bus/bus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

enum { ENTRY_BYTES = 128, CLOSE_WAIT_MS = 10000, CATCH_UPS_MAX = 64, ID_ROOM = 24 };

static size_t or_default(size_t value, size_t standard)
{
    return value ? value : standard;
}

static bus_options filled(const bus_options *options)
{
    bus_options all = *options;

    all.topics = or_default(all.topics, 10000);
    all.subscribers = or_default(all.subscribers, 10000);
    all.ring_events = or_default(all.ring_events, 1000);
    all.ring_bytes = or_default(all.ring_bytes, (size_t)8 << 20);
    all.total_bytes = or_default(all.total_bytes, (size_t)256 << 20);
    all.window_events = all.window_events ? all.window_events : 256;
    all.window_bytes = or_default(all.window_bytes, (size_t)256 << 10);
    if (all.idle_ms <= 0)
        all.idle_ms = 60000;
    if (all.catch_up_threads <= 0)
        all.catch_up_threads = 2;
    if (all.catch_up_threads > CATCH_UPS_MAX)
        all.catch_up_threads = CATCH_UPS_MAX;
    return all;
}

/* ---- topics: under the lock ---------------------------------------------------------------- */

/* The index of the topic of that name, or where it would be inserted. */
static size_t index_of(const bus *self, const char *name, bool *is_there)
{
    size_t low = 0;
    size_t high = self->counts.topics;

    *is_there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(self->topics[middle]->name, name);
        if (order == 0)
            *is_there = true;
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Remove a topic from the array; it stays in memory. */
static void take_out(bus *self, size_t at)
{
    struct bus_topic *topic = self->topics[at];

    self->counts.topics--;
    memmove(&self->topics[at], &self->topics[at + 1],
            (self->counts.topics - at) * sizeof self->topics[0]);
    if (topic->subscribers == 0)
        self->unread--;
}

static void free_topic(bus *self, struct bus_topic *topic)
{
    self->counts.ring_bytes -= topic->bytes;
    bus_topic_free(topic);
}

static bool is_unused(const struct bus_topic *topic)
{
    return topic->subscribers == 0 && !topic->is_dirty && !topic->is_served;
}

void bus_sweep(bus *self)
{
    int64_t since_ms = mcp_clock_mono_ms() - self->options.idle_ms;

    for (size_t i = self->counts.topics; i-- > 0 && self->unread > 0;) {
        struct bus_topic *topic = self->topics[i];
        if (!is_unused(topic) || topic->used_ms > since_ms)
            continue;
        take_out(self, i);
        free_topic(self, topic);
    }
}

/* Free the topic without readers that was used longest ago. @return false: there is none */
static bool evict(bus *self, const struct bus_topic *but_not)
{
    size_t oldest = SIZE_MAX;

    for (size_t i = 0; self->unread > 0 && i < self->counts.topics; i++) {
        const struct bus_topic *topic = self->topics[i];
        if (topic != but_not && is_unused(topic) &&
            (oldest == SIZE_MAX || topic->used_ms < self->topics[oldest]->used_ms))
            oldest = i;
    }
    if (oldest == SIZE_MAX)
        return false;
    struct bus_topic *topic = self->topics[oldest];
    take_out(self, oldest);
    free_topic(self, topic);
    return true;
}

static bool make_room_for_topic(bus *self)
{
    if (self->counts.topics < self->topic_room)
        return true;
    size_t room = self->topic_room ? self->topic_room * 2 : 64;
    struct bus_topic **larger = mcp_realloc(self->topics, room * sizeof *larger);
    if (!larger)
        return false;
    self->topics = larger;
    self->topic_room = room;
    return true;
}

/* The topic of that name, a new one where there is none. */
static mcp_status topic_of(struct bus_topic **out, bus *self, const char *name, mcp_error *err)
{
    bool is_there = false;
    size_t at = index_of(self, name, &is_there);

    if (!is_there) {
        if (self->counts.topics >= self->options.topics && !evict(self, NULL))
            return mcp_error_set(err, MCP_E_LIMIT, "there are %zu topics already",
                                 self->options.topics);
        struct bus_topic *topic = make_room_for_topic(self) ? bus_topic_new(name) : NULL;
        if (!topic)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a topic");
        at = index_of(self, name, &is_there); /* an eviction may have moved it */
        memmove(&self->topics[at + 1], &self->topics[at],
                (self->counts.topics - at) * sizeof self->topics[0]);
        self->topics[at] = topic;
        self->counts.topics++;
        self->unread++;
    }
    self->topics[at]->used_ms = mcp_clock_mono_ms();
    *out = self->topics[at];
    return MCP_OK;
}

/* ---- publishing ---------------------------------------------------------------------------- */

mcp_status bus_encode(mcp_event **out, const bus_event *event, bool has_id, mcp_error *err)
{
    char id[ID_ROOM];

    snprintf(id, sizeof id, "%" PRId64, event->id);
    return mcp_event_new(out, has_id ? id : NULL, event->name, event->data, event->length, err);
}

static mcp_status encode(struct bus_entry *out, const bus_event *event, bool has_id, mcp_error *err)
{
    size_t name = event->name ? strlen(event->name) : 0;

    *out = (struct bus_entry){ .id = event->id,
                               .kind = event->kind,
                               .bytes = event->length + name + ENTRY_BYTES };
    return bus_encode(&out->event, event, has_id, err);
}

static void append(bus *self, struct bus_topic *topic, const struct bus_entry *entry,
                   mcp_status *st)
{
    size_t before = topic->bytes;
    struct bus_ring_limits limits = { self->options.ring_events, self->options.ring_bytes };

    if (bus_topic_append(topic, entry, limits) != MCP_OK)
        *st = MCP_E_NOMEM;
    self->counts.ring_bytes += topic->bytes - before;
    self->counts.published++;
    while (self->counts.ring_bytes > self->options.total_bytes && evict(self, topic))
        ;
    while (self->counts.ring_bytes > self->options.total_bytes && topic->next - topic->first > 1) {
        before = topic->bytes;
        bus_topic_drop(topic);
        self->counts.ring_bytes -= before - topic->bytes;
    }
}

/* Takes the entries' references. */
static mcp_status put(bus *self, const char *name, struct bus_entry *entries, size_t count,
                      mcp_error *err)
{
    struct bus_topic *topic = NULL;
    mcp_status st = topic_of(&topic, self, name, NULL);
    int64_t newest = st == MCP_OK ? topic->newest : INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        if (entries[i].id > newest)
            append(self, topic, &entries[i], &st);
        else
            mcp_event_release(entries[i].event);
    }
    if (topic && topic->subscribers > 0)
        bus_mark_dirty(self, topic);
    if (st == MCP_E_LIMIT)
        return MCP_OK; /* there is no reader; a later one begins after the ring */
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory for an event");
}

mcp_status bus_publish(bus *self, const char *topic, const bus_event *events, size_t count,
                       mcp_error *err)
{
    struct bus_entry *entries = mcp_alloc_zeroed(count ? count : 1, sizeof *entries);
    mcp_status st = MCP_OK;
    size_t made = 0;

    if (!entries)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for events");
    while (st == MCP_OK && made < count) {
        st = encode(&entries[made], &events[made], true, err);
        made += st == MCP_OK;
    }
    if (st == MCP_OK) {
        pthread_mutex_lock(&self->lock);
        st = put(self, topic, entries, count, err);
        pthread_mutex_unlock(&self->lock);
    } else {
        while (made > 0)
            mcp_event_release(entries[--made].event);
    }
    free(entries);
    return st;
}

/* Removes it from the array; its last reader frees it. Takes the last entry's reference. */
static void end_topic(bus *self, const char *name, struct bus_entry *last)
{
    bool is_there = false;
    size_t at = index_of(self, name, &is_there);
    mcp_status st = MCP_OK; /* without memory for the entry the streams end too */

    if (!is_there) {
        mcp_event_release(last->event);
        return;
    }
    struct bus_topic *topic = self->topics[at];
    last->id = topic->newest == INT64_MIN ? 0 : topic->newest + (topic->newest < INT64_MAX);
    take_out(self, at);
    topic->is_ended = true;
    topic->next_ended = self->ended;
    self->ended = topic;
    if (last->event)
        append(self, topic, last, &st);
    if (topic->subscribers > 0)
        bus_mark_dirty(self, topic);
    bus_free_ended(self, topic);
}

mcp_status bus_end_topic(bus *self, const char *topic, const bus_event *last, mcp_error *err)
{
    struct bus_entry entry = { 0 };
    mcp_status st = last ? encode(&entry, last, false, err) : MCP_OK;

    if (st != MCP_OK)
        return st;
    entry.kind = 0;
    pthread_mutex_lock(&self->lock);
    end_topic(self, topic, &entry);
    pthread_mutex_unlock(&self->lock);
    return MCP_OK;
}

bool bus_newest(int64_t *id, bus *self, const char *topic)
{
    bool is_there = false;
    pthread_mutex_lock(&self->lock);
    size_t at = index_of(self, topic, &is_there);
    is_there = is_there && self->topics[at]->newest != INT64_MIN;
    if (is_there)
        *id = self->topics[at]->newest;
    pthread_mutex_unlock(&self->lock);
    return is_there;
}

void bus_begin_at(bus *self, const char *topic, int64_t id)
{
    bool is_there = false;
    pthread_mutex_lock(&self->lock);
    size_t at = index_of(self, topic, &is_there);
    if (is_there && self->topics[at]->newest == INT64_MIN)
        self->topics[at]->newest = self->topics[at]->complete_after = id;
    pthread_mutex_unlock(&self->lock);
}

/* ---- subscribing --------------------------------------------------------------------------- */

/* A new subscriber begins after the last id it has seen, where the ring has all following
 * events. */
static void set_cursor(struct bus_subscriber *one, const bus_subscription *how)
{
    const struct bus_topic *topic = one->topic;

    one->seen = how->has_after ? how->after : topic->newest;
    one->cursor = how->has_after ? topic->first : topic->next;
    one->partial = INT64_MIN;
    if (!how->has_after || (how->after >= topic->complete_after && how->after <= topic->newest))
        return;
    one->is_catching_up = one->bus->options.catch_up != NULL;
    one->needs_resync = !one->is_catching_up;
}

static mcp_status join_topic(struct bus_subscriber *one, const char *topic,
                             const bus_subscription *how, mcp_error *err)
{
    bus *self = one->bus;

    if (self->is_stopping)
        return mcp_error_set(err, MCP_E_STOPPED, "the server is stopping");
    if (self->counts.subscribers >= self->options.subscribers)
        return mcp_error_set(err, MCP_E_LIMIT, "there are %zu readers already",
                             self->options.subscribers);
    mcp_status st = topic_of(&one->topic, self, topic, err);
    if (st != MCP_OK)
        return st;
    if (one->topic->subscribers++ == 0)
        self->unread--;
    self->counts.subscribers++;
    set_cursor(one, how);
    return MCP_OK;
}

static void free_subscriber(struct bus_subscriber *one)
{
    free(one->owner);
    free(one->group);
    free(one);
}

mcp_status bus_attach(struct bus_subscriber **out, bus *self, const char *topic,
                      const bus_subscription *how, mcp_error *err)
{
    struct bus_subscriber *one = mcp_alloc_zeroed(1, sizeof *one);

    if (!one)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a reader");
    one->bus = self;
    one->kinds = how->kinds;
    one->until_ms = how->lifetime_ms > 0 ? mcp_clock_mono_ms() + how->lifetime_ms : 0;
    one->expires_ms = how->expires_ms > 0 ? mcp_clock_mono_ms() + how->expires_ms : 0;
    one->owner = how->owner ? mcp_alloc_strdup(how->owner) : NULL;
    one->group = how->group ? mcp_alloc_strdup(how->group) : NULL;
    if ((how->owner && !one->owner) || (how->group && !one->group)) {
        free_subscriber(one);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a reader");
    }
    pthread_mutex_lock(&self->lock);
    mcp_status st = join_topic(one, topic, how, err);
    pthread_mutex_unlock(&self->lock);
    if (st == MCP_OK)
        *out = one;
    else
        free_subscriber(one);
    return st;
}

/* From here on the pump knows it. */
void bus_begin(struct bus_subscriber *subscriber, const struct bus_output *sink, void *stream)
{
    bus *self = subscriber->bus;
    struct bus_topic *topic = subscriber->topic;

    subscriber->output = sink;
    subscriber->stream = stream;
    pthread_mutex_lock(&self->lock);
    subscriber->next_begun = topic->begun;
    if (topic->begun)
        topic->begun->previous_begun = subscriber;
    topic->begun = subscriber;
    if (subscriber->expires_ms > 0 && subscriber->expires_ms < self->expiry_ms)
        self->expiry_ms = subscriber->expires_ms;
    pthread_mutex_unlock(&self->lock);
    bus_post_event(subscriber, BUS_READER_NEW);
}

static bool is_of(const struct bus_subscriber *one, const char *name)
{
    return (one->owner && strcmp(one->owner, name) == 0) ||
           (one->group && strcmp(one->group, name) == 0);
}

static void end_owner(struct bus_topic *topic, const char *name)
{
    for (struct bus_subscriber *one = topic->begun; one; one = one->next_begun) {
        if (is_of(one, name))
            bus_bar(one);
    }
}

void bus_end_owner(bus *self, const char *topic, const char *name)
{
    bool is_there = false;

    pthread_mutex_lock(&self->lock);
    size_t at = index_of(self, topic, &is_there);
    if (is_there)
        end_owner(self->topics[at], name);
    pthread_mutex_unlock(&self->lock);
}

/* Where it is not linked, this changes nothing. */
static void unlink_begun(struct bus_subscriber *one)
{
    if (one->previous_begun)
        one->previous_begun->next_begun = one->next_begun;
    else if (one->topic->begun == one)
        one->topic->begun = one->next_begun;
    if (one->next_begun)
        one->next_begun->previous_begun = one->previous_begun;
}

void bus_free_ended(bus *self, struct bus_topic *topic)
{
    struct bus_topic **at = &self->ended;

    if (!topic->is_ended || !is_unused(topic))
        return;
    while (*at != topic)
        at = &(*at)->next_ended;
    *at = topic->next_ended;
    free_topic(self, topic);
}

void bus_detach(struct bus_subscriber *subscriber)
{
    bus *self = subscriber->bus;
    struct bus_topic *topic = subscriber->topic;

    pthread_mutex_lock(&self->lock);
    unlink_begun(subscriber);
    topic->used_ms = mcp_clock_mono_ms();
    topic->subscribers--;
    self->counts.subscribers--;
    if (topic->subscribers == 0 && !topic->is_ended)
        self->unread++;
    bus_free_ended(self, topic);
    if (self->counts.subscribers == 0)
        pthread_cond_broadcast(&self->emptied);
    pthread_mutex_unlock(&self->lock);
    if (subscriber->stream)
        subscriber->output->free(subscriber->stream);
    free_subscriber(subscriber);
}

static void on_drained(mcp_stream *stream, void *data)
{
    (void)stream;
    bus_post_event(data, BUS_READER_DRAINED);
}

static void on_closed(mcp_stream *stream, void *data)
{
    (void)stream;
    bus_post_event(data, BUS_READER_CLOSED);
}

static mcp_status send_to_stream(void *stream, mcp_event *event)
{
    return mcp_stream_send(stream, event, NULL);
}

static void close_stream(void *stream)
{
    mcp_stream_close(stream);
}

static void free_stream(void *stream)
{
    mcp_stream_release(stream);
}

static const struct bus_output streams = { send_to_stream, close_stream, free_stream };

mcp_status bus_subscribe(bus *self, mcp_call *call, const char *topic, const bus_subscription *how,
                         mcp_error *err)
{
    static const bus_subscription standard;
    struct bus_subscriber *one = NULL;
    mcp_stream *stream = NULL;
    mcp_status st = bus_attach(&one, self, topic, how ? how : &standard, err);

    if (st != MCP_OK)
        return st;
    mcp_stream_options options = { .queue_events = self->options.window_events,
                                   .queue_bytes = self->options.window_bytes,
                                   .first = how ? how->first : NULL,
                                   .retry_ms = how ? how->retry_ms : 0,
                                   .keepalive_ms = how ? how->keepalive_ms : 0,
                                   .drained = on_drained,
                                   .closed = on_closed,
                                   .data = one };
    st = mcp_call_stream(&stream, call, &options, err);
    if (st == MCP_OK)
        bus_begin(one, &streams, stream);
    else
        bus_detach(one);
    return st;
}

bool bus_read_id(int64_t *out, const char *text)
{
    char *end = NULL;

    if (!text || !*text || text[strspn(text, "0123456789")])
        return false;
    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (errno)
        return false;
    *out = id;
    return true;
}

void bus_count(bus *self, bus_counts *out)
{
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    pthread_mutex_unlock(&self->lock);
    out->delivered = atomic_load_explicit(&self->delivered, memory_order_relaxed);
    out->resynced = atomic_load_explicit(&self->resynced, memory_order_relaxed);
}

/* ---- beginning and end --------------------------------------------------------------------- */

static void free_bus(bus *self)
{
    for (size_t i = 0; i < self->counts.topics; i++)
        bus_topic_free(self->topics[i]);
    while (self->ended) {
        struct bus_topic *topic = self->ended;
        self->ended = topic->next_ended;
        bus_topic_free(topic);
    }
    free(self->topics);
    free(self->catch_ups);
    pthread_cond_destroy(&self->emptied);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void stop_threads(bus *self)
{
    for (int i = 0; i < self->catch_up_count; i++)
        thread_worker_stop(&self->catch_ups[i].worker);
    thread_worker_stop(&self->pump);
}

static mcp_status start_threads(bus *self, mcp_error *err)
{
    mcp_status st = thread_worker_start(&self->pump, bus_pump_run, self, err);

    for (int i = 0; i < self->catch_up_count && st == MCP_OK; i++)
        st = thread_worker_start(&self->catch_ups[i].worker, bus_catch_up_run, &self->catch_ups[i],
                                 err);
    if (st != MCP_OK)
        stop_threads(self);
    return st;
}

static mcp_status init_workers(bus *self, mcp_error *err)
{
    int count = self->options.catch_up ? self->options.catch_up_threads : 0;

    self->catch_ups = mcp_alloc_zeroed((size_t)count + 1, sizeof *self->catch_ups);
    if (!self->catch_ups)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a bus");
    thread_worker_init(&self->pump, &self->lock);
    for (; self->catch_up_count < count; self->catch_up_count++) {
        struct bus_catch_up_worker *each = &self->catch_ups[self->catch_up_count];
        thread_worker_init(&each->worker, &self->lock);
        each->bus = self;
    }
    return MCP_OK;
}

mcp_status bus_new(bus **out, const bus_options *options, mcp_error *err)
{
    if (!options || !options->resync)
        return mcp_error_set(err, MCP_E_PARAMS, "the option resync of a bus is missing");
    bus *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a bus");
    self->options = filled(options);
    self->last_dirty = &self->dirty;
    self->last_pending = &self->pending;
    self->last_catching_up = &self->catching_up;
    self->expiry_ms = INT64_MAX;
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->emptied);
    mcp_status st = init_workers(self, err);
    if (st == MCP_OK)
        st = start_threads(self, err);
    if (st == MCP_OK)
        *out = self;
    else
        free_bus(self);
    return st;
}

/* Close all streams and wait until each has reported it. */
static bool close_all(bus *self)
{
    int64_t until_ms = mcp_clock_mono_ms() + CLOSE_WAIT_MS;
    bool has_time = true;

    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    thread_worker_wake(&self->pump);
    while (self->counts.subscribers > 0 && has_time)
        has_time = thread_wait_until(&self->emptied, &self->lock, until_ms);
    bool is_empty = self->counts.subscribers == 0;
    pthread_mutex_unlock(&self->lock);
    return is_empty;
}

void bus_free(bus *self)
{
    if (!self)
        return;
    if (!close_all(self)) {
        /* A stream that is still open calls back later, so nothing may be freed. */
        mcp_log_write(&self->options.log, MCP_LOG_ERROR,
                      "the server has not released its streams; the bus stays in memory");
        return;
    }
    stop_threads(self);
    free_bus(self);
}
