/*
 * test_reports.c - the reports on scaling and provenance, and the fitted planes.
 */
#include "../sample.h"

#include "case/input.h"
#include "results/study/study_files.h"

static const program_scaling scaling[] = {
    { .columns = 4,
      .rows = 3,
      .elements = 7,
      .matrix_before = { 0.5, 100 },
      .costs_before = { 2, 8 },
      .matrix_after = { 0.5, 2 },
      .costs_after = { 1, 3 },
      .column = { 0.25, 8, 1, 4 },
      .row = { 0.5, 2, 1, 3 } },
    { .columns = 1, .matrix_before = { 1, 50 }, .matrix_after = { 1, 5 } },
};

static double pointer_double(const mcp_json *json, const char *pointer)
{
    double number = NAN;

    if (!mcp_json_double(mcp_json_pointer(json, pointer), &number))
        fail_msg("%s is no number", pointer);
    return number;
}

static void write_reports(struct world *world, const cobre_case *input, const inflow_model *inflow,
                          const hydro_models *hydros)
{
    const study_files files = {
        .input = input, .hydros = hydros, .inflow = inflow, .scaling = scaling
    };

    if (study_write_reports(&files, world->folder.fd, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
}

static void scaling_has_an_entry_a_stage(void **state)
{
    struct world *world = *state;

    results_free(begin(world, &sample_options));
    write_reports(world, &sample_case, NULL, NULL);
    const mcp_json *json = read_json(world, "training/scaling_report.json");
    expect_pointer_int(json, "/cost_scale_factor", 1000);
    assert_int_equal(mcp_json_count(mcp_json_get(json, "stages")), 2);
    expect_pointer_int(json, "/stages/1/stage_id", 1);
    expect_pointer_int(json, "/stages/0/dimensions/num_cols", 4);
    expect_pointer_int(json, "/stages/0/dimensions/num_rows", 3);
    expect_pointer_int(json, "/stages/0/dimensions/num_nz", 7);
    assert_true(pointer_double(json, "/stages/0/pre_scaling/matrix_coeff_range/0") == 0.5);
    assert_true(pointer_double(json, "/stages/0/pre_scaling/matrix_coeff_range/1") == 100);
    assert_true(pointer_double(json, "/stages/0/pre_scaling/matrix_coeff_ratio") == 200);
    assert_true(pointer_double(json, "/stages/0/pre_scaling/objective_ratio") == 4);
    assert_true(pointer_double(json, "/stages/0/post_scaling/matrix_coeff_ratio") == 4);
    assert_true(pointer_double(json, "/stages/0/post_scaling/objective_range/1") == 3);
    assert_true(pointer_double(json, "/stages/0/col_scale/max") == 8);
    assert_true(pointer_double(json, "/stages/0/row_scale/median") == 1);
    expect_pointer_int(json, "/stages/0/row_scale/count", 3);
    assert_true(pointer_double(json, "/summary/worst_pre_scaling_matrix_ratio") == 200);
    assert_true(pointer_double(json, "/summary/worst_post_scaling_matrix_ratio") == 5);
    assert_true(pointer_double(json, "/summary/improvement_factor") == 40);
    expect_pointer_int(json, "/summary/num_stages", 2);
}

/* By which of history, statistics and coefficients the case gives. */
static void provenance_names_the_path(void **state)
{
    static const struct {
        size_t history, stats, ar;
        const char *path;
    } rows[] = {
        { 0, 0, 0, "deterministic" },
        { 0, 4, 0, "user_stats_white_noise" },
        { 0, 4, 4, "user_provided_no_history" },
        { 9, 0, 0, "full_estimation" },
        { 9, 0, 4, "user_ar_history_stats" },
        { 9, 4, 0, "partial_estimation" },
        { 9, 4, 4, "user_provided_all" },
    };
    struct world *world = *state;
    cobre_case input = sample_case;

    results_free(begin(world, &sample_options));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        input.scenarios.history_count = rows[i].history;
        input.scenarios.inflow_stats_count = rows[i].stats;
        input.scenarios.ar_count = rows[i].ar;
        write_reports(world, &input, NULL, NULL);
        const mcp_json *json = read_json(world, "training/model_provenance.json");
        expect_pointer_text(json, "/estimation_path", rows[i].path);
        expect_pointer_text(json, "/seasonal_stats_source", rows[i].stats ? "user_file" : "n/a");
        expect_pointer_text(json, "/ar_coefficients_source", rows[i].ar ? "user_file" : "n/a");
        expect_pointer_text(json, "/opening_tree_source", "estimated");
        expect_pointer_int(json, "/n_hydros", 2);
        assert_true(mcp_json_is_null(mcp_json_get(json, "ar_method")));
        assert_true(mcp_json_is_null(mcp_json_get(json, "ar_max_order")));
    }
}

/* Estimated coefficients; the second plant, id 2, got none. */
static void an_estimation_lists_its_white_noise(void **state)
{
    static const uint32_t order[] = { 0, 0, 2, 0 };
    static const double *const openings[2];
    static const inflow_model inflow = {
        .stages = 2,
        .hydros = 2,
        .lags = 2,
        .order = order,
        .tables = { .stats_estimated = true, .ar_estimated = true, .correlation_estimated = true },
    };
    struct world *world = *state;
    cobre_case input = sample_case;

    input.scenarios.history_count = 100;
    input.scenarios.openings = openings;
    results_free(begin(world, &sample_options));
    write_reports(world, &input, &inflow, NULL);
    const mcp_json *json = read_json(world, "training/model_provenance.json");
    expect_pointer_text(json, "/seasonal_stats_source", "estimated");
    expect_pointer_text(json, "/ar_coefficients_source", "estimated");
    expect_pointer_text(json, "/correlation_source", "estimated");
    expect_pointer_text(json, "/opening_tree_source", "user_file");
    expect_pointer_text(json, "/ar_method", "pacf");
    expect_pointer_int(json, "/ar_max_order", 2);
    assert_int_equal(mcp_json_count(mcp_json_get(json, "white_noise_fallbacks")), 1);
    expect_pointer_int(json, "/white_noise_fallbacks/0", 2);
}

/* The file has the columns and types of the case's own, so it can be copied to system/. */
static void fitted_planes_have_the_input_form(void **state)
{
    static const cobre_hyperplane planes[] = { { COBRE_NONE, 0, 10, 0.25, 0.5, -0.125, 0.75 },
                                               { COBRE_NONE, 1, 20, 0, 0.25, 0, 0.75 } };
    static const production_fit fits[] = { { 1, planes, 2, 100, 300, 40 } };
    static const hydro_models hydros = { .fits = fits, .fit_count = 1 };
    struct world *world = *state;

    results_free(begin(world, &sample_options));
    write_reports(world, &sample_case, NULL, &hydros);
    const columns_table *table = read_table(world, "hydro_models/fpha_hyperplanes.parquet");
    assert_int_equal(table->rows, 2);
    const cobre_table_spec *spec = cobre_files_known[COBRE_FILE_HYPERPLANES].table;
    for (size_t i = 0; spec->columns[i].name; i++) {
        const columns_column *column = columns_find(table, spec->columns[i].name);
        assert_non_null(column);
        assert_int_equal(column->type, spec->columns[i].type);
    }
    expect_number(table, "hydro_id", 1, 2);
    expect_number(table, "stage_id", 0, NAN);
    expect_number(table, "plane_id", 1, 1);
    expect_number(table, "gamma_0", 0, 10); /* kappa apart */
    expect_number(table, "gamma_v", 0, 0.25);
    expect_number(table, "gamma_q", 0, 0.5);
    expect_number(table, "gamma_s", 0, -0.125);
    expect_number(table, "kappa", 0, 0.75);
    expect_number(table, "valid_v_min_hm3", 0, 100);
    expect_number(table, "valid_v_max_hm3", 0, 300);
    expect_number(table, "valid_q_max_m3s", 0, 40);

    write_reports(world, &sample_case, NULL, NULL); /* a later run without fits */
    assert_false(is_there(world, "hydro_models/fpha_hyperplanes.parquet"));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(scaling_has_an_entry_a_stage),
        EACH(provenance_names_the_path),
        EACH(an_estimation_lists_its_white_noise),
        EACH(fitted_planes_have_the_input_form),
    };
    (void)sample_training;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
