/*
 * test_run.c - a run: the order of the callbacks, each end, and the files on disk. The cases are
 * those of examples/cases, whose costs README.md derives by hand.
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
#include <unistd.h>

#include <cmocka.h>

#include "guard/paths.h"
#include "mcp/buf.h"
#include "results/results.h"
#include "run/run.h"
#include "scratch.h"

struct world {
    scratch folder;
    mcp_arena *arena;
    columns *engine;
    size_t descriptors;
    int case_fd;
    mcp_error err;

    /* what the run called back */
    char calls[4000];
    cobre_progress progress; /* the last */
    int opened;
    mcp_status open_status; /* what open_output is to give */

    /* when to stop, or to break something, and how */
    const char *at; /* a call, "i3" */
    sddp_stop stop_with, stop;
    const char *remove, *block; /* a folder, and one that becomes a file */
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    *state = world;
    scratch_open(&world->folder);
    world->arena = mcp_arena_new((size_t)1 << 30);
    assert_non_null(world->arena);
    assert_int_equal(columns_open(&world->engine, &world->err), MCP_OK);
    world->case_fd = -1;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    if (world->case_fd >= 0)
        close(world->case_fd);
    columns_close(world->engine);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    free(world);
    return 0;
}

/* ---- a case with a configuration of its own, and an observer that writes down ---------------- */

static void take_case(struct world *world, const char *name, const char *config)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/examples/cases/%s", source ? source : ".", name);
    scratch_copy(&world->folder, "case", path);
    scratch_write(&world->folder, "case/config.json", config, strlen(config));
    world->case_fd = openat(world->folder.fd, "case", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(world->case_fd >= 0);
}

#define CONFIG(limit, scenarios)                                                                   \
    "{\"training\":{\"forward_passes\":1,\"stopping_rules\":[{\"type\":\"iteration_limit\","       \
    "\"limit\":" #limit "}]},\"simulation\":{\"enabled\":true,\"num_scenarios\":" #scenarios "}}"

static void note(struct world *world, const char *format, ...) MCP_PRINTF(2, 3);

static void note(struct world *world, const char *format, ...)
{
    size_t length = strlen(world->calls);
    char word[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(word, sizeof word, format, arguments);
    va_end(arguments);
    snprintf(world->calls + length, sizeof world->calls - length, "%s%s", length ? " " : "", word);
    if (!world->at || strcmp(world->at, word) != 0)
        return;
    world->stop = world->stop_with;
    if (world->remove)
        assert_int_equal(guard_remove_tree(world->folder.fd, world->remove, NULL), MCP_OK);
    if (world->block)
        scratch_write(&world->folder, world->block, "no folder", 9);
}

static void on_started(const cobre_run_result *so_far, void *data)
{
    assert_non_null(so_far->input);
    assert_non_null(so_far->report);
    assert_non_null(so_far->output_dir);
    note(data, "started");
}

/* `done` rises, and a total that is known stays. */
static void keep_progress(struct world *world, const cobre_progress *progress)
{
    assert_true(progress->done > world->progress.done);
    if (world->progress.total)
        assert_int_equal(progress->total, world->progress.total);
    assert_true(!progress->total || progress->done <= progress->total);
    world->progress = *progress;
}

static void on_iteration(const sddp_iteration *row, const cobre_progress *progress, void *data)
{
    keep_progress(data, progress);
    note(data, "i%d", row->iteration);
}

static void on_trained(const sddp_training *training, void *data)
{
    note(data, "trained%zu", training->iterations);
}

static void on_scenario(uint32_t done, uint32_t total, int64_t elapsed_ms,
                        const cobre_progress *progress, void *data)
{
    keep_progress(data, progress);
    assert_true(elapsed_ms >= 0);
    note(data, "s%u/%u", done, total);
}

static sddp_stop should_stop(void *data)
{
    return ((struct world *)data)->stop;
}

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    struct world *world = data;

    (void)arena;
    world->opened++;
    if (world->open_status != MCP_OK)
        return mcp_error_set(err, world->open_status, "made up");
    *path = "/the/output";
    return guard_make_dir(fd, world->case_fd, "output", err);
}

static mcp_status run_phases(struct world *world, cobre_phases phases, cobre_run_result *result)
{
    const cobre_run_observer observer = { on_started,  on_iteration, on_trained,
                                          on_scenario, should_stop,  world };
    const cobre_run_order order = {
        .case_fd = world->case_fd,
        .case_dir = "/the/case",
        .open_output = open_output,
        .output_data = world,
        .output_name = "/the/output",
        .phases = phases,
        .threads = 2,
        .engine = world->engine,
        .observer = &observer,
    };
    size_t before = scratch_open_descriptors();
    world->progress = (cobre_progress){ 0 };
    mcp_status st = cobre_run(result, &order, world->arena, &world->err);

    assert_int_equal(scratch_open_descriptors(), before);
    return st;
}

static cobre_run_result run_both(struct world *world)
{
    cobre_run_result result;

    assert_int_equal(run_phases(world, COBRE_PHASES_BOTH, &result), MCP_OK);
    assert_non_null(result.report);
    return result;
}

static bool is_there(const struct world *world, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "case/output/%s", name);
    return faccessat(world->folder.fd, path, F_OK, 0) == 0;
}

static const mcp_json *json_of(const struct world *world, const cobre_run_result *result)
{
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&writer, &text);
    if (result->record) {
        cobre_record_write(result->record, &writer);
    } else {
        mcp_write_object(&writer);
        cobre_run_write(result, &writer);
        mcp_write_end(&writer);
    }
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&value, world->arena, text.data, text.length, NULL), MCP_OK);
    mcp_buf_clear(&text);
    return value;
}

static void assert_text(const mcp_json *value, const char *pointer, const char *expected)
{
    const char *text = mcp_json_string(mcp_json_pointer(value, pointer), NULL);

    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* ---- well ------------------------------------------------------------------------------------ */

static void both_phases_run_in_order(void **state)
{
    struct world *world = *state;

    take_case(world, "merit-order", CONFIG(3, 2));
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_COMPLETED);
    assert_string_equal(world->calls, "started i1 i2 i3 trained3 s1/2 s2/2");
    assert_int_equal(world->opened, 1);

    const mcp_json *value = json_of(world, &result);
    double bound = 0;
    assert_true(mcp_json_double(mcp_json_pointer(value, "/training/final_lower_bound"), &bound));
    assert_true(fabs(bound - 2994600) < 1e-3);
    assert_text(value, "/status", "completed");
    assert_text(value, "/output_dir", "/the/output");
    assert_text(value, "/training/termination_reason", "iteration_limit");
    assert_text(value, "/simulation/output_files/2",
                "simulation/thermals"); /* there are no hydros */
    assert_null(mcp_json_pointer(value, "/simulation/output_files/3"));
    assert_true(is_there(world, "training/scaling_report.json"));
    assert_true(is_there(world, "training/model_provenance.json"));
    assert_true(is_there(world, "training/_SUCCESS") && is_there(world, "simulation/_SUCCESS"));
}

static void one_phase_leaves_the_other_null(void **state)
{
    struct world *world = *state;
    cobre_run_result result;

    take_case(world, "merit-order", CONFIG(2, 1));
    run_both(world);
    world->calls[0] = '\0';
    assert_int_equal(run_phases(world, COBRE_PHASES_TRAINING, &result), MCP_OK);
    assert_int_equal(result.end, COBRE_RUN_COMPLETED);
    assert_string_equal(world->calls, "started i1 i2 trained2");
    assert_true(mcp_json_type_of(mcp_json_get(json_of(world, &result), "simulation")) ==
                MCP_JSON_NULL);
    assert_true(is_there(world, "training/_SUCCESS"));
    assert_false(is_there(world, "simulation/_SUCCESS")); /* the older one is invalid */
}

/* ---- refused before anything is made --------------------------------------------------------- */

static void a_simulation_alone_has_no_policy(void **state)
{
    struct world *world = *state;
    cobre_run_result result;

    take_case(world, "merit-order", CONFIG(2, 1));
    assert_int_equal(run_phases(world, COBRE_PHASES_SIMULATION, &result), MCP_OK);
    assert_int_equal(result.end, COBRE_RUN_REFUSED);
    const mcp_json *record = json_of(world, &result);
    assert_text(record, "/kind", "CheckpointFailed");
    assert_text(record, "/context/operation", "read");
    assert_text(record, "/context/checkpoint_path", "/the/output/policy");
    assert_false(is_there(world, "simulation"));
}

static void what_is_not_valid_makes_nothing(void **state)
{
    struct world *world = *state;

    take_case(world, "merit-order", "{}");
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_INVALID);
    assert_null(result.record);
    assert_null(result.output_dir);
    assert_true(cobre_report_count(result.report, COBRE_SEVERITY_ERROR) > 0);
    assert_int_equal(world->opened, 0);
    assert_string_equal(world->calls, "");
}

static void a_study_that_is_too_large_names_the_file(void **state)
{
    struct world *world = *state;

    take_case(world, "merit-order", CONFIG(2, 4294967295));
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_REFUSED);
    const mcp_json *record = json_of(world, &result);
    assert_text(record, "/kind", "IncompatibleSettings");
    assert_text(record, "/context/file", "config.json");
    assert_text(record, "/suggestion", "Lower the sizes that the message names in config.json.");
}

static void an_output_that_is_taken_is_left_alone(void **state)
{
    struct world *world = *state;
    mcp_error err = MCP_ERROR_INIT;
    int output = -1, lock = -1;

    take_case(world, "merit-order", CONFIG(2, 1));
    run_both(world);
    assert_int_equal(guard_open_subdir(&output, world->case_fd, "output", &err), MCP_OK);
    assert_int_equal(results_lock(&lock, output, &err), MCP_OK);
    cobre_run_result result = run_both(world);
    close(lock);
    close(output);
    assert_int_equal(result.end, COBRE_RUN_REFUSED);
    const mcp_json *record = json_of(world, &result);
    assert_text(record, "/kind", "IncompatibleSettings");
    assert_text(record, "/context/settings", "/the/output");
    assert_true(is_there(world, "training/_SUCCESS") && is_there(world, "simulation/_SUCCESS"));
}

static void an_output_that_cannot_be_opened_is_named(void **state)
{
    struct world *world = *state;
    static const mcp_status own[] = { MCP_E_NOMEM, MCP_E_INTERNAL };

    take_case(world, "merit-order", CONFIG(2, 1));
    world->open_status = MCP_E_DENIED;
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_FAILED);
    const mcp_json *record = json_of(world, &result);
    assert_text(record, "/kind", "CheckpointFailed");
    assert_text(record, "/context/checkpoint_path", "/the/output");
    assert_text(record, "/context/operation", "write");
    assert_text(record, "/context/detail", "made up");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        world->open_status = own[i];
        assert_int_equal(run_phases(world, COBRE_PHASES_BOTH, &result), own[i]);
        assert_non_null(strstr(world->err.message, "made up"));
    }
    assert_string_equal(world->calls, "");
}

static void the_total_of_the_progress_holds(void **state)
{
#define RULES(rules)                                                                               \
    "{\"training\":{\"forward_passes\":1,\"stopping_rules\":[" rules "]},"                         \
    "\"simulation\":{\"enabled\":true,\"num_scenarios\":3}}"
#define LIMIT "{\"type\":\"iteration_limit\",\"limit\":20}"
#define STALLING "{\"type\":\"bound_stalling\",\"iterations\":3,\"tolerance\":0.001}"
    static const struct {
        const char *config;
        cobre_phases phases;
        int64_t done, total;
    } rows[] = {
        { RULES(LIMIT), COBRE_PHASES_BOTH, 23, 23 },
        { RULES(LIMIT), COBRE_PHASES_TRAINING, 20, 20 },
        { RULES(LIMIT "," STALLING), COBRE_PHASES_BOTH, 23, 23 },
        { RULES(STALLING), COBRE_PHASES_BOTH, 6, 6 },
        { RULES(STALLING), COBRE_PHASES_TRAINING, 3, 0 },
    };
    struct world *world = *state;
    cobre_run_result result;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        take_case(world, "must-release", rows[i].config);
        assert_int_equal(run_phases(world, rows[i].phases, &result), MCP_OK);
        assert_int_equal(world->progress.done, rows[i].done);
        assert_int_equal(world->progress.total, rows[i].total);
        close(world->case_fd);
        world->case_fd = -1;
        assert_int_equal(guard_remove_tree(world->folder.fd, "case", NULL), MCP_OK);
    }
}

/* ---- stopped, or broken, in the middle ------------------------------------------------------- */

static void a_stop_keeps_the_iterations(void **state)
{
    static const sddp_stop stops[] = { SDDP_STOP_AFTER_ITERATION, SDDP_STOP_NOW };
    struct world *world = *state;

    take_case(world, "merit-order", CONFIG(1000, 1));
    world->at = "i3";
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        world->calls[0] = '\0';
        world->stop = SDDP_STOP_NONE;
        world->stop_with = stops[i];
        cobre_run_result result = run_both(world);
        assert_int_equal(result.end, COBRE_RUN_PARTIAL);
        assert_int_equal(result.training.iterations, 3);
        assert_string_equal(world->calls, "started i1 i2 i3 trained3");
        const mcp_json *value = json_of(world, &result);
        assert_text(value, "/status", "partial");
        assert_text(value, "/training/termination_reason", "shutdown");
        assert_true(is_there(world, "training/metadata.json"));
        assert_false(is_there(world, "training/_SUCCESS"));
        assert_false(is_there(world, "simulation/_SUCCESS"));
    }
}

static void a_stop_keeps_the_scenarios(void **state)
{
    struct world *world = *state;

    take_case(world, "merit-order", CONFIG(1, 500));
    world->at = "s3/500";
    world->stop_with = SDDP_STOP_AFTER_ITERATION;
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_PARTIAL);
    uint32_t completed = result.simulation.scenarios_completed;
    assert_in_range(completed, 3, 499);
    for (uint32_t i = 0; i < 500; i++) { /* what was waiting to be written is written */
        char path[64];
        snprintf(path, sizeof path, "simulation/buses/scenario_id=%04u/data.parquet", (unsigned)i);
        assert_int_equal(is_there(world, path), i < completed);
    }
    assert_true(is_there(world, "training/_SUCCESS"));
    assert_true(is_there(world, "simulation/metadata.json"));
    assert_false(is_there(world, "simulation/_SUCCESS"));
}

static void files_that_cannot_be_written_fail_the_run(void **state)
{
#define LAST "case/output/simulation/buses/scenario_id=0002"
    static const struct {
        const char *at, *remove, *block, *detail, *unfinished;
    } rows[] = {
        { "i1", "case/output/training", NULL, "training", "training/_SUCCESS" },
        { "s1/3", NULL, LAST, "scenario 2: 'scenario_id=0002'", "simulation/_SUCCESS" },
        { "s2/3", NULL, LAST, "scenario 2: 'scenario_id=0002'", "simulation/_SUCCESS" },
    };
    struct world *world = *state;

    take_case(world, "merit-order", CONFIG(2, 3));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world->at = rows[i].at;
        world->remove = rows[i].remove;
        world->block = rows[i].block;
        world->calls[0] = '\0';
        cobre_run_result result = run_both(world);
        assert_int_equal(result.end, COBRE_RUN_FAILED);
        const mcp_json *record = json_of(world, &result);
        assert_text(record, "/kind", "CheckpointFailed");
        assert_text(record, "/context/operation", "write");
        assert_text(record, "/context/checkpoint_path", "/the/output");
        const char *detail = mcp_json_string(mcp_json_pointer(record, "/context/detail"), NULL);
        assert_non_null(detail);
        assert_non_null(strstr(detail, rows[i].detail));
        assert_false(is_there(world, rows[i].unfinished));
        assert_false(is_there(world, "simulation/_SUCCESS"));
    }
}

/* Ten openings a stage, so that the opening a scenario draws is not its own number by necessity. */
static const char ten_openings[] =
    "{\"policy_graph\":{\"type\":\"finite_horizon\",\"annual_discount_rate\":0},\"stages\":["
    "{\"id\":0,\"start_date\":\"2030-01-01\",\"end_date\":\"2030-02-01\",\"num_scenarios\":10,"
    "\"blocks\":[{\"id\":0,\"name\":\"ALL\",\"hours\":1000}]},"
    "{\"id\":1,\"start_date\":\"2030-02-01\",\"end_date\":\"2030-03-01\",\"num_scenarios\":10,"
    "\"blocks\":[{\"id\":0,\"name\":\"ALL\",\"hours\":1000}]}]}";

/* In the forward pass `opening` is the scenario's number (errors page, 2.2): of scenarios that all
 * fail the first is named, whichever opening it drew. */
static void an_lp_without_solution_says_where(void **state)
{
    static const char hydros[] =
        "{\"hydros\":[{\"id\":0,\"name\":\"Weir\",\"bus_id\":0,\"downstream_id\":null,"
        "\"reservoir\":"
        "{\"min_storage_hm3\":5e8,\"max_storage_hm3\":6e8},\"outflow\":{\"min_outflow_m3s\":0,"
        "\"max_outflow_m3s\":null},\"generation\":{\"model\":\"constant_productivity\","
        "\"productivity_mw_per_m3s\":2.0,\"min_turbined_m3s\":0,\"max_turbined_m3s\":30,"
        "\"min_generation_mw\":0,\"max_generation_mw\":60}}]}";
    static const char initial[] =
        "{\"storage\":[{\"hydro_id\":0,\"value_hm3\":0}],\"filling_storage\":[]}";
    struct world *world = *state;
    int64_t number = -1;

    take_case(
        world, "must-release",
        "{\"training\":{\"forward_passes\":1,\"stopping_rules\":[{\"type\":\"iteration_limit\","
        "\"limit\":2}]},\"modeling\":{\"inflow_non_negativity\":{\"method\":\"none\"}}}");
    scratch_write(&world->folder, "case/system/hydros.json", hydros, sizeof hydros - 1);
    scratch_write(&world->folder, "case/initial_conditions.json", initial, sizeof initial - 1);
    scratch_write(&world->folder, "case/stages.json", ten_openings, sizeof ten_openings - 1);
    cobre_run_result result = run_both(world);
    assert_int_equal(result.end, COBRE_RUN_SOLVER_FAILED);
    const mcp_json *record = json_of(world, &result);
    assert_text(record, "/kind", "SolverFailure");
    assert_text(record, "/context/solver_status", "infeasible");
    assert_text(record, "/context/phase", "forward");
    assert_true(mcp_json_int(mcp_json_pointer(record, "/context/stage"), &number) && number == 0);
    assert_true(mcp_json_int(mcp_json_pointer(record, "/context/iteration"), &number) &&
                number == 1);
    assert_true(mcp_json_int(mcp_json_pointer(record, "/context/opening"), &number) && number == 0);
    assert_non_null(mcp_json_pointer(record, "/context/active_penalty_slacks"));
    assert_true(is_there(world, "training/metadata.json"));
    assert_false(is_there(world, "training/_SUCCESS"));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(both_phases_run_in_order),
        EACH(one_phase_leaves_the_other_null),
        EACH(a_simulation_alone_has_no_policy),
        EACH(what_is_not_valid_makes_nothing),
        EACH(a_study_that_is_too_large_names_the_file),
        EACH(an_output_that_is_taken_is_left_alone),
        EACH(an_output_that_cannot_be_opened_is_named),
        EACH(the_total_of_the_progress_holds),
        EACH(a_stop_keeps_the_iterations),
        EACH(a_stop_keeps_the_scenarios),
        EACH(files_that_cannot_be_written_fail_the_run),
        EACH(an_lp_without_solution_says_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
