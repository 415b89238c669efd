/*
 * test_civil.c - every day of the calendar in turn, and years far from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "schema/civil.h"

static void each_day_has_the_next_number(void **state)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t number = -719162; /* of 0001-01-01 */
    (void)state;
    for (int64_t year = 1; year <= 9999; year++) {
        bool is_leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
        for (int month = 1; month <= 12; month++) {
            int length = lengths[month - 1] + (is_leap && month == 2);
            for (int day = 0; day <= 32; day++) {
                const casparian_date date = { .year = year, .month = month, .day = day };
                bool is_day = day >= 1 && day <= length;
                if (casparian_date_is_valid(&date) != is_day)
                    fail_msg("%d-%02d-%02d is a day: %d", (int)year, month, day, !is_day);
                if (!is_day)
                    continue;
                const casparian_date same = casparian_date_of(number);
                if (casparian_days_of(&date) != number || same.year != year ||
                    same.month != month || same.day != day)
                    fail_msg("%d-%02d-%02d", (int)year, month, day);
                number++;
            }
        }
    }
    assert_int_equal(number, 2932897); /* of 10000-01-01 */
}

static void years_outside_have_days_too(void **state)
{
    static const int years[] = {
        -1000000, -400, -101, -100, -4, -1, 0, 10000, 10001, 12400, 1000000
    };
    (void)state;
    for (size_t i = 0; i < sizeof years / sizeof years[0]; i++) {
        for (int month = 1; month <= 12; month++) {
            struct tm given = { .tm_year = years[i] - 1900, .tm_mon = month - 1, .tm_mday = 28 };
            const casparian_date date = { .year = years[i], .month = month, .day = 28 };
            assert_int_equal(casparian_days_of(&date), timegm(&given) / 86400);
            assert_false(casparian_date_is_valid(&date));
        }
    }
}

static void other_months_are_no_dates(void **state)
{
    (void)state;
    for (int month = -1; month <= 99; month++) {
        const casparian_date date = { .year = 2024, .month = month, .day = 1 };
        assert_int_equal(casparian_date_is_valid(&date), month >= 1 && month <= 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_day_has_the_next_number),
        cmocka_unit_test(years_outside_have_days_too),
        cmocka_unit_test(other_months_are_no_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
