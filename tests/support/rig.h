/*
 * rig.h - an HTTP server whose loop runs in a thread, and plain blocking clients for it.
 */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "net/http.h"

typedef struct rig rig;

/*
 * Start a server on a free port of 127.0.0.1. `certificate` and `key` are files, NULL: plain;
 * `unix_path` is listened on as well, NULL: not. A failure ends the test.
 */
rig *rig_start(const mcp__http_options *options, const char *certificate, const char *key,
               const char *unix_path);

mcp__http *rig_http(rig *self);
mcp__loop *rig_loop(rig *self);
int rig_port(const rig *self);

/* Run on the loop, and wait until it has run. */
void rig_call(rig *self, void (*run)(void *data), void *data);

/* Stop the server in order and wait until it is empty; the loop runs on. */
void rig_stop(rig *self);

/* End the loop, free the server with whatever is still open. */
void rig_end(rig *self);

/* A connected socket; a failure ends the test. */
int client_open(int port);
int client_open_unix(const char *path);

/* Send all of it; false when the server has closed. */
bool client_send(int fd, const void *bytes, size_t length);
bool client_say(int fd, const char *text);

#define CLIENT_WAIT_MS 60000

/*
 * Read until `wanted` has come, or, where it is NULL, until the server closes. What was read is in
 * `out`, with a NUL behind it; its length is returned. Ends the test after CLIENT_WAIT_MS, and
 * where the server closes before `wanted` came.
 */
size_t client_read(int fd, char *out, size_t size, const char *wanted);

/* Exactly `length` bytes. */
void client_read_exactly(int fd, void *out, size_t length);

/* One request on a connection of its own, read to its end. */
size_t client_ask(int port, const char *request, char *out, size_t size);

/* Whether the server closes within `ms`, reading and dropping what comes. */
bool client_is_closed_within(int fd, int ms);

#endif
