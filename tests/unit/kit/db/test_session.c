/*
 * test_session.c - statements and rows, the same on every engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        mcp_error failure_ = MCP_ERROR_INIT;                                                       \
        mcp_error *err = &failure_;                                                                \
        if ((call) != MCP_OK)                                                                      \
            fail_msg("%s: %s", #call, failure_.message);                                           \
    } while (0)

static const char
    *const TABLE = "CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT, x DOUBLE PRECISION, body TEXT)";

static db_session *begin(engine *e, db_mode mode)
{
    db_session *session = NULL;

    OK(db_begin(&session, e->db, mode, err));
    return session;
}

static void insert(db_session *session, const char *id, int64_t n)
{
    db_value values[] = { db_text(id), db_int(n) };

    OK(db_run(session, NULL, "INSERT INTO t (id, n) VALUES ($1, $2)", values, 2, err));
}

static void what_is_committed_stays(void **state)
{
    engine *e = *state;
    db_session *session = begin(e, DB_WRITE);

    OK(db_run(session, NULL, TABLE, NULL, 0, err));
    insert(session, "a", 1);
    OK(db_commit(session, err));
    assert_int_equal(engine_int(e->db, "SELECT n FROM t WHERE id = 'a'"), 1);
}

static void what_is_rolled_back_never_was(void **state)
{
    engine *e = *state;

    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_WRITE);
    insert(session, "a", 1);
    db_rollback(session);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 0);
}

static void values_come_back_as_they_went(void **state)
{
    static const char bytes[] = { 'a', '\0', '\'', (char)0xff, '\\', 'x', '4', '1' };
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;
    size_t length = 0;

    engine_run(e->db,
               e->is_memory || strcmp(db_engine(e->db), "sqlite") == 0
                   ? "CREATE TABLE v (a BIGINT, b DOUBLE PRECISION, c TEXT, d BLOB, e TEXT)"
                   : "CREATE TABLE v (a BIGINT, b DOUBLE PRECISION, c TEXT, d BYTEA, e TEXT)");
    db_session *session = begin(e, DB_WRITE);
    db_value values[] = { db_int(INT64_MIN), db_double(0.1),
                          db_text_n("gr\xc3\xbc\xc3\x9f"
                                    "e'; --tail",
                                    8),
                          db_blob(bytes, sizeof bytes), db_text(NULL) };
    OK(db_run(session, NULL, "INSERT INTO v VALUES ($1, $2, $3, $4, $5)", values, 5, err));
    OK(db_query(&rows, session, "SELECT a, b, c, d, e FROM v", NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_true(has_row);
    assert_true(db_int_at(rows, 0) == INT64_MIN);
    assert_true(db_double_at(rows, 1) == 0.1);
    assert_string_equal(db_text_at(rows, 2, &length), "gr\xc3\xbc\xc3\x9f"
                                                      "e'");
    assert_int_equal(length, 8);
    assert_memory_equal(db_blob_at(rows, 3, &length), bytes, sizeof bytes);
    assert_int_equal(length, sizeof bytes);
    assert_true(db_null_at(rows, 4));
    assert_false(db_null_at(rows, 0));
    assert_null(db_text_at(rows, 4, &length));
    assert_int_equal(length, 0);
    OK(db_next(rows, &has_row, err));
    assert_false(has_row);
    db_rows_free(rows);
    OK(db_commit(session, err));
}

static void the_same_parameter_may_occur_twice_and_in_any_order(void **state)
{
    engine *e = *state;
    db_value values[] = { db_int(7), db_int(100) };
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('a', 107)");
    db_session *session = begin(e, DB_READ);
    OK(db_query(&rows, session, "SELECT id FROM t WHERE n - $2 = $1 AND n > $1 AND n > $2", values,
                2, err));
    OK(db_next(rows, &has_row, err));
    assert_true(has_row);
    assert_string_equal(db_text_at(rows, 0, NULL), "a");
    db_rows_free(rows);
    OK(db_commit(session, err));
}

static void numbers_convert_where_no_digit_is_lost(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t VALUES ('-12', 9007199254740993, 3.0, '1.5e3')");
    db_session *session = begin(e, DB_READ);
    OK(db_query(&rows, session, "SELECT id, n, x, body, CAST(SUM(n) OVER () AS BIGINT) FROM t",
                NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_int_equal(db_int_at(rows, 0), -12);
    assert_string_equal(db_text_at(rows, 1, NULL), "9007199254740993");
    assert_int_equal(db_int_at(rows, 2), 3);
    assert_string_equal(db_text_at(rows, 2, NULL), "3");
    assert_true(db_double_at(rows, 3) == 1500.0);
    assert_true(db_int_at(rows, 4) == 9007199254740993);
    db_rows_free(rows);
    OK(db_commit(session, err));
}

static void sums_and_averages_are_numbers(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('a', 1), ('b', 2), ('c', 100000)");
    db_session *session = begin(e, DB_READ);
    OK(db_query(&rows, session,
                "SELECT SUM(n), AVG(n), COUNT(*), MIN(n), SUM(-n) FROM t WHERE n < 3", NULL, 0,
                err));
    OK(db_next(rows, &has_row, err));
    assert_int_equal(db_int_at(rows, 0), 3);
    assert_true(db_double_at(rows, 1) == 1.5);
    assert_int_equal(db_int_at(rows, 2), 2);
    assert_int_equal(db_int_at(rows, 3), 1);
    assert_int_equal(db_int_at(rows, 4), -3);
    db_rows_free(rows);
    OK(db_query(&rows, session, "SELECT SUM(n), 1 = 1 FROM t", NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_int_equal(db_int_at(rows, 0), 100003);
    assert_int_equal(db_int_at(rows, 1), 1);
    db_rows_free(rows);
    OK(db_commit(session, err));
}

/* Each column of ('x', 9007199254740993, 1.5), read as what it is not. */
static void a_conversion_that_loses_fails_the_session(void **state)
{
    engine *e = *state;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t VALUES ('x', 9007199254740993, 1.5, '0x10')");
    for (int kind = 0; kind < 6; kind++) {
        db_rows *rows = NULL;
        bool has_row = false;
        db_session *session = begin(e, DB_READ);
        OK(db_query(&rows, session, "SELECT id, n, x, body FROM t", NULL, 0, err));
        OK(db_next(rows, &has_row, err));
        if (kind == 0)
            assert_int_equal(db_int_at(rows, 0), 0);
        else if (kind == 1)
            assert_true(db_double_at(rows, 1) == 0.0);
        else if (kind == 2)
            assert_int_equal(db_int_at(rows, 2), 0);
        else if (kind == 3)
            assert_true(db_double_at(rows, 3) == 0.0);
        else if (kind == 4)
            assert_null(db_blob_at(rows, 1, NULL));
        else
            assert_null(db_text_at(rows, 4, NULL));
        mcp_status st = kind == 5 ? MCP_E_PARAMS : MCP_E_SCHEMA;
        assert_int_equal(db_next(rows, &has_row, &e->err), st);
        db_rows_free(rows);
        assert_int_equal(db_commit(session, &e->err), st);
    }
}

static void changed_counts_rows(void **state)
{
    engine *e = *state;
    int64_t changed = -1;

    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_WRITE);
    insert(session, "a", 1);
    insert(session, "b", 2);
    OK(db_run(session, &changed, "UPDATE t SET n = n + 1", NULL, 0, err));
    assert_int_equal(changed, 2);
    OK(db_run(session, &changed, "UPDATE t SET n = 0 WHERE id = 'none'", NULL, 0, err));
    assert_int_equal(changed, 0);
    OK(db_run(session, &changed, "DELETE FROM t WHERE id = 'a'", NULL, 0, err));
    assert_int_equal(changed, 1);
    OK(db_run(session, &changed, "CREATE TABLE u (a TEXT)", NULL, 0, err));
    assert_int_equal(changed, 0);
    OK(db_run(session, &changed, "INSERT INTO t (id, n) VALUES ('b', 9) ON CONFLICT DO NOTHING",
              NULL, 0, err));
    assert_int_equal(changed, 0);
    OK(db_commit(session, err));
}

static void returning_gives_rows_and_does_its_work(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_WRITE);
    insert(session, "a", 1);
    OK(db_query(&rows, session,
                "INSERT INTO t (id, n) VALUES ('a', 5), ('b', 6) "
                "ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n RETURNING n",
                NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_int_equal(db_int_at(rows, 0), 6);
    db_rows_free(rows); /* the second is not read, and is there all the same */
    OK(db_query(&rows, session, "UPDATE t SET n = n * 10 RETURNING id", NULL, 0, err));
    db_rows_free(rows);
    OK(db_commit(session, err));
    assert_int_equal(engine_int(e->db, "SELECT CAST(SUM(n) AS BIGINT) FROM t"), 120);
}

static void row_locks_are_taken_where_there_are_any(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('for update', 1)");
    db_session *session = begin(e, DB_WRITE);
    OK(db_query(&rows, session,
                "SELECT id FROM t WHERE id = 'for update' ORDER BY n LIMIT 1 "
                "FOR UPDATE OF t SKIP LOCKED",
                NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_string_equal(db_text_at(rows, 0, NULL), "for update");
    db_rows_free(rows);
    OK(db_commit(session, err));
}

static void expect_failure(engine *e, const char *sql, mcp_status expected)
{
    db_session *session = begin(e, DB_WRITE);

    insert(session, "before", 1);
    e->err = (mcp_error)MCP_ERROR_INIT;
    assert_int_equal(db_run(session, NULL, sql, NULL, 0, &e->err), expected);
    assert_int_equal(e->err.status, expected);
    assert_true(strlen(e->err.message) > 0);
    /* A session stops at its first failure, and says the same again. */
    assert_int_equal(db_run(session, NULL, "DELETE FROM t", NULL, 0, &e->err), expected);
    e->err = (mcp_error)MCP_ERROR_INIT;
    assert_int_equal(db_commit(session, &e->err), expected);
    assert_int_equal(e->err.status, expected);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t WHERE id = 'before'"), 0);
}

static void failures_are_distinguished_and_end_the_session(void **state)
{
    engine *e = *state;

    engine_run(e->db, TABLE);
    engine_run(e->db, "CREATE TABLE u (id TEXT REFERENCES t (id), n BIGINT NOT NULL CHECK (n > 0), "
                      "m BIGINT UNIQUE)");
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('a', 1)");
    engine_run(e->db, "INSERT INTO u VALUES ('a', 1, 1)");
    expect_failure(e, "INSERT INTO t (id, n) VALUES ('a', 2)", MCP_E_EXISTS);
    expect_failure(e, "INSERT INTO u VALUES ('a', 1, 1)", MCP_E_EXISTS);
    expect_failure(e, "INSERT INTO u VALUES ('none', 1, 2)", MCP_E_SCHEMA);
    expect_failure(e, "INSERT INTO u VALUES ('a', 0, 2)", MCP_E_SCHEMA);
    expect_failure(e, "INSERT INTO u VALUES ('a', NULL, 2)", MCP_E_SCHEMA);
    expect_failure(e, "DELETE FROM t WHERE id = 'a'", MCP_E_SCHEMA);
    expect_failure(e, "INSERT INTO nowhere VALUES (1)", MCP_E_INTERNAL);
    expect_failure(e, "SELEKT 1", MCP_E_INTERNAL);
    expect_failure(e, "", MCP_E_INTERNAL);
    expect_failure(e, "SELECT $1", MCP_E_PARAMS);
}

static void a_query_that_fails_gives_no_rows(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('a', 1)");
    db_session *session = begin(e, DB_WRITE);
    assert_int_equal(
        db_query(&rows, session, "INSERT INTO t (id) VALUES ('a') RETURNING id", NULL, 0, &e->err),
        MCP_E_EXISTS);
    assert_null(rows);
    db_rollback(session);
}

static void values_must_go_with_the_statement(void **state)
{
    engine *e = *state;
    db_value values[] = { db_int(1), db_int(2), db_text_n("a\0b", 3), db_double(0.0 / 0.0) };
    static const struct {
        const char *sql;
        size_t from, count;
    } rows[] = {
        { "SELECT $1 + 1", 0, 2 },
        { "SELECT CAST($1 AS BIGINT) + CAST($2 AS BIGINT)", 0, 1 },
        { "SELECT 1", 0, 1 },
        { "SELECT id FROM t WHERE id = $1", 2, 1 },
        { "SELECT id FROM t WHERE x = $1", 3, 1 },
    };

    engine_run(e->db, TABLE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        db_session *session = begin(e, DB_READ);
        assert_int_equal(
            db_run(session, NULL, rows[i].sql, values + rows[i].from, rows[i].count, &e->err),
            MCP_E_PARAMS);
        db_rollback(session);
    }
}

static void bounds_are_kept(void **state)
{
    static db_value values[1001];
    engine *e = *state;
    char *sql = malloc((1 << 20) + 2);

    db_session *session = begin(e, DB_READ);
    assert_int_equal(db_run(session, NULL, "SELECT 1", values, 1001, &e->err), MCP_E_LIMIT);
    db_rollback(session);
    memset(sql, ' ', (1 << 20) + 1);
    sql[(1 << 20) + 1] = '\0';
    session = begin(e, DB_READ);
    assert_int_equal(db_run(session, NULL, sql, NULL, 0, &e->err), MCP_E_LIMIT);
    db_rollback(session);
    free(sql);
}

static void a_reader_cannot_write(void **state)
{
    engine *e = *state;

    if (e->is_memory)
        return; /* its one connection does both */
    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_READ);
    assert_int_equal(db_run(session, NULL, "INSERT INTO t (id) VALUES ('a')", NULL, 0, &e->err),
                     MCP_E_DENIED);
    db_rollback(session);
}

static void a_reader_sees_one_moment(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    if (e->is_memory)
        return; /* readers and writers take turns */
    engine_run(e->db, TABLE);
    db_session *reader = begin(e, DB_READ);
    for (int i = 0; i < 2; i++) {
        OK(db_query(&rows, reader, "SELECT COUNT(*) FROM t", NULL, 0, err));
        OK(db_next(rows, &has_row, err));
        assert_int_equal(db_int_at(rows, 0), 0);
        db_rows_free(rows);
        if (i == 0)
            engine_run(e->db, "INSERT INTO t (id) VALUES ('a')");
    }
    OK(db_commit(reader, err));
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

static void many_rows_are_read_one_by_one(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = true;
    int64_t count = 0;
    int64_t sum = 0;

    db_session *session = begin(e, DB_READ);
    OK(db_query(&rows, session,
                "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) "
                "SELECT n FROM c",
                NULL, 0, err));
    for (;;) {
        OK(db_next(rows, &has_row, err));
        if (!has_row)
            break;
        count++;
        sum += db_int_at(rows, 0);
    }
    assert_int_equal(count, 20000);
    assert_int_equal(sum, 200010000);
    OK(db_next(rows, &has_row, err)); /* the end stays the end */
    assert_false(has_row);
    db_rows_free(rows);
    OK(db_commit(session, err));
}

static void rows_hold_the_session_until_read_or_freed(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    db_session *session = begin(e, DB_READ);
    OK(db_query(&rows, session, "SELECT 1 UNION ALL SELECT 2", NULL, 0, err));
    assert_int_equal(db_run(session, NULL, "SELECT 1", NULL, 0, &e->err), MCP_E_PARAMS);
    db_rows_free(rows);
    db_rollback(session);
    session = begin(e, DB_READ);
    OK(db_query(&rows, session, "SELECT 1", NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    OK(db_next(rows, &has_row, err));
    OK(db_run(session, NULL, "SELECT 1", NULL, 0, err));
    OK(db_commit(session, err));
    OK(db_next(rows, &has_row, err));
    assert_false(has_row);
    assert_int_equal(db_int_at(rows, 0), 0);
    db_rows_free(rows);
}

static void rows_that_are_left_do_not_stop_a_commit(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;

    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_WRITE);
    insert(session, "a", 1);
    insert(session, "b", 1);
    OK(db_query(&rows, session, "SELECT id FROM t", NULL, 0, err));
    OK(db_commit(session, err));
    assert_int_equal(db_next(rows, &has_row, &e->err), MCP_E_PARAMS); /* their session is over */
    db_rows_free(rows);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 2);
}

static void a_large_blob_goes_and_comes(void **state)
{
    enum { SIZE = 9 << 20 };
    engine *e = *state;
    char *bytes = malloc(SIZE);
    db_rows *rows = NULL;
    bool has_row = false;
    size_t length = 0;

    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    engine_run(e->db, strcmp(db_engine(e->db), "sqlite") == 0 ? "CREATE TABLE b (body BLOB)"
                                                              : "CREATE TABLE b (body BYTEA)");
    db_session *session = begin(e, DB_WRITE);
    db_value value = db_blob(bytes, SIZE);
    OK(db_run(session, NULL, "INSERT INTO b VALUES ($1)", &value, 1, err));
    OK(db_query(&rows, session, "SELECT body FROM b", NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_memory_equal(db_blob_at(rows, 0, &length), bytes, SIZE);
    assert_int_equal(length, SIZE);
    db_rows_free(rows);
    db_rollback(session);
    free(bytes);
}

/* More texts than the 64 that a connection keeps, each twice. */
static void statements_come_and_go(void **state)
{
    engine *e = *state;
    char sql[64];

    for (int i = 0; i < 200; i++) {
        snprintf(sql, sizeof sql, "SELECT %d", i % 100);
        assert_int_equal(engine_int(e->db, sql), i % 100);
    }
}

static void a_statement_that_takes_too_long_is_ended(void **state)
{
    engine *e = *state;
    db_options options = { .statement_ms = 200, .wait_ms = 200 };
    db *quick = engine_connect(e, &options);
    db_session *session = NULL;

    OK(db_begin(&session, quick, DB_READ, err));
    assert_int_equal(db_run(session, NULL,
                            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                            "SELECT COUNT(*) FROM c",
                            NULL, 0, &e->err),
                     MCP_E_TIMEOUT);
    db_rollback(session);
    assert_int_equal(engine_int(quick, "SELECT 5"), 5); /* the pool lives on */
    db_close(quick);
}

/* Sends one statement before each that has the name of the table. */
static mcp_status send_before(db_session *session, const char *sql, void *data, mcp_error *err)
{
    int *calls = data;

    if (++*calls > 3)
        return mcp_error_set(err, MCP_E_LIMIT, "no more");
    return strstr(sql, "FROM t") ? db_defer(session, MCP_OK, "UPDATE t SET n = n + 1", NULL, 0, err)
                                 : MCP_OK;
}

static void what_is_kept_back_is_sent_before_a_statement(void **state)
{
    engine *e = *state;
    db_rows *rows = NULL;
    bool has_row = false;
    int calls = 0;
    mcp_error why = MCP_ERROR_INIT;

    engine_run(e->db, TABLE);
    db_session *session = begin(e, DB_WRITE);
    insert(session, "a", 1);
    db_session_before(session, send_before, &calls);
    OK(db_query(&rows, session, "SELECT n FROM t", NULL, 0, err));
    OK(db_next(rows, &has_row, err));
    assert_int_equal(db_int_at(rows, 0), 2);
    db_rows_free(rows);
    insert(session, "b", 5);
    OK(db_defer(session, MCP_OK, "UPDATE t SET n = n * 2", NULL, 0, err));
    assert_int_equal(calls, 3);
    assert_int_equal(db_run(session, NULL, "DELETE FROM t", NULL, 0, &why), MCP_E_LIMIT);
    assert_string_equal(why.message, "no more");
    assert_int_equal(db_commit(session, &why), MCP_E_LIMIT);
    session = begin(e, DB_WRITE); /* the next session has none */
    insert(session, "c", 1);
    OK(db_commit(session, err));
    assert_int_equal(calls, 4);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

/* It fails at the latest when the session ends, also of one that only reads. */
static void a_deferred_query_must_find_a_row(void **state)
{
    static const db_mode modes[] = { DB_READ, DB_WRITE };
    engine *e = *state;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO t (id, n) VALUES ('a', 1)");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mcp_error why = MCP_ERROR_INIT;
        db_session *session = begin(e, modes[i]);
        OK(db_defer(session, MCP_E_DENIED, "SELECT 1 FROM t WHERE n = 1", NULL, 0, err));
        OK(db_commit(session, err));
        session = begin(e, modes[i]);
        mcp_status st = db_defer(session, MCP_E_DENIED, "SELECT 1 FROM t WHERE n = 2", NULL, 0,
                                 &why);
        assert_true(st == MCP_OK || st == MCP_E_DENIED);
        assert_int_equal(db_commit(session, &why), MCP_E_DENIED);
    }
    OK(db_commit(begin(e, DB_READ), err)); /* nothing of it is left */
}

static void a_recent_time_is_that_of_the_clock(void **state)
{
    engine *e = *state;
    int64_t now_ms = 0, recent_ms = 0, after_ms = 0;
    db *steady = engine_connect(e, &(db_options){ .steady_time = true });
    db_session *session = NULL;

    OK(db_begin(&session, steady, DB_READ, err));
    OK(db_now_recent(session, &recent_ms, err));
    for (int i = 0; i < 100; i++) {
        OK(db_now(session, &now_ms, err));
        assert_true(now_ms >= recent_ms);
        OK(db_now_recent(session, &recent_ms, err));
        assert_true(recent_ms >= now_ms);
        OK(db_now(session, &after_ms, err));
        assert_in_range(recent_ms, now_ms, after_ms);
    }
    OK(db_commit(session, err));
    db_close(steady);
}

static void notifications_are_checked(void **state)
{
    static const char *const channels[] = { "", "Upper", "a b", "a\"b", "a;" };
    static char long_payload[7902];
    engine *e = *state;

    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        db_session *session = begin(e, DB_WRITE);
        assert_int_equal(db_notify(session, channels[i], "", &e->err), MCP_E_PARAMS);
        db_rollback(session);
    }
    memset(long_payload, 'x', 7901);
    db_session *session = begin(e, DB_WRITE);
    assert_int_equal(db_notify(session, "news", long_payload, &e->err), MCP_E_LIMIT);
    db_rollback(session);
    long_payload[7900] = '\0';
    session = begin(e, DB_WRITE);
    OK(db_notify(session, "news", long_payload, err));
    OK(db_commit(session, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(what_is_committed_stays),
        ENGINE_TESTS(what_is_rolled_back_never_was),
        ENGINE_TESTS(values_come_back_as_they_went),
        ENGINE_TESTS(the_same_parameter_may_occur_twice_and_in_any_order),
        ENGINE_TESTS(numbers_convert_where_no_digit_is_lost),
        ENGINE_TESTS(sums_and_averages_are_numbers),
        ENGINE_TESTS(a_conversion_that_loses_fails_the_session),
        ENGINE_TESTS(changed_counts_rows),
        ENGINE_TESTS(returning_gives_rows_and_does_its_work),
        ENGINE_TESTS(row_locks_are_taken_where_there_are_any),
        ENGINE_TESTS(failures_are_distinguished_and_end_the_session),
        ENGINE_TESTS(a_query_that_fails_gives_no_rows),
        ENGINE_TESTS(values_must_go_with_the_statement),
        ENGINE_TESTS(bounds_are_kept),
        ENGINE_TESTS(a_reader_cannot_write),
        ENGINE_TESTS(a_reader_sees_one_moment),
        ENGINE_TESTS(many_rows_are_read_one_by_one),
        ENGINE_TESTS(rows_hold_the_session_until_read_or_freed),
        ENGINE_TESTS(rows_that_are_left_do_not_stop_a_commit),
        ENGINE_TESTS(a_large_blob_goes_and_comes),
        ENGINE_TESTS(statements_come_and_go),
        ENGINE_TESTS(a_statement_that_takes_too_long_is_ended),
        ENGINE_TESTS(what_is_kept_back_is_sent_before_a_statement),
        ENGINE_TESTS(a_deferred_query_must_find_a_row),
        ENGINE_TESTS(a_recent_time_is_that_of_the_clock),
        ENGINE_TESTS(notifications_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
