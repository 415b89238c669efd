/*
 * lines.c - a thread that reads a descriptor and cuts it into lines.
 *
 * Standard input may be anything: a pipe, a file, /dev/null, a terminal. An event loop cannot poll
 * all of these (libuv aborts over a file opened as a pipe), a thread with plain reads can. It polls
 * before it reads, only so that mcp__lines_free can wake it.
 *
 *     thread: read -> [batch: whole lines] -> loop: next, next, ... -> free again -> thread
 *                         \ the begun line is carried over to the next batch
 *
 * There are two batches. A batch is handed over with every whole line that one read brought, so a
 * burst of messages costs one wake-up. It grows only while a single line does not fit, up to the
 * longest line allowed; beyond that the line is reported once and dropped as it comes.
 *
 * `lock` guards who owns which batch and is never held during a read or a callback.
 */
#include "net/lines.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

#define READ_SIZE ((size_t)64 * 1024)
#define KEPT_SIZE ((size_t)1024 * 1024) /* a batch larger than this gives its memory back */

struct batch {
    char *bytes;
    size_t capacity;
    size_t length;    /* bytes of whole lines; the last one of a stream may lack its newline */
    size_t taken;     /* by the loop */
    bool is_overlong; /* after these lines came one that was too long */
    bool is_end;      /* after these lines nothing comes */
    bool is_ready;    /* the loop's, else the thread's */
};

struct mcp__lines {
    mcp__node node; /* first: what the loop runs when batches are ready */
    mcp__loop *loop;
    mcp__loop_callback *has_input;
    void *data;
    int fd;
    int wake_fd; /* readable when the thread must stop */
    size_t line_max;
    pthread_t thread;

    pthread_mutex_t lock; /* guards the batches' is_ready and the flags below */
    pthread_cond_t batch_freed;
    bool is_stopping;
    bool is_posted; /* node is on its way to the loop */

    struct batch batches[2];
    unsigned reading; /* the batch that the thread fills next */
    unsigned taking;  /* the batch that the loop takes next */

    /* the thread's */
    char *carry; /* the begun line, READ_SIZE */
    size_t carried;
    bool is_skipping; /* inside an overlong line */

    bool is_freed; /* the loop's: node's run ends the reader */
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* Bytes read; 0 at the end, on an error that does not pass, and when it is time to stop. */
static size_t read_some(const mcp__lines *lines, char *room)
{
    for (;;) {
        struct pollfd waits[2] = { { .fd = lines->fd, .events = POLLIN },
                                   { .fd = lines->wake_fd, .events = POLLIN } };

        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            return 0;
        if (waits[1].revents != 0)
            return 0;
        if (waits[0].revents == 0)
            continue;
        ssize_t count = read(lines->fd, room, READ_SIZE);
        if (count >= 0)
            return (size_t)count;
        if (errno != EINTR && errno != EAGAIN)
            return 0;
    }
}

static bool make_room(struct batch *batch)
{
    if (batch->capacity - batch->length >= READ_SIZE)
        return true;
    size_t capacity = batch->capacity * 2;
    if (capacity < batch->length + 2 * READ_SIZE)
        capacity = batch->length + 2 * READ_SIZE;
    char *bytes = mcp__realloc(batch->bytes, capacity);
    if (!bytes)
        return false;
    batch->bytes = bytes;
    batch->capacity = capacity;
    return true;
}

static void batch_begin(mcp__lines *lines, struct batch *batch)
{
    memcpy(batch->bytes, lines->carry, lines->carried);
    batch->length = lines->carried;
    batch->taken = 0;
    batch->is_overlong = false;
    batch->is_end = false;
    lines->carried = 0;
}

/* Inside an overlong line: drop what belongs to it. Returns how many of `count` new bytes
   remain. */
static size_t skip(mcp__lines *lines, char *bytes, size_t count)
{
    const char *newline = memchr(bytes, '\n', count);

    if (!newline)
        return 0;
    size_t dropped = (size_t)(newline - bytes) + 1;
    memmove(bytes, bytes + dropped, count - dropped);
    lines->is_skipping = false;
    return count - dropped;
}

/* Cut the batch behind its last newline; the rest, one read at most, is carried over. */
static void cut_at(mcp__lines *lines, struct batch *batch, const char *newline)
{
    size_t whole = (size_t)(newline - batch->bytes) + 1;

    lines->carried = batch->length - whole;
    memcpy(lines->carry, batch->bytes + whole, lines->carried);
    batch->length = whole;
}

/* Read until there is at least one whole line, or something else to tell. */
static void batch_fill(mcp__lines *lines, struct batch *batch)
{
    batch_begin(lines, batch);
    for (;;) {
        size_t count = make_room(batch) ? read_some(lines, batch->bytes + batch->length) : 0;
        if (count == 0) {
            batch->is_end = true;
            return;
        }
        char *fresh = batch->bytes + batch->length;
        if (lines->is_skipping)
            count = skip(lines, fresh, count);
        const char *newline = memrchr(fresh, '\n', count);
        batch->length += count;
        if (newline) {
            cut_at(lines, batch, newline);
            return;
        }
        if (batch->length > lines->line_max + 1) { /* + 1: a '\r' does not count */
            batch->length = 0;
            batch->is_overlong = true;
            lines->is_skipping = true;
            return;
        }
    }
}

/* The batch to fill, once the loop has given it back; NULL when it is time to stop. */
static struct batch *batch_wait(mcp__lines *lines)
{
    struct batch *batch = &lines->batches[lines->reading];

    pthread_mutex_lock(&lines->lock);
    while (batch->is_ready && !lines->is_stopping)
        pthread_cond_wait(&lines->batch_freed, &lines->lock);
    bool stopping = lines->is_stopping;
    pthread_mutex_unlock(&lines->lock);
    return stopping ? NULL : batch;
}

static void batch_hand_over(mcp__lines *lines, struct batch *batch)
{
    pthread_mutex_lock(&lines->lock);
    batch->is_ready = true;
    lines->reading = 1 - lines->reading;
    bool post = !lines->is_posted && !lines->is_stopping;
    lines->is_posted = lines->is_posted || post;
    pthread_mutex_unlock(&lines->lock);
    if (post)
        mcp__loop_post(lines->loop, &lines->node);
}

static void *reader_main(void *data)
{
    mcp__lines *lines = data;
    struct batch *batch;
    bool ended = false;

    while (!ended && (batch = batch_wait(lines)) != NULL) {
        batch_fill(lines, batch);
        ended = batch->is_end;
        batch_hand_over(lines, batch);
    }
    return NULL;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void lines_end(mcp__lines *lines)
{
    for (int i = 0; i < 2; i++)
        free(lines->batches[i].bytes);
    free(lines->carry);
    if (lines->wake_fd >= 0)
        (void)close(lines->wake_fd);
    pthread_cond_destroy(&lines->batch_freed);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}

static void on_posted(mcp__node *node)
{
    mcp__lines *lines = (mcp__lines *)node;

    pthread_mutex_lock(&lines->lock);
    lines->is_posted = false;
    pthread_mutex_unlock(&lines->lock);
    if (lines->is_freed)
        lines_end(lines);
    else
        lines->has_input(lines->data);
}

static struct batch *batch_ready(mcp__lines *lines)
{
    struct batch *batch = &lines->batches[lines->taking];

    pthread_mutex_lock(&lines->lock);
    bool ready = batch->is_ready;
    pthread_mutex_unlock(&lines->lock);
    return ready ? batch : NULL;
}

static void batch_give_back(mcp__lines *lines, struct batch *batch)
{
    if (batch->capacity > KEPT_SIZE) {
        char *smaller = mcp__realloc(batch->bytes, 2 * READ_SIZE);
        if (smaller) {
            batch->bytes = smaller;
            batch->capacity = 2 * READ_SIZE;
        }
    }
    pthread_mutex_lock(&lines->lock);
    batch->is_ready = false;
    lines->taking = 1 - lines->taking;
    pthread_mutex_unlock(&lines->lock);
    pthread_cond_signal(&lines->batch_freed);
}

/* The next line of the batch, empty ones passed over; false when it has none. */
static bool batch_next(struct batch *batch, const char **text, size_t *length)
{
    while (batch->taken < batch->length) {
        const char *from = batch->bytes + batch->taken;
        size_t rest = batch->length - batch->taken;
        const char *newline = memchr(from, '\n', rest);
        size_t whole = newline ? (size_t)(newline - from) : rest;

        batch->taken += newline ? whole + 1 : whole;
        if (whole > 0 && from[whole - 1] == '\r')
            whole--;
        if (whole > 0) {
            *text = from;
            *length = whole;
            return true;
        }
    }
    return false;
}

mcp__line mcp__lines_next(mcp__lines *lines, const char **text, size_t *length)
{
    struct batch *batch;

    while ((batch = batch_ready(lines)) != NULL) {
        if (batch_next(batch, text, length))
            return *length > lines->line_max ? MCP__LINE_OVERLONG : MCP__LINE_TEXT;
        if (batch->is_overlong) {
            batch->is_overlong = false;
            return MCP__LINE_OVERLONG;
        }
        if (batch->is_end)
            return MCP__LINE_END;
        batch_give_back(lines, batch);
    }
    return MCP__LINE_NONE;
}

static mcp_status allocate(mcp__lines *lines, mcp_error *err)
{
    lines->carry = mcp__alloc(READ_SIZE);
    bool complete = lines->carry != NULL;
    for (int i = 0; i < 2; i++) {
        lines->batches[i].capacity = 2 * READ_SIZE;
        lines->batches[i].bytes = mcp__alloc(2 * READ_SIZE);
        complete = complete && lines->batches[i].bytes;
    }
    if (!complete)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    lines->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (lines->wake_fd < 0)
        return mcp_error_errno(err, errno, "no descriptor to wake the reading thread by");
    return MCP_OK;
}

static mcp_status start_thread(mcp__lines *lines, mcp_error *err)
{
    sigset_t all;
    sigset_t earlier;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &earlier);
    int code = pthread_create(&lines->thread, NULL, reader_main, lines);
    pthread_sigmask(SIG_SETMASK, &earlier, NULL);
    return code == 0 ? MCP_OK : mcp_error_errno(err, code, "the reading thread cannot be started");
}

mcp_status mcp__lines_new(mcp__lines **out, mcp__loop *loop, int fd, size_t line_max,
                          mcp__loop_callback *has_input, void *data, mcp_error *err)
{
    mcp__lines *lines = mcp__alloc_zeroed(1, sizeof(*lines));

    if (!lines)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    lines->node.run = on_posted;
    lines->loop = loop;
    lines->has_input = has_input;
    lines->data = data;
    lines->fd = fd;
    lines->wake_fd = -1;
    lines->line_max = line_max;
    pthread_mutex_init(&lines->lock, NULL);
    pthread_cond_init(&lines->batch_freed, NULL);
    mcp_status st = allocate(lines, err);
    if (st == MCP_OK)
        st = start_thread(lines, err);
    if (st != MCP_OK) {
        lines_end(lines);
        return st;
    }
    *out = lines;
    return MCP_OK;
}

void mcp__lines_free(mcp__lines *lines)
{
    if (!lines)
        return;
    pthread_mutex_lock(&lines->lock);
    lines->is_stopping = true;
    pthread_mutex_unlock(&lines->lock);
    pthread_cond_signal(&lines->batch_freed);
    (void)eventfd_write(lines->wake_fd, 1);
    pthread_join(lines->thread, NULL);
    lines->is_freed = true;
    if (!lines->is_posted) /* else the node is still under way and ends the reader when it comes */
        lines_end(lines);
}
