/*
 * intake.c - bodies that are read on the loop, and those that a worker reads.
 *
 * While a worker has the body the exchange stays open, so the next request of that connection waits in the
 * kernel. The body is the worker's own: when the client hangs up, its exchange and all that can be read of
 * it are gone at once, and what the worker returns is dropped.
 */
#include "mcp/transport/web/intake.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "mcp/core/principal.h"

/* A body on its way through a worker. */
struct intake {
    mcp__reading reading; /* first */
    mcp__web_guest guest;
    mcp__web *web;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    mcp_arena *arena;             /* pays for `caller`; NULL: there is none */
    const mcp_principal *caller;
    mcp__web_taker *then;
};

static void intake_free(struct intake *intake)
{
    mcp__incoming_clear(&intake->reading.incoming);
    mcp_arena_free(intake->arena);
    free(intake);
}

static void refuse(mcp__web *web, mcp__http_exchange *exchange, mcp_status status)
{
    mcp__web_refuse(web, exchange, 503, mcp_status_code(status), NULL, mcp_status_words(status));
}

static void on_hung_up(mcp__web_guest *guest)
{
    struct intake *intake = (struct intake *)((char *)guest - offsetof(struct intake, guest));

    intake->exchange = NULL;
    intake->web->counts.hung_up++;
}

static void hand_over(struct intake *intake)
{
    mcp__web *web = intake->web;

    mcp__http_set_data(intake->exchange, NULL);
    if (web->is_ending) {
        refuse(web, intake->exchange, MCP_E_STOPPED);
        return;
    }
    web->caller = intake->caller;
    intake->then(web, intake->exchange, &intake->reading.incoming);
    web->caller = NULL;
    mcp__web_step_later(web);
}

static void done(mcp__reading *reading)
{
    struct intake *intake = (struct intake *)reading;

    intake->web->reading--;
    if (intake->exchange)
        hand_over(intake);
    intake_free(intake);
}

/* Who asks, as the worker may take longer than what the request's token was looked up in lives. */
static bool keep_caller(struct intake *intake)
{
    bool is_lost = false;

    if (!intake->web->caller)
        return true;
    intake->arena = mcp_arena_new(0);
    if (!intake->arena)
        return false;
    intake->caller = mcp__principal_copy(intake->arena, intake->web->caller, &is_lost);
    return !is_lost;
}

static struct intake *intake_new(mcp__web *web, mcp__http_exchange *exchange)
{
    struct intake *intake = mcp__alloc_zeroed(1, sizeof(*intake));

    if (!intake)
        return NULL;
    intake->web = web;
    intake->exchange = exchange;
    intake->guest.hung_up = on_hung_up;
    intake->reading.options = web->options;
    intake->reading.budget = web->budget;
    intake->reading.done = done;
    mcp_buf_init(&intake->reading.text, web->options->message_max_bytes);
    if (keep_caller(intake) &&
        mcp__http_body_take(exchange, &intake->reading.text, NULL) == MCP_OK &&
        mcp__http_keep(exchange, NULL) == MCP_OK)
        return intake;
    mcp_buf_clear(&intake->reading.text);
    intake_free(intake);
    return NULL;
}

static void read_later(mcp__web *web, mcp__http_exchange *exchange, mcp__web_taker *then)
{
    struct intake *intake = intake_new(web, exchange);

    if (!intake) {
        refuse(web, exchange, MCP_E_NOMEM);
        return;
    }
    intake->then = then;
    web->reading++;
    mcp__http_set_data(exchange, &intake->guest);
    if (mcp__reading_start(&intake->reading, web->threads, NULL) == MCP_OK)
        return;
    web->reading--;
    mcp__http_set_data(exchange, NULL);
    intake_free(intake);
    refuse(web, exchange, MCP_E_BUSY);
}

void mcp__web_read(mcp__web *web, mcp__http_exchange *exchange, mcp__web_taker *then)
{
    mcp__incoming incoming;
    size_t length = 0;
    const char *body = mcp__http_body(exchange, &length);

    if (length > MCP__INCOMING_SMALL) {
        read_later(web, exchange, then);
        return;
    }
    mcp__incoming_read(&incoming, web->options, web->budget, body, length);
    then(web, exchange, &incoming);
    mcp__incoming_clear(&incoming);
}
