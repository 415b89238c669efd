/*
 * test_pages.c - pages of a long list: every record once, whatever is inserted meanwhile.
 */
#include <stdlib.h>

#include "../store_rig.h"
#include "store/page.h"

enum { ROWS = 10000 };

static store_rig rig;

/* run-0 to run-9999: seven share a moment, a third has each status, and half have not started. */
static void fill(engine *e)
{
    engine_run(e->db,
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) "
               "INSERT INTO runs (workspace, id, revision, created_at, json, status, workflow_id, "
               "started_at) SELECT 'ws-1', 'run-' || i, 1, 1000 + i / 7, "
               "'{\"runId\":\"run-' || i || '\"}', CASE i % 3 WHEN 0 THEN 'Failed' WHEN 1 THEN "
               "'Pending' ELSE 'Succeeded' END, 'wf-' || (i % 5), CASE WHEN i % 2 = 0 THEN '2026-' "
               "|| (i % 11) END FROM n");
}

static void add_run(portarium_tx *tx)
{
    static int count;
    char id[32];
    snprintf(id, sizeof id, "new-%d", ++count);
    store_expect(
        &rig,
        portarium_record_insert(NULL, tx, &portarium_runs, id,
                                store_json(&rig, "{\"status\":\"Paused\",\"workflowId\":\"wf-9\"}"),
                                NULL, &rig.err),
        MCP_OK);
}

/* Walk through a list. @param adds a record is inserted behind each page. @return how many of the
 * first records it had; each at most once, or the test fails */
static size_t walk(portarium_query query, bool adds)
{
    size_t count = 0;
    portarium_page page;
    char *seen = calloc(1, ROWS);
    assert_non_null(seen);
    query.limit = PORTARIUM_LIMIT_MAX;
    do {
        portarium_tx *tx = store_begin(&rig);
        store_expect(&rig, portarium_page_read(&page, tx, &portarium_runs, &query, &rig.err),
                     MCP_OK);
        assert_true(!page.next_cursor || page.count == PORTARIUM_LIMIT_MAX);
        for (size_t i = 0; i < page.count; i++) {
            if (memcmp(page.items[i].id, "run-", 4) != 0)
                continue;
            char *place = &seen[strtol(page.items[i].id + 4, NULL, 10)];
            if (*place)
                fail_msg("%s comes twice", page.items[i].id);
            *place = 1;
            count++;
        }
        if (adds)
            add_run(tx);
        store_commit(&rig);
        query.cursor = page.next_cursor;
    } while (query.cursor);
    free(seen);
    return count;
}

static void every_order_has_every_record_once(void **state)
{
    static const char *const keys[] = { NULL, "runId", "status", "startedAtIso" };
    store_open(&rig, *state);
    fill(*state);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        for (int ascends = 0; ascends < 2; ascends++)
            assert_int_equal(walk((portarium_query){ .sort = keys[i], .ascends = ascends }, true),
                             ROWS);
    store_close(&rig);
}

static portarium_query filtered(const char *name, const char *value, const char *other)
{
    return (portarium_query){ .filters = { { .name = name, .value = value, .other = other } },
                              .filter_count = 1 };
}

static void filters_and_searches_choose(void **state)
{
    store_open(&rig, *state);
    fill(*state);
    assert_int_equal(walk(filtered("status", "Failed", NULL), false), 3334);
    assert_int_equal(walk(filtered("status", "Failed", "Pending"), false), 6667);
    assert_int_equal(walk(filtered("status", "Failed,Pending", NULL), false), 6667);
    assert_int_equal(walk(filtered("status", "Failed,,none,Pending", "Succeeded"), false), ROWS);
    assert_int_equal(walk(filtered("workflowId", "wf-4,wf-3", NULL), false), 0);
    assert_int_equal(walk(filtered("workflowId", "wf-4", NULL), false), 2000);
    assert_int_equal(walk(filtered("workflowId", "wf-_", NULL), false), 0);
    assert_int_equal(walk((portarium_query){ .search = "RUN-999" }, false), 11);
    assert_int_equal(walk((portarium_query){ .search = "run-99%" }, false), 0);
    assert_int_equal(walk((portarium_query){ .search = "run_9" }, false), 0);
    assert_int_equal(walk((portarium_query){ .search = "\\" }, false), 0);
    assert_int_equal(walk((portarium_query){ .search = "WF-3" }, false), 2000);
    store_close(&rig);
}

static void expect_page(const portarium_query *query, size_t count, mcp_status expected)
{
    portarium_page page;
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_page_read(&page, tx, &portarium_runs, query, &rig.err), expected);
    if (expected == MCP_OK)
        assert_int_equal(page.count, count);
    db_rollback(tx->session);
}

static void a_filter_has_8_statuses(void **state)
{
    store_open(&rig, *state);
    fill(*state);
    portarium_query query = filtered("status", "a,b,c,d,e,f,g,Failed", NULL);
    query.limit = 5;
    expect_page(&query, 5, MCP_OK);
    query = filtered("status", "a,b,c,d,e,f,g,h,Failed", NULL);
    query.limit = 5;
    expect_page(&query, 0, MCP_E_PARAMS);
    store_close(&rig);
}

static void what_is_no_list_is_refused(void **state)
{
    portarium_page page;
    char *text = NULL;
    store_open(&rig, *state);
    fill(*state);
    portarium_query query = { .sort = "status", .limit = 5 };
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_page_read(&page, tx, &portarium_runs, &query, &rig.err), MCP_OK);
    store_commit(&rig);
    expect_page(&(portarium_query){ .cursor = page.next_cursor, .limit = 5 }, 0, MCP_E_PARAMS);
    expect_page(&(portarium_query){ .cursor = "run-none", .limit = 5 }, 0, MCP_E_PARAMS);
    expect_page(&(portarium_query){ .cursor = "", .limit = 5 }, 0, MCP_E_PARAMS);
    expect_page(&(portarium_query){ .cursor = "a\nb", .limit = 5 }, 0, MCP_E_PARAMS);
    expect_page(&(portarium_query){ .sort = "revision", .limit = 5 }, 0, MCP_E_PARAMS);
    query = filtered("json", "x", NULL);
    query.limit = 5;
    expect_page(&query, 0, MCP_E_PARAMS);
    text = calloc(1, 300);
    assert_non_null(text);
    memset(text, 'q', 257);
    expect_page(&(portarium_query){ .search = text, .limit = 5 }, 0, MCP_E_PARAMS);
    text[256] = '\0';
    expect_page(&(portarium_query){ .search = text, .limit = 5 }, 0, MCP_OK);
    free(text);
    /* An id alone is a cursor, too: run-0 to run-2 are behind run-3. */
    expect_page(&(portarium_query){ .cursor = "run-3", .limit = 5 }, 3, MCP_OK);
    store_close(&rig);
}

/* Another order of the same key, a filter, a search; another limit is no other list. */
static void a_cursor_is_of_one_list(void **state)
{
    portarium_page page;
    store_open(&rig, *state);
    fill(*state);
    portarium_query query = filtered("status", "Failed", NULL);
    query.limit = 5;
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_page_read(&page, tx, &portarium_runs, &query, &rig.err), MCP_OK);
    store_commit(&rig);
    query.cursor = page.next_cursor;
    query.limit = 7;
    expect_page(&query, 7, MCP_OK);
    query.sort = "createdAtIso"; /* as without it */
    expect_page(&query, 7, MCP_OK);
    query.filters[0].value = "Succeeded";
    expect_page(&query, 0, MCP_E_PARAMS);
    assert_string_equal(rig.err.message, "cursor is of another list");
    query.filters[0].value = "Failed";
    query.ascends = true;
    expect_page(&query, 0, MCP_E_PARAMS);
    query.ascends = false;
    query.search = "run";
    expect_page(&query, 0, MCP_E_PARAMS);
    query.search = NULL;
    query.filter_count = 0;
    expect_page(&query, 0, MCP_E_PARAMS);
    tx = store_begin(&rig);
    store_expect(&rig, portarium_page_read(&page, tx, &portarium_approvals, &query, &rig.err),
                 MCP_E_PARAMS);
    db_rollback(tx->session);
    query.cursor = "run-3";
    expect_page(&query, 3, MCP_OK);
    store_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(every_order_has_every_record_once), ENGINE_TESTS(filters_and_searches_choose),
        ENGINE_TESTS(a_filter_has_8_statuses),           ENGINE_TESTS(what_is_no_list_is_refused),
        ENGINE_TESTS(a_cursor_is_of_one_list),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
