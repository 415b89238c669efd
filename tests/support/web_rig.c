/*
 * web_rig.c - mcp_server_http in a thread.
 */
#include "web_rig.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "rig.h"

struct web_rig {
    mcp_server *server;
    mcp_http_options http;
    pthread_t thread;
    sem_t is_ready;
    int port;
    bool is_stopping;
    mcp_status status;
    mcp_error err;
};

/* ---- rig/hold -------------------------------------------------------------------------------- */

static sem_t released;
static atomic_int held;

static mcp_status hold(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1, .every = true };

    (void)data;
    atomic_fetch_add(&held, 1);
    mcp_call_progress(call, &progress);
    while (mcp_call_stop(call) == MCP_STOP_NONE && sem_trywait(&released) != 0)
        usleep(1000);
    progress.progress = 2;
    mcp_call_progress(call, &progress);
    mcp_write_member_int(mcp_call_result(call), "stop", mcp_call_stop(call));
    return MCP_OK;
}

/* Sends its client away first. */
static mcp_status leave(mcp_call *call, void *data)
{
    mcp_call_close_stream(call);
    return hold(call, data);
}

static mcp_status scoped(mcp_call *call, void *data)
{
    const char *name = mcp_call_principal(call);

    (void)data;
    return mcp_call_text(call, name ? name : "nobody");
}

static const char leave_file[] = "{\"name\":\"rig/leave\",\"description\":\"Lets go.\","
                                 "\"inputSchema\":{\"type\":\"object\"}}";
static const char hold_file[] = "{\"name\":\"rig/hold\",\"description\":\"Waits.\","
                                "\"inputSchema\":{\"type\":\"object\"}}";
static const char scoped_file[] = "{\"name\":\"rig/scoped\",\"description\":\"Wants scopes.\","
                                  "\"inputSchema\":{\"type\":\"object\"},"
                                  "\"_meta\":{\"causeway/scopes\":\"mcp write\"}}";
static const mcp_file files[] = { { "tools/rig/scoped.json", scoped_file, sizeof scoped_file - 1 },
                                  { "tools/rig/hold.json", hold_file, sizeof hold_file - 1 },
                                  { "tools/rig/leave.json", leave_file, sizeof leave_file - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "rig/hold", hold, MCP_READS, 0, 0 },
                                  { "rig/leave", leave, MCP_READS, 0, 0 },
                                  { "rig/scoped", scoped, MCP_READS, 0, 0 },
                                  { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

void web_release(void)
{
    sem_post(&released);
}

void web_await_held(int count)
{
    for (int ms = 0; atomic_load(&held) < count; ms++) {
        if (ms > CLIENT_WAIT_MS)
            fail_msg("%d of %d calls of rig/hold began", atomic_load(&held), count);
        usleep(1000);
    }
}

/* ---- the server ------------------------------------------------------------------------------ */

static void on_ready(int port, void *data)
{
    web_rig *self = data;

    self->port = port;
    sem_post(&self->is_ready);
}

static void *serve(void *data)
{
    web_rig *self = data;

    self->status = mcp_server_http(self->server, &self->http, &self->err);
    if (self->port == 0)
        sem_post(&self->is_ready);
    return NULL;
}

web_rig *web_start_with(const mcp_server_options *server, const mcp_http_options *http,
                        const mcp_features *more)
{
    web_rig *self = calloc(1, sizeof *self);
    mcp_server_options options = server ? *server : (mcp_server_options)MCP_SERVER_OPTIONS_INIT;

    assert_non_null(self);
    options.name = "fixture";
    options.version = "1.0.0";
    self->http = http ? *http : (mcp_http_options)MCP_HTTP_OPTIONS_INIT;
    self->http.ready = on_ready;
    self->http.data = self;
    if (mcp_server_new(&self->server, &options, &self->err) != MCP_OK ||
        mcp_server_add(self->server, &fixture_features, &self->err) != MCP_OK ||
        mcp_server_add(self->server, &features, &self->err) != MCP_OK ||
        (more && mcp_server_add(self->server, more, &self->err) != MCP_OK))
        fail_msg("%s", self->err.message);
    sem_init(&self->is_ready, 0, 0);
    sem_init(&released, 0, 0);
    atomic_store(&held, 0);
    assert_int_equal(pthread_create(&self->thread, NULL, serve, self), 0);
    while (sem_wait(&self->is_ready) != 0)
        continue;
    if (self->port == 0) {
        pthread_join(self->thread, NULL);
        fail_msg("%s", self->err.message);
    }
    return self;
}

web_rig *web_start(const mcp_server_options *server, const mcp_http_options *http)
{
    return web_start_with(server, http, NULL);
}

int web_port(const web_rig *self)
{
    return self->port;
}

void web_stop(web_rig *self)
{
    self->is_stopping = true;
    kill(getpid(), SIGTERM);
}

void web_request_stop(web_rig *self)
{
    self->is_stopping = true;
    mcp_server_stop(self->server);
}

mcp_status web_end(web_rig *self)
{
    mcp_status st;

    if (!self->is_stopping)
        web_stop(self);
    pthread_join(self->thread, NULL);
    st = self->status;
    mcp_server_free(self->server);
    sem_destroy(&self->is_ready);
    free(self);
    return st;
}

/* ---- one request ----------------------------------------------------------------------------- */

/* Whether one of the lines begins with the name. */
static bool names(const char *fields, const char *name)
{
    const char *line = fields;

    while (line && strncasecmp(line, name, strlen(name)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line != NULL;
}

static char *write_request(const char *method, const char *path, const char *fields,
                           const char *body, bool is_last)
{
    char *request = NULL;
    char length[64] = "";

    if (body)
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
    assert_true(
        asprintf(
            &request, "%s %s HTTP/1.1\r\n%s%s%s%s%s%s\r\n%s", method, path,
            names(fields, "Host:") ? "" : "Host: localhost\r\n",
            is_last ? "Connection: close\r\n" : "",
            !body || names(fields, "Content-Type:") ? "" : "Content-Type: application/json\r\n",
            !body || names(fields, "Accept:") ? ""
                                              : "Accept: application/json, text/event-stream\r\n",
            length, fields ? fields : "", body ? body : "") > 0);
    return request;
}

int web_begin(int port, const char *method, const char *path, const char *fields, const char *body)
{
    char *request = write_request(method, path, fields, body, false);
    int fd = client_open(port);

    assert_true(client_say(fd, request));
    free(request);
    return fd;
}

static void join_chunks(char *body)
{
    char *from = body;
    char *to = body;

    for (;;) {
        char *end = NULL;
        size_t length = strtoul(from, &end, 16);
        if (end == from || length == 0)
            break;
        memmove(to, end + 2, length);
        to += length;
        from = end + 2 + length + 2;
    }
    *to = '\0';
}

void web_ask(web_answer *out, int port, const char *method, const char *path, const char *fields,
             const char *body)
{
    char *request = write_request(method, path, fields, body, true);
    char *split;

    (void)client_ask(port, request, out->text, sizeof out->text);
    free(request);
    out->status = strlen(out->text) > 12 ? (int)strtol(out->text + 9, NULL, 10) : 0;
    out->head = out->text;
    split = strstr(out->text, "\r\n\r\n");
    if (!split) {
        out->body = "";
        return;
    }
    split[2] = '\0';
    out->body = split + 4;
    if (strcasestr(out->head, "\r\nTransfer-Encoding: chunked\r\n"))
        join_chunks(split + 4);
}

const char *web_field(const web_answer *answer, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    const char *line = strstr(answer->head, "\r\n");

    out[0] = '\0';
    for (; line; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':')
            continue;
        const char *value = line + 3 + length + strspn(line + 3 + length, " ");
        (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\r"), value);
        return out;
    }
    return out;
}
