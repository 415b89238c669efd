/*
 * body.c - a body that is written while it is sent: a worker writes a piece, the loop sends it.
 *
 * While one piece leaves, a worker writes the next, so there are never more than two. Where the
 * reader is slow the second one waits for it, and no worker does. A reader that takes nothing at
 * all is given up by the connection, as with every answer: then the source ends.
 *
 * All is the loop's but what stands in the struct under "the worker's": that belongs to the worker
 * from write_next until `done`. When the client hangs up meanwhile the worker continues to the end
 * of its piece, and `done` frees.
 */
#include "mcp/transport/rest/body.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"

struct mcp__body {
    mcp__task task; /* first */
    mcp__exchange_owner owner;
    mcp__web *web;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    bool is_working;              /* a worker has it */
    bool is_held;                 /* a piece waits for the reader */

    /* the worker's */
    mcp_body_source source;
    mcp_buf piece;
    bool is_last;
    mcp_status status;
    mcp_error err;
};

static void body_free(mcp__body *body)
{
    body->source.done(body->source.data);
    mcp_buf_clear(&body->piece);
    free(body);
}

void mcp__body_abandon(mcp__body *body)
{
    if (body)
        body_free(body);
}

static mcp__body *body_of(mcp__exchange_owner *owner)
{
    return (mcp__body *)((char *)owner - offsetof(mcp__body, owner));
}

static void on_hung_up(mcp__exchange_owner *owner)
{
    mcp__body *body = body_of(owner);

    body->web->counts.hung_up++;
    body->exchange = NULL;
    if (!body->is_working)
        body_free(body);
}

/* Nothing more can be said: half a body and a closed connection tell the client. */
static void break_off(mcp__body *body, const char *why)
{
    mcp_log_write(&body->web->serve.options->log, MCP_LOG_ERROR, "an answer broke off: %s", why);
    mcp__http_drop(body->exchange);
    body_free(body);
}

/* It continues a call, so the bound on waiting calls is not for it. */
static void write_next(mcp__body *body)
{
    mcp__executor *executor = body->web->serve.executor;

    body->is_working = true;
    body->web->writing++;
    executor->adopt(executor, &body->task, MCP__LANE_SHORT);
    executor->again(executor, &body->task);
}

/* A piece is there: to the reader, unless it is slow. */
static void send(mcp__body *body)
{
    body->is_held = mcp__http_is_blocked(body->exchange);
    if (body->is_held)
        return;
    if (mcp__http_write_buf(body->exchange, &body->piece, NULL) != MCP_OK)
        return; /* the connection is closed, and says so: hung_up */
    if (!body->is_last) {
        write_next(body);
        return;
    }
    mcp__http_end(body->exchange);
    body_free(body);
}

static void on_drained(mcp__exchange_owner *owner)
{
    mcp__body *body = body_of(owner);

    if (body->is_held)
        send(body);
}

static bool work(mcp__task *task)
{
    mcp__body *body = (mcp__body *)task;
    mcp_body_source *source = &body->source;

    body->status = source->next(&body->piece, &body->is_last, source->data, &body->err);
    if (body->status == MCP_OK && body->piece.status != MCP_OK)
        body->status = mcp_error_set(&body->err, body->piece.status, "%s",
                                     mcp_status_words(body->piece.status));
    return true;
}

static void done(mcp__task *task)
{
    mcp__body *body = (mcp__body *)task;

    body->web->writing--;
    body->is_working = false;
    if (!body->exchange)
        body_free(body);
    else if (body->status != MCP_OK)
        break_off(body, body->err.message);
    else
        send(body);
}

mcp_status mcp__body_new(mcp__body **out, const mcp_body_source *source, size_t max_bytes,
                         mcp_error *err)
{
    mcp__body *body = mcp_alloc_zeroed(1, sizeof *body);

    if (!body)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a body in pieces");
    body->task.work = work;
    body->task.done = done;
    body->owner = (mcp__exchange_owner){ .hung_up = on_hung_up, .drained = on_drained };
    body->source = *source;
    body->err = (mcp_error)MCP_ERROR_INIT;
    mcp_buf_init(&body->piece, max_bytes);
    *out = body;
    return MCP_OK;
}

void mcp__body_begin(mcp__body *body, mcp__web *web, mcp__http_exchange *exchange,
                     const mcp__http_head_out *head, mcp_buf *first, bool is_bare)
{
    body->web = web;
    body->exchange = exchange;
    if (mcp__http_begin(exchange, head, NULL) != MCP_OK) {
        body_free(body);
        return;
    }
    if (is_bare) {
        mcp__http_end(exchange);
        body_free(body);
        return;
    }
    mcp__http_set_data(exchange, &body->owner);
    mcp_buf_clear(&body->piece);
    body->piece = *first;
    mcp_buf_init(first, first->max_bytes);
    send(body);
}
