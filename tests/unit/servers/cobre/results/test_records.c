/*
 * test_records.c - the statistics of solver and cut selection, batch by batch.
 */
#include "sample.h"

static const sddp_solver_row solves[] = {
    { .phase = SDDP_PHASE_FORWARD,
      .stage = 0,
      .opening = SDDP_NO_INDEX,
      .rank = 0,
      .worker = SDDP_NO_INDEX,
      .solves = 4,
      .first_try = 4,
      .bases_offered = 3,
      .pivots = 5000000000,
      .solve_ms = 1.5,
      .load_ms = 0.25,
      .bounds_ms = 0.5,
      .basis_ms = 0.125,
      .bases_rebuilt = 6 },
    { .phase = SDDP_PHASE_BACKWARD,
      .stage = 1,
      .opening = 0,
      .rank = 0,
      .worker = 1,
      .solves = 3,
      .first_try = 1,
      .retried = 1,
      .failed = 1,
      .attempts = 7,
      .bases_rejected = 2,
      .levels = { [2] = 1, [11] = 1 } },
    { .phase = SDDP_PHASE_BACKWARD,
      .stage = 1,
      .opening = 1,
      .rank = 0,
      .worker = 0,
      .solves = 2,
      .retried = 2,
      .attempts = 6,
      .levels = { [2] = 2 } },
    { .phase = SDDP_PHASE_LOWER_BOUND,
      .stage = -1,
      .opening = SDDP_NO_INDEX,
      .rank = SDDP_NO_INDEX,
      .worker = SDDP_NO_INDEX,
      .solves = 1,
      .retried = 1,
      .attempts = 1,
      .levels = { [0] = 1 } },
};

static const sddp_selection_row selections[] = {
    { .stage = 1,
      .populated = 9,
      .active_before = 8,
      .deactivated = 3,
      .active_after = 5,
      .time_ms = 0.75 },
    { .stage = 2,
      .populated = 9,
      .active_before = 9,
      .active_after = 9,
      .has_budget = true,
      .evicted = 2,
      .active_after_budget = 7 },
};

static void expect_text(const columns_table *table, const char *name, size_t row, const char *words)
{
    const columns_column *column = columns_find(table, name);

    assert_non_null(column);
    assert_string_equal(((const char *const *)column->values)[row], words);
}

static void add(struct world *world, results *run, uint32_t number, size_t selected)
{
    const sddp_records records = {
        .number = number,
        .solver = solves,
        .solver_count = sizeof solves / sizeof solves[0],
        .selection = selections,
        .selection_count = selected,
    };

    if (results_add_records(run, &records, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
}

static void trained(struct world *world)
{
    results *run = begin(world, &sample_options);

    add(world, run, 1, 0);
    add(world, run, 2, 2);
    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    results_free(run);
}

static void every_solver_row_is_written(void **state)
{
    struct world *world = *state;

    trained(world);
    const columns_table *table = read_table(world, "training/solver/iterations.parquet");
    assert_int_equal(table->rows, 8);
    assert_int_equal(table->column_count, 19);
    expect_number(table, "iteration", 3, 1);
    expect_number(table, "iteration", 4, 2);
    expect_text(table, "phase", 0, "forward");
    expect_text(table, "phase", 5, "backward");
    expect_text(table, "phase", 7, "lower_bound");
    expect_number(table, "stage", 5, 1);
    expect_number(table, "stage", 7, -1);
    expect_number(table, "opening", 0, NAN);
    expect_number(table, "opening", 6, 1);
    expect_number(table, "rank", 0, 0);
    expect_number(table, "rank", 7, NAN);
    expect_number(table, "worker_id", 5, 1);
    static const char *const names[] = { "lp_solves",
                                         "lp_successes",
                                         "lp_retries",
                                         "lp_failures",
                                         "retry_attempts",
                                         "basis_offered",
                                         "basis_consistency_failures" };
    static const double numbers[] = { 3, 1, 1, 1, 7, 0, 2 };
    for (size_t i = 0; i < 7; i++)
        expect_number(table, names[i], 5, numbers[i]);
    expect_number(table, "simplex_iterations", 0, 5e9);
    expect_number(table, "solve_time_ms", 0, 1.5);
    expect_number(table, "load_model_time_ms", 0, 0.25);
    expect_number(table, "set_bounds_time_ms", 0, 0.5);
    expect_number(table, "basis_set_time_ms", 0, 0.125);
    expect_number(table, "basis_reconstructions", 0, 6);
}

/* Openings of a stage are added up; levels that ended nothing have no row. */
static void retries_are_counted_by_level(void **state)
{
    static const double expected[][3] = { { 1, 2, 3 }, { 1, 11, 1 }, { -1, 0, 1 } };
    struct world *world = *state;

    trained(world);
    const columns_table *table = read_table(world, "training/solver/retry_histogram.parquet");
    assert_int_equal(table->rows, 6);
    assert_int_equal(table->column_count, 5);
    for (size_t row = 0; row < 6; row++) {
        expect_number(table, "iteration", row, row < 3 ? 1 : 2);
        expect_number(table, "stage", row, expected[row % 3][0]);
        expect_number(table, "retry_level", row, expected[row % 3][1]);
        expect_number(table, "count", row, expected[row % 3][2]);
    }
    expect_text(table, "phase", 1, "backward");
    expect_text(table, "phase", 5, "lower_bound");
}

static void selection_has_rows_where_it_ran(void **state)
{
    struct world *world = *state;

    trained(world);
    const columns_table *table = read_table(world, "training/cut_selection/iterations.parquet");
    assert_int_equal(table->rows, 2);
    assert_int_equal(table->column_count, 9);
    expect_number(table, "iteration", 0, 2);
    expect_number(table, "stage", 1, 2);
    expect_number(table, "cuts_populated", 0, 9);
    expect_number(table, "cuts_active_before", 0, 8);
    expect_number(table, "cuts_deactivated", 0, 3);
    expect_number(table, "cuts_active_after", 0, 5);
    expect_number(table, "selection_time_ms", 0, 0.75);
    expect_number(table, "budget_evicted", 0, NAN);
    expect_number(table, "active_after_budget", 0, NAN);
    expect_number(table, "budget_evicted", 1, 2);
    expect_number(table, "active_after_budget", 1, 7);
}

/* A scenario's row goes to the simulation's file; a run without rows has none. */
static void a_simulation_has_its_own(void **state)
{
    static const sddp_solver_row row = { .phase = SDDP_PHASE_SIMULATION,
                                         .stage = -1,
                                         .opening = SDDP_NO_INDEX,
                                         .rank = SDDP_NO_INDEX,
                                         .worker = 3,
                                         .solves = 2,
                                         .first_try = 2 };
    static const sddp_records records = { .number = 17, .solver = &row, .solver_count = 1 };
    static const sddp_simulation none = { .scenarios_total = 0 };
    struct world *world = *state;
    results *run = begin(world, &sample_options);

    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    assert_int_equal(results_begin_simulation(run, &world->err), MCP_OK);
    assert_int_equal(results_add_records(run, &records, &world->err), MCP_OK);
    assert_int_equal(results_end_simulation(run, &none, false, &world->err), MCP_OK);
    results_free(run);
    const columns_table *table = read_table(world, "simulation/solver/iterations.parquet");
    assert_int_equal(table->rows, 1);
    expect_number(table, "iteration", 0, 17);
    expect_text(table, "phase", 0, "simulation");
    assert_false(is_there(world, "simulation/solver/retry_histogram.parquet"));
    assert_false(is_there(world, "training/solver"));
    assert_false(is_there(world, "training/cut_selection"));
}

/* What a run that was given up leaves is removed by the next one. */
static void old_files_do_not_stay(void **state)
{
    struct world *world = *state;

    trained(world);
    results *run = begin(world, &sample_options);
    assert_false(is_there(world, "training/solver/iterations.parquet"));
    add(world, run, 1, 2);
    results_free(run);
    assert_false(is_there(world, "training/solver/iterations.parquet"));
    assert_false(is_there(world, "training/solver/iterations.parquet.tmp"));
    assert_false(is_there(world, "training/cut_selection/iterations.parquet.tmp"));
}

/* A resumed training keeps the rows of the iterations that it does not repeat. */
static void a_resumed_training_keeps_its_rows(void **state)
{
    struct world *world = *state;
    results_options options = sample_options;

    trained(world); /* iterations 1 and 2 */
    options.engine = world->engine;
    options.resumed = 1;
    results *run = begin(world, &options);
    add(world, run, 2, 1);
    add(world, run, 3, 2);
    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    results_free(run);
    const columns_table *table = read_table(world, "training/solver/iterations.parquet");
    assert_int_equal(table->rows, 12);
    for (size_t row = 0; row < 12; row++)
        expect_number(table, "iteration", row, 1.0 + (double)(row / 4));
    expect_text(table, "phase", 0, "forward");
    expect_number(table, "opening", 0, NAN);
    expect_number(table, "simplex_iterations", 0, 5e9);
    table = read_table(world, "training/solver/retry_histogram.parquet");
    expect_number(table, "iteration", 0, 1);
    expect_number(table, "iteration", table->rows - 1, 3);
    table = read_table(world, "training/cut_selection/iterations.parquet");
    assert_int_equal(table->rows, 3); /* selection did not run in the first iteration */
    expect_number(table, "iteration", 0, 2);
}

/* What an earlier run left broken is not kept, and no reason to fail. */
static void broken_rows_are_not_kept(void **state)
{
    struct world *world = *state;
    results_options options = sample_options;

    trained(world);
    scratch_write(&world->folder, "training/solver/iterations.parquet", "PAR1", 4);
    options.engine = world->engine;
    options.resumed = 2;
    results *run = begin(world, &options);
    add(world, run, 3, 0);
    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    results_free(run);
    assert_int_equal(read_table(world, "training/solver/iterations.parquet")->rows, 4);
    assert_int_equal(read_table(world, "training/cut_selection/iterations.parquet")->rows, 2);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(every_solver_row_is_written),     EACH(retries_are_counted_by_level),
        EACH(selection_has_rows_where_it_ran), EACH(a_simulation_has_its_own),
        EACH(old_files_do_not_stay),           EACH(a_resumed_training_keeps_its_rows),
        EACH(broken_rows_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
