/*
 * submit.c - the one path of commands to the service and back.
 */
#include "gateway/submit.h"

#include "mcp/clock.h"

enum { COMMAND_MAX_BYTES = 1 << 30 };

static mcp_status begin(universe_request *request, bool may_wait);

/* The service has accepted or refused the commands. */
static mcp_status finish(universe_request *request, mcp_status st, universe_result *result,
                         const mcp_error *cause)
{
    if (st == MCP_OK && request->again && request->again(request, result))
        return begin(request, false);
    universe_log_result(request->call, request->app, request->part, request->submission.id,
                        request->type, request->began_ns, st, result);
    return request->done(request, st, result, cause);
}

static mcp_status end(mcp_call *call, void *data)
{
    universe_request *request = data;
    universe_result result = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    (void)call;
    mcp_status st = universe_service_submit_end(&result, &request->submission, &err);
    return finish(request, st, &result, &err);
}

/* On the committing thread. */
static void on_committed(void *data)
{
    universe_request *request = data;
    bool is_short = universe_reply_is_short(request->app, &request->submission, request->how);
    mcp_call_resume(request->call, end, request, is_short ? MCP_NONBLOCKING : 0);
}

static mcp_status load_and_begin(mcp_call *call, void *data)
{
    (void)call;
    return begin(data, true);
}

static mcp_status begin(universe_request *request, bool may_wait)
{
    universe_result nothing = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_service_submit_begin(&request->submission, request->app->service,
                                                  may_wait, &err);

    if (st == MCP_E_DEFERRED) /* the universe has to be loaded, by a worker */
        mcp_call_resume(request->call, load_and_begin, request, 0);
    if (st == MCP_OK || st == MCP_E_DEFERRED)
        return MCP_E_DEFERRED;
    return finish(request, st, &nothing, &err);
}

mcp_status universe_submit(universe_request *request)
{
    request->began_ns = mcp_clock_mono_ns();
    request->submission.actor = mcp_call_principal(request->call);
    request->submission.arena = mcp_call_arena(request->call);
    request->submission.done = on_committed;
    request->submission.data = request;
    return begin(request, false);
}

mcp_status universe_command_write(universe_command *command, mcp_arena *arena, mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, COMMAND_MAX_BYTES);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, command->json);
    bool is_written = mcp_json_writer_status(&json) == MCP_OK;
    command->text = is_written ? mcp_arena_strndup(arena, text.data, text.length) : NULL;
    command->length = text.length;
    mcp_buf_clear(&text);
    return command->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a command");
}
