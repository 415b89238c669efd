/*
 * test_stochastic.c - the exported stochastic model.
 */
#include "../sample.h"

#include "results/study/study_files.h"
#include "stochastic/history/estimate.h"

static double first[] = { 1, 2, 3, 4, 5, 6 }, second[] = { 7, 8, 9 };
static double *const noise[] = { first, second };
static const uint32_t openings[] = { 2, 1 };
static const noise_tree tree = { 3, 2, openings, noise };
static const bool certain[] = { false, false }, uncertain[] = { false, true };
static const cobre_bus_stage bus_stages[] = { { .load_mean = 1 },
                                              { .load_mean = 2, .load_std = 0.5 },
                                              { .load_mean = 3 },
                                              { .load_mean = 4, .load_std = 0.25 } };

static void export(struct world *world, const cobre_case *input, const inflow_model *inflow)
{
    const study_files files = { .input = input, .inflow = inflow, .tree = &tree };

    if (study_write_stochastic(&files, world->folder.fd, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
}

static cobre_case stochastic_case(void)
{
    cobre_case input = sample_case;

    input.bus_stages = bus_stages;
    input.bus_is_stochastic = uncertain;
    return input;
}

static void openings_are_listed_by_stage(void **state)
{
    static const double expected[][4] = {
        { 0, 0, 0, 1 }, { 0, 0, 1, 2 }, { 0, 0, 2, 3 }, { 0, 1, 0, 4 }, { 0, 1, 1, 5 },
        { 0, 1, 2, 6 }, { 1, 0, 0, 7 }, { 1, 0, 1, 8 }, { 1, 0, 2, 9 },
    };
    static const char *const names[] = { "stage_id", "opening_index", "entity_index", "value" };
    struct world *world = *state;
    cobre_case input = stochastic_case();

    export(world, &input, NULL);
    const columns_table *table = read_table(world, "stochastic/noise_openings.parquet");
    assert_int_equal(table->rows, 9);
    assert_int_equal(columns_find(table, "opening_index")->type, COLUMNS_U32);
    assert_int_equal(columns_find(table, "entity_index")->type, COLUMNS_U32);
    for (size_t row = 0; row < 9; row++)
        for (size_t i = 0; i < 4; i++)
            expect_number(table, names[i], row, expected[row][i]);
}

/* Of the inflow model, whether given or estimated; ids in place of indices. */
static void tables_are_those_of_the_model(void **state)
{
    static const cobre_inflow_stats stats[] = { { 0, -1, 30, 3 }, { 1, 1, 40, 4 } };
    static const cobre_ar_row ar[] = { { 1, 1, 2, 0.5, 0.75 } };
    static const cobre_annual_row annual[] = { { 0, 0, 0.25, 33, 5 } };
    static const inflow_model inflow = { .tables = { .stats = stats,
                                                     .stats_count = 2,
                                                     .ar = ar,
                                                     .ar_count = 1,
                                                     .annual = annual,
                                                     .annual_count = 1 } };
    struct world *world = *state;
    cobre_case input = stochastic_case();

    export(world, &input, &inflow);
    const columns_table *table = read_table(world, "stochastic/inflow_seasonal_stats.parquet");
    assert_int_equal(table->rows, 2);
    expect_number(table, "hydro_id", 1, 2);
    expect_number(table, "stage_id", 0, -1);
    expect_number(table, "mean_m3s", 1, 40);
    expect_number(table, "std_m3s", 1, 4);
    table = read_table(world, "stochastic/inflow_ar_coefficients.parquet");
    assert_int_equal(table->rows, 1);
    expect_number(table, "hydro_id", 0, 2);
    expect_number(table, "lag", 0, 2);
    expect_number(table, "coefficient", 0, 0.5);
    expect_number(table, "residual_std_ratio", 0, 0.75);
    table = read_table(world, "stochastic/inflow_annual_component.parquet");
    expect_number(table, "hydro_id", 0, 1);
    expect_number(table, "annual_coefficient", 0, 0.25);
    expect_number(table, "annual_mean_m3s", 0, 33);
    expect_number(table, "annual_std_m3s", 0, 5);
    table = read_table(world, "stochastic/load_seasonal_stats.parquet");
    assert_int_equal(table->rows, 4);
    expect_number(table, "bus_id", 2, 11);
    expect_number(table, "stage_id", 3, 1);
    expect_number(table, "mean_mw", 3, 4);
    expect_number(table, "std_mw", 3, 0.25);
}

/* Without rows the tables are there all the same, but that of loads. */
static void a_certain_case_has_empty_tables(void **state)
{
    struct world *world = *state;
    cobre_case input = stochastic_case();

    scratch_write(&world->folder, "stochastic/load_seasonal_stats.parquet", "old", 3);
    input.bus_is_stochastic = certain;
    export(world, &input, NULL);
    assert_int_equal(read_table(world, "stochastic/inflow_ar_coefficients.parquet")->rows, 0);
    assert_int_equal(read_table(world, "stochastic/inflow_annual_component.parquet")->rows, 0);
    assert_false(is_there(world, "stochastic/load_seasonal_stats.parquet"));
    assert_string_equal(read_text(world, "stochastic/correlation.json"),
                        "{\"method\":\"spectral\",\"profiles\":{\"default\":"
                        "{\"correlation_groups\":[]}},\"schedule\":[]}\n");
}

static void correlation_has_the_input_form(void **state)
{
    static const size_t pair[] = { 0, 1 }, bus[] = { 1 };
    static const double wet[] = { 1, 0.5, 0.5, 1 }, one[] = { 1 };
    static const cobre_correlation_group usual[] = {
        { COBRE_CLASS_INFLOW, "basin", pair, 2, wet },
        { COBRE_CLASS_LOAD, "towns", bus, 1, one },
    };
    static const cobre_correlation_profile profiles[] = { { "season_03", usual, 1 },
                                                          { "default", usual, 2 } };
    static const size_t of_stage[] = { 1, 0 };
    static const inflow_model inflow = {
        .tables = { .profiles = profiles, .profile_count = 2, .profile_of_stage = of_stage }
    };
    struct world *world = *state;
    cobre_case input = stochastic_case();

    export(world, &input, &inflow);
    const mcp_json *json = read_json(world, "stochastic/correlation.json");
    expect_pointer_text(json, "/profiles/default/correlation_groups/0/name", "basin");
    expect_pointer_text(json, "/profiles/default/correlation_groups/0/entities/1/type", "inflow");
    expect_pointer_int(json, "/profiles/default/correlation_groups/0/entities/1/id", 2);
    expect_pointer_text(json, "/profiles/default/correlation_groups/1/entities/0/type", "load");
    expect_pointer_int(json, "/profiles/default/correlation_groups/1/entities/0/id", 11);
    double number = 0;
    assert_true(mcp_json_double(
        mcp_json_pointer(json, "/profiles/season_03/correlation_groups/0/matrix/1/0"), &number));
    assert_true(number == 0.5);
    assert_int_equal(mcp_json_count(mcp_json_get(json, "schedule")), 1);
    expect_pointer_int(json, "/schedule/0/stage_id", 1);
    expect_pointer_text(json, "/schedule/0/profile_name", "season_03");
}

/* The first plant: order 2 in one season, reduced to 1 in the other. The second: white noise. */
static void an_estimation_is_reported(void **state)
{
    static double two[] = { 0.5, 0.25 }, one[] = { 0.75 }, contributions[] = { 0.6, -0.1 };
    static season_fit first[] = { { .order = 2, .coefficients = two },
                                  { .order = 1, .coefficients = one } };
    static season_fit second_fits[] = { { .order = 0 }, { .order = 0 } };
    static const fit_reduction reductions[] = { { 1, 2, 1, contributions, 2, "negative" } };
    static const hydro_fit fits[] = { { 2, first, reductions, 1 }, { 2, second_fits, NULL, 0 } };
    static const inflow_estimate estimate = { .seasons = 2, .fits = fits };
    static const inflow_model inflow = { .tables = { .ar_estimated = true,
                                                     .estimate = &estimate } };
    struct world *world = *state;
    cobre_case input = stochastic_case();

    export(world, &input, &inflow);
    assert_string_equal(read_text(world, "stochastic/fitting_report.json"),
                        "{\"hydros\":{\"1\":{\"selected_order\":2,\"coefficients\":[[0.5,0.25],"
                        "[0.75]],\"contribution_reductions\":[{\"season_id\":1,"
                        "\"original_order\":2,\"reduced_order\":1,\"contributions\":[0.6,-0.1],"
                        "\"reason\":\"negative\"}]},\"2\":{\"selected_order\":0,"
                        "\"coefficients\":[[],[]]}}}\n");
    export(world, &input, NULL);
    assert_false(is_there(world, "stochastic/fitting_report.json"));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(openings_are_listed_by_stage),    EACH(tables_are_those_of_the_model),
        EACH(a_certain_case_has_empty_tables), EACH(correlation_has_the_input_form),
        EACH(an_estimation_is_reported),
    };
    (void)sample_training;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
