/*
 * rig.c - a server in a thread, and clients that wait.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/clock.h"

struct rig {
    mcp__loop *loop;
    mcp__http *http;
    mcp__tls_context *tls;
    pthread_t thread;
    int port;
};

struct visit {
    mcp__node node;
    void (*run)(void *data);
    void *data;
    sem_t is_done;
};

static void *loop_main(void *data)
{
    rig *self = data;

    mcp__loop_run(self->loop);
    return NULL;
}

rig *rig_start(const mcp__http_options *options, const char *certificate, const char *key,
               const char *unix_path)
{
    rig *self = calloc(1, sizeof *self);
    mcp_error err = MCP_ERROR_INIT;

    assert_non_null(self);
    assert_int_equal(mcp__loop_new(&self->loop, &err), MCP_OK);
    if (certificate && mcp__tls_context_new(&self->tls, certificate, key, &err) != MCP_OK)
        fail_msg("%s", err.message);
    assert_int_equal(mcp__http_new(&self->http, self->loop, options, &err), MCP_OK);
    if (mcp__http_listen(self->http, "127.0.0.1", 0, self->tls, &self->port, &err) != MCP_OK)
        fail_msg("%s", err.message);
    if (unix_path && mcp__http_listen_unix(self->http, unix_path, &err) != MCP_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pthread_create(&self->thread, NULL, loop_main, self), 0);
    return self;
}

mcp__http *rig_http(rig *self)
{
    return self->http;
}

mcp__loop *rig_loop(rig *self)
{
    return self->loop;
}

int rig_port(const rig *self)
{
    return self->port;
}

static void on_visit(mcp__node *node)
{
    struct visit *visit = (struct visit *)node;

    visit->run(visit->data);
    sem_post(&visit->is_done);
}

void rig_call(rig *self, void (*run)(void *data), void *data)
{
    struct visit visit = { .node = { .run = on_visit }, .run = run, .data = data };

    sem_init(&visit.is_done, 0, 0);
    mcp__loop_post(self->loop, &visit.node);
    while (sem_wait(&visit.is_done) != 0) {
    }
    sem_destroy(&visit.is_done);
}

static void say_empty(void *data)
{
    sem_post(data);
}

struct stopping {
    rig *rig;
    sem_t is_empty;
};

static void begin_stop(void *data)
{
    struct stopping *stopping = data;

    mcp__http_stop(stopping->rig->http, say_empty, &stopping->is_empty);
}

void rig_stop(rig *self)
{
    struct stopping stopping = { .rig = self };

    sem_init(&stopping.is_empty, 0, 0);
    rig_call(self, begin_stop, &stopping);
    while (sem_wait(&stopping.is_empty) != 0) {
    }
    sem_destroy(&stopping.is_empty);
}

static void stop_loop(void *data)
{
    mcp__loop_stop(data);
}

void rig_end(rig *self)
{
    rig_call(self, stop_loop, self->loop);
    pthread_join(self->thread, NULL);
    mcp__http_free(self->http);
    mcp__loop_free(self->loop);
    mcp__tls_context_free(self->tls);
    free(self);
}

/* ---- clients --------------------------------------------------------------------------------- */

int client_open(int port)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

int client_open_unix(const char *path)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && strlen(path) < sizeof name.sun_path);
    memcpy(name.sun_path, path, strlen(path) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

bool client_send(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t count = send(fd, at, length, MSG_NOSIGNAL);
        if (count < 0)
            return false;
        at += count;
        length -= (size_t)count;
    }
    return true;
}

bool client_say(int fd, const char *text)
{
    return client_send(fd, text, strlen(text));
}

/* 0 at the end or after a reset; -1 when nothing came in time. */
static ssize_t read_within(int fd, void *out, size_t size, int64_t deadline_ms)
{
    struct pollfd waits = { .fd = fd, .events = POLLIN };
    int64_t left = deadline_ms - mcp_clock_mono_ms();

    if (left <= 0 || poll(&waits, 1, (int)left) <= 0)
        return -1;
    ssize_t count = recv(fd, out, size, 0);
    return count < 0 ? 0 : count;
}

size_t client_read(int fd, char *out, size_t size, const char *wanted)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;
    size_t length = 0;

    out[0] = '\0';
    while (!wanted || !memmem(out, length, wanted, strlen(wanted))) {
        assert_true(length + 1 < size);
        ssize_t count = read_within(fd, out + length, size - 1 - length, deadline_ms);
        if (count < 0)
            fail_msg("nothing came in time; so far: %s", out);
        if (count == 0) {
            if (wanted)
                fail_msg("closed before \"%s\" came; so far: %s", wanted, out);
            break;
        }
        length += (size_t)count;
        out[length] = '\0';
    }
    return length;
}

void client_read_exactly(int fd, void *out, size_t length)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;
    char *at = out;

    while (length > 0) {
        ssize_t count = read_within(fd, at, length, deadline_ms);
        assert_true(count > 0);
        at += count;
        length -= (size_t)count;
    }
}

size_t client_ask(int port, const char *request, char *out, size_t size)
{
    int fd = client_open(port);

    (void)client_say(fd, request);
    size_t length = client_read(fd, out, size, NULL);
    close(fd);
    return length;
}

bool client_is_closed_within(int fd, int ms)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + ms;
    char dropped[4096];
    ssize_t count;

    do {
        count = read_within(fd, dropped, sizeof dropped, deadline_ms);
    } while (count > 0);
    return count == 0;
}
