/*
 * test_tasks.c - tasks/list page by page, and tools whose flags about tasks cannot be. The other
 * methods are in core/task/test_task.c and in tests/wire/library/tasks-*.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "fixture_task.h"

static void begin_tasks(conversation *c, int count)
{
    char text[256];

    for (int i = 0; i < count; i++) {
        (void)snprintf(
            text, sizeof text,
            "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"task/plain\","
            "\"task\":{}}}",
            1000 + i);
        conversation_say(c, text);
    }
    mcp__peer_memory_reset(&c->peer);
}

/* The answer to tasks/list from a cursor on; NULL: from the beginning. In `arena`. */
static const mcp_json *list(conversation *c, mcp_arena *arena, const char *cursor)
{
    char text[256];

    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/list\",\"params\":{%s%s%s}}",
                   cursor ? "\"cursor\":\"" : "", cursor ? cursor : "", cursor ? "\"" : "");
    conversation_say(c, text);
    return mcp_json_get(conversation_answer(c, arena), "result");
}

static void a_page_has_fifty(void **state)
{
    static const int counts[] = { 49, 50, 51 };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        conversation c;
        conversation_open(&c, NULL, &fixture_task);
        conversation_initialize(&c, "2025-11-25");
        c.executor.is_held = true;
        begin_tasks(&c, counts[i]);
        const mcp_json *page = list(&c, arena, NULL);
        const mcp_json *tasks = mcp_json_get(page, "tasks");
        const char *next = mcp_json_get_string(page, "nextCursor");
        assert_int_equal(mcp_json_count(tasks), counts[i] < 50 ? counts[i] : 50);
        assert_string_equal(mcp_json_get_string(mcp_json_item(tasks, 0), "taskId"),
                            LIST_FIRST(&c.tasks->entries)->id);
        assert_int_equal(next != NULL, counts[i] > 50);
        if (next) {
            const mcp__task_entry *oldest = LIST_FIRST(&c.tasks->entries);
            while (LIST_NEXT(oldest, older))
                oldest = LIST_NEXT(oldest, older);
            page = list(&c, arena, next);
            tasks = mcp_json_get(page, "tasks");
            assert_int_equal(mcp_json_count(tasks), 1);
            assert_string_equal(mcp_json_get_string(mcp_json_item(tasks, 0), "taskId"), oldest->id);
            assert_null(mcp_json_get(page, "nextCursor"));
        }
        conversation_close(&c);
    }
    mcp_arena_free(arena);
}

static void a_cursor_is_a_number_of_ours(void **state)
{
    static const char *const cursors[] = { "", "x", "-1", "1 ", "12345678901234567890" };
    conversation c;
    char text[256];

    (void)state;
    conversation_open(&c, NULL, &fixture_task);
    conversation_initialize(&c, "2025-11-25");
    for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++) {
        (void)snprintf(
            text, sizeof text,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/list\",\"params\":{\"cursor\":\"%s\"}}",
            cursors[i]);
        conversation_ask(&c, text,
                         "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":"
                         "\"invalid cursor\"}}");
    }
    conversation_close(&c);
}

static mcp_status nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static void flags_must_fit_each_other(void **state)
{
    static const char tool[] = "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}";
    static const mcp_file files[] = { { "tools/t.json", tool, sizeof tool - 1 }, { 0 } };
    static const unsigned bad[] = { MCP_TASK_DEFERRED, MCP_TASK_OPTIONAL | MCP_NONBLOCKING,
                                    MCP_TASK_REQUIRED | MCP_NONBLOCKING };
    mcp_server_options options = { .name = "n", .version = "1" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mcp_tool tools[] = { { "t", nothing, MCP_READS | bad[i], 0, 0 }, { 0 } };
        mcp_features features = { .files = files, .tools = tools };
        mcp_error err = MCP_ERROR_INIT;
        mcp_server *server = NULL;
        assert_int_equal(mcp_server_new(&server, &options, &err), MCP_OK);
        assert_int_equal(mcp_server_add(server, &features, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "tool t says"));
        mcp_server_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_fifty),
        cmocka_unit_test(a_cursor_is_a_number_of_ours),
        cmocka_unit_test(flags_must_fit_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
