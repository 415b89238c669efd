/*
 * test_query.c - statements over many files, and what they are refused.
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

#include "columns/columns.h"
#include "scratch.h"

#define FILES 4

static scratch folder;
static columns *engine;
static mcp_arena *arena;
static mcp_error err;
static int fds[FILES];

/* File i has the rows (0, 10 i) and (1, 10 i + 1). */
static void write_one(int index)
{
    const int32_t stages[] = { 0, 1 };
    const double values[] = { 10.0 * index, 10.0 * index + 1 };
    const columns_column list[] = { { "stage", COLUMNS_I32, stages, NULL },
                                    { "value", COLUMNS_F64, values, NULL } };
    const columns_table table = { 2, 2, list };
    char name[32];

    snprintf(name, sizeof name, "%d.parquet", index);
    assert_int_equal(columns_write(folder.fd, name, &table, &err), MCP_OK);
    fds[index] = openat(folder.fd, name, O_RDONLY | O_CLOEXEC);
    assert_true(fds[index] >= 0);
}

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    for (int i = 0; i < FILES; i++)
        write_one(i);
    arena = mcp_arena_new(0);
    return columns_open(&engine, &err) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++)
        close(fds[i]);
    columns_close(engine);
    mcp_arena_free(arena);
    scratch_close(&folder);
    return 0;
}

static mcp_status ask(const columns_table **out, size_t count, const char *sql, size_t rows_max)
{
    const columns_read_options options = { .rows_max = rows_max };

    return columns_query(out, engine, fds, count, sql, &options, arena, &err);
}

static double number(const columns_table *table, size_t column, size_t row)
{
    assert_int_equal(table->columns[column].type, COLUMNS_F64);
    return ((const double *)table->columns[column].values)[row];
}

static void rows_of_all_files_are_one_table(void **state)
{
    const columns_table *table = NULL;

    (void)state;
    assert_int_equal(ask(&table, FILES,
                         "SELECT stage::DOUBLE, avg(value), quantile_cont(value, 0.5) FROM files "
                         "GROUP BY stage ORDER BY stage",
                         0),
                     MCP_OK);
    assert_int_equal(table->rows, 2);
    for (size_t row = 0; row < 2; row++) {
        assert_true(number(table, 0, row) == (double)row);
        assert_true(number(table, 1, row) == 15.0 + (double)row); /* of 0, 10, 20, 30 */
        assert_true(number(table, 2, row) == 15.0 + (double)row);
    }
}

static void rows_know_their_file(void **state)
{
    static const char sql[] =
        "SELECT \"(file)\"::DOUBLE, max(value) FROM files GROUP BY 1 ORDER BY 1";
    const columns_table *table = NULL;

    (void)state;
    assert_int_equal(ask(&table, FILES, sql, 0), MCP_OK);
    assert_int_equal(table->rows, FILES);
    for (size_t row = 0; row < FILES; row++) {
        assert_true(number(table, 0, row) == (double)row);
        assert_true(number(table, 1, row) == 10.0 * (double)row + 1);
    }
    assert_int_equal(ask(&table, 1, sql, 0), MCP_OK);
    assert_int_equal(table->rows, 1);
    assert_true(number(table, 0, 0) == 0);
}

static void the_result_is_bounded(void **state)
{
    const columns_table *table = NULL;

    (void)state;
    assert_int_equal(ask(&table, FILES, "SELECT value FROM files", 8), MCP_OK);
    assert_int_equal(ask(&table, FILES, "SELECT value FROM files", 7), MCP_E_LIMIT);
}

static void wrong_files_and_statements_are_refused(void **state)
{
    const columns_table *table = NULL;
    int broken[2] = { fds[0], openat(folder.fd, "broken", O_RDWR | O_CREAT | O_CLOEXEC, 0600) };

    (void)state;
    assert_int_equal(write(broken[1], "x", 1), 1);
    assert_int_equal(ask(&table, 0, "SELECT value FROM files", 0), MCP_E_PARAMS);
    assert_int_equal(ask(&table, FILES, "SELECT depth FROM files", 0), MCP_E_PARSE);
    assert_int_equal(
        columns_query(&table, engine, broken, 2, "SELECT value FROM files", NULL, arena, &err),
        MCP_E_PARSE);
    assert_int_equal(
        columns_query(&table, engine, &folder.fd, 1, "SELECT value FROM files", NULL, arena, &err),
        MCP_E_PARAMS);
    close(broken[1]);
    /* The engine still works. */
    assert_int_equal(ask(&table, FILES, "SELECT value FROM files", 0), MCP_OK);
}

static void a_statement_reads_no_other_file(void **state)
{
    const columns_table *table = NULL;

    (void)state;
    assert_int_equal(ask(&table, FILES, "SELECT * FROM read_text('/etc/passwd')", 0), MCP_E_PARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_files_are_one_table),
        cmocka_unit_test(rows_know_their_file),
        cmocka_unit_test(the_result_is_bounded),
        cmocka_unit_test(wrong_files_and_statements_are_refused),
        cmocka_unit_test(a_statement_reads_no_other_file),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
