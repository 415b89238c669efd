/*
 * writer.c - an out-queue in front of a descriptor.
 *
 * Small lines are gathered in pieces of 64 KiB, a large one becomes a piece of its own without
 * being copied. The loop flushes once before it waits, so that the answers of one turn leave in one
 * write.
 *
 * Whether a descriptor blocks is a property of the open file, which we may share with the shell
 * that started us. So a pipe is opened anew through /proc, a socket is sent to with MSG_DONTWAIT,
 * and only where neither works O_NONBLOCK is set, and taken back in the end. Files and terminals do
 * not know EAGAIN and are written plainly.
 *
 * A pipe is watched all the time, since its reader's end can be seen without writing. A socket is
 * not: a peer that has shut down its sending side may still read.
 */
#include "net/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/loop_int.h"

#define PIECE_SIZE ((size_t)64 * 1024)
#define LARGE_SIZE ((size_t)16 * 1024)
#define PIECES_A_WRITE 16

struct piece {
    struct piece *next;
    char *bytes;
    size_t length;
    size_t written;
    size_t capacity; /* for further lines; a large line's piece takes none */
};

struct watch {
    uv_poll_t handle; /* first: freed by its close callback */
    mcp__writer *writer;
};

struct mcp__writer {
    mcp__loop *loop;
    mcp__loop_callback *gone_callback;
    void *data;
    int fd;         /* what we write to */
    bool is_own_fd; /* opened anew: ours to close */
    bool is_socket;
    bool is_pipe;
    int flags;           /* to put back, -1: nothing was changed */
    struct watch *watch; /* NULL: a file, or a socket that never blocked yet */
    struct piece *first;
    struct piece *last;
    struct piece *spare; /* one empty piece, so that a small line needs no memory */
    size_t queued;
    bool is_blocked;
    bool is_gone;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct piece *piece_new(void)
{
    struct piece *piece = mcp__alloc_zeroed(1, sizeof(*piece));

    if (!piece)
        return NULL;
    piece->bytes = mcp__alloc(PIECE_SIZE);
    piece->capacity = PIECE_SIZE;
    if (piece->bytes)
        return piece;
    free(piece);
    return NULL;
}

static void piece_free(struct piece *piece)
{
    if (piece)
        free(piece->bytes);
    free(piece);
}

static void append_piece(mcp__writer *writer, struct piece *piece)
{
    piece->next = NULL;
    if (writer->last)
        writer->last->next = piece;
    else
        writer->first = piece;
    writer->last = piece;
}

/* A line that is not worth copying, its newline already at its end. */
static mcp_status put_large(mcp__writer *writer, mcp_buf *line)
{
    struct piece *piece = mcp__alloc_zeroed(1, sizeof(*piece));

    if (!piece)
        return MCP_E_NOMEM;
    piece->bytes = mcp_buf_take(line, &piece->length);
    append_piece(writer, piece);
    writer->queued += piece->length;
    return MCP_OK;
}

static mcp_status put_small(mcp__writer *writer, const mcp_buf *line)
{
    struct piece *last = writer->last;

    if (!last || last->length > last->capacity || last->capacity - last->length < line->length) {
        last = writer->spare ? writer->spare : piece_new();
        if (!last)
            return MCP_E_NOMEM;
        writer->spare = NULL;
        append_piece(writer, last);
    }
    memcpy(last->bytes + last->length, line->data, line->length);
    last->length += line->length;
    writer->queued += line->length;
    return MCP_OK;
}

/* The first piece is written: keep it for later, or free it. */
static void drop_first(mcp__writer *writer)
{
    struct piece *piece = writer->first;

    writer->first = piece->next;
    if (!writer->first)
        writer->last = NULL;
    if (writer->spare || piece->capacity == 0) {
        piece_free(piece);
        return;
    }
    piece->length = 0;
    piece->written = 0;
    writer->spare = piece;
}

mcp_status mcp__writer_put(mcp__writer *writer, mcp_buf *line, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!writer->is_gone && line->length > 0) {
        line->max_bytes++; /* the newline comes on top of what a reply may have */
        st = mcp_buf_putc(line, '\n');
        if (st == MCP_OK)
            st = line->length > LARGE_SIZE ? put_large(writer, line) : put_small(writer, line);
    }
    mcp_buf_clear(line);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "no memory to queue a message for the client");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void drop_all(mcp__writer *writer)
{
    while (writer->first)
        drop_first(writer);
    writer->queued = 0;
}

static void become_gone(mcp__writer *writer)
{
    if (writer->is_gone)
        return;
    writer->is_gone = true;
    writer->is_blocked = false;
    drop_all(writer);
    if (writer->watch)
        (void)uv_poll_stop(&writer->watch->handle);
    writer->gone_callback(writer->data);
}

static void on_watched(uv_poll_t *handle, int status, int events);

/* Have the loop tell when the pipe or socket can be written to, and, for a pipe, when it breaks. */
static int watch(mcp__writer *writer, int events)
{
    if (!writer->watch) {
        struct watch *fresh = mcp__alloc_zeroed(1, sizeof(*fresh));
        if (!fresh)
            return UV_ENOMEM;
        fresh->writer = writer;
        if (writer->flags == -1 && !writer->is_own_fd)
            writer->flags = fcntl(writer->fd, F_GETFL); /* libuv sets O_NONBLOCK */
        int code = uv_poll_init(&writer->loop->uv, &fresh->handle, writer->fd);
        if (code != 0) {
            free(fresh);
            return code;
        }
        writer->watch = fresh;
    }
    return uv_poll_start(&writer->watch->handle, events, on_watched);
}

static int quiet_events(const mcp__writer *writer)
{
    return writer->is_pipe ? UV_DISCONNECT : 0;
}

static void stop_waiting(mcp__writer *writer)
{
    writer->is_blocked = false;
    if (quiet_events(writer) != 0)
        (void)watch(writer, quiet_events(writer));
    else
        (void)uv_poll_stop(&writer->watch->handle);
}

static void on_watched(uv_poll_t *handle, int status, int events)
{
    mcp__writer *writer = ((struct watch *)handle)->writer;

    if (status < 0 || (events & UV_DISCONNECT)) {
        become_gone(writer);
        return;
    }
    stop_waiting(writer);
    mcp__writer_flush(writer);
}

static ssize_t write_pieces(const mcp__writer *writer)
{
    struct iovec parts[PIECES_A_WRITE];
    int count = 0;

    for (const struct piece *at = writer->first; at && count < PIECES_A_WRITE; at = at->next) {
        parts[count].iov_base = at->bytes + at->written;
        parts[count++].iov_len = at->length - at->written;
    }
    if (!writer->is_socket)
        return writev(writer->fd, parts, count);

    struct msghdr message = { .msg_iov = parts, .msg_iovlen = (size_t)count };
    return sendmsg(writer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void count_written(mcp__writer *writer, size_t count)
{
    writer->queued -= count;
    while (count > 0) {
        struct piece *piece = writer->first;
        size_t rest = piece->length - piece->written;
        if (count < rest) {
            piece->written += count;
            return;
        }
        count -= rest;
        drop_first(writer);
    }
}

void mcp__writer_flush(mcp__writer *writer)
{
    while (writer->first && !writer->is_blocked && !writer->is_gone) {
        ssize_t count = write_pieces(writer);
        if (count >= 0) {
            count_written(writer, (size_t)count);
        } else if (errno == EAGAIN) {
            writer->is_blocked = true;
            if (watch(writer, UV_WRITABLE | quiet_events(writer)) != 0)
                become_gone(writer);
        } else if (errno != EINTR) {
            become_gone(writer);
        }
    }
}

size_t mcp__writer_queued(const mcp__writer *writer)
{
    return writer->queued;
}

bool mcp__writer_is_blocked(const mcp__writer *writer)
{
    return writer->is_blocked;
}

bool mcp__writer_is_gone(const mcp__writer *writer)
{
    return writer->is_gone;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* A description of the pipe that nobody shares with us; else the shared one is made
   non-blocking. */
static mcp_status adopt_pipe(mcp__writer *writer, mcp_error *err)
{
    char path[32];

    writer->is_pipe = true;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", writer->fd);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        writer->fd = fd;
        writer->is_own_fd = true;
        return MCP_OK;
    }
    writer->flags = fcntl(writer->fd, F_GETFL);
    if (writer->flags < 0 || fcntl(writer->fd, F_SETFL, writer->flags | O_NONBLOCK) < 0)
        return mcp_error_errno(err, errno, "the output pipe cannot be made non-blocking");
    return MCP_OK;
}

static mcp_status adopt(mcp__writer *writer, mcp_error *err)
{
    struct stat about;

    if (fstat(writer->fd, &about) != 0)
        return mcp_error_errno(err, errno, "the output cannot be written to");
    writer->is_socket = S_ISSOCK(about.st_mode);
    if (!S_ISFIFO(about.st_mode))
        return MCP_OK;
    mcp_status st = adopt_pipe(writer, err);
    if (st != MCP_OK)
        return st;
    int code = watch(writer, quiet_events(writer));
    return code == 0 ? MCP_OK : mcp__uv_error(err, code, "the output pipe cannot be watched");
}

mcp_status mcp__writer_new(mcp__writer **out, mcp__loop *loop, int fd, mcp__loop_callback *is_gone,
                           void *data, mcp_error *err)
{
    mcp__writer *writer = mcp__alloc_zeroed(1, sizeof(*writer));

    if (!writer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to write lines from");
    *writer = (mcp__writer){
        .loop = loop, .gone_callback = is_gone, .data = data, .fd = fd, .flags = -1
    };
    writer->spare = piece_new();
    mcp_status st = writer->spare
                        ? adopt(writer, err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory to write lines from");
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
    if (writer->watch)
        mcp__handle_close((uv_handle_t *)&writer->watch->handle);
    if (writer->flags >= 0)
        (void)fcntl(writer->fd, F_SETFL, writer->flags);
    drop_all(writer);
    piece_free(writer->spare);
    if (writer->is_own_fd)
        (void)close(writer->fd);
    free(writer);
}
