/*
 * test_savepoint.c - a session continues after a failure that was rolled back, on every engine; the
 * database's clock.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"
#include "mcp/clock.h"

static db_session *begin(engine *e)
{
    db_session *session = NULL;

    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    return session;
}

static mcp_status insert(db_session *session, int64_t id)
{
    db_value value = db_int(id);

    return db_run(session, NULL, "INSERT INTO t VALUES ($1)", &value, 1, NULL);
}

static void a_failure_is_undone(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint point;

    assert_int_equal(insert(session, 1), MCP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
        assert_int_equal(insert(session, 10), MCP_OK);
        assert_int_equal(insert(session, 1), MCP_E_EXISTS);
        assert_int_equal(insert(session, 11), MCP_E_EXISTS); /* it has stopped */
        assert_int_equal(db_savepoint_rollback(session, &point, &e->err), MCP_OK);
    }
    assert_int_equal(insert(session, 100), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 101);
}

static void what_is_released_stays(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint outer;
    db_savepoint inner;

    assert_int_equal(db_savepoint_begin(&outer, session, &e->err), MCP_OK);
    assert_int_equal(insert(session, 1), MCP_OK);
    assert_int_equal(db_savepoint_begin(&inner, session, &e->err), MCP_OK);
    assert_int_equal(insert(session, 10), MCP_OK);
    assert_int_equal(db_savepoint_release(session, &inner, &e->err), MCP_OK);
    assert_int_equal(db_savepoint_begin(&inner, session, &e->err), MCP_OK);
    assert_int_equal(insert(session, 100), MCP_OK);
    assert_int_equal(db_savepoint_rollback(session, &inner, &e->err), MCP_OK);
    assert_int_equal(db_savepoint_release(session, &outer, &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 11);
}

static void the_outer_one_ends_the_inner(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint outer;
    db_savepoint inner;

    assert_int_equal(db_savepoint_begin(&outer, session, &e->err), MCP_OK);
    assert_int_equal(db_savepoint_begin(&inner, session, &e->err), MCP_OK);
    assert_int_equal(insert(session, 1), MCP_OK);
    assert_int_equal(db_savepoint_rollback(session, &outer, &e->err), MCP_OK);
    assert_int_equal(insert(session, 2), MCP_OK);
    assert_int_equal(db_savepoint_release(session, &inner, &e->err), MCP_E_PARAMS);
    assert_int_equal(db_commit(session, &e->err), MCP_E_PARAMS);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 0);
}

static void they_are_not_endless(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint points[101];

    for (int i = 0; i < 100; i++)
        assert_int_equal(db_savepoint_begin(&points[i], session, &e->err), MCP_OK);
    assert_int_equal(db_savepoint_begin(&points[100], session, &e->err), MCP_E_LIMIT);
    assert_int_equal(db_savepoint_rollback(session, &points[0], &e->err), MCP_OK);
    assert_int_equal(insert(session, 1), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
}

static void open_rows_do_not_hinder_a_rollback(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint point;
    db_rows *rows = NULL;
    bool has_row = false;

    assert_int_equal(insert(session, 1), MCP_OK);
    assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
    assert_int_equal(insert(session, 2), MCP_OK);
    assert_int_equal(db_query(&rows, session, "SELECT id FROM t", NULL, 0, &e->err), MCP_OK);
    assert_int_equal(db_next(rows, &has_row, &e->err), MCP_OK);
    assert_int_equal(db_savepoint_rollback(session, &point, &e->err), MCP_OK);
    assert_int_equal(db_next(rows, &has_row, &e->err), MCP_E_PARAMS);
    db_rows_free(rows);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 1);
}

/* The table is gone from the transaction when the engine itself has rolled it back. */
static void without_its_connection_a_session_is_lost(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint point;
    db_rows *rows = NULL;
    bool has_row = false;

    if (!db_is_shared(e->db)) {
        db_rollback(session);
        return;
    }
    assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
    assert_int_equal(
        db_query(&rows, session, "SELECT CAST(pg_backend_pid() AS BIGINT)", NULL, 0, &e->err),
        MCP_OK);
    assert_int_equal(db_next(rows, &has_row, &e->err), MCP_OK);
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT CAST(CAST(pg_terminate_backend(%d) AS INT) AS BIGINT)",
             (int)db_int_at(rows, 0));
    db_rows_free(rows);
    db *other = engine_connect(e, NULL);
    assert_int_equal(engine_int(other, sql), 1);
    db_close(other);
    mcp_status st = insert(session, 1);
    assert_int_not_equal(st, MCP_OK);
    assert_int_equal(db_savepoint_rollback(session, &point, &e->err), st);
    assert_int_equal(db_commit(session, &e->err), st);
}

/* Nobody waited for an answer to its end, and nobody does for one to the next beginning. */
static void a_connection_that_ended_while_idle_is_made_again(void **state)
{
    engine *e = *state;
    char sql[96];

    if (!db_is_shared(e->db))
        return;
    db *one = engine_connect(e, &(db_options){ .connections = 1 });
    for (int i = 0; i < 2; i++) {
        int64_t pid = engine_int(one, "SELECT CAST(pg_backend_pid() AS BIGINT)");
        snprintf(sql, sizeof sql,
                 "SELECT CAST(CAST(pg_terminate_backend(%d, 60000) AS INT) AS BIGINT)", (int)pid);
        assert_int_equal(engine_int(e->db, sql), 1);
        assert_int_not_equal(engine_int(one, "SELECT CAST(pg_backend_pid() AS BIGINT)"), pid);
    }
    db_close(one);
}

/* Room for "a c ". */
struct ear {
    char heard[64];
    pthread_mutex_t lock;
};

static void hear(const char *payload, void *data)
{
    struct ear *ear = data;

    pthread_mutex_lock(&ear->lock);
    size_t length = strlen(ear->heard);
    snprintf(ear->heard + length, sizeof ear->heard - length, "%s ", payload ? payload : "NULL");
    pthread_mutex_unlock(&ear->lock);
}

static bool has_heard(struct ear *ear, const char *text)
{
    pthread_mutex_lock(&ear->lock);
    bool has = strstr(ear->heard, text);
    pthread_mutex_unlock(&ear->lock);
    return has;
}

static void undone_notifications_are_not_sent(void **state)
{
    engine *e = *state;
    struct ear ear = { .lock = PTHREAD_MUTEX_INITIALIZER };
    db_listener *listener = NULL;
    db_session *session = begin(e);
    db_savepoint point;
    int64_t until_ms = mcp_clock_mono_ms() + 60000;

    assert_int_equal(db_listen(&listener, e->db, "news", hear, &ear, &e->err), MCP_OK);
    assert_int_equal(db_notify(session, "news", "a", &e->err), MCP_OK);
    assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
    assert_int_equal(db_notify(session, "news", "b", &e->err), MCP_OK);
    assert_int_equal(db_savepoint_rollback(session, &point, &e->err), MCP_OK);
    assert_int_equal(db_notify(session, "news", "c", &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    while (!has_heard(&ear, "c") && mcp_clock_mono_ms() < until_ms)
        ;
    db_listener_free(listener);
    assert_string_equal(ear.heard, "a c ");
}

static mcp_status defer(db_session *session, mcp_status otherwise, const char *sql, int64_t id,
                        mcp_error *err)
{
    db_value value = db_int(id);

    return db_defer(session, otherwise, sql, &value, 1, err);
}

static const char add[] = "INSERT INTO t VALUES ($1)";
static const char drop[] = "DELETE FROM t WHERE id = $1";

/* What was deferred is there for the next query, and committed. */
static void a_deferred_statement_is_run(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_rows *rows = NULL;
    bool has_row = false;

    for (int64_t i = 1; i <= 250; i++) /* more than a link leaves unanswered */
        assert_int_equal(defer(session, MCP_E_EXISTS, add, i, &e->err), MCP_OK);
    assert_int_equal(db_query(&rows, session, "SELECT id FROM t ORDER BY id", NULL, 0, &e->err),
                     MCP_OK);
    for (int64_t i = 1; i <= 250; i++) {
        assert_int_equal(db_next(rows, &has_row, &e->err), MCP_OK);
        assert_true(has_row);
        assert_int_equal(db_int_at(rows, 0), i);
    }
    db_rows_free(rows);                                                   /* before its end */
    assert_int_equal(defer(session, MCP_OK, drop, 999, &e->err), MCP_OK); /* none is fine */
    assert_int_equal(defer(session, MCP_E_BUSY, drop, 250, &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 249 * 250 / 2);
}

/* Its failure is its savepoint's, and undone with it. */
static void a_deferred_failure_is_of_its_savepoint(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);

    assert_int_equal(defer(session, MCP_OK, add, 1, &e->err), MCP_OK);
    assert_int_equal(
        db_run(session, NULL, add, &(db_value){ .kind = DB_INT, .integer = 2 }, 1, &e->err),
        MCP_OK);
    db_savepoint point;
    assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
    mcp_status st = defer(session, MCP_OK, add, 1, &e->err);
    if (st == MCP_OK)
        st = defer(session, MCP_OK, add, 3, &e->err);
    if (st == MCP_OK)
        st = db_savepoint_release(session, &point, &e->err);
    assert_int_equal(st, MCP_E_EXISTS);
    assert_int_equal(insert(session, 4), MCP_E_EXISTS); /* the session has stopped */
    assert_int_equal(db_savepoint_rollback(session, &point, &e->err), MCP_OK);
    assert_int_equal(defer(session, MCP_OK, add, 100, &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 103);
}

/* A rollback does not ask whether what it undoes has failed. */
static void a_rollback_takes_deferred_failures_along(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    db_savepoint point;

    assert_int_equal(insert(session, 1), MCP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(db_savepoint_begin(&point, session, &e->err), MCP_OK);
        (void)defer(session, MCP_OK, i == 0 ? add : drop, i == 0 ? 1 : 7, NULL);
        (void)defer(session, i == 1 ? MCP_E_BUSY : MCP_OK, drop, 7, NULL);
        assert_int_equal(db_savepoint_rollback(session, &point, &e->err), MCP_OK);
    }
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 1);
}

/* The commit returns the failure, and nothing is committed: nor by a server that sees none. */
static void a_deferred_failure_forbids_the_commit(void **state)
{
    static const struct {
        const char *sql;
        mcp_status otherwise;
    } failures[] = { { add, MCP_E_EXISTS }, { drop, MCP_E_BUSY } };
    engine *e = *state;

    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    engine_run(e->db, "INSERT INTO t VALUES (1)");
    for (size_t i = 0; i < 2; i++) {
        db_session *session = NULL;
        assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
        assert_int_equal(defer(session, MCP_OK, add, 10, &e->err), MCP_OK);
        (void)defer(session, failures[i].otherwise, failures[i].sql, i == 0 ? 1 : 7, &e->err);
        assert_int_equal(db_commit(session, &e->err), failures[i].otherwise);
        assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 1);
    }
}

/* It agrees with the clock of this machine, where the server runs, too; and it moves within a
 * transaction. */
static void the_database_has_a_clock(void **state)
{
    engine *e = *state;
    db_session *session = begin(e);
    int64_t before_ms = mcp_clock_wall_ms();
    int64_t first = 0;
    int64_t second = 0;

    assert_int_equal(db_now(session, &first, &e->err), MCP_OK);
    do
        assert_int_equal(db_now(session, &second, &e->err), MCP_OK);
    while (second == first);
    int64_t after_ms = mcp_clock_wall_ms();
    assert_in_range(first, before_ms, after_ms);
    assert_in_range(second, first + 1, after_ms);
    assert_int_equal(insert(session, 1), MCP_OK);
    assert_int_equal(insert(session, 1), MCP_E_EXISTS);
    assert_int_equal(db_now(session, &second, &e->err), MCP_E_EXISTS);
    db_rollback(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(a_failure_is_undone),
        ENGINE_TESTS(what_is_released_stays),
        ENGINE_TESTS(the_outer_one_ends_the_inner),
        ENGINE_TESTS(they_are_not_endless),
        ENGINE_TESTS(open_rows_do_not_hinder_a_rollback),
        ENGINE_TESTS(without_its_connection_a_session_is_lost),
        ENGINE_TESTS(a_connection_that_ended_while_idle_is_made_again),
        ENGINE_TESTS(undone_notifications_are_not_sent),
        ENGINE_TESTS(a_deferred_statement_is_run),
        ENGINE_TESTS(a_deferred_failure_is_of_its_savepoint),
        ENGINE_TESTS(a_rollback_takes_deferred_failures_along),
        ENGINE_TESTS(a_deferred_failure_forbids_the_commit),
        ENGINE_TESTS(the_database_has_a_clock),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
