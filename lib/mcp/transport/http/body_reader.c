/*
 * body_reader.c - bodies that are read on the loop, and large ones that a worker reads.
 *
 * While a worker has the body the exchange stays open, so the next request of that connection waits
 * in the kernel. The body is the worker's own: when the client hangs up, its exchange and all that
 * can be read of it are gone at once, and what the worker returns is dropped.
 */
#include "mcp/transport/http/body_reader.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "mcp/core/call/client.h"

/* A request whose body a worker reads. */
struct pending {
    mcp__exchange_owner owner;
    mcp__web *web;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    mcp_arena *arena;             /* pays for `caller`; NULL: there is none */
    const mcp_principal *caller;
    mcp__body_taker *then;
};

static void pending_free(struct pending *pending)
{
    mcp_arena_free(pending->arena);
    free(pending);
}

static void refuse(mcp__web *web, mcp__http_exchange *exchange, mcp_status status)
{
    mcp__web_refuse(web, exchange, 503, mcp_status_code(status), NULL, mcp_status_words(status));
}

static void on_hung_up(mcp__exchange_owner *owner)
{
    struct pending *pending = (struct pending *)((char *)owner - offsetof(struct pending, owner));

    pending->exchange = NULL;
    pending->web->counts.hung_up++;
}

static void hand_over(struct pending *pending, mcp__incoming *incoming)
{
    mcp__web *web = pending->web;

    mcp__http_set_data(pending->exchange, NULL);
    if (web->serve.is_ending) {
        refuse(web, pending->exchange, MCP_E_STOPPED);
        return;
    }
    web->caller = pending->caller;
    pending->then(web, pending->exchange, incoming);
    web->caller = NULL;
    mcp__web_step_later(web);
}

static void on_large(void *owner, mcp__incoming *incoming)
{
    struct pending *pending = owner;

    if (pending->exchange)
        hand_over(pending, incoming);
    pending_free(pending);
}

/* The caller, as the worker may take longer than its token's record lives. */
static bool keep_caller(struct pending *pending)
{
    bool is_lost = false;

    if (!pending->web->caller)
        return true;
    pending->arena = mcp_arena_new(0);
    if (!pending->arena)
        return false;
    pending->caller = mcp__principal_copy(pending->arena, pending->web->caller, &is_lost);
    return !is_lost;
}

static mcp_status start(struct pending *pending, mcp__http_exchange *exchange)
{
    mcp_buf body;

    mcp_buf_init(&body, pending->web->serve.options->limits.message_max_bytes);
    if (keep_caller(pending) && mcp__http_body_take(exchange, &body, NULL) == MCP_OK &&
        mcp__http_keep(exchange, NULL) == MCP_OK)
        return mcp__serve_read(&pending->web->serve, &body, on_large, pending, NULL);
    mcp_buf_clear(&body);
    return MCP_E_NOMEM;
}

static void read_large(mcp__web *web, mcp__http_exchange *exchange, mcp__body_taker *then)
{
    struct pending *pending = mcp_alloc_zeroed(1, sizeof *pending);
    mcp_status st = MCP_E_NOMEM;

    if (pending) {
        *pending = (struct pending){
            .owner.hung_up = on_hung_up, .web = web, .exchange = exchange, .then = then
        };
        st = start(pending, exchange);
    }
    if (st == MCP_OK) {
        mcp__http_set_data(exchange, &pending->owner);
        return;
    }
    if (pending)
        pending_free(pending);
    refuse(web, exchange, st);
}

void mcp__body_read(mcp__web *web, mcp__http_exchange *exchange, mcp__body_taker *then)
{
    mcp__incoming incoming;
    size_t length = 0;
    const char *body = mcp__http_body(exchange, &length);

    if (length > MCP__INCOMING_SMALL) {
        read_large(web, exchange, then);
        return;
    }
    mcp__incoming_read(&incoming, web->serve.options, web->serve.context.budget, body, length);
    then(web, exchange, &incoming);
    mcp__incoming_clear(&incoming);
}
