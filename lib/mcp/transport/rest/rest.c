/*
 * rest.c - a request of a route on its way to its handler and back.
 *
 * The call is one of the shared session, under the same bounds as calls without a session. Its peer
 * is that of any request; only its answer has no envelope. An answer of the dispatch in place of
 * the call, because it ran out of time or the server stops, becomes the same kind of error body as
 * a handler's.
 */
#include "mcp/transport/rest/rest.h"

#include <string.h>
#include <strings.h>

#include "mcp/core/call/client.h"
#include "mcp/core/call/trace.h"
#include "mcp/core/dispatch.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/peer.h"
#include "mcp/transport/http/stream.h"
#include "mcp/transport/rest/route_table.h"

#define BODY_MAX ((size_t)4 * 1024)
#define PATH_ROOM ((size_t)64 * 1024)
#define CHALLENGE_MAX ((size_t)4 * 1024)

/* ---- error bodies ---------------------------------------------------------------------------- */

/* Both ways the first row counts. */
static const struct {
    mcp_status status;
    int http;
} statuses[] = {
    { MCP_E_REQUEST, 400 }, { MCP_E_PARSE, 400 },       { MCP_E_PARAMS, 400 },
    { MCP_E_SCHEMA, 400 },  { MCP_E_DENIED, 403 },      { MCP_E_DENIED, 401 },
    { MCP_E_SCOPE, 403 },   { MCP_E_NOT_FOUND, 404 },   { MCP_E_RESOURCE, 404 },
    { MCP_E_METHOD, 405 },  { MCP_E_TIMEOUT, 504 },     { MCP_E_TIMEOUT, 408 },
    { MCP_E_EXISTS, 409 },  { MCP_E_LIMIT, 413 },       { MCP_E_LIMIT, 414 },
    { MCP_E_LIMIT, 431 },   { MCP_E_UNSUPPORTED, 501 }, { MCP_E_BUSY, 503 },
    { MCP_E_STOPPED, 503 }, { MCP_E_NOMEM, 503 },       { MCP_E_STORAGE, 507 },
};

int mcp__problem_http(mcp_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == status)
            return statuses[i].http;
    return status == MCP_OK ? 200 : 500;
}

mcp_status mcp__problem_status(int http_status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].http == http_status)
            return statuses[i].status;
    return http_status >= 500 ? MCP_E_INTERNAL : MCP_E_REQUEST;
}

const char *mcp__problem_write(mcp_buf *body, const mcp_http_options *http,
                               const mcp__problem *problem)
{
    const mcp_problem *shown = &problem->shown;
    const char *type = "application/json";
    mcp_json_writer writer;

    /* The words may be a handler's, and a path is the client's: neither is short by nature. */
    mcp_buf_init(body, BODY_MAX + 6 * strlen(shown->message) +
                           (shown->path ? 6 * strlen(shown->path) : 0));
    if (http->problem && http->problem(body, &type, shown, http->routes_data) == MCP_OK &&
        body->status == MCP_OK && type)
        return type;
    mcp_buf_reset(body);
    mcp_json_writer_init(&writer, body);
    mcp_write_object(&writer);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_string(&writer, "status", mcp_status_name(shown->status));
    mcp_write_member_string(&writer, "message", shown->message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) != MCP_OK)
        mcp_buf_clear(body);
    return "application/json";
}

static const char *copy_path(mcp_arena *arena, const mcp__http_exchange *exchange)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return length > 0 ? mcp_arena_strndup(arena, path, length) : NULL;
}

/* ---- the program's header fields ------------------------------------------------------------- */

static const mcp__problem *whole(const mcp_problem *problem)
{
    return (const mcp__problem *)problem;
}

const char *mcp_problem_header(const mcp_problem *problem, const char *name)
{
    const mcp__problem *self = whole(problem);
    const mcp__rest *rest = self->rest;

    if (self->exchange)
        return name ? mcp__http_field(self->exchange, name) : NULL;
    size_t count = rest && name ? rest->field_count : 0;
    size_t at = count > 0 ? mcp__rest_field_find(rest->fields, count, name) : 0;
    return at < count ? rest->fields[at].value : NULL;
}

static bool has_field(const mcp__head *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++)
        if (strcasecmp(head->fields[i].name, name) == 0)
            return true;
    return false;
}

static mcp_status set_of_head(const mcp__problem *self, const char *name, const char *value)
{
    if (!name || mcp__rest_is_own_field(name) || !mcp__http_field_is_fit(name, value ? value : ""))
        return MCP_E_PARAMS;
    if (!value || has_field(self->head, name))
        return MCP_OK;
    if (self->head->count >= MCP__REST_FIELDS_MAX) /* the others are the server's */
        return MCP_E_LIMIT;
    const char *own_name = mcp_arena_strdup(self->arena, name);
    const char *own_value = mcp_arena_strdup(self->arena, value);
    if (!own_name || !own_value)
        return MCP_E_NOMEM;
    mcp__head_add(self->head, own_name, own_value);
    return MCP_OK;
}

/* A call's own error is not replaced by that of a field. */
static mcp_status set_of_call(const mcp__problem *self, const char *name, const char *value)
{
    const mcp__rest *rest = mcp__rest_of(self->call);
    mcp_error kept = self->call->err;

    if (!value || (name && mcp__rest_field_find(rest->answer_fields, rest->answer_field_count,
                                                name) < rest->answer_field_count))
        return MCP_OK;
    mcp_status st = mcp_call_header_set(self->call, name, value);
    self->call->err = kept;
    return st;
}

mcp_status mcp_problem_header_set(const mcp_problem *problem, const char *name, const char *value)
{
    const mcp__problem *self = whole(problem);

    if (self->call)
        return set_of_call(self, name, value);
    return self->head && self->arena ? set_of_head(self, name, value) : MCP_E_UNSUPPORTED;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* The body for a request without a call. Returns its type. @param head,fields NULL: the answer gets
 * no fields of the program */
static const char *write_refusal(mcp_buf *body, mcp__head *head, mcp_arena **fields,
                                 const mcp__httpd *httpd, const mcp__http_exchange *exchange,
                                 int http_status, mcp_status status, const char *message)
{
    mcp_arena *arena = mcp_arena_new(PATH_ROOM);
    mcp__problem problem = { .shown = { http_status, status, message,
                                        arena ? copy_path(arena, exchange) : NULL },
                             .exchange = head ? exchange : NULL,
                             .head = head,
                             .arena = arena };
    const char *type = mcp__problem_write(body, &httpd->http, &problem);

    if (fields)
        *fields = arena;
    else
        mcp_arena_free(arena);
    return type;
}

/* `allowed` is the field Allow; NULL: none. */
static void answer_refusal(mcp__httpd *httpd, mcp__http_exchange *exchange, int http_status,
                           mcp_status status, const char *message, const char *allowed)
{
    mcp__head head = { .count = 0 };
    mcp_arena *fields = NULL;
    mcp_buf body;

    mcp__head_add(&head, "Allow", allowed);
    const char *type = write_refusal(&body, &head, &fields, httpd, exchange, http_status, status,
                                     message);
    mcp__head_add(&head, "Content-Type", type);
    mcp__head_share(&head, mcp__origin_check_origin(httpd, exchange), MCP__EXPOSED_OF_ROUTES);
    mcp__head_reply(&head, exchange, http_status, &body);
    mcp_arena_free(fields);
}

static void refuse(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp_status status,
                   const char *message)
{
    answer_refusal(httpd, exchange, mcp__problem_http(status), status, message, NULL);
}

void mcp__rest_refuse(mcp__httpd *httpd, mcp__http_exchange *exchange, int http_status,
                      const char *message)
{
    answer_refusal(httpd, exchange, http_status, mcp__problem_status(http_status), message, NULL);
}

bool mcp__rest_refusal_body(mcp_buf *body, const char **mime_type, const mcp__httpd *httpd,
                            const mcp__http_exchange *exchange, int http_status,
                            const char *message)
{
    *mime_type = write_refusal(body, NULL, NULL, httpd, exchange, http_status,
                               mcp__problem_status(http_status), message);
    return body->length > 0;
}

bool mcp__rest_refusal(mcp_buf *body, const char **mime_type, mcp__head *head, mcp_arena **fields,
                       const mcp__httpd *httpd, const mcp__http_exchange *exchange, int http_status,
                       const char *message)
{
    *mime_type = write_refusal(body, head, fields, httpd, exchange, http_status,
                               mcp__problem_status(http_status), message);
    return body->length > 0;
}

/* ---- back ------------------------------------------------------------------------------------ */

static void put_head(mcp__head *head, const mcp__httpd_peer *peer, const mcp__rest *rest)
{
    mcp__head_share(head, peer->origin, MCP__EXPOSED_OF_ROUTES);
    for (size_t i = 0; rest && i < rest->answer_field_count; i++)
        mcp__head_add(head, rest->answer_fields[i].name, rest->answer_fields[i].value);
}

/* `rest` is NULL where a worker has it. */
static void send_back(mcp__httpd_peer *peer, mcp__head *head, const mcp__rest *rest, int status,
                      const char *mime_type, mcp_buf *body)
{
    mcp_buf challenge;

    mcp_buf_init(&challenge, CHALLENGE_MAX);
    mcp__httpd_peer_challenge(peer, head, &challenge);
    mcp__head_add(head, "Content-Type", mime_type);
    put_head(head, peer, rest);
    mcp__head_reply(head, peer->exchange, status, body);
    mcp_buf_clear(&challenge);
}

/* @param rest of its fields of the request, which never change: a worker may have the others. NULL:
 * nothing of it is known */
static void send_fault(mcp__httpd_peer *peer, mcp_status fault, const mcp__rest *rest)
{
    mcp__head head = { .count = 0 };
    mcp__problem problem = { .shown = { mcp__problem_http(fault), fault, mcp_status_words(fault),
                                        rest ? rest->path : NULL },
                             .rest = rest,
                             .head = &head,
                             .arena = mcp_arena_new(PATH_ROOM) };
    mcp_buf body;

    const char *type = mcp__problem_write(&body, &peer->httpd->http, &problem);
    send_back(peer, &head, NULL, problem.shown.http_status, type, &body);
    mcp_arena_free(problem.arena);
}

/* The connection is the stream's from now on; or that of the body, whose first piece is the
 * message. */
static void begin(mcp__httpd_peer *peer, mcp__rest *rest, mcp_buf *message)
{
    mcp__head head = { .count = 0 };
    mcp_stream *stream = rest->stream;
    mcp__body *body = rest->remainder;
    int status = rest->http_status && !stream ? rest->http_status : 200;

    if (stream)
        mcp__head_events(&head);
    else
        mcp__head_add(&head, "Content-Type", rest->mime_type);
    put_head(&head, peer, rest);
    mcp__http_head_out out = mcp__head_out(&head, status);
    if (stream) {
        rest->stream = NULL;
        mcp__stream_begin(stream, peer->httpd, peer->exchange, &out, rest->is_bare);
    } else {
        rest->remainder = NULL;
        mcp__body_begin(body, peer->httpd, peer->exchange, &out, message, rest->is_bare);
    }
}

static void answer(mcp__peer *self, mcp_buf *message)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;
    const mcp_call *call = peer->call;
    mcp__rest *rest = mcp__rest_of(call);
    mcp__head head = { .count = 0 };
    /* Else a worker may have the call; its path never changes. */
    bool is_done = self->fault == MCP_OK;
    bool is_good = is_done && call->status == MCP_OK && !call->answer.error_text;

    if (peer->exchange && is_good && (rest->stream || rest->remainder))
        begin(peer, rest, message);
    else if (peer->exchange && is_done)
        send_back(peer, &head, rest, rest->http_status ? rest->http_status : 200, rest->mime_type,
                  message);
    else if (peer->exchange)
        send_fault(peer, self->fault, rest);
    mcp_buf_clear(message);
    mcp__httpd_peer_free(peer);
}

static void no_reply(mcp__peer *self)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    if (peer->exchange)
        send_fault(peer, MCP_E_STOPPED, NULL);
    mcp__httpd_peer_free(peer);
}

static void drop_notification(mcp__peer *self, mcp_buf *message)
{
    (void)self;
    mcp_buf_clear(message);
}

/* ---- there ----------------------------------------------------------------------------------- */

void mcp__rest_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    mcp_buf allowed;

    mcp_buf_init(&allowed, MCP__ROUTE_ALLOWED_MAX);
    const mcp_route *route = mcp__route_of(httpd, exchange, &allowed);
    if (!route && allowed.length > 0)
        answer_refusal(httpd, exchange, 405, MCP_E_METHOD, "this path does not have this method",
                       allowed.data);
    else if (!route)
        refuse(httpd, exchange, MCP_E_NOT_FOUND, "there is nothing at this path");
    else if ((route->flags & MCP_WRITES) && !httpd->serve.options->allow_write)
        refuse(httpd, exchange, MCP_E_DENIED, "write operations are disabled");
    else if (!mcp__http_limit_body(exchange, httpd->http.limits.body_max_bytes))
        refuse(httpd, exchange, MCP_E_LIMIT, "the body is too large");
    mcp_buf_clear(&allowed);
}

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
}

/* ---- what a handler may read of the request -------------------------------------------------- */

size_t mcp__rest_field_find(const mcp__rest_field *fields, size_t count, const char *name)
{
    size_t at = 0;

    while (at < count && strcasecmp(fields[at].name, name) != 0)
        at++;
    return at;
}

/* Fields of one name become one list (RFC 9110, section 5.3). net/http/request.c bounds their
 * number and length. */
static mcp_status copy_fields(mcp__rest *rest, mcp_arena *arena, const mcp__http_exchange *exchange)
{
    const char *name = NULL, *value = NULL;
    size_t count = 0;

    while (mcp__http_field_at(exchange, count, &name, &value))
        count++;
    mcp__rest_field *fields = mcp_arena_alloc(arena, (count + 1) * sizeof *fields);
    rest->fields = fields;
    for (size_t i = 0; fields && i < count; i++) {
        (void)mcp__http_field_at(exchange, i, &name, &value);
        mcp__rest_field *field = &fields[mcp__rest_field_find(fields, rest->field_count, name)];
        bool is_known = field < fields + rest->field_count;
        field->value = is_known ? mcp_arena_printf(arena, "%s, %s", field->value, value)
                                : mcp_arena_strdup(arena, value);
        if (!is_known) {
            field->name = mcp_arena_strdup(arena, name);
            rest->field_count++;
        }
        if (!field->name || !field->value)
            return MCP_E_NOMEM;
    }
    return fields ? MCP_OK : MCP_E_NOMEM;
}

/* The worker does not see the exchange: what it may read is copied. */
static mcp_status take_request(mcp_call *call, mcp__httpd *httpd, mcp__http_exchange *exchange,
                               const mcp_route *route)
{
    mcp__rest *rest = mcp_arena_alloc(call->arena, sizeof *rest);

    if (!rest)
        return out_of_memory(&call->err);
    *rest = (mcp__rest){ .http = &httpd->http, .route = route };
    mcp_buf_init(&rest->body, httpd->http.limits.body_max_bytes);
    call->plan.kind = &mcp__rest_kind;
    call->plan.feature = rest;
    rest->is_bare = mcp__httpd_is_method(exchange, "HEAD");
    rest->path = copy_path(call->arena, exchange);
    if (!rest->path || copy_fields(rest, call->arena, exchange) != MCP_OK)
        return out_of_memory(&call->err);
    const mcp__exchange_headers headers = mcp__exchange_headers_of(exchange);
    mcp__trace_open(call, &headers.face);
    return mcp__http_body_take(exchange, &rest->body, &call->err);
}

static mcp_status fill_call(mcp_call *call, mcp__httpd *httpd, mcp__http_exchange *exchange,
                            const mcp_route *route)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    call->request.method = route->method;
    call->request.name = route->path;
    call->plan.method = route->method;
    call->plan.run = route->run;
    call->plan.data = httpd->http.routes_data;
    call->plan.flags = route->flags;
    call->plan.inline_budget = route->flags & MCP_NONBLOCKING
                                   ? &httpd->inline_budgets[route - httpd->http.routes]
                                   : NULL;
    call->plan.timeout_ms = route->timeout_ms;
    if (call->plan.timeout_ms == 0 && !(route->flags & MCP_LONG))
        call->plan.timeout_ms = httpd->serve.options->limits.timeout_ms;
    mcp_status st = mcp_json_read(&call->request.id, call->arena, "0", 1, &call->err);
    if (st == MCP_OK)
        st = mcp__route_arguments(&call->request.arguments, call->arena, route, path, length,
                                  mcp__http_query(exchange), &call->err);
    return st == MCP_OK ? take_request(call, httpd, exchange, route) : st;
}

static void run(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp_call *call)
{
    mcp__httpd_peer *peer = mcp__httpd_peer_new(httpd, exchange, httpd->sessions.shared, false);

    if (!peer) {
        mcp__call_free(call);
        return;
    }
    peer->peer.answer = answer;
    peer->peer.notify = drop_notification;
    peer->peer.no_reply = no_reply;
    peer->peer.abort = NULL;
    peer->peer.reconnect = NULL;
    peer->call = call;
    peer->is_request = true;
    call->peer = &peer->peer;
    call->notification_peer = &peer->peer;
    call->request.transport = peer->peer.transport;
    mcp__session_table_work(&httpd->sessions, httpd->sessions.shared);
    mcp__dispatch_call(call);
}

static bool has_other_body(const mcp__http_exchange *exchange, const mcp_route *route)
{
    size_t length = 0;

    (void)mcp__http_body(exchange, &length);
    return length > 0 && !(route->flags & MCP_RAW_BODY) &&
           !mcp__field_is_json(mcp__http_field(exchange, "Content-Type"));
}

void mcp__rest_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    mcp__session *session = &httpd->sessions.shared->session;
    const mcp_route *route = mcp__route_of(httpd, exchange,
                                           NULL); /* there is one: the head had it */
    mcp_call *call = NULL;
    bool is_lost = false;

    if (route && has_other_body(exchange, route)) {
        mcp__rest_refuse(httpd, exchange, 415, "the Content-Type must be application/json");
        return;
    }
    mcp_arena *arena = mcp__arena_new_within(httpd->serve.options->limits.arena_max_bytes,
                                             httpd->serve.context.budget);
    if (!route || !arena || mcp__call_new(&call, arena, &session->context, NULL) != MCP_OK) {
        mcp_arena_free(arena);
        refuse(httpd, exchange, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
        return;
    }
    call->session = session;
    call->principal = mcp__principal_copy(arena, httpd->caller, &is_lost);
    mcp_status st = is_lost ? out_of_memory(&call->err) : fill_call(call, httpd, exchange, route);
    if (st == MCP_OK) {
        run(httpd, exchange, call);
        return;
    }
    refuse(httpd, exchange, st, call->err.message);
    mcp__call_free(call);
}
