/*
 * test_committer.c - commands of many threads: what was refused is undone, what runs again begins
 * as before, and the journal of each workspace has no gap.
 */
#include <pthread.h>

#include "../store_rig.h"
#include "evidence/chain.h"
#include "store/journal.h"

enum { THREADS = 8, ROUNDS = 20 };

static store_rig rig;

static mcp_status note(portarium_tx *tx, mcp_error *err)
{
    const portarium_evidence entry = { .category = "Action", .summary = "Noted", .run_id = "r-1" };
    const portarium_event event = { .type = "ActionEvent", .kind = "run", .id = "r-1" };
    mcp_status st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

static mcp_status note_and_refuse(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    mcp_status st = note(tx, err);
    return st == MCP_OK ? mcp_error_set(err, MCP_E_DENIED, "no") : st;
}

/* Stores a record whose id is taken, and does not wait for the answer. */
static mcp_status note_and_collide(portarium_tx *tx, void *data, mcp_error *err)
{
    const mcp_json *json = NULL;
    (void)data;
    mcp_status st = note(tx, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &json, err, "name", "One", "tenantId", "ws-1", NULL);
    return st == MCP_OK
               ? portarium_record_make(NULL, tx, &portarium_workspaces, "ws-1", json, NULL, err)
               : st;
}

static mcp_status note_only(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return note(tx, err);
}

static mcp_status commit(const char *workspace, portarium_work *work, void *data)
{
    portarium_tx as = store_as(&rig, workspace);
    return portarium_commit(rig.committer, &as, work, data, &rig.err);
}

/* Makes a workspace; the first run fails in a way that repeats it. */
static mcp_status make_twice(portarium_tx *tx, void *data, mcp_error *err)
{
    int *runs = data;
    mcp_status st = portarium_workspace_create(tx, "ws-new", "New", err);
    return st == MCP_OK && ++*runs == 1 ? mcp_error_set(err, MCP_E_BUSY, "again") : st;
}

static void what_is_refused_is_undone(void **state)
{
    store_open(&rig, *state);
    store_expect(&rig, commit("ws-1", note_and_refuse, NULL), MCP_E_DENIED);
    store_expect(&rig, commit("ws-1", note_only, NULL), MCP_OK);
    store_expect(&rig, commit("ws-none", note_only, NULL), MCP_E_NOT_FOUND);
    /* One entry says that the workspace was made. */
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT evidence_seq FROM heads WHERE workspace = 'ws-1'"), 2);
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT COUNT(*) FROM evidence WHERE workspace = 'ws-1'"), 2);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM outbox"), 1);
    store_close(&rig);
}

static void work_that_runs_again_begins_as_before(void **state)
{
    int runs = 0;
    store_open(&rig, *state);
    store_expect(&rig, commit(NULL, make_twice, &runs), MCP_OK);
    assert_int_equal(runs, 2);
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT COUNT(*) FROM evidence WHERE workspace = 'ws-new'"), 1);
    store_close(&rig);
}

/* The process's clock is from before the database's was read, also for the commands behind the one
 * that has read it. */
static void a_transaction_has_the_time_of_both_clocks(void **state)
{
    store_open(&rig, *state);
    int64_t before = mcp_clock_mono_ms();
    portarium_tx *tx = store_begin(&rig);
    assert_in_range(tx->mono_ms, before, mcp_clock_mono_ms());
    int64_t since = tx->mono_ms, at = tx->now_ms;
    store_expect(&rig, portarium_tx_end(tx, &rig.err), MCP_OK);
    store_expect(&rig, portarium_tx_begin(tx, &rig.err), MCP_OK);
    assert_in_range(tx->mono_ms, since, mcp_clock_mono_ms());
    if (db_is_shared(rig.engine->db)) /* elsewhere it is a clock that may be set */
        assert_true(tx->now_ms >= at);
    store_commit(&rig);
    store_close(&rig);
}

static void *notes(void *data)
{
    static const char *const workspaces[] = { "ws-1", "ws-2", "ws-3" };
    int *failures = data;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 3; k++) {
            portarium_tx as = store_as(&rig, workspaces[k]);
            as.arena = mcp_arena_new(0);
            *failures += portarium_commit(rig.committer, &as, note_only, NULL, NULL) != MCP_OK;
            if (i % 4 == k)
                *failures += portarium_commit(rig.committer, &as, note_and_refuse, NULL, NULL) !=
                             MCP_E_DENIED;
            if (i % 5 == 0 && k == 0)
                *failures += portarium_commit(rig.committer, &as, note_and_collide, NULL, NULL) !=
                             MCP_E_EXISTS;
            mcp_arena_free(as.arena);
        }
    }
    return NULL;
}

/* Entries of a workspace in order: their numbers have no gap, and each has the hash before. */
static void verify(const char *workspace)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    portarium_chain *chain = NULL;
    portarium_flaw flaw;
    int64_t seq = 0;
    db_value values[] = { db_text(workspace) };
    store_expect(&rig, portarium_chain_new(&chain, NULL, &rig.err), MCP_OK);
    store_expect(&rig, db_begin(&session, rig.engine->db, DB_READ, &rig.err), MCP_OK);
    mcp_status st = db_query(&rows, session,
                             "SELECT seq, json, hash FROM evidence WHERE workspace = $1 "
                             "ORDER BY seq",
                             values, 1, &rig.err);
    while (portarium_next(rows, &st, &rig.err)) {
        size_t length = 0;
        const char *text = db_text_at(rows, 1, &length);
        assert_int_equal(db_int_at(rows, 0), ++seq);
        if (portarium_chain_add(chain, &flaw, text, length, &rig.err) != MCP_OK)
            fail_msg("entry %d: %s", (int)seq, rig.err.message);
        assert_string_equal(portarium_chain_head(chain), db_text_at(rows, 2, NULL));
    }
    store_expect(&rig, st, MCP_OK);
    assert_int_equal(seq, 1 + THREADS * ROUNDS);
    db_rows_free(rows);
    db_rollback(session);
    portarium_chain_free(chain);
}

/* Also among commands that are undone, by themselves or by the database. */
static void journals_have_no_gap(void **state)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = { 0 };
    store_open(&rig, *state);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, notes, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
    verify("ws-1");
    verify("ws-2");
    verify("ws-3");
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT COUNT(*) FROM (SELECT workspace FROM outbox GROUP BY "
                                "workspace HAVING MIN(seq) = 1 AND MAX(seq) = COUNT(*)) AS dense"),
                     3);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM outbox"),
                     3 * THREADS * ROUNDS);
    store_close(&rig);
}

static void a_database_for_reading_refuses_commands(void **state)
{
    portarium_committer *reader = NULL;
    const db_options options = { .read_only = true };
    store_open(&rig, *state);
    db *database = engine_connect(rig.engine, &options);
    store_expect(&rig,
                 portarium_committer_new(&reader, database, &rig.settings, NULL, NULL, &rig.err),
                 MCP_OK);
    const portarium_tx as = store_as(&rig, "ws-1");
    store_expect(&rig, portarium_commit(reader, &as, note_only, NULL, &rig.err), MCP_E_DENIED);
    portarium_committer_free(reader);
    db_close(database);
    store_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(what_is_refused_is_undone),
        ENGINE_TESTS(work_that_runs_again_begins_as_before),
        ENGINE_TESTS(a_transaction_has_the_time_of_both_clocks),
        ENGINE_TESTS(journals_have_no_gap),
        { "a_database_for_reading_refuses_commands (sqlite)",
          a_database_for_reading_refuses_commands, engine_sqlite, engine_end, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
