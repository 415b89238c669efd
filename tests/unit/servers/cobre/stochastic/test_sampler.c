/*
 * test_sampler.c - every scheme of every class: what a draw depends on, and what it gives back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/calendar.h"
#include "stochastic/sampler.h"

#define HYDROS 2
#define PLACES 4 /* two hydros, bus 1, the source */

static case_kit kit;
static cobre_source source;
static cobre_source_stage source_stages[KIT_STAGES];
static cobre_season months[12];
static cobre_inflow_stats stats[HYDROS * (KIT_STAGES + 1)];
static cobre_ar_row ar[HYDROS * KIT_STAGES];
static inflow_model model;
static const noise_tree *tree;
static mcp_arena *arena;

/* Months of 2024, mean 40 and 60, deviation 10, one lag with coefficient 0.6. */
static void begin_case(size_t stages)
{
    kit_begin(&kit, stages, HYDROS, 0, 2, 0);
    kit.bus_is_stochastic[1] = true;
    source = (cobre_source){ .is_stochastic = true };
    kit.c.sources = &source;
    kit.c.source_count = 1;
    kit.c.source_stages = source_stages;
    for (uint32_t i = 0; i < 12; i++)
        months[i] = (cobre_season){ i, "M", i + 1, 1, i + 1, 31 };
    kit.c.seasons = months;
    kit.c.season_count = 12;
    kit.c.has_seasons = true;
    for (size_t t = 0; t < stages; t++) {
        cobre_stage *stage = &kit.stages[t];
        stage->has_season = true;
        stage->season_id = (uint32_t)t;
        stage->start = calendar_day_of(2024, (int32_t)t + 1, 1);
        stage->end = calendar_day_of(2024, (int32_t)t + 2, 1);
        stage->openings = 5;
        *kit_bus(&kit, t, 1) = (cobre_bus_stage){ .load_mean = 100, .load_std = 4 };
        source_stages[t] = (cobre_source_stage){ .mean = 0.5, .std = 0.1 };
    }
    for (size_t h = 0; h < HYDROS; h++) {
        for (size_t i = 0; i <= stages; i++) {
            double mean = 40.0 + 20.0 * (double)h;
            stats[h * (stages + 1) + i] = (cobre_inflow_stats){ h, (int32_t)i - 1, mean, 10 };
            if (i > 0)
                ar[h * stages + i - 1] = (cobre_ar_row){ h, (int32_t)i - 1, 1, 0.6, 0.8 };
        }
    }
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = HYDROS * (stages + 1);
    kit.c.scenarios.ar = ar;
    kit.c.scenarios.ar_count = HYDROS * stages;
    kit.c.config.training_source.seed = 99;
}

static mcp_status try_make(const sampler **out, const cobre_scenario_source *from, mcp_error *err)
{
    mcp_status st = inflow_model_build(&model, arena, &kit.c, err);

    if (st == MCP_OK)
        st = tree_sample(&tree, arena, &kit.c, &model, err);
    if (st == MCP_OK)
        st = sampler_new(out, arena, &kit.c, from, &model, tree, err);
    return st;
}

static const sampler *make(cobre_scheme inflow, cobre_scheme load, cobre_scheme ncs)
{
    static cobre_scenario_source from;
    const sampler *made = NULL;
    mcp_error err = MCP_ERROR_INIT;

    from = (cobre_scenario_source){ .seed = 99, .inflow = inflow, .load = load, .ncs = ncs };
    if (try_make(&made, &from, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return made;
}

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    begin_case(3);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static const double no_lags[HYDROS];

static int32_t draw(const sampler *s, uint32_t iteration, uint32_t scenario, uint32_t scenarios,
                    size_t stage, double *noise)
{
    const sampler_path path = { iteration, scenario, scenarios };
    return sampler_draw(s, &path, stage, stage, no_lags, noise);
}

#define ALL(scheme) COBRE_SCHEME_##scheme, COBRE_SCHEME_##scheme, COBRE_SCHEME_##scheme

static void in_sample_is_an_opening_of_the_tree(void **state)
{
    const sampler *s = make(ALL(IN_SAMPLE));
    double noise[PLACES];

    (void)state;
    assert_int_equal(tree->dimension, PLACES);
    for (uint32_t i = 1; i < 40; i++) {
        int32_t opening = draw(s, i, 3, 4, 2, noise);
        assert_int_equal(opening, tree_choose(tree, 42, i, 3, 2));
        assert_memory_equal(noise, tree_noise(tree, 2, (uint32_t)opening), sizeof noise);
        opening = draw(s, 0, i, 100, 1, noise);
        assert_int_equal(opening, tree_choose(tree, 42, 0, 2147483647u + i, 1));
    }
    const sampler_path later = { 1, 0, 1 };
    bool differs = false;
    for (size_t round = 1; round < 20; round++) {
        int32_t opening = sampler_draw(s, &later, 2, 2 + 3 * round, no_lags, noise);
        assert_memory_equal(noise, tree_noise(tree, 2, (uint32_t)opening), sizeof noise);
        differs = differs || opening != (int32_t)tree_choose(tree, 42, 1, 0, 2);
    }
    assert_true(differs);
}

/* Only the classes that are in sample take the opening. */
static void classes_have_schemes_of_their_own(void **state)
{
    const sampler *s = make(COBRE_SCHEME_OUT_OF_SAMPLE, COBRE_SCHEME_IN_SAMPLE,
                            COBRE_SCHEME_OUT_OF_SAMPLE);
    double noise[PLACES];
    int32_t opening = draw(s, 1, 0, 1, 0, noise);

    (void)state;
    assert_true(opening >= 0);
    assert_true(noise[2] == tree_noise(tree, 0, (uint32_t)opening)[2]);
    assert_true(noise[0] != tree_noise(tree, 0, (uint32_t)opening)[0]);
    assert_true(noise[3] != tree_noise(tree, 0, (uint32_t)opening)[3]);
    assert_int_equal(draw(make(ALL(OUT_OF_SAMPLE)), 1, 0, 1, 0, noise), -1);
}

/* Of n paths the mean has deviation 1/sqrt(n), a product of independent deviates too: five of them
 * bound each. The original gives all classes the same deviates. */
static void classes_are_independent_out_of_sample(void **state)
{
    enum { PATHS = 2000 };
    static const cobre_sampling methods[] = { COBRE_SAMPLING_SAA, COBRE_SAMPLING_LHS,
                                              COBRE_SAMPLING_SOBOL, COBRE_SAMPLING_HALTON };
    double noise[PLACES];

    (void)state;
    for (size_t m = 0; m < 4; m++) {
        double sum[PLACES] = { 0 }, product[PLACES][PLACES] = { { 0 } };
        kit.stages[1].sampling = methods[m];
        kit.c.config.original_arithmetic = false;
        const sampler *s = make(ALL(OUT_OF_SAMPLE));
        for (uint32_t i = 0; i < PATHS; i++) {
            draw(s, 4, i, PATHS, 1, noise);
            for (size_t a = 0; a < PLACES; a++) {
                sum[a] += noise[a];
                for (size_t b = 0; b < PLACES; b++)
                    product[a][b] += noise[a] * noise[b];
            }
        }
        for (size_t a = 0; a < PLACES; a++) {
            assert_true(fabs(sum[a] / PATHS) < 5 / sqrt(PATHS));
            for (size_t b = 0; b < PLACES; b++)
                assert_true(fabs(product[a][b] / PATHS - (a == b)) <
                            5 * (a == b ? sqrt(2) : 1) / sqrt(PATHS));
        }
        kit.c.config.original_arithmetic = true;
        draw(make(ALL(OUT_OF_SAMPLE)), 4, 7, PATHS, 1, noise);
        assert_true(noise[2] == noise[0] && noise[3] == noise[0]);
    }
}

static double share(double deviate)
{
    return 0.5 * erfc(-deviate / sqrt(2.0));
}

/* Of 64 paths each of 64 strata holds one, in training and in simulation. */
static void paths_are_spread_over_strata(void **state)
{
    static const cobre_sampling methods[] = { COBRE_SAMPLING_LHS, COBRE_SAMPLING_SOBOL };
    double noise[PLACES], first[2];

    (void)state;
    for (size_t m = 0; m < 2; m++) {
        kit.stages[0].sampling = methods[m];
        const sampler *s = make(ALL(OUT_OF_SAMPLE));
        for (uint32_t iteration = 0; iteration < 2; iteration++) {
            bool seen[PLACES][64] = { { false } };
            for (uint32_t i = 0; i < 64; i++) {
                draw(s, iteration, i, 64, 0, noise);
                for (size_t a = 0; a < PLACES; a++) {
                    size_t stratum = (size_t)(share(noise[a]) * 64);
                    assert_false(seen[a][stratum]);
                    seen[a][stratum] = true;
                }
            }
            first[iteration] = noise[0];
        }
        assert_true(first[0] != first[1]);
    }
}

/* Stages 0 and 1 are weeks of one January: one noise. A later round of a cycle has another. */
static void stages_of_a_group_draw_alike(void **state)
{
    double a[PLACES], b[PLACES];
    const sampler_path path = { 1, 0, 1 };

    (void)state;
    kit.stages[1].season_id = 0;
    const sampler *s = make(ALL(OUT_OF_SAMPLE));
    draw(s, 1, 0, 1, 0, a);
    draw(s, 1, 0, 1, 1, b);
    assert_memory_equal(a, b, sizeof a);
    draw(s, 1, 0, 1, 2, b);
    assert_true(a[0] != b[0]);
    sampler_draw(s, &path, 0, 3, no_lags, b);
    assert_true(a[0] != b[0]);
}

static const double matrix[] = { 1, -0.5, -0.5, 1 };

static void draws_out_of_sample_are_correlated(void **state)
{
    enum { PATHS = 4000 };
    const size_t members[] = { 0, 1 }, of_stage[] = { 0, 0, 0 };
    const cobre_correlation_group group = { COBRE_CLASS_INFLOW, "g", members, 2, matrix };
    const cobre_correlation_profile profile = { "default", &group, 1 };
    double noise[PLACES], sum = 0.0;

    (void)state;
    kit.c.scenarios.has_correlation = true;
    kit.c.scenarios.profiles = &profile;
    kit.c.scenarios.profile_count = 1;
    kit.c.scenarios.profile_of_stage = of_stage;
    const sampler *s = make(ALL(OUT_OF_SAMPLE));
    for (uint32_t i = 0; i < PATHS; i++) {
        draw(s, 1, i, PATHS, 0, noise);
        sum += noise[0] * noise[1];
    }
    assert_true(fabs(sum / PATHS + 0.5) < 5 * sqrt(1.25 / PATHS));
}

/* ---- external -------------------------------------------------------------------------------- */

/* Three scenarios, two in stage 1: by scenario, an inflow of each hydro. */
static const double flows[3][6] = { { 30, 50, 45, 61, 20, 80 },
                                    { 35, 55, 41, 66, -1, -1 },
                                    { 25, 45, 48, 51, 33, 57 } };
static const double loads[3][6] = { { 0, 98, 0, 104, 0, 100 },
                                    { 0, 90, 0, 91, 0, -1 },
                                    { 0, 97, 0, 92, 0, 93 } };
static const double shares[3][3] = { { 0.5, 0.6, 0.45 }, { 0.3, 0.2, -1 }, { 0.1, 0.7, 0.9 } };
static const uint32_t external_counts[] = { 3, 2, 3 };

static void give_external(void)
{
    static const double *flow[3], *load[3], *ncs[3];

    for (size_t t = 0; t < 3; t++) {
        flow[t] = flows[t];
        load[t] = loads[t];
        ncs[t] = shares[t];
    }
    kit.c.scenarios.inflow = (cobre_external){ 2, external_counts, flow };
    kit.c.scenarios.load = (cobre_external){ 2, external_counts, load };
    kit.c.scenarios.ncs = (cobre_external){ 1, external_counts, ncs };
}

/* The path's inflow, load and share are those of one scenario; scenario 2 has no row in stage 1 and
 * takes scenario 0's there. Every scenario comes up. */
static void external_noise_gives_the_file_back(void **state)
{
    bool seen[3] = { false };

    (void)state;
    give_external();
    const sampler *s = make(ALL(EXTERNAL));
    for (uint32_t i = 0; i < 40; i++) {
        const sampler_path path = { i % 2, i, 40 };
        double lags[] = { 42, 58 }, noise[PLACES];
        size_t scenario = 3;
        for (size_t t = 0; t < 3; t++) {
            assert_int_equal(sampler_draw(s, &path, t, t, lags, noise), -1);
            for (size_t h = 0; h < HYDROS; h++)
                lags[h] = inflow_certain(&model, t, h, lags) + 8 * noise[h];
            for (size_t k = 0; t == 0 && k < 3; k++)
                scenario = fabs(flows[0][k * 2] - lags[0]) < 1e-9 ? k : scenario;
            assert_true(scenario < 3);
            seen[scenario] = true;
            size_t at = scenario % external_counts[t];
            for (size_t h = 0; h < HYDROS; h++)
                assert_true(fabs(lags[h] - flows[t][at * 2 + h]) < 1e-9);
            assert_true(fabs(100 + 4 * noise[2] - loads[t][at * 2 + 1]) < 1e-9);
            assert_true(fabs(0.5 + 0.1 * noise[3] - shares[t][at]) < 1e-9);
        }
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void external_files_are_complete(void **state)
{
    const cobre_scenario_source from = { .seed = 99, .load = COBRE_SCHEME_EXTERNAL };
    const uint32_t short_counts[] = { 3, 0, 3 };
    double broken[6];
    const double *values[3] = { broken, broken, broken };
    const sampler *made = NULL;

    (void)state;
    for (int i = 0; i < 3; i++) {
        mcp_error err = MCP_ERROR_INIT;
        give_external();
        memcpy(broken, loads[0], sizeof broken);
        broken[i == 2 ? 5 : 4] = NAN;
        if (i == 0)
            kit.c.scenarios.load.counts = NULL;
        if (i == 1)
            kit.c.scenarios.load.counts = short_counts;
        if (i == 2)
            kit.c.scenarios.load.values = values;
        assert_int_equal(try_make(&made, &from, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "external_load_scenarios"));
        assert_true(i != 1 || strstr(err.message, "stage 1"));
        assert_true(i != 2 || strstr(err.message, "lacks a value of bus 1"));
        assert_null(made);
    }
    /* The bus without noise needs no value. */
    mcp_error err = MCP_ERROR_INIT;
    memcpy(broken, loads[0], sizeof broken);
    broken[4] = NAN;
    assert_int_equal(try_make(&made, &from, &err), MCP_OK);
}

/* ---- historical ------------------------------------------------------------------------------ */

static cobre_observation history[HYDROS * 48];

/* Four years from July 1999: 1999 has no January, 2000 to 2002 are whole, 2003 ends in June. */
static void give_history(void)
{
    for (size_t i = 0; i < HYDROS * 48; i++) {
        size_t month = i % 48;
        history[i] = (cobre_observation){ i / 48, calendar_day_of(1999, 7 + (int32_t)month, 1),
                                          30.0 + (double)(i * 37 % 23) };
    }
    kit.c.scenarios.history = history;
    kit.c.scenarios.history_count = HYDROS * 48;
}

static double seen_in(size_t hydro, int32_t year, int32_t month)
{
    return history[hydro * 48 + (size_t)((year - 1999) * 12 + month - 7)].value;
}

static void historical_paths_repeat_a_year(void **state)
{
    bool seen[4] = { false };

    (void)state;
    give_history();
    const sampler *s = make(COBRE_SCHEME_HISTORICAL, COBRE_SCHEME_IN_SAMPLE,
                            COBRE_SCHEME_IN_SAMPLE);
    for (uint32_t i = 0; i < 60; i++) {
        const sampler_path path = { 1 + i, 0, 1 };
        double lags[HYDROS], noise[PLACES];
        int32_t year = 1999;
        assert_true(sampler_initial_lags(s, &path, lags));
        while (seen_in(0, year, 12) != lags[0] || seen_in(1, year, 12) != lags[1])
            assert_true(++year < 2003);
        year++;
        seen[year - 2000] = true;
        for (size_t t = 0; t < 3; t++) {
            sampler_draw(s, &path, t, t, lags, noise);
            for (size_t h = 0; h < HYDROS; h++) {
                lags[h] = inflow_certain(&model, t, h, lags) + 8 * noise[h];
                assert_true(fabs(lags[h] - seen_in(h, year, (int32_t)t + 1)) < 1e-9);
            }
        }
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

static void years_can_be_chosen(void **state)
{
    const int32_t years[] = { 1990, 2002 }, none[] = { 1999 };
    cobre_scenario_source from = { .inflow = COBRE_SCHEME_HISTORICAL,
                                   .years = years,
                                   .year_count = 2 };
    const sampler *s = NULL;
    mcp_error err = MCP_ERROR_INIT;
    double lags[HYDROS];

    (void)state;
    give_history();
    assert_int_equal(try_make(&s, &from, &err), MCP_OK);
    for (uint32_t i = 0; i < 9; i++) {
        const sampler_path path = { 0, i, 9 };
        assert_true(sampler_initial_lags(s, &path, lags));
        assert_true(lags[0] == seen_in(0, 2001, 12));
    }
    from.years = none;
    from.year_count = 1;
    assert_int_equal(try_make(&s, &from, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "inflow_history"));
}

static void only_history_sets_the_first_lags(void **state)
{
    const sampler_path path = { 1, 0, 1 };
    double lags[HYDROS] = { 1, 2 };

    (void)state;
    assert_false(sampler_initial_lags(make(ALL(OUT_OF_SAMPLE)), &path, lags));
    assert_true(lags[0] == 1 && lags[1] == 2);
}

static void hypercubes_have_a_limit(void **state)
{
    const cobre_scenario_source from = { .inflow = COBRE_SCHEME_OUT_OF_SAMPLE };
    const sampler *made = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    kit.stages[2].sampling = COBRE_SAMPLING_LHS;
    kit.c.config.simulation_enabled = true;
    kit.c.config.simulation_scenarios = 65537;
    assert_int_equal(try_make(&made, &from, &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "stage 2"));
    kit.c.config.simulation_scenarios = 65536;
    assert_int_equal(try_make(&made, &from, &err), MCP_OK);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(in_sample_is_an_opening_of_the_tree),   EACH(classes_have_schemes_of_their_own),
        EACH(classes_are_independent_out_of_sample), EACH(paths_are_spread_over_strata),
        EACH(stages_of_a_group_draw_alike),          EACH(draws_out_of_sample_are_correlated),
        EACH(external_noise_gives_the_file_back),    EACH(external_files_are_complete),
        EACH(historical_paths_repeat_a_year),        EACH(years_can_be_chosen),
        EACH(only_history_sets_the_first_lags),      EACH(hypercubes_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
