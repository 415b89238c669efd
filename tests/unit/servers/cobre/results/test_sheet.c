/*
 * test_sheet.c - rows in, a file out, and the sheet is reusable.
 */
#include "sample.h"

#include "results/sheet.h"

static void put_bound(sheet *to, int32_t id, double value)
{
    sheet_row(to);
    sheet_i8(to, 1);
    sheet_i32(to, id);
    sheet_i32(to, 0);
    sheet_null(to);
    sheet_i8(to, 7);
    sheet_f64(to, value);
}

static void a_sheet_is_used_again(void **state)
{
    struct world *world = *state;
    sheet *to = sheet_new(world->arena, RESULTS_BOUNDS, 2);

    assert_non_null(to);
    put_bound(to, 3, 1.5);
    put_bound(to, 4, 2.5);
    assert_int_equal(sheet_write(to, world->folder.fd, "a.parquet", &world->err), MCP_OK);
    sheet_clear(to);
    put_bound(to, 5, 3.5);
    assert_int_equal(sheet_write(to, world->folder.fd, "b.parquet", &world->err), MCP_OK);
    const columns_table *a = read_table(world, "a.parquet"), *b = read_table(world, "b.parquet");
    assert_int_equal(a->rows, 2);
    assert_int_equal(b->rows, 1);
    expect_number(a, "bound_value", 1, 2.5);
    expect_number(a, "block_id", 1, NAN);
    expect_number(b, "entity_id", 0, 5);
    assert_int_equal(columns_find(b, "bound_type_code")->type, COLUMNS_I8);
}

static void zeros_take_the_type_of_their_column(void **state)
{
    struct world *world = *state;
    sheet *to = sheet_new(world->arena, RESULTS_ITERATION_TIMING, 1);

    sheet_row(to);
    sheet_i32(to, 1);
    sheet_null(to);
    sheet_null(to);
    sheet_zeros(to, 15);
    assert_int_equal(sheet_write(to, world->folder.fd, "t.parquet", &world->err), MCP_OK);
    const columns_table *table = read_table(world, "t.parquet");
    assert_int_equal(columns_find(table, "overhead_ms")->type, COLUMNS_I64);
    expect_number(table, "overhead_ms", 0, 0);
}

static void no_memory_is_no_sheet(void **state)
{
    mcp_arena *small = mcp_arena_new(3000);

    (void)state;
    assert_null(sheet_new(small, RESULTS_HYDROS, 1000));
    mcp_arena_free(small);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_sheet_is_used_again),
        EACH(zeros_take_the_type_of_their_column),
        EACH(no_memory_is_no_sheet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
