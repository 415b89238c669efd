/*
 * test_task_table.c - whose a task is, and when it is forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "oom.h"

/* A call of a client, as far as the table looks at it. */
static mcp_call call_of(conversation *c, mcp_revision revision, const mcp_principal *principal)
{
    return (mcp_call){ .session = &c->session,
                       .context = &c->session.context,
                       .request.revision = revision,
                       .principal = principal };
}

static mcp__task_entry *add(conversation *c, const mcp_call *call)
{
    mcp__task_entry *entry = NULL;

    assert_int_equal(mcp__task_table_add(&entry, c->tasks, call, 1000, NULL), MCP_OK);
    return entry;
}

/* These tasks have no calls that could be stopped. */
static void close_all(conversation *c)
{
    for (mcp__task_entry *entry = LIST_FIRST(&c->tasks->entries); entry;
         entry = LIST_NEXT(entry, older))
        entry->status = MCP__TASK_COMPLETED;
    conversation_close(c);
}

static void a_client_is_its_principal_or_its_session(void **state)
{
    const mcp_principal ada = { .name = "ada" };
    const mcp_principal bob = { .name = "bob" };
    conversation c, other;

    (void)state;
    conversation_open(&c, NULL, NULL);
    conversation_open(&other, NULL, NULL);
    const mcp_call clients[] = {
        call_of(&c, MCP_2025_11_25, NULL), call_of(&other, MCP_2025_11_25, NULL),
        call_of(&c, MCP_2025_11_25, &ada), call_of(&c, MCP_2025_11_25, &bob),
        call_of(&c, MCP_2026_07_28, NULL), call_of(&c, MCP_2026_07_28, &ada),
    };
    const size_t count = sizeof clients / sizeof clients[0];
    mcp__task_entry *entries[6];
    for (size_t i = 0; i < count; i++)
        entries[i] = add(&c, &clients[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            assert_ptr_equal(
                mcp__task_table_find(c.tasks, entries[i]->id, strlen(entries[i]->id), &clients[j]),
                i == j ? entries[i] : NULL);
    mcp_call elsewhere = call_of(&other, MCP_2025_11_25,
                                 &ada); /* a principal is the same in any session */
    assert_true(mcp__task_table_is_of(entries[2], &elsewhere));
    close_all(&c);
    close_all(&other);
}

static void the_newest_come_first(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    mcp_call call = call_of(&c, MCP_2025_11_25, NULL);
    mcp_call stranger = call_of(&c, MCP_2026_07_28, NULL);
    mcp__task_entry *first = add(&c, &call);
    add(&c, &stranger);
    mcp__task_entry *last = add(&c, &call);
    assert_ptr_equal(mcp__task_table_older(c.tasks, UINT64_MAX, &call), last);
    assert_ptr_equal(mcp__task_table_older(c.tasks, last->number, &call), first);
    assert_null(mcp__task_table_older(c.tasks, first->number, &call));
    mcp__task_table_remove(last);
    assert_ptr_equal(mcp__task_table_older(c.tasks, UINT64_MAX, &call), first);
    assert_int_equal(c.tasks->count, 2);
    close_all(&c);
}

static void one_that_is_late_is_kept_a_while(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    mcp_call call = call_of(&c, MCP_2025_11_25, NULL);
    mcp__task_entry *entry = add(&c, &call);
    int64_t began_ms = entry->began_ms;
    assert_true(mcp__task_table_end_ms(entry) == INT64_MAX);
    entry->status = MCP__TASK_COMPLETED;
    entry->since_ms = began_ms + 999;
    assert_true(mcp__task_table_end_ms(entry) == began_ms + 1000);
    entry->since_ms = began_ms + 1000; /* its time is over when it gets there */
    assert_true(mcp__task_table_end_ms(entry) == began_ms + 1000 + MCP__TASK_LATE_MS);
    entry->status = MCP__TASK_INPUT_REQUIRED;
    assert_true(mcp__task_table_end_ms(entry) == began_ms + 1000 + MCP__TASK_LATE_MS);
    close_all(&c);
}

static mcp_status make_and_add(void *data)
{
    conversation *c = data;
    const mcp_principal ada = { .name = "ada" };
    mcp_call call = call_of(c, MCP_2025_11_25, &ada);
    mcp__task_table *table = NULL;
    mcp__task_entry *entry = NULL;
    mcp_status st = mcp__task_table_new(&table, &c->session.context, NULL);

    if (st == MCP_OK)
        st = mcp__task_table_add(&entry, table, &call, 1000, NULL);
    mcp__task_table_free(table);
    return st;
}

static void memory_may_run_out(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    oom_walk(make_and_add, &c);
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_its_principal_or_its_session),
        cmocka_unit_test(the_newest_come_first),
        cmocka_unit_test(one_that_is_late_is_kept_a_while),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
