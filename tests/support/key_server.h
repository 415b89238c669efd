/*
 * key_server.h - an HTTP server of one thread that answers every request alike, for tests of
 * fetching.
 */
#ifndef KEY_SERVER_H
#define KEY_SERVER_H

#include <openssl/evp.h>

typedef struct key_server key_server;

/*
 * Listen on a free port of 127.0.0.1; a failure ends the test.
 *
 * @param certificate where a certificate for 127.0.0.1 is written, PEM; then the server speaks TLS
 *                    with it. NULL: plain
 */
key_server *key_server_start(const char *certificate, EVP_PKEY *key);
void key_server_end(key_server *self);

/* "http://127.0.0.1:PORT/keys" or https; lives as long as the server. */
const char *key_server_url(const key_server *self);

/*
 * What is answered from now on: the head's lines behind "HTTP/1.1 " without the last empty one
 * ("200 OK\r\nX: y"), and the body. Both are copied. There is no Content-Length; the body ends with
 * the connection.
 */
void key_server_answer(key_server *self, const char *head, const char *body);

/* Hold answers back, until they are let go. */
void key_server_hold(key_server *self);
void key_server_let_go(key_server *self);

/* How many requests came so far; or wait until that many came. */
int key_server_requests(key_server *self);
void key_server_wait(key_server *self, int requests);

#endif
