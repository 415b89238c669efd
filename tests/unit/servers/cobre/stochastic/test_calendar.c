/*
 * test_calendar.c - civil dates across leap years and before 1970, ISO weeks, and spans of seasons.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/calendar.h"

/* Day numbers by `date -u -d DATE +%s` divided by 86400. */
static void days_have_dates(void **state)
{
    static const struct {
        cobre_day day;
        int32_t year;
        uint32_t month, of_month;
    } known[] = {
        { 0, 1970, 1, 1 },       { -1, 1969, 12, 31 },    { 11016, 2000, 2, 29 },
        { 11017, 2000, 3, 1 },   { 19782, 2024, 2, 29 },  { -25509, 1900, 2, 28 },
        { -25508, 1900, 3, 1 },  { 47540, 2100, 2, 28 },  { 47541, 2100, 3, 1 },
        { 20088, 2024, 12, 31 }, { -135140, 1600, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        calendar_date date = calendar_date_of(known[i].day);
        assert_int_equal(date.year, known[i].year);
        assert_int_equal(date.month, known[i].month);
        assert_int_equal(date.day, known[i].of_month);
        assert_int_equal(calendar_day_of(date.year, (int32_t)date.month, (int32_t)date.day),
                         known[i].day);
    }
}

static void every_day_comes_back(void **state)
{
    (void)state;
    for (cobre_day day = -200000; day < 200000; day += 17) {
        calendar_date date = calendar_date_of(day);
        assert_true(date.month >= 1 && date.month <= 12 && date.day >= 1);
        assert_true((int32_t)date.day <= calendar_month_days(date.year, (int32_t)date.month));
        assert_int_equal(calendar_day_of(date.year, (int32_t)date.month, (int32_t)date.day), day);
    }
}

static void months_count_into_other_years(void **state)
{
    (void)state;
    assert_int_equal(calendar_day_of(2023, 13, 1), calendar_day_of(2024, 1, 1));
    assert_int_equal(calendar_day_of(2024, -2, 1), calendar_day_of(2023, 10, 1));
    assert_int_equal(calendar_month_days(2024, 2), 29);
    assert_int_equal(calendar_month_days(2100, 2), 28);
    assert_int_equal(calendar_month_days(2023, 12), 31);
}

/* Weeks by `date +%V`. */
static void weeks_are_those_of_iso_8601(void **state)
{
    (void)state;
    assert_int_equal(calendar_iso_week(calendar_day_of(2021, 1, 3)), 53);
    assert_int_equal(calendar_iso_week(calendar_day_of(2021, 1, 4)), 1);
    assert_int_equal(calendar_iso_week(calendar_day_of(2024, 12, 30)), 1);
    assert_int_equal(calendar_iso_week(calendar_day_of(2024, 12, 29)), 52);
    assert_int_equal(calendar_iso_week(calendar_day_of(1969, 12, 31)), 1);
    assert_int_equal(calendar_iso_week(calendar_day_of(2020, 12, 31)), 53);
}

static void a_season_spans_its_months(void **state)
{
    const cobre_season february = { .id = 1, .month_start = 2, .month_end = 2 };
    const cobre_season winter = { .id = 3, .month_start = 12, .month_end = 2 };
    const cobre_season quarter = { .id = 13, .month_start = 4, .month_end = 4 };
    calendar_span span = calendar_season_span(&february, 2024);

    (void)state;
    assert_int_equal(span.start, calendar_day_of(2024, 2, 1));
    assert_int_equal(span.end, calendar_day_of(2024, 3, 1));
    span = calendar_season_span(&winter, 2024);
    assert_int_equal(span.start, calendar_day_of(2024, 12, 1));
    assert_int_equal(span.end, calendar_day_of(2025, 3, 1));
    span = calendar_season_span(&quarter, 2024);
    assert_int_equal(span.end, calendar_day_of(2024, 7, 1));
    assert_int_equal(calendar_overlap(span, (calendar_span){ span.end - 3, span.end + 9 }), 3);
    assert_int_equal(calendar_overlap(span, (calendar_span){ span.end, span.end + 9 }), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_have_dates),
        cmocka_unit_test(every_day_comes_back),
        cmocka_unit_test(months_count_into_other_years),
        cmocka_unit_test(weeks_are_those_of_iso_8601),
        cmocka_unit_test(a_season_spans_its_months),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
