/*
 * changing.c - commands, one or many, and what else changes a universe through REST.
 */
#include <string.h>

#include "gateway/submit.h"
#include "generate/generate.h"
#include "mcp/clock.h"
#include "rest/condition.h"
#include "rest/rest.h"

#define BODY_RULE "Request body must be a JSON object with a non-empty \"type\" string property"

/* Bytes of the white space, as JavaScript trims it, that the text begins with. */
static size_t blank_at(const char *text)
{
    static const char *const blanks[] = {
        " ",      "\t",     "\n",     "\r",     "\v",     "\f",     "\u00a0", "\u1680", "\u2000",
        "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009",
        "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff",
    };
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    }
    return 0;
}

static bool is_command(const mcp_json *command)
{
    const char *type = mcp_json_get_string(command, "type");
    size_t blank = type ? blank_at(type) : 0;
    while (blank > 0) {
        type += blank;
        blank = blank_at(type);
    }
    return type && *type;
}

/* A call that sends commands. */
struct sending {
    universe_request request;
    universe_condition when;
    bool is_batch;
};

static bool meets_again(universe_request *request, universe_result *result)
{
    struct sending *it = (struct sending *)request; /* its first member */
    bool again = universe_condition_again(&it->when, result);
    request->submission.expected = it->when.expected;
    return again;
}

static mcp_status answer_commands(universe_request *request, mcp_status st, universe_result *result,
                                  const mcp_error *cause)
{
    const struct sending *it = (const struct sending *)request;
    const char *id = request->submission.id;

    if (st != MCP_OK)
        return universe_rest_failed(request->call, id, st, cause);
    result->is_batch = it->is_batch;
    return universe_rest_result(request->call, request->app, id, result, it->when.expected,
                                it->when.http_status);
}

static mcp_status meet_and_submit(mcp_call *call, void *data)
{
    struct sending *it = data;
    universe_submission *submission = &it->request.submission;

    if (!universe_condition_read(&it->when, call, it->request.app, submission->id))
        return MCP_OK;
    submission->expected = it->when.expected;
    return universe_submit(&it->request);
}

static mcp_status send_commands(mcp_call *call, const universe_app *app,
                                const universe_command *commands, size_t count, bool is_batch)
{
    const char *id = mcp_arg_string(call, "id");
    struct sending *it = mcp_arena_alloc(mcp_call_arena(call), sizeof *it);

    if (!it)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    *it = (struct sending){
        .request = { .call = call,
                     .app = app,
                     .part = UNIVERSE_LOG_GATEWAY,
                     .type = is_batch ? "batch" : mcp_json_get_string(commands->json, "type"),
                     .again = meets_again,
                     .done = answer_commands,
                     .submission = { .id = id, .commands = commands, .count = count } },
        .is_batch = is_batch,
    };
    if (!universe_return_find(&it->request.how, mcp_arg_string(call, "return")))
        return universe_rest_error(call, 400, id, "\"return\" is auto, full, delta or minimal");
    if (!mcp_call_header(call, "If-Match") && !mcp_call_header(call, "If-None-Match"))
        return meet_and_submit(call, it);
    /* The present version may have to be read: on a worker. */
    mcp_call_resume(call, meet_and_submit, it, 0);
    return MCP_E_DEFERRED;
}

mcp_status universe_rest_command(mcp_call *call, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    universe_command *command = mcp_arena_alloc(mcp_call_arena(call), sizeof *command);

    if (!command)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    command->json = mcp_call_body_json(call, &err);
    if (universe_rest_no_json(call, command->json, &err))
        return MCP_OK;
    if (!is_command(command->json))
        return universe_rest_error(call, 400, mcp_arg_string(call, "id"), BODY_RULE);
    command->text = mcp_call_body(call, &command->length);
    return send_commands(call, data, command, 1, false);
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
    universe_command *commands = mcp_arena_array(mcp_call_arena(call), count, sizeof *commands);
    if (!commands)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++) {
        commands[i].json = mcp_json_item(body, i);
        if (!is_command(commands[i].json))
            return universe_rest_error(
                call, 400, id, "item %zu is no JSON object with a non-empty \"type\" string", i);
        mcp_status st = universe_command_write(&commands[i], mcp_call_arena(call), &err);
        if (st != MCP_OK)
            return universe_rest_failed(call, id, st, &err);
    }
    return send_commands(call, data, commands, count, true);
}

/* ---- replacing the state --------------------------------------------------------------------- */

static mcp_status replace(mcp_call *call, const universe_app *app, const universe_replacement *by)
{
    const char *id = mcp_arg_string(call, "id");
    universe_result result = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    universe_condition when;
    int64_t began_ns = mcp_clock_mono_ns();

    if (!universe_condition_read(&when, call, app, id))
        return MCP_OK;
    mcp_status st = MCP_OK;
    do
        st = universe_service_replace(&result, app->service, id, by, when.expected,
                                      mcp_call_principal(call), mcp_call_arena(call), &err);
    while (st == MCP_OK && universe_condition_again(&when, &result));
    universe_log_result(call, app, UNIVERSE_LOG_GATEWAY, id, "replaceSnapshot", began_ns, st,
                        &result);
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    return universe_rest_result(call, app, id, &result, when.expected, when.http_status);
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
    return mcp_call_stop(data) != MCP_STOP_NONE;
}

/* The record as it is, the counts as they would be. */
static mcp_status answer_dry_run(mcp_call *call, const universe_record *record,
                                 const universe_view *view)
{
    universe_version current = { .record = *record, .view = (universe_view *)view };
    mcp_buf body;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_reply_summary(&body, &current, &err);
    if (st == MCP_OK)
        return universe_rest_send(call, 200, &body);
    mcp_buf_clear(&body);
    return universe_rest_failed(call, current.record.id, st, &err);
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
    mcp_status st = universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
    if (st == MCP_OK)
        st = universe_generate(&state, config, should_stop, call, mcp_call_arena(call), &err);
    if (st == MCP_OK)
        st = universe_state_freeze(&by.view, state, &err);
    universe_state_free(state);
    if (st == MCP_OK)
        by.label = universe_generator_label(mcp_call_arena(call), config);
    if (st == MCP_OK && !by.label)
        st = mcp_error_set(&err, MCP_E_NOMEM, "no memory for the generator's label");
    if (st != MCP_OK)
        universe_rest_failed(call, id, st, &err);
    else
        st = dry_run ? answer_dry_run(call, &record, by.view) : replace(call, app, &by);
    universe_view_free(by.view);
    return st == MCP_E_NOMEM ? st : MCP_OK;
}

/* ---- the clock ------------------------------------------------------------------------------- */

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
    mcp_status st = universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
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
