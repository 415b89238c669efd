/*
 * test_read.c - parts of a policy: its summary, one stage; and what keeps it from being read.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/read.h"
#include "policy/save.h"
#include "policy_sample.h"
#include "scratch.h"

struct world {
    scratch folder;
    mcp_arena *arena;
    mcp_error err;
    sample sample;
    int fd; /* the policy */
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    assert_non_null(world);
    scratch_open(&world->folder);
    world->arena = mcp_arena_new(0);
    sample_init(&world->sample, 2);
    assert_int_equal(policy_save(world->folder.fd, "policy", &world->sample.policy, NULL, NULL),
                     MCP_OK);
    assert_int_equal(policy_open(&world->fd, world->folder.fd, "policy", NULL), MCP_OK);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    close(world->fd);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    free(world);
    return 0;
}

static void a_summary_counts_the_cuts(void **state)
{
    struct world *world = *state;
    const policy_summary *summary = NULL;

    assert_int_equal(policy_read_summary(&summary, world->fd, world->arena, &world->err), MCP_OK);
    assert_int_equal(summary->stage_count, 3);
    assert_int_equal(summary->dimension, 2);
    assert_int_equal(summary->stages[0].cuts, 6);  /* 2 warm, 2 iterations of 2 passes */
    assert_int_equal(summary->stages[1].cuts, 12); /* the same for 3 openings */
    assert_int_equal(summary->stages[2].cuts, 0);
    assert_int_equal(summary->stages[0].active, 5);
    assert_int_equal(summary->cuts, 18);
    assert_int_equal(summary->metadata.completed_iterations, 2);
    assert_true(summary->metadata.final_lower_bound == 1e6 + 0.1);
    assert_true(isnan(summary->metadata.best_upper_bound));
}

static void one_stage_is_read_alone(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;

    assert_int_equal(policy_read_stage(&read, world->fd, 1, world->arena, &world->err), MCP_OK);
    expect_same_cuts(&world->sample.policy, read, 1, false);
    assert_int_equal(read->stages[0].cut_count, 0);
    assert_int_equal(policy_read_stage(&read, world->fd, 3, world->arena, &world->err),
                     MCP_E_LIMIT);
    assert_non_null(strstr(world->err.message, "3 stages"));
}

static void the_message_names_the_damaged_file(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;
    const policy_summary *summary = NULL;

    scratch_write(&world->folder, "policy/cuts/stage_001.bin", "no cuts", 7);
    assert_int_equal(policy_read(&read, world->fd, POLICY_CUTS, world->arena, &world->err),
                     MCP_E_PARSE);
    assert_int_equal(strncmp(world->err.message, "cuts/stage_001.bin: ", 20), 0);
    assert_int_equal(policy_read_summary(&summary, world->fd, world->arena, &world->err),
                     MCP_E_PARSE);
    assert_int_equal(unlinkat(world->fd, "cuts/stage_001.bin", 0), 0);
    assert_int_equal(policy_read(&read, world->fd, POLICY_CUTS, world->arena, &world->err),
                     MCP_E_PARSE);
    assert_string_equal(world->err.message, "cuts/stage_001.bin: the file is missing");
}

/* A warm start needs no resume.bin, so a damaged one does not stop it. */
static void cuts_alone_do_not_need_the_rest(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;

    scratch_write(&world->folder, "policy/resume.bin", "nothing", 7);
    assert_int_equal(policy_read(&read, world->fd, POLICY_CUTS, world->arena, &world->err), MCP_OK);
    expect_same_policy(&world->sample.policy, read, false);
    assert_int_equal(policy_read(&read, world->fd, POLICY_ALL, world->arena, &world->err),
                     MCP_E_PARSE);
    assert_int_equal(strncmp(world->err.message, "resume.bin: ", 12), 0);
}

/* A run saves while a tool reads. */
static void a_policy_that_is_replaced_meanwhile_is_read_again(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;
    int fd = -1;

    assert_int_equal(policy_save(world->folder.fd, "policy", &world->sample.policy, NULL, NULL),
                     MCP_OK);
    assert_int_equal(policy_read(&read, world->fd, POLICY_ALL, world->arena, &world->err),
                     MCP_E_BUSY);
    assert_int_equal(policy_open(&fd, world->folder.fd, "policy", NULL), MCP_OK);
    assert_int_equal(policy_read(&read, fd, POLICY_ALL, world->arena, &world->err), MCP_OK);
    close(fd);
}

static void metadata_of_the_original_is_enough(void **state)
{
    static const char text[] =
        "{\"cobre_version\":\"0.5.1\",\"created_at\":\"2026-01-17T08:00:00Z\","
        "\"completed_iterations\":2,\"final_lower_bound\":12.5,\"best_upper_bound\":null,"
        "\"state_dimension\":2,\"num_stages\":3,\"max_iterations\":8,\"forward_passes\":2,"
        "\"warm_start_cuts\":0,\"rng_seed\":42}";
    struct world *world = *state;
    const policy *read = NULL;

    scratch_write(&world->folder, "policy/metadata.json", text, sizeof text - 1);
    assert_int_equal(policy_read(&read, world->fd, POLICY_CUTS, world->arena, &world->err), MCP_OK);
    assert_null(read->metadata.hydro_ids);
    assert_int_equal(read->metadata.rng_seed, 42);
    scratch_write(&world->folder, "policy/metadata.json", "{\"num_stages\":-1}", 17);
    assert_int_equal(policy_read(&read, world->fd, POLICY_CUTS, world->arena, &world->err),
                     MCP_E_PARSE);
    assert_int_equal(strncmp(world->err.message, "metadata.json: ", 15), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_summary_counts_the_cuts),
        TEST(one_stage_is_read_alone),
        TEST(the_message_names_the_damaged_file),
        TEST(cuts_alone_do_not_need_the_rest),
        TEST(a_policy_that_is_replaced_meanwhile_is_read_again),
        TEST(metadata_of_the_original_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
