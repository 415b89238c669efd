/*
 * http_peer.c - accepting, reading requests whole, and handing them to the test.
 */
#include "http_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUEST_MAX (32 << 20)
#define PIECE 16384

struct connection {
    http_peer *peer;
    int fd;
    int number;
    pthread_t thread;
};

struct http_peer {
    http_peer_answer *answer;
    void *data;
    int fd;
    int port;
    pthread_t thread;
    int ending[2];        /* a pipe; its writing end is closed at the end */
    pthread_mutex_t lock; /* guards what follows */
    struct connection connections[HTTP_PEER_CONNECTIONS];
    int accepted;
    int requests;
    bool ended;
};

/* What a connection has received. Not an mcp_buf: the client under test may be refused memory. */
struct input {
    char *data;
    size_t length;
};

static bool read_more(struct input *in, int fd)
{
    char *longer = realloc(in->data, in->length + PIECE + 1);

    assert_non_null(longer);
    in->data = longer;
    ssize_t got = in->length < REQUEST_MAX ? recv(fd, longer + in->length, PIECE, 0) : -1;
    if (got <= 0)
        return false;
    in->length += (size_t)got;
    longer[in->length] = '\0';
    return true;
}

const char *http_peer_field(const http_peer_request *request, const char *name, char *out,
                            size_t size)
{
    size_t length = strlen(name);

    out[0] = '\0';
    for (const char *line = strstr(request->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        const char *field = line + 2;
        if (strncasecmp(field, name, length) != 0 || field[length] != ':')
            continue;
        const char *value = field + length + 1 + strspn(field + length + 1, " ");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\r"), value);
        break;
    }
    return out;
}

/* The next request of the connection, handed to the test. */
static bool serve(struct connection *self, struct input *in)
{
    http_peer *peer = self->peer;
    http_peer_request request = { .connection = self->number };
    char text[32];

    in->length = 0;
    while (in->length == 0 || !strstr(in->data, "\r\n\r\n")) {
        if (!read_more(in, self->fd))
            return false;
    }
    size_t head_length = (size_t)(strstr(in->data, "\r\n\r\n") + 4 - in->data);
    char *head = strndup(in->data, head_length);
    request.head = head;
    request.body_length = strtoul(http_peer_field(&request, "Content-Length", text, sizeof text),
                                  NULL, 10);
    bool is_whole = true;
    while (is_whole && in->length < head_length + request.body_length)
        is_whole = read_more(in, self->fd);
    request.body = in->data + head_length;
    pthread_mutex_lock(&peer->lock);
    request.number = ++peer->requests;
    pthread_mutex_unlock(&peer->lock);
    bool goes_further = is_whole && peer->answer(peer->data, peer, self->fd, &request);
    free(head);
    return goes_further;
}

static void *run_connection(void *data)
{
    struct connection *self = data;
    struct input in = { NULL, 0 };
    const int on = 1; /* answers are sent in pieces */

    setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (serve(self, &in))
        ;
    free(in.data);
    pthread_mutex_lock(&self->peer->lock);
    close(self->fd);
    self->fd = -1;
    pthread_mutex_unlock(&self->peer->lock);
    return NULL;
}

static void *run(void *data)
{
    http_peer *self = data;

    for (;;) {
        int fd = accept(self->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        pthread_mutex_lock(&self->lock);
        if (self->ended || self->accepted == HTTP_PEER_CONNECTIONS) {
            close(fd);
        } else {
            struct connection *one = &self->connections[self->accepted];
            *one = (struct connection){ self, fd, ++self->accepted, 0 };
            pthread_create(&one->thread, NULL, run_connection, one);
        }
        pthread_mutex_unlock(&self->lock);
    }
}

http_peer *http_peer_start(http_peer_answer *answer, void *data)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    http_peer *self = calloc(1, sizeof *self);

    assert_non_null(self);
    self->answer = answer;
    self->data = data;
    self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(self->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(self->fd, 64), 0);
    assert_int_equal(getsockname(self->fd, (struct sockaddr *)&address, &size), 0);
    self->port = ntohs(address.sin_port);
    pthread_mutex_init(&self->lock, NULL);
    assert_int_equal(pipe(self->ending), 0);
    assert_int_equal(pthread_create(&self->thread, NULL, run, self), 0);
    return self;
}

void http_peer_end(http_peer *self)
{
    pthread_mutex_lock(&self->lock);
    self->ended = true;
    close(self->ending[1]);
    for (int i = 0; i < self->accepted; i++) {
        if (self->connections[i].fd >= 0)
            shutdown(self->connections[i].fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&self->lock);
    shutdown(self->fd, SHUT_RDWR); /* wakes accept */
    pthread_join(self->thread, NULL);
    for (int i = 0; i < self->accepted; i++)
        pthread_join(self->connections[i].thread, NULL);
    close(self->fd);
    close(self->ending[0]);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int http_peer_port(const http_peer *self)
{
    return self->port;
}

int http_peer_requests(http_peer *self)
{
    pthread_mutex_lock(&self->lock);
    int requests = self->requests;
    pthread_mutex_unlock(&self->lock);
    return requests;
}

int http_peer_connections(http_peer *self)
{
    pthread_mutex_lock(&self->lock);
    int connections = self->accepted;
    pthread_mutex_unlock(&self->lock);
    return connections;
}

static bool send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

bool http_peer_send(int fd, const char *text)
{
    return send_all(fd, text, strlen(text));
}

bool http_peer_reply(int fd, const char *head, const char *body)
{
    char length[40];

    snprintf(length, sizeof length, "%zu\r\n\r\n", strlen(body));
    return http_peer_send(fd, "HTTP/1.1 ") && http_peer_send(fd, head) &&
           http_peer_send(fd, "\r\nContent-Length: ") && http_peer_send(fd, length) &&
           http_peer_send(fd, body);
}

void http_peer_reset(int fd)
{
    const struct linger none = { 1, 0 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void http_peer_wait(http_peer *self, int ms)
{
    struct pollfd ending = { self->ending[0], POLLIN, 0 };

    poll(&ending, 1, ms);
}
