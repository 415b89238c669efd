/*
 * feeder.c - a socket pair, one end with the server, and the loop turned by hand.
 */
#include "feeder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http/connection.h"

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

void feeder_start(feeder *self, const mcp__http_options *options)
{
    must(mcp__loop_new(&self->loop, NULL) == MCP_OK);
    must(mcp__http_new(&self->http, self->loop, options, NULL) == MCP_OK);
}

static void turn(feeder *self)
{
    (void)uv_run(&self->loop->uv, UV_RUN_NOWAIT);
}

static void drain(int fd, mcp_buf *answer)
{
    char bytes[65536];
    ssize_t count;

    for (count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT); count > 0;
         count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT))
        must(mcp_buf_append(answer, bytes, (size_t)count) == MCP_OK);
}

static void put(feeder *self, int fd, const void *bytes, size_t length, mcp_buf *answer)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t count = send(fd, at, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) {
            at += count;
            length -= (size_t)count;
        }
        turn(self);
        drain(fd, answer);
        if (mcp__http_connections(self->http) == 0)
            return; /* it has closed */
    }
}

void feeder_feed(feeder *self, const char *opening, const uint8_t *bytes, size_t length,
                 size_t step, mcp_buf *answer)
{
    int pair[2];

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    must(mcp__connection_new(self->http, pair[0], true, NULL, NULL) == MCP_OK);
    put(self, pair[1], opening, strlen(opening), answer);
    for (size_t at = 0; at < length; at += step)
        put(self, pair[1], bytes + at, length - at < step ? length - at : step, answer);
    (void)shutdown(pair[1], SHUT_WR);
    for (int i = 0; i < 1000 && mcp__http_connections(self->http) > 0; i++) {
        turn(self);
        drain(pair[1], answer);
    }
    must(mcp__http_connections(self->http) == 0);
    drain(pair[1], answer);
    (void)close(pair[1]);
    turn(self); /* frees what was closed */
}
