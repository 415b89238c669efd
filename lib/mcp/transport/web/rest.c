/*
 * rest.c - a request of a route on its way to its handler and back.
 *
 * The call goes where calls without a session go, so what bounds those bounds it too. Its peer is that of
 * any request; only its answer has no envelope. What the dispatch says in the call's place, because it
 * ran out of time or the server goes down, becomes the same kind of error body as a handler's.
 */
#include "mcp/transport/web/rest.h"

#include <string.h>

#include "mcp/core/dispatch.h"
#include "mcp/core/principal.h"
#include "mcp/transport/web/head.h"
#include "mcp/transport/web/peer.h"
#include "mcp/transport/web/route_table.h"

#define ALLOWED_MAX ((size_t)1024)
#define ERROR_MAX ((size_t)4 * 1024)

/* ---- back ------------------------------------------------------------------------------------- */

static void send_back(mcp__web_peer *peer, int status, const char *mime_type, mcp_buf *body)
{
    mcp__head head = { .count = 0 };

    mcp__head_add(&head, "Content-Type", mime_type);
    mcp__head_share(&head, peer->origin);
    mcp__http_head_out out = mcp__head_out(&head, status);
    if (body->length > 0)
        (void)mcp__http_reply_buf(peer->exchange, &out, body, NULL);
    else
        (void)mcp__http_reply(peer->exchange, &out, NULL, 0, NULL);
}

static void send_fault(mcp__web_peer *peer, mcp_status fault)
{
    mcp_buf body;

    mcp_buf_init(&body, ERROR_MAX);
    (void)mcp__rest_write_error(&body, fault, mcp_status_words(fault));
    send_back(peer, mcp__rest_status(fault), "application/json", &body);
    mcp_buf_clear(&body);
}

static void answer(mcp__peer *self, mcp_buf *message)
{
    mcp__web_peer *peer = (mcp__web_peer *)self;
    const mcp__rest *rest = self->fault == MCP_OK ? peer->call->rest : NULL;

    if (peer->exchange && rest)
        send_back(peer, rest->http_status ? rest->http_status : 200, rest->mime_type, message);
    else if (peer->exchange)
        send_fault(peer, self->fault);
    mcp_buf_clear(message);
    mcp__web_peer_free(peer);
}

static void skip(mcp__peer *self)
{
    mcp__web_peer *peer = (mcp__web_peer *)self;

    if (peer->exchange)
        send_fault(peer, MCP_E_STOPPED);
    mcp__web_peer_free(peer);
}

static void drop_notice(mcp__peer *self, mcp_buf *message)
{
    (void)self;
    mcp_buf_clear(message);
}

/* ---- there ------------------------------------------------------------------------------------ */

static void refuse(mcp__web *web, mcp__http_exchange *exchange, mcp_status status,
                   const char *message)
{
    mcp_buf body;

    mcp_buf_init(&body, ERROR_MAX);
    (void)mcp__rest_write_error(&body, status, message);
    mcp__web_answer(web, exchange, mcp__rest_status(status), &body);
    mcp_buf_clear(&body);
}

static const mcp_route *find(mcp__web *web, const mcp__http_exchange *exchange, mcp_buf *allowed)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return mcp__route_find(web->http.routes, mcp__http_method(exchange), path, length, allowed);
}

void mcp__rest_head(mcp__web *web, mcp__http_exchange *exchange)
{
    mcp_buf allowed;

    mcp_buf_init(&allowed, ALLOWED_MAX);
    const mcp_route *route = find(web, exchange, &allowed);
    if (!route && allowed.length > 0)
        mcp__web_answer_with(web, exchange, 405, "Allow", allowed.data, NULL);
    else if (!route)
        mcp__web_answer(web, exchange, 404, NULL);
    else if ((route->flags & MCP_WRITES) && !web->options->allow_write)
        refuse(web, exchange, MCP_E_DENIED, "write operations are disabled");
    mcp_buf_clear(&allowed);
}

static mcp_status copy_body(mcp_call *call, const mcp__http_exchange *exchange)
{
    size_t length = 0;
    const char *body = mcp__http_body(exchange, &length);

    if (length == 0)
        return MCP_OK;
    call->rest->body = mcp_arena_strndup(call->arena, body, length);
    call->rest->body_length = length;
    return call->rest->body ? MCP_OK
                            : mcp_error_set(&call->err, MCP_E_NOMEM, "%s",
                                            mcp_status_words(MCP_E_NOMEM));
}

static mcp_status fill_call(mcp_call *call, mcp__web *web, const mcp__http_exchange *exchange,
                            const mcp_route *route)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    call->server = call->session->setup.server;
    call->executor = call->session->setup.executor;
    call->method = route->method;
    call->name = route->path;
    call->run = route->run;
    call->data = web->http.routes_data;
    call->flags = route->flags;
    call->timeout_ms = route->timeout_ms;
    if (call->timeout_ms == 0 && !(route->flags & MCP_LONG))
        call->timeout_ms = web->options->timeout_ms;
    call->render = mcp__rest_render;
    call->rest = mcp_arena_alloc(call->arena, sizeof(*call->rest));
    if (!call->rest)
        return MCP_E_NOMEM;
    *call->rest = (mcp__rest){ .body = NULL };
    mcp_status st = mcp_json_read(&call->id, call->arena, "0", 1, &call->err);
    if (st == MCP_OK)
        st = mcp__route_arguments(&call->arguments, call->arena, route, path, length,
                                  mcp__http_query(exchange), &call->err);
    return st == MCP_OK ? copy_body(call, exchange) : st;
}

static mcp_status name_caller(mcp_call *call, const mcp__web *web)
{
    bool is_lost = false;

    call->principal = mcp__principal_copy(call->arena, web->caller, &is_lost);
    return is_lost ? mcp_error_set(&call->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM))
                   : MCP_OK;
}

static void run(mcp__web *web, mcp__http_exchange *exchange, mcp_call *call)
{
    mcp__accepted nothing = { .json = false };
    mcp__web_peer *peer = mcp__web_peer_new(web, exchange, web->shared, false, &nothing);

    if (!peer) {
        mcp__call_free(call);
        return;
    }
    peer->peer.answer = answer;
    peer->peer.notify = drop_notice;
    peer->peer.skip = skip;
    peer->peer.reconnect = NULL;
    peer->call = call;
    peer->is_request = true;
    call->peer = &peer->peer;
    call->notices = &peer->peer;
    mcp__session_table_work(&web->sessions, web->shared);
    mcp__dispatch_call(call);
}

void mcp__rest_request(mcp__web *web, mcp__http_exchange *exchange)
{
    const mcp__session *session = &web->shared->session;
    mcp_arena *arena = mcp_arena_new(web->options->arena_max_bytes);
    mcp_call *call = NULL;
    mcp_buf allowed;

    mcp_buf_init(&allowed, ALLOWED_MAX);
    const mcp_route *route = find(web, exchange, &allowed); /* there is one: the head had it */
    mcp_buf_clear(&allowed);
    if (!route || !arena ||
        mcp__call_new(&call, arena, web->options, session->setup.no_arguments, NULL) != MCP_OK) {
        mcp_arena_free(arena);
        refuse(web, exchange, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
        return;
    }
    call->session = &web->shared->session;
    mcp_status st = name_caller(call, web);
    if (st == MCP_OK)
        st = fill_call(call, web, exchange, route);
    if (st == MCP_OK) {
        run(web, exchange, call);
        return;
    }
    refuse(web, exchange, st, call->err.message);
    mcp__call_free(call);
}
