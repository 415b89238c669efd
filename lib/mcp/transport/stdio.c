/*
 * stdio.c - a line is a message: standard input and output as a transport.
 *
 * While the server serves, descriptor 1 points to standard error and descriptor 0 to /dev/null: a
 * stray print of a library, or a child that reads its input, cannot mix with the messages.
 *
 * Before the loop waits it takes lines as long as there is room for calls, sends reports that are
 * due, and writes all answers of the turn at once.
 *
 * Besides a signal (serve.c) the end has these causes:
 *     input has ended    calls that run are finished and answered; those whose flags say so are asked to stop
 *     input has failed   the same, and MCP_E_IO is returned
 *     no reader is left  calls that run are asked to stop, answers are dropped
 *     output has failed  the same, and MCP_E_IO is returned
 *     an answer is lost  there was no memory for it: no further line is read, calls are asked to stop
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/transport/serve.h"
#include "net/lines.h"

#define QUEUED_MAX_BYTES ((size_t)4 * 1024 * 1024) /* for a slow reader; then no line is taken */
#define BYTES_A_TURN ((size_t)256 * 1024)
#define LINES_A_TURN 256 /* then signals and answers have their turn */

/* The process's descriptors and signal handling, as they were. */
struct outside {
    int own[2];   /* what was descriptor 0 and 1; -1: not taken yet */
    int flags[2]; /* reading and writing may make a socket non-blocking for all who share it */
    struct sigaction broken_pipe;
    bool ignores_broken_pipe;
};

struct stdio {
    mcp__serve serve; /* first */
    mcp__peer peer;
    mcp__lines *lines; /* NULL: no longer read */
    bool has_lines;    /* lines may be left that were not taken; no event will come for them */
    mcp__writer *writer;
    mcp__session session;
    bool has_session;
    bool has_lost;     /* an answer: there was no memory for it */
    bool is_abandoned; /* calls were stopped: nobody is left to be answered */
    int read_errno;    /* why input cannot be read; 0: it can, or it has ended */
};

/* ---- the peer -------------------------------------------------------------------------------- */

static struct stdio *stdio_of(const mcp__peer *peer)
{
    return (struct stdio *)((char *)peer - offsetof(struct stdio, peer));
}

/* The client would wait for an answer that never comes; an ended output it understands. */
static void abort_request(mcp__peer *peer)
{
    struct stdio *stdio = stdio_of(peer);

    stdio->has_lost = true;
    mcp__serve_end(&stdio->serve, "there is no memory for an answer");
}

static bool send_line(struct stdio *stdio, mcp_buf *message)
{
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__writer_put(stdio->writer, message, &err) == MCP_OK)
        return true;
    mcp_log_write(&stdio->serve.options->log, MCP_LOG_ERROR, "a message is lost: %s", err.message);
    return false;
}

static void answer(mcp__peer *peer, mcp_buf *message)
{
    if (!send_line(stdio_of(peer), message))
        abort_request(peer);
}

/* At once: a client that reads a report of progress together with the answer drops it. */
static void notify(mcp__peer *peer, mcp_buf *message)
{
    struct stdio *stdio = stdio_of(peer);

    if (send_line(stdio, message))
        mcp__writer_flush(stdio->writer);
}

static bool is_slow(const mcp__peer *peer)
{
    return mcp__writer_is_blocked(stdio_of(peer)->writer);
}

static void no_reply(mcp__peer *peer)
{
    (void)peer;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_input(mcp__serve *self)
{
    struct stdio *stdio = (struct stdio *)self;

    mcp__lines_free(stdio->lines);
    stdio->lines = NULL;
    stdio->has_lines = false;
}

static void refuse_waiting(mcp__serve *self)
{
    mcp__dispatch_refuse_waiting(&((struct stdio *)self)->session);
}

static void stop_calls(mcp__serve *self, mcp_stop why)
{
    mcp__dispatch_stop(&((struct stdio *)self)->session, why);
}

static void abandon(mcp__serve *self)
{
    mcp__dispatch_abandon(&((struct stdio *)self)->session);
}

static bool is_done(const mcp__serve *self)
{
    const struct stdio *stdio = (const struct stdio *)self;

    return mcp__dispatch_is_idle(&stdio->session) && mcp__writer_queued(stdio->writer) == 0;
}

static void on_input_end(struct stdio *stdio)
{
    stdio->read_errno = mcp__lines_errno(stdio->lines);
    close_input(&stdio->serve);
    mcp__serve_end(&stdio->serve, stdio->read_errno ? "the client's messages cannot be read"
                                                    : "the client's messages have ended");
    mcp__serve_stop_calls(&stdio->serve, MCP_STOP_CLIENT_GONE);
}

/* Within a write: what follows from it, the next settling does. */
static void on_gone(void *data)
{
    mcp__serve_end(data, "answers cannot be sent any more");
}

/* ---- the loop's turn ------------------------------------------------------------------------- */

static bool has_room(const struct stdio *stdio)
{
    return stdio->serve.reading == 0 && !mcp__dispatch_is_full(&stdio->session) &&
           mcp__writer_queued(stdio->writer) <= QUEUED_MAX_BYTES;
}

static void on_large(void *owner, mcp__incoming *incoming)
{
    struct stdio *stdio = owner;

    mcp__dispatch_incoming(&stdio->session, &stdio->peer, incoming);
    if (stdio->serve.is_stopping) { /* as the messages that came with it, before the signal */
        refuse_waiting(&stdio->serve);
        stop_calls(&stdio->serve, MCP_STOP_SHUTDOWN);
    }
}

/* The next line is not taken before this one is back. */
static void read_large(struct stdio *stdio, const char *text, size_t length)
{
    mcp__incoming lost = { .err = MCP_ERROR_INIT };
    mcp_buf copy;

    mcp_buf_init(&copy, length);
    (void)mcp_buf_append(&copy, text, length);
    lost.status = mcp__serve_read(&stdio->serve, &copy, on_large, stdio, &lost.err);
    if (lost.status != MCP_OK)
        mcp__dispatch_incoming(&stdio->session, &stdio->peer, &lost);
}

/* Take one line, and count its bytes that were read here; false when there is none. */
static bool take_line(struct stdio *stdio, size_t *bytes)
{
    const char *text = NULL;
    size_t length = 0;

    switch (mcp__lines_next(stdio->lines, &text, &length)) {
    case MCP__LINE_TEXT:
        if (length > MCP__INCOMING_SMALL) {
            read_large(stdio, text, length);
            return true;
        }
        *bytes += length;
        mcp__dispatch_message(&stdio->session, &stdio->peer, text, length);
        return true;
    case MCP__LINE_OVERLONG:
        mcp__dispatch_overlong(&stdio->session, &stdio->peer, mcp__lines_ends(stdio->lines));
        return true;
    case MCP__LINE_END:
        on_input_end(stdio);
        return false;
    case MCP__LINE_NONE:
        break;
    }
    return false;
}

static void take_lines(struct stdio *stdio)
{
    size_t bytes = 0;

    for (int i = 0; i < LINES_A_TURN && bytes < BYTES_A_TURN && stdio->has_lines; i++) {
        if (!has_room(stdio))
            return;
        stdio->has_lines = take_line(stdio, &bytes);
    }
}

static void on_input(void *data)
{
    ((struct stdio *)data)->has_lines = true; /* settling follows and takes them */
}

static int64_t settle(mcp__serve *self)
{
    struct stdio *stdio = (struct stdio *)self;

    take_lines(stdio);
    int64_t now_ms = mcp_clock_mono_ms();
    int64_t due_ms = mcp__dispatch_tick(&stdio->session, now_ms);
    int64_t tasks_ms = mcp__dispatch_tasks_tick(self->tasks, now_ms);
    mcp__writer_flush(stdio->writer);
    if ((mcp__writer_is_gone(stdio->writer) || stdio->has_lost) && !stdio->is_abandoned) {
        stdio->is_abandoned = true;
        close_input(self);
        refuse_waiting(self);
        mcp__serve_stop_calls(self, MCP_STOP_CLIENT_GONE);
        mcp__serve_stop_calls(self, MCP_STOP_SHUTDOWN);
    }
    if (stdio->has_lines && has_room(stdio))
        return now_ms; /* take another turn at once */
    return tasks_ms < due_ms ? tasks_ms : due_ms;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool take_descriptor(struct outside *outside, int fd, int replacement)
{
    outside->own[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return outside->own[fd] >= 0 && dup2(replacement, fd) >= 0;
}

static void leave_outside(struct outside *outside)
{
    (void)fflush(stdout); /* what was printed meanwhile still goes to standard error */
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
        if (outside->own[fd] < 0)
            continue;
        (void)fcntl(outside->own[fd], F_SETFL, outside->flags[fd]);
        (void)dup2(outside->own[fd], fd);
        (void)close(outside->own[fd]);
    }
    if (outside->ignores_broken_pipe)
        (void)sigaction(SIGPIPE, &outside->broken_pipe, NULL);
}

/* /dev/null, on a descriptor above the three that everybody knows: those may be free just now. */
static int open_nothing(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(fd);
    return high;
}

/* A descriptor that was closed when the program began may be held by one that leads the other
 * way. */
static bool leads(int flags, int wrong_way)
{
    return flags >= 0 && (flags & O_ACCMODE) != wrong_way && (flags & O_PATH) == 0;
}

static mcp_status take_outside(struct outside *outside, mcp_error *err)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };

    *outside = (struct outside){
        .own = { -1, -1 }, .flags = { fcntl(STDIN_FILENO, F_GETFL), fcntl(STDOUT_FILENO, F_GETFL) }
    };
    if (!leads(outside->flags[0], O_WRONLY))
        return mcp_error_set(err, MCP_E_IO, "standard input is closed");
    if (!leads(outside->flags[1], O_RDONLY))
        return mcp_error_set(err, MCP_E_IO, "standard output is closed");
    int nothing = open_nothing();
    if (nothing < 0)
        return mcp_error_errno(err, errno, "/dev/null cannot be opened");
    if (fcntl(STDERR_FILENO, F_GETFD) < 0) /* else the next thing opened would take its place */
        (void)dup2(nothing, STDERR_FILENO);
    (void)fflush(stdout);
    bool is_taken = take_descriptor(outside, STDIN_FILENO, nothing) &&
                    take_descriptor(outside, STDOUT_FILENO, STDERR_FILENO);
    int cause = errno;
    (void)close(nothing);
    if (!is_taken) {
        leave_outside(outside);
        return mcp_error_errno(err, cause, "standard input and output cannot be taken over");
    }
    outside->ignores_broken_pipe = sigaction(SIGPIPE, &ignore, &outside->broken_pipe) == 0;
    return MCP_OK;
}

static mcp_status open_transport(struct stdio *stdio, const mcp__serve_setup *setup,
                                 const struct outside *outside, mcp_error *err)
{
    static const mcp__serve_driver driver = {
        .settle = settle,
        .close = close_input,
        .refuse_waiting = refuse_waiting,
        .stop_calls = stop_calls,
        .abandon = abandon,
        .is_done = is_done,
    };
    mcp__serve *serve = &stdio->serve;
    mcp_status st = mcp__serve_open(serve, &driver, setup, 0, INT_MAX, err);

    if (st == MCP_OK)
        st = mcp__session_init(&stdio->session, &serve->context, err);
    if (st != MCP_OK)
        return st;
    stdio->has_session = true;
    stdio->session.listener = &stdio->peer;
    st = mcp__writer_new(&stdio->writer, serve->loop, outside->own[STDOUT_FILENO], on_gone, stdio,
                         err);
    if (st != MCP_OK)
        return st;
    return mcp__lines_new(&stdio->lines, serve->loop, outside->own[STDIN_FILENO],
                          serve->options->limits.message_max_bytes, on_input, stdio, err);
}

/* Returns false when a handler did not end: it keeps the pool, the loop, its call, and all that is
 * here. */
static bool close_transport(struct stdio *stdio)
{
    close_input(&stdio->serve);
    mcp__writer_free(stdio->writer);
    if (!mcp__serve_close(&stdio->serve))
        return false;
    if (stdio->has_session)
        mcp__session_clear(&stdio->session);
    mcp__serve_free(&stdio->serve);
    free(stdio);
    return true;
}

static mcp_status make_transport(struct stdio **out, mcp_error *err)
{
    struct stdio *stdio = mcp_alloc_zeroed(1, sizeof *stdio);

    if (!stdio)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to serve");
    stdio->peer = (mcp__peer){ .answer = answer,
                               .notify = notify,
                               .is_slow = is_slow,
                               .no_reply = no_reply,
                               .abort = abort_request,
                               .transport = "pipe" };
    *out = stdio;
    return MCP_OK;
}

/* What came of it, as the caller is to know it. */
static mcp_status outcome(const struct stdio *stdio, int write_errno, mcp_error *err)
{
    if (stdio->has_lost)
        return mcp_error_set(err, MCP_E_NOMEM, "an answer is lost for want of memory");
    if (write_errno != 0)
        return mcp_error_set(err, MCP_E_IO, "standard output cannot be written: %s",
                             strerror(write_errno));
    if (stdio->read_errno != 0)
        return mcp_error_set(err, MCP_E_IO, "standard input cannot be read: %s",
                             strerror(stdio->read_errno));
    return MCP_OK;
}

mcp_status mcp__stdio_serve(mcp__serve_setup *setup, mcp_error *err)
{
    struct outside outside;
    struct stdio *stdio = NULL;
    mcp_status st = make_transport(&stdio, err);

    if (st == MCP_OK)
        st = take_outside(&outside, err);
    if (st != MCP_OK) {
        free(stdio);
        return st;
    }
    st = open_transport(stdio, setup, &outside, err);
    if (st == MCP_OK) {
        mcp__serve_run(&stdio->serve);
        st = outcome(stdio, mcp__writer_errno(stdio->writer), err);
    }
    setup->is_left_running = !close_transport(stdio);
    leave_outside(&outside);
    return st;
}
