/*
 * served.h - cobre's tools in one thread: a server over a memory peer, and calls that return the
 * parsed text block.
 */
#ifndef COBRE_SERVED_H
#define COBRE_SERVED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "features/tools.h"
#include "gateway/errors.h"
#include "mcp/mcp.h"
#include "refusals.h"
#include "scratch.h"

struct served {
    scratch folder; /* the only allowed directory */
    mcp_arena *arena;
    cobre_app app;
    conversation talk;
};

static int served_open(void **state, bool allow_write)
{
    struct served *served = calloc(1, sizeof *served);
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_features features = { .files = cobre_files, .tools = cobre_tools };

    *state = served;
    scratch_open(&served->folder);
    const char *roots[] = { served->folder.path };
    assert_int_equal(guard_new(&served->app.guard, roots, 1, NULL), MCP_OK);
    assert_int_equal(columns_open(&served->app.engine, NULL), MCP_OK);
    assert_int_equal(pthread_mutex_init(&served->app.run_lock, NULL), 0);
    served->arena = mcp_arena_new((size_t)256 << 20);
    served->app.threads = 1;
    features.data = &served->app;
    options.name = "cobre-mcp";
    options.version = "0";
    options.allow_write = allow_write;
    options.write_note = COBRE_WRITES_DISABLED;
    options.error_formatter = cobre_refuse_call;
    options.normalize_arguments = cobre_normalize_arguments;
    options.data = &served->app;
    options.limits.arena_max_bytes = (size_t)1 << 30;
    conversation_open(&served->talk, &options, &features);
    conversation_initialize(&served->talk, "2025-03-26");
    return 0;
}

static int served_close(void **state)
{
    struct served *served = *state;

    conversation_close(&served->talk);
    columns_close(served->app.engine);
    guard_free(served->app.guard);
    pthread_mutex_destroy(&served->app.run_lock);
    mcp_arena_free(served->arena);
    scratch_close(&served->folder);
    free(served);
    return 0;
}

/* Call a tool; `is_error` may be NULL. In the arguments ' stands for ". */
static inline const mcp_json *served_call(struct served *served, const char *tool,
                                          const char *arguments, bool *is_error)
{
    char *text = mcp_arena_printf(served->arena,
                                  "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':"
                                  "{'name':'%s','arguments':%s}}",
                                  tool, arguments);
    const mcp_json *value = NULL;
    size_t length = 0;

    for (char *at = strchr(text, '\''); at; at = strchr(at, '\''))
        *at = '"';
    conversation_say(&served->talk, text);
    const mcp_json *answer = conversation_answer(&served->talk, served->arena);
    const char *block = mcp_json_string(mcp_json_pointer(answer, "/result/content/0/text"),
                                        &length);
    if (!block)
        fail_msg("%s gave no text", tool);
    if (is_error && !mcp_json_bool(mcp_json_pointer(answer, "/result/isError"), is_error))
        *is_error = false;
    assert_int_equal(mcp_json_read(&value, served->arena, block, length, NULL), MCP_OK);
    return value;
}

/* Call a tool that must refuse: the record. */
static inline const mcp_json *served_refusal(struct served *served, const char *tool,
                                             const char *arguments, const char *kind)
{
    bool is_error = false;
    const mcp_json *record = served_call(served, tool, arguments, &is_error);

    assert_true(is_error);
    assert_string_equal(mcp_json_get_string(record, "kind"), kind);
    assert_true(mcp_json_get_string(record, "message")[0] != '\0');
    assert_true(mcp_json_is_object(mcp_json_get(record, "context")));
    assert_non_null(mcp_json_get(record, "suggestion"));
    return record;
}

/* The value at a pointer must equal the JSON text, in which ' stands for ". */
static inline void assert_at(const mcp_json *value, const char *pointer, const char *expected,
                             mcp_arena *arena)
{
    char *text = mcp_arena_strdup(arena, expected);
    const mcp_json *wanted = NULL;

    for (char *at = strchr(text, '\''); at; at = strchr(at, '\''))
        *at = '"';
    assert_int_equal(mcp_json_read(&wanted, arena, text, strlen(text), NULL), MCP_OK);
    if (!mcp_json_equal(mcp_json_pointer(value, pointer), wanted))
        fail_msg("%s is not %s", pointer, text);
}

#endif
