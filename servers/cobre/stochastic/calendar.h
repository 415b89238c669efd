/*
 * calendar.h - years and months of civil days (Gregorian calendar, day 0 is 1970-01-01), and the
 * seasons of a case on it.
 */
#ifndef STOCHASTIC_CALENDAR_H
#define STOCHASTIC_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "case/case.h"

typedef struct calendar_date {
    int32_t year;
    uint32_t month, day; /* from 1 */
} calendar_date;

calendar_date calendar_date_of(cobre_day day);

/* The day's number; month may exceed 12 or be below 1: it then counts into other years. */
cobre_day calendar_day_of(int32_t year, int32_t month, int32_t day);

/* Days of the month, 28 to 31. */
int32_t calendar_month_days(int32_t year, int32_t month);

/* The week of ISO 8601, 1 to 53, and the year that it belongs to. */
uint32_t calendar_iso_week(cobre_day day);
int32_t calendar_iso_year(cobre_day day);

/* Days from `start` to the exclusive `end`. */
typedef struct calendar_span {
    cobre_day start, end;
} calendar_span;

/* The days that two spans share. */
int32_t calendar_overlap(calendar_span a, calendar_span b);

/* The season of an id; NULL: none. */
const cobre_season *calendar_season(const cobre_case *input, uint32_t id);

/* The months of a season that begins in the given year. Seasons from id 12 on that name no last
 * month are quarters. */
calendar_span calendar_season_span(const cobre_season *season, int32_t year);

#endif
