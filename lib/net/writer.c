/*
 * writer.c - an out-queue in front of a descriptor.
 *
 * The loop flushes once before it waits, so that the answers of one turn leave in one write.
 *
 * Whether a descriptor blocks is a property of the open file, which other processes may share. So a
 * pipe is opened again through /proc, a socket is sent to with MSG_DONTWAIT, and O_NONBLOCK is set
 * only where neither works, and removed at the end. Files and terminals have no EAGAIN and are
 * written plainly.
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
#include "net/http/outbox.h"
#include "net/loop_int.h"

#define PARTS_A_WRITE 64

struct watch {
    uv_poll_t handle; /* first: freed by its close callback */
    mcp__writer *writer;
};

struct mcp__writer {
    mcp__loop *loop;
    mcp__loop_callback *gone_callback;
    void *data;
    int fd;         /* what we write to */
    bool is_own_fd; /* opened here, and closed here */
    bool is_socket;
    bool is_pipe;
    int flags;           /* to put back, -1: nothing was changed */
    struct watch *watch; /* NULL: a file, or a socket that never blocked yet */
    mcp__outbox out;
    mcp__pieces pieces; /* one is spare from the beginning, so that a short line needs no memory */
    bool is_blocked;
    bool is_gone;
    int write_errno; /* why it is gone; 0: the reader has closed its end */
};

mcp_status mcp__writer_put(mcp__writer *writer, mcp_buf *line, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!writer->is_gone && line->length > 0) {
        line->max_bytes++; /* the newline comes on top of what a reply may have */
        st = mcp_buf_putc(line, '\n');
        if (st == MCP_OK)
            st = mcp__outbox_put_buf(&writer->out, &writer->pieces, line);
    }
    mcp_buf_clear(line);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "no memory to queue a message for the client");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void become_gone(mcp__writer *writer, int code)
{
    if (writer->is_gone)
        return;
    writer->is_gone = true;
    writer->write_errno = code == EPIPE || code == ECONNRESET ? 0 : code;
    writer->is_blocked = false;
    mcp__outbox_clear(&writer->out, &writer->pieces);
    if (writer->watch)
        (void)uv_poll_stop(&writer->watch->handle);
    writer->gone_callback(writer->data);
}

static void on_watched(uv_poll_t *handle, int status, int events);

/* Watch for the moment when the pipe or socket can be written to and, on a pipe, when its reader
 * closes. */
static int watch(mcp__writer *writer, int events)
{
    if (!writer->watch) {
        struct watch *fresh = mcp_alloc_zeroed(1, sizeof *fresh);
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

static void on_watched(uv_poll_t *handle, int status, int events)
{
    mcp__writer *writer = ((struct watch *)handle)->writer;

    if (status < 0 || (events & UV_DISCONNECT)) {
        become_gone(writer, 0);
        return;
    }
    writer->is_blocked = false;
    if (writer->is_pipe)
        (void)watch(writer, quiet_events(writer));
    else
        (void)uv_poll_stop(&writer->watch->handle);
    mcp__writer_flush(writer);
}

static ssize_t write_parts(const mcp__writer *writer)
{
    struct iovec parts[PARTS_A_WRITE];
    int count = mcp__outbox_parts(&writer->out, parts, PARTS_A_WRITE);
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = (size_t)count };

    return writer->is_socket ? sendmsg(writer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                             : writev(writer->fd, parts, count);
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

/* ---- beginning and end ----------------------------------------------------------------------- */

/* An open file of the pipe that is not shared; else the shared one is made non-blocking. */
static mcp_status adopt_pipe(mcp__writer *writer, mcp_error *err)
{
    char path[32];

    writer->is_pipe = true;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", writer->fd);
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
    mcp__writer *writer = mcp_alloc_zeroed(1, sizeof *writer);

    if (!writer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to write lines from");
    *writer = (mcp__writer){
        .loop = loop, .gone_callback = is_gone, .data = data, .fd = fd, .flags = -1
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
    if (writer->watch)
        mcp__handle_close((uv_handle_t *)&writer->watch->handle);
    if (writer->flags >= 0)
        (void)fcntl(writer->fd, F_SETFL, writer->flags);
    mcp__outbox_clear(&writer->out, &writer->pieces);
    mcp__pieces_clear(&writer->pieces);
    if (writer->is_own_fd)
        (void)close(writer->fd);
    free(writer);
}
