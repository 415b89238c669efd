/*
 * test_query.c - views over files of every format, the JSON of every type, limits, errors, pages,
 * and what is kept. Parquet files are those of the project's own writer, others are
 * written here.
 */
#include "asking.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t ids[] = { 1, 2, 3, 4 };
static const char *const names[] = { "a", "b", "c", "d" };
static const char *const sources[] = { "h1", "h1", "h2", "h3" };

/* ---- values ---------------------------------------------------------------------------------- */

static void each_type_has_its_json(void **state)
{
    static const struct {
        const char *expression, *type, *json;
    } cases[] = {
        { "NULL", "INTEGER", "null" },
        { "true", "BOOLEAN", "true" },
        { "(-7)::TINYINT", "TINYINT", "-7" },
        { "300::SMALLINT", "SMALLINT", "300" },
        { "70000", "INTEGER", "70000" },
        { "9007199254740992::BIGINT", "BIGINT", "9007199254740992" },
        { "9007199254740993::BIGINT", "BIGINT", "\"9007199254740993\"" },
        { "(-9223372036854775807 - 1)::BIGINT", "BIGINT", "\"-9223372036854775808\"" },
        { "255::UTINYINT", "UTINYINT", "255" },
        { "65535::USMALLINT", "USMALLINT", "65535" },
        { "4294967295::UINTEGER", "UINTEGER", "4294967295" },
        { "7::UBIGINT", "UBIGINT", "7" },
        { "9007199254740992::UBIGINT", "UBIGINT", "9007199254740992" },
        { "9007199254740993::UBIGINT", "UBIGINT", "\"9007199254740993\"" },
        { "18446744073709551615::UBIGINT", "UBIGINT", "\"18446744073709551615\"" },
        { "[7::UBIGINT]", "UBIGINT[]", "[7]" },
        { "170141183460469231731687303715884105727::HUGEINT", "HUGEINT",
          "\"170141183460469231731687303715884105727\"" },
        { "(-5)::HUGEINT", "HUGEINT", "\"-5\"" },
        { "340282366920938463463374607431768211455::UHUGEINT", "UHUGEINT",
          "\"340282366920938463463374607431768211455\"" },
        { "0.5::FLOAT", "FLOAT", "0.5" },
        { "0.1::DOUBLE", "DOUBLE", "0.1" },
        { "'nan'::DOUBLE", "DOUBLE", "\"nan\"" },
        { "'-inf'::DOUBLE", "DOUBLE", "\"-inf\"" },
        { "12.5::DECIMAL(4,2)", "DECIMAL(4,2)", "\"12.50\"" },
        { "(-0.05)::DECIMAL(9,2)", "DECIMAL(9,2)", "\"-0.05\"" },
        { "7::DECIMAL(18,0)", "DECIMAL(18,0)", "\"7\"" },
        { "1.5::DECIMAL(38,10)", "DECIMAL(38,10)", "\"1.5000000000\"" },
        { "'\xC3\xA4\"'", "VARCHAR", "\"\xC3\xA4\\\"\"" },
        { "''", "VARCHAR", "\"\"" },
        { "'\\x00\\xFF'::BLOB", "BLOB", "\"AP8=\"" },
        { "'10110'::BIT", "BIT", "\"10110\"" },
        { "DATE '2024-02-29'", "DATE", "\"2024-02-29\"" },
        { "DATE '0001-01-01'", "DATE", "\"0001-01-01\"" },
        { "DATE '1969-12-31'", "DATE", "\"1969-12-31\"" },
        { "'infinity'::DATE", "DATE", "\"infinity\"" },
        { "TIME '08:05:00'", "TIME", "\"08:05:00\"" },
        { "TIME '08:05:00.5'", "TIME", "\"08:05:00.500000\"" },
        { "'08:05:00+05:30'::TIMETZ", "TIME WITH TIME ZONE", "\"08:05:00+05:30\"" },
        { "TIMESTAMP '2024-01-31 08:00:00'", "TIMESTAMP", "\"2024-01-31T08:00:00\"" },
        { "TIMESTAMP '1960-01-31 08:00:00.25'", "TIMESTAMP", "\"1960-01-31T08:00:00.250000\"" },
        { "'2024-01-31 08:00:00'::TIMESTAMP_S", "TIMESTAMP_S", "\"2024-01-31T08:00:00\"" },
        { "'2024-01-31 08:00:00.5'::TIMESTAMP_MS", "TIMESTAMP_MS",
          "\"2024-01-31T08:00:00.500000\"" },
        { "'2024-01-31 08:00:00.000000001'::TIMESTAMP_NS", "TIMESTAMP_NS",
          "\"2024-01-31T08:00:00.000000001\"" },
        { "TIMESTAMPTZ '2024-01-31 08:00:00+02'", "TIMESTAMP WITH TIME ZONE",
          "\"2024-01-31T06:00:00Z\"" },
        { "INTERVAL '90.5 seconds'", "INTERVAL", "\"PT90.5S\"" },
        { "INTERVAL '-1 second'", "INTERVAL", "\"-PT1S\"" },
        { "INTERVAL '14 months 3 days'", "INTERVAL", "\"P14M3D\"" },
        { "INTERVAL 0 DAY", "INTERVAL", "\"PT0S\"" },
        { "'01234567-89ab-cdef-0123-456789abcdef'::UUID", "UUID",
          "\"01234567-89ab-cdef-0123-456789abcdef\"" },
        { "'b'::ENUM('a', 'b')", "ENUM('a', 'b')", "\"b\"" },
        { "[1, NULL, 3]", "INTEGER[]", "[1,null,3]" },
        { "[[1.5], []]", "DECIMAL(2,1)[][]", "[[\"1.5\"],[]]" },
        { "[1, 2]::INTEGER[2]", "INTEGER[2]", "[1,2]" },
        { "{'a': 1, 'B c': DATE '2024-01-01'}", "STRUCT(a INTEGER, \"B c\" DATE)",
          "{\"a\":1,\"B c\":\"2024-01-01\"}" },
        { "MAP {'k': 1, 'l': 2}", "MAP(VARCHAR, INTEGER)", "{\"k\":1,\"l\":2}" },
        { "MAP {1: [true]}", "MAP(INTEGER, BOOLEAN[])", "{\"1\":[true]}" },
        { "MAP {0.1::DOUBLE: 1}", "MAP(DOUBLE, INTEGER)", "{\"0.1\":1}" },
        { "row(1, 'x')", "STRUCT(\"\" INTEGER, \"\" VARCHAR)", "[1,\"x\"]" },
        { "list_zip([1], ['a'])", "STRUCT(\"\" INTEGER, \"\" VARCHAR)[]", "[[1,\"a\"]]" },
        { "union_value(num := 2)", "UNION(num INTEGER)", "2" },
        { "'{\"a\":1}'::JSON", "JSON", "\"{\\\"a\\\":1}\"" },
    };
    world *self = *state;
    mcp_buf sql;
    mcp_buf json;

    mcp_buf_init(&sql, 1 << 16);
    mcp_buf_init(&json, 1 << 16);
    mcp_buf_puts(&json, "[[");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mcp_buf_printf(&sql, "%s%s AS c%zu", i > 0 ? ", " : "SELECT ", cases[i].expression, i);
        mcp_buf_printf(&json, "%s%s", i > 0 ? "," : "", cases[i].json);
    }
    mcp_buf_puts(&json, "]]");
    expect_rows(self, sql.data, json.data);

    casparian_query_result *result = NULL;
    casparian_query_request request = { .sql = sql.data, .length = sql.length };
    assert_int_equal(casparian_query_run(&result, self->query, &self->catalog, &request, NULL,
                                         self->arena, &self->err),
                     MCP_OK);
    const casparian_query_facts *facts = casparian_query_result_facts(result);
    assert_int_equal(facts->column_count, sizeof cases / sizeof cases[0]);
    for (size_t i = 0; i < facts->column_count; i++)
        assert_string_equal(facts->columns[i].type, cases[i].type);
    casparian_query_result_free(result);
    mcp_buf_clear(&sql);
    mcp_buf_clear(&json);
}

static void long_values_are_cut(void **state)
{
    world *self = *state;
    size_t length = strlen("[[\"\"]]") + CASPARIAN_QUERY_CELL_MAX + strlen("\xE2\x80\xA6");

    assert_int_equal(ask(self, "SELECT repeat('x', 8192)"), MCP_OK);
    assert_int_equal(self->answer.length, strlen("[[\"\"]]") + CASPARIAN_QUERY_CELL_MAX);
    assert_int_equal(ask(self, "SELECT repeat('x', 8193)"), MCP_OK);
    assert_int_equal(self->answer.length, length);
    /* two bytes a character: the cut is not within one */
    assert_int_equal(ask(self, "SELECT 'x' || repeat('\xC3\xA4', 5000)"), MCP_OK);
    assert_int_equal(self->answer.length, length - 1);
    assert_int_equal(ask(self, "SELECT length(repeat('x', 40000000))"), MCP_OK);
    expect_code(self, "SELECT repeat('x', 40000000)", "sql_error");
}

static void values_are_redacted_by_their_columns(void **state)
{
    world *self = *state;
    casparian_redaction redaction;
    casparian_query_request request = {
        .sql = "SELECT 'sensitive-data-12345' AS a, 1 AS health_check, 42 AS ssn, true AS phone, "
               "DATE '2024-01-01' AS d, ['john@example.com'] AS l, NULL AS email, '' AS e",
    };

    request.length = strlen(request.sql);
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    assert_int_equal(ask_request(self, &request, &redaction), MCP_OK);
    assert_string_equal(self->answer.data,
                        "[[\"[hash:75740b32]\",1,\"[hash:73475cb4]\",true,\"2024-01-01\","
                        "[\"[hash:855f96e9]\"],null,\"\"]]");
    /* Names of the catalog and plans are no data. */
    add_rows(self, "events", 1, 1, ids, names, sources);
    request.sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'outputs'";
    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, &redaction), MCP_OK);
    assert_non_null(strstr(self->answer.data, "\"events\""));
    request.sql = "SELECT name FROM events";
    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, &redaction), MCP_OK);
    assert_string_equal(self->answer.data, "[[\"[hash:ca978112]\"]]"); /* sha256 of "a" */
}

static void expect_redacted(world *self, casparian_redaction_mode mode, const char *expression,
                            const char *json)
{
    casparian_redaction redaction;
    casparian_query_request request = { 0 };
    mcp_buf sql, rows;

    mcp_buf_init(&sql, 1 << 16);
    mcp_buf_init(&rows, 1 << 16);
    mcp_buf_printf(&sql, "SELECT %s AS x", expression);
    mcp_buf_printf(&rows, "[[%s]]", json);
    request.sql = sql.data;
    request.length = sql.length;
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    redaction.mode = mode;
    if (ask_request(self, &request, &redaction) != MCP_OK)
        fail_msg("%s: %s", expression, self->err.message);
    assert_string_equal(self->answer.data, rows.data);
    mcp_buf_clear(&sql);
    mcp_buf_clear(&rows);
}

/* sha256: a ca978112, b 3e23e816, c 2e7d2c03 */
static void nested_values_are_redacted_by_their_types(void **state)
{
    static const struct {
        const char *expression, *json;
    } cases[] = {
        /* The keys of a map are data, the names of a struct are not. */
        { "MAP {'a': 1}", "{\"[hash:ca978112]\":1}" },
        { "MAP {'a': 'b'}", "{\"[hash:ca978112]\":\"[hash:3e23e816]\"}" },
        { "MAP {7: 'b', 8: NULL}", "{\"7\":\"[hash:3e23e816]\",\"8\":null}" },
        { "MAP {DATE '2024-01-01': 1.5}", "{\"2024-01-01\":\"1.5\"}" },
        { "{'a': 'b', 'q)\"\", (': MAP {'c': 1}}",
          "{\"a\":\"[hash:3e23e816]\",\"q)\\\"\\\", (\":{\"[hash:2e7d2c03]\":1}}" },
        { "[MAP {'a': {'b': MAP {'c': 1}}}]",
          "[{\"[hash:ca978112]\":{\"b\":{\"[hash:2e7d2c03]\":1}}}]" },
        { "MAP {'email': 5}", "{\"[hash:82244417]\":\"[hash:ef2d127d]\"}" },
        { "union_value(k := MAP {'a': 1})", "\"[hash:015abd7f]\"" },
        { "MAP {'a'::ENUM('a', 'it''s'): 1}", "{\"[hash:ca978112]\":1}" },
        /* Numbers and times pass, whatever JSON has for them. */
        { "[1.5, 2]", "[\"1.5\",\"2.0\"]" },
        { "[9007199254740993, 1]", "[\"9007199254740993\",1]" },
        { "[DATE '2024-01-01']::DATE[1]", "[\"2024-01-01\"]" },
        { "{'t': [TIMESTAMPTZ '2024-01-01 00:00:00Z'], 'h': 5::HUGEINT, 's': 'a'}",
          "{\"t\":[\"2024-01-01T00:00:00Z\"],\"h\":\"5\",\"s\":\"[hash:ca978112]\"}" },
        { "['nan'::DOUBLE, NULL]", "[\"nan\",null]" },
        { "row(1, 'a', [row('b', 2::UBIGINT)])",
          "[1,\"[hash:ca978112]\",[[\"[hash:3e23e816]\",2]]]" },
        { "['a'::BLOB]", "[\"[hash:ca978112]\"]" },
        { "[]", "[]" },
        { "MAP {'a': []}", "{\"[hash:ca978112]\":[]}" },
    };
    world *self = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_redacted(self, CASPARIAN_REDACTION_HASH, cases[i].expression, cases[i].json);
    expect_redacted(self, CASPARIAN_REDACTION_NONE, "MAP {'a': 'b'}", "{\"a\":\"b\"}");
}

/* Keys that are alike once they are cut remain members of their own. */
static void keys_that_redaction_makes_alike_are_numbered(void **state)
{
    world *self = *state;
    mcp_buf json;

    mcp_buf_init(&json, 4096);
    for (int i = 1; i <= 3; i++) {
        mcp_buf_puts(&json, i > 1 ? ",\"" : "{\"");
        for (int k = 0; k < 100; k++)
            mcp_buf_putc(&json, 'k');
        if (i > 1)
            mcp_buf_printf(&json, "... (%d)\":%d", i, i);
        else
            mcp_buf_printf(&json, "...\":%d", i);
    }
    mcp_buf_putc(&json, '}');
    mcp_buf_append(&json, "", 0);
    expect_redacted(self, CASPARIAN_REDACTION_TRUNCATE,
                    "MAP {repeat('k', 100) || 'c': 1, repeat('k', 100) || 'a': 2, "
                    "repeat('k', 100) || 'b': 3}",
                    json.data);
    mcp_buf_clear(&json);
}

/* ---- parameters, limits, errors -------------------------------------------------------------- */

static mcp_status ask_params(world *self, const char *sql, const char *params)
{
    const mcp_json *json = NULL;
    casparian_query_request request = { .sql = sql, .length = strlen(sql) };

    assert_int_equal(mcp_json_read(&json, self->arena, params, strlen(params), NULL), MCP_OK);
    request.params = json;
    return ask_request(self, &request, NULL);
}

static void parameters_are_bound_in_order(void **state)
{
    world *self = *state;

    assert_int_equal(ask_params(self, "SELECT ?, ?, ?, ?, ?", "[\"it's\",2,0.5,true,null]"),
                     MCP_OK);
    assert_string_equal(self->answer.data, "[[\"it's\",2,0.5,true,null]]");
    assert_int_equal(ask_params(self, "SELECT ?", "[\"a\\u0000b\"]"), MCP_OK);
    assert_string_equal(self->answer.data, "[[\"a\\u0000b\"]]");
    assert_int_equal(ask_params(self, "SELECT ?", "[]"), MCP_E_PARAMS);
    assert_string_equal(self->failure.code, "invalid_arguments");
    assert_int_equal(ask_params(self, "SELECT 1", "[1]"), MCP_E_PARAMS);
    assert_int_equal(ask_params(self, "SELECT ?", "[[1]]"), MCP_E_PARAMS);
    assert_non_null(strstr(self->failure.message, "/params/0"));
}

static void the_limit_is_exact(void **state)
{
    world *self = *state;
    casparian_query_request request = { .sql = "SELECT * FROM range(5)", .limit = 5 };

    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    assert_int_equal(self->facts.row_count, 5);
    assert_false(self->facts.is_truncated);
    request.limit = 4;
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    assert_int_equal(self->facts.row_count, 4);
    assert_true(self->facts.is_truncated);
    assert_string_equal(self->answer.data, "[[0],[1],[2],[3]]");
    request.limit = 10001;
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_PARAMS);
    request.limit = 1;
    request.timeout_ms = 99;
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_PARAMS);
}

static void bytes_end_an_answer_between_rows(void **state)
{
    world *self = *state;
    casparian_query_result *result = NULL;
    casparian_query_written written;
    casparian_query_request request = { .sql = "SELECT 'abcdefgh' FROM range(100)" };
    mcp_json_writer writer;
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];

    request.length = strlen(request.sql);
    assert_int_equal(casparian_query_run(&result, self->query, &self->catalog, &request, NULL,
                                         self->arena, &self->err),
                     MCP_OK);
    mcp_buf_reset(&self->answer);
    mcp_json_writer_init(&writer, &self->answer);
    /* a row has 12 bytes and a comma */
    assert_int_equal(
        casparian_query_write_rows(&written, &writer, result, NULL,
                                   &(casparian_query_room){ .bytes_max = 2 + 12 + 13 + 12 }),
        MCP_OK);
    assert_int_equal(written.rows, 2);
    assert_true(written.is_out_of_room);
    assert_string_equal(self->answer.data, "[[\"abcdefgh\"],[\"abcdefgh\"]]");
    assert_true(casparian_query_result_cursor(cursor, result, written.rows));
    casparian_query_result_free(result);
    request = (casparian_query_request){ .cursor = cursor };
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    assert_int_equal(self->facts.row_count, 98);
}

static void an_error_in_a_later_row_is_seen(void **state)
{
    world *self = *state;

    expect_code(
        self,
        "SELECT CAST(CASE WHEN i = 90000 THEN 'x' ELSE '1' END AS INTEGER) FROM range(99000) "
        "AS r(i)",
        "sql_error");
    assert_non_null(
        strstr(self->failure.message, "Conversion Error: Could not convert string 'x'"));
    assert_null(strstr(self->failure.message, "LINE"));
    assert_non_null(strstr(self->failure.redacted, "Conversion Error: a value of the data"));
    assert_null(strstr(self->failure.redacted, "'x'"));
    expect_code(self, "SELECT now() AT TIME ZONE z FROM (VALUES ('x1'), ('x2')) AS t(z)",
                "sql_error");
    assert_non_null(strstr(self->failure.message, "'x1'"));
    assert_non_null(strstr(self->failure.redacted, "Not implemented Error: a value of the data"));
    assert_null(strstr(self->failure.redacted, "x1"));
    expect_code(self, "SELECT nothing FROM range(3) AS r(i)", "sql_error");
    assert_string_equal(self->failure.redacted, self->failure.message);
}

static void a_missing_table_lists_the_others(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "trades", 1, 1, ids, names, sources)->is_quarantine = true;
    expect_code(self, "SELECT * FROM event", "sql_error");
    assert_string_equal(self->failure.message, "Table with name \"event\" does not exist");
    assert_int_equal(self->failure.available_count, 2);
    assert_string_equal(self->failure.available[0], "events");
    assert_string_equal(self->failure.available[1], "quarantine.trades");
}

static void a_broken_file_is_named_without_its_folder(void **state)
{
    world *self = *state;

    scratch_write(&self->folder, "broken.parquet", "this is no Parquet file", 23);
    add_file(self, "events", "parquet", "broken.parquet", 1);
    expect_code(self, "SELECT * FROM events", "store_error");
    assert_non_null(strstr(self->failure.message, "broken.parquet"));
    assert_null(strstr(self->failure.message, "/"));
}

static void a_broken_file_does_not_hide_the_catalog(void **state)
{
    world *self = *state;

    scratch_write(&self->folder, "broken.parquet", "this is no Parquet file", 23);
    add_file(self, "broken", "parquet", "broken.parquet", 1);
    add_rows(self, "events", 1, 1, ids, names, sources);
    expect_rows(self,
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'outputs' "
                "ORDER BY 1",
                "[[\"events\"],[\"events__all\"],[\"events__schema_aaaaaaaa\"]]");
}

static void a_missing_library_is_named(void **state)
{
    world *self = *state;

    setenv("CAUSEWAY_DUCKDB", scratch_path(&self->folder, "none.so"), 1);
    mcp_status st = ask(self, "SELECT 1");
    unsetenv("CAUSEWAY_DUCKDB");
    assert_int_equal(st, MCP_E_UNSUPPORTED);
    assert_string_equal(self->failure.code, "store_error");
    assert_non_null(strstr(self->failure.message, "none.so"));
    assert_non_null(strstr(self->failure.suggestion, "CAUSEWAY_DUCKDB"));
}

/* ---- views ----------------------------------------------------------------------------------- */

static void newest_rows_of_each_source_are_seen(void **state)
{
    static const char *const superseded[] = { "h1" };
    world *self = *state;
    casparian_catalog_file *file = add_rows(self, "events", 1, 3, ids, names, sources);

    file->superseded_hashes = superseded;
    file->superseded_count = 1;
    add_rows(self, "events", 2, 1, ids + 3, names + 3, sources); /* h1 again */
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[3],[4]]");
    expect_rows(self, "SELECT id FROM events__all ORDER BY id", "[[1],[2],[3],[4]]");
    expect_rows(self, "SELECT count(*) FROM events__schema_aaaaaaaa", "[[4]]");
    self->files[0].is_superseded = true;
    self->catalog.version++;
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[4]]");
    self->files[1].is_superseded = true;
    self->catalog.version++;
    expect_rows(self, "SELECT id FROM events", "[]");
    expect_rows(self, "SELECT count(*) FROM events__all", "[[4]]");
}

static void the_newest_schema_is_the_view(void **state)
{
    world *self = *state;
    casparian_catalog_file *older = add_rows(self, "events", 1, 3, ids, names, sources);

    older->rows = 3;
    add_rows(self, "events", 2, 1, ids + 3, names + 3, sources + 3)->schema_hash = HASH_B;
    expect_rows(self, "SELECT id FROM events", "[[4]]");
    assert_int_equal(self->facts.warning_count, 1);
    expect_rows(self, "SELECT count(*) FROM events__all", "[[4]]");
    expect_rows(self, "SELECT count(*) FROM events__schema_aaaaaaaa", "[[3]]");
    expect_rows(self, "SELECT count(*) FROM \"EVENTS__schema_bbbbbbbb\"", "[[1]]");
}

static void quarantined_rows_have_views_of_their_own(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "events", 2, 2, ids + 1, names + 1, sources)->is_quarantine = true;
    expect_rows(self, "SELECT id FROM events", "[[1]]");
    expect_rows(self, "SELECT id FROM quarantine.events ORDER BY 1", "[[2],[3]]");
    expect_rows(self, "SELECT id FROM events_quarantine ORDER BY 1", "[[2],[3]]");
    expect_rows(self, "SELECT q.id + e.id FROM quarantine.events q, outputs.events e ORDER BY 1",
                "[[3],[4]]");
}

static void a_file_that_vanished_is_left_out(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "events", 2, 1, ids + 1, names + 1, sources);
    assert_int_equal(unlink(self->places[0]), 0);
    expect_rows(self, "SELECT id FROM events", "[[2]]");
    assert_int_equal(self->facts.warning_count, 1);
    assert_int_equal(symlink(self->places[1], self->places[0]), 0); /* a link is no file */
    expect_rows(self, "SELECT id FROM events__all", "[[2]]");
}

static int refuse_first(void *data, const char *location)
{
    world *self = data;
    return strcmp(location, self->places[0]) == 0 ? CASPARIAN_CATALOG_DENIED
                                                  : open(location, O_RDONLY | O_CLOEXEC);
}

static void the_caller_says_which_files_are_allowed(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "events", 2, 1, ids + 1, names + 1, sources);
    self->catalog.open = refuse_first;
    self->catalog.data = self;
    expect_rows(self, "SELECT id FROM events", "[[2]]");
    assert_int_equal(self->facts.warning_count, 1);
}

static int refuse_all(void *data, const char *location)
{
    (void)data;
    (void)location;
    return CASPARIAN_CATALOG_DENIED;
}

static int find_none(void *data, const char *location)
{
    (void)data;
    (void)location;
    return CASPARIAN_CATALOG_GONE;
}

static void outputs_that_are_not_allowed_are_not_available(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "trades", 2, 1, ids + 1, names + 1, sources);
    add_rows(self, "visits", 3, 1, ids + 1, names + 1, sources);
    add_rows(self, "visits", 4, 1, ids + 1, names + 1, sources);
    self->catalog.open = refuse_first;
    self->catalog.data = self;
    assert_int_equal(unlink(self->places[3]), 0);
    expect_code(self, "SELECT * FROM trade", "sql_error");
    assert_int_equal(self->failure.available_count, 2);
    assert_string_equal(self->failure.available[0], "trades");
    assert_string_equal(self->failure.available[1], "visits");
    self->catalog.open = refuse_all;
    expect_code(self, "SELECT * FROM trades", "sql_error");
    assert_int_equal(self->failure.available_count, 0);
}

/* Which rule refused is said; a place that is not allowed has no name, and may have no file. */
static void a_table_without_files_says_why(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 1, ids, names, sources);
    add_rows(self, "events", 2, 1, ids + 1, names + 1, sources);
    self->catalog.open = refuse_all;
    expect_code(self, "SELECT id FROM events", "sql_error");
    assert_string_equal(self->failure.message, "Table with name \"events\" does not exist");
    assert_string_equal(self->failure.suggestion,
                        "files of events are left out: they are not within allowed roots "
                        "(--allow-path)");
    self->catalog.open = find_none;
    expect_code(self, "SELECT id FROM events", "sql_error");
    assert_non_null(strstr(self->failure.suggestion, "a file of events is missing"));
    expect_code(self, "SELECT id FROM other", "sql_error");
    assert_null(self->failure.suggestion);
}

static void a_csv_file_has_the_types_of_its_schema(void **state)
{
    static const char schema[] =
        "{\"output_name\":\"sales\",\"columns\":[{\"name\":\"n\",\"type\":\"int64\"},"
        "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"b\",\"type\":\"binary\"},"
        "{\"name\":\"d\",\"type\":{\"kind\":\"decimal\",\"precision\":9,\"scale\":2}},"
        "{\"name\":\"t\",\"type\":\"timestamp_tz\"},{\"name\":\"l\",\"type\":\"duration\"}]}";
    static const char text[] =
        "n,s,b,d,t,l,_cf_source_hash,_cf_job_id,_cf_processed_at,_cf_parser_version\n"
        "1,\"\",AP8=,1.50,2024-01-31T08:00:00Z,-PT0.5S,h1,7,2024-02-01T00:00:00Z,1.0\n"
        ",,,,,,h1,7,2024-02-01T00:00:00Z,1.0\n"
        "3,\"a\n,\"\"b\",,0.05,2024-01-31T08:00:00+02:00,PT90S,h1,7,2024-02-01T00:00:00Z,1.0\n";
    world *self = *state;
    const mcp_json *json = NULL;
    casparian_definition definition;

    assert_int_equal(mcp_json_read(&json, self->arena, schema, strlen(schema), NULL), MCP_OK);
    assert_int_equal(
        casparian_definition_read(&definition, self->arena, json, NULL, NULL, &self->err), MCP_OK);
    scratch_write(&self->folder, "sales.csv", text, strlen(text));
    add_file(self, "sales", "csv", "sales.csv", 7)->definition = &definition;
    expect_rows(self, "SELECT n, s, b, d, t, l FROM sales",
                "[[1,\"\",\"AP8=\",\"1.50\",\"2024-01-31T08:00:00Z\",-500000],"
                "[null,null,null,null,null,null],"
                "[3,\"a\\n,\\\"b\",null,\"0.05\",\"2024-01-31T06:00:00Z\",90000000]]");
}

/* ---- pages and what is kept ------------------------------------------------------------------ */

static void pages_follow_each_other(void **state)
{
    world *self = *state;
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];
    casparian_query_request request = { .sql = "SELECT i FROM range(2500) AS r(i)", .limit = 1000 };
    size_t rows = 0;

    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    rows += self->facts.row_count;
    assert_false(self->facts.is_cached);
    while (self->cursor[0]) {
        char first[32];
        snprintf(first, sizeof first, "[[%zu],", rows);
        assert_true(self->facts.is_truncated);
        snprintf(cursor, sizeof cursor, "%s", self->cursor);
        request.cursor = cursor;
        assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
        assert_true(self->facts.is_cached);
        assert_memory_equal(self->answer.data, first, strlen(first));
        rows += self->facts.row_count;
        assert_true(rows <= 2500);
    }
    assert_false(self->facts.is_truncated);
    assert_int_equal(rows, 2500);
}

static void a_cursor_ends_with_its_catalog(void **state)
{
    world *self = *state;
    casparian_query_request request = { .sql = "SELECT * FROM range(10)", .limit = 1 };
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];

    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    snprintf(cursor, sizeof cursor, "%s", self->cursor);
    request.cursor = cursor;
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    self->catalog.version++;
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_NOT_FOUND);
    assert_string_equal(self->failure.code, "not_found");
    request.cursor = "x";
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_PARAMS);
    request.cursor = "0123456789abcdef0123456789abcdef-1";
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_NOT_FOUND);
    request.cursor = "0123456789abcdef0123456789abcdef-99999999999999999999999";
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_NOT_FOUND);
}

static void the_same_question_is_answered_from_memory(void **state)
{
    world *self = *state;

    add_rows(self, "events", 1, 2, ids, names, sources);
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[1],[2]]");
    expect_rows(self, "  SELECT id FROM events ORDER BY id ; -- again", "[[1],[2]]");
    assert_true(self->facts.is_cached);
    expect_rows(self, "SELECT id FROM events ORDER BY id DESC", "[[2],[1]]");
    assert_false(self->facts.is_cached);
    add_rows(self, "events", 2, 1, ids + 2, names, sources);
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[1],[2],[3]]");
    assert_false(self->facts.is_cached);
    casparian_query_forget(self->query);
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[1],[2],[3]]");
    assert_false(self->facts.is_cached);
    /* another answer at another time */
    assert_int_equal(ask(self, "SELECT random()"), MCP_OK);
    assert_int_equal(ask(self, "SELECT random()"), MCP_OK);
    assert_false(self->facts.is_cached);
    assert_int_equal(ask(self, "SELECT current_timestamp"), MCP_OK);
    assert_int_equal(ask(self, "SELECT current_timestamp"), MCP_OK);
    assert_false(self->facts.is_cached);
}

static void what_is_kept_has_no_name_and_an_end(void **state)
{
    world *self = *state;
    struct stat folder;
    char command[4200];

    assert_int_equal(ask(self, "SELECT * FROM range(5000)"), MCP_OK);
    assert_int_equal(stat(self->cache_dir, &folder), 0);
    assert_int_equal(folder.st_mode & 0777, 0700);
    snprintf(command, sizeof command, "test -z \"$(ls -A '%s')\"", self->cache_dir);
    assert_int_equal(system(command), 0);
}

static void old_results_make_room(void **state)
{
    world *self = calloc(1, sizeof *self);
    casparian_query_request request = { .sql = "SELECT repeat('x', 1000) FROM range(700)",
                                        .limit = 1 };
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];

    (void)state;
    assert_non_null(self);
    world_open(self, (casparian_query_settings){ .cache_mb = 1 });
    request.length = strlen(request.sql);
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    snprintf(cursor, sizeof cursor, "%s", self->cursor);
    request.sql = "SELECT repeat('y', 1000) FROM range(700)";
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    request.cursor = self->cursor;
    assert_int_equal(ask_request(self, &request, NULL), MCP_OK);
    request.cursor = cursor;
    assert_int_equal(ask_request(self, &request, NULL), MCP_E_NOT_FOUND);
    world_close(self);
    free(self);
}

static void results_end_after_their_time(void **state)
{
    world *self = calloc(1, sizeof *self);
    int64_t deadline = mcp_clock_mono_ms() + 60000;

    (void)state;
    assert_non_null(self);
    world_open(self, (casparian_query_settings){ .cache_ttl_ms = 50 });
    expect_rows(self, "SELECT 1", "[[1]]");
    do {
        assert_true(mcp_clock_mono_ms() < deadline);
        usleep(60000);
        expect_rows(self, "SELECT 1", "[[1]]");
    } while (self->facts.is_cached);
    world_close(self);
    free(self);
}

/* ---- the process ----------------------------------------------------------------------------- */

static void a_program_that_is_no_reader_is_an_error(void **state)
{
    static const char *const nothing[] = { "/bin/false", NULL };
    casparian_query_settings settings = { .worker = nothing };
    world *self = *state;
    casparian_query *query = NULL;
    casparian_query_result *result = NULL;
    casparian_query_request request = { .sql = "SELECT 1", .length = 8 };

    assert_int_equal(casparian_query_open(&query, &settings, &self->err), MCP_OK);
    assert_int_equal(casparian_query_run(&result, query, &self->catalog, &request, &self->failure,
                                         self->arena, &self->err),
                     MCP_E_IO);
    assert_string_equal(self->failure.code, "store_error");
    casparian_query_close(query);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_type_has_its_json),
        TEST(long_values_are_cut),
        TEST(values_are_redacted_by_their_columns),
        TEST(nested_values_are_redacted_by_their_types),
        TEST(keys_that_redaction_makes_alike_are_numbered),
        TEST(parameters_are_bound_in_order),
        TEST(the_limit_is_exact),
        TEST(bytes_end_an_answer_between_rows),
        TEST(an_error_in_a_later_row_is_seen),
        TEST(a_missing_table_lists_the_others),
        TEST(a_broken_file_is_named_without_its_folder),
        TEST(a_broken_file_does_not_hide_the_catalog),
        TEST(a_missing_library_is_named),
        TEST(newest_rows_of_each_source_are_seen),
        TEST(the_newest_schema_is_the_view),
        TEST(quarantined_rows_have_views_of_their_own),
        TEST(a_file_that_vanished_is_left_out),
        TEST(the_caller_says_which_files_are_allowed),
        TEST(outputs_that_are_not_allowed_are_not_available),
        TEST(a_table_without_files_says_why),
        TEST(a_csv_file_has_the_types_of_its_schema),
        TEST(pages_follow_each_other),
        TEST(a_cursor_ends_with_its_catalog),
        TEST(the_same_question_is_answered_from_memory),
        TEST(what_is_kept_has_no_name_and_an_end),
        TEST(a_program_that_is_no_reader_is_an_error),
        cmocka_unit_test(old_results_make_room),
        cmocka_unit_test(results_end_after_their_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
