/*
 * test_pending.c - changes that are kept back: written once, seen by every statement, and undone
 * with their command.
 */
#include <stdlib.h>

#include "../../store_rig.h"
#include "store/journal.h"
#include "store/record.h"
#include "store/tx/pending.h"

static store_rig rig;

#define WORK_ITEM "{\"workItemId\":\"w\",\"status\":\"Open\",\"title\":\"T\"}"
#define RUN "{\"runId\":\"r\",\"status\":\"Pending\",\"workflowId\":\"f\"}"

static portarium_tx *begin(void)
{
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_pending_begin(tx, &rig.err), MCP_OK);
    return tx;
}

static void end(void)
{
    store_expect(&rig, portarium_pending_end(&rig.tx, &rig.err), MCP_OK);
    store_commit(&rig);
}

static void make(portarium_record *out, const portarium_collection *where, const char *id,
                 const char *json)
{
    store_expect(
        &rig,
        portarium_record_make(out, &rig.tx, where, id, store_json(&rig, json), NULL, &rig.err),
        MCP_OK);
}

static mcp_status patch(portarium_record *record, const portarium_collection *where,
                        const char *json)
{
    return portarium_record_patch(record, &rig.tx, where, store_json(&rig, json), NULL, &rig.err);
}

static void change(portarium_record *record, const portarium_collection *where, const char *json)
{
    store_expect(&rig, patch(record, where, json), MCP_OK);
}

static void get(portarium_record *out, const portarium_collection *where, const char *id)
{
    store_expect(&rig, portarium_record_get(out, &rig.tx, where, id, &rig.err), MCP_OK);
}

/* The integer of a query in the transaction. */
static int64_t number(const char *sql)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, rig.tx.session, sql, NULL, 0, &rig.err);
    assert_true(portarium_next(rows, &st, &rig.err));
    int64_t out = db_int_at(rows, 0);
    db_rows_free(rows);
    return out;
}

/* Rows that the transaction has written so far. */
static int64_t written(void)
{
    bool is_postgres = strcmp(db_engine(rig.engine->db), "postgres") == 0;
    return number(is_postgres ? "SELECT SUM(n_tup_ins + n_tup_upd) FROM pg_stat_xact_user_tables"
                              : "SELECT total_changes()");
}

static void a_record_is_written_once(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = begin();
    make(&record, &portarium_runs, "r", RUN);
    end();
    tx = begin();
    int64_t before = written();
    get(&record, &portarium_runs, "r");
    change(&record, &portarium_runs, "{\"status\":\"Running\"}");
    change(&record, &portarium_runs, "{\"startedAtIso\":\"2026-01-01T00:00:00Z\"}");
    store_expect(&rig, portarium_record_due(tx, &portarium_runs, "r", db_null(), &rig.err), MCP_OK);
    change(&record, &portarium_runs, "{\"status\":\"Paused\"}");
    store_expect(&rig, portarium_record_due(tx, &portarium_runs, "r", db_int(7), &rig.err), MCP_OK);
    assert_int_equal(record.revision, 4);
    assert_int_equal(written(), before);
    store_expect(&rig, portarium_pending_end(tx, &rig.err), MCP_OK);
    assert_int_equal(written(), before + 1);
    store_commit(&rig);
    db *database = rig.engine->db;
    assert_int_equal(engine_int(database, "SELECT due_at FROM runs WHERE revision = 4 AND status = "
                                          "'Paused' AND started_at = '2026-01-01T00:00:00Z'"),
                     7);
    store_close(&rig);
}

static void a_new_record_is_written_as_it_is_in_the_end(void **state)
{
    portarium_record record, again;
    store_open(&rig, *state);
    (void)begin();
    int64_t before = written();
    make(&record, &portarium_work_items, "w", WORK_ITEM);
    get(&again, &portarium_work_items, "w");
    change(&again, &portarium_work_items, "{\"status\":\"Closed\"}");
    assert_int_equal(written(), before);
    assert_int_equal(portarium_record_make(NULL, &rig.tx, &portarium_work_items, "w",
                                           store_json(&rig, WORK_ITEM), NULL, &rig.err),
                     MCP_E_EXISTS);
    assert_int_equal(patch(&record, &portarium_work_items, "{\"title\":\"U\"}"), MCP_E_BUSY);
    store_expect(&rig, portarium_pending_end(&rig.tx, &rig.err), MCP_OK);
    assert_int_equal(written(), before + 1);
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT revision FROM work_items WHERE id = 'w' AND "
                                "status = 'Closed' AND title = 'T'"),
                     2);
    store_close(&rig);
}

static void each_of_many_records_is_found(void **state)
{
    enum { RECORDS = 400 };
    store_open(&rig, *state);
    (void)begin();
    int64_t before = written();
    for (int i = 0; i < RECORDS; i++)
        make(NULL, &portarium_work_items, mcp_arena_printf(rig.arena, "w-%d", i), WORK_ITEM);
    for (int i = 0; i < RECORDS; i++) {
        portarium_record record;
        get(&record, &portarium_work_items, mcp_arena_printf(rig.arena, "w-%d", i));
        change(&record, &portarium_work_items,
               mcp_arena_printf(rig.arena, "{\"title\":\"w-%d\"}", i));
    }
    assert_int_equal(written(), before);
    end();
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT COUNT(*) FROM work_items WHERE revision = 2 "
                                "AND title = id"),
                     RECORDS);
    store_close(&rig);
}

static void a_statement_sees_what_was_changed(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = begin();
    make(&record, &portarium_runs, "r", RUN);
    make(NULL, &portarium_work_items, "w", WORK_ITEM);
    assert_int_equal(number("SELECT COUNT(*) FROM runs WHERE status = 'Pending'"), 1);
    change(&record, &portarium_runs, "{\"status\":\"Running\"}");
    assert_int_equal(number("SELECT COUNT(*) FROM runs WHERE status = 'Running'"), 1);
    change(&record, &portarium_runs, "{\"status\":\"Paused\"}");
    store_expect(&rig,
                 db_run(tx->session, NULL, "UPDATE runs SET due_at = 3 WHERE status = 'Paused'",
                        NULL, 0, &rig.err),
                 MCP_OK);
    store_expect(&rig, portarium_record_delete(tx, &portarium_work_items, "w", &rig.err), MCP_OK);
    assert_int_equal(portarium_record_get(&record, tx, &portarium_work_items, "w", &rig.err),
                     MCP_E_NOT_FOUND);
    end();
    assert_int_equal(engine_int(rig.engine->db, "SELECT due_at FROM runs"), 3);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM work_items"), 0);
    store_close(&rig);
}

static void a_workspace_has_its_own_record_of_an_id(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = begin();
    make(NULL, &portarium_work_items, "w", WORK_ITEM);
    tx->workspace = "ws-2";
    assert_int_equal(portarium_record_get(&record, tx, &portarium_work_items, "w", &rig.err),
                     MCP_E_NOT_FOUND);
    tx->workspace = "ws-1";
    end();
    store_close(&rig);
}

/* Commands of one transaction share what they read, but not what one of them did not write. */
static void a_change_that_was_not_written_is_not_kept(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = begin();
    make(NULL, &portarium_work_items, "w", WORK_ITEM);
    store_expect(&rig, portarium_record_get_kept(&record, tx, &portarium_work_items, "w", &rig.err),
                 MCP_OK);
    portarium_pending_drop(tx);
    store_expect(&rig, portarium_tx_begin(tx, &rig.err), MCP_OK);
    assert_int_equal(portarium_record_get_kept(&record, tx, &portarium_work_items, "w", &rig.err),
                     MCP_E_NOT_FOUND);
    store_commit(&rig);
    store_close(&rig);
}

/* More rows than one statement takes. */
static void rows_are_stored_in_their_order(void **state)
{
    enum { ROWS = 27 };
    store_open(&rig, *state);
    portarium_tx *tx = begin();
    for (int i = 0; i < ROWS; i++) {
        char id[16];
        snprintf(id, sizeof id, "r-%d", i);
        const portarium_event event = {
            .type = "RunPaused", .kind = "run", .id = id, .run_id = id
        };
        store_expect(&rig, portarium_event_add(tx, &event, &rig.err), MCP_OK);
        if (i == 10)
            assert_int_equal(number("SELECT COUNT(*) FROM outbox WHERE workspace = 'ws-1'"), 11);
    }
    end();
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT COUNT(*) FROM outbox WHERE workspace = "
                                "'ws-1' AND type = 'RunPaused' AND run_id = aggregate AND "
                                "aggregate LIKE 'r-%' AND json LIKE '%' || "
                                "aggregate || '%'"),
                     ROWS);
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT COUNT(*) FROM outbox AS o WHERE workspace = "
                                "'ws-1' AND aggregate = 'r-' || (seq - 1)"),
                     ROWS);
    store_close(&rig);
}

static mcp_status make_and_fail(portarium_tx *tx, void *data, mcp_error *err)
{
    mcp_status st = portarium_record_make(NULL, tx, &portarium_work_items, data,
                                          store_json(&rig, WORK_ITEM), NULL, err);
    return st == MCP_OK ? mcp_error_set(err, MCP_E_DENIED, "no") : st;
}

static mcp_status make_and_collide(portarium_tx *tx, void *data, mcp_error *err)
{
    return portarium_record_make(NULL, tx, &portarium_work_items, data, store_json(&rig, WORK_ITEM),
                                 NULL, err);
}

static void what_failed_is_not_written(void **state)
{
    static char one[] = "one", two[] = "two";

    store_open(&rig, *state);
    const portarium_tx as = store_as(&rig, "ws-1");
    store_expect(&rig, portarium_commit(rig.committer, &as, make_and_fail, one, &rig.err),
                 MCP_E_DENIED);
    store_expect(&rig, portarium_commit(rig.committer, &as, make_and_collide, two, &rig.err),
                 MCP_OK);
    store_expect(&rig, portarium_commit(rig.committer, &as, make_and_collide, two, &rig.err),
                 MCP_E_EXISTS);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM work_items"), 1);
    store_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(a_record_is_written_once),
        ENGINE_TESTS(a_new_record_is_written_as_it_is_in_the_end),
        ENGINE_TESTS(each_of_many_records_is_found),
        ENGINE_TESTS(a_statement_sees_what_was_changed),
        ENGINE_TESTS(a_workspace_has_its_own_record_of_an_id),
        ENGINE_TESTS(a_change_that_was_not_written_is_not_kept),
        ENGINE_TESTS(rows_are_stored_in_their_order),
        ENGINE_TESTS(what_failed_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
