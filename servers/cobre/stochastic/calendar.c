/*
 * calendar.c - civil dates by counting in periods of 400 years.
 *
 * Years are counted from March, so that the leap day is the last of its year: the days before month
 * m (0 is March) are then (153 m + 2) / 5.
 */
#include "stochastic/calendar.h"

#define ERA_DAYS 146097     /* of 400 years */
#define EPOCH_OFFSET 719468 /* days from 0000-03-01 to 1970-01-01 */
#define QUARTER_FIRST_ID 12

static int32_t floor_division(int32_t a, int32_t b)
{
    return a / b - (a % b < 0);
}

calendar_date calendar_date_of(cobre_day day)
{
    int32_t shifted = day + EPOCH_OFFSET;
    int32_t era = floor_division(shifted, ERA_DAYS);
    int32_t of_era = shifted - era * ERA_DAYS;
    int32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int32_t month = (5 * of_year + 2) / 153;

    return (calendar_date){
        .year = era * 400 + year + (month >= 10),
        .month = (uint32_t)(month < 10 ? month + 3 : month - 9),
        .day = (uint32_t)(of_year - (153 * month + 2) / 5 + 1),
    };
}

cobre_day calendar_day_of(int32_t year, int32_t month, int32_t day)
{
    int32_t from_march = month - 3;
    int32_t y = year + floor_division(from_march, 12);
    int32_t m = from_march - 12 * floor_division(from_march, 12);
    int32_t era = floor_division(y, 400);
    int32_t of_era = y - era * 400;

    return era * ERA_DAYS + 365 * of_era + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 -
           EPOCH_OFFSET;
}

int32_t calendar_month_days(int32_t year, int32_t month)
{
    return calendar_day_of(year, month + 1, 1) - calendar_day_of(year, month, 1);
}

/* A week belongs to the year of its Thursday. 1970-01-01 was one. */
static cobre_day thursday_of(cobre_day day)
{
    return floor_division(day + 3, 7) * 7;
}

int32_t calendar_iso_year(cobre_day day)
{
    return calendar_date_of(thursday_of(day)).year;
}

uint32_t calendar_iso_week(cobre_day day)
{
    cobre_day new_year = calendar_day_of(calendar_iso_year(day), 1, 1);

    return (uint32_t)((thursday_of(day) - new_year) / 7 + 1);
}

int32_t calendar_overlap(calendar_span a, calendar_span b)
{
    cobre_day start = a.start > b.start ? a.start : b.start;
    cobre_day end = a.end < b.end ? a.end : b.end;

    return end > start ? end - start : 0;
}

const cobre_season *calendar_season(const cobre_case *input, uint32_t id)
{
    for (size_t i = 0; i < input->season_count; i++) {
        if (input->seasons[i].id == id)
            return &input->seasons[i];
    }
    return NULL;
}

static int32_t season_months(const cobre_season *season)
{
    uint32_t first = season->month_start, last = season->month_end;

    if (last == first || last == 0)
        return season->id >= QUARTER_FIRST_ID ? 3 : 1;
    return (int32_t)((last + 12 - first) % 12) + 1;
}

calendar_span calendar_season_span(const cobre_season *season, int32_t year)
{
    int32_t first = (int32_t)season->month_start;

    return (calendar_span){ calendar_day_of(year, first, 1),
                            calendar_day_of(year, first + season_months(season), 1) };
}
