/*
 * stdio.c - a line is a message: standard input and output as a transport.
 *
 * While we serve, descriptor 1 points to standard error and descriptor 0 to /dev/null: a stray
 * print of some library, or a child that reads its input, cannot get between us and the client.
 *
 * The loop settles its affairs each time before it waits: it takes lines as long as there is room
 * for calls, sends what is due, writes all answers of this turn at once, and sees whether it is
 * time to go.
 *
 * Going (`ending`) has several causes and one course:
 *     input ended        what runs is finished and answered, tools that ask for it are told to stop
 *     SIGTERM, SIGINT    no further line is read, what waits is refused, what runs is told to stop
 *     the same again     what runs is cancelled
 *     nobody reads       what runs is told to stop, answers are dropped
 *     an answer is lost  there was no memory for it: no further line is read, what runs is told to stop
 * We leave when all is answered and written. After the grace time open calls are answered with an
 * error; LAST_MS later we leave whatever is still going on.
 */
#include "mcp/transport/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/task/task.h"
#include "net/lines.h"
#include "net/loop.h"
#include "net/pool.h"
#include "net/writer.h"

#define QUEUED_MAX_BYTES ((size_t)4 * 1024 * 1024) /* for a slow reader; then no line is taken */
#define BYTES_A_TURN ((size_t)256 * 1024)
#define LINES_A_TURN 256 /* then the loop sees to signals and answers before it takes more */
#define LAST_MS 500
#define SECOND_SIGNAL_MS 1000

/* The process's descriptors and signal handling, as they were. */
struct outside {
    int in; /* what was descriptor 0 and 1; -1: not taken yet */
    int out;
    int in_flags; /* reading and writing may make a socket non-blocking for all who share it */
    int out_flags;
    struct sigaction broken_pipe;
    bool ignores_broken_pipe;
};

struct stdio {
    mcp__peer peer; /* first */
    const mcp_server_options *options;
    mcp__loop *loop;
    mcp__pool *pool;
    mcp__lines *lines; /* NULL: no longer read */
    bool has_lines;    /* there may be some that were not taken yet; nothing will tell us again */
    mcp__writer *writer;
    mcp__timer *timer;
    mcp__signal *signals[2];
    mcp__task_table *tasks;
    mcp__session session;
    bool has_session;
    bool is_reading;  /* a worker has a large line */
    int64_t timer_ms; /* when the timer fires; INT64_MAX: it does not run */
    bool is_ending;
    bool is_abandoned; /* open calls were answered with an error */
    int64_t leave_ms;  /* when the grace time is over */
    int signal_count;
    bool has_lost; /* an answer: there was no memory for it */
    bool is_gone;  /* nobody reads, or nobody can be answered, and that was seen to */
};

/* ---- the peer -------------------------------------------------------------------------------- */

static void begin_ending(struct stdio *stdio, const char *why);

/* Who waits for an answer shall not wait in vain: we go, which the client sees. The next settling sees to it. */
static void lose(mcp__peer *peer)
{
    struct stdio *stdio = (struct stdio *)peer;

    stdio->has_lost = true;
    begin_ending(stdio, "an answer is lost for want of memory");
}

static bool send_line(struct stdio *stdio, mcp_buf *message)
{
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__writer_put(stdio->writer, message, &err) == MCP_OK)
        return true;
    mcp_log_write(&stdio->options->log, MCP_LOG_ERROR, "a message is lost: %s", err.message);
    return false;
}

static void answer(mcp__peer *peer, mcp_buf *message)
{
    if (!send_line((struct stdio *)peer, message))
        lose(peer);
}

static void notify(mcp__peer *peer, mcp_buf *message)
{
    (void)send_line((struct stdio *)peer, message);
}

static bool is_slow(const mcp__peer *peer)
{
    return mcp__writer_is_blocked(((const struct stdio *)peer)->writer);
}

static void skip(mcp__peer *peer)
{
    (void)peer;
}

/* ---- going ----------------------------------------------------------------------------------- */

static void stop_calls(struct stdio *stdio, mcp_stop why)
{
    mcp__task_stop_all(stdio->tasks, why);
    mcp__dispatch_stop(&stdio->session, why);
}

static void begin_ending(struct stdio *stdio, const char *why)
{
    if (stdio->is_ending)
        return;
    stdio->is_ending = true;
    stdio->leave_ms = mcp_clock_mono_ms() + stdio->options->grace_ms;
    mcp_log_write(&stdio->options->log, MCP_LOG_INFO, "going down: %s", why);
}

static void stop_reading(struct stdio *stdio)
{
    mcp__lines_free(stdio->lines);
    stdio->lines = NULL;
    stdio->has_lines = false;
}

static void on_input_end(struct stdio *stdio)
{
    stop_reading(stdio);
    begin_ending(stdio, "the client's messages have ended");
    stop_calls(stdio, MCP_STOP_CLIENT_GONE);
}

static void on_signal(int number, void *data)
{
    struct stdio *stdio = data;

    if (++stdio->signal_count > 1) {
        mcp_log_write(&stdio->options->log, MCP_LOG_WARNING, "cancelling what runs");
        stop_calls(stdio, MCP_STOP_CANCELLED);
        stdio->leave_ms = mcp_clock_mono_ms() + SECOND_SIGNAL_MS;
        return;
    }
    stop_reading(stdio);
    begin_ending(stdio, number == SIGINT ? "interrupted" : "terminated");
    mcp__dispatch_refuse_waiting(&stdio->session);
    stop_calls(stdio, MCP_STOP_SHUTDOWN);
}

/* From within a write: what has to be done about it, the next settling does. */
static void on_gone(void *data)
{
    struct stdio *stdio = data;

    begin_ending(stdio, "nobody reads the answers");
}

static void leave_if_done(struct stdio *stdio, int64_t now_ms)
{
    bool all_sent = !stdio->is_reading && mcp__dispatch_is_idle(&stdio->session) &&
                    mcp__task_all_idle(stdio->tasks) && mcp__writer_queued(stdio->writer) == 0;

    if (!all_sent && now_ms < stdio->leave_ms)
        return;
    if (!all_sent && !stdio->is_abandoned) {
        mcp_log_write(&stdio->options->log, MCP_LOG_WARNING, "the grace time is over");
        stdio->is_abandoned = true;
        stdio->leave_ms = now_ms + LAST_MS;
        stop_calls(stdio, MCP_STOP_SHUTDOWN);
        mcp__dispatch_abandon(&stdio->session);
        mcp__task_abandon(stdio->tasks);
        mcp__writer_flush(stdio->writer);
        return;
    }
    mcp__loop_stop(stdio->loop);
}

/* ---- the loop's turn ------------------------------------------------------------------------- */

static bool has_room(const struct stdio *stdio)
{
    return !stdio->is_reading && !mcp__dispatch_is_full(&stdio->session) &&
           mcp__writer_queued(stdio->writer) <= QUEUED_MAX_BYTES;
}

/* A large line. It is a block of its own, as a worker may have it longer than we live. */
struct reading {
    mcp__reading reading; /* first */
    struct stdio *stdio;
};

static void on_read(mcp__reading *it)
{
    struct reading *reading = (struct reading *)it;
    struct stdio *stdio = reading->stdio;

    stdio->is_reading = false;
    mcp__dispatch_incoming(&stdio->session, &stdio->peer, &it->incoming);
    free(reading);
    if (stdio->signal_count > 0) { /* it came before the signal, and fares like what came with it */
        mcp__dispatch_refuse_waiting(&stdio->session);
        mcp__dispatch_stop(&stdio->session, MCP_STOP_SHUTDOWN);
    }
}

/* A large line is read on a worker; the next is not taken before it is back. */
static void read_later(struct stdio *stdio, const char *text, size_t length)
{
    struct reading *reading = mcp__alloc_zeroed(1, sizeof(*reading));
    mcp__incoming lost = { .status = MCP_E_NOMEM, .err = MCP_ERROR_INIT };

    (void)mcp_error_set(&lost.err, MCP_E_NOMEM, "no memory to read a message");
    if (reading)
        lost.status = mcp__reading_init(&reading->reading, stdio->options,
                                        stdio->session.setup.budget, text, length, &lost.err);
    if (reading && lost.status == MCP_OK) {
        reading->stdio = stdio;
        reading->reading.done = on_read;
        lost.status = mcp__reading_start(&reading->reading, mcp__pool_executor(stdio->pool),
                                         &lost.err);
    }
    stdio->is_reading = lost.status == MCP_OK;
    if (stdio->is_reading)
        return;
    free(reading);
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
            read_later(stdio, text, length);
            return true;
        }
        *bytes += length;
        mcp__dispatch_message(&stdio->session, &stdio->peer, text, length);
        return true;
    case MCP__LINE_OVERLONG:
        mcp__dispatch_overlong(&stdio->session, &stdio->peer);
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

static void set_timer(struct stdio *stdio, int64_t due_ms, int64_t now_ms)
{
    if (due_ms == stdio->timer_ms)
        return;
    stdio->timer_ms = due_ms;
    if (due_ms == INT64_MAX)
        mcp__timer_stop(stdio->timer);
    else
        mcp__timer_start(stdio->timer, due_ms > now_ms ? due_ms - now_ms : 0);
}

static void on_timer(void *data)
{
    struct stdio *stdio = data;

    stdio->timer_ms = INT64_MAX; /* settling follows and sets it anew */
}

static void on_input(void *data)
{
    ((struct stdio *)data)->has_lines = true; /* settling follows and takes it */
}

/* Nobody reads, or an answer is lost: nothing more is taken, and whatever runs may stop. */
static void settle_gone(struct stdio *stdio)
{
    if (stdio->is_gone)
        return;
    stdio->is_gone = true;
    stop_reading(stdio);
    mcp__dispatch_refuse_waiting(&stdio->session);
    stop_calls(stdio, MCP_STOP_CLIENT_GONE);
    stop_calls(stdio, MCP_STOP_SHUTDOWN);
}

static void settle(void *data)
{
    struct stdio *stdio = data;

    take_lines(stdio);
    int64_t now_ms = mcp_clock_mono_ms();
    int64_t due_ms = mcp__dispatch_tick(&stdio->session, now_ms);
    int64_t tasks_ms = mcp__task_tick(stdio->tasks, now_ms);
    due_ms = tasks_ms < due_ms ? tasks_ms : due_ms;
    mcp__writer_flush(stdio->writer);
    if (mcp__writer_is_gone(stdio->writer) || stdio->has_lost)
        settle_gone(stdio);
    if (stdio->has_lines && has_room(stdio))
        due_ms = now_ms; /* no event will come for these: take another turn at once */
    if (stdio->is_ending) {
        leave_if_done(stdio, now_ms);
        due_ms = due_ms < stdio->leave_ms ? due_ms : stdio->leave_ms;
    }
    set_timer(stdio, due_ms, now_ms);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int take_descriptor(int fd, int replacement)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (own >= 0 && dup2(replacement, fd) < 0) {
        (void)close(own);
        return -1;
    }
    return own;
}

static void give_back(int *own, int fd, int flags)
{
    if (*own < 0)
        return;
    (void)fcntl(*own, F_SETFL, flags);
    (void)dup2(*own, fd);
    (void)close(*own);
    *own = -1;
}

static void leave_outside(struct outside *outside)
{
    (void)fflush(stdout); /* what was printed meanwhile still goes to standard error */
    give_back(&outside->in, STDIN_FILENO, outside->in_flags);
    give_back(&outside->out, STDOUT_FILENO, outside->out_flags);
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

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A descriptor that was closed when the program began may be held by one that leads the other way. */
static bool leads(int fd, int wrong_way)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != wrong_way && (flags & O_PATH) == 0;
}

static mcp_status take_outside(struct outside *outside, mcp_error *err)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };

    *outside = (struct outside){ .in = -1,
                                 .out = -1,
                                 .in_flags = fcntl(STDIN_FILENO, F_GETFL),
                                 .out_flags = fcntl(STDOUT_FILENO, F_GETFL) };
    if (!leads(STDIN_FILENO, O_WRONLY))
        return mcp_error_set(err, MCP_E_IO, "standard input is closed");
    if (!leads(STDOUT_FILENO, O_RDONLY))
        return mcp_error_set(err, MCP_E_IO, "standard output is closed");
    int nothing = open_nothing();
    if (nothing < 0)
        return mcp_error_errno(err, errno, "/dev/null cannot be opened");
    if (!is_open(STDERR_FILENO)) /* else the next thing opened would take its place */
        (void)dup2(nothing, STDERR_FILENO);
    (void)fflush(stdout);
    outside->in = take_descriptor(STDIN_FILENO, nothing);
    if (outside->in >= 0)
        outside->out = take_descriptor(STDOUT_FILENO, STDERR_FILENO);
    int cause = errno;
    (void)close(nothing);
    if (outside->out < 0) {
        leave_outside(outside);
        return mcp_error_errno(err, cause, "standard input and output cannot be taken over");
    }
    outside->ignores_broken_pipe = sigaction(SIGPIPE, &ignore, &outside->broken_pipe) == 0;
    return MCP_OK;
}

static mcp_status watch_signals(struct stdio *stdio, mcp_error *err)
{
    mcp_status st = mcp__signal_new(&stdio->signals[0], stdio->loop, SIGTERM, on_signal, stdio,
                                    err);

    if (st == MCP_OK)
        st = mcp__signal_new(&stdio->signals[1], stdio->loop, SIGINT, on_signal, stdio, err);
    return st;
}

static mcp_status open_session(struct stdio *stdio, const mcp__session_setup *setup, mcp_error *err)
{
    mcp__session_setup filled = *setup;

    filled.executor = mcp__pool_executor(stdio->pool);
    mcp_status st = mcp__task_table_new(&stdio->tasks, &filled, err);
    if (st != MCP_OK)
        return st;
    filled.tasks = stdio->tasks;
    st = mcp__session_init(&stdio->session, &filled, err);
    stdio->has_session = st == MCP_OK;
    if (st == MCP_OK)
        stdio->session.news = &stdio->peer;
    return st;
}

static mcp_status assemble(struct stdio *stdio, const mcp__session_setup *setup, int long_threads,
                           const struct outside *outside, mcp_error *err)
{
    mcp_status st = mcp__loop_new(&stdio->loop, err);

    if (st != MCP_OK)
        return st;
    mcp__loop_spin(stdio->loop, stdio->options->spin_us);
    st = mcp__pool_new(&stdio->pool, stdio->loop, stdio->options->short_threads, long_threads,
                       stdio->options->spare_threads, err);
    if (st != MCP_OK)
        return st;
    st = open_session(stdio, setup, err);
    if (st != MCP_OK)
        return st;
    st = mcp__timer_new(&stdio->timer, stdio->loop, on_timer, stdio, err);
    if (st != MCP_OK)
        return st;
    st = mcp__writer_new(&stdio->writer, stdio->loop, outside->out, on_gone, stdio, err);
    if (st != MCP_OK)
        return st;
    st = watch_signals(stdio, err);
    if (st != MCP_OK)
        return st;
    return mcp__lines_new(&stdio->lines, stdio->loop, outside->in,
                          stdio->options->message_max_bytes, on_input, stdio, err);
}

/* Returns false when a handler did not end: it keeps the pool, the loop and its call. */
static bool dismantle(struct stdio *stdio)
{
    stop_reading(stdio);
    mcp__writer_free(stdio->writer);
    mcp__timer_free(stdio->timer);
    for (int i = 0; i < 2; i++)
        mcp__signal_free(stdio->signals[i]);
    if (!mcp__pool_free(stdio->pool))
        return false;
    if (stdio->has_session)
        mcp__session_clear(&stdio->session);
    mcp__task_table_free(stdio->tasks);
    mcp__loop_free(stdio->loop);
    return true;
}

mcp_status mcp__stdio_serve(const mcp__session_setup *setup, int long_threads,
                            bool *is_left_running, mcp_error *err)
{
    struct outside outside;
    struct stdio stdio = {
        .peer = { .answer = answer,
                  .notify = notify,
                  .is_slow = is_slow,
                  .skip = skip,
                  .lose = lose },
        .options = setup->options,
        .timer_ms = INT64_MAX,
        .leave_ms = INT64_MAX,
    };
    mcp_status st = take_outside(&outside, err);

    if (st != MCP_OK)
        return st;
    st = assemble(&stdio, setup, long_threads, &outside, err);
    if (st == MCP_OK) {
        mcp__loop_before_wait(stdio.loop, settle, &stdio);
        mcp__loop_run(stdio.loop);
    }
    *is_left_running = !dismantle(&stdio);
    leave_outside(&outside);
    if (stdio.has_lost)
        return mcp_error_set(err, MCP_E_NOMEM, "an answer is lost for want of memory");
    return st;
}
