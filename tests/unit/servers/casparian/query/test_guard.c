/*
 * test_guard.c - statements and what the guard says of them. The verdicts are those of casparian's
 * tools, 5.1, and the attacks those of its security, 6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/guard.h"
#include "query/query.h"

#define EMPTY "Query is empty"
#define START "Query must start with SELECT, WITH, or EXPLAIN"
#define MANY "Multiple statements are not allowed"
#define OPEN "Query has a quote or a comment without an end"
#define WORD(word) "Query contains forbidden keyword: " word

/* A statement, and its refusal; NULL: it passes. */
static const struct {
    const char *sql, *refusal;
} verdicts[] = {
    /* what a query may be */
    { "SELECT 1", NULL },
    { "select 1", NULL },
    { "SeLeCt 1;", NULL },
    { "SELECT 1 ; ", NULL },
    { "\n\t SELECT 1", NULL },
    { "SELECT 1 -- comment", NULL },
    { "SELECT 1; -- comment", NULL },
    { "SELECT 1; /* comment */", NULL },
    { "-- first\nSELECT 1", NULL },
    { "/* a /* nested */ comment */ SELECT 1", NULL },
    { "SELECT/**/1", NULL },
    { "WITH x AS (SELECT 1) SELECT * FROM x", NULL },
    { "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r", NULL },
    { "EXPLAIN SELECT 1", NULL },
    { "explain with x as (select 1) select * from x", NULL },
    { "EXPLAIN/* */SELECT 1", NULL },
    { "SELECT 'DROP TABLE x'", NULL },
    { "SELECT 'it''s; DROP'", NULL },
    { "SELECT E'a\\'; DROP TABLE x; --'", NULL },
    { "SELECT e'\\\\'", NULL },
    { "SELECT $$DROP$$", NULL },
    { "SELECT $tag$ a; DELETE $$ $tag$", NULL },
    { "SELECT \"drop\" FROM t", NULL },
    { "SELECT \"a;b\" FROM t", NULL },
    { "SELECT \"a\"\"; DROP\" FROM t", NULL },
    { "SELECT t.update FROM t", NULL },
    { "SELECT t . update FROM t", NULL },
    { "SELECT x -- ; DROP TABLE x\nFROM t", NULL },
    { "SELECT /* ; DROP TABLE x */ 1", NULL },
    { "SELECT replace(a, 'x', 'y') FROM t", NULL },
    { "SELECT * REPLACE (a + 1 AS a) FROM t", NULL },
    { "SELECT updated_at, created, dropped, settings FROM t", NULL },
    { "SELECT offset_value AS set FROM t", NULL },
    { "SELECT _drop, drop_, drop1 FROM t", NULL },
    { "SELECT ? + $1", NULL },
    { "SELECT a FROM t WHERE b = $1 AND c = $2", NULL },
    { "SELECT \xC3\xA4 FROM t", NULL },
    { "SELECT 1\xEF\xBC\x9B", NULL },  /* U+FF1B, which only looks like a semicolon */
    { "SELECT 1 AS a\xCD\xBE", NULL }, /* U+037E, the same */
    { "SELECT 1 \xE2\x80\x8B", NULL }, /* a space of Unicode */
    { "SELECT (SELECT 1)", NULL },
    { "SELECT 1.5e10, .5, 0x1F", NULL },
    { "SELECT a::INT, a[1:2], a->>'x' FROM t", NULL },
    { "SELECT * FROM read_csv('/etc/passwd')", NULL }, /* the next layer refuses these */
    { "SELECT * FROM '/etc/passwd'", NULL },
    { "SELECT * FROM glob('/**')", NULL },
    { "SELECT * FROM read_text('/etc/passwd')", NULL },
    { "SELECT getenv('HOME')", NULL },
    { "SELECT current_setting('temp_directory')", NULL },
    { "SELECT * FROM duckdb_settings()", NULL },
    { "SELECT * FROM duckdb_secrets()", NULL },
    { "SELECT * FROM query('SELECT 1')", NULL },
    { "SELECT * FROM parquet_metadata('x.parquet')", NULL },
    { "SELECT * FROM '/proc/self/fd/3'", NULL },
    { "SELECT * FROM (SHOW TABLES)", NULL },
    { "SELECT * FROM (DESCRIBE t)", NULL },
    { "SELECT 1 UNION SELECT 2", NULL },
    { "SELECT * FROM range(1000000000000)", NULL },

    /* nothing */
    { "", EMPTY },
    { "   \n\t", EMPTY },
    { ";", EMPTY },
    { "-- only a comment", EMPTY },
    { "/* only a comment */", EMPTY },
    { " /**/ ; ", EMPTY },

    /* another start */
    { "INSERT INTO t VALUES (1)", START },
    { "UPDATE t SET a = 1", START },
    { "DELETE FROM t", START },
    { "DROP TABLE t", START },
    { "CREATE TABLE t (a INT)", START },
    { "CREATE MACRO m() AS 1", START },
    { "COPY (SELECT 1) TO 'x'", START },
    { "COPY (SELECT 1) TO '/data/x.parquet' (FORMAT PARQUET, USE_TMP_FILE false)", START },
    { "ATTACH 'x.db'", START },
    { "INSTALL httpfs", START },
    { "SET enable_external_access=true", START },
    { "RESET memory_limit", START },
    { "PRAGMA version", START },
    { "CALL pragma_version()", START },
    { "FROM t", START },
    { "FROM t SELECT a", START },
    { "SHOW TABLES", START },
    { "VALUES (1)", START },
    { "DESCRIBE t", START },
    { "SUMMARIZE t", START },
    { "PIVOT t ON a USING sum(b)", START },
    { "TABLE t", START },
    { "(SELECT 1)", START },
    { "'SELECT 1'", START },
    { "\"SELECT\" 1", START },
    { "SELECTED", START },
    { "SELECT\xC3\xA4 1", START },
    { "1", START },
    { "EXPLAIN", START },
    { "EXPLAIN INSERT INTO t VALUES (1)", START },
    { "EXPLAIN COPY (SELECT 1) TO 'x'", START },
    { "EXPLAIN FROM t", START },
    { "EXPLAIN EXPLAIN SELECT 1", START },
    { "EXPLAIN (FORMAT json) SELECT 1", START },
    { "EXPLAIN (ANALYZE) SELECT 1", START },
    { "EXPLAIN SET threads = 1", START },
    { "BEGIN", START },
    { "USE memory", START },

    /* words */
    { "EXPLAIN ANALYZE SELECT 1", WORD("ANALYZE") },
    { "explain analyze insert into t values (1)", WORD("ANALYZE") },
    { "EXPLAIN /* */ ANALYZE COPY (SELECT 1) TO 'x'", WORD("ANALYZE") },
    { "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", WORD("INSERT") },
    { "WITH x AS (SELECT 1) UPDATE t SET a = 1", WORD("UPDATE") },
    { "WITH x AS (SELECT 1) DELETE FROM t", WORD("DELETE") },
    { "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", WORD("DELETE") },
    { "SELECT 1; DROP TABLE t", WORD("DROP") },
    { "SELECT 1;DROP TABLE t;", WORD("DROP") },
    { "SELECT 1; dRoP TABLE t", WORD("DROP") },
    { "SELECT 1/**/;/**/DROP/**/TABLE t", WORD("DROP") },
    { "SELECT 1 --\n; DROP TABLE t", WORD("DROP") },
    { "SELECT '\\'; DROP TABLE t; --'", WORD("DROP") }, /* no escape in a plain string */
    { "SELECT 'a' 'b'; DROP TABLE t", WORD("DROP") },
    { "SELECT /* /* */ DROP */ 1", NULL },
    { "SELECT /* */ DROP /* */", WORD("DROP") },
    { "SELECT 1.; DROP TABLE t", WORD("DROP") },
    { "SELECT 1 FROM t.; .drop", WORD("DROP") },
    { "SELECT drop FROM t", WORD("DROP") },
    { "SELECT 1\xC2\xA0; DROP\xC2\xA0TABLE t", WORD("DROP") }, /* spaces of Unicode */
    { "SELECT 1 FROM t; CREATE TABLE x (a INT)", WORD("CREATE") },
    { "SELECT 1; ALTER TABLE t ADD b INT", WORD("ALTER") },
    { "SELECT 1; TRUNCATE t", WORD("TRUNCATE") },
    { "SELECT 1; COPY t TO 'x'", WORD("COPY") },
    { "SELECT 1; ATTACH 'x'", WORD("ATTACH") },
    { "SELECT 1; DETACH x", WORD("DETACH") },
    { "SELECT 1; INSTALL httpfs", WORD("INSTALL") },
    { "SELECT 1; LOAD httpfs", WORD("LOAD") },
    { "SELECT 1; EXPORT DATABASE 'x'", WORD("EXPORT") },
    { "SELECT 1; IMPORT DATABASE 'x'", WORD("IMPORT") },
    { "SELECT 1; CALL f()", WORD("CALL") },
    { "SELECT 1; PRAGMA version", WORD("PRAGMA") },
    { "SELECT 1; RESET threads", WORD("RESET") },
    { "SELECT 1; USE x", WORD("USE") },
    { "SELECT 1; VACUUM", WORD("VACUUM") },
    { "SELECT 1; CHECKPOINT", WORD("CHECKPOINT") },
    { "SELECT 1; BEGIN", WORD("BEGIN") },
    { "SELECT 1; COMMIT", WORD("COMMIT") },
    { "SELECT 1; ROLLBACK", WORD("ROLLBACK") },
    { "SELECT 1; ABORT", WORD("ABORT") },
    { "SELECT 1; PREPARE p AS SELECT 1", WORD("PREPARE") },
    { "SELECT 1; EXECUTE p", WORD("EXECUTE") },
    { "SELECT 1; DEALLOCATE p", WORD("DEALLOCATE") },
    { "WITH x AS (SELECT 1) MERGE INTO t USING x ON true", WORD("MERGE") },
    { "SELECT replace_scan FROM t", WORD("REPLACE_SCAN") },
    { "SELECT 1; GRANT x TO y", WORD("GRANT") },

    /* several */
    { "SELECT 1; SELECT 2", MANY },
    { "SELECT 1;;", MANY },
    { "SELECT 1; SET threads = 1", MANY },
    { "SELECT 1; -- end\n SELECT 2", MANY },
    { "SELECT 1; 'x'", MANY },
    { "SELECT ';'; SELECT 2", MANY },

    /* no end */
    { "SELECT 'x", OPEN },
    { "SELECT \"x", OPEN },
    { "SELECT $$x", OPEN },
    { "SELECT $a$x$b$", OPEN },
    { "SELECT 1 /* x", OPEN },
    { "SELECT 1 /* /* */", OPEN },
    { "SELECT E'\\", OPEN },
    { "EXPLAIN /*", OPEN },
};

static void each_statement_has_its_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        casparian_guarded out;
        mcp_error err = MCP_ERROR_INIT;
        const char *sql = verdicts[i].sql;
        mcp_status st = casparian_guard(&out, sql, strlen(sql), &err);
        const char *refusal = st == MCP_OK ? NULL : err.message;
        const char *expected = verdicts[i].refusal;
        if (st != MCP_OK && st != MCP_E_DENIED)
            fail_msg("%s: %s", sql, mcp_status_name(st));
        if (!expected != !refusal || (expected && strcmp(expected, refusal) != 0))
            fail_msg("%s: %s instead of %s", sql, refusal ? refusal : "passed",
                     expected ? expected : "passed");
    }
}

static void the_statement_inside_is_found(void **state)
{
    static const struct {
        const char *sql, *inside;
        bool is_explain;
    } cases[] = {
        { " SELECT 1 ; -- x", "SELECT 1", false },
        { "/* x */ SELECT 1 -- x\n", "SELECT 1", false },
        { "EXPLAIN\nWITH x AS (SELECT ';') SELECT * FROM x;",
          "WITH x AS (SELECT ';') SELECT * FROM x", true },
        { "SELECT 'a' /* b */ || 'c' /* d */", "SELECT 'a' /* b */ || 'c'", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        casparian_guarded out;
        assert_int_equal(casparian_guard(&out, cases[i].sql, strlen(cases[i].sql), NULL), MCP_OK);
        assert_int_equal(out.until - out.from, strlen(cases[i].inside));
        assert_memory_equal(cases[i].sql + out.from, cases[i].inside, strlen(cases[i].inside));
        assert_int_equal(out.is_explain, cases[i].is_explain);
    }
}

static void bytes_that_are_no_sql_are_refused(void **state)
{
    casparian_guarded out;
    mcp_error err = MCP_ERROR_INIT;
    size_t length = CASPARIAN_QUERY_SQL_MAX;
    char *sql = malloc(length + 1);

    (void)state;
    assert_non_null(sql);
    assert_int_equal(casparian_guard(&out, "SELECT '\0'", 10, &err), MCP_E_DENIED);
    assert_string_equal(err.message, "Query contains a NUL byte");
    memset(sql, ' ', length + 1);
    memcpy(sql, "SELECT 1", 8);
    assert_int_equal(casparian_guard(&out, sql, length, &err), MCP_OK);
    assert_int_equal(casparian_guard(&out, sql, length + 1, &err), MCP_E_DENIED);
    assert_string_equal(err.message, "Query is longer than 65536 bytes");
    free(sql);
}

static void note(void *data, const casparian_guard_name *name)
{
    char *seen = data;

    assert_true(strlen(seen) + name->length + 4 < 256);
    strncat(seen, name->is_quoted ? "<" : " ", 2);
    strncat(seen, name->text, name->length);
}

static void words_and_quoted_names_are_visited(void **state)
{
    const char *sql = "SELECT a.\"b\"\"c\" FROM x, 'y' /* z */ WHERE d = 1e5 -- e";
    char seen[256] = "";

    (void)state;
    casparian_guard_names(sql, strlen(sql), note, seen);
    assert_string_equal(seen, " SELECT a<b\"\"c FROM x<y WHERE d e5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_statement_has_its_verdict),
        cmocka_unit_test(the_statement_inside_is_found),
        cmocka_unit_test(bytes_that_are_no_sql_are_refused),
        cmocka_unit_test(words_and_quoted_names_are_visited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
