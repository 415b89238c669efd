/*
 * civil.c - the calendar. Days are counted from 1 March of the year 0, so that a leap day is the
 * last of its year, and in periods of 400 years, after which the calendar repeats.
 */
#include "schema/civil.h"

bool casparian_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int casparian_days_of_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return month == 2 && casparian_is_leap_year(year) ? 29 : days[month - 1];
}

casparian_date casparian_date_of(int64_t days)
{
    int64_t shifted = days + CASPARIAN_DAYS_TO_1970;
    int64_t period = casparian_floor_div(shifted, CASPARIAN_DAYS_PER_400_YEARS);
    int64_t day = shifted - period * CASPARIAN_DAYS_PER_400_YEARS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* from March */
    casparian_date out = { .year = year + period * 400,
                           .month = (int)(month < 10 ? month + 3 : month - 9),
                           .day = (int)(day_of_year - (153 * month + 2) / 5 + 1) };
    out.year += out.month <= 2;
    return out;
}
