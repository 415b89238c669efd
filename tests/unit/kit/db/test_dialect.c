/*
 * test_dialect.c - what is rewritten between the engines, and what is left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "db/dialect.h"

struct row {
    const char *from, *to;
};

typedef mcp_status rewrite(mcp_buf *out, const char *sql);

static void check(rewrite *function, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mcp_buf out;
        mcp_buf_init(&out, 4096);
        assert_int_equal(function(&out, rows[i].from), MCP_OK);
        assert_string_equal(out.data ? out.data : "", rows[i].to);
        mcp_buf_clear(&out);
    }
}

/* PostgreSQL's manual, SELECT, "The Locking Clause". */
static void row_locks_go(void **state)
{
    static const struct row rows[] = {
        { "SELECT 1 FOR UPDATE", "SELECT 1 " },
        { "select 1 for\n update", "select 1 " },
        { "SELECT 1 FOR NO KEY UPDATE", "SELECT 1 " },
        { "SELECT 1 FOR SHARE NOWAIT", "SELECT 1 " },
        { "SELECT 1 FOR KEY SHARE OF t, s.u SKIP LOCKED", "SELECT 1 " },
        { "(SELECT 1 LIMIT 3 FOR UPDATE SKIP LOCKED) x", "(SELECT 1 LIMIT 3 ) x" },
        { "SELECT 1 FOR /* all */ UPDATE OF t -- why\n LIMIT 1", "SELECT 1  -- why\n LIMIT 1" },
    };

    (void)state;
    check(db_dialect_of_sqlite, rows, sizeof rows / sizeof rows[0]);
}

/* SQLite's manual, "SQL Language Expressions", 3. */
static void parameters_have_numbers(void **state)
{
    static const struct row rows[] = {
        { "SELECT $2, $10 FROM t WHERE a=$1", "SELECT ?2, ?10 FROM t WHERE a=?1" },
        { "SELECT '$1', \"$2\" /* $3 */, $4", "SELECT '$1', \"$2\" /* $3 */, ?4" },
        { "VALUES ($1,$2)", "VALUES (?1,?2)" },
        { "SELECT ?, '?'", "SELECT ?0, '?'" },
    };

    (void)state;
    check(db_dialect_of_sqlite, rows, sizeof rows / sizeof rows[0]);
}

static void all_else_stays(void **state)
{
    static const char *const same[] = {
        "",
        "SELECT 'a FOR UPDATE', \"b FOR UPDATE\"",
        "SELECT 'it''s' -- FOR UPDATE",
        "/* FOR UPDATE */ SELECT 1",
        "SELECT $tag$ FOR UPDATE $tag$, $$ FOR UPDATE $$",
        "SELECT $0, $a, a$1, $1b",
        "SELECT platform_for, for_update FROM t",
        "SELECT substring(a FOR 3)",
        "SELECT 'never closed FOR UPDATE",
        "/* never closed FOR UPDATE",
        "SELECT $$ never closed FOR UPDATE",
        "CREATE TRIGGER x AFTER UPDATE ON t FOR EACH ROW",
        "SELECT '\xc3\xbc' FROM \xc3\xbc",
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct row row = { same[i], same[i] };
        check(db_dialect_of_sqlite, &row, 1);
    }
}

static void blob_becomes_bytea(void **state)
{
    static const struct row rows[] = {
        { "CREATE TABLE t (a BLOB NOT NULL, b blob)",
          "CREATE TABLE t (a BYTEA NOT NULL, b BYTEA)" },
        { "'BLOB' \"BLOB\" -- BLOB\n blob_id BLOBS", "'BLOB' \"BLOB\" -- BLOB\n blob_id BLOBS" },
    };

    (void)state;
    check(db_dialect_of_postgres, rows, sizeof rows / sizeof rows[0]);
}

static void the_bound_is_reported(void **state)
{
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 8);
    assert_int_equal(db_dialect_of_sqlite(&out, "SELECT 1, 2, 3"), MCP_E_LIMIT);
    mcp_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_locks_go),          cmocka_unit_test(parameters_have_numbers),
        cmocka_unit_test(all_else_stays),        cmocka_unit_test(blob_becomes_bytea),
        cmocka_unit_test(the_bound_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
