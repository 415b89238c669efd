/*
 * test_schema.c - the tables have the columns that the output page counts.
 */
#include "sample.h"

#include "results/schema.h"

/* The number in each heading of the output page, sections 3 to 5. */
static void each_table_has_as_many_columns_as_the_format(void **state)
{
    static const struct {
        results_table table;
        const char *file;
        size_t columns, nullable;
    } expected[] = {
        { RESULTS_COSTS, "costs", 26, 1 },
        { RESULTS_HYDROS, "hydros", 31, 5 },
        { RESULTS_THERMALS, "thermals", 10, 3 },
        { RESULTS_EXCHANGES, "exchanges", 11, 1 },
        { RESULTS_BUSES, "buses", 10, 1 },
        { RESULTS_PUMPING_STATIONS, "pumping_stations", 9, 1 },
        { RESULTS_CONTRACTS, "contracts", 8, 1 },
        { RESULTS_NON_CONTROLLABLES, "non_controllables", 10, 1 },
        { RESULTS_INFLOW_LAGS, "inflow_lags", 4, 0 },
        { RESULTS_GENERIC_VIOLATIONS, "generic_violations", 5, 1 },
        { RESULTS_CONVERGENCE, "convergence", 13, 1 },
        { RESULTS_ITERATION_TIMING, "iteration_timing", 18, 2 },
        { RESULTS_RANK_TIMING, "rank_timing", 8, 0 },
        { RESULTS_CUT_SELECTION, "cut_selection", 9, 2 },
        { RESULTS_SOLVER_ITERATIONS, "solver_iterations", 19, 3 },
        { RESULTS_RETRY_HISTOGRAM, "retry_histogram", 5, 0 },
        { RESULTS_BOUNDS, "bounds", 6, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const results_schema *schema = results_schema_of(expected[i].table);
        size_t nullable = 0;
        assert_string_equal(schema->file, expected[i].file);
        assert_int_equal(schema->count, expected[i].columns);
        for (size_t j = 0; j < schema->count; j++) {
            nullable += schema->fields[j].is_nullable;
            assert_true(schema->fields[j].description[0] != '\0');
            for (size_t k = 0; k < j; k++)
                assert_string_not_equal(schema->fields[j].name, schema->fields[k].name);
        }
        assert_int_equal(nullable, expected[i].nullable);
    }
}

static void types_are_spelled_as_the_format_does(void **state)
{
    (void)state;
    assert_string_equal(results_type_name(COLUMNS_I8), "i8");
    assert_string_equal(results_type_name(COLUMNS_U64), "u64");
    assert_string_equal(results_type_name(COLUMNS_TEXT), "str");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_table_has_as_many_columns_as_the_format),
        cmocka_unit_test(types_are_spelled_as_the_format_does),
    };
    (void)set_up;
    (void)tear_down;
    (void)sample_training;
    (void)sample_options;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
