/*
 * remote.c - an operation as an HTTP request, and its answer as a reply.
 */
#include "client/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fetch/fetch.h"
#include "mcp/clock.h"
#include "mcp/random.h"

enum {
    TRIES = 4,
    FIRST_PAUSE_MS = 500,
    URL_MAX = 8 << 10,
    BODY_MAX = 2 << 20,
    ANSWER_MAX = 16 << 20,
    NAME_MAX = 64,
    STREAM_MS = 24 * 3600 * 1000,
    STREAM_MAX = 1 << 30
};

struct portarium_remote {
    fetch *pool;
    char *base; /* without a slash at its end */
    char *authorization;
};

/* ---- making one ------------------------------------------------------------------------------ */

static char *join(const char *before, const char *text, size_t length)
{
    size_t start = strlen(before);
    char *out = malloc(start + length + 1);
    if (!out)
        return NULL;
    memcpy(out, before, start);
    memcpy(out + start, text, length);
    out[start + length] = '\0';
    return out;
}

mcp_status portarium_remote_new(portarium_remote **out, const char *base_url, const char *token,
                                mcp_error *err)
{
    const fetch_options options = { .any_address = true };
    size_t length = strlen(base_url);
    if (strncmp(base_url, "http://", 7) != 0 && strncmp(base_url, "https://", 8) != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "--base-url is not an http or https URL");
    while (length > 0 && base_url[length - 1] == '/')
        length--;
    if (length > URL_MAX / 4 || (token && strlen(token) > URL_MAX))
        return mcp_error_set(err, MCP_E_PARAMS, "--base-url or PORTARIUM_TOKEN is too long");
    portarium_remote *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the remote control plane");
    self->base = join("", base_url, length);
    if (token && *token)
        self->authorization = join("Bearer ", token, strlen(token));
    mcp_status st = fetch_open(&self->pool, &options, err);
    if (st == MCP_OK && (!self->base || (token && *token && !self->authorization)))
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the remote control plane");
    if (st != MCP_OK) {
        portarium_remote_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_remote_free(portarium_remote *self)
{
    if (!self)
        return;
    fetch_close(self->pool);
    free(self->base);
    free(self->authorization);
    free(self);
}

/* ---- the URL --------------------------------------------------------------------------------- */

static void put_encoded(mcp_buf *url, const char *text)
{
    static const char plain[] = "-._~";
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') || strchr(plain, byte);
        if (is_plain)
            mcp_buf_putc(url, *text);
        else
            mcp_buf_printf(url, "%%%02X", byte);
    }
}

/* A segment of a path that is no id: it would name another path. */
static bool is_no_id(const char *value)
{
    return !*value || strcmp(value, ".") == 0 || strcmp(value, "..") == 0;
}

/* The path with the values of its variables. @return false: a variable has none */
static bool put_path(mcp_buf *url, const char *path, const mcp_json *arguments)
{
    while (*path) {
        size_t plain = strcspn(path, "{"), length = 0;
        mcp_buf_append(url, path, plain);
        path += plain;
        if (!*path)
            break;
        length = strcspn(path, "}");
        const char *value = mcp_json_string(mcp_json_get_n(arguments, path + 1, length - 1), NULL);
        if (!value || is_no_id(value))
            return false;
        put_encoded(url, value);
        path += length + (path[length] == '}');
    }
    return true;
}

/* Whether the path has the variable. */
static bool has_variable(const char *path, const char *name)
{
    char variable[NAME_MAX + 3];
    snprintf(variable, sizeof variable, "{%.*s}", NAME_MAX, name);
    return strstr(path, variable) != NULL;
}

static void put_query(mcp_buf *url, const char *path, const mcp_json *arguments)
{
    char mark = '?';
    for (size_t i = 0; i < mcp_json_count(arguments); i++) {
        const char *name = mcp_json_name(arguments, i, NULL);
        const char *value = mcp_json_string(mcp_json_item(arguments, i), NULL);
        if (!value || has_variable(path, name))
            continue;
        mcp_buf_putc(url, mark);
        put_encoded(url, name);
        mcp_buf_putc(url, '=');
        put_encoded(url, value);
        mark = '&';
    }
}

static bool is_get(const portarium_operation *operation)
{
    return strcmp(operation->method, "GET") == 0;
}

static bool put_url(mcp_buf *url, const portarium_remote *self,
                    const portarium_operation *operation, const portarium_request *request)
{
    mcp_buf_puts(url, self->base);
    if (!(operation->flags & PORTARIUM_GLOBAL)) {
        if (is_no_id(request->workspace))
            return false;
        mcp_buf_puts(url, "/v1/workspaces/");
        put_encoded(url, request->workspace);
    }
    if (!put_path(url, operation->path, request->arguments))
        return false;
    if (is_get(operation))
        put_query(url, operation->path, request->arguments);
    mcp_buf_putc(url, '\0');
    return url->status == MCP_OK;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void fail(portarium_reply *reply, int status)
{
    *reply = (portarium_reply){ .status = status, .detail = portarium_client_failed };
}

/* The detail of a problem document that a control plane wrote; else a general text. */
static const char *detail_of(const fetch_result *result, mcp_arena *arena)
{
    static const char ours[] = "https://portarium.dev/problems/";
    const mcp_json *problem = NULL;
    const char *media = fetch_result_header(result, "Content-Type");
    if (!media || strncmp(media, "application/problem+json", 24) != 0 ||
        mcp_json_read(&problem, arena, result->body.data, result->body.length, NULL) != MCP_OK)
        return portarium_client_failed;
    const char *type = mcp_json_get_string(problem, "type");
    const char *detail = mcp_json_get_string(problem, "detail");
    const mcp_json *first = mcp_json_item(mcp_json_get(problem, "errors"), 0);
    if (!type || strncmp(type, ours, sizeof ours - 1) != 0)
        return portarium_client_failed;
    if (first && mcp_json_get_string(first, "message"))
        return mcp_arena_printf(
            arena, "%s: %s",
            mcp_json_get_string(first, "field") ? mcp_json_get_string(first, "field") : "",
            mcp_json_get_string(first, "message"));
    return detail ? detail : portarium_client_failed;
}

static void read_answer(portarium_reply *reply, const fetch_result *result, mcp_arena *arena)
{
    *reply = (portarium_reply){ .status = result->status };
    if (result->status >= 400) {
        reply->detail = detail_of(result, arena);
        return;
    }
    reply->text = mcp_arena_strndup(arena, result->body.data ? result->body.data : "",
                                    result->body.length);
    reply->length = result->body.length;
    if (!reply->text || result->status < 200 || result->status >= 300)
        fail(reply, 502);
}

/* ---- a request ------------------------------------------------------------------------------- */

/* A request on its way. */
typedef struct sending {
    portarium_remote *remote;
    const portarium_client_call *call;
    const portarium_operation *operation;
    fetch_header headers[8];
    fetch_request request;
} sending;

static void add_header(sending *self, const char *name, const char *value)
{
    if (value)
        self->headers[self->request.header_count++] = (fetch_header){ name, value };
}

/* A POST that only reads carries more than a query may. */
static bool may_repeat(const portarium_operation *operation, const char *key)
{
    return is_get(operation) || operation->permission == PORTARIUM_MAY_READ || key;
}

static bool is_worth_repeating(mcp_status st, int status)
{
    if (st != MCP_OK)
        return st == MCP_E_IO || st == MCP_E_TIMEOUT;
    return status == 429 || (status >= 502 && status <= 504);
}

/* @return false: the call is over, or would be */
static bool pause_for(const portarium_client_call *call, int64_t ms)
{
    int64_t until = mcp_clock_mono_ms() + ms;
    if (until >= call->deadline_mono_ms)
        return false;
    for (int64_t left = ms; left > 0; left = until - mcp_clock_mono_ms()) {
        if (call->should_stop && call->should_stop(call->stop_data))
            return false;
        usleep((useconds_t)(left < 50 ? left : 50) * 1000);
    }
    return true;
}

static int64_t timeout_of(const sending *self, const portarium_request *request)
{
    const char *wait = portarium_argument(request, "wait");
    int64_t most = FETCH_TIMEOUT_MS + (wait ? strtol(wait, NULL, 10) * 1000 : 0);
    int64_t left = self->call->deadline_mono_ms - mcp_clock_mono_ms();
    return left < most ? left : most;
}

static void try_all(sending *self, const portarium_request *request, const char *key,
                    portarium_reply *reply)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    for (int i = 0; i < TRIES; i++, pause_ms *= 2) {
        fetch_result result;
        mcp_error err = MCP_ERROR_INIT;
        self->request.timeout_ms = timeout_of(self, request);
        if (self->request.timeout_ms <= 0)
            return;
        mcp_status st = fetch_run(&result, self->remote->pool, &self->request, &err);
        int64_t asked_ms = st == MCP_OK ? result.retry_after_ms : -1;
        if (st == MCP_OK)
            read_answer(reply, &result, self->call->arena);
        else
            fail(reply, st == MCP_E_TIMEOUT ? 504 : 502);
        if (self->call->cause)
            *self->call->cause = st == MCP_OK ? (mcp_error)MCP_ERROR_INIT : err;
        bool again = i + 1 < TRIES && is_worth_repeating(st, result.status) &&
                     may_repeat(self->operation, key);
        fetch_result_clear(&result);
        if (!again || !pause_for(self->call, asked_ms >= 0 ? asked_ms : pause_ms))
            return;
    }
}

/* Starting a run is repeated by us, so it needs a key even where the caller gave none. */
static const char *key_of(const portarium_operation *operation, const portarium_request *request,
                          char made[MCP_RANDOM_ID_SIZE])
{
    if (request->idempotency_key || strcmp(operation->name, "startRun") != 0)
        return request->idempotency_key;
    return mcp_random_id(made, NULL) == MCP_OK ? made : NULL;
}

static mcp_status put_body(mcp_buf *out, const mcp_json *body)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    if (body)
        mcp_write_value(&json, body);
    return mcp_json_writer_status(&json);
}

static void send_remote(void *data, const portarium_operation *operation,
                        const portarium_request *request, const portarium_client_call *call,
                        portarium_reply *reply)
{
    portarium_remote *remote = data;
    char made[MCP_RANDOM_ID_SIZE];
    mcp_buf url, body;
    sending self = { .remote = remote, .call = call, .operation = operation };
    const char *key = key_of(operation, request, made);
    fail(reply, 502);
    mcp_buf_init(&url, URL_MAX);
    mcp_buf_init(&body, BODY_MAX);
    bool has_body = put_body(&body, request->body) == MCP_OK;
    bool has_url = put_url(&url, remote, operation, request);
    if (!has_url && url.status == MCP_OK)
        *reply = (portarium_reply){ .status = 404, .detail = "There is nothing of that id." };
    if (has_body && has_url) {
        self.request = (fetch_request){ .method = operation->method,
                                        .url = url.data,
                                        .headers = self.headers,
                                        .body = request->body ? body.data : NULL,
                                        .body_length = body.length,
                                        .body_max_bytes = ANSWER_MAX,
                                        .may_repeat = may_repeat(operation, key),
                                        .should_stop = call->should_stop,
                                        .data = call->stop_data };
        add_header(&self, "Authorization", remote->authorization);
        add_header(&self, "Accept", "application/json, application/problem+json");
        add_header(&self, "Content-Type", request->body ? "application/json" : NULL);
        add_header(&self, "Idempotency-Key", key);
        add_header(&self, "X-Correlation-Id", request->correlation_id);
        add_header(&self, "traceparent", request->trace.parent);
        add_header(&self, "tracestate", request->trace.state);
        try_all(&self, request, key, reply);
    }
    mcp_buf_clear(&url);
    mcp_buf_clear(&body);
}

mcp_status portarium_remote_follow(int *http, portarium_remote *self,
                                   const portarium_remote_stream *how, mcp_error *err)
{
    mcp_buf url;
    fetch_result result;
    fetch_header headers[3] = { { "Accept", "text/event-stream" } };
    fetch_request request = { .headers = headers,
                              .header_count = 1,
                              .timeout_ms = STREAM_MS,
                              .body_max_bytes = STREAM_MAX,
                              .should_stop = how->should_stop,
                              .on_body = how->on_body,
                              .data = how->data };
    if (self->authorization)
        headers[request.header_count++] = (fetch_header){ "Authorization", self->authorization };
    if (how->last_event_id)
        headers[request.header_count++] = (fetch_header){ "Last-Event-ID", how->last_event_id };
    *http = 0;
    mcp_buf_init(&url, URL_MAX);
    mcp_buf_printf(&url, "%s/v1/workspaces/", self->base);
    put_encoded(&url, how->workspace);
    mcp_buf_puts(&url, "/events:stream");
    mcp_buf_putc(&url, '\0');
    if (url.status != MCP_OK) {
        mcp_status st = mcp_error_set(err, url.status, "the URL of the events is too long");
        mcp_buf_clear(&url);
        return st;
    }
    request.url = url.data;
    mcp_status st = fetch_run(&result, self->pool, &request, err);
    *http = result.status;
    fetch_result_clear(&result);
    mcp_buf_clear(&url);
    return st;
}

portarium_client portarium_client_remote(portarium_remote *self)
{
    return (portarium_client){ .send = send_remote, .data = self };
}
