/*
 * test_tools.c - each tool's result and error records; no descriptor is left open.
 *
 * Costs are those that examples/cases/README.md derives by hand.
 */
#include "../served.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/results.h"

static int setup(void **state)
{
    return served_open(state, true);
}

static void take_case(struct served *served, const char *name, const char *as)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/examples/cases/%s", source ? source : ".", name);
    scratch_copy(&served->folder, as, path);
}

static char *with_dir(const struct served *served, const char *argument, const char *name,
                      const char *more)
{
    return mcp_arena_printf(served->arena, "{'%s':'%s/%s'%s}", argument, served->folder.path, name,
                            more);
}

static void a_case_is_validated_and_inspected(void **state)
{
    struct served *served = *state;
    bool is_error = true;

    take_case(served, "two-towns", "case");
    const char *arguments = with_dir(served, "case_dir", "case", "");
    const mcp_json *verdict = served_call(served, "cobre/validate", arguments, &is_error);
    assert_false(is_error);
    assert_at(verdict, "/valid", "true", served->arena);
    assert_at(verdict, "/errors", "[]", served->arena);
    assert_at(verdict, "/summary/layers_completed", "5", served->arena);
    size_t descriptors = scratch_open_descriptors();
    const mcp_json *about = served_call(served, "cobre/inspect-case", arguments, &is_error);
    assert_false(is_error);
    assert_at(about, "/entities/buses", "2", served->arena);
    assert_at(about, "/entities/lines", "1", served->arena);
    assert_at(about, "/scenario_source", "'par'", served->arena);

    scratch_write(&served->folder, "case/config.json", "{", 1);
    verdict = served_call(served, "cobre/validate", arguments, &is_error);
    assert_false(is_error); /* findings are the result */
    assert_at(verdict, "/valid", "false", served->arena);
    assert_at(verdict, "/errors/0/kind", "'ParseError'", served->arena);
    served_refusal(served, "cobre/inspect-case", arguments, "ParseError");
    served_refusal(served, "cobre/run", arguments, "ParseError");
    assert_int_equal(scratch_open_descriptors(), descriptors);
}

static void a_run_is_answered_and_can_be_questioned(void **state)
{
    struct served *served = *state;
    bool is_error = true;
    double bound = 0;

    take_case(served, "merit-order", "case");
    const mcp_json *result = served_call(served, "cobre/run",
                                         with_dir(served, "case_dir", "case", ""), &is_error);
    assert_false(is_error);
    assert_at(result, "/status", "'completed'", served->arena);
    assert_true(mcp_json_double(mcp_json_pointer(result, "/training/final_lower_bound"), &bound));
    assert_true(fabs(bound - 2994600) < 1e-3);
    assert_false(served->app.is_running);

    size_t descriptors = scratch_open_descriptors();
    const mcp_json *history = served_call(
        served, "cobre/query-convergence",
        with_dir(served, "output_dir", "case/output", ",'iteration_range':[2,3]"), &is_error);
    assert_false(is_error);
    assert_int_equal(mcp_json_count(mcp_json_get(history, "iterations")), 2);
    assert_at(history, "/iterations/0/iteration", "2", served->arena);
    assert_at(history, "/total_iterations", "10", served->arena);
    assert_at(history, "/termination_reason", "'iteration_limit'", served->arena);
    assert_int_equal(scratch_open_descriptors(), descriptors);
}

static void a_second_run_is_refused_because_of_the_first(void **state)
{
    struct served *served = *state;

    take_case(served, "merit-order", "case");
    served->app.is_running = true;
    snprintf(served->app.running_case, sizeof served->app.running_case, "/cases/first");
    size_t descriptors = scratch_open_descriptors();
    const mcp_json *record = served_refusal(
        served, "cobre/run", with_dir(served, "case_dir", "case", ""), "IncompatibleSettings");
    assert_non_null(strstr(mcp_json_get_string(record, "message"), "/cases/first"));
    assert_at(record, "/context/detail", "'/cases/first'", served->arena);
    assert_int_equal(scratch_open_descriptors(), descriptors);
    assert_true(served->app.is_running);
}

static void expect_words(const mcp_json *record, const char *message, const char *suggestion)
{
    const char *found = mcp_json_get_string(record, "message");

    if (!strstr(found, message))
        fail_msg("%s does not say: %s", found, message);
    assert_string_equal(mcp_json_get_string(record, "suggestion"), suggestion);
}

/* The first iteration of a large case takes minutes: what is absent until then is still to come. */
static void results_that_a_run_has_not_written_yet_are_awaited(void **state)
{
    struct served *served = *state;
    const char *history = with_dir(served, "output_dir", "", "");
    const char *rows = with_dir(served, "output_dir", "", ",'entity_type':'costs'");
    const char *export = with_dir(served, "output_dir", "",
                                  ",'entity_type':'convergence','format':'csv'");
    const char *absent = "Run the case first, or check the path.";
    int lock_fd = -1;

    expect_words(served_refusal(served, "cobre/query-convergence", history, "OutputNotFound"),
                 "has no training/convergence.parquet", absent);
    assert_int_equal(results_lock(&lock_fd, served->folder.fd, NULL), MCP_OK);
    size_t descriptors = scratch_open_descriptors();
    expect_words(served_refusal(served, "cobre/query-convergence", history, "OutputNotFound"),
                 "a run is in progress and has completed no iteration",
                 "Ask again when the first iteration is complete.");
    expect_words(served_refusal(served, "cobre/export-results", export, "OutputNotFound"),
                 "a run is in progress and has completed no iteration",
                 "Ask again when the first iteration is complete.");
    expect_words(served_refusal(served, "cobre/query-results", rows, "OutputNotFound"),
                 "yet: a run is in progress", "Ask again when the run has come to them.");
    assert_int_equal(scratch_open_descriptors(), descriptors);
    close(lock_fd);
    expect_words(served_refusal(served, "cobre/query-convergence", history, "OutputNotFound"),
                 "has no training/convergence.parquet", absent);
}

/* A run makes its output directory when it has loaded the case, which may take seconds. */
static void the_output_of_a_run_that_has_just_begun_is_awaited(void **state)
{
    struct served *served = *state;
    const char *own = with_dir(served, "output_dir", "case/output", "");
    const char *other = with_dir(served, "output_dir", "case/output2", "");

    take_case(served, "merit-order", "case");
    expect_words(served_refusal(served, "cobre/query-convergence", own, "OutputNotFound"),
                 "does not exist", "Check the path and that it is a directory.");
    served->app.is_running = true;
    snprintf(served->app.running_case, sizeof served->app.running_case, "%s/case",
             served->folder.path);
    expect_words(served_refusal(served, "cobre/query-convergence", own, "OutputNotFound"),
                 "yet: a run is in progress", "Ask again when the run has come to them.");
    expect_words(served_refusal(served, "cobre/query-convergence", other, "OutputNotFound"),
                 "does not exist", "Check the path and that it is a directory.");
}

/* The answer holds 25,000 iterations at most; a part of a longer record can be queried. */
static void a_long_record_is_asked_for_in_parts(void **state)
{
    enum { COUNT = 25001 };
    struct served *served = *state;
    sddp_iteration *rows = mcp_arena_array(served->arena, COUNT, sizeof *rows);
    const sddp_training training = { .rows = rows, .iterations = COUNT };
    const cobre_stage stages[2] = { { .id = 0 }, { .id = 1 } };
    const cobre_case input = { .stages = stages, .stage_count = 2 };
    const results_options options = {
        .version = "0", .solver = "none", .threads = 1, .trains = true
    };
    mcp_error err = MCP_ERROR_INIT;
    results *run = NULL;

    for (int32_t i = 0; i < COUNT; i++)
        rows[i] = (sddp_iteration){
            .iteration = i + 1, .lower_bound = 1, .upper_bound = 2, .forward_passes = 1
        };
    assert_int_equal(results_begin(&run, &input, served->folder.fd, &options, &err), MCP_OK);
    assert_int_equal(results_write_training(run, &training, &err), MCP_OK);
    results_free(run);

    const mcp_json *record = served_refusal(served, "cobre/query-convergence",
                                            with_dir(served, "output_dir", "", ""), "OutOfRange");
    assert_at(record, "/context/value", "25001", served->arena);
    assert_at(record, "/context/max", "25000", served->arena);
    const mcp_json *history = served_call(
        served, "cobre/query-convergence",
        with_dir(served, "output_dir", "", ",'iteration_range':[2,99999]"), NULL);
    assert_int_equal(mcp_json_count(mcp_json_get(history, "iterations")), 25000);
}

static void an_output_is_missing_or_corrupt(void **state)
{
    struct served *served = *state;
    const char *arguments = with_dir(served, "output_dir", "out", "");
    const mcp_json *record;

    record = served_refusal(served, "cobre/query-convergence", arguments, "OutputNotFound");
    assert_at(record, "/context/expected_content", "'an output directory'", served->arena);
    scratch_write(&served->folder, "out/note", "x", 1);
    record = served_refusal(served, "cobre/query-convergence", arguments, "OutputNotFound");
    assert_at(record, "/context/expected_content", "'training/convergence.parquet'", served->arena);
    scratch_write(&served->folder, "out/training/convergence.parquet", "PAR1PAR1", 8);
    record = served_refusal(served, "cobre/query-convergence", arguments, "OutputCorrupted");
    assert_at(record, "/context/file", "'training/convergence.parquet'", served->arena);
    assert_int_equal(unlinkat(served->folder.fd, "out/training/convergence.parquet", 0), 0);
    assert_int_equal(
        symlinkat("/etc/passwd", served->folder.fd, "out/training/convergence.parquet"), 0);
    served_refusal(served, "cobre/query-convergence", arguments, "OutputCorrupted");
    assert_int_equal(unlinkat(served->folder.fd, "out/training/convergence.parquet", 0), 0);
    assert_int_equal(mkfifoat(served->folder.fd, "out/training/convergence.parquet", 0600), 0);
    served_refusal(served, "cobre/query-convergence", arguments, "OutputCorrupted");
}

static void the_schema_of_the_configuration_is_one(void **state)
{
    struct served *served = *state;
    const mcp_json *answer = served_call(served, "cobre/get-config-schema", "{}", NULL);
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    assert_at(answer, "/schema/$schema", "'https://json-schema.org/draft/2020-12/schema'",
              served->arena);
    if (mcp_schema_compile(&schema, mcp_json_get(answer, "schema"), NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    mcp_schema_free(schema);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, served_close)
    const struct CMUnitTest tests[] = {
        EACH(a_case_is_validated_and_inspected),
        EACH(a_run_is_answered_and_can_be_questioned),
        EACH(a_second_run_is_refused_because_of_the_first),
        EACH(results_that_a_run_has_not_written_yet_are_awaited),
        EACH(the_output_of_a_run_that_has_just_begun_is_awaited),
        EACH(a_long_record_is_asked_for_in_parts),
        EACH(an_output_is_missing_or_corrupt),
        EACH(the_schema_of_the_configuration_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
