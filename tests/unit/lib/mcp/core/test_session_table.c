/*
 * test_session_table.c - ids, principals, ages, the cap, and ends while calls run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "inline.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/session_table.h"
#include "peer_memory.h"

static mcp_server_options options = { .name = "t",
                                      .version = "1",
                                      .oldest = MCP_2024_11_05,
                                      .newest = MCP_2025_11_25,
                                      .default_revision = MCP_2025_03_26,
                                      .limits.message_max_bytes = 100000,
                                      .limits.reply_max_bytes = 100000,
                                      .limits.arena_max_bytes = 1000000,
                                      .limits.calls_max_running = 4,
                                      .limits.calls_max_queued = 4 };
static mcp__inline executor;
static mcp__session_table table;
static int endings;

static mcp_status idle(mcp_call *call, void *data)
{
    (void)data;
    (void)mcp_call_result(call);
    return MCP_OK;
}

static mcp_status route(mcp_call *call)
{
    call->plan.run = idle;
    return MCP_OK;
}

static void on_ending(mcp__session_entry *entry, void *data)
{
    (void)entry;
    (void)data;
    endings++;
}

static int begin(void **state)
{
    mcp__session_table_options how = {
        .context = { .options = &options,
                     .route = route,
                     .executor = &executor.executor,
                     .hooks = &mcp__dispatch_hooks },
        .max = 2,
        .idle_ms = 1000,
        .events_max_bytes = 1000,
        .ending = on_ending,
    };

    (void)state;
    mcp__inline_init(&executor);
    mcp__session_table_init(&table, &how);
    endings = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp__session_table_clear(&table);
    return 0;
}

static mcp__session_entry *add(const char *principal, int64_t now_ms)
{
    mcp__session_entry *entry = NULL;

    assert_int_equal(mcp__session_table_add(&entry, &table, principal, now_ms, NULL), MCP_OK);
    return entry;
}

static void a_session_is_found_by_its_principal_alone(void **state)
{
    mcp__session_entry *open = add(NULL, 0);
    mcp__session_entry *ann = add("ann", 0);

    (void)state;
    assert_ptr_equal(mcp__session_table_find(&table, open->id, NULL), open);
    assert_null(mcp__session_table_find(&table, open->id, "ann"));
    assert_ptr_equal(mcp__session_table_find(&table, ann->id, "ann"), ann);
    assert_null(mcp__session_table_find(&table, ann->id, "bob"));
    assert_null(mcp__session_table_find(&table, ann->id, NULL));
    assert_null(mcp__session_table_find(&table, "", NULL));
}

static void the_idlest_makes_room(void **state)
{
    mcp__session_entry *first = add(NULL, 1);
    mcp__session_entry *second = add(NULL, 2);
    mcp__session_entry *third = NULL;
    char id[MCP_RANDOM_ID_SIZE];

    (void)state;
    mcp__session_table_touch(&table, first, 3);
    memcpy(id, second->id, sizeof id);
    third = add(NULL, 4);
    assert_int_equal(endings, 1);
    assert_null(mcp__session_table_find(&table, id, NULL));
    first->open_streams = third->open_streams = 1;
    assert_int_equal(mcp__session_table_add(&second, &table, NULL, 5, NULL), MCP_E_BUSY);
    first->open_streams = third->open_streams = 0;
}

static void idle_sessions_expire(void **state)
{
    mcp__session_entry *first = add(NULL, 0);
    mcp__session_entry *second = add(NULL, 500);

    (void)state;
    (void)second;
    assert_int_equal(mcp__session_table_expire(&table, 999), 1000);
    assert_ptr_equal(mcp__session_table_find(&table, first->id, NULL), first);
    assert_int_equal(mcp__session_table_expire(&table, 1000), 1500);
    assert_int_equal(table.count, 1);
    assert_int_equal(mcp__session_table_expire(&table, 1500), INT64_MAX);
    assert_int_equal(table.count, 0);
}

static void what_ends_while_a_call_runs_waits_for_it(void **state)
{
    static const char message[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}";
    mcp__session_entry *entry = add(NULL, 0);
    mcp__peer_memory client;

    (void)state;
    mcp__peer_memory_init(&client);
    executor.is_held = true;
    mcp__session_table_work(&table, entry);
    mcp__dispatch_message(&entry->session, &client.peer, message, sizeof message - 1);
    assert_false(mcp__session_table_is_idle(&table));
    /* One that works is not idle. */
    assert_int_equal(mcp__session_table_expire(&table, 5000), 6000);
    mcp__session_table_end(&table, entry);
    assert_int_equal(client.skipped, 1);
    (void)mcp__session_table_settle(&table);
    assert_false(LIST_EMPTY(&table.ended));
    while (mcp__inline_step(&executor))
        continue;
    (void)mcp__session_table_settle(&table);
    assert_true(LIST_EMPTY(&table.ended));
    assert_true(mcp__session_table_is_idle(&table));
    mcp__peer_memory_clear(&client);
}

static void entries_for_one_request_have_no_id_and_no_end_to_tell(void **state)
{
    mcp__session_entry *entry = NULL;
    mcp__session_entry *shared = NULL;

    (void)state;
    assert_int_equal(mcp__session_table_once(&entry, &table, NULL), MCP_OK);
    assert_string_equal(entry->id, "");
    assert_int_equal(table.count, 0);
    mcp__session_table_return(&table, entry);
    (void)mcp__session_table_settle(&table);
    assert_int_equal(endings, 0);
    assert_int_equal(mcp__session_table_share(&entry, &table, NULL), MCP_OK);
    assert_int_equal(mcp__session_table_share(&shared, &table, NULL), MCP_OK);
    assert_ptr_equal(entry, shared);
    assert_true(shared->session.context.is_shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_is_found_by_its_principal_alone, begin, end),
        cmocka_unit_test_setup_teardown(the_idlest_makes_room, begin, end),
        cmocka_unit_test_setup_teardown(idle_sessions_expire, begin, end),
        cmocka_unit_test_setup_teardown(what_ends_while_a_call_runs_waits_for_it, begin, end),
        cmocka_unit_test_setup_teardown(entries_for_one_request_have_no_id_and_no_end_to_tell,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
