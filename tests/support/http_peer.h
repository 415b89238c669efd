/*
 * http_peer.h - an HTTP server on loopback whose every answer is written by the test, byte by byte.
 *
 * A thread a connection, at most HTTP_PEER_CONNECTIONS in its life; a failure ends the test.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_PEER_CONNECTIONS 256

typedef struct http_peer http_peer;

/* A request: its head with the empty line, and its body; each ends with NUL. */
typedef struct http_peer_request {
    int number; /* from 1, over all connections */
    int connection;
    const char *head;
    const char *body;
    size_t body_length;
} http_peer_request;

/*
 * Answers a request by http_peer_send; false closes the connection. On the connection's thread.
 */
typedef bool http_peer_answer(void *data, http_peer *self, int fd,
                              const http_peer_request *request);

http_peer *http_peer_start(http_peer_answer *answer, void *data);

/* Closes all connections and waits for their threads. */
void http_peer_end(http_peer *self);

int http_peer_port(const http_peer *self);
int http_peer_requests(http_peer *self);
int http_peer_connections(http_peer *self);

/* Send text; false: the client has hung up. */
bool http_peer_send(int fd, const char *text);

/* A whole answer with Content-Length; `head` as "200 OK\r\nX: y". */
bool http_peer_reply(int fd, const char *head, const char *body);

/* Make the close of the connection a reset. */
void http_peer_reset(int fd);

/* The value of a header of a request, copied into `out`; "" where it has none. */
const char *http_peer_field(const http_peer_request *request, const char *name, char *out,
                            size_t size);

/* Wait until the peer is ended or `ms` have passed. */
void http_peer_wait(http_peer *self, int ms);

#endif
