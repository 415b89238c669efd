/*
 * test_results.c - the files that the beginning of a run removes and keeps, and the markers.
 */
#include "sample.h"

#include "guard/paths.h"

static const char *const old_files[] = {
    "training/_SUCCESS",
    "training/metadata.json",
    "training/convergence.parquet",
    "training/timing/iterations.parquet",
    "simulation/_SUCCESS",
    "simulation/metadata.json",
    "simulation/costs/scenario_id=0007/data.parquet",
    "policy/metadata.json",
    "training/dictionaries/entities.csv",
};

static void lay_old_run(const struct world *world)
{
    for (size_t i = 0; i < sizeof old_files / sizeof old_files[0]; i++)
        scratch_write(&world->folder, old_files[i], "old", 3);
}

static void a_training_makes_old_results_void(void **state)
{
    struct world *world = *state;

    lay_old_run(world);
    results *run = begin(world, &sample_options);
    for (size_t i = 0; i < 6; i++)
        assert_false(is_there(world, old_files[i]));
    assert_true(is_there(world, "policy/metadata.json"));
    assert_true(is_there(world, "training/dictionaries/codes.json"));
    results_free(run);
}

static void a_simulation_alone_keeps_the_training(void **state)
{
    struct world *world = *state;
    results_options options = sample_options;

    lay_old_run(world);
    options.trains = false;
    results *run = begin(world, &options);
    for (size_t i = 0; i < 4; i++)
        assert_true(is_there(world, old_files[i]));
    assert_false(is_there(world, "simulation/_SUCCESS"));
    assert_false(is_there(world, "simulation/metadata.json"));
    assert_true(is_there(world, old_files[8]));
    assert_false(is_there(world, "training/dictionaries/codes.json"));
    results_free(run);
}

/* Its results name entities by id, and the dictionary has their names. */
static void a_simulation_alone_in_a_new_directory_has_dictionaries(void **state)
{
    struct world *world = *state;
    results_options options = sample_options;

    options.trains = false;
    results *run = begin(world, &options);
    assert_true(is_there(world, "training/dictionaries/entities.csv"));
    assert_true(is_there(world, "training/dictionaries/codes.json"));
    assert_false(is_there(world, "training/timing"));
    results_free(run);
}

static void folders_are_there_from_the_start(void **state)
{
    struct world *world = *state;
    results *run = begin(world, &sample_options);

    assert_true(is_there(world, "training/timing"));
    assert_true(is_there(world, "simulation"));
    assert_false(is_there(world, "training/_SUCCESS"));
    results_free(run);
    results_free(NULL);
}

/* A link in the output directory is not followed. */
static void links_in_the_directory_are_not_followed(void **state)
{
    struct world *world = *state;
    results *run = NULL;
    scratch other;

    scratch_open(&other);
    assert_int_equal(symlinkat(other.path, world->folder.fd, "training"), 0);
    assert_int_equal(
        results_begin(&run, &sample_case, world->folder.fd, &sample_options, &world->err),
        MCP_E_DENIED);
    assert_null(run);
    assert_false(guard_exists(other.fd, "timing"));
    scratch_close(&other);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_training_makes_old_results_void),
        EACH(a_simulation_alone_keeps_the_training),
        EACH(a_simulation_alone_in_a_new_directory_has_dictionaries),
        EACH(folders_are_there_from_the_start),
        EACH(links_in_the_directory_are_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
