/*
 * test_columns.c - the object, and looking into a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "columns/columns_int.h"

static void opening_costs_no_library(void **state)
{
    columns *self = NULL;

    (void)state;
    assert_int_equal(columns_open(&self, NULL), MCP_OK);
    assert_null(self->engine.api);
    columns_close(self);
    columns_close(NULL);
}

static void columns_are_found_by_name(void **state)
{
    static const uint8_t valid[] = { 1, 0 };
    static const columns_column both[] = {
        { .name = "a", .type = COLUMNS_I32 },
        { .name = "b", .type = COLUMNS_F64, .valid = valid },
    };
    static const columns_table table = { .rows = 2, .column_count = 2, .columns = both };

    (void)state;
    assert_ptr_equal(columns_find(&table, "b"), &both[1]);
    assert_null(columns_find(&table, "B"));
    assert_true(columns_is_valid(&both[0], 1));
    assert_true(columns_is_valid(&both[1], 0));
    assert_false(columns_is_valid(&both[1], 1));
}

static void each_type_has_its_name_and_its_twin(void **state)
{
    (void)state;
    for (columns_type type = COLUMNS_BOOL; type < COLUMNS_OTHER; type++) {
        assert_non_null(columns_type_name(type));
        assert_int_equal(columns_type_from(columns_type_row(type)->duckdb), type);
    }
    assert_int_equal(columns_type_from(DUCKDB_TYPE_DECIMAL), COLUMNS_OTHER);
    assert_int_equal(columns_type_from(DUCKDB_TYPE_LIST), COLUMNS_OTHER);
    assert_string_equal(columns_type_name(COLUMNS_U32), "UInt32");
    assert_string_equal(columns_type_name(COLUMNS_OTHER), "unsupported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_costs_no_library),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(each_type_has_its_name_and_its_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
