/*
 * test_postgres.c - what only a server can do: go away, lock rows, keep a password.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"
#include "postgres.h"

static const char END_OTHERS[] = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity "
                                 "WHERE pid <> pg_backend_pid() AND datname = current_database()";

/* Break every connection to the server but the one that does it. */
static void break_connections(engine *e)
{
    db *own = engine_connect(e, NULL);

    (void)engine_int(own, END_OTHERS);
    db_close(own);
}

static void a_session_whose_connection_is_lost_fails_and_the_next_works(void **state)
{
    engine *e = *state;
    db_session *session = NULL;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(db_run(session, NULL, "INSERT INTO t VALUES ('a')", NULL, 0, &e->err), MCP_OK);
    break_connections(e);
    assert_int_equal(db_run(session, NULL, "INSERT INTO t VALUES ('b')", NULL, 0, &e->err),
                     MCP_E_IO);
    assert_int_equal(db_commit(session, &e->err), MCP_E_IO);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 0);
}

static void a_connection_lost_while_idle_is_not_noticed(void **state)
{
    engine *e = *state;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    break_connections(e);
    engine_run(e->db, "INSERT INTO t VALUES ('a')");
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

/* The limit of the server in force within a transaction. */
static int64_t idle_limit_ms(engine *e, db_mode mode)
{
    static const char sql[] = "SELECT CAST(extract(epoch FROM CAST(current_setting("
                              "'idle_in_transaction_session_timeout') AS INTERVAL)) * 1000 AS "
                              "BIGINT)";
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool found = false;

    assert_int_equal(db_begin(&session, e->db, mode, &e->err), MCP_OK);
    assert_int_equal(db_query(&rows, session, sql, NULL, 0, &e->err), MCP_OK);
    assert_int_equal(db_next(rows, &found, &e->err), MCP_OK);
    assert_true(found);
    int64_t limit_ms = db_int_at(rows, 0);
    db_rows_free(rows);
    db_rollback(session);
    return limit_ms;
}

/* Readers on the same connection before and after. */
static void a_transaction_that_writes_may_be_idle_for_20_s(void **state)
{
    engine *e = *state;

    assert_int_equal(idle_limit_ms(e, DB_READ), 600000);
    assert_int_equal(idle_limit_ms(e, DB_WRITE), 20000);
    assert_int_equal(idle_limit_ms(e, DB_READ), 600000);
}

/* Rows that this connection has fetched by an index of the table, as far as the server counts. */
static int64_t rows_fetched(engine *e, db_session *session)
{
    static const char sql[] = "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = "
                              "'wide'";
    db_rows *rows = NULL;
    bool found = false;

    assert_int_equal(db_query(&rows, session, sql, NULL, 0, &e->err), MCP_OK);
    assert_int_equal(db_next(rows, &found, &e->err), MCP_OK);
    assert_true(found);
    int64_t fetched = db_int_at(rows, 0);
    db_rows_free(rows);
    return fetched;
}

/* Rows that a change of one row reads. */
static int64_t rows_read_by_a_change(engine *e)
{
    db_value values[] = { db_text("x"), db_text("7") };
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    int64_t before = rows_fetched(e, session);
    assert_int_equal(db_run(session, NULL, "UPDATE wide SET n = n + 1 WHERE a = $1 AND b = $2",
                            values, 2, &e->err),
                     MCP_OK);
    int64_t after = rows_fetched(e, session);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    return after - before;
}

/* A table that the server knows nothing of: to it both indexes are as good. */
static void a_plan_for_an_empty_table_does_not_stay(void **state)
{
    engine *e = *state;
    db *one = engine_connect(e, &(db_options){ .connections = 1 });
    engine narrow = { .db = one };

    engine_run(one, "CREATE TABLE wide (a TEXT, b TEXT, c TEXT, d TEXT, e TEXT, f TEXT, g TEXT, "
                    "h TEXT, n BIGINT, PRIMARY KEY (a, b)) WITH (autovacuum_enabled = false)");
    engine_run(one, "CREATE INDEX wide_c ON wide (a, c)");
    for (int i = 0; i < 10; i++)
        assert_int_equal(rows_read_by_a_change(&narrow), 0);
    engine_run(one, "INSERT INTO wide SELECT 'x', CAST(i AS TEXT), '', '', '', '', '', '', 0 FROM "
                    "generate_series(1, 20000) AS i");
    for (int i = 0; i < 100; i++)
        (void)rows_read_by_a_change(&narrow);
    assert_in_range(rows_read_by_a_change(&narrow), 1, 200);
    db_close(one);
}

struct ear {
    sem_t each;
    const char *expected;
    int missed;
};

static void hear(const char *payload, void *data)
{
    struct ear *ear = data;

    ear->missed += payload == NULL;
    sem_post(&ear->each);
}

static void wait_for(struct ear *ear)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    assert_int_equal(sem_timedwait(&ear->each, &until), 0);
}

static void tell(engine *e)
{
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(db_notify(session, "news", "x", &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
}

static void a_listener_comes_back_and_says_that_it_was_away(void **state)
{
    engine *e = *state;
    struct ear ear = { 0 };
    db_listener *listener = NULL;

    sem_init(&ear.each, 0, 0);
    assert_int_equal(db_listen(&listener, e->db, "news", hear, &ear, &e->err), MCP_OK);
    tell(e);
    wait_for(&ear);
    assert_int_equal(ear.missed, 0);
    break_connections(e);
    wait_for(&ear); /* NULL, once it listens again */
    assert_int_equal(ear.missed, 1);
    tell(e);
    wait_for(&ear);
    assert_int_equal(ear.missed, 1);
    db_listener_free(listener);
}

static void a_password_is_never_told(void **state)
{
    static const struct {
        const char *before, *after; /* of the port */
    } urls[] = {
        { "postgres://causeway:geheim@127.0.0.1:", "/postgres" },
        { "postgres://causeway:geheim@127.0.0.1:x", "/postgres" },
        { "postgres://causeway:gehe@geheim@127.0.0.1:", "/postgres" },
        { "postgres://causeway:geheim/x@127.0.0.1:", "/postgres" },
        { "postgres://causeway:geheim?x@127.0.0.1:", "/postgres" },
        { "postgres://causeway:geheim#x@127.0.0.1:", "/postgres" },
        { "postgres://causeway:%zzgeheim@127.0.0.1:", "/postgres" },
        { "postgres://causeway@127.0.0.1:", "/postgres?password=geheim" },
        { "postgres://causeway@127.0.0.1:", "/postgres?passwort=geheim" },
        { "postgres://causeway:geheim@[127.0.0.1:", "/postgres" },
    };
    int port = (int)strtol(strrchr(postgres_url(), ':') + 1, NULL, 10);
    mcp_error err = MCP_ERROR_INIT;
    db *opened = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        char url[256];
        snprintf(url, sizeof url, "%s%d%s", urls[i].before, port, urls[i].after);
        assert_int_not_equal(db_open(&opened, url, NULL, &err), MCP_OK);
        assert_null(strstr(err.message, "geheim"));
        assert_true(strlen(err.message) > 10);
    }
}

static void a_server_that_is_not_there_is_reported(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    db *opened = NULL;

    (void)state;
    assert_int_equal(db_open(&opened, "postgres://x@127.0.0.1:1/x", NULL, &err), MCP_E_IO);
    assert_non_null(strstr(err.message, "refused"));
    assert_null(opened);
}

static void the_socket_serves_as_well(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    db *opened = NULL;

    (void)state;
    if (db_open(&opened, postgres_socket_url(), NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    assert_int_equal(engine_int(opened, "SELECT 7"), 7);
    assert_string_equal(db_engine(opened), "postgres");
    db_close(opened);
}

struct locker {
    db_session *session;
    pthread_t thread;
    mcp_status status;
};

static void *lock_second(void *data)
{
    struct locker *self = data;

    self->status = db_run(self->session, NULL, "SELECT pg_advisory_xact_lock(2)", NULL, 0, NULL);
    db_rollback(self->session);
    return NULL;
}

static void a_deadlock_ends_one_of_the_two_as_busy(void **state)
{
    engine *e = *state;
    struct locker other = { 0 };
    db_session *session = NULL;

    assert_int_equal(db_begin(&other.session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(
        db_run(other.session, NULL, "SELECT pg_advisory_xact_lock(1)", NULL, 0, &e->err), MCP_OK);
    assert_int_equal(db_run(session, NULL, "SELECT pg_advisory_xact_lock(2)", NULL, 0, &e->err),
                     MCP_OK);
    assert_int_equal(pthread_create(&other.thread, NULL, lock_second, &other), 0);
    mcp_status st = db_run(session, NULL, "SELECT pg_advisory_xact_lock(1)", NULL, 0, &e->err);
    db_rollback(session);
    pthread_join(other.thread, NULL);
    assert_int_equal(st == MCP_OK ? other.status : st, MCP_E_BUSY);
    assert_int_equal(st == MCP_OK ? st : other.status, MCP_OK);
}

static void a_table_that_changed_under_a_statement_is_busy_once(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 1 };
    db_session *session = NULL;
    db_rows *rows = NULL;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    db *pool = engine_connect(e, &options);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(db_begin(&session, pool, DB_READ, &e->err), MCP_OK);
        assert_int_equal(db_query(&rows, session, "SELECT * FROM t", NULL, 0, &e->err),
                         i == 1 ? MCP_E_BUSY : MCP_OK);
        db_rollback(session);
        if (i != 1)
            db_rows_free(rows);
        if (i == 0)
            engine_run(e->db, "ALTER TABLE t ADD COLUMN b BIGINT");
    }
    db_close(pool);
}

static void a_type_of_no_ours_is_refused_by_column(void **state)
{
    engine *e = *state;
    db_session *session = NULL;
    db_rows *rows = NULL;

    assert_int_equal(db_begin(&session, e->db, DB_READ, &e->err), MCP_OK);
    assert_int_equal(
        db_query(&rows, session, "SELECT CURRENT_TIMESTAMP AS moment", NULL, 0, &e->err),
        MCP_E_UNSUPPORTED);
    assert_non_null(strstr(e->err.message, "\"moment\""));
    db_rollback(session);
}

/* PostgreSQL's manual, 8.1: numeric is exact; the least and greatest BIGINT are its bounds. */
static void numerics_are_read_exactly_or_as_doubles(void **state)
{
    static const struct {
        const char *sql;
        bool is_int;
        int64_t integer;
        double real;
    } rows[] = {
        { "SELECT 0::numeric", true, 0, 0 },
        { "SELECT 10000::numeric", true, 10000, 0 },
        { "SELECT 120000000::numeric", true, 120000000, 0 },
        { "SELECT 9223372036854775807::numeric", true, INT64_MAX, 0 },
        { "SELECT (-9223372036854775808)::numeric", true, INT64_MIN, 0 },
        { "SELECT 9223372036854775808::numeric", false, 0, 9223372036854775808.0 },
        { "SELECT 1e30::numeric", false, 0, 1e30 },
        { "SELECT -1.25::numeric", false, 0, -1.25 },
        { "SELECT 0.00001::numeric", false, 0, 0.00001 },
        { "SELECT 12345.678901234::numeric", false, 0, 12345.678901234 },
        { "SELECT (2::numeric / 3)", false, 0, 0.66666666666666666667 },
    };
    engine *e = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        db_session *session = NULL;
        db_rows *found = NULL;
        bool has_row = false;
        assert_int_equal(db_begin(&session, e->db, DB_READ, &e->err), MCP_OK);
        assert_int_equal(db_query(&found, session, rows[i].sql, NULL, 0, &e->err), MCP_OK);
        assert_int_equal(db_next(found, &has_row, &e->err), MCP_OK);
        if (rows[i].is_int)
            assert_true(db_int_at(found, 0) == rows[i].integer);
        else
            assert_true(db_double_at(found, 0) == rows[i].real);
        db_rows_free(found);
        assert_int_equal(db_commit(session, &e->err), MCP_OK);
    }
}

static void parameters_fit_the_types_of_their_places(void **state)
{
    engine *e = *state;
    db_session *session = NULL;
    db_value values[] = { db_int(7),     db_int(70000),    db_double(2.5),
                          db_text("12"), db_blob("ab", 2), db_text("{\"a\":1}") };

    engine_run(e->db, "CREATE TABLE t (a SMALLINT, b INTEGER, c REAL, d BIGINT, e TEXT, f JSONB)");
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(
        db_run(session, NULL, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)", values, 6, &e->err),
        MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t WHERE a = 7 AND b = 70000 AND "
                                       "c = 2.5 AND d = 12 AND e = 'ab' AND f->>'a' = '1'"),
                     1);
}

#define POSTGRES_TEST(test) cmocka_unit_test_setup_teardown(test, engine_postgres, engine_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POSTGRES_TEST(a_plan_for_an_empty_table_does_not_stay),
        POSTGRES_TEST(a_session_whose_connection_is_lost_fails_and_the_next_works),
        POSTGRES_TEST(a_connection_lost_while_idle_is_not_noticed),
        POSTGRES_TEST(a_transaction_that_writes_may_be_idle_for_20_s),
        POSTGRES_TEST(a_listener_comes_back_and_says_that_it_was_away),
        POSTGRES_TEST(a_deadlock_ends_one_of_the_two_as_busy),
        POSTGRES_TEST(a_table_that_changed_under_a_statement_is_busy_once),
        POSTGRES_TEST(a_type_of_no_ours_is_refused_by_column),
        POSTGRES_TEST(numerics_are_read_exactly_or_as_doubles),
        POSTGRES_TEST(parameters_fit_the_types_of_their_places),
        cmocka_unit_test(a_password_is_never_told),
        cmocka_unit_test(a_server_that_is_not_there_is_reported),
        cmocka_unit_test(the_socket_serves_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
