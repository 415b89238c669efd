/*
 * feature_call.c - stands in for the dispatcher, on one thread.
 */
#include "feature_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/call/result.h"

mcp_server_options feature_options(void)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;

    options.limits.reply_max_bytes = 1 << 20;
    options.limits.arena_max_bytes = 8 << 20;
    options.limits.timeout_ms = 60000;
    return options;
}

static const mcp_json *parsed(const char *text, size_t length, mcp_arena *arena)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, arena, text, length, &err) != MCP_OK)
        fail_msg("%s: %.*s", err.message, (int)length, text);
    return value;
}

/* Tests free their features themselves. */
static void drop_nothing(const mcp__features *features)
{
    (void)features;
}

const mcp_json *feature_ask(feature_method *method, const mcp_server_options *options,
                            mcp_revision revision, const char *params, mcp_arena *arena)
{
    mcp_arena *own = mcp_arena_new(options->limits.arena_max_bytes);
    const mcp_json *message;
    mcp__context context = { .options = options, .drop = drop_nothing };
    mcp_call *call = NULL;

    assert_non_null(own);
    context.no_arguments = parsed("{}", 2, own);
    assert_int_equal(mcp__call_new(&call, own, &context, NULL), MCP_OK);
    call->request.id = parsed("1", 1, own);
    call->request.params = params ? parsed(params, strlen(params), own) : NULL;
    call->request.revision = revision;
    call->status = method(call);
    if (call->status == MCP_OK && call->plan.run)
        call->status = call->plan.run(call, call->plan.data);
    mcp__result_render(call);
    message = parsed(call->answer.message.data, call->answer.message.length, arena);
    mcp__call_free(call);
    return message;
}

void assert_json(const mcp_json *value, const char *text, mcp_arena *arena)
{
    mcp_json_writer writer;
    mcp_buf got;

    mcp_buf_init(&got, 1 << 20);
    mcp_json_writer_init(&writer, &got);
    mcp_write_value(&writer, value);
    if (!mcp_json_equal(value, parsed(text, strlen(text), arena)))
        fail_msg("%s\nis not\n%s", got.data, text);
    mcp_buf_clear(&got);
}

void assert_rpc_error(const mcp_json *message, int code, const char *words)
{
    const mcp_json *error = mcp_json_get(message, "error");
    const char *text = mcp_json_get_string(error, "message");
    int64_t got = 0;

    if (!mcp_json_int(mcp_json_get(error, "code"), &got) || got != code || !text)
        fail_msg("code %d, not %d: %s", (int)got, code, text ? text : "");
    if (!strstr(text, words))
        fail_msg("'%s' is not in '%s'", words, text);
}
