/*
 * test_training.c - the convergence record, its timing and metadata, and the marker.
 */
#include "sample.h"

static void write_training(struct world *world, const sddp_training *training)
{
    results *run = begin(world, &sample_options);

    assert_int_equal(results_write_training(run, training, &world->err), MCP_OK);
    results_free(run);
}

static void the_record_has_a_row_an_iteration(void **state)
{
    struct world *world = *state;

    write_training(world, &sample_training);
    const columns_table *table = read_table(world, "training/convergence.parquet");
    assert_int_equal(table->rows, 2);
    assert_int_equal(table->column_count, 13);
    expect_number(table, "iteration", 1, 2);
    expect_number(table, "lower_bound", 0, -5.0);
    expect_number(table, "upper_bound_mean", 0, 120.0);
    expect_number(table, "upper_bound_std", 0, 10.0);
    expect_number(table, "gap_percent", 0, NAN); /* the lower bound is not positive */
    expect_number(table, "gap_percent", 1, 10.0);
    expect_number(table, "cuts_removed", 1, 1);
    expect_number(table, "cuts_active", 1, 5);
    expect_number(table, "time_total_ms", 1, 15);
    expect_number(table, "forward_passes", 1, 4);
    expect_number(table, "lp_solves", 0, 77);
}

/* Summing a column over an iteration gives the iteration's total (output page, 3.2). */
static void timing_rows_add_up(void **state)
{
    struct world *world = *state;

    write_training(world, &sample_training);
    const columns_table *table = read_table(world, "training/timing/iterations.parquet");
    assert_int_equal(table->rows, 4);
    expect_number(table, "worker_id", 0, NAN);
    expect_number(table, "worker_id", 2, 0);
    expect_number(table, "iteration", 1, 2);
    expect_number(table, "iteration", 3, 2);
    double forward = 0, backward = 0, bound = 0, rest = 0;
    for (size_t row = 0; row < 4; row++) {
        if (number_at(table, "iteration", row) != 2)
            continue;
        forward += number_at(table, "forward_wall_ms", row);
        backward += number_at(table, "backward_wall_ms", row);
        bound += number_at(table, "lower_bound_ms", row);
        rest += number_at(table, "overhead_ms", row);
    }
    assert_true(forward == 6 && backward == 7 && bound == 3 && rest == 4);
}

/* Two workers in the second iteration; of the first there are no records, as after a resume. */
static void timing_takes_the_records(void **state)
{
    static const sddp_worker_times workers[] = { { 0, 0, 40, 50, 6, 7 }, { 0, 1, 41, 51, 8, 9 } };
    static const sddp_records records = {
        .number = 2,
        .workers = workers,
        .worker_count = 2,
        .times = { 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21 },
    };
    /* In the order of the file, from forward_wall_ms on. */
    static const double expected[5][15] = {
        { 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2 },
        { 0, 0, 11, 12, 13, 14, 15, 16, 0, 17, 18, 0, 19, 20, 21 },
        { 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        { 40, 50, 0, 0, 0, 0, 0, 0, 7, 0, 0, 6, 0, 0, 0 },
        { 41, 51, 0, 0, 0, 0, 0, 0, 9, 0, 0, 8, 0, 0, 0 },
    };
    struct world *world = *state;
    results *run = begin(world, &sample_options);

    assert_int_equal(results_add_records(run, &records, &world->err), MCP_OK);
    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    results_free(run);
    const columns_table *table = read_table(world, "training/timing/iterations.parquet");
    assert_int_equal(table->rows, 5);
    assert_int_equal(table->column_count, 18);
    expect_number(table, "worker_id", 1, NAN);
    expect_number(table, "worker_id", 4, 1);
    expect_number(table, "iteration", 4, 2);
    for (size_t row = 0; row < 5; row++)
        for (size_t i = 0; i < 15; i++)
            expect_number(table, table->columns[3 + i].name, row, expected[row][i]);
}

static void metadata_tells_the_run(void **state)
{
    struct world *world = *state;

    write_training(world, &sample_training);
    const mcp_json *json = read_json(world, "training/metadata.json");
    expect_pointer_text(json, "/cobre_version", "2.0.0");
    expect_pointer_text(json, "/solver", "clp");
    expect_pointer_text(json, "/solver_version", "1.17");
    expect_pointer_text(json, "/status", "complete");
    assert_int_equal(strlen(mcp_json_get_string(json, "started_at")), 20);
    assert_int_equal(mcp_json_get_string(json, "completed_at")[19], 'Z');
    expect_pointer_int(json, "/configuration/seed", -42);
    expect_pointer_int(json, "/configuration/max_iterations", 128);
    expect_pointer_int(json, "/configuration/forward_passes", 4);
    expect_pointer_text(json, "/configuration/stopping_mode", "any");
    expect_pointer_text(json, "/configuration/policy_mode", "fresh");
    expect_pointer_int(json, "/problem_dimensions/num_stages", 2);
    expect_pointer_int(json, "/problem_dimensions/num_hydros", 2);
    expect_pointer_int(json, "/problem_dimensions/num_lines", 1);
    expect_pointer_int(json, "/iterations/completed", 2);
    assert_true(mcp_json_is_null(mcp_json_pointer(json, "/iterations/converged_at")));
    expect_pointer_text(json, "/convergence/termination_reason", "iteration_limit");
    double gap = 0;
    assert_true(mcp_json_double(mcp_json_pointer(json, "/convergence/final_gap_percent"), &gap));
    assert_true(fabs(gap - 10.0) < 1e-12);
    expect_pointer_int(json, "/row_pool/total_generated", 6);
    expect_pointer_int(json, "/row_pool/total_active", 5);
    expect_pointer_int(json, "/distribution/threads_per_rank", 2);
}

/* The bound of those iterations that have one; the last of them in the metadata. A reader finds it
 * at its iteration again. */
static void the_upper_bound_has_a_file(void **state)
{
    struct world *world = *state;
    cobre_case with = sample_case;
    sddp_iteration rows[] = { sample_rows[0], sample_rows[1] };
    sddp_training training = sample_training;
    results_convergence record;
    double bound = 0.0;

    with.config.inner_bound.enabled = true;
    rows[0].has_inner_bound = true;
    rows[0].inner_upper_bound = 130.5;
    training.rows = rows;
    results *run = NULL;
    assert_int_equal(results_begin(&run, &with, world->folder.fd, &sample_options, &world->err),
                     MCP_OK);
    assert_int_equal(results_write_training(run, &training, &world->err), MCP_OK);
    results_free(run);
    const columns_table *table = read_table(world, "training/inner_bound.parquet");
    assert_int_equal(table->rows, 1);
    assert_int_equal(table->column_count, 2);
    expect_number(table, "iteration", 0, 1);
    expect_number(table, "inner_upper_bound", 0, 130.5);
    const mcp_json *json = read_json(world, "training/metadata.json");
    assert_true(mcp_json_double(mcp_json_pointer(json, "/convergence/inner_upper_bound"), &bound));
    assert_true(bound == 130.5);
    assert_int_equal(results_read_convergence(&record, world->engine, world->folder.fd,
                                              world->arena, &world->err),
                     MCP_OK);
    assert_true(record.rows[0].has_inner_bound && !record.rows[1].has_inner_bound);
    assert_true(record.rows[0].inner_upper_bound == 130.5);

    write_training(world, &sample_training); /* a later training without it */
    assert_int_equal(faccessat(world->folder.fd, "training/inner_bound.parquet", F_OK, 0), -1);
    json = read_json(world, "training/metadata.json");
    assert_null(mcp_json_pointer(json, "/convergence/inner_upper_bound"));
}

static void only_a_complete_training_is_marked(void **state)
{
    static const struct {
        sddp_reason reason;
        bool converged;
        const char *status, *words;
    } ends[] = {
        { SDDP_SHUTDOWN, false, "partial", "shutdown" },
        { SDDP_ERROR, false, "failed", "error" },
        { SDDP_BOUND_STALLING, true, "complete", "bound_stalling" },
        { SDDP_TIME_LIMIT, false, "complete", "time_limit" },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        sddp_training training = sample_training;
        training.reason = ends[i].reason;
        training.converged = ends[i].converged;
        write_training(world, &training);
        const mcp_json *json = read_json(world, "training/metadata.json");
        expect_pointer_text(json, "/status", ends[i].status);
        expect_pointer_text(json, "/convergence/termination_reason", ends[i].words);
        assert_int_equal(is_there(world, "training/_SUCCESS"),
                         strcmp(ends[i].status, "complete") == 0);
        if (ends[i].converged)
            expect_pointer_int(json, "/iterations/converged_at", 2);
    }
}

static void a_training_that_ends_at_once_is_written_too(void **state)
{
    struct world *world = *state;
    const sddp_training nothing = { .reason = SDDP_ERROR };

    write_training(world, &nothing);
    assert_int_equal(read_table(world, "training/convergence.parquet")->rows, 0);
    const mcp_json *json = read_json(world, "training/metadata.json");
    assert_true(mcp_json_is_null(mcp_json_pointer(json, "/convergence/final_gap_percent")));
    expect_pointer_int(json, "/iterations/completed", 0);
}

/* Rows of a running training are written at most once a second. */
static void the_record_can_be_watched(void **state)
{
    struct world *world = *state;
    results *run = begin(world, &sample_options);

    assert_int_equal(results_add_iteration(run, &sample_rows[0], &world->err), MCP_OK);
    assert_false(is_there(world, "training/convergence.parquet"));
    usleep(1100000); /* the second that must pass */
    assert_int_equal(results_add_iteration(run, &sample_rows[1], &world->err), MCP_OK);
    assert_int_equal(read_table(world, "training/convergence.parquet")->rows, 2);
    assert_int_equal(results_add_iteration(run, &sample_rows[1], &world->err), MCP_OK);
    assert_int_equal(read_table(world, "training/convergence.parquet")->rows, 2);
    assert_false(is_there(world, "training/metadata.json"));
    results_free(run);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(the_record_has_a_row_an_iteration),
        EACH(timing_rows_add_up),
        EACH(timing_takes_the_records),
        EACH(metadata_tells_the_run),
        EACH(the_upper_bound_has_a_file),
        EACH(only_a_complete_training_is_marked),
        EACH(a_training_that_ends_at_once_is_written_too),
        EACH(the_record_can_be_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
