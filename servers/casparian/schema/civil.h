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

/** Whether there is such a day, in the years 1 to 9999. */
bool casparian_date_is_valid(const casparian_date *date);

/** Days since 1970-01-01. @param date valid, or of any year with a valid month and day */
int64_t casparian_days_of(const casparian_date *date);

/** The date of a day. @param days any within 2^40 */
casparian_date casparian_date_of(int64_t days);

/** Microseconds since 1970-01-01T00:00:00 of the wall clock; the offset is not applied. */
int64_t casparian_micros_of(const casparian_moment *moment);

/** Microseconds since midnight. */
int64_t casparian_time_of(const casparian_moment *moment);

/** Divide by a positive number, towards minus infinity. */
int64_t casparian_floor_div(int64_t dividend, int64_t divisor);

#endif
