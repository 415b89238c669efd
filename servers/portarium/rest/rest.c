/*
 * rest.c - requests become operations, replies become responses.
 */
#include "rest/rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/actors.h"
#include "gateway/wait.h"
#include "mcp/random.h"
#include "model/identity.h"
#include "rest/routes.h"

enum { PATH_MAX_BYTES = 256, BODY_MAX = 1 << 20, PROBLEM_MAX = 64 << 10 };
/* A request that waits needs time for its answer, too. */
enum { WAIT_TIMEOUT_MS = (PORTARIUM_WAIT_MAX_S + 60) * 1000 };

static const char base[] = "/v1/workspaces/{workspaceId}";

/* A route's operation. The route is found by its row, and the operation by the row's path. */
typedef struct bound {
    char path[PATH_MAX_BYTES];
    const portarium_operation *operation;
} bound;

struct portarium_rest {
    mcp_route *routes;
    bound *bounds;
};

/* ---- responses ------------------------------------------------------------------------------- */

static const char traceparent_form[] = "00-%s-%.16s-01";

/* The request's own trace context where it is valid, or a new one. */
static void set_trace(mcp_call *call)
{
    char id[MCP_RANDOM_ID_SIZE], span[MCP_RANDOM_ID_SIZE], text[80];
    const mcp_trace *trace = mcp_call_trace(call);
    if (trace) {
        mcp_call_header_set(call, "traceparent", mcp_call_header(call, "traceparent"));
        mcp_call_header_set(call, "tracestate", trace->tracestate);
        return;
    }
    if (mcp_random_id(id, NULL) != MCP_OK || mcp_random_id(span, NULL) != MCP_OK)
        return;
    snprintf(text, sizeof text, traceparent_form, id, span);
    mcp_call_header_set(call, "traceparent", text);
}

/* The request's own where it is one, or a new one. */
static mcp_status find_correlation(const char **out, mcp_call *call, mcp_error *err)
{
    *out = mcp_call_header(call, "x-correlation-id");
    return *out && portarium_id_is_valid(*out)
               ? MCP_OK
               : portarium_id_new(out, "", mcp_call_arena(call), err);
}

void portarium_rest_headers(mcp_call *call, const portarium_app *app, const portarium_reply *reply,
                            const char *correlation_id)
{
    char seconds[24];
    if (correlation_id || find_correlation(&correlation_id, call, NULL) == MCP_OK)
        mcp_call_header_set(call, "x-correlation-id", correlation_id);
    set_trace(call);
    if (app->has_hsts)
        mcp_call_header_set(call, "Strict-Transport-Security", PORTARIUM_HSTS);
    mcp_call_header_set(call, "Content-Security-Policy", "default-src 'none'");
    mcp_call_header_set(call, "X-Content-Type-Options", "nosniff");
    mcp_call_header_set(call, "X-Frame-Options", "DENY");
    if (reply->location)
        mcp_call_header_set(call, "Location", reply->location);
    if (reply->etag)
        mcp_call_header_set(call, "ETag", reply->etag);
    if (reply->retry_after_s > 0) {
        snprintf(seconds, sizeof seconds, "%lld", (long long)reply->retry_after_s);
        mcp_call_header_set(call, "Retry-After", seconds);
    }
}

static mcp_status send_problem(mcp_call *call, const portarium_reply *reply)
{
    mcp_buf body;
    mcp_buf_init(&body, PROBLEM_MAX + 64 * PORTARIUM_FIELDS_MAX);
    mcp_status st = portarium_problem(&body, reply, mcp_call_path(call));
    if (st == MCP_OK)
        st = mcp_call_send(call, "application/problem+json", body.data, body.length);
    mcp_buf_clear(&body);
    return st;
}

mcp_status portarium_rest_answer(mcp_call *call, const portarium_app *app,
                                 const portarium_reply *reply, const char *correlation_id)
{
    const char *known = mcp_call_header(call, "If-None-Match");
    portarium_rest_headers(call, app, reply, correlation_id);
    mcp_call_status(call, reply->status);
    if (reply->status >= 400)
        return send_problem(call, reply);
    if (reply->etag && known && portarium_etag_matches(known, reply->etag, false)) {
        mcp_call_status(call, 304);
        return MCP_OK;
    }
    return reply->text
               ? mcp_call_send(call,
                               reply->media ? reply->media : "application/json; charset=utf-8",
                               reply->text, reply->length)
               : MCP_OK;
}

/* The fields of portarium_rest_headers that say something of a refusal. */
static void set_headers(const mcp_problem *problem, const portarium_app *app)
{
    char made[PORTARIUM_UUID_SIZE];
    const char *id = mcp_problem_header(problem, "x-correlation-id");
    if (!id || !portarium_id_is_valid(id))
        id = portarium_uuid(made, NULL) == MCP_OK ? made : NULL;
    mcp_problem_header_set(problem, "x-correlation-id", id);
    if (app->has_hsts)
        mcp_problem_header_set(problem, "Strict-Transport-Security", PORTARIUM_HSTS);
    mcp_problem_header_set(problem, "Content-Security-Policy", "default-src 'none'");
    mcp_problem_header_set(problem, "X-Content-Type-Options", "nosniff");
    mcp_problem_header_set(problem, "X-Frame-Options", "DENY");
}

mcp_status portarium_rest_problem(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                  void *data)
{
    portarium_reply reply = { .status = problem->http_status,
                              .detail = problem->http_status < 500 ? problem->message : NULL };
    *mime_type = "application/problem+json";
    set_headers(problem, data);
    return portarium_problem(body, &reply, problem->path);
}

/* ---- requests -------------------------------------------------------------------------------- */

static mcp_status read_body(portarium_request *out, mcp_call *call, mcp_error *err)
{
    size_t length = 0;
    if (!mcp_call_body(call, &length) || length == 0)
        return MCP_OK;
    if (length > BODY_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "The body is longer than 1 MiB.");
    out->body = mcp_call_body_json(call, err);
    if (!out->body)
        return MCP_E_PARSE;
    return mcp_json_is_object(out->body)
               ? MCP_OK
               : mcp_error_set(err, MCP_E_PARSE, "The body must be a JSON object.");
}

mcp_status portarium_rest_request(portarium_request *out, portarium_actor *actor, mcp_call *call,
                                  const portarium_app *app, mcp_error *err)
{
    const char *key = mcp_call_header(call, "Idempotency-Key");
    *out = (portarium_request){ .actor = actor,
                                .arguments = mcp_call_arguments(call),
                                .workspace = mcp_arg_string(call, "workspaceId"),
                                .idempotency_key = key && *key ? key : NULL,
                                .if_match = mcp_call_header(call, "If-Match"),
                                .trace = portarium_trace_of(call) };
    mcp_status st = portarium_actor_of(actor, call, app, err);
    if (st == MCP_OK)
        st = find_correlation(&out->correlation_id, call, err);
    return st == MCP_OK ? read_body(out, call, err) : st;
}

static int http_of(mcp_status status)
{
    return status == MCP_E_DENIED ? 401 : status == MCP_E_LIMIT ? 413 : 400;
}

/* A request on its way, in the call's arena. */
typedef struct asked {
    portarium_actor actor;
    portarium_request request;
    portarium_waiting waiting;
} asked;

/* What the reference answers with 400 where it is 422 elsewhere. */
static bool is_mixed(const mcp_call *call)
{
    static const char *const rooms[] = { "/machines", "/agents", "/policies", "/human-tasks" };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        if (strstr(mcp_call_route(call)->path, rooms[i]))
            return true;
    }
    return false;
}

static mcp_status answer(mcp_call *call, const portarium_request *request,
                         const portarium_reply *reply, void *data)
{
    const portarium_app *app = data;
    portarium_reply mixed = *reply;
    if (app->compat_400 && reply->status == 422 && is_mixed(call)) {
        mixed.status = 400;
        mixed.type_status = 422;
    }
    return portarium_rest_answer(call, app, &mixed, request->correlation_id);
}

/* The argument `wait`: seconds. @return false: it is none; that has been put into the reply */
static bool read_wait(int *out, portarium_reply *reply, const asked *self)
{
    const char *text = portarium_argument(&self->request, "wait");
    char *end = NULL;
    *out = 0;
    if (!text || !(self->waiting.operation->flags & PORTARIUM_WAITS))
        return true;
    long seconds = strtol(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && seconds <= PORTARIUM_WAIT_MAX_S) {
        *out = (int)seconds;
        return true;
    }
    portarium_fields_init(&reply->fields, mcp_call_arena(self->waiting.call));
    portarium_fields_add(&reply->fields, "wait", "must be 0 to 60, seconds");
    reply->status = 422;
    return false;
}

static bool may_run(portarium_reply *reply, const asked *self, const portarium_app *app)
{
    if (!app->limits)
        return true;
    reply->retry_after_s = portarium_limits_take(app->limits, self->waiting.operation,
                                                 &self->request);
    if (reply->retry_after_s == 0)
        return true;
    reply->status = 429;
    reply->detail = "Too many requests.";
    return false;
}

mcp_status portarium_rest_run(mcp_call *call, portarium_app *app,
                              const portarium_operation *operation, portarium_answer *write)
{
    mcp_error *err = mcp_call_error(call);
    portarium_reply refusal = { .status = 0 };
    asked *self = mcp_arena_alloc(mcp_call_arena(call), sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the request");
    mcp_status st = portarium_rest_request(&self->request, &self->actor, call, app, err);
    if (st == MCP_E_NOMEM || st == MCP_E_IO)
        return st;
    self->waiting = (portarium_waiting){ .call = call,
                                         .app = app,
                                         .operation = operation,
                                         .request = &self->request,
                                         .known = mcp_call_header(call, "If-None-Match"),
                                         .answer = write ? write : answer,
                                         .data = app };
    if (st != MCP_OK) {
        refusal.status = http_of(st);
        refusal.detail = err->message;
    } else if (may_run(&refusal, self, app) && read_wait(&self->waiting.seconds, &refusal, self)) {
        return portarium_wait_and_answer(&self->waiting);
    }
    return portarium_rest_answer(call, app, &refusal, self->request.correlation_id);
}

static mcp_status run(mcp_call *call, void *data)
{
    const bound *self = (const bound *)mcp_call_route(call)->path;
    return portarium_rest_run(call, data, self->operation, NULL);
}

/* ---- routes ---------------------------------------------------------------------------------- */

static void bind(mcp_route *route, bound *to, const portarium_operation *operation)
{
    bool is_global = operation->flags & PORTARIUM_GLOBAL;
    bool writes = operation->flags & PORTARIUM_COMMAND;
    *to = (bound){ .operation = operation };
    snprintf(to->path, sizeof to->path, "%s%s", is_global ? "" : base, operation->path);
    *route = (mcp_route){ .method = operation->method,
                          .path = to->path,
                          .run = run,
                          .flags = writes ? MCP_WRITES : MCP_READS,
                          .timeout_ms = operation->flags & PORTARIUM_WAITS ? WAIT_TIMEOUT_MS : 0 };
}

mcp_status portarium_rest_new(portarium_rest **out, mcp_error *err)
{
    size_t count = 0, more = 0;
    while (portarium_operation_at(count))
        count++;
    while (portarium_other_routes[more].path)
        more++;
    portarium_rest *self = calloc(1, sizeof *self);
    if (self) {
        self->routes = calloc(count + more + 1, sizeof *self->routes);
        self->bounds = calloc(count + 1, sizeof *self->bounds);
    }
    if (!self || !self->routes || !self->bounds) {
        portarium_rest_free(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the routes");
    }
    for (size_t i = 0; i < count; i++)
        bind(&self->routes[i], &self->bounds[i], portarium_operation_at(i));
    memcpy(self->routes + count, portarium_other_routes, more * sizeof *self->routes);
    *out = self;
    return MCP_OK;
}

const mcp_route *portarium_rest_routes(const portarium_rest *self)
{
    return self->routes;
}

void portarium_rest_free(portarium_rest *self)
{
    if (!self)
        return;
    free(self->routes);
    free(self->bounds);
    free(self);
}
