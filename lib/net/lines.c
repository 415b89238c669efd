/*
 * lines.c - a descriptor's bytes cut into lines, and an out-queue in front of a descriptor.
 *
 * Standard input and output may be anything: a pipe, a socket, a file, /dev/null, a terminal.
 * Whether a descriptor blocks is a property of the open file, which other processes may share, and
 * libuv sets O_NONBLOCK on what it polls. So an unnamed pipe is opened again through /proc, and the
 * flags of a socket are put back at the end.
 *
 * Input of another kind is polled by an epoll instance of its own, which libuv polls: its flags
 * stay as they are. A named pipe is among these: opened again after its writers have gone, it would
 * never report its end. What epoll cannot poll, a file or /dev/null, always has bytes or its end;
 * an eventfd that is always readable is polled in its place.
 *
 * Input is read into one block, which is cut behind its last newline. It grows only while a single
 * line does not fit, up to the longest line allowed; beyond that, or when there is no memory to
 * grow, the line is dropped as it comes, but for its ends, and reported when it has ended.
 *
 * The loop flushes output once before it waits, so that the answers of one turn leave in one write.
 * A socket is sent to with MSG_DONTWAIT; files and terminals have no EAGAIN. A pipe is watched all
 * the time, since its reader's end can be seen without writing. A socket is not: a peer that has
 * shut down its sending side may still read.
 */
#include "net/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/http/outbox.h"
#include "net/loop_int.h"

#define READ_SIZE ((size_t)64 * 1024)
#define KEPT_SIZE ((size_t)1024 * 1024) /* a block larger than this gives its memory back */
#define PARTS_A_WRITE 64

/* What is read or written. */
struct descriptor {
    int fd;
    bool is_own; /* opened here, and closed here */
    int flags;   /* to put back; -1: nothing was changed */
};

struct mcp__lines {
    mcp__loop *loop;
    mcp__loop_callback *has_input;
    void *data;
    size_t line_max;
    struct descriptor in;
    int ready_fd; /* what is polled in its place; -1: it is polled itself */
    uv_poll_t *watch;
    bool is_watching;

    char *bytes; /* those that were read: whole lines, then a line that is begun */
    size_t capacity;
    size_t length;
    size_t whole; /* bytes of whole lines; the last one of the input may lack its newline */
    size_t taken;
    bool is_ready;    /* there is something to take, else to read */
    bool is_overlong; /* before the whole lines one has ended that was too long */
    bool is_skipping; /* inside an overlong line */
    mcp__line_ends ends;
    bool is_end;    /* after the whole lines nothing comes */
    int read_errno; /* why nothing comes; 0: the input has ended */
};

struct mcp__writer {
    mcp__loop *loop;
    mcp__loop_callback *gone_callback;
    void *data;
    struct descriptor to;
    bool is_socket;
    bool is_pipe;
    uv_poll_t *watch; /* NULL: a file, or a socket that never blocked yet */
    mcp__outbox out;
    mcp__pieces pieces; /* one is spare from the beginning, so that a short line needs no memory */
    bool is_blocked;
    bool is_gone;
    int write_errno; /* why it is gone; 0: the reader has closed its end */
};

/* ---- descriptors ----------------------------------------------------------------------------- */

/* An open file of the pipe that is not shared. False: there is no /proc. */
static bool reopen(struct descriptor *pipe, int access)
{
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", pipe->fd);
    int fd = open(path, access | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    *pipe = (struct descriptor){ .fd = fd, .is_own = true, .flags = -1 };
    return true;
}

static void leave(const struct descriptor *descriptor)
{
    if (descriptor->flags >= 0)
        (void)fcntl(descriptor->fd, F_SETFL, descriptor->flags);
    if (descriptor->is_own)
        (void)close(descriptor->fd);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool make_room(mcp__lines *lines)
{
    if (lines->capacity - lines->length >= READ_SIZE)
        return true;
    size_t capacity = lines->capacity * 2;
    if (capacity < lines->length + 2 * READ_SIZE)
        capacity = lines->length + 2 * READ_SIZE;
    char *bytes = mcp_realloc(lines->bytes, capacity);
    if (!bytes)
        return false;
    lines->bytes = bytes;
    lines->capacity = capacity;
    return true;
}

static void keep_head(mcp__line_ends *ends, const char *bytes, size_t count)
{
    ends->head_length = count < MCP__LINE_END_MAX ? count : MCP__LINE_END_MAX;
    memcpy(ends->head, bytes, ends->head_length);
    ends->tail_length = 0;
}

/* Keep the last bytes of the tail with `count` more behind it. */
static void keep_tail(mcp__line_ends *ends, const char *bytes, size_t count)
{
    size_t added = count < MCP__LINE_END_MAX ? count : MCP__LINE_END_MAX;
    size_t room = MCP__LINE_END_MAX - added;
    size_t kept = ends->tail_length < room ? ends->tail_length : room;

    memmove(ends->tail, ends->tail + ends->tail_length - kept, kept);
    memcpy(ends->tail + kept, bytes + count - added, added);
    ends->tail_length = kept + added;
}

/* Inside an overlong line: drop what belongs to it. Returns how many of `count` new bytes
   remain. */
static size_t skip(mcp__lines *lines, char *bytes, size_t count)
{
    const char *newline = memchr(bytes, '\n', count);
    size_t dropped = newline ? (size_t)(newline - bytes) + 1 : count;

    keep_tail(&lines->ends, bytes, newline ? dropped - 1 : dropped);
    memmove(bytes, bytes + dropped, count - dropped);
    if (newline) {
        lines->is_skipping = false;
        lines->is_overlong = true;
    }
    return count - dropped;
}

/* The begun line, which is all that there is, is too long; what follows of it is dropped as it
 * comes. */
static void drop_begun(mcp__lines *lines)
{
    keep_head(&lines->ends, lines->bytes, lines->length);
    keep_tail(&lines->ends, lines->bytes, lines->length);
    lines->length = 0;
    lines->is_skipping = true;
}

/* Add `count` bytes that were read; true when there is something to report: a whole line, or the
   end of one that is too long. A line that begins behind that end is not dropped yet: the ends are
   kept of one line only. */
static bool add(mcp__lines *lines, size_t count)
{
    char *fresh = lines->bytes + lines->length;

    if (lines->is_skipping)
        count = skip(lines, fresh, count);
    const char *newline = memrchr(fresh, '\n', count);
    lines->length += count;
    if (newline)
        lines->whole = (size_t)(newline - lines->bytes) + 1;
    else if (!lines->is_overlong && lines->length > lines->line_max + 1) /* + 1: a '\r' */
        drop_begun(lines);
    return newline || lines->is_overlong;
}

/* Read once; true when there is something to report. */
static bool read_some(mcp__lines *lines)
{
    if (!make_room(lines))
        drop_begun(lines); /* it left room */
    ssize_t count = read(lines->in.fd, lines->bytes + lines->length, READ_SIZE);
    if (count > 0)
        return add(lines, (size_t)count);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    lines->whole = lines->length;
    lines->is_overlong = lines->is_skipping;
    lines->is_skipping = false;
    lines->is_end = true;
    lines->read_errno = count < 0 && errno != ECONNRESET ? errno : 0; /* gone without goodbye */
    return true;
}

static void on_readable(uv_poll_t *handle, int status, int events);

static void watch_input(mcp__lines *lines)
{
    if (!lines->is_watching)
        (void)uv_poll_start(lines->watch, UV_READABLE, on_readable);
    lines->is_watching = true;
}

/* An error of the descriptor comes as a status, and again from read, which decides: before it,
 * there may be bytes. */
static void on_readable(uv_poll_t *handle, int status, int events)
{
    mcp__lines *lines = handle->data;

    (void)events;
    if (status < 0) /* libuv has stopped the handle */
        lines->is_watching = false;
    if (lines->is_ready) { /* still not taken */
        (void)uv_poll_stop(handle);
        lines->is_watching = false;
        return;
    }
    mcp__loop_came(lines->loop);
    lines->is_ready = read_some(lines);
    if (lines->is_ready)
        lines->has_input(lines->data);
    else
        watch_input(lines);
}

/* ---- lines taken ----------------------------------------------------------------------------- */

/* All is taken: move the begun line to the front, and read on. */
static void read_on(mcp__lines *lines)
{
    lines->length -= lines->whole; /* what one read brought, at most */
    memmove(lines->bytes, lines->bytes + lines->whole, lines->length);
    lines->whole = 0;
    lines->taken = 0;
    lines->is_ready = false;
    char *smaller = lines->capacity > KEPT_SIZE ? mcp_realloc(lines->bytes, 2 * READ_SIZE) : NULL;
    if (smaller) {
        lines->bytes = smaller;
        lines->capacity = 2 * READ_SIZE;
    }
    watch_input(lines);
}

/* The next whole line, empty ones passed over; false when there is none. */
static bool next_whole(mcp__lines *lines, const char **text, size_t *length)
{
    while (lines->taken < lines->whole) {
        const char *from = lines->bytes + lines->taken;
        size_t remainder = lines->whole - lines->taken;
        const char *newline = memchr(from, '\n', remainder);
        size_t count = newline ? (size_t)(newline - from) : remainder;

        lines->taken += newline ? count + 1 : count;
        if (count > 0 && from[count - 1] == '\r')
            count--;
        if (count > 0) {
            *text = from;
            *length = count;
            return true;
        }
    }
    return false;
}

mcp__line mcp__lines_next(mcp__lines *lines, const char **text, size_t *length)
{
    if (!lines->is_ready)
        return MCP__LINE_NONE;
    if (lines->is_overlong) {
        lines->is_overlong = false;
        return MCP__LINE_OVERLONG;
    }
    if (next_whole(lines, text, length)) {
        if (*length <= lines->line_max)
            return MCP__LINE_TEXT;
        keep_head(&lines->ends, *text, *length);
        keep_tail(&lines->ends, *text, *length);
        return MCP__LINE_OVERLONG;
    }
    if (lines->is_end)
        return MCP__LINE_END;
    read_on(lines);
    return MCP__LINE_NONE;
}

const mcp__line_ends *mcp__lines_ends(const mcp__lines *lines)
{
    return &lines->ends;
}

int mcp__lines_errno(const mcp__lines *lines)
{
    return lines->read_errno;
}

/* ---- a reader's beginning and end ------------------------------------------------------------ */

/* Whether libuv can poll the input itself; it is ready for that then. */
static bool is_pollable(struct descriptor *in)
{
    struct stat about;
    struct statfs system;

    if (fstat(in->fd, &about) != 0)
        return false;
    if (S_ISSOCK(about.st_mode))
        in->flags = fcntl(in->fd, F_GETFL);
    if (!S_ISFIFO(about.st_mode))
        return S_ISSOCK(about.st_mode);
    bool is_unnamed = fstatfs(in->fd, &system) == 0 && system.f_type == PIPEFS_MAGIC;
    return is_unnamed && reopen(in, O_RDONLY);
}

/* A descriptor that is readable when `fd` is; negative: an errno, negated. */
static int ready_fd(int fd)
{
    struct epoll_event event = { .events = EPOLLIN };
    int ready = epoll_create1(EPOLL_CLOEXEC);

    if (ready < 0)
        return -errno;
    if (epoll_ctl(ready, EPOLL_CTL_ADD, fd, &event) == 0)
        return ready;
    int code = errno;
    (void)close(ready);
    if (code != EPERM && code != EBADF)
        return -code;
    ready = eventfd(1, EFD_CLOEXEC); /* read tells */
    return ready < 0 ? -errno : ready;
}

static int start(mcp__lines *lines)
{
    bool is_polled = is_pollable(&lines->in);

    lines->ready_fd = is_polled ? -1 : ready_fd(lines->in.fd);
    if (!is_polled && lines->ready_fd < 0)
        return lines->ready_fd;
    int code = mcp__poll_new(&lines->watch, lines->loop, is_polled ? lines->in.fd : lines->ready_fd,
                             lines);
    if (code == 0)
        read_on(lines);
    return code;
}

mcp_status mcp__lines_new(mcp__lines **out, mcp__loop *loop, int fd, size_t line_max,
                          mcp__loop_callback *has_input, void *data, mcp_error *err)
{
    mcp__lines *lines = mcp_alloc_zeroed(1, sizeof *lines);
    char *bytes = mcp_alloc(2 * READ_SIZE);

    if (!lines || !bytes) {
        free(lines);
        free(bytes);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read lines into");
    }
    *lines = (mcp__lines){ .loop = loop,
                           .has_input = has_input,
                           .data = data,
                           .line_max = line_max,
                           .in = { .fd = fd, .flags = -1 },
                           .bytes = bytes,
                           .capacity = 2 * READ_SIZE };
    int code = start(lines);
    if (code != 0) {
        mcp__lines_free(lines);
        return mcp_error_errno(err, -code, "the input cannot be watched");
    }
    *out = lines;
    return MCP_OK;
}

void mcp__lines_free(mcp__lines *lines)
{
    if (!lines)
        return;
    mcp__handle_close((uv_handle_t *)lines->watch);
    if (lines->ready_fd >= 0)
        (void)close(lines->ready_fd);
    leave(&lines->in);
    free(lines->bytes);
    free(lines);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void replace(char *bytes, size_t length, char byte, char by)
{
    char *end = bytes + length;

    for (char *at = memchr(bytes, byte, length); at; at = memchr(at, byte, (size_t)(end - at)))
        *at++ = by;
}

mcp_status mcp__writer_put(mcp__writer *writer, mcp_buf *line, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!writer->is_gone && line->length > 0) {
        replace(line->data, line->length, '\n', ' ');
        replace(line->data, line->length, '\r', ' ');
        line->max_bytes++; /* the newline comes on top of what a reply may have */
        st = mcp_buf_putc(line, '\n');
        if (st == MCP_OK)
            st = mcp__outbox_put_buf(&writer->out, &writer->pieces, line);
    }
    mcp_buf_clear(line);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "no memory to queue a message for the client");
}

static void become_gone(mcp__writer *writer, int code)
{
    if (writer->is_gone)
        return;
    writer->is_gone = true;
    writer->write_errno = code == EPIPE || code == ECONNRESET ? 0 : code;
    writer->is_blocked = false;
    mcp__outbox_clear(&writer->out, &writer->pieces);
    if (writer->watch)
        (void)uv_poll_stop(writer->watch);
    writer->gone_callback(writer->data);
}

static void on_watched(uv_poll_t *handle, int status, int events);

/* Watch for the moment when the pipe or socket can be written to and, on a pipe, when its reader
 * closes. */
static int watch(mcp__writer *writer, int events)
{
    struct descriptor *to = &writer->to;
    int code = 0;

    if (!writer->watch) {
        if (to->flags == -1 && !to->is_own)
            to->flags = fcntl(to->fd, F_GETFL);
        code = mcp__poll_new(&writer->watch, writer->loop, to->fd, writer);
    }
    return code == 0 ? uv_poll_start(writer->watch, events, on_watched) : code;
}

static int quiet_events(const mcp__writer *writer)
{
    return writer->is_pipe ? UV_DISCONNECT : 0;
}

static void on_watched(uv_poll_t *handle, int status, int events)
{
    mcp__writer *writer = handle->data;

    if (status < 0 || (events & UV_DISCONNECT)) {
        become_gone(writer, 0);
        return;
    }
    writer->is_blocked = false;
    if (writer->is_pipe)
        (void)watch(writer, quiet_events(writer));
    else
        (void)uv_poll_stop(writer->watch);
    mcp__writer_flush(writer);
}

static ssize_t write_parts(const mcp__writer *writer)
{
    struct iovec parts[PARTS_A_WRITE];
    int count = mcp__outbox_parts(&writer->out, parts, PARTS_A_WRITE);
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = (size_t)count };

    return writer->is_socket ? sendmsg(writer->to.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                             : writev(writer->to.fd, parts, count);
}

void mcp__writer_flush(mcp__writer *writer)
{
    while (writer->out.queued > 0 && !writer->is_blocked && !writer->is_gone) {
        ssize_t count = write_parts(writer);
        if (count >= 0) {
            mcp__outbox_drop(&writer->out, &writer->pieces, (size_t)count);
        } else if (errno == EAGAIN) {
            writer->is_blocked = true;
            int code = watch(writer, UV_WRITABLE | quiet_events(writer));
            if (code != 0)
                become_gone(writer, -code);
        } else if (errno != EINTR) {
            become_gone(writer, errno);
        }
    }
}

size_t mcp__writer_queued(const mcp__writer *writer)
{
    return writer->out.queued;
}

bool mcp__writer_is_blocked(const mcp__writer *writer)
{
    return writer->is_blocked;
}

bool mcp__writer_is_gone(const mcp__writer *writer)
{
    return writer->is_gone;
}

int mcp__writer_errno(const mcp__writer *writer)
{
    return writer->write_errno;
}

/* ---- a writer's beginning and end ------------------------------------------------------------ */

/* The shared open file is made non-blocking only where it cannot be opened again. */
static mcp_status adopt_pipe(mcp__writer *writer, mcp_error *err)
{
    struct descriptor *to = &writer->to;

    writer->is_pipe = true;
    if (!reopen(to, O_WRONLY)) {
        to->flags = fcntl(to->fd, F_GETFL);
        if (to->flags < 0 || fcntl(to->fd, F_SETFL, to->flags | O_NONBLOCK) < 0)
            return mcp_error_errno(err, errno, "the output pipe cannot be made non-blocking");
    }
    int code = watch(writer, quiet_events(writer));
    return code == 0 ? MCP_OK : mcp_error_errno(err, -code, "the output pipe cannot be watched");
}

static mcp_status adopt(mcp__writer *writer, mcp_error *err)
{
    struct stat about;

    if (fstat(writer->to.fd, &about) != 0)
        return mcp_error_errno(err, errno, "the output cannot be written to");
    writer->is_socket = S_ISSOCK(about.st_mode);
    return S_ISFIFO(about.st_mode) ? adopt_pipe(writer, err) : MCP_OK;
}

mcp_status mcp__writer_new(mcp__writer **out, mcp__loop *loop, int fd, mcp__loop_callback *is_gone,
                           void *data, mcp_error *err)
{
    mcp__writer *writer = mcp_alloc_zeroed(1, sizeof *writer);

    if (!writer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to write lines from");
    *writer = (mcp__writer){
        .loop = loop, .gone_callback = is_gone, .data = data, .to = { .fd = fd, .flags = -1 }
    };
    mcp_status st = mcp__outbox_put(&writer->out, &writer->pieces, "", 1) == MCP_OK
                        ? adopt(writer, err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory to write lines from");
    mcp__outbox_clear(&writer->out, &writer->pieces);
    if (st != MCP_OK) {
        mcp__writer_free(writer);
        return st;
    }
    *out = writer;
    return MCP_OK;
}

void mcp__writer_free(mcp__writer *writer)
{
    if (!writer)
        return;
    mcp__handle_close((uv_handle_t *)writer->watch);
    leave(&writer->to);
    mcp__outbox_clear(&writer->out, &writer->pieces);
    mcp__pieces_clear(&writer->pieces);
    free(writer);
}
