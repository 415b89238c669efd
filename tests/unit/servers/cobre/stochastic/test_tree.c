/*
 * test_tree.c - the opening tree against the golden openings of 1dtoy, noise groups, methods,
 * correlation, given openings, and choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/calendar.h"
#include "stochastic/generator.h"
#include "stochastic/seed.h"
#include "stochastic/tree.h"

static case_kit kit;

static const noise_tree *sample(mcp_arena *arena)
{
    const noise_tree *tree = NULL;
    inflow_model model;
    mcp_error err = MCP_ERROR_INIT;

    if (inflow_model_build(&model, arena, &kit.c, &err) != MCP_OK ||
        tree_sample(&tree, arena, &kit.c, &model, &err) != MCP_OK)
        fail_msg("%s", err.message);
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
    inflow_model model;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    case_1dtoy(&kit);
    kit.stages[3].openings = 100000;
    assert_true(tree_bytes(&kit.c) > 800000.0);
    assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_OK);
    assert_int_equal(tree_sample(&tree, arena, &kit.c, &model, &err), MCP_E_NOMEM);
    assert_null(tree);
    mcp_arena_free(arena);
}

/* ---- methods --------------------------------------------------------------------------------- */

#define MANY 4096

static const cobre_sampling drawn[] = { COBRE_SAMPLING_SAA, COBRE_SAMPLING_LHS,
                                        COBRE_SAMPLING_SOBOL, COBRE_SAMPLING_HALTON };

static double mean_product(const noise_tree *tree, size_t a, size_t b)
{
    double sum = 0.0;

    for (uint32_t w = 0; w < tree->openings[0]; w++)
        sum += tree_noise(tree, 0, w)[a] * tree_noise(tree, 0, w)[b];
    return sum / tree->openings[0];
}

static double mean_of(const noise_tree *tree, size_t a)
{
    double sum = 0.0;

    for (uint32_t w = 0; w < tree->openings[0]; w++)
        sum += tree_noise(tree, 0, w)[a];
    return sum / tree->openings[0];
}

/*
 * Independent draws: the mean of n deviates has variance 1/n; that of n products of deviates with
 * correlation r has (1 + r^2)/n, that of squares 2/n. Five deviations are exceeded once in a
 * million draws; the seed is fixed. The other methods spread better than that.
 */
static void every_method_has_the_wanted_moments(void **state)
{
    const double matrix[] = { 1, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 1 };
    const size_t members[] = { 0, 1, 2 }, of_stage = 0;
    const cobre_correlation_group group = { COBRE_CLASS_INFLOW, "g", members, 3, matrix };
    const cobre_correlation_profile profile = { "default", &group, 1 };

    (void)state;
    for (size_t m = 0; m < sizeof drawn / sizeof drawn[0]; m++) {
        mcp_arena *arena = mcp_arena_new(0);
        kit_begin(&kit, 1, 3, 0, 2, 0);
        kit.bus_is_stochastic[0] = true;
        kit.stages[0].openings = MANY;
        kit.stages[0].sampling = drawn[m];
        kit.c.scenarios.has_correlation = true;
        kit.c.scenarios.profiles = &profile;
        kit.c.scenarios.profile_count = 1;
        kit.c.scenarios.profile_of_stage = &of_stage;
        const noise_tree *tree = sample(arena);
        assert_int_equal(tree->dimension, 4);
        for (size_t a = 0; a < 4; a++) {
            assert_true(fabs(mean_of(tree, a)) < 5.0 / sqrt(MANY));
            for (size_t b = 0; b <= a; b++) {
                double r = a == b ? 1.0 : a < 3 ? matrix[a * 3 + b] : 0.0;
                assert_true(fabs(mean_product(tree, a, b) - r) < 5.0 * sqrt((1 + r * r) / MANY));
            }
        }
        mcp_arena_free(arena);
    }
}

static void methods_do_not_depend_on_work(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof drawn / sizeof drawn[0]; m++) {
        mcp_arena *arena = mcp_arena_new(0);
        kit_begin(&kit, 2, 2, 0, 1, 0);
        kit.stages[1].openings = 9;
        kit.stages[1].sampling = drawn[m];
        const noise_tree *two = sample(arena);
        kit_begin(&kit, 1, 2, 0, 1, 0);
        kit.stages[0].id = 1;
        kit.stages[0].openings = 9;
        kit.stages[0].sampling = drawn[m];
        const noise_tree *one = sample(arena);
        assert_memory_equal(one->noise[0], two->noise[1], 18 * sizeof(double));
        mcp_arena_free(arena);
    }
}

static void selective_is_refused(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const noise_tree *tree = NULL;
    inflow_model model;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    kit_begin(&kit, 1, 1, 0, 1, 0);
    kit.stages[0].id = 17;
    kit.stages[0].sampling = COBRE_SAMPLING_SELECTIVE;
    assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_OK);
    assert_int_equal(tree_sample(&tree, arena, &kit.c, &model, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "stage 17"));
    mcp_arena_free(arena);
}

/* Hydros and stochastic buses are given; the source has a place, and no noise. */
static void given_openings_are_the_tree(void **state)
{
    const double stage[] = { 1, 2, 3, 4 }, *const stages[] = { stage };
    const uint32_t counts[] = { 2 };
    const cobre_source source = { .is_stochastic = true };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    kit_begin(&kit, 1, 1, 0, 1, 0);
    kit.stages[0].openings = 7;
    kit.stages[0].sampling = COBRE_SAMPLING_SELECTIVE;
    kit.bus_is_stochastic[0] = true;
    kit.c.sources = &source;
    kit.c.source_count = 1;
    kit.c.scenarios.openings = stages;
    kit.c.scenarios.opening_counts = counts;
    const noise_tree *tree = sample(arena);
    assert_int_equal(tree->dimension, 3);
    assert_int_equal(tree->openings[0], 2);
    const double expected[] = { 1, 2, 0, 3, 4, 0 };
    assert_memory_equal(tree->noise[0], expected, sizeof expected);
    mcp_arena_free(arena);
}

static void external_scenarios_bound_the_openings(void **state)
{
    const uint32_t counts[] = { 4, 20 };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    kit_begin(&kit, 2, 1, 0, 1, 0);
    kit.stages[0].openings = kit.stages[1].openings = 10;
    kit.c.scenarios.inflow.counts = counts;
    const noise_tree *tree = sample(arena);
    assert_int_equal(tree->openings[0], 10);
    kit.c.config.training_source.inflow = COBRE_SCHEME_EXTERNAL;
    tree = sample(arena);
    assert_int_equal(tree->openings[0], 4);
    assert_int_equal(tree->openings[1], 10);
    mcp_arena_free(arena);
}

/* Each opening is the residual vector of a year: (inflow - 40) / 10, of the same year for both
 * hydros. */
static void historical_openings_are_years(void **state)
{
    cobre_observation history[8];
    const double residuals[4] = { -1.5, 0.25, 1.0, 3.0 };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    kit_begin(&kit, 1, 2, 0, 1, 0);
    for (size_t i = 0; i < 8; i++)
        history[i] = (cobre_observation){ i / 4, calendar_day_of(2000 + (int32_t)i % 4, 3, 5),
                                          40.0 + 10.0 * residuals[i % 4] + (double)(i / 4) };
    const cobre_season march = { 0, "March", 3, 1, 3, 31 };
    kit.c.seasons = &march;
    kit.c.season_count = 1;
    kit.c.has_seasons = true;
    set_season(0, 0, "2024-03-01", 10);
    kit.stages[0].sampling = COBRE_SAMPLING_HISTORICAL;
    const cobre_inflow_stats stats[] = { { 0, 0, 40, 10 }, { 1, 0, 41, 10 } };
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = 2;
    kit.c.scenarios.history = history;
    kit.c.scenarios.history_count = 8;
    const noise_tree *tree = sample(arena);
    assert_int_equal(tree->openings[0], 4);
    for (uint32_t w = 0; w < 4; w++) {
        size_t year = seed_opening(42, w, 0) % 4;
        assert_true(fabs(tree_noise(tree, 0, w)[0] - residuals[year]) < 1e-12);
        assert_true(fabs(tree_noise(tree, 0, w)[1] - residuals[year]) < 1e-12);
    }
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
        cmocka_unit_test(every_method_has_the_wanted_moments),
        cmocka_unit_test(methods_do_not_depend_on_work),
        cmocka_unit_test(selective_is_refused),
        cmocka_unit_test(given_openings_are_the_tree),
        cmocka_unit_test(external_scenarios_bound_the_openings),
        cmocka_unit_test(historical_openings_are_years),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
