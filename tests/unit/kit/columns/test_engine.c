/*
 * test_engine.c - a missing library is a clear error, and an instance can touch nothing but what it
 * is given.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/engine.h"
#include "scratch.h"

/* First of all tests: once the library is loaded it stays. */
static void a_missing_library_is_named(void **state)
{
    struct engine engine = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "text.so", "no library", 10);
    setenv("CAUSEWAY_DUCKDB", scratch_path(&folder, "none.so"), 1);
    assert_int_equal(engine_open(&engine, &err), MCP_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "none.so"));
    setenv("CAUSEWAY_DUCKDB", scratch_path(&folder, "text.so"), 1);
    assert_int_equal(engine_open(&engine, &err), MCP_E_UNSUPPORTED);
    setenv("CAUSEWAY_DUCKDB", "libm.so.6", 1);
    assert_int_equal(engine_open(&engine, &err), MCP_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "libm.so.6 has no duckdb_"));
    unsetenv("CAUSEWAY_DUCKDB");
    engine_close(&engine);
    scratch_close(&folder);
}

static void an_instance_opens_again(void **state)
{
    struct engine engine = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(engine_open(&engine, &err), MCP_OK);
        assert_int_equal(engine_open(&engine, &err), MCP_OK);
        engine_close(&engine);
    }
}

static void everything_else_is_shut_off(void **state)
{
    static const char *const refused[] = {
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/proc/self/fd/../environ')",
        "SELECT * FROM read_text('/proc/self/environ')",
        "COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 4",
        "RESET memory_limit",
    };
    struct engine engine = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    duckdb_result result;

    (void)state;
    assert_int_equal(engine_open(&engine, &err), MCP_OK);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (engine_query(&engine, &result, refused[i], MCP_E_DENIED, &err) != MCP_E_DENIED)
            fail_msg("%s was not refused", refused[i]);
    engine_close(&engine);
}

static void words_do_not_name_our_descriptor(void **state)
{
    struct engine engine = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    duckdb_result result;
    char sql[100];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "x", "no parquet at all, but long enough", 34);
    int fd = open(scratch_path(&folder, "x"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(engine_open(&engine, &err), MCP_OK);
    snprintf(sql, sizeof sql, "FROM read_parquet('/proc/self/fd/%d')", fd);
    assert_int_equal(engine_query(&engine, &result, sql, MCP_E_PARSE, &err), MCP_E_PARSE);
    assert_null(strstr(err.message, "/proc"));
    assert_null(strchr(err.message, '\n'));
    assert_non_null(strstr(err.message, "No magic bytes"));
    engine_close(&engine);
    close(fd);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(an_instance_opens_again),
        cmocka_unit_test(everything_else_is_shut_off),
        cmocka_unit_test(words_do_not_name_our_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
