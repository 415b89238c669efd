/*
 * child.c - talking with a child, and its end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "proc/child.h"

enum { POLL_MAX_MS = 3600000, KILL_MS = 10000, LINES_FIRST_BYTES = 4096 };

mcp_status proc_poll(int fd, short events, int64_t until_ms, mcp_error *err)
{
    struct pollfd ready = { .fd = fd, .events = events };

    for (;;) {
        int64_t left_ms = until_ms == PROC_FOREVER ? POLL_MAX_MS : until_ms - mcp_clock_mono_ms();
        left_ms = left_ms < 0 ? 0 : left_ms > POLL_MAX_MS ? POLL_MAX_MS : left_ms;
        int count = poll(&ready, 1, (int)left_ms);
        if (count > 0)
            return MCP_OK;
        if (count < 0 && errno != EINTR)
            return mcp_error_errno(err, errno, "cannot wait for a child process");
        if (until_ms != PROC_FOREVER && mcp_clock_mono_ms() >= until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "the child process did not answer in time");
    }
}

mcp_status proc_next_report(proc *self, plan_report *report, int64_t until_ms, mcp_error *err)
{
    ssize_t n;

    do {
        mcp_status st = proc_poll(self->control, POLLIN, until_ms, err);
        if (st != MCP_OK)
            return st;
        n = recv(self->control, report, sizeof *report, MSG_DONTWAIT);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n != (ssize_t)sizeof *report)
        *report = (plan_report){ .kind = REPORT_ENDED, .how = PROC_LOST };
    return MCP_OK;
}

pid_t proc_pid(const proc *self)
{
    return self->launcher;
}

unsigned proc_held(const proc *self)
{
    return self->held;
}

int proc_descriptor(const proc *self, proc_stream stream)
{
    return self->streams[stream];
}

int proc_end_descriptor(const proc *self)
{
    return self->control;
}

void proc_close(proc *self, proc_stream stream)
{
    if (self->streams[stream] >= 0)
        close(self->streams[stream]);
    self->streams[stream] = -1;
}

/* write(2) whose SIGPIPE does not reach the program. */
static ssize_t write_quietly(int fd, const void *bytes, size_t length)
{
    static const struct timespec now = { 0, 0 };
    sigset_t pipe_signal, pending, before;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE))
        return write(fd, bytes, length);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t n = write(fd, bytes, length);
    int failure = errno;
    if (n < 0 && failure == EPIPE)
        while (sigtimedwait(&pipe_signal, NULL, &now) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return n;
}

static mcp_status no_pipe(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARAMS, "the stream of the child process is closed or no pipe");
}

mcp_status proc_write_some(proc *self, const void *bytes, size_t *length, mcp_error *err)
{
    ssize_t n;

    do
        n = write_quietly(self->streams[PROC_STDIN], bytes, *length);
    while (n < 0 && errno == EINTR);
    *length = n > 0 ? (size_t)n : 0;
    if (n >= 0 || errno == EAGAIN)
        return MCP_OK;
    if (errno == EPIPE)
        return mcp_error_set(err, MCP_E_STOPPED, "the child process reads no more input");
    return mcp_error_errno(err, errno, "cannot write to a child process");
}

mcp_status proc_write(proc *self, const void *bytes, size_t length, int64_t until_ms,
                      mcp_error *err)
{
    size_t written = 0;

    if (self->streams[PROC_STDIN] < 0)
        return no_pipe(err);
    while (written < length) {
        size_t part = length - written;
        mcp_status st = proc_write_some(self, (const char *)bytes + written, &part, err);
        if (st == MCP_OK && part == 0)
            st = proc_poll(self->streams[PROC_STDIN], POLLOUT, until_ms, err);
        if (st != MCP_OK)
            return st;
        written += part;
    }
    return MCP_OK;
}

mcp_status proc_read(proc *self, proc_stream stream, void *bytes, size_t size, size_t *length,
                     int64_t until_ms, mcp_error *err)
{
    int fd = self->streams[stream];

    if (fd < 0 || stream == PROC_STDIN)
        return no_pipe(err);
    for (;;) {
        ssize_t n = read(fd, bytes, size);
        if (n >= 0) {
            *length = (size_t)n;
            return MCP_OK;
        }
        if (errno == EAGAIN) {
            mcp_status st = proc_poll(fd, POLLIN, until_ms, err);
            if (st != MCP_OK)
                return st;
        } else if (errno != EINTR) {
            return mcp_error_errno(err, errno, "cannot read from a child process");
        }
    }
}

/* Make room in the buffer of lines: by moving what it holds to its front, then by growing. */
static mcp_status make_room(proc *self, mcp_error *err)
{
    size_t held = self->lines.end - self->lines.begin;

    if (held >= self->lines.max) {
        proc_close(self, PROC_STDOUT);
        return mcp_error_set(err, MCP_E_LIMIT, "a line of a child process exceeds %zu bytes",
                             self->lines.max - 1);
    }
    if (held > 0)
        memmove(self->lines.data, self->lines.data + self->lines.begin, held);
    self->lines.begin = 0;
    self->lines.end = held;
    if (held < self->lines.capacity)
        return MCP_OK;
    size_t capacity = held > 0 ? 2 * held : LINES_FIRST_BYTES;
    capacity = capacity < self->lines.max ? capacity : self->lines.max;
    char *data = mcp_realloc(self->lines.data, capacity);
    if (!data)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a line of a child process");
    self->lines.data = data;
    self->lines.capacity = capacity;
    return MCP_OK;
}

mcp_status proc_read_line(proc *self, const char **line, size_t *length, int64_t until_ms,
                          mcp_error *err)
{
    size_t searched = 0, arrived = 1;

    while (arrived > 0) {
        size_t held = self->lines.end - self->lines.begin;
        char *begin = held > 0 ? self->lines.data + self->lines.begin : NULL;
        char *newline = held > searched ? memchr(begin + searched, '\n', held - searched) : NULL;
        if (newline) {
            *newline = '\0';
            *line = begin;
            *length = (size_t)(newline - begin);
            self->lines.begin += *length + 1;
            return MCP_OK;
        }
        searched = held;
        mcp_status st = make_room(self, err);
        if (st == MCP_OK)
            st = proc_read(self, PROC_STDOUT, self->lines.data + self->lines.end,
                           self->lines.capacity - self->lines.end, &arrived, until_ms, err);
        if (st != MCP_OK)
            return st;
        self->lines.end += arrived;
    }
    if (searched > 0)
        return mcp_error_set(err, MCP_E_PARSE, "the output of a child process ended within a line");
    *line = NULL;
    *length = 0;
    return MCP_OK;
}

static void keep_end(proc *self, const plan_report *report)
{
    int status = report->wait_status;
    bool is_signal = report->how != PROC_LOST && WIFSIGNALED(status);
    bool is_exit = report->how != PROC_LOST && WIFEXITED(status);

    self->end = (proc_end){
        .how = report->how,
        .code = is_exit ? WEXITSTATUS(status) : -1,
        .signal = is_signal ? WTERMSIG(status) : 0,
        .cpu_ms = report->cpu_ms,
        .memory_max_bytes = report->memory_max_bytes,
    };
}

/* The launcher ends by itself after its last report; where it was killed it is gone already. */
static void reap_launcher(proc *self)
{
    while (!self->is_forked && waitpid(self->launcher, NULL, 0) < 0 && errno == EINTR)
        continue;
}

mcp_status proc_wait(proc *self, proc_end *end, int64_t until_ms, mcp_error *err)
{
    plan_report report;

    while (!self->has_ended) {
        mcp_status st = proc_next_report(self, &report, until_ms, err);
        if (st != MCP_OK)
            return st;
        if (report.kind == REPORT_STARTED)
            continue;
        keep_end(self, &report);
        reap_launcher(self);
        self->has_ended = true;
    }
    if (end)
        *end = self->end;
    return MCP_OK;
}

static void order(const proc *self, char what)
{
    while (send(self->control, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR)
        continue;
}

void proc_stop(proc *self)
{
    order(self, PLAN_STOP);
}

void proc_kill(proc *self)
{
    order(self, PLAN_KILL);
}

void proc_free(proc *self)
{
    if (!self)
        return;
    for (int i = 0; i < 3; i++)
        proc_close(self, (proc_stream)i);
    if (self->has_started && !self->has_ended) {
        proc_kill(self);
        if (proc_wait(self, NULL, mcp_clock_mono_ms() + KILL_MS, NULL) != MCP_OK) {
            if (self->launcher > 0)
                kill(self->launcher, SIGKILL);
            reap_launcher(self);
        }
    }
    if (self->control >= 0)
        close(self->control);
    free(self->lines.data);
    free(self);
}
