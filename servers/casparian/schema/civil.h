/**
 * civil.h - days of the proleptic Gregorian calendar, and wall clock times as microseconds.
 *
 * Every function is pure; any thread.
 */
#ifndef CASPARIAN_SCHEMA_CIVIL_H
#define CASPARIAN_SCHEMA_CIVIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASPARIAN_SECONDS_PER_DAY INT64_C(86400)
#define CASPARIAN_MICROS_PER_SECOND INT64_C(1000000)
#define CASPARIAN_MICROS_PER_DAY (CASPARIAN_SECONDS_PER_DAY * CASPARIAN_MICROS_PER_SECOND)

/** A date. */
typedef struct casparian_date {
    int64_t year;
    int month, day; /* from 1 */
} casparian_date;

/** A wall clock time as it was read: a date, a time, or both. What was not read is 0. */
typedef struct casparian_moment {
    casparian_date date;
    int hour, minute, second, micro;
    int32_t offset_s; /* east of UTC */
    bool has_offset;
} casparian_moment;

bool casparian_is_leap_year(int64_t year);

/** @param month 1 to 12 */
int casparian_days_of_month(int64_t year, int month);

/** The date of a day. @param days any within 2^40 */
casparian_date casparian_date_of(int64_t days);

/* What is done for each cell is inline. */

/** Divide by a positive number, towards minus infinity. */
static inline int64_t casparian_floor_div(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

/** Whether there is such a day, in the years 1 to 9999. */
static inline bool casparian_date_is_valid(const casparian_date *date)
{
    return date->year >= 1 && date->year <= 9999 && date->month >= 1 && date->month <= 12 &&
           date->day >= 1 &&
           (date->day <= 28 || date->day <= casparian_days_of_month(date->year, date->month));
}

enum { CASPARIAN_DAYS_PER_400_YEARS = 146097, CASPARIAN_DAYS_TO_1970 = 719468 };

/** Days since 1970-01-01. @param date valid, or of any year with a valid month and day */
static inline int64_t casparian_days_of(const casparian_date *date)
{
    /* Days from 1 March to the first of the month; the year begins in March. */
    static const int before[] = { 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275 };
    int64_t year = date->year - (date->month <= 2);
    int64_t days = before[date->month - 1] + date->day - 1 - CASPARIAN_DAYS_TO_1970;
    if (year >= 0 && year <= 9999) { /* in 32 bits */
        uint32_t y = (uint32_t)year;
        return (int64_t)(y * 365 + y / 4 - y / 100 + y / 400) + days;
    }
    int64_t period = casparian_floor_div(year, 400);
    year -= period * 400;
    return period * CASPARIAN_DAYS_PER_400_YEARS + year * 365 + year / 4 - year / 100 + days;
}

/** Microseconds since midnight. */
static inline int64_t casparian_time_of(const casparian_moment *moment)
{
    int64_t seconds = (int64_t)moment->hour * 3600 + (int64_t)moment->minute * 60 + moment->second;
    return seconds * CASPARIAN_MICROS_PER_SECOND + moment->micro;
}

/** Microseconds since 1970-01-01T00:00:00 of the wall clock; the offset is not applied. */
static inline int64_t casparian_micros_of(const casparian_moment *moment)
{
    return casparian_days_of(&moment->date) * CASPARIAN_MICROS_PER_DAY + casparian_time_of(moment);
}

#endif
