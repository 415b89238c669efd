/*
 * test_tree.c - the opening tree against the golden openings of 1dtoy, noise groups, and choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/generator.h"
#include "stochastic/seed.h"
#include "stochastic/tree.h"

static case_kit kit;

static const noise_tree *sample(mcp_arena *arena)
{
    const noise_tree *tree = NULL;
    assert_int_equal(tree_sample(&tree, arena, &kit.c, NULL), MCP_OK);
    return tree;
}

static void openings_of_1dtoy(void **state)
{
    static const double expected[] = {
        0.40098936496495646, -1.3954121776085244, 0.8337031709056368,   -0.5185461548250031,
        -1.1232292158458135, -0.3963770714475992, 0.019891174185291894, 1.3070600521065354,
        0.34846072414240065, -0.9723227944279634,
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    case_1dtoy(&kit);
    const noise_tree *tree = sample(arena);
    assert_int_equal(tree->dimension, 1);
    assert_int_equal(tree->openings[0], 10);
    for (uint32_t w = 0; w < 10; w++)
        assert_true(tree_noise(tree, 0, w)[0] == expected[w]);
    mcp_arena_free(arena);
}

/* A stochastic bus adds a dimension after the hydros; golden pairs of the method page, 4.2. */
static void stochastic_buses_come_after_hydros(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    kit_begin(&kit, 2, 1, 0, 2, 0);
    kit.stages[0].openings = 3;
    kit.bus_is_stochastic[1] = true;
    const noise_tree *tree = sample(arena);
    assert_int_equal(tree->dimension, 2);
    assert_true(tree_noise(tree, 0, 0)[1] == 0.22792558815859804);
    assert_true(tree_noise(tree, 0, 1)[0] == -1.3954121776085244);
    assert_true(tree_noise(tree, 0, 2)[1] == -1.6199918031824887);
    mcp_arena_free(arena);
}

static void set_season(size_t t, uint32_t season, const char *start, uint32_t openings)
{
    kit.stages[t].has_season = true;
    kit.stages[t].season_id = season;
    kit.stages[t].start_date = start;
    kit.stages[t].openings = openings;
}

/* Weeks of one month share their noise; more openings than the week before stay zero. */
static void stages_of_a_season_share_noise(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    kit_begin(&kit, 5, 1, 0, 1, 0);
    set_season(0, 0, "2024-01-01", 3);
    set_season(1, 0, "2024-01-08", 5);
    set_season(2, 1, "2024-02-01", 3);
    set_season(3, 1, "2025-02-01", 3);
    kit.stages[4].openings = 3;
    const noise_tree *tree = sample(arena);
    for (uint32_t w = 0; w < 3; w++) {
        assert_true(tree_noise(tree, 1, w)[0] == tree_noise(tree, 0, w)[0]);
        assert_true(tree_noise(tree, 2, w)[0] != tree_noise(tree, 1, w)[0]);
        assert_true(tree_noise(tree, 3, w)[0] != tree_noise(tree, 2, w)[0]);
        assert_true(tree_noise(tree, 4, w)[0] != tree_noise(tree, 3, w)[0]);
    }
    assert_true(tree_noise(tree, 1, 3)[0] == 0.0);
    assert_true(tree_noise(tree, 1, 4)[0] == 0.0);
    mcp_arena_free(arena);
}

static void choice_is_a_draw_of_its_own(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    int seen[10] = { 0 };

    (void)state;
    case_1dtoy(&kit);
    const noise_tree *tree = sample(arena);
    for (uint32_t i = 1; i <= 200; i++) {
        uint32_t j = tree_choose(tree, 42, i, 0, 1);
        generator g = generator_seeded(seed_forward(42, i, 0, 1));
        assert_int_equal(j, generator_below(&g, 10));
        seen[j]++;
    }
    for (int j = 0; j < 10; j++)
        assert_true(seen[j] > 0);
    mcp_arena_free(arena);
}

static void memory_is_bounded(void **state)
{
    mcp_arena *arena = mcp_arena_new(4096);
    const noise_tree *tree = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    case_1dtoy(&kit);
    kit.stages[3].openings = 100000;
    assert_true(tree_bytes(&kit.c) > 800000.0);
    assert_int_equal(tree_sample(&tree, arena, &kit.c, &err), MCP_E_NOMEM);
    assert_null(tree);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openings_of_1dtoy),
        cmocka_unit_test(stochastic_buses_come_after_hydros),
        cmocka_unit_test(stages_of_a_season_share_noise),
        cmocka_unit_test(choice_is_a_draw_of_its_own),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
