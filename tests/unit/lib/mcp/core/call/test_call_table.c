/*
 * test_call_table.c - finding, closing and queueing calls, against a plain list as the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/core/call/call_int.h"
#include <cmocka.h>

static mcp_server_options options = { .limits.reply_max_bytes = 4096 };
static mcp__context context = { .options = &options };
static mcp__call_table table;
static mcp__peer peers[3];

static mcp_call *make(const char *id)
{
    mcp_call *call = NULL;

    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    call->notification_peer = &peers[0];
    assert_int_equal(mcp_json_read(&call->request.id, call->arena, id, strlen(id), NULL), MCP_OK);
    return call;
}

static void ids_differ_by_type_and_value(void **state)
{
    static const char *const ids[] = { "1", "\"1\"", "2", "\"\"", "-1", "18446744073709551615" };
    mcp_call *calls[6];

    (void)state;
    mcp__call_table_init(&table);
    for (size_t i = 0; i < 6; i++) {
        calls[i] = make(ids[i]);
        assert_null(mcp__call_table_find_of(&table, calls[i]->request.id, NULL));
        mcp__call_table_add(&table, calls[i]);
    }
    for (size_t i = 0; i < 6; i++)
        assert_ptr_equal(mcp__call_table_find_of(&table, calls[i]->request.id, NULL), calls[i]);
    for (size_t i = 0; i < 6; i++) {
        mcp__call_table_remove(&table, calls[i]);
        assert_null(mcp__call_table_find_of(&table, calls[i]->request.id, NULL));
        mcp__call_free(calls[i]);
    }
    assert_true(TAILQ_EMPTY(&table.open));
}

/* Open 1000 calls and close them in a scattered order: 7 has no factor in common with 1000. */
static void many_calls_come_and_go_in_any_order(void **state)
{
    static mcp_call *calls[1000];
    char id[32];

    (void)state;
    mcp__call_table_init(&table);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(id, sizeof id, i % 2 ? "%d" : "\"%d\"", i);
        calls[i] = make(id);
        mcp__call_table_add(&table, calls[i]);
    }
    for (int i = 0; i < 1000; i++) {
        mcp_call *call = calls[i * 7 % 1000];
        assert_ptr_equal(mcp__call_table_find_of(&table, call->request.id, NULL), call);
        mcp__call_table_remove(&table, call);
        assert_null(mcp__call_table_find_of(&table, call->request.id, NULL));
        mcp__call_free(call);
    }
    assert_true(TAILQ_EMPTY(&table.open));
}

/* One id of several clients that share the table, each with a call of another id as well. */
static void a_peer_has_its_calls(void **state)
{
    static const char *const ids[] = { "1", "1", "1", "2", "3", "4" };
    mcp_call *calls[6];

    (void)state;
    mcp__call_table_init(&table);
    for (size_t i = 0; i < 6; i++) {
        calls[i] = make(ids[i]);
        calls[i]->notification_peer = &peers[i % 3];
        mcp__call_table_add(&table, calls[i]);
    }
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t found = i < 3 ? k : i;
            mcp_call *wanted = found % 3 == k ? calls[found] : NULL;
            assert_ptr_equal(mcp__call_table_find_of(&table, calls[i]->request.id, &peers[k]),
                             wanted);
        }
    for (size_t i = 0; i < 6; i++) {
        mcp_call *call = calls[i * 5 % 6];
        mcp__peer *peer = call->notification_peer;
        mcp__call_table_remove(&table, call);
        assert_null(mcp__call_table_find_of(&table, call->request.id, peer));
        mcp__call_free(call);
    }
    for (size_t k = 0; k < 3; k++)
        assert_true(LIST_EMPTY(&peers[k].calls));
}

static void the_line_is_first_come_first_served(void **state)
{
    mcp_call *calls[4];

    (void)state;
    mcp__call_table_init(&table);
    for (int i = 0; i < 4; i++) {
        calls[i] = make(i % 2 ? "1" : "2");
        mcp__call_table_wait(&table, calls[i]);
    }
    mcp__call_table_unwait(&table, calls[3]);
    mcp__call_table_unwait(&table, calls[1]);
    assert_int_equal(table.waiting, 2);
    assert_ptr_equal(mcp__call_table_next(&table), calls[0]);
    assert_ptr_equal(mcp__call_table_next(&table), calls[2]);
    assert_null(mcp__call_table_next(&table));
    mcp__call_table_wait(&table, calls[1]);
    assert_ptr_equal(mcp__call_table_next(&table), calls[1]);
    for (int i = 0; i < 4; i++)
        mcp__call_free(calls[i]);
}

static void the_earliest_due_time_counts(void **state)
{
    (void)state;
    mcp__call_table_init(&table);
    assert_true(table.due_ms == INT64_MAX);
    mcp__call_table_due(&table, 500);
    mcp__call_table_due(&table, 900);
    assert_int_equal(table.due_ms, 500);
    mcp__call_table_due(&table, 20);
    assert_int_equal(table.due_ms, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_differ_by_type_and_value),
        cmocka_unit_test(a_peer_has_its_calls),
        cmocka_unit_test(many_calls_come_and_go_in_any_order),
        cmocka_unit_test(the_line_is_first_come_first_served),
        cmocka_unit_test(the_earliest_due_time_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
