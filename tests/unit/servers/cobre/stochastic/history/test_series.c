/*
 * test_series.c - seasons and years of dates, and one value for each season of a year.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../sddp/cases.h"
#include "stochastic/calendar.h"
#include "stochastic/history/series.h"

static case_kit kit;
static cobre_season seasons[52];
static mcp_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    kit_begin(&kit, 1, 2, 0, 1, 0);
    for (uint32_t i = 0; i < 12; i++)
        seasons[i] = (cobre_season){ i, "M", i + 1, 1, i + 1, 31 };
    kit.c.seasons = seasons;
    kit.c.season_count = 12;
    kit.c.has_seasons = true;
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static history_series read(const cobre_observation *history, size_t count)
{
    history_series series;
    mcp_error err = MCP_ERROR_INIT;

    kit.c.scenarios.history = history;
    kit.c.scenarios.history_count = count;
    if (series_read(&series, arena, &kit.c, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return series;
}

/* Two halves of one February: their mean. January 31 days at 10, a quarter of 90 days: weighted. */
static void a_season_of_a_year_has_one_value(void **state)
{
    const cobre_observation history[] = {
        { 1, calendar_day_of(2001, 2, 15), 30 }, { 1, calendar_day_of(2001, 2, 1), 20 },
        { 0, calendar_day_of(2001, 2, 3), 7 },   { 1, calendar_day_of(2002, 2, 1), 99 },
        { 1, calendar_day_of(2001, 1, 1), 5 },
    };

    (void)state;
    history_series series = read(history, 5);
    assert_int_equal(series.count, 4);
    assert_int_equal(series.first[1], 1);
    assert_int_equal(series.first[2], 4);
    assert_true(series.values[1].value == 5 && series.values[2].value == 25);
    assert_int_equal(series.values[2].date, calendar_day_of(2001, 2, 1));
    assert_true(series_find(&series, 1, 1, 2002)->value == 99);
    assert_null(series_find(&series, 0, 1, 2002));
    size_t count;
    const series_value *const *of = series_of_season(&series, 1, 1, &count);
    assert_int_equal(count, 2);
    assert_true(of[0]->year == 2001 && of[1]->year == 2002);
}

/* A quarter of observations by month: 31 days at 10, 28 at 20, 31 at 40. */
static void months_weigh_by_their_days(void **state)
{
    const cobre_season quarters[] = { { 0, "Q1", 1, 1, 3, 31 }, { 1, "Q2", 4, 1, 12, 31 } };
    const cobre_observation history[] = { { 0, calendar_day_of(2001, 1, 1), 10 },
                                          { 0, calendar_day_of(2001, 2, 1), 20 },
                                          { 0, calendar_day_of(2001, 3, 1), 40 } };

    (void)state;
    kit.c.seasons = quarters;
    kit.c.season_count = 2;
    kit.c.cycle = COBRE_CYCLE_CUSTOM;
    history_series series = read(history, 3);
    assert_int_equal(series.count, 1);
    assert_true(fabs(series.values[0].value - (310.0 + 560 + 1240) / 90) < 1e-12);
}

/* December to February is one season: of the year that it begins in, or when it is the first of the
 * cycle, that it ends in. */
static void winters_run_over_new_year(void **state)
{
    const cobre_observation history[] = { { 0, calendar_day_of(2001, 12, 1), 10 },
                                          { 0, calendar_day_of(2002, 1, 1), 30 } };

    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        const cobre_season two[] = { { 0, "A", first ? 3 : 12, 1, first ? 11 : 2, first ? 30 : 29 },
                                     { 1, "B", first ? 12 : 3, 1, first ? 2 : 11,
                                       first ? 29 : 30 } };
        kit.c.seasons = two;
        kit.c.season_count = 2;
        kit.c.cycle = COBRE_CYCLE_CUSTOM;
        history_series series = read(history, 2);
        assert_int_equal(series.count, 1);
        assert_int_equal(series.values[0].season, first);
        assert_int_equal(series.values[0].year, first ? 2001 : 2002);
        assert_true(series.values[0].value == 20);
    }
}

/* 30 December 2024 is in week 1 of 2025. */
static void weeks_belong_to_iso_years(void **state)
{
    const cobre_observation history[] = { { 0, calendar_day_of(2024, 12, 30), 10 },
                                          { 0, calendar_day_of(2025, 1, 2), 20 },
                                          { 0, calendar_day_of(2020, 12, 31), 3 } };

    (void)state;
    for (uint32_t i = 0; i < 52; i++)
        seasons[i] = (cobre_season){ i, "W", 1, 1, 1, 31 };
    kit.c.season_count = 52;
    kit.c.cycle = COBRE_CYCLE_WEEKLY;
    history_series series = read(history, 3);
    assert_int_equal(series.count, 2);
    assert_true(series_find(&series, 0, 0, 2025)->value == 15);
    assert_true(series_find(&series, 0, 51, 2020)->value == 3);
}

/* A stage that contains the date names its season, before the calendar does. */
static void stages_come_before_the_calendar(void **state)
{
    const cobre_pre_stage pre = { -1, calendar_day_of(2023, 12, 20), calendar_day_of(2024, 1, 5),
                                  true, 4 };
    const cobre_observation history[] = { { 0, calendar_day_of(2024, 1, 4), 1 },
                                          { 0, calendar_day_of(2024, 1, 5), 2 } };

    (void)state;
    kit.c.pre_stages = &pre;
    kit.c.pre_stage_count = 1;
    history_series series = read(history, 2);
    assert_int_equal(series.seasons, 5);
    assert_int_equal(series.values[0].season, 4);
    assert_int_equal(series.values[1].season, 0);
}

static void dates_need_a_season(void **state)
{
    const cobre_observation history = { 1, calendar_day_of(1999, 4, 3), 1 };
    history_series series;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    kit.c.has_seasons = false;
    kit.c.scenarios.history = &history;
    kit.c.scenarios.history_count = 1;
    assert_int_equal(series_read(&series, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 1"));
    assert_non_null(strstr(err.message, "1999-04-03"));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(a_season_of_a_year_has_one_value), EACH(months_weigh_by_their_days),
        EACH(winters_run_over_new_year),        EACH(weeks_belong_to_iso_years),
        EACH(stages_come_before_the_calendar),  EACH(dates_need_a_season),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
