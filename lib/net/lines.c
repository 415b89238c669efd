/*
 * lines.c - reads a descriptor and cuts what comes into lines.
 *
 * Standard input may be anything: a pipe, a file, /dev/null, a terminal. An unnamed pipe or a
 * socket is polled by the loop itself, which saves a message the way through another thread. An
 * event loop cannot poll the others (libuv aborts over a file opened as a pipe), so those have a
 * thread that reads plainly. It polls before it reads, only so that mcp__lines_free can wake it.
 *
 *     reader: read -> [batch: whole lines] -> loop: next, next, ... -> free again -> reader
 *                         \ the begun line is carried over to the next batch
 *
 * There are two batches. A batch is handed over with every whole line that one read brought, so a
 * burst of messages costs one wake-up. It grows only while a single line does not fit, up to the
 * longest line allowed; beyond that, or when there is no memory to grow, the line is reported once
 * and dropped as it comes. While no batch is free nothing is read.
 *
 * `lock` guards who owns which batch and is never held during a read or a callback. Where the loop
 * reads itself no other thread takes the lock, but the path is the same.
 */
#include "net/lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/loop_int.h"

#define READ_SIZE ((size_t)64 * 1024)
#define KEPT_SIZE ((size_t)1024 * 1024) /* a batch larger than this gives its memory back */

struct batch {
    char *bytes;
    size_t capacity;
    size_t length;    /* bytes of whole lines; the last one of a stream may lack its newline */
    size_t taken;     /* by the loop */
    int read_errno;   /* with is_end: why nothing comes; 0: the input has ended */
    bool is_overlong; /* after these lines came one that was too long */
    bool is_end;      /* after these lines nothing comes */
    bool is_ready;    /* to be taken, else to be filled */
};

/* A descriptor that the loop polls. */
struct line_watch {
    uv_poll_t handle; /* first: freed by its close callback */
    mcp__lines *lines;
};

struct mcp__lines {
    mcp__node node; /* first: what the loop runs when batches are ready */
    mcp__loop *loop;
    mcp__loop_callback *has_input;
    void *data;
    int fd;
    size_t line_max;

    struct line_watch *watch; /* the loop reads; NULL: a thread does */
    bool is_own_fd;           /* opened here, and closed here */
    int flags;                /* of `fd`, to put back; -1: nothing was changed */
    bool is_watching;
    bool has_begun; /* the batch that is read into */

    pthread_t thread;
    int wake_fd; /* readable when the thread must stop */

    pthread_mutex_t lock; /* guards the batches' is_ready and the flags below */
    pthread_cond_t batch_freed;
    bool is_stopping;
    bool is_posted; /* node is on its way to the loop */

    struct batch batches[2];
    unsigned reading; /* the batch that is filled next */
    unsigned taking;  /* the batch that is taken next */

    /* the reader's: the thread, or the loop */
    char *carry; /* the begun line, READ_SIZE */
    size_t carried;
    bool is_skipping; /* inside an overlong line */

    bool is_freed; /* the loop's: node's run ends the reader */
};

/* ---- filling a batch ------------------------------------------------------------------------- */

static bool make_room(struct batch *batch)
{
    if (batch->capacity - batch->length >= READ_SIZE)
        return true;
    size_t capacity = batch->capacity * 2;
    if (capacity < batch->length + 2 * READ_SIZE)
        capacity = batch->length + 2 * READ_SIZE;
    char *bytes = mcp_realloc(batch->bytes, capacity);
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
    batch->read_errno = 0;
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

/* Cut the batch behind its last newline; the remainder, one read at most, is carried over. */
static void cut_at(mcp__lines *lines, struct batch *batch, const char *newline)
{
    size_t whole = (size_t)(newline - batch->bytes) + 1;

    lines->carried = batch->length - whole;
    memcpy(lines->carry, batch->bytes + whole, lines->carried);
    batch->length = whole;
}

/* The begun line, which is all that the batch holds, is too long; what follows of it is dropped as
 * it comes. */
static void drop_begun(mcp__lines *lines, struct batch *batch)
{
    batch->length = 0;
    batch->is_overlong = true;
    lines->is_skipping = true;
}

/* Add `count` bytes that were read behind what the batch holds; true when there is something to
   report: a whole line, or one that is too long. */
static bool batch_add(mcp__lines *lines, struct batch *batch, size_t count)
{
    char *fresh = batch->bytes + batch->length;

    if (lines->is_skipping)
        count = skip(lines, fresh, count);
    const char *newline = memrchr(fresh, '\n', count);
    batch->length += count;
    if (newline) {
        cut_at(lines, batch, newline);
        return true;
    }
    if (batch->length <= lines->line_max + 1) /* + 1: a '\r' does not count */
        return false;
    drop_begun(lines, batch);
    return true;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* A peer that is gone without goodbye has ended the input, too. */
static int errno_of_end(void)
{
    return errno == ECONNRESET ? 0 : errno;
}

/* Bytes read; 0 at the end, on an error that does not pass, and when it is time to stop. */
static size_t read_some(const mcp__lines *lines, char *room, int *read_errno)
{
    for (;;) {
        struct pollfd waits[2] = { { .fd = lines->fd, .events = POLLIN },
                                   { .fd = lines->wake_fd, .events = POLLIN } };

        if (poll(waits, 2, -1) < 0 && errno != EINTR) {
            *read_errno = errno;
            return 0;
        }
        if (waits[1].revents != 0)
            return 0;
        if (waits[0].revents == 0)
            continue;
        ssize_t count = read(lines->fd, room, READ_SIZE);
        if (count >= 0)
            return (size_t)count;
        if (errno != EINTR && errno != EAGAIN) {
            *read_errno = errno_of_end();
            return 0;
        }
    }
}

static void batch_fill(mcp__lines *lines, struct batch *batch)
{
    bool is_reported = false;

    batch_begin(lines, batch);
    while (!is_reported && !batch->is_end) {
        if (!make_room(batch)) {
            drop_begun(lines, batch);
            return;
        }
        size_t count = read_some(lines, batch->bytes + batch->length, &batch->read_errno);
        batch->is_end = count == 0;
        is_reported = count > 0 && batch_add(lines, batch, count);
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
    bool ended = false;

    while (!ended) {
        struct batch *batch = batch_wait(lines);
        if (!batch)
            break;
        batch_fill(lines, batch);
        ended = batch->is_end;
        batch_hand_over(lines, batch);
    }
    return NULL;
}

/* ---- the loop reads itself ------------------------------------------------------------------- */

static void on_readable(uv_poll_t *handle, int status, int events);

/* Poll as long as there is a batch to fill. */
static void watch_or_idle(mcp__lines *lines)
{
    const struct batch *next = &lines->batches[lines->reading];
    const struct batch *last = &lines->batches[1 - lines->reading];
    bool may_read = !next->is_ready && !(last->is_ready && last->is_end);

    if (may_read && !lines->is_watching)
        (void)uv_poll_start(&lines->watch->handle, UV_READABLE, on_readable);
    else if (!may_read && lines->is_watching)
        (void)uv_poll_stop(&lines->watch->handle);
    lines->is_watching = may_read;
}

/* Read once. True when the batch is to be handed over. */
static bool batch_read(mcp__lines *lines, struct batch *batch)
{
    if (!lines->has_begun)
        batch_begin(lines, batch);
    lines->has_begun = true;
    if (!make_room(batch)) {
        drop_begun(lines, batch);
        return true;
    }
    ssize_t count = read(lines->fd, batch->bytes + batch->length, READ_SIZE);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    batch->is_end = count <= 0;
    batch->read_errno = count < 0 ? errno_of_end() : 0;
    return batch->is_end || batch_add(lines, batch, (size_t)count);
}

/* An error of the descriptor comes as a status, and again from read, which decides. */
static void on_readable(uv_poll_t *handle, int status, int events)
{
    mcp__lines *lines = ((struct line_watch *)handle)->lines;
    struct batch *batch = &lines->batches[lines->reading];

    (void)status;
    (void)events;
    mcp__loop_came(lines->loop);
    if (!batch_read(lines, batch))
        return;
    lines->has_begun = false;
    batch->is_ready = true;
    lines->reading = 1 - lines->reading;
    watch_or_idle(lines);
    lines->has_input(lines->data);
}

/* An open file of the pipe that is not shared: making it non-blocking concerns no other process. */
static bool reopen(mcp__lines *lines)
{
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", lines->fd);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    lines->fd = fd;
    lines->is_own_fd = true;
    return true;
}

/* A named pipe is left to the thread: opened again after its writers have gone, it never reports
   its end. */
static bool is_anonymous(int fd)
{
    struct statfs about;

    return fstatfs(fd, &about) == 0 && about.f_type == PIPEFS_MAGIC;
}

/* Whether the loop can read the descriptor itself; it is ready for that then. */
static bool is_pollable(mcp__lines *lines)
{
    struct stat about;

    if (fstat(lines->fd, &about) != 0)
        return false;
    if (S_ISFIFO(about.st_mode))
        return is_anonymous(lines->fd) && reopen(lines);
    if (S_ISSOCK(about.st_mode))
        lines->flags = fcntl(lines->fd, F_GETFL); /* libuv sets O_NONBLOCK */
    return S_ISSOCK(about.st_mode);
}

static mcp_status start_watch(mcp__lines *lines, mcp_error *err)
{
    struct line_watch *watch = mcp_alloc_zeroed(1, sizeof *watch);

    if (!watch)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    watch->lines = lines;
    int code = uv_poll_init(&lines->loop->uv, &watch->handle, lines->fd);
    if (code != 0) {
        free(watch);
        return mcp__uv_error(err, code, "the input cannot be watched");
    }
    lines->watch = watch;
    watch_or_idle(lines);
    return MCP_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void lines_end(mcp__lines *lines)
{
    for (int i = 0; i < 2; i++)
        free(lines->batches[i].bytes);
    free(lines->carry);
    if (lines->wake_fd >= 0)
        (void)close(lines->wake_fd);
    if (lines->flags >= 0)
        (void)fcntl(lines->fd, F_SETFL, lines->flags);
    if (lines->is_own_fd)
        (void)close(lines->fd);
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
        char *smaller = mcp_realloc(batch->bytes, 2 * READ_SIZE);
        if (smaller) {
            batch->bytes = smaller;
            batch->capacity = 2 * READ_SIZE;
        }
    }
    pthread_mutex_lock(&lines->lock);
    batch->is_ready = false;
    lines->taking = 1 - lines->taking;
    pthread_mutex_unlock(&lines->lock);
    if (lines->watch)
        watch_or_idle(lines);
    else
        pthread_cond_signal(&lines->batch_freed);
}

/* The next line of the batch, empty ones passed over; false when it has none. */
static bool batch_next(struct batch *batch, const char **text, size_t *length)
{
    while (batch->taken < batch->length) {
        const char *from = batch->bytes + batch->taken;
        size_t remainder = batch->length - batch->taken;
        const char *newline = memchr(from, '\n', remainder);
        size_t whole = newline ? (size_t)(newline - from) : remainder;

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

    for (batch = batch_ready(lines); batch != NULL; batch = batch_ready(lines)) {
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

int mcp__lines_errno(const mcp__lines *lines)
{
    return lines->batches[lines->taking].read_errno;
}

static mcp_status allocate(mcp__lines *lines, mcp_error *err)
{
    lines->carry = mcp_alloc(READ_SIZE);
    bool complete = lines->carry != NULL;
    for (int i = 0; i < 2; i++) {
        lines->batches[i].capacity = 2 * READ_SIZE;
        lines->batches[i].bytes = mcp_alloc(2 * READ_SIZE);
        complete = complete && lines->batches[i].bytes;
    }
    if (!complete)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    return MCP_OK;
}

static mcp_status start_thread(mcp__lines *lines, mcp_error *err)
{
    sigset_t all;
    sigset_t earlier;

    lines->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (lines->wake_fd < 0)
        return mcp_error_errno(err, errno, "no descriptor to wake the reading thread by");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &earlier);
    int code = pthread_create(&lines->thread, NULL, reader_main, lines);
    pthread_sigmask(SIG_SETMASK, &earlier, NULL);
    return code == 0 ? MCP_OK : mcp_error_errno(err, code, "the reading thread cannot be started");
}

mcp_status mcp__lines_new(mcp__lines **out, mcp__loop *loop, int fd, size_t line_max,
                          mcp__loop_callback *has_input, void *data, mcp_error *err)
{
    mcp__lines *lines = mcp_alloc_zeroed(1, sizeof(*lines));

    if (!lines)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    lines->node.run = on_posted;
    lines->loop = loop;
    lines->has_input = has_input;
    lines->data = data;
    lines->fd = fd;
    lines->wake_fd = -1;
    lines->flags = -1;
    lines->line_max = line_max;
    pthread_mutex_init(&lines->lock, NULL);
    pthread_cond_init(&lines->batch_freed, NULL);
    mcp_status st = allocate(lines, err);
    if (st == MCP_OK)
        st = is_pollable(lines) ? start_watch(lines, err) : start_thread(lines, err);
    if (st != MCP_OK) {
        lines_end(lines);
        return st;
    }
    *out = lines;
    return MCP_OK;
}

static void end_thread(mcp__lines *lines)
{
    pthread_mutex_lock(&lines->lock);
    lines->is_stopping = true;
    pthread_mutex_unlock(&lines->lock);
    pthread_cond_signal(&lines->batch_freed);
    (void)eventfd_write(lines->wake_fd, 1);
    pthread_join(lines->thread, NULL);
}

void mcp__lines_free(mcp__lines *lines)
{
    if (!lines)
        return;
    if (lines->watch)
        mcp__handle_close((uv_handle_t *)&lines->watch->handle);
    else
        end_thread(lines);
    lines->is_freed = true;
    if (!lines->is_posted) /* else the node is still under way and ends the reader when it comes */
        lines_end(lines);
}
