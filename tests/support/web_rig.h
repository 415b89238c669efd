/*
 * web_rig.h - a server of ours over HTTP in a thread, with the fixture's features; and one request
 * of it.
 *
 * The clients of rig.h reach it too.
 */
#ifndef TESTS_WEB_RIG_H
#define TESTS_WEB_RIG_H

#include <stddef.h>

#include "mcp/http.h"

typedef struct web_rig web_rig;

/*
 * The tool rig/hold, which is added: it reports progress 1, then waits until web_release was
 * called, or it is asked to stop; then it reports progress 2 and answers {"stop": why}, which is 0
 * when released. The tool rig/leave drops the connection first. rig/scoped needs the scopes "mcp
 * write" and answers with the name of its principal.
 */
void web_release(void);

/** Wait until `count` calls of rig/hold run or have run since the server began; CLIENT_WAIT_MS at
 *  most. */
void web_await_held(int count);

/* Serve on a free port of 127.0.0.1; `server` and `http` may be NULL. A failure ends the test. */
web_rig *web_start(const mcp_server_options *server, const mcp_http_options *http);

/* The same with further features; `more` may be NULL. */
web_rig *web_start_with(const mcp_server_options *server, const mcp_http_options *http,
                        const mcp_features *more);

int web_port(const web_rig *self);

/* Ask it to stop, as SIGTERM does; web_end follows. */
void web_stop(web_rig *self);

/* The same by mcp_server_stop. */
void web_request_stop(web_rig *self);

/* Ask it to stop, unless web_stop has, and wait until it has. What serving returned is returned. */
mcp_status web_end(web_rig *self);

/* An answer: status, head and body are NUL-terminated texts in `text`; chunks are put together. */
typedef struct web_answer {
    int status;
    const char *head;
    const char *body;
    char text[256 * 1024];
} web_answer;

/*
 * One request on a connection of its own, read to its end.
 *
 * @param fields further header lines, each with its "\r\n"; may be NULL
 * @param body   NULL: none; otherwise with its Content-Type application/json and Accept of both
 *               kinds, unless `fields` names them
 */
void web_ask(web_answer *out, int port, const char *method, const char *path, const char *fields,
             const char *body);

/* Begin such a request and leave the connection open, to be read by client_read. */
int web_begin(int port, const char *method, const char *path, const char *fields, const char *body);

/* The value of a header field of the answer, copied into `out`; "" when it is absent. */
const char *web_field(const web_answer *answer, const char *name, char *out, size_t size);

#endif
