/*
 * text.c - values as text and as JSON.
 */
#include "check/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/base64.h"
#include "schema/civil.h"

/* Doubles are integers without gaps up to here, so every reader of JSON gets the same number. */
#define EXACT_MAX (INT64_C(1) << 53)

#define MICROS_PER_MINUTE (60 * CASPARIAN_MICROS_PER_SECOND)

static size_t put_fraction(char *out, size_t size, int64_t micros)
{
    return micros ? (size_t)snprintf(out, size, ".%06" PRId64, micros) : 0;
}

/* @param micros within a day */
static size_t put_time(char *out, size_t size, int64_t micros)
{
    int64_t second = micros / CASPARIAN_MICROS_PER_SECOND;
    size_t length = (size_t)snprintf(out, size, "%02" PRId64 ":%02" PRId64 ":%02" PRId64,
                                     second / 3600, second / 60 % 60, second % 60);
    return length + put_fraction(out + length, size - length, micros % CASPARIAN_MICROS_PER_SECOND);
}

static size_t put_date(char *out, size_t size, int64_t days)
{
    casparian_date date = casparian_date_of(days);
    return (size_t)snprintf(out, size, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
}

static size_t put_timestamp(char *out, size_t size, int64_t micros)
{
    int64_t day = casparian_floor_div(micros, CASPARIAN_MICROS_PER_DAY);
    int64_t rest = micros % CASPARIAN_MICROS_PER_DAY; /* day * a day may be below INT64_MIN */
    size_t length = put_date(out, size, day);
    out[length++] = 'T';
    return length +
           put_time(out + length, size - length, rest < 0 ? rest + CASPARIAN_MICROS_PER_DAY : rest);
}

/* The zone of RFC 3339 has minutes, so an offset with seconds (of the 19th century) is cut to them,
 * and the instant is what stays right. */
static size_t put_instant(char *out, size_t size, int64_t micros, const casparian_zone *zone)
{
    int64_t utc_s = casparian_floor_div(micros, CASPARIAN_MICROS_PER_SECOND);
    int minutes = zone ? casparian_zone_offset(zone, utc_s) / 60 : 0;
    int64_t wall;
    if (__builtin_add_overflow(micros, minutes * MICROS_PER_MINUTE, &wall)) {
        wall = micros;
        minutes = 0;
    }
    size_t length = put_timestamp(out, size, wall);
    if (minutes == 0)
        return length + (size_t)snprintf(out + length, size - length, "Z");
    return length + (size_t)snprintf(out + length, size - length, "%c%02d:%02d",
                                     minutes < 0 ? '-' : '+', abs(minutes) / 60, abs(minutes) % 60);
}

static size_t put_duration(char *out, size_t size, int64_t micros)
{
    uint64_t size_of = micros < 0 ? -(uint64_t)micros : (uint64_t)micros;
    uint64_t fraction = size_of % CASPARIAN_MICROS_PER_SECOND;
    size_t length = (size_t)snprintf(out, size, "%sPT%" PRIu64, micros < 0 ? "-" : "",
                                     size_of / CASPARIAN_MICROS_PER_SECOND);
    if (fraction) {
        length += (size_t)snprintf(out + length, size - length, ".%06" PRIu64, fraction);
        while (out[length - 1] == '0')
            length--;
    }
    return length + (size_t)snprintf(out + length, size - length, "S");
}

static size_t put_number(char *out, size_t size, double number)
{
    if (!isfinite(number))
        return (size_t)snprintf(out, size, "%s",
                                isnan(number) ? "nan"
                                : number < 0  ? "-inf"
                                              : "inf");
    for (int digits = 15;; digits++) {
        size_t length = (size_t)snprintf(out, size, "%.*g", digits, number);
        if (digits == 17 || strtod(out, NULL) == number)
            return length;
    }
}

/* Of every kind but STRING and BINARY. */
static size_t put_cell(char out[CASPARIAN_TEXT_SIZE], const casparian_cell *cell,
                       const casparian_zone *zone)
{
    size_t size = CASPARIAN_TEXT_SIZE;
    switch (cell->kind) {
    case CASPARIAN_KIND_BOOLEAN:
        return (size_t)snprintf(out, size, "%s", cell->boolean ? "true" : "false");
    case CASPARIAN_KIND_INT64:
        return (size_t)snprintf(out, size, "%" PRId64, cell->integer);
    case CASPARIAN_KIND_FLOAT64:
        return put_number(out, size, cell->number);
    case CASPARIAN_KIND_DECIMAL:
        return casparian_decimal_write(out, cell->decimal, cell->scale);
    case CASPARIAN_KIND_DATE:
        return put_date(out, size, cell->integer);
    case CASPARIAN_KIND_TIMESTAMP:
        return put_timestamp(out, size, cell->integer);
    case CASPARIAN_KIND_TIMESTAMP_TZ:
        return put_instant(out, size, cell->integer, zone);
    case CASPARIAN_KIND_TIME:
        return put_time(out, size, cell->integer);
    case CASPARIAN_KIND_DURATION:
        return put_duration(out, size, cell->integer);
    default:
        return 0;
    }
}

mcp_status casparian_text_append(mcp_buf *out, const casparian_cell *cell,
                                 const casparian_zone *zone)
{
    char text[CASPARIAN_TEXT_SIZE];
    if (cell->kind == CASPARIAN_KIND_STRING)
        return mcp_buf_append(out, cell->text.bytes, cell->text.length);
    if (cell->kind == CASPARIAN_KIND_BINARY)
        return keys_base64(out, cell->text.bytes, cell->text.length);
    return mcp_buf_append(out, text, put_cell(text, cell, zone));
}

static void write_binary(mcp_json_writer *out, const casparian_cell *cell)
{
    mcp_buf text;
    mcp_buf_init(&text, KEYS_BASE64_LENGTH(cell->text.length) + 1);
    if (keys_base64(&text, cell->text.bytes, cell->text.length) == MCP_OK)
        mcp_write_string_n(out, text.data ? text.data : "", text.length);
    else
        mcp_write_null(out);
    mcp_buf_clear(&text);
}

void casparian_text_json(mcp_json_writer *out, const casparian_cell *cell,
                         const casparian_zone *zone)
{
    char text[CASPARIAN_TEXT_SIZE];
    if (cell->kind == CASPARIAN_KIND_NULL)
        mcp_write_null(out);
    else if (cell->kind == CASPARIAN_KIND_BOOLEAN)
        mcp_write_bool(out, cell->boolean);
    else if (cell->kind == CASPARIAN_KIND_INT64 && cell->integer <= EXACT_MAX &&
             cell->integer >= -EXACT_MAX)
        mcp_write_int(out, cell->integer);
    else if (cell->kind == CASPARIAN_KIND_FLOAT64 && isfinite(cell->number))
        mcp_write_double(out, cell->number);
    else if (cell->kind == CASPARIAN_KIND_STRING)
        mcp_write_string_n(out, cell->text.bytes, cell->text.length);
    else if (cell->kind == CASPARIAN_KIND_BINARY)
        write_binary(out, cell);
    else
        mcp_write_string_n(out, text, put_cell(text, cell, zone));
}
