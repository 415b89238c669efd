/*
 * test_convergence.c - reading the record, and broken records.
 */
#include "sample.h"

static mcp_status read_record(struct world *world, results_convergence *out)
{
    return results_read_convergence(out, world->engine, world->folder.fd, world->arena,
                                    &world->err);
}

static void write_training(struct world *world)
{
    results *run = begin(world, &sample_options);

    assert_int_equal(results_write_training(run, &sample_training, &world->err), MCP_OK);
    results_free(run);
}

/* ci_95 = 1.96 * 10 / sqrt(4); gap = (120 + 5) / 120; wall times 10 and 10 + 15. */
static void rows_come_back_with_what_is_derived(void **state)
{
    struct world *world = *state;
    results_convergence record;

    write_training(world);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_int_equal(record.count, 2);
    assert_string_equal(record.termination_reason, "iteration_limit");
    assert_int_equal(record.rows[0].iteration, 1);
    assert_true(record.rows[0].lower_bound == -5.0 && record.rows[0].upper_bound == 120.0);
    assert_true(fabs(record.rows[0].ci_95 - 9.8) < 1e-12);
    assert_true(fabs(record.rows[0].gap - 125.0 / 120.0) < 1e-15);
    assert_true(fabs(record.rows[1].gap - 0.1) < 1e-15);
    assert_int_equal(record.rows[1].wall_time_ms, 25);
    assert_int_equal(record.rows[1].time_total_ms, 15);
    assert_int_equal(record.rows[1].cuts_active, 5);
    assert_int_equal(record.rows[1].lp_solves, 78);
}

static void without_metadata_the_lock_tells(void **state)
{
    struct world *world = *state;
    results_convergence record;
    int lock = -1;

    write_training(world);
    assert_int_equal(unlinkat(world->folder.fd, "training/metadata.json", 0), 0);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_string_equal(record.termination_reason, "unknown");
    assert_int_equal(results_lock(&lock, world->folder.fd, &world->err), MCP_OK);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_string_equal(record.termination_reason, "running");
    close(lock);
}

static void missing_and_broken_files_are_distinguished(void **state)
{
    struct world *world = *state;
    results_convergence record = { .count = 99 };

    assert_int_equal(read_record(world, &record), MCP_E_NOT_FOUND);
    scratch_write(&world->folder, "training/convergence.parquet", "PAR1 and no more", 16);
    assert_int_equal(read_record(world, &record), MCP_E_PARSE);
    assert_non_null(strstr(world->err.message, "training/convergence.parquet: "));
    assert_int_equal(record.count, 99);
    assert_string_equal(record.file, "training/convergence.parquet");
    assert_int_equal(unlinkat(world->folder.fd, "training/convergence.parquet", 0), 0);
    assert_int_equal(symlinkat("/etc/passwd", world->folder.fd, "training/convergence.parquet"), 0);
    assert_int_equal(read_record(world, &record), MCP_E_DENIED);
}

static void metadata_that_is_no_json_is_corrupt(void **state)
{
    struct world *world = *state;
    results_convergence record;

    write_training(world);
    scratch_write(&world->folder, "training/metadata.json", "{\"status\":", 10);
    assert_int_equal(read_record(world, &record), MCP_E_PARSE);
    assert_non_null(strstr(world->err.message, "training/metadata.json: "));
    assert_string_equal(record.file, "training/metadata.json");
    scratch_write(&world->folder, "training/metadata.json", "{\"convergence\":[]}", 18);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_string_equal(record.termination_reason, "unknown");
}

/* Errors page, section 4: the reasons have one list of names. */
static void reasons_of_the_original_have_our_names(void **state)
{
    struct world *world = *state;
    results_convergence record;

    write_training(world);
    scratch_write(&world->folder, "training/metadata.json",
                  "{\"convergence\":{\"termination_reason\":\"simulation_based\"}}", 57);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_string_equal(record.termination_reason, "simulation");
    scratch_write(&world->folder, "training/metadata.json",
                  "{\"convergence\":{\"termination_reason\":\"graceful_shutdown\"}}", 58);
    assert_int_equal(read_record(world, &record), MCP_OK);
    assert_string_equal(record.termination_reason, "shutdown");
}

/* Another table of that name; then the right names with a wrong type. */
static void another_table_is_corrupt(void **state)
{
    static const int32_t numbers[] = { 1 };
    static const int64_t wide[] = { 1 };
    const columns_column narrow[] = { { "iteration", COLUMNS_I32, numbers, NULL } };
    const columns_column wrong[] = { { "iteration", COLUMNS_I64, wide, NULL } };
    struct world *world = *state;
    results_convergence record;

    scratch_write(&world->folder, "training/x", "", 0);
    int fd = openat(world->folder.fd, "training", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    columns_table table = { .rows = 1, .column_count = 1, .columns = narrow };
    assert_int_equal(columns_write(fd, "convergence.parquet", &table, &world->err), MCP_OK);
    assert_int_equal(read_record(world, &record), MCP_E_PARSE);
    assert_non_null(strstr(world->err.message, "no column lower_bound"));
    table.columns = wrong;
    assert_int_equal(columns_write(fd, "convergence.parquet", &table, &world->err), MCP_OK);
    assert_int_equal(read_record(world, &record), MCP_E_PARSE);
    assert_non_null(strstr(world->err.message, "column iteration has type Int64 but Int32"));
    close(fd);
}

/* JSON has no value for a bound that is no number, and no run writes one. */
static void bounds_that_are_no_numbers_are_corrupt(void **state)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY };
    struct world *world = *state;
    results_convergence record;

    for (size_t i = 0; i < 9; i++) {
        sddp_iteration rows[2] = { sample_rows[0], sample_rows[1] };
        double *bounds[] = { &rows[1].lower_bound, &rows[1].upper_bound, &rows[1].upper_bound_std };
        sddp_training training = sample_training;
        results *run = begin(world, &sample_options);

        *bounds[i % 3] = odd[i / 3];
        training.rows = rows;
        assert_int_equal(results_write_training(run, &training, &world->err), MCP_OK);
        results_free(run);
        assert_int_equal(read_record(world, &record), MCP_E_PARSE);
        assert_non_null(strstr(world->err.message, "row 2 has a bound that is no number"));
    }
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(rows_come_back_with_what_is_derived),        EACH(without_metadata_the_lock_tells),
        EACH(missing_and_broken_files_are_distinguished), EACH(metadata_that_is_no_json_is_corrupt),
        EACH(reasons_of_the_original_have_our_names),     EACH(another_table_is_corrupt),
        EACH(bounds_that_are_no_numbers_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
