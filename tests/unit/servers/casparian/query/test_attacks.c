/*
 * test_attacks.c - statements that must not reach anything: casparian's security, 6. Each runs
 * against an engine in its own process, with a view over a real file.
 */
#include "asking.h"

#include <sys/stat.h>

/* Refused by the guard, or by the engine's parse. */
static const char *const not_allowed[] = {
    "SELECT 1; DROP VIEW events",
    "SELECT 1/**/;/**/DROP/**/VIEW events",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_csv_auto('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_parquet('/proc/self/fd/100')",
    "SELECT * FROM parquet_scan('/proc/self/fd/100')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM \"/etc/passwd\"",
    "SELECT * FROM '/proc/self/fd/3'",
    "SELECT * FROM '/proc/self/fd/100'",
    "SELECT * FROM 'x.csv'",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT * FROM (SELECT * FROM '/etc/passwd')",
    "SELECT (SELECT count(*) FROM '/etc/passwd')",
    "SELECT 1 WHERE EXISTS (SELECT * FROM '/etc/passwd')",
    "WITH x AS (SELECT * FROM '/etc/passwd') SELECT * FROM x",
    "WITH \"/etc/passwd\" AS (SELECT 1) SELECT * FROM \"/etc/passwd\"",
    "SELECT * FROM events UNION ALL SELECT 1, * FROM '/etc/passwd'",
    "SELECT * FROM events JOIN '/etc/passwd' ON true",
    "SELECT * FROM events ORDER BY (SELECT count(*) FROM read_text('/etc/passwd'))",
    "SELECT * FROM events LIMIT (SELECT count(*) FROM read_text('/etc/passwd'))",
    "SELECT count(*) FILTER (WHERE (SELECT true FROM read_text('/etc/passwd'))) FROM events",
    "SELECT sum(id) OVER (ORDER BY (SELECT 1 FROM glob('/*'))) FROM events",
    "SELECT CASE WHEN true THEN (SELECT content FROM read_text('/etc/passwd')) END",
    "SELECT list_transform([1], x -> (SELECT count(*) FROM glob('/*')))",
    "SELECT * FROM (VALUES ((SELECT count(*) FROM glob('/*'))))",
    "SELECT * FROM range((SELECT count(*) FROM glob('/*')))",
    "SELECT * FROM events TABLESAMPLE 10% WHERE id IN (SELECT 1 FROM glob('/*'))",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_metadata('/proc/self/fd/100')",
    "SELECT * FROM parquet_schema('/proc/self/fd/100')",
    "SELECT * FROM parquet_kv_metadata('/proc/self/fd/100')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('events')",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT * FROM seq_scan('events')",
    "SELECT * FROM histogram('events', id)",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_views()",
    "SELECT * FROM pragma_table_info('events')",
    "SELECT * FROM pragma_database_size()",
    "SELECT * FROM which_secret('x', 's3')",
    "SELECT current_setting('temp_directory')",
    "SELECT getvariable('x')",
    "SELECT getenv('HOME')",
    "SELECT version()",
    "SELECT write_log('x')",
    "SELECT nextval('x')",
    "SELECT setseed(0.5)",
    "SELECT pg_get_viewdef(1)",
    "SELECT system.main.getvariable('x')",
    "SELECT ('x').getvariable()",
    "SELECT * FROM sink_0.main.events",
    "SELECT * FROM system.information_schema.tables",
    "SELECT * FROM (SHOW TABLES)",
    "SELECT * FROM (DESCRIBE events)",
    "SELECT * FROM (SUMMARIZE events)",
    "SELECT * FROM (PIVOT events ON name USING count(*))",
    "SELECT * FROM events AT (VERSION => 1)",
    "SHOW TABLES",
    "DESCRIBE events",
    "FROM events",
    "VALUES (1)",
    "PRAGMA version",
    "CALL pragma_version()",
    "CREATE MACRO m() AS 1",
    "CREATE TABLE x AS SELECT 1",
    "INSTALL httpfs",
    "LOAD httpfs",
    "ATTACH 'x.db'",
    "SET enable_external_access=true",
    "COPY (SELECT 1) TO 'x.csv'",
    "COPY (SELECT 1) TO '/proc/self/fd/100' (FORMAT PARQUET, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN ANALYZE INSERT INTO events VALUES (1)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'",
    "EXPLAIN COPY (SELECT 1) TO 'x.csv'",
    "EXPLAIN SELECT * FROM read_text('/etc/passwd')",
    "WITH x AS (SELECT 1) INSERT INTO events SELECT * FROM x",
    "WITH x AS (DELETE FROM events RETURNING *) SELECT * FROM x",
};

/* What fails in another way, and may not do anything else. */
static const char *const in_error[] = {
    "SELECT * FROM nowhere",
    "SELECT sql FROM duckdb_tables",
    "SELECT * FROM pg_catalog.pg_settings",
    "SELECT * FROM (WITH inner_one AS (SELECT 1) SELECT 1), inner_one",
    "WITH a AS (SELECT * FROM pg_settings), pg_settings AS (SELECT 1) SELECT * FROM a",
    "WITH duckdb_views AS (SELECT * FROM duckdb_views) SELECT * FROM duckdb_views",
    ("WITH RECURSIVE pg_settings AS (SELECT name FROM pg_settings UNION ALL SELECT name FROM "
     "pg_settings WHERE false) SELECT * FROM pg_settings"),
    "SELECT 1) AS x, (SELECT 2",
    "SELECT 1)\n AS _q LIMIT 1; --",
    "SELECT 1 FROM events\xEF\xBC\x9B DROP_ TABLE x",
    "SELECT nothing_like_this FROM events",
    "SELECT error_here +",
    "SELECT CAST('x' AS INTEGER)",
};

static const int64_t ids[] = { 1, 2, 3 };
static const char *const names[] = { "a", "b", "c" };
static const char *const sources[] = { "h1", "h1", "h2" };

static void expect_no_path(const world *self, const char *sql)
{
    const char *message = self->failure.message;

    if (strstr(message, "/proc") || strstr(message, "/etc") || strstr(message, self->folder.path))
        fail_msg("%s: a path in: %s", sql, message);
}

static void each_attack_is_refused(void **state)
{
    world *self = *state;
    struct stat before;
    struct stat after;

    add_rows(self, "events", 1, 3, ids, names, sources);
    assert_int_equal(stat(self->places[0], &before), 0);
    for (size_t i = 0; i < sizeof not_allowed / sizeof not_allowed[0]; i++) {
        expect_code(self, not_allowed[i], "sql_not_allowed");
        expect_no_path(self, not_allowed[i]);
    }
    for (size_t i = 0; i < sizeof in_error / sizeof in_error[0]; i++) {
        expect_code(self, in_error[i], "sql_error");
        expect_no_path(self, in_error[i]);
    }
    assert_int_equal(stat(self->places[0], &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    expect_rows(self, "SELECT count(*) FROM events", "[[3]]");
}

static void harmless_statements_pass(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 3, ids, names, sources);
    expect_rows(self, "SELECT 1 -- comment", "[[1]]");
    expect_rows(self, "SELECT 1; -- comment", "[[1]]");
    expect_rows(self, "SELECT 'DROP TABLE x; --' AS a", "[[\"DROP TABLE x; --\"]]");
    expect_rows(self, "SELECT 1 AS \"drop\"", "[[1]]");
    expect_rows(self, "SELECT '/etc/passwd'", "[[\"/etc/passwd\"]]");
    expect_rows(self, "WITH \"x y\" AS (SELECT 2 AS a) SELECT a FROM \"x y\"", "[[2]]");
    expect_rows(self,
                "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) "
                "SELECT sum(n) FROM r",
                "[[\"6\"]]");
    expect_rows(self, "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT b.x FROM b, a",
                "[[1]]");
    expect_rows(self, "WITH events AS (SELECT id FROM events) SELECT count(*) FROM events",
                "[[3]]");
    expect_rows(self, "SELECT * FROM range(3)", "[[0],[1],[2]]");
    expect_rows(self, "SELECT sum(id) OVER (ORDER BY id) FROM events ORDER BY id",
                "[[\"1\"],[\"3\"],[\"6\"]]");
    expect_rows(self, "SELECT e.name FROM EVENTS AS e WHERE id = 2", "[[\"b\"]]");
    expect_rows(self, "SELECT name FROM outputs.events WHERE id = 1", "[[\"a\"]]");
    expect_rows(self, "SELECT name FROM memory.outputs.\"events\" WHERE id = 3", "[[\"c\"]]");
    expect_rows(self, "SELECT name FROM sqlite_master WHERE type = 'view' AND name = 'events'",
                "[[\"events\"]]");
    expect_rows(self,
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'events' "
                "ORDER BY ordinal_position",
                "[[\"id\"],[\"name\"],[\"_cf_source_hash\"]]");
    expect_rows(self, "SELECT * FROM (SELECT 1 AS a, 'x' AS k) PIVOT (sum(a) FOR k IN ('x'))",
                "[[\"1\"]]");
    assert_int_equal(ask(self, "EXPLAIN SELECT * FROM events"), MCP_OK);
    assert_non_null(strstr(self->answer.data, "READ_PARQUET"));
    assert_null(strstr(self->answer.data, self->folder.path));
}

/* Plans are shown as they are, so nothing of the data may be in them. */
static void plans_have_no_values(void **state)
{
    static const char *const explained[] = {
        "EXPLAIN SELECT id FROM events ORDER BY id",
        "EXPLAIN SELECT id, count(*) FROM events GROUP BY id",
        "EXPLAIN SELECT DISTINCT name FROM events WHERE name > 'a'",
        "EXPLAIN SELECT e.id FROM events e JOIN events f ON e.id = f.id WHERE e.name = f.name",
        "EXPLAIN SELECT max(name) || min(id) FROM events WHERE id <> 5",
    };
    static const int64_t secret[] = { 700123001, 700123002, 700123003 };
    static const char *const texts[] = { "zanzibar", "zanzibar", "zanzibar" };
    static const char *const hashes[] = { "h1", "h1", "h2" };
    world *self = *state;

    add_rows(self, "events", 1, 3, secret, texts, hashes);
    for (size_t i = 0; i < sizeof explained / sizeof explained[0]; i++) {
        assert_int_equal(ask(self, explained[i]), MCP_OK);
        if (strstr(self->answer.data, "700123") || strstr(self->answer.data, "zanzi"))
            fail_msg("%s: %s", explained[i], self->answer.data);
    }
}

/* Without an alias a column is named after its expression. */
static void expressions_of_sensitive_columns_are_redacted(void **state)
{
    world *self = *state;
    casparian_redaction redaction;
    casparian_query_request request = {
        .sql = "SELECT max(ssn), min(ssn) + 0, mode(ssn), list(ssn), arg_max(ssn, n), "
               "histogram(ssn), count(ssn), COUNT(DISTINCT ssn), approx_count_distinct(ssn), "
               "max(n), bool_or(ssn > 5) FROM (SELECT 42 AS ssn, 7 AS n)",
    };

    request.length = strlen(request.sql);
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    assert_int_equal(ask_request(self, &request, &redaction), MCP_OK);
    assert_string_equal(self->answer.data,
                        "[[\"[hash:73475cb4]\",\"[hash:73475cb4]\",\"[hash:73475cb4]\","
                        "[\"[hash:73475cb4]\"],\"[hash:73475cb4]\",{\"[hash:73475cb4]\":\"[hash:"
                        "6b86b273]\"},1,1,1,7,true]]");
}

/* 10,000 parentheses are answered, by the engine's own limit or at the end of its process. */
static void a_deep_statement_is_answered(void **state)
{
    world *self = *state;
    char *sql = malloc(20100);

    assert_non_null(sql);
    memcpy(sql, "SELECT ", 7);
    memset(sql + 7, '(', 10000);
    sql[10007] = '1';
    memset(sql + 10008, ')', 10000);
    sql[20008] = '\0';
    expect_code(self, sql, "sql_error");
    expect_rows(self, "SELECT 1", "[[1]]");
    free(sql);
}

static void wide_texts_do_not_take_the_machine(void **state)
{
    world *self = *state;

    expect_code(self, "SELECT length(repeat('x', 3000000000))", "sql_error");
    expect_rows(self, "SELECT 1", "[[1]]");
}

static casparian_query_request timed(const char *sql)
{
    return (casparian_query_request){ .sql = sql, .length = strlen(sql), .timeout_ms = 300 };
}

static void a_query_without_end_is_ended(void **state)
{
    static const char *const endless[] = {
        "SELECT count(*) FROM range(1000000000000) AS r(x) WHERE x % 7 = 3",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
        "SELECT levenshtein(repeat('ab', 20000), repeat('ba', 20000))",
    };
    world *self = *state;

    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        casparian_query_request request = timed(endless[i]);
        assert_int_equal(ask_request(self, &request, NULL), MCP_E_TIMEOUT);
        assert_string_equal(self->failure.code, "query_timeout");
    }
    expect_rows(self, "SELECT 1", "[[1]]");
}

static bool after_a_call(void *data)
{
    int *calls = data;
    return ++*calls > 2;
}

static void a_query_is_cancelled(void **state)
{
    world *self = *state;
    int calls = 0;
    casparian_query_request request = timed(
        "SELECT count(*) FROM range(1000000000000) AS r(x) WHERE x % 7 = 3");

    request.timeout_ms = 60000;
    request.should_stop = after_a_call;
    request.data = &calls;
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_STOPPED);
    assert_string_equal(self->failure.code, "cancelled");
    expect_rows(self, "SELECT 1", "[[1]]");
}

static void nul_bytes_are_refused(void **state)
{
    world *self = *state;
    casparian_query_request request = { .sql = "SELECT 1\0; DROP VIEW x", .length = 22 };

    assert_int_equal(ask_request(self, &request, NULL), MCP_E_DENIED);
    assert_string_equal(self->failure.message, "Query contains a NUL byte");
}

static void a_text_that_is_no_utf8_is_refused(void **state)
{
    world *self = *state;
    expect_code(self, "SELECT 'a\xFF'", "sql_error");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_attack_is_refused),       TEST(harmless_statements_pass),
        TEST(a_deep_statement_is_answered), TEST(wide_texts_do_not_take_the_machine),
        TEST(a_query_without_end_is_ended), TEST(a_query_is_cancelled),
        TEST(nul_bytes_are_refused),        TEST(a_text_that_is_no_utf8_is_refused),
        TEST(plans_have_no_values),         TEST(expressions_of_sensitive_columns_are_redacted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
