/*
 * moments.c - see moments.h.
 */
#include "columns/sealed/moments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DAY_S = 86400 };

#define NUMERAL_MAX 64

__extension__ typedef unsigned __int128 wide;

static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* The civil date of a day since 1970-01-01, by eras of 400 years that begin in March. */
static void put_day(mcp_buf *out, int64_t days)
{
    int64_t shifted = days + 719468;
    int64_t era = floor_div(shifted, 146097);
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * month + 2) / 5 + 1;
    int64_t civil_month = month < 10 ? month + 3 : month - 9;
    int64_t year = year_of_era + era * 400 + (civil_month <= 2);

    mcp_buf_printf(out, "%s%04" PRId64 "-%02d-%02d", year < 0 ? "-" : "", year < 0 ? -year : year,
                   (int)civil_month, (int)day);
}

static bool put_infinity(mcp_buf *out, int64_t value, int64_t most)
{
    if (value == most)
        mcp_buf_puts(out, "infinity");
    else if (value == -most)
        mcp_buf_puts(out, "-infinity");
    return value == most || value == -most;
}

/* Of a day. */
static void put_clock(mcp_buf *out, int64_t seconds, int64_t fraction, int64_t per_second)
{
    mcp_buf_printf(out, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                   (int)(seconds % 60));
    if (fraction > 0 && per_second == 1000000000)
        mcp_buf_printf(out, ".%09" PRId64, fraction);
    else if (fraction > 0)
        mcp_buf_printf(out, ".%06" PRId64, fraction * (1000000 / per_second));
}

void moments_put_date(mcp_buf *out, int32_t days)
{
    if (!put_infinity(out, days, INT32_MAX))
        put_day(out, days);
}

void moments_put_timestamp(mcp_buf *out, int64_t value, int64_t per_second, const char *zone)
{
    if (put_infinity(out, value, INT64_MAX))
        return;
    int64_t seconds = floor_div(value, per_second);
    int64_t days = floor_div(seconds, DAY_S);
    put_day(out, days);
    mcp_buf_putc(out, 'T');
    put_clock(out, seconds - days * DAY_S, value - seconds * per_second, per_second);
    mcp_buf_puts(out, zone);
}

void moments_put_time(mcp_buf *out, int64_t value, int64_t per_second)
{
    put_clock(out, value / per_second, value % per_second, per_second);
}

/* The upper 40 bits are microseconds, the lower 24 say how far the offset is below the greatest
 * one, +15:59:59. */
void moments_put_time_tz(mcp_buf *out, uint64_t bits)
{
    int32_t offset = 57599 - (int32_t)(bits & 0xFFFFFF);
    int32_t minutes = (offset < 0 ? -offset : offset) / 60;

    moments_put_time(out, (int64_t)(bits >> 24), 1000000);
    mcp_buf_printf(out, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

static void put_seconds(mcp_buf *out, uint64_t micros)
{
    char text[NUMERAL_MAX];
    int length = snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, micros / 1000000,
                          micros % 1000000);

    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    mcp_buf_printf(out, "T%.*sS", length, text);
}

void moments_put_interval(mcp_buf *out, duckdb_interval interval)
{
    bool is_negative = interval.micros < 0;
    uint64_t micros = is_negative ? -(uint64_t)interval.micros : (uint64_t)interval.micros;
    bool has_date = interval.months != 0 || interval.days != 0;

    mcp_buf_puts(out, is_negative && !has_date ? "-P" : "P");
    if (interval.months != 0)
        mcp_buf_printf(out, "%" PRId32 "M", interval.months);
    if (interval.days != 0)
        mcp_buf_printf(out, "%" PRId32 "D", interval.days);
    if (micros == 0 && has_date)
        return;
    if (!is_negative || !has_date) {
        put_seconds(out, micros);
        return;
    }
    mcp_buf at;
    mcp_buf_init(&at, NUMERAL_MAX);
    put_seconds(&at, micros);
    mcp_buf_printf(out, "T-%s", at.data ? at.data + 1 : "");
    mcp_buf_clear(&at);
}

static void put_digits(mcp_buf *out, wide value, bool is_negative, unsigned scale)
{
    char text[NUMERAL_MAX];
    size_t at = sizeof text;
    unsigned written = 0;

    do {
        if (written == scale && scale > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
        written++;
    } while (value > 0 || written <= scale);
    if (is_negative)
        text[--at] = '-';
    mcp_buf_append(out, text + at, sizeof text - at);
}

void moments_put_decimal(mcp_buf *out, duckdb_hugeint value, unsigned scale)
{
    wide bits = (wide)(uint64_t)value.upper << 64 | value.lower;
    bool is_negative = value.upper < 0;

    put_digits(out, is_negative ? -bits : bits, is_negative, scale);
}

void moments_put_unsigned(mcp_buf *out, duckdb_uhugeint value)
{
    put_digits(out, (wide)value.upper << 64 | value.lower, false, 0);
}

/* The engine keeps the highest bit inverted, so that the order of integers is that of the texts. */
void moments_put_uuid(mcp_buf *out, duckdb_hugeint value)
{
    uint64_t upper = (uint64_t)value.upper ^ ((uint64_t)1 << 63);

    mcp_buf_printf(out, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                   upper >> 32, upper >> 16 & 0xFFFF, upper & 0xFFFF, value.lower >> 48,
                   value.lower & 0xFFFFFFFFFFFF);
}
