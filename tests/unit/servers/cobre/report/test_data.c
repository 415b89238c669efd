/*
 * test_data.c - the numbers of the report, from files whose statistics are derived by hand.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/data.h"
#include "report/files.h"
#include "scratch.h"

#define SCENARIOS 3

static scratch folder;
static columns *engine;
static mcp_arena *arena;
static mcp_error err;
static report_output output;

/* ---- files ----------------------------------------------------------------------------------- */

static int make_folder(const char *path)
{
    char at[256];

    for (size_t i = 0; i <= strlen(path); i++)
        if (path[i] == '/' || path[i] == '\0') {
            snprintf(at, sizeof at, "%.*s", (int)i, path);
            mkdirat(folder.fd, at, 0700);
        }
    int fd = openat(folder.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void write_text(const char *path, const char *name, const char *text)
{
    int dir = make_folder(path);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    close(dir);
}

static void write_table(const char *path, const char *name, size_t rows, const columns_column *list,
                        size_t count)
{
    const columns_table table = { rows, count, list };
    int dir = make_folder(path);

    if (columns_write(dir, name, &table, &err) != MCP_OK)
        fail_msg("%s: %s", path, err.message);
    close(dir);
}

#define I32(name, ...)                                                                             \
    {                                                                                              \
        name, COLUMNS_I32, (const int32_t[]){ __VA_ARGS__ }, NULL                                  \
    }
#define I64(name, ...)                                                                             \
    {                                                                                              \
        name, COLUMNS_I64, (const int64_t[]){ __VA_ARGS__ }, NULL                                  \
    }
#define F64(name, ...)                                                                             \
    {                                                                                              \
        name, COLUMNS_F64, (const double[]){ __VA_ARGS__ }, NULL                                   \
    }
#define TEXT(name, ...)                                                                            \
    {                                                                                              \
        name, COLUMNS_TEXT, (const char *const[]){ __VA_ARGS__ }, NULL                             \
    }
#define WRITE(path, name, rows, ...)                                                               \
    do {                                                                                           \
        const columns_column list[] = { __VA_ARGS__ };                                             \
        write_table(path, name, rows, list, sizeof list / sizeof *list);                           \
    } while (0)

static void write_training(void)
{
    static const uint8_t none[] = { 0, 0, 0, 0 };
    const int32_t zeros[4] = { 0 };
    const columns_column selection[] = {
        I32("iteration", 1, 1, 2, 2),
        I32("stage", 0, 1, 0, 1),
        I32("cuts_populated", 4, 4, 8, 8),
        I32("cuts_active_after", 4, 3, 5, 6),
        { "active_after_budget", COLUMNS_I32, zeros, none },
    };

    write_text("training", "metadata.json",
               "{\"status\":\"complete\",\"convergence\":{\"termination_reason\":\"time_limit\"}}");
    write_text("training/dictionaries", "entities.csv",
               "entity_type_code,entity_id,name,bus_id,system_id\n0,7,Upper,1,0\n0,8,Lower,1,0\n"
               "2,1,\"North, far\",1,0\n");
    WRITE("training", "convergence.parquet", 2, I32("iteration", 1, 2), F64("lower_bound", 80, 100),
          F64("upper_bound_mean", 120, 110), F64("upper_bound_std", 4, 2),
          F64("gap_percent", 33, 9), I32("cuts_added", 4, 4), I32("cuts_removed", 0, 0),
          I64("cuts_active", 4, 8), I64("time_forward_ms", 2, 3), I64("time_backward_ms", 5, 6),
          I64("time_total_ms", 8, 9), I32("forward_passes", 4, 4), I64("lp_solves", 40, 40));
    write_table("training/cut_selection", "iterations.parquet", 4, selection, 5);
    WRITE("training/solver", "iterations.parquet", 5,
          TEXT("phase", "forward", "forward", "backward", "backward", "lower_bound"),
          I32("stage", 0, 1, 1, 1, -1), F64("solve_time_ms", 1, 2, 3, 4, 50));
}

/* Scenario i: one bus of two blocks and two stages, two hydros, one thermal. */
static void write_scenario(int i)
{
    char path[96];
    double x = i;

    /* Deficit in stage 1 of scenarios 1 and 2; the price of stage 0 is (10 + x) by load. */
    snprintf(path, sizeof path, "simulation/buses/scenario_id=%04d", i);
    WRITE(path, "data.parquet", 4, I32("stage_id", 0, 0, 1, 1), I32("block_id", 0, 1, 0, 1),
          I32("bus_id", 1, 1, 1, 1), F64("load_mwh", 100, 300, 200, 200),
          F64("deficit_mwh", 0, 0, 10 * x, 0), F64("spot_price", 4 + x, 12 + x, 50, 150));
    snprintf(path, sizeof path, "simulation/hydros/scenario_id=%04d", i);
    WRITE(path, "data.parquet", 6, I32("stage_id", 0, 0, 0, 1, 1, 1),
          I32("block_id", 0, 1, 0, 0, 1, 0), I32("hydro_id", 7, 7, 8, 7, 7, 8),
          F64("storage_final_hm3", 100 + x, 100 + x, 20, 50, 50, 30 * x),
          F64("generation_mwh", 100, 50, 150, 90, 90, 90));
    snprintf(path, sizeof path, "simulation/thermals/scenario_id=%04d", i);
    WRITE(path, "data.parquet", 2, I32("stage_id", 0, 1), F64("generation_mwh", 100, 130 - 10 * x));
    snprintf(path, sizeof path, "simulation/costs/scenario_id=%04d", i);
    WRITE(path, "data.parquet", 2, I32("stage_id", 0, 1), F64("discount_factor", 1, 0.5),
          F64("immediate_cost", 10, 20 + 20 * x), F64("thermal_cost", 10, 20),
          F64("deficit_cost", 0, 20 * x), F64("excess_cost", 0, 0), F64("contract_cost", 0, 0),
          F64("storage_violation_cost", 0, 0), F64("filling_target_cost", 0, 0),
          F64("hydro_violation_cost", 0, 0), F64("inflow_penalty_cost", 0, 0),
          F64("generic_violation_cost", 0, 0), F64("spillage_cost", 0, 0),
          F64("fpha_turbined_cost", 0, 0), F64("curtailment_cost", 1e-13, 0),
          F64("exchange_cost", 0, 0), F64("pumping_cost", 0, 0));
}

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    write_training();
    for (int i = 0; i < SCENARIOS; i++)
        write_scenario(i);
    write_text("simulation", "metadata.json", "{\"scenarios\":{\"completed\":3}}");
    arena = mcp_arena_new(0);
    if (columns_open(&engine, &err) != MCP_OK ||
        report_output_read(&output, engine, folder.fd, arena, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    columns_close(engine);
    mcp_arena_free(arena);
    scratch_close(&folder);
    return 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The section of that name, as the page gets it. */
static const mcp_json *section(const char *name, size_t entities)
{
    const report_order order = { &output, folder.fd, "/cases/rivers/output", entities, name };
    const mcp_json *root = NULL;
    mcp_buf text;
    mcp_json_writer writer;

    mcp_buf_init(&text, (size_t)1 << 20);
    mcp_json_writer_init(&writer, &text);
    if (report_data_write(&writer, engine, &order, arena, &err) != MCP_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(mcp_json_read(&root, arena, text.data, text.length, &err), MCP_OK);
    mcp_buf_clear(&text);
    assert_int_equal(mcp_json_count(mcp_json_get(root, "sections")), 1);
    return mcp_json_get(mcp_json_get(root, "sections"), name);
}

/* The numbers at a pointer, which are as many as those expected. */
#define EXPECT(part, pointer, ...)                                                                 \
    expect(part, pointer, (const double[]){ __VA_ARGS__ },                                         \
           sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void expect(const mcp_json *part, const char *pointer, const double *expected, size_t count)
{
    const mcp_json *list = mcp_json_pointer(part, pointer);

    if (!mcp_json_is_array(list) || mcp_json_count(list) != count)
        fail_msg("%s has not %zu numbers but %zu", pointer, count, mcp_json_count(list));
    for (size_t i = 0; i < count; i++) {
        double number = NAN;
        mcp_json_double(mcp_json_item(list, i), &number);
        if (!(fabs(number - expected[i]) <= 1e-6 * fmax(1, fabs(expected[i]))))
            fail_msg("%s/%zu is %.9g, by hand %.9g", pointer, i, number, expected[i]);
    }
}

static const char *text_at(const mcp_json *part, const char *pointer)
{
    return mcp_json_string(mcp_json_pointer(part, pointer), NULL);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void convergence_is_the_record(void **state)
{
    const mcp_json *part = section("convergence", 9);

    (void)state;
    EXPECT(part, "/iteration", 1, 2);
    EXPECT(part, "/lower_bound", 80, 100);
    EXPECT(part, "/ci_95", 1.96 * 4 / 2, 1.96 * 2 / 2);
    EXPECT(part, "/gap", 40.0 / 120, 10.0 / 110);
}

static void cuts_are_those_after_the_last_selection(void **state)
{
    const mcp_json *part = section("cuts", 9);

    (void)state;
    EXPECT(part, "/active", 4, 8);
    EXPECT(part, "/stages", 0, 1);
    EXPECT(part, "/by_stage/populated", 8, 8);
    EXPECT(part, "/by_stage/active", 5, 6);
}

static void solver_time_is_by_phase_and_stage(void **state)
{
    const mcp_json *part = section("solver", 9);

    (void)state;
    EXPECT(part, "/forward", 2, 3);
    EXPECT(part, "/other", 1, 0);
    EXPECT(part, "/by_stage/forward", 1, 2);
    EXPECT(part, "/by_stage/backward", 0, 7);
}

static void costs_are_discounted_means(void **state)
{
    const mcp_json *part = section("costs", 9);

    (void)state;
    assert_int_equal(mcp_json_count(mcp_json_get(part, "categories")), 2); /* those with a cost */
    assert_string_equal(text_at(part, "/categories/0/name"), "thermal");
    EXPECT(part, "/categories/0/mean", 10, 10);
    assert_string_equal(text_at(part, "/categories/1/name"), "deficit");
    EXPECT(part, "/categories/1/mean", 0, 10); /* of 0, 20, 40, times 0.5 */
    /* Scenarios cost 20, 30 and 40: the quantile of 50 % is 30, of 2 % is 20.4. */
    const mcp_json *costs = mcp_json_pointer(part, "/distribution/cost");
    double number = 0;
    assert_int_equal(mcp_json_count(costs), 51);
    mcp_json_double(mcp_json_item(costs, 25), &number);
    assert_true(fabs(number - 30) < 1e-6);
    mcp_json_double(mcp_json_item(costs, 1), &number);
    assert_true(fabs(number - 20.4) < 1e-5);
}

static void storage_has_quantiles_by_hydro_and_stage(void **state)
{
    const mcp_json *part = section("storage", 9);

    (void)state;
    EXPECT(part, "/stages", 0, 1);
    assert_string_equal(text_at(part, "/entities/0/name"), "Upper"); /* the larger one first */
    /* Of 100, 101, 102, one value a stage although there are two blocks. */
    EXPECT(part, "/entities/0/quantiles/0", 100.1, 50);
    EXPECT(part, "/entities/0/quantiles/2", 101, 50);
    EXPECT(part, "/entities/0/quantiles/4", 101.9, 50);
    EXPECT(part, "/entities/1/quantiles/1", 20, 15); /* of 0, 30, 60 */
    EXPECT(part, "/entities/1/mean", 20, 30);
    assert_null(text_at(part, "/note"));
}

static void only_the_largest_entities_are_shown(void **state)
{
    const mcp_json *part = section("storage", 1);

    (void)state;
    assert_int_equal(mcp_json_count(mcp_json_get(part, "entities")), 1);
    assert_string_equal(text_at(part, "/entities/0/name"), "Upper");
    assert_string_equal(text_at(part, "/note"),
                        "The 1 largest of 2 hydros are shown, by storage. `cobre report --entities "
                        "N` shows more.");
}

static void prices_are_averaged_by_load(void **state)
{
    const mcp_json *part = section("marginal_cost", 9);

    (void)state;
    assert_string_equal(text_at(part, "/entities/0/name"), "North, far");
    /* (100 (4 + x) + 300 (12 + x)) / 400 = 10 + x; stage 1: 100. */
    EXPECT(part, "/entities/0/quantiles/2", 11, 100);
    EXPECT(part, "/entities/0/mean", 11, 100);
}

static void generation_is_in_gigawatt_hours(void **state)
{
    const mcp_json *part = section("generation", 9);

    (void)state;
    assert_int_equal(mcp_json_count(mcp_json_get(part, "sources")), 3);
    EXPECT(part, "/sources/0/gwh", 0.3, 0.27);
    EXPECT(part, "/sources/1/gwh", 0.1, 0.12);
    EXPECT(part, "/sources/2/gwh", 0, 0.01); /* deficit: 0, 10, 20 MWh */
    EXPECT(part, "/load", 0.4, 0.4);
}

static void deficit_is_a_share_of_scenarios(void **state)
{
    const mcp_json *part = section("deficit", 9);
    double number = 0;

    (void)state;
    EXPECT(part, "/probability", 0, 2.0 / 3);
    EXPECT(part, "/expected", 0, 10);
    EXPECT(part, "/p95", 0, 19); /* of 0, 10, 20 */
    assert_true(mcp_json_double(mcp_json_pointer(part, "/buses/0/load"), &number));
    assert_true(number == 800);
}

static void a_broken_part_is_absent_and_named(void **state)
{
    (void)state;
    write_text("simulation/hydros/scenario_id=0001", "data.parquet", "no Parquet");
    const char *why = text_at(section("storage", 9), "/absent");
    assert_non_null(why);
    assert_non_null(strstr(why, "simulation/hydros cannot be read: "));
    /* The others go on: the mix leaves the hydros out and says so. */
    const mcp_json *part = section("generation", 9);
    assert_string_equal(text_at(part, "/sources/0/name"), "thermal");
    assert_non_null(strstr(text_at(part, "/note"), "simulation/hydros cannot be read: "));
    write_scenario(1);
}

static void a_link_is_not_followed(void **state)
{
    report_files files = { 0 };

    (void)state;
    int dir = make_folder("simulation/linked/scenario_id=0000");
    assert_int_equal(symlinkat("/etc/passwd", dir, "data.parquet"), 0);
    close(dir);
    assert_int_not_equal(report_files_open(&files, folder.fd, "linked", 0, arena, &err), MCP_OK);
    assert_int_equal(files.count, 0);
}

static void sections_go_by_name(void **state)
{
    const char *wrong = NULL;

    (void)state;
    assert_true(report_sections_exist("storage,costs", &wrong, arena));
    assert_false(report_sections_exist("storage,cost", &wrong, arena));
    assert_string_equal(wrong, "cost");
    assert_false(report_sections_exist("", &wrong, arena));
    for (size_t i = 0; report_section_names[i]; i++)
        assert_true(report_sections_exist(report_section_names[i], &wrong, arena));
}

static void the_case_is_named_by_its_directory(void **state)
{
    (void)state;
    assert_string_equal(report_case_name("/cases/rivers/output", arena), "rivers");
    assert_string_equal(report_case_name("/results/dry year", arena), "dry year");
    assert_string_equal(report_case_name("/output", arena), "study");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convergence_is_the_record),
        cmocka_unit_test(cuts_are_those_after_the_last_selection),
        cmocka_unit_test(solver_time_is_by_phase_and_stage),
        cmocka_unit_test(costs_are_discounted_means),
        cmocka_unit_test(storage_has_quantiles_by_hydro_and_stage),
        cmocka_unit_test(only_the_largest_entities_are_shown),
        cmocka_unit_test(prices_are_averaged_by_load),
        cmocka_unit_test(generation_is_in_gigawatt_hours),
        cmocka_unit_test(deficit_is_a_share_of_scenarios),
        cmocka_unit_test(a_broken_part_is_absent_and_named),
        cmocka_unit_test(a_link_is_not_followed),
        cmocka_unit_test(sections_go_by_name),
        cmocka_unit_test(the_case_is_named_by_its_directory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
