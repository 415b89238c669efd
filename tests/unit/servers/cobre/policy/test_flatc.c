/*
 * test_flatc.c - the FlatBuffers compiler reads what we write, by docs/policy.fbs, and we read what
 * it writes.
 *
 * Skipped, with a message, where there is no flatc.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/json.h"
#include "policy/decode.h"
#include "policy/encode.h"
#include "policy_sample.h"
#include "scratch.h"

extern char **environ;

struct world {
    scratch folder;
    mcp_arena *arena;
    sample sample;
    mcp_buf buf;
};

static bool run(const char *const *arguments)
{
    int status = 0;
    pid_t child = 0;

    return posix_spawnp(&child, arguments[0], NULL, NULL, (char *const *)arguments, environ) == 0 &&
           waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool has_flatc(void)
{
    return run((const char *[]){ "sh", "-c", "flatc --version >/dev/null 2>&1", NULL });
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    assert_non_null(world);
    scratch_open(&world->folder);
    world->arena = mcp_arena_new(0);
    sample_init(&world->sample, 2);
    mcp_buf_init(&world->buf, 1 << 20);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    mcp_buf_clear(&world->buf);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    free(world);
    return 0;
}

/* flatc's work on a file of the scratch folder, which also receives what it writes. */
static void run_flatc(struct world *world, const char *what, const char *root, const char *file)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char schema[1000], type[100];
    bool to_json = strcmp(what, "--json") == 0;

    snprintf(schema, sizeof schema, "%s/docs/policy.fbs", source ? source : ".");
    snprintf(type, sizeof type, "Cobre.IO.Policy.%s", root);
    const char *path = scratch_path(&world->folder, file);
    const char *arguments[] = { "flatc",
                                what,
                                "--strict-json",
                                "--defaults-json",
                                "--root-type",
                                type,
                                "--raw-binary",
                                "-o",
                                world->folder.path,
                                schema,
                                to_json ? "--" : path,
                                to_json ? path : NULL,
                                NULL };
    assert_true(run(arguments));
}

/* The JSON that flatc makes of the buffer, a table of the type `root`. */
static const mcp_json *as_json(struct world *world, const char *root)
{
    const mcp_json *json = NULL;
    const char *text = NULL;
    size_t length = 0;
    mcp_error err = MCP_ERROR_INIT;

    assert_int_equal(world->buf.status, MCP_OK);
    scratch_write(&world->folder, "ours.bin", world->buf.data, world->buf.length);
    mcp_buf_reset(&world->buf);
    run_flatc(world, "--json", root, "ours.bin");
    assert_int_equal(
        guard_read_file(&text, &length, world->folder.fd, "ours.json", 1 << 20, world->arena, &err),
        MCP_OK);
    assert_int_equal(mcp_json_read(&json, world->arena, text, length, &err), MCP_OK);
    return json;
}

static double number_at(const mcp_json *json, const char *pointer)
{
    double value = NAN;

    if (!mcp_json_double(mcp_json_pointer(json, pointer), &value))
        fail_msg("there is no number at %s", pointer);
    return value;
}

static void flatc_reads_our_cuts(void **state)
{
    struct world *world = *state;
    const policy_stage *stage = &world->sample.stages[1];
    bool is_active = false;
    char pointer[64];

    if (!has_flatc()) {
        print_message("flatc is not installed (Debian: flatbuffers-compiler)\n");
        skip();
    }
    policy_encode_cuts(&world->buf, &world->sample.policy, 1);
    const mcp_json *json = as_json(world, "StageCuts");
    assert_true(number_at(json, "/stage_id") == 1);
    assert_true(number_at(json, "/state_dimension") == 2);
    assert_true(number_at(json, "/capacity") == (8 + 1) * 2 * 3);
    assert_true(number_at(json, "/num_openings") == 3);
    assert_true(number_at(json, "/warm_start_count") == 0);
    /* Iterations 1 and 2 of 2 passes and 3 openings, behind 6 slots that stay empty. */
    assert_int_equal(mcp_json_count(mcp_json_get(json, "cuts")), 18);
    assert_true(number_at(json, "/populated_count") == 18);
    assert_true(number_at(json, "/cuts/5/iteration") == 0);
    assert_true(number_at(json, "/cuts/5/coefficients/1") == 0);
    size_t active = 0;
    for (size_t i = 0; i < stage->cut_count; i++) {
        const policy_cut *cut = &stage->cuts[i];
        snprintf(pointer, sizeof pointer, "/cuts/%u", cut->slot);
        const mcp_json *record = mcp_json_pointer(json, pointer);
        assert_true(number_at(record, "/slot_index") == cut->slot);
        assert_true(number_at(record, "/cut_id") == (double)cut->id);
        assert_true(number_at(record, "/iteration") == cut->iteration);
        assert_true(number_at(record, "/forward_pass_index") == cut->forward_pass);
        assert_true(number_at(record, "/opening") == cut->opening);
        assert_true(fabs(number_at(record, "/intercept") - cut->intercept) < 1e-9);
        assert_true(fabs(number_at(record, "/coefficients/1") - policy_coefficient(stage, i, 1)) <
                    1e-9);
        assert_true(mcp_json_bool(mcp_json_get(record, "is_active"), &is_active));
        assert_int_equal(is_active, cut->is_active);
        active += is_active;
    }
    assert_int_equal(mcp_json_count(mcp_json_get(json, "active_cut_indices")), active);
    assert_true(number_at(json, "/active_cut_indices/0") == 6);
}

static void flatc_reads_our_other_files(void **state)
{
    struct world *world = *state;
    const policy_bases *bases = &world->sample.stages[1].bases;

    if (!has_flatc())
        skip();
    policy_encode_basis(&world->buf, &world->sample.policy, 1);
    const mcp_json *basis = as_json(world, "StageBasis");
    assert_true(number_at(basis, "/iteration") == 2);
    assert_int_equal(mcp_json_count(mcp_json_get(basis, "column_status")), bases->columns);
    assert_int_equal(mcp_json_count(mcp_json_get(basis, "row_status")),
                     bases->rows + bases->set_count);
    /* The sample's places of stage 1 go round from 1: basic, upper, lower, super, fixed, free. */
    static const int codes[] = { 1, 2, 0, 4, 0, 3 };
    char pointer[64];
    for (size_t i = 0; i < 6; i++) {
        snprintf(pointer, sizeof pointer, "/column_status/%zu", i);
        assert_true(number_at(basis, pointer) == codes[i]);
    }
    policy_encode_states(&world->buf, &world->sample.policy, 1);
    const mcp_json *states = as_json(world, "StageStates");
    assert_true(number_at(states, "/count") == 6);
    assert_true(fabs(number_at(states, "/data/11") - (11.0 / 3 + 1)) < 1e-9);
    policy_encode_resume(&world->buf, &world->sample.policy, true);
    const mcp_json *resume = as_json(world, "Resume");
    assert_true(number_at(resume, "/version") == 1);
    assert_true(number_at(resume, "/stages/0/last_active/0") == 21);
    assert_true(number_at(resume, "/iterations/1/lp_solves") == 1234567);
}

/* A policy of another program: absent where it may be, and in another order of bytes than ours. */
static void we_read_cuts_of_flatc(void **state)
{
    static const char text[] =
        "{ \"stage_id\": 3, \"state_dimension\": 2, \"warm_start_count\": 1, \"cuts\": ["
        "{ \"cut_id\": 9, \"slot_index\": 0, \"iteration\": 4294967295, \"intercept\": 12.25,"
        "  \"coefficients\": [-1.5, 0.125], \"is_active\": true },"
        "{ \"slot_index\": 1, \"coefficients\": [0, 0], \"state_at_generation\": [] },"
        "{ \"cut_id\": 1, \"slot_index\": 2, \"iteration\": 1, \"coefficients\": [-3, 0] } ],"
        "\"active_cut_indices\": [0], \"populated_count\": 3 }";
    struct world *world = *state;
    policy_stage stage = { 0 };
    const char *bytes = NULL;
    size_t length = 0;
    mcp_error err = MCP_ERROR_INIT;

    if (!has_flatc())
        skip();
    scratch_write(&world->folder, "theirs.json", text, sizeof text - 1);
    run_flatc(world, "--binary", "StageCuts", "theirs.json");
    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "theirs.bin", 1 << 20,
                                     world->arena, &err),
                     MCP_OK);
    mcp_status st = policy_decode_cuts(&stage, (policy_bytes){ bytes, length }, 2, world->arena,
                                       &err);
    if (st != MCP_OK)
        fail_msg("%s", err.message);
    assert_int_equal(stage.cut_count, 2);
    assert_int_equal(stage.warm_count, 1);
    assert_true(stage.cuts[0].id == 9 && stage.cuts[0].iteration == UINT32_MAX);
    assert_true(stage.cuts[0].is_active && !stage.cuts[1].is_active);
    assert_true(stage.cuts[0].intercept == 12.25 && stage.cuts[1].intercept == 0);
    assert_true(policy_coefficient(&stage, 0, 0) == -1.5 &&
                policy_coefficient(&stage, 0, 1) == 0.125);
    assert_true(stage.cuts[1].slot == 2 && policy_coefficient(&stage, 1, 0) == -3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(flatc_reads_our_cuts),
        TEST(flatc_reads_our_other_files),
        TEST(we_read_cuts_of_flatc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
