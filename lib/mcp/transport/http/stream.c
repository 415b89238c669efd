/*
 * stream.c - readers of events: any thread sends, the loop writes.
 *
 * A stream has two halves. The queue, behind its lock, takes events from all threads; all else is
 * the loop's. The first event into an idle queue posts the stream to the loop; what is sent until
 * the loop comes to it needs no further word, and the loop's own queue is woken once for all
 * streams that are posted meanwhile.
 *
 * The loop moves as many events as fit FEED_BYTES into the connection's outbox, and comes again in
 * its next turn, so that no reader keeps another waiting. Where the kernel takes no more, it does
 * not come again until the reader has taken what is there (`drained`): then the queue fills, and
 * says so. So what a slow reader has not taken waits as pointers; short events are copied when they
 * are about to leave, long ones never.
 *
 * Counts: the opener's; the loop's, from mcp_call_stream to `closed`; one for each post under way.
 *
 * The lock is held while the stream is posted, nowhere else beyond this file. It has to be: before
 * the loop ends, every stream is marked as over under its lock, and is not posted after that.
 */
#include "mcp/transport/http/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "net/sse.h"

#define QUEUE_BYTES ((size_t)8 * 1024 * 1024)
#define QUEUE_EVENTS 1000
#define QUEUE_EVENTS_MAX 1000000
#define FIRST_ROOM 8
#define KEPT_ROOM 64 /* an empty queue gives a larger ring back */
#define FIRST_MAX ((size_t)4 * 1024)
#define BATCH 512                      /* events a turn */
#define FEED_BYTES ((size_t)64 * 1024) /* in the outbox of one reader */
#define SHARED_MIN ((size_t)4 * 1024)  /* events from here on are not copied */
#define EVENT_MAX ((size_t)32 * 1024 * 1024)
#define AROUND ((size_t)64) /* a guess at what stands around the data */
#define KEEPALIVE ": keepalive\n\n"

struct mcp_stream {
    mcp__exchange_owner owner; /* first */
    mcp__node node;            /* in the loop's queue while `is_posted` */
    atomic_uint counts;
    mcp_stream_options options; /* defaults filled in, `first` a copy */

    pthread_mutex_t lock; /* guards the queue, all down to is_over */
    mcp_event **ring;
    unsigned room, first, count;
    size_t bytes;
    mcp__loop *loop; /* NULL: not begun */
    bool is_posted;
    bool is_held; /* the loop comes without a post: it has not begun, or the reader is slow */
    bool was_full;
    bool is_closing;
    bool is_over;

    /* the loop's */
    mcp__httpd *httpd;
    mcp__http_exchange *exchange; /* NULL: not begun, or over */
    LIST_ENTRY(mcp_stream) link;  /* of the server's list */
    int64_t expires_ms;           /* wall clock; 0: never */
    int64_t wrote_ms;
};

/* ---- events ---------------------------------------------------------------------------------- */

/* The bytes that go over the wire: written once and shared from then on, so a thousand readers cost
 * a thousand pointers. The last release frees them, on any thread, hence the memory order of the
 * decrement: all earlier uses have happened before. */
struct mcp_event {
    atomic_uint counts;
    size_t length;
    char *bytes;
};

/* Takes the text. */
static mcp_status wrap(mcp_event **out, mcp_buf *text, mcp_status st, mcp_error *err)
{
    mcp_event *event = st == MCP_OK ? mcp_alloc(sizeof *event) : NULL;

    if (!event) {
        mcp_buf_clear(text);
        if (st == MCP_E_PARAMS)
            return mcp_error_set(err, st,
                                 "an event's id and name, and a comment, are one line each");
        if (st == MCP_E_LIMIT)
            return mcp_error_set(err, st, "an event may have %zu bytes at most", EVENT_MAX);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an event");
    }
    atomic_init(&event->counts, 1);
    event->bytes = mcp_buf_take(text, &event->length);
    *out = event;
    return MCP_OK;
}

mcp_status mcp_event_new(mcp_event **out, const char *id, const char *name, const char *data,
                         size_t length, mcp_error *err)
{
    mcp_buf text;

    mcp_buf_init(&text, EVENT_MAX);
    if (length < EVENT_MAX - AROUND)
        (void)mcp_buf_reserve(&text, length + AROUND);
    return wrap(out, &text, mcp__sse_event(&text, name, id, data ? data : "", data ? length : 0),
                err);
}

mcp_status mcp_event_comment(mcp_event **out, const char *text, mcp_error *err)
{
    mcp_buf line;
    mcp_status st = MCP_E_PARAMS;

    mcp_buf_init(&line, EVENT_MAX);
    if (text && !strpbrk(text, "\r\n"))
        st = mcp_buf_printf(&line, ":%s\n\n", text);
    return wrap(out, &line, st, err);
}

mcp_event *mcp_event_retain(mcp_event *event)
{
    if (event)
        (void)atomic_fetch_add_explicit(&event->counts, 1, memory_order_relaxed);
    return event;
}

void mcp_event_release(mcp_event *event)
{
    if (!event || atomic_fetch_sub_explicit(&event->counts, 1, memory_order_acq_rel) > 1)
        return;
    free(event->bytes);
    free(event);
}

const char *mcp__event_bytes(const mcp_event *event, size_t *length)
{
    *length = event->length;
    return event->bytes;
}

/* ---- the queue: under the lock --------------------------------------------------------------- */

static void post(mcp_stream *stream)
{
    if (stream->is_posted || stream->is_held || stream->is_over)
        return;
    stream->is_posted = true;
    mcp__loop_post(stream->loop, &mcp_stream_retain(stream)->node);
}

static mcp_status grow(mcp_stream *stream)
{
    unsigned most = stream->options.queue_events;
    unsigned room = stream->room == 0 ? FIRST_ROOM : stream->room * 2;
    mcp_event **larger = mcp_alloc((room < most ? room : most) * sizeof *larger);

    if (!larger)
        return MCP_E_NOMEM;
    for (unsigned i = 0; i < stream->count; i++)
        larger[i] = stream->ring[(stream->first + i) % stream->room];
    free(stream->ring);
    stream->ring = larger;
    stream->room = room < most ? room : most;
    stream->first = 0;
    return MCP_OK;
}

static mcp_status put(mcp_stream *stream, mcp_event *event)
{
    if (stream->is_over || stream->is_closing)
        return MCP_E_STOPPED;
    if (stream->count >= stream->options.queue_events ||
        (stream->count > 0 && stream->bytes + event->length > stream->options.queue_bytes)) {
        stream->was_full = true;
        return MCP_E_LIMIT;
    }
    if (stream->count == stream->room && grow(stream) != MCP_OK)
        return MCP_E_NOMEM;
    stream->ring[(stream->first + stream->count) % stream->room] = mcp_event_retain(event);
    stream->count++;
    stream->bytes += event->length;
    post(stream);
    return MCP_OK;
}

static mcp_event *pop(mcp_stream *stream)
{
    mcp_event *event = stream->ring[stream->first];

    stream->first = (stream->first + 1) % stream->room;
    stream->count--;
    stream->bytes -= event->length;
    return event;
}

/* The events in front, up to about `budget` bytes; their counts go with them. */
static unsigned take(mcp_stream *stream, mcp_event **out, size_t budget)
{
    unsigned taken = 0;

    for (size_t bytes = 0; taken < BATCH && stream->count > 0 && bytes < budget; taken++) {
        out[taken] = pop(stream);
        bytes += out[taken]->length;
    }
    return taken;
}

static void drop_ring(mcp_stream *stream)
{
    while (stream->count > 0)
        mcp_event_release(pop(stream));
    free(stream->ring);
    stream->ring = NULL;
    stream->room = stream->first = 0;
}

/* ---- any thread ------------------------------------------------------------------------------ */

mcp_status mcp_stream_send(mcp_stream *stream, mcp_event *event, mcp_error *err)
{
    if (!stream || !event)
        return mcp_error_set(err, MCP_E_PARAMS, "there is no %s", stream ? "event" : "stream");
    pthread_mutex_lock(&stream->lock);
    mcp_status st = put(stream, event);
    pthread_mutex_unlock(&stream->lock);
    if (st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "the reader is slow: its queue is full");
    if (st == MCP_E_STOPPED)
        return mcp_error_set(err, st, "the reader has gone");
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory to queue an event");
}

void mcp_stream_close(mcp_stream *stream)
{
    if (!stream)
        return;
    pthread_mutex_lock(&stream->lock);
    stream->is_closing = true;
    post(stream);
    pthread_mutex_unlock(&stream->lock);
}

mcp_stream *mcp_stream_retain(mcp_stream *stream)
{
    if (stream)
        (void)atomic_fetch_add_explicit(&stream->counts, 1, memory_order_relaxed);
    return stream;
}

void mcp_stream_release(mcp_stream *stream)
{
    if (!stream || atomic_fetch_sub_explicit(&stream->counts, 1, memory_order_acq_rel) > 1)
        return;
    drop_ring(stream);
    pthread_mutex_destroy(&stream->lock);
    /* By the last count, which the analyzer cannot follow.
     * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    free(stream);
}

/* ---- the end --------------------------------------------------------------------------------- */

void mcp__stream_abandon(mcp_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_over = true;
    drop_ring(stream);
    pthread_mutex_unlock(&stream->lock);
    if (stream->options.closed)
        stream->options.closed(stream, stream->options.data);
    mcp_stream_release(stream);
}

static void leave(mcp_stream *stream)
{
    mcp__httpd *httpd = stream->httpd;

    LIST_REMOVE(stream, link);
    httpd->stream_count--;
    stream->exchange = NULL;
    mcp__stream_abandon(stream);
}

static void on_hung_up(mcp__exchange_owner *owner)
{
    leave((mcp_stream *)owner);
}

/* It has no end of its own, so the reader that has no end either would keep it for ever. */
static void on_half_closed(mcp__exchange_owner *owner)
{
    mcp_stream_close((mcp_stream *)owner);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void release_event(void *owner)
{
    mcp_event_release(owner);
}

static mcp_status flush_gathered(mcp_stream *stream)
{
    mcp_buf *gathered = &stream->httpd->gathered;
    mcp_status st = gathered->status;

    if (st == MCP_OK)
        st = mcp__http_write(stream->exchange, gathered->data, gathered->length, NULL);
    mcp_buf_reset(gathered);
    return st;
}

/* Into the outbox: short ones side by side as one piece. */
static mcp_status write_events(mcp_stream *stream, mcp_event **events, unsigned count)
{
    mcp_status st = MCP_OK;

    for (unsigned i = 0; i < count; i++) {
        mcp__shared run = { .bytes = events[i]->bytes,
                            .length = events[i]->length,
                            .release = release_event,
                            .owner = events[i] };
        if (st == MCP_OK && run.length >= SHARED_MIN) {
            st = flush_gathered(stream);
            if (st == MCP_OK) {
                st = mcp__http_write_shared(stream->exchange, &run, NULL);
                continue;
            }
        }
        if (st == MCP_OK)
            st = mcp_buf_append(&stream->httpd->gathered, run.bytes, run.length);
        mcp_event_release(events[i]);
    }
    if (flush_gathered(stream) != MCP_OK && st == MCP_OK)
        st = MCP_E_NOMEM;
    stream->httpd->counts.events += count;
    stream->wrote_ms = mcp_clock_mono_ms();
    return st;
}

/* What comes after a batch. */
static void go_on(mcp_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool is_empty = stream->count == 0;
    bool is_done = is_empty && stream->is_closing;
    bool is_drained = is_empty && stream->was_full;
    if (is_empty)
        stream->was_full = false;
    else
        post(stream);
    pthread_mutex_unlock(&stream->lock);
    if (is_drained)
        stream->httpd->counts.overruns++;
    if (is_done) {
        mcp__http_end(stream->exchange);
        leave(stream);
    } else if (is_drained && stream->options.drained) {
        stream->options.drained(stream, stream->options.data);
    }
}

/* Move what goes into the outbox. The stream may be gone afterwards, but for the caller's count. */
static void feed(mcp_stream *stream)
{
    mcp_event *batch[BATCH];
    size_t queued = mcp__http_queued(stream->exchange);
    size_t budget = queued < FEED_BYTES ? FEED_BYTES - queued : 0;
    bool is_blocked = mcp__http_is_blocked(stream->exchange);

    pthread_mutex_lock(&stream->lock);
    stream->is_held = is_blocked;
    unsigned count = is_blocked ? 0 : take(stream, batch, budget);
    pthread_mutex_unlock(&stream->lock);
    if (is_blocked)
        return;
    if (count > 0 && write_events(stream, batch, count) != MCP_OK) {
        mcp__http_drop(stream->exchange); /* a gap: the reader is to come back with the last id */
        leave(stream);
        return;
    }
    go_on(stream);
}

static void on_drained(mcp__exchange_owner *owner)
{
    feed((mcp_stream *)owner);
}

static void on_posted(mcp__node *node)
{
    mcp_stream *stream = (mcp_stream *)((char *)node - offsetof(mcp_stream, node));

    pthread_mutex_lock(&stream->lock);
    stream->is_posted = false;
    pthread_mutex_unlock(&stream->lock);
    if (stream->exchange)
        feed(stream);
    mcp_stream_release(stream);
}

/* ---- beginning ------------------------------------------------------------------------------- */

mcp_status mcp__stream_new(mcp_stream **out, const mcp_stream_options *options, int64_t expires_ms,
                           mcp_error *err)
{
    size_t length = options->first ? strlen(options->first) : 0;

    if (length > FIRST_MAX || (length > 0 && options->first[length - 1] != '\n'))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "what comes first on a stream is whole lines, %zu bytes at most",
                             FIRST_MAX);
    mcp_stream *stream = mcp_alloc_zeroed(1, sizeof *stream + length + 1);
    if (!stream)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a stream");
    stream->options = *options;
    stream->expires_ms = expires_ms;
    if (options->queue_bytes == 0)
        stream->options.queue_bytes = QUEUE_BYTES;
    if (options->queue_events == 0)
        stream->options.queue_events = QUEUE_EVENTS;
    if (options->queue_events > QUEUE_EVENTS_MAX)
        stream->options.queue_events = QUEUE_EVENTS_MAX;
    stream->options.first = memcpy(stream + 1, options->first ? options->first : "", length + 1);
    stream->owner = (mcp__exchange_owner){ .hung_up = on_hung_up,
                                           .half_closed = on_half_closed,
                                           .drained = on_drained };
    stream->node.run = on_posted;
    stream->is_held = true;
    atomic_init(&stream->counts, 2);
    pthread_mutex_init(&stream->lock, NULL);
    *out = stream;
    return MCP_OK;
}

void mcp__stream_begin(mcp_stream *stream, mcp__httpd *httpd, mcp__http_exchange *exchange,
                       const mcp__http_head_out *head, bool is_bare)
{
    if (mcp__http_begin(exchange, head, NULL) != MCP_OK) {
        mcp__stream_abandon(stream);
        return;
    }
    mcp__http_set_data(exchange, &stream->owner);
    stream->httpd = httpd;
    stream->exchange = exchange;
    LIST_INSERT_HEAD(&httpd->streams, stream, link);
    httpd->stream_count++;
    httpd->counts.streams++;
    stream->wrote_ms = mcp_clock_mono_ms();
    if (stream->options.keepalive_ms <= 0)
        stream->options.keepalive_ms = httpd->http.limits.keepalive_ms;
    mcp__httpd_quicken(httpd, stream->options.keepalive_ms / 4 + 1);
    pthread_mutex_lock(&stream->lock);
    stream->loop = httpd->serve.loop;
    stream->is_closing = stream->is_closing || is_bare || httpd->serve.is_ending ||
                         mcp__http_is_half_closed(exchange);
    if (is_bare)
        drop_ring(stream);
    pthread_mutex_unlock(&stream->lock);
    (void)mcp_buf_puts(&httpd->gathered, stream->options.first);
    if (stream->options.retry_ms > 0)
        (void)mcp__sse_retry(&httpd->gathered, stream->options.retry_ms);
    (void)flush_gathered(stream); /* a failure ends the connection: hung_up follows */
    feed(stream);
}

/* ---- the clock, and going -------------------------------------------------------------------- */

void mcp__streams_tick(mcp__httpd *httpd, int64_t now_ms)
{
    mcp_stream *stream = LIST_FIRST(&httpd->streams);

    for (; stream; stream = LIST_NEXT(stream, link)) {
        pthread_mutex_lock(&stream->lock);
        if (stream->count == 0 && stream->room > KEPT_ROOM)
            drop_ring(stream);
        pthread_mutex_unlock(&stream->lock);
        if (stream->expires_ms != 0 && mcp_clock_wall_ms() >= stream->expires_ms)
            mcp_stream_close(stream);
        if (now_ms - stream->wrote_ms < stream->options.keepalive_ms ||
            mcp__http_is_blocked(stream->exchange))
            continue;
        (void)mcp__http_write(stream->exchange, KEEPALIVE, sizeof KEEPALIVE - 1, NULL);
        stream->wrote_ms = now_ms;
    }
}

void mcp__streams_end(mcp__httpd *httpd)
{
    mcp_stream *stream = LIST_FIRST(&httpd->streams);

    for (; stream; stream = LIST_NEXT(stream, link))
        mcp_stream_close(stream);
}
