/*
 * test_approvals.c - decisions, on each engine, with the tables of two servers.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "approvals/approvals.h"
#include "engine.h"
#include "oom.h"

#define HASH "225a56728c0ff558097eb05e0ff8ecd420799607da0b587b242aec10b036a294"
#define OTHER "dcf9e9af8d05eaf54a7297b4d7668d3453436cd0cc5475a274d6a3d4e5e0feba"

/* Statuses that may be decided again, and a claim that is given back. */
static const approvals_transition returning_states[] = {
    { "Pending", "Approved", APPROVALS_DECIDE },
    { "Pending", "Denied", APPROVALS_DECIDE },
    { "Pending", "RequestChanges", APPROVALS_DECIDE },
    { "Pending", "Expired", APPROVALS_DECIDE },
    { "RequestChanges", "Pending", APPROVALS_CLEAR },
    { "Approved", "Executing", APPROVALS_KEEP },
    { "Executing", "Executed", APPROVALS_KEEP },
    { "Executing", "Approved", APPROVALS_KEEP },
    { 0 },
};
static const approvals_table returning = { "approvals",      "id",      "workspace",       "due_at",
                                           returning_states, "Expired", "system:scheduler" };

/* Statuses that are final. */
static const approvals_transition final_states[] = {
    { "pending", "approved", APPROVALS_DECIDE },
    { "pending", "rejected", APPROVALS_DECIDE },
    { "pending", "expired", APPROVALS_DECIDE },
    { 0 },
};
static const approvals_table final = { "cf_api_approvals", "approval_id", NULL,    "expires_at",
                                       final_states,       "expired",     "system" };

static void make_tables(engine *e)
{
    engine_run(e->db, "CREATE TABLE approvals (workspace TEXT, id TEXT, status TEXT, revision"
                      " BIGINT NOT NULL, subject_hash TEXT, due_at BIGINT, decided_at BIGINT,"
                      " decided_by TEXT, PRIMARY KEY (workspace, id))");
    engine_run(e->db, "CREATE TABLE cf_api_approvals (approval_id TEXT PRIMARY KEY, status TEXT,"
                      " revision BIGINT NOT NULL, subject_hash TEXT, expires_at BIGINT,"
                      " decided_at BIGINT, decided_by TEXT)");
    engine_run(e->db, "INSERT INTO approvals VALUES ('w', 'a', 'Pending', 1, '" HASH
                      "', NULL, NULL, NULL), ('v', 'a', 'Approved', 7, NULL, NULL, NULL, NULL)");
    /* The second was due in 1970, the third in 2100. */
    engine_run(e->db, "INSERT INTO cf_api_approvals VALUES"
                      " ('n', 'pending', 1, '" HASH "', NULL, NULL, NULL),"
                      " ('old', 'pending', 1, '" HASH "', 1000, NULL, NULL),"
                      " ('new', 'pending', 1, '" HASH "', 4102444800000, NULL, NULL),"
                      " ('done', 'approved', 2, '" HASH "', 1000, 500, 'bob')");
}

struct desk {
    approvals *approvals;
    mcp_arena *arena;
    approvals_result result;
};

static struct desk open_desk(engine *e, const approvals_table *table)
{
    struct desk desk = { .arena = mcp_arena_new(0) };

    make_tables(e);
    assert_int_equal(approvals_new(&desk.approvals, table, NULL), MCP_OK);
    return desk;
}

static void close_desk(struct desk *desk)
{
    approvals_free(desk->approvals);
    mcp_arena_free(desk->arena);
}

static approvals_outcome move(engine *e, struct desk *desk, approvals_change change)
{
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    mcp_status st = approvals_move(&desk->result, desk->approvals, session, &change, desk->arena,
                                   &e->err);
    if (st != MCP_OK)
        fail_msg("%s", e->err.message);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    return desk->result.outcome;
}

static const char *words(struct desk *desk, const char *id)
{
    return approvals_describe(&desk->result, id, desk->arena);
}

static void the_second_decision_learns_of_the_first(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &returning);

    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Approved", "bob", HASH, 1 }),
                     APPROVALS_MOVED);
    assert_string_equal(desk.result.status, "Approved");
    assert_int_equal(desk.result.revision, 2);
    assert_int_equal(desk.result.decided_at_ms, desk.result.now_ms);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Denied", "eve", HASH, 0 }),
                     APPROVALS_CLOSED);
    assert_string_equal(desk.result.status, "Approved");
    assert_string_equal(desk.result.decided_by, "bob");
    assert_memory_equal(words(&desk, "a"), "approval 'a' is already Approved, by bob at 20", 46);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM approvals WHERE decided_by = 'bob'"
                                       " AND decided_at > 1000000000000 AND revision = 2"),
                     1);
    close_desk(&desk);
}

static void other_states_and_scopes(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &returning);

    assert_int_equal(
        move(e, &desk, (approvals_change){ "w", "a", "RequestChanges", "bob", NULL, 0 }),
        APPROVALS_MOVED);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Approved", "bob", NULL, 0 }),
                     APPROVALS_CLOSED);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Pending", "amy", NULL, 0 }),
                     APPROVALS_MOVED);
    assert_null(desk.result.decided_by);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM approvals WHERE workspace = 'w' AND"
                                       " decided_by IS NULL AND decided_at IS NULL"),
                     1);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Approved", "bob", NULL, 0 }),
                     APPROVALS_MOVED);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Executing", NULL, NULL, 0 }),
                     APPROVALS_MOVED);
    assert_string_equal(desk.result.decided_by, "bob");
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Executed", NULL, NULL, 0 }),
                     APPROVALS_MOVED);
    assert_int_equal(desk.result.revision, 6);
    assert_int_equal(engine_int(e->db, "SELECT revision FROM approvals WHERE workspace = 'v'"), 7);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "b", "Approved", "bob", NULL, 0 }),
                     APPROVALS_ABSENT);
    assert_string_equal(words(&desk, "b"), "approval 'b' not found");
    assert_true(approvals_may_become(desk.approvals, "Executing", "Approved"));
    assert_false(approvals_may_become(desk.approvals, "Denied", "Pending"));
    close_desk(&desk);
}

static void another_subject_is_stale(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &returning);

    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Approved", "bob", OTHER, 0 }),
                     APPROVALS_STALE);
    assert_int_equal(move(e, &desk, (approvals_change){ "w", "a", "Approved", "bob", HASH, 2 }),
                     APPROVALS_STALE);
    assert_string_equal(desk.result.status, "Pending");
    assert_int_equal(move(e, &desk, (approvals_change){ "v", "a", "Executing", NULL, HASH, 0 }),
                     APPROVALS_STALE); /* it was bound to nothing */
    assert_int_equal(engine_int(e->db, "SELECT SUM(revision) FROM approvals"), 8);
    close_desk(&desk);
}

static void an_overdue_request_cannot_be_approved(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &final);

    assert_int_equal(move(e, &desk, (approvals_change){ NULL, "old", "approved", "bob", HASH, 1 }),
                     APPROVALS_EXPIRED);
    assert_string_equal(desk.result.decided_by, "system");
    assert_string_equal(words(&desk, "old"), "approval 'old' has expired");
    assert_int_equal(
        engine_int(e->db, "SELECT COUNT(*) FROM cf_api_approvals WHERE approval_id = 'old' AND"
                          " status = 'expired' AND decided_by = 'system' AND revision = 2"),
        1);
    assert_int_equal(move(e, &desk, (approvals_change){ NULL, "old", "approved", "bob", NULL, 0 }),
                     APPROVALS_CLOSED);
    assert_int_equal(move(e, &desk, (approvals_change){ NULL, "new", "approved", "bob", NULL, 0 }),
                     APPROVALS_MOVED);
    assert_int_equal(move(e, &desk, (approvals_change){ NULL, "n", "rejected", "bob", NULL, 0 }),
                     APPROVALS_MOVED);
    /* Decided in time, looked at later. */
    assert_int_equal(move(e, &desk, (approvals_change){ NULL, "done", "rejected", "eve", NULL, 0 }),
                     APPROVALS_CLOSED);
    assert_string_equal(desk.result.decided_by, "bob");
    close_desk(&desk);
}

static void note(const char *scope, const char *id, void *data)
{
    assert_null(scope);
    snprintf(data, 20, "%s", id);
}

static void looking_expires_too(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &final);
    db_session *session = NULL;
    int64_t count = -1;
    char expired[20] = "";

    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(
        approvals_look(&desk.result, desk.approvals, session, NULL, "new", desk.arena, &e->err),
        MCP_OK);
    assert_int_equal(desk.result.outcome, APPROVALS_FOUND);
    assert_int_equal(desk.result.expires_at_ms, INT64_C(4102444800000));
    assert_int_equal(approvals_expire(desk.approvals, session, 10, note, expired, &count, &e->err),
                     MCP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(expired, "old");
    assert_int_equal(approvals_expire(desk.approvals, session, 10, note, expired, &count, &e->err),
                     MCP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(
        approvals_look(&desk.result, desk.approvals, session, NULL, "none", desk.arena, &e->err),
        MCP_OK);
    assert_int_equal(desk.result.outcome, APPROVALS_ABSENT);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    close_desk(&desk);
}

enum { DECIDERS = 8 };

struct race {
    engine *e;
    approvals *approvals;
    atomic_int winners, losers;
};

static void *decide(void *data)
{
    struct race *race = data;
    mcp_arena *arena = mcp_arena_new(0);
    approvals_change change = { "w", "a", "Approved", "somebody", HASH, 0 };
    approvals_result result = { .outcome = APPROVALS_ABSENT };
    db_session *session = NULL;

    if (db_begin(&session, race->e->db, DB_WRITE, NULL) == MCP_OK &&
        approvals_move(&result, race->approvals, session, &change, arena, NULL) == MCP_OK &&
        db_commit(session, NULL) == MCP_OK) {
        race->winners += result.outcome == APPROVALS_MOVED;
        race->losers += result.outcome == APPROVALS_CLOSED &&
                        strcmp(result.decided_by, "somebody") == 0;
    }
    mcp_arena_free(arena);
    return NULL;
}

static void one_of_many_wins(void **state)
{
    struct race race = { .e = *state };
    pthread_t threads[DECIDERS];
    struct desk desk = open_desk(race.e, &returning);

    race.approvals = desk.approvals;
    for (int i = 0; i < DECIDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decide, &race), 0);
    for (int i = 0; i < DECIDERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.winners, 1);
    assert_int_equal(race.losers, DECIDERS - 1);
    close_desk(&desk);
}

static void a_change_must_be_whole(void **state)
{
    engine *e = *state;
    struct desk desk = open_desk(e, &returning);
    const approvals_change wrong[] = {
        { "w", "a", NULL, "bob", NULL, 0 },
        { "w", NULL, "Approved", "bob", NULL, 0 },
        { NULL, "a", "Approved", "bob", NULL, 0 },
        { "w", "a", "Approved", NULL, NULL, 0 },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        db_session *session = NULL;
        assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
        assert_int_equal(
            approvals_move(&desk.result, desk.approvals, session, &wrong[i], desk.arena, &e->err),
            MCP_E_PARAMS);
        db_rollback(session);
    }
    close_desk(&desk);
}

static void a_wrong_table_is_refused(void **state)
{
    static const approvals_transition twice[] = { { "a", "b", APPROVALS_KEEP },
                                                  { "a", "b", APPROVALS_KEEP },
                                                  { 0 } };
    static const approvals_transition quoted[] = { { "a'", "b", APPROVALS_KEEP }, { 0 } };
    static const approvals_table wrong[] = {
        { "approvals; --", "id", NULL, "due_at", returning_states, "Expired", "x" },
        { "approvals", NULL, NULL, "due_at", returning_states, "Expired", "x" },
        { "approvals", "id", "Work", "due_at", returning_states, "Expired", "x" },
        { "approvals", "id", NULL, "due_at", returning_states, "Gone", "x" },
        { "approvals", "id", NULL, "due_at", returning_states, "Expired", NULL },
        { "approvals", "id", NULL, "due_at", twice, "b", "x" },
        { "approvals", "id", NULL, "due_at", quoted, "b", "x" },
    };
    approvals *made = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(approvals_new(&made, &wrong[i], NULL), MCP_E_PARAMS);
    assert_null(made);
    approvals_free(NULL);
}

static mcp_status make_once(void *data)
{
    approvals *made = NULL;
    mcp_status st = approvals_new(&made, &returning, NULL);

    (void)data;
    approvals_free(made);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(the_second_decision_learns_of_the_first),
        ENGINE_TESTS(other_states_and_scopes),
        ENGINE_TESTS(another_subject_is_stale),
        ENGINE_TESTS(an_overdue_request_cannot_be_approved),
        ENGINE_TESTS(looking_expires_too),
        ENGINE_TESTS(one_of_many_wins),
        ENGINE_TESTS(a_change_must_be_whole),
        cmocka_unit_test(a_wrong_table_is_refused),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
