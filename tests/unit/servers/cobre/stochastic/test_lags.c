/*
 * test_lags.c - how lags move: whole stages, weeks in months, quarters after months, and where the
 * study begins inside a month. Shares are counted on a calendar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/calendar.h"
#include "stochastic/inflow.h"

static case_kit kit;
static cobre_season seasons[16];
static cobre_inflow_stats stats[64];
static cobre_ar_row ar[4];
static mcp_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

/* `stages` stages of `hydros` plants with `lags` lags, mean 50 and deviation 10 everywhere; twelve
 * months as seasons 0 to 11, four quarters as 12 to 15. */
static void begin_case(size_t stages, size_t hydros, uint32_t lags)
{
    kit_begin(&kit, stages, hydros, 0, 1, 0);
    for (uint32_t i = 0; i < 12; i++)
        seasons[i] = (cobre_season){ i, "M", i + 1, 1, i + 1, 31 };
    for (uint32_t i = 0; i < 4; i++)
        seasons[12 + i] = (cobre_season){ 12 + i, "Q", 3 * i + 1, 1, 3 * i + 1, 31 };
    kit.c.seasons = seasons;
    kit.c.season_count = 16;
    kit.c.has_seasons = true;
    kit.c.cycle = COBRE_CYCLE_MONTHLY;
    for (size_t i = 0; i < stages * hydros; i++)
        stats[i] = (cobre_inflow_stats){ i / stages, (int32_t)(i % stages), 50, 10 };
    for (uint32_t l = 0; l < lags; l++)
        ar[l] = (cobre_ar_row){ 0, 0, l + 1, 0.1, 0.9 };
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = stages * hydros;
    kit.c.scenarios.ar = ar;
    kit.c.scenarios.ar_count = lags;
}

static void set_stage(size_t t, uint32_t season, cobre_day start, cobre_day stop)
{
    kit.stages[t].has_season = true;
    kit.stages[t].season_id = season;
    kit.stages[t].start = start;
    kit.stages[t].end = stop;
}

static inflow_model build(void)
{
    inflow_model model = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    if (inflow_model_build(&model, arena, &kit.c, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return model;
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-15)

static void assert_move(const lag_move *move, double weight, double spill, bool is_last)
{
    NEAR(move->weight, weight);
    NEAR(move->spill, spill);
    assert_int_equal(move->is_last, is_last);
    assert_null(move->rebuild);
}

static void months(size_t count)
{
    for (size_t t = 0; t < count; t++)
        set_stage(t, (uint32_t)t, calendar_day_of(2024, (int32_t)t + 1, 1),
                  calendar_day_of(2024, (int32_t)t + 2, 1));
}

static void whole_months_move_one_by_one(void **state)
{
    (void)state;
    begin_case(3, 1, 2);
    months(3);
    inflow_model model = build();
    assert_false(model.accumulates);
    for (size_t t = 0; t < 3; t++) {
        assert_true(model.moves[t].weight == 1.0 && model.moves[t].spill == 0.0);
        assert_move(&model.moves[t], 1, 0, true);
        assert_false(model.moves[t].is_frozen);
    }
}

/* Weeks from 1 January 2024; the fifth ends on 5 February: 3 days of January's 31, 4 of February's
 * 29. The week of February that follows is the last of the study. */
static void weeks_accumulate_to_months(void **state)
{
    cobre_day first = calendar_day_of(2024, 1, 1);

    (void)state;
    begin_case(6, 1, 1);
    for (size_t t = 0; t < 6; t++)
        set_stage(t, t < 5 ? 0 : 1, first + 7 * (cobre_day)t, first + 7 * (cobre_day)t + 7);
    inflow_model model = build();
    assert_true(model.accumulates);
    for (size_t t = 0; t < 4; t++)
        assert_move(&model.moves[t], 7.0 / 31, 0, false);
    assert_move(&model.moves[4], 3.0 / 31, 4.0 / 29, true);
    assert_move(&model.moves[5], 7.0 / 29, 0, true);
}

/* Lag 1 of a week of January is December, for which its season's last stage stands: of two seasons
 * the second, which is stage 5. psi = 0.5 * 10 / 20. The original takes the week before. */
static void weeks_have_lags_of_months(void **state)
{
    cobre_day first = calendar_day_of(2024, 1, 1);

    (void)state;
    begin_case(6, 1, 1);
    for (size_t t = 0; t < 6; t++)
        set_stage(t, t < 5 ? 0 : 1, first + 7 * (cobre_day)t, first + 7 * (cobre_day)t + 7);
    ar[0] = (cobre_ar_row){ 0, 3, 1, 0.5, 0.9 };
    stats[5] = (cobre_inflow_stats){ 0, 5, 80, 20 };
    inflow_model model = build();
    assert_true(fabs(model.psi[3] - 0.25) < 1e-15);
    assert_true(fabs(model.base[3] - 30.0) < 1e-12);
    kit.c.config.original_arithmetic = true;
    model = build();
    assert_true(fabs(model.psi[3] - 0.5) < 1e-15);
}

/* A week from 30 December has season 0: January of the next year; the week before, season 11. */
static void a_week_at_new_year_belongs_to_the_month_it_names(void **state)
{
    cobre_day monday = calendar_day_of(2024, 12, 23);

    (void)state;
    begin_case(4, 1, 1);
    set_stage(0, 11, monday, monday + 7);
    set_stage(1, 0, monday + 7, monday + 14);
    set_stage(2, 0, monday + 14, monday + 21);
    set_stage(3, 0, monday + 21, monday + 28);
    inflow_model model = build();
    assert_move(&model.moves[0], 1, 0, true);
    assert_move(&model.moves[1], 5.0 / 31, 0, false);
    assert_move(&model.moves[2], 7.0 / 31, 0, false);
    assert_move(&model.moves[3], 7.0 / 31, 0, true);
}

/* January to June 2024, then the third quarter. Lag 1 is April to June (91 days), lag 2 January to
 * March (91 days in a leap year); a third lag would need 2023. */
static void quarters_after_months_take_means_of_months(void **state)
{
    const size_t first[] = { 3, 0 };
    const double share[2][3] = { { 30.0 / 91, 31.0 / 91, 30.0 / 91 },
                                 { 31.0 / 91, 29.0 / 91, 31.0 / 91 } };

    (void)state;
    begin_case(8, 1, 3);
    months(6);
    set_stage(6, 14, calendar_day_of(2024, 7, 1), calendar_day_of(2024, 10, 1));
    set_stage(7, 15, calendar_day_of(2024, 10, 1), calendar_day_of(2025, 1, 1));
    inflow_model model = build();
    const lag_rebuild *rebuild = model.moves[6].rebuild;
    assert_non_null(rebuild);
    assert_int_equal(rebuild->lags, 2);
    for (size_t l = 0; l < 2; l++) {
        assert_int_equal(rebuild->first[l], first[l]);
        assert_int_equal(rebuild->count[l], 3);
        for (size_t i = 0; i < 3; i++)
            NEAR(rebuild->share[l][i], share[l][i]);
    }
    assert_move(&model.moves[5], 1, 0, true);
    assert_move(&model.moves[7], 1, 0, true);
    assert_true(model.moves[6].weight == 1.0 && model.moves[6].is_last);
}

/* The study starts on 15 January. 14 of 31 days were observed at 62 m3/s by hydro 0, 7 days at 31
 * by hydro 1; hydro 2 counts with its mean, 50. What lies before January does not count. The
 * original counts it, and does not divide value * hours. */
static void observations_fill_the_month_that_runs(void **state)
{
    cobre_day first = calendar_day_of(2024, 1, 1);
    const cobre_recent recent[] = { { 0, first - 10, first, 999 },
                                    { 0, first, first + 14, 62 },
                                    { 1, first + 7, first + 14, 31 } };

    (void)state;
    begin_case(2, 3, 1);
    set_stage(0, 0, first + 14, first + 31);
    set_stage(1, 1, first + 31, first + 60);
    kit.c.scenarios.recent = recent;
    kit.c.scenarios.recent_count = 3;
    inflow_model model = build();
    assert_true(model.accumulates);
    NEAR(model.initial_weight, 14.0 / 31);
    assert_true(fabs(model.initial_sum[0] - 28.0) < 1e-12);
    assert_true(fabs(model.initial_sum[1] - 14.0) < 1e-12);
    assert_true(fabs(model.initial_sum[2] - 50.0 * 14 / 31) < 1e-12);
    assert_move(&model.moves[0], 17.0 / 31, 0, true);
    kit.c.config.original_arithmetic = true;
    model = build();
    NEAR(model.initial_weight, 24.0 / 31);
    assert_true(fabs(model.initial_sum[1] - 31.0 * 7 * 24) < 1e-9);
    assert_true(model.initial_sum[2] == 0.0);
}

/* Without months a stage is a period; the original's paths keep their lags there. */
static void stages_without_months_move_by_the_plain_rule(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        begin_case(2, 1, 1);
        months(2);
        if (i == 0)
            kit.c.has_seasons = false;
        if (i == 1)
            kit.c.cycle = COBRE_CYCLE_WEEKLY;
        if (i == 2)
            set_stage(1, 1, calendar_day_of(2024, 7, 1), calendar_day_of(2024, 8, 1));
        if (i == 3)
            kit.c.cycle = COBRE_CYCLE_CUSTOM;
        inflow_model model = build();
        assert_move(&model.moves[1], 1, 0, true);
        assert_false(model.moves[1].is_frozen);
        kit.c.config.original_arithmetic = true;
        model = build();
        assert_true(model.moves[1].is_frozen);
        assert_false(model.accumulates);
    }
}

static void past_inflows_are_the_first_lags(void **state)
{
    const double past[] = { 3, 2, 1 };

    (void)state;
    begin_case(2, 2, 2);
    months(2);
    kit.hydros[1].past_inflow = past;
    kit.hydros[1].past_inflow_count = 3;
    inflow_model model = build();
    assert_true(model.initial[1] == 3 && model.initial[3] == 2);
    assert_true(model.initial[0] == 0 && model.initial[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_months_move_one_by_one, begin, end),
        cmocka_unit_test_setup_teardown(weeks_accumulate_to_months, begin, end),
        cmocka_unit_test_setup_teardown(weeks_have_lags_of_months, begin, end),
        cmocka_unit_test_setup_teardown(a_week_at_new_year_belongs_to_the_month_it_names, begin,
                                        end),
        cmocka_unit_test_setup_teardown(quarters_after_months_take_means_of_months, begin, end),
        cmocka_unit_test_setup_teardown(observations_fill_the_month_that_runs, begin, end),
        cmocka_unit_test_setup_teardown(stages_without_months_move_by_the_plain_rule, begin, end),
        cmocka_unit_test_setup_teardown(past_inflows_are_the_first_lags, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
