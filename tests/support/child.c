/*
 * child.c - starts a program, talks to it, and leaves nothing of it behind.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { WAIT_MS = 60000, LINE_MAX_BYTES = 32 << 20, COMPLAINTS_MAX = 4000 };

static int complaints_file(void)
{
    char path[] = "/tmp/complaints-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static void become(char *const *arguments, int in, int out, int complaints)
{
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(complaints, STDERR_FILENO) >= 0)
        execv(arguments[0], arguments);
    dprintf(complaints, "%s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

void child_start(child *c, char *const *arguments)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    mcp_buf_init(&c->unread, LINE_MAX_BYTES);
    c->given = 0;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    c->complaints = complaints_file();
    c->pid = fork();
    assert_true(c->pid >= 0);
    if (c->pid == 0)
        become(arguments, in[0], out[1], c->complaints);
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
}

void child_send(child *c, const char *line, size_t length)
{
    mcp_buf buf;
    size_t sent = 0;

    mcp_buf_init(&buf, LINE_MAX_BYTES);
    mcp_buf_append(&buf, line, length);
    assert_int_equal(mcp_buf_putc(&buf, '\n'), MCP_OK);
    while (sent < buf.length) {
        ssize_t n = write(c->to, buf.data + sent, buf.length - sent);
        if (n < 0 && errno != EINTR)
            break;
        sent += n > 0 ? (size_t)n : 0;
    }
    if (sent < buf.length)
        fail_msg("the program takes no more: %s", child_complaints(c));
    mcp_buf_clear(&buf);
}

/* Wait for output and take what is there; false at its end. */
static bool fill(child *c)
{
    struct pollfd ready = { .fd = c->from, .events = POLLIN };
    char bytes[65536];
    ssize_t n;

    if (poll(&ready, 1, WAIT_MS) <= 0)
        fail_msg("the program was silent for %d s: %s", WAIT_MS / 1000, child_complaints(c));
    n = read(c->from, bytes, sizeof bytes);
    if (n > 0)
        assert_int_equal(mcp_buf_append(&c->unread, bytes, (size_t)n), MCP_OK);
    return n > 0;
}

/* Drop the line that was given out last. */
static void drop_given(child *c)
{
    if (c->given == 0)
        return;
    memmove(c->unread.data, c->unread.data + c->given, c->unread.length - c->given);
    c->unread.length -= c->given;
    c->given = 0;
}

bool child_next(child *c, const char **line, size_t *length)
{
    char *newline;

    drop_given(c);
    for (;;) {
        newline = c->unread.length > 0 ? memchr(c->unread.data, '\n', c->unread.length) : NULL;
        if (newline)
            break;
        if (!fill(c)) {
            if (c->unread.length > 0)
                fail_msg("the program ended within a line");
            return false;
        }
    }
    *newline = '\0';
    *line = c->unread.data;
    *length = (size_t)(newline - c->unread.data);
    c->given = *length + 1;
    return true;
}

/* Wait until the program is gone. */
static int wait_for(child *c)
{
    const struct timespec step = { 0, 5000000 };
    int status = 0;

    for (int waited_ms = 0; waitpid(c->pid, &status, WNOHANG) == 0; waited_ms += 5) {
        if (waited_ms > WAIT_MS)
            fail_msg("the program does not end: %s", child_complaints(c));
        nanosleep(&step, NULL);
    }
    c->pid = 0;
    return status;
}

int child_end(child *c)
{
    const char *line;
    size_t length;
    int status;

    close(c->to);
    c->to = -1;
    if (child_next(c, &line, &length))
        fail_msg("the program said more than it should: %s", line);
    status = wait_for(c);
    if (!WIFEXITED(status))
        fail_msg("the program died of signal %d: %s", WTERMSIG(status), child_complaints(c));
    return WEXITSTATUS(status);
}

void child_clear(child *c)
{
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    if (c->to > 0)
        close(c->to);
    if (c->from > 0)
        close(c->from);
    if (c->complaints > 0)
        close(c->complaints);
    if (c->unread.max_bytes > 0)
        mcp_buf_clear(&c->unread);
    *c = (child){ .to = -1, .from = -1, .complaints = -1 };
}

const char *child_complaints(const child *c)
{
    static char text[COMPLAINTS_MAX];
    ssize_t n = pread(c->complaints, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}
