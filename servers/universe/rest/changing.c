/*
 * changing.c - commands, one or many, and what else changes a universe through REST.
 */
#include <string.h>

#include "generate/generate.h"
#include "mcp/clock.h"
#include "rest/condition.h"
#include "rest/rest.h"

#define BODY_RULE "Request body must be a JSON object with a non-empty \"type\" string property"

static bool is_command(const mcp_json *command)
{
    const char *type = mcp_json_get_string(command, "type");
    return type && *type;
}

/* Orders on their way; the call's. */
struct change {
    mcp_call *call;
    const universe_app *app;
    universe_return how;
    int64_t began_ns;
    bool is_batch;
    universe_condition when;
    universe_sending sending;
};

/* What the service said, without a commit or after it. */
static mcp_status answer_change(struct change *it, mcp_status st, universe_sent *sent,
                                const mcp_error *err)
{
    const universe_sending *asked = &it->sending;

    universe_log_sent(it->app, UNIVERSE_LOG_GATEWAY, asked->id,
                      it->is_batch ? "batch" : mcp_json_get_string(asked->orders->command, "type"),
                      it->began_ns, st, sent);
    if (st != MCP_OK)
        return universe_rest_failed(it->call, asked->id, st, err);
    sent->is_batch = it->is_batch;
    return universe_rest_sent(it->call, it->app, asked->id, sent, it->when.expected,
                              it->when.http_status);
}

static mcp_status begin_change(struct change *it, bool may_wait);

static mcp_status end_change(mcp_call *call, void *data)
{
    struct change *it = data;
    universe_sent sent = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_service_end_send(&sent, &it->sending, &err);

    (void)call;
    if (st == MCP_OK && universe_condition_again(&it->when, &sent))
        return begin_change(it, false);
    return answer_change(it, st, &sent, &err);
}

/* On the committing thread. */
static void change_told(void *data)
{
    struct change *it = data;

    if (universe_reply_is_short(it->app, &it->sending, it->how))
        mcp_call_resume_quick(it->call, end_change, it);
    else
        mcp_call_resume(it->call, end_change, it);
}

static mcp_status load_and_begin(mcp_call *call, void *data);

/* Hands the orders to the service. */
static mcp_status begin_change(struct change *it, bool may_wait)
{
    universe_sent nothing = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    it->sending.expected = it->when.expected;
    mcp_status st = universe_service_begin_send(&it->sending, it->app->service, may_wait, &err);
    if (st == MCP_E_LATER) /* the universe has to be loaded, by a worker */
        mcp_call_resume(it->call, load_and_begin, it);
    if (st == MCP_OK || st == MCP_E_LATER)
        return MCP_E_LATER;
    return answer_change(it, st, &nothing, &err);
}

static mcp_status load_and_begin(mcp_call *call, void *data)
{
    (void)call;
    return begin_change(data, true);
}

static mcp_status meet_and_begin(mcp_call *call, void *data)
{
    struct change *it = data;

    return universe_condition_read(&it->when, call, it->app, it->sending.id)
               ? begin_change(it, false)
               : MCP_OK;
}

/* Sends orders; what they came to is answered when they are durable. */
static mcp_status send_orders(mcp_call *call, const universe_app *app, const universe_order *orders,
                              size_t count, bool is_batch)
{
    const char *id = mcp_arg_string(call, "id");
    struct change *it = mcp_arena_alloc(mcp_call_arena(call), sizeof *it);

    if (!it)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    *it = (struct change){ .call = call,
                           .app = app,
                           .began_ns = mcp_clock_mono_ns(),
                           .is_batch = is_batch };
    if (!universe_return_find(&it->how, mcp_arg_string(call, "return")))
        return universe_rest_error(call, 400, id, "\"return\" is auto, full, delta or minimal");
    it->sending = (universe_sending){ .id = id,
                                      .orders = orders,
                                      .count = count,
                                      .actor = mcp_call_principal(call),
                                      .arena = mcp_call_arena(call),
                                      .told = change_told,
                                      .data = it };
    if (!mcp_call_header(call, "If-Match") && !mcp_call_header(call, "If-None-Match"))
        return meet_and_begin(call, it);
    mcp_call_resume(call, meet_and_begin, it); /* it may have to read the present version: on a worker */
    return MCP_E_LATER;
}

mcp_status universe_rest_command(mcp_call *call, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    universe_order *order = mcp_arena_alloc(mcp_call_arena(call), sizeof *order);

    if (!order)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    order->command = mcp_call_body_json(call, &err);
    if (universe_rest_no_json(call, order->command, &err))
        return MCP_OK;
    if (!is_command(order->command))
        return universe_rest_error(call, 400, mcp_arg_string(call, "id"), BODY_RULE);
    order->text = mcp_call_body(call, &order->length);
    return send_orders(call, data, order, 1, false);
}

/* Each item's own text: an order is stored as it was sent. */
static mcp_status item_text(universe_order *order, mcp_arena *arena, mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, UNIVERSE_REST_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, order->command);
    mcp_status st = mcp_json_writer_status(&json);
    order->text = st == MCP_OK ? mcp_arena_strndup(arena, text.data, text.length) : NULL;
    order->length = text.length;
    mcp_buf_clear(&text);
    return order->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch");
}

mcp_status universe_rest_batch(mcp_call *call, void *data)
{
    const char *id = mcp_arg_string(call, "id");
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = mcp_call_body_json(call, &err);
    size_t count = mcp_json_count(body);

    if (universe_rest_no_json(call, body, &err))
        return MCP_OK;
    if (!mcp_json_is_array(body) || count < 1 || count > UNIVERSE_BATCH_MAX)
        return universe_rest_error(call, 400, id,
                                   "Request body must be a JSON array of 1 to %d commands",
                                   UNIVERSE_BATCH_MAX);
    universe_order *orders = mcp_arena_array(mcp_call_arena(call), count, sizeof *orders);
    if (!orders)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++) {
        orders[i].command = mcp_json_item(body, i);
        if (!is_command(orders[i].command))
            return universe_rest_error(
                call, 400, id, "item %zu is no JSON object with a non-empty \"type\" string", i);
        mcp_status st = item_text(&orders[i], mcp_call_arena(call), &err);
        if (st != MCP_OK)
            return universe_rest_failed(call, id, st, &err);
    }
    return send_orders(call, data, orders, count, true);
}

/* ---- replacing the state ---------------------------------------------------------------------- */

static mcp_status replace(mcp_call *call, const universe_app *app, const universe_replacement *by)
{
    const char *id = mcp_arg_string(call, "id");
    universe_sent sent = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    universe_condition when;
    int64_t began_ns = mcp_clock_mono_ns();

    if (!universe_condition_read(&when, call, app, id))
        return MCP_OK;
    mcp_status st = MCP_OK;
    do
        st = universe_service_replace(&sent, app->service, id, by, when.expected,
                                      mcp_call_principal(call), mcp_call_arena(call), &err);
    while (st == MCP_OK && universe_condition_again(&when, &sent));
    universe_log_sent(app, UNIVERSE_LOG_GATEWAY, id, "replaceSnapshot", began_ns, st, &sent);
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    return universe_rest_sent(call, app, id, &sent, when.expected, when.http_status);
}

mcp_status universe_rest_restore(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_replacement by = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = mcp_call_body_json(call, &err);
    int64_t version = 0;

    if (universe_rest_no_json(call, body, &err))
        return MCP_OK;
    if (!mcp_json_int(mcp_json_get(body, "version"), &version))
        return universe_rest_error(call, 400, id,
                                   "Request body must be {\"version\": a whole number}");
    mcp_status st = universe_service_at(&by.view, app->service, id, version, &err);
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    by.label = mcp_arena_printf(mcp_call_arena(call), "{\"type\":\"restore\",\"version\":%lld}",
                                (long long)version);
    st = replace(call, app, &by);
    universe_view_free(by.view);
    return st;
}

static bool should_stop(double fraction, void *data)
{
    (void)fraction;
    return mcp_call_stop(data) != MCP_GO_ON;
}

/* The record as it is, the counts as they would be. */
static mcp_status answer_dry_run(mcp_call *call, const universe_record *record,
                                 const universe_view *view)
{
    universe_moment moment = { .record = *record, .view = (universe_view *)view };
    mcp_buf body;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_reply_summary(&body, &moment, &err);
    if (st == MCP_OK)
        return universe_rest_send(call, 200, &body);
    mcp_buf_clear(&body);
    return universe_rest_failed(call, moment.record.id, st, &err);
}

mcp_status universe_rest_generate(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_replacement by = { .keeps_time = true };
    universe_record record = { 0 };
    universe_state *state = NULL;
    mcp_error err = MCP_ERROR_INIT;
    bool dry_run = false;
    const mcp_json *config = mcp_call_body_json(call, &err), *dry = mcp_json_get(config, "dryRun");

    if (universe_rest_no_json(call, config, &err))
        return MCP_OK;
    if (!mcp_json_is_object(config))
        return universe_rest_error(call, 400, id, "Request body must be a JSON object");
    if (dry && !mcp_json_bool(dry, &dry_run))
        return universe_rest_error(call, 400, id, "\"dryRun\" is true or false");
    mcp_status st =
        universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
    if (st == MCP_OK)
        st = universe_generate(&state, config, should_stop, call, mcp_call_arena(call), &err);
    if (st == MCP_OK)
        st = universe_state_freeze(&by.view, state, &err);
    universe_state_free(state);
    if (st == MCP_OK && !(by.label = universe_generator_label(mcp_call_arena(call), config)))
        st = mcp_error_set(&err, MCP_E_NOMEM, "no memory for the generator's label");
    if (st != MCP_OK)
        universe_rest_failed(call, id, st, &err);
    else
        st = dry_run ? answer_dry_run(call, &record, by.view) : replace(call, app, &by);
    universe_view_free(by.view);
    return st == MCP_E_NOMEM ? st : MCP_OK;
}

/* ---- the clock -------------------------------------------------------------------------------- */

static mcp_status answer_clock(mcp_call *call, const universe_app *app, const char *id)
{
    universe_clock clock;
    mcp_json_writer *json = mcp_call_result(call);
    universe_service_clock(&clock, app->service, id);
    mcp_write_member_bool(json, "running", clock.running);
    mcp_write_member_double(json, "timeScale", clock.time_scale);
    mcp_write_member_double(json, "hz", clock.hz);
    return MCP_OK;
}

mcp_status universe_rest_get_clock(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_record record = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st =
        universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
    return st == MCP_OK ? answer_clock(call, app, id) : universe_rest_failed(call, id, st, &err);
}

mcp_status universe_rest_set_clock(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_clock clock;
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = mcp_call_body_json(call, &err);
    const mcp_json *running = mcp_json_get(body, "running");
    const mcp_json *scale = mcp_json_get(body, "timeScale"), *hz = mcp_json_get(body, "hz");

    if (universe_rest_no_json(call, body, &err))
        return MCP_OK;
    universe_service_clock(&clock, app->service, id);
    if (!mcp_json_is_object(body) || (running && !mcp_json_bool(running, &clock.running)) ||
        (scale && !mcp_json_double(scale, &clock.time_scale)) ||
        (hz && !mcp_json_double(hz, &clock.hz)))
        return universe_rest_error(call, 400, id,
                                   "Request body must be {\"running\": boolean, \"timeScale\": "
                                   "number, \"hz\": number}, each optional");
    mcp_status st = universe_service_set_clock(app->service, id, &clock, &err);
    return st == MCP_OK ? answer_clock(call, app, id) : universe_rest_failed(call, id, st, &err);
}
