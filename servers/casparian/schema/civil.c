/*
 * civil.c - the calendar. Days are counted from 1 March of the year 0, so that a leap day is the
 * last of its year, and in periods of 400 years, after which the calendar repeats.
 */
#include "schema/civil.h"

enum { DAYS_PER_400_YEARS = 146097, DAYS_TO_1970 = 719468 };

int64_t casparian_floor_div(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

bool casparian_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int casparian_days_of_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return month == 2 && casparian_is_leap_year(year) ? 29 : days[month - 1];
}

bool casparian_date_is_valid(const casparian_date *date)
{
    return date->year >= 1 && date->year <= 9999 && date->month >= 1 && date->month <= 12 &&
           date->day >= 1 && date->day <= casparian_days_of_month(date->year, date->month);
}

int64_t casparian_days_of(const casparian_date *date)
{
    int64_t year = date->year - (date->month <= 2);
    int64_t period = casparian_floor_div(year, 400);
    int64_t year_of_period = year - period * 400;
    int64_t month = (date->month + 9) % 12; /* from March */
    int64_t day_of_year = (153 * month + 2) / 5 + date->day - 1;
    int64_t day = year_of_period * 365 + year_of_period / 4 - year_of_period / 100 + day_of_year;
    return period * DAYS_PER_400_YEARS + day - DAYS_TO_1970;
}

casparian_date casparian_date_of(int64_t days)
{
    int64_t shifted = days + DAYS_TO_1970;
    int64_t period = casparian_floor_div(shifted, DAYS_PER_400_YEARS);
    int64_t day = shifted - period * DAYS_PER_400_YEARS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* from March */
    casparian_date out = { .year = year + period * 400,
                           .month = (int)(month < 10 ? month + 3 : month - 9),
                           .day = (int)(day_of_year - (153 * month + 2) / 5 + 1) };
    out.year += out.month <= 2;
    return out;
}

int64_t casparian_time_of(const casparian_moment *moment)
{
    int64_t seconds = (int64_t)moment->hour * 3600 + (int64_t)moment->minute * 60 + moment->second;
    return seconds * CASPARIAN_MICROS_PER_SECOND + moment->micro;
}

int64_t casparian_micros_of(const casparian_moment *moment)
{
    return casparian_days_of(&moment->date) * CASPARIAN_MICROS_PER_DAY + casparian_time_of(moment);
}
