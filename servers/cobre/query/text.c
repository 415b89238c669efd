/*
 * text.c - one function a form, each with a row of its switch a type.
 */
#include "query/text.h"

#include <math.h>
#include <string.h>

#define AT(type) (((const type *)column->values)[row])
#define TEXT_AT (((const char *const *)column->values)[row])

/* An integer of any type; false when the column has none. */
static bool integer_at(int64_t *out, const columns_column *column, size_t row)
{
    switch (column->type) {
    case COLUMNS_I8:
        *out = AT(int8_t);
        return true;
    case COLUMNS_I16:
        *out = AT(int16_t);
        return true;
    case COLUMNS_I32:
        *out = AT(int32_t);
        return true;
    case COLUMNS_I64:
        *out = AT(int64_t);
        return true;
    case COLUMNS_U8:
        *out = AT(uint8_t);
        return true;
    case COLUMNS_U16:
        *out = AT(uint16_t);
        return true;
    case COLUMNS_U32:
        *out = AT(uint32_t);
        return true;
    default:
        return false;
    }
}

static bool is_moment(const columns_column *column)
{
    return column->type == COLUMNS_TIMESTAMP || column->type == COLUMNS_TIMESTAMP_UTC;
}

static const char *zone_of(const columns_column *column)
{
    return column->type == COLUMNS_TIMESTAMP_UTC ? "Z" : "";
}

void query_json_value(mcp_json_writer *writer, const columns_column *column, size_t row)
{
    int64_t integer = 0;
    char moment[COLUMNS_MOMENT_SIZE];

    if (!columns_is_valid(column, row)) {
        mcp_write_null(writer);
    } else if (integer_at(&integer, column, row)) {
        mcp_write_int(writer, integer);
    } else if (column->type == COLUMNS_U64) {
        mcp_write_uint(writer, AT(uint64_t));
    } else if (column->type == COLUMNS_F64) {
        mcp_write_double_or_null(writer, AT(double));
    } else if (column->type == COLUMNS_F32) {
        mcp_write_double_or_null(writer, (double)AT(float));
    } else if (column->type == COLUMNS_BOOL) {
        mcp_write_bool(writer, AT(uint8_t) != 0);
    } else if (column->type == COLUMNS_TEXT) {
        mcp_write_string(writer, TEXT_AT);
    } else if (column->type == COLUMNS_DATE) {
        columns_date_text(moment, AT(int32_t));
        mcp_write_string(writer, moment);
    } else if (is_moment(column)) {
        columns_moment_text(moment, AT(int64_t), zone_of(column));
        mcp_write_string(writer, moment);
    } else if (column->type == COLUMNS_JSON) {
        mcp_write_raw(writer, TEXT_AT, strlen(TEXT_AT));
    } else {
        mcp_write_null(writer);
    }
}

void query_csv_text(mcp_buf *text, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        mcp_buf_puts(text, field);
        return;
    }
    mcp_buf_putc(text, '"');
    for (; *field; field++) {
        if (*field == '"')
            mcp_buf_putc(text, '"');
        mcp_buf_putc(text, *field);
    }
    mcp_buf_putc(text, '"');
}

void query_csv_value(mcp_buf *text, const columns_column *column, size_t row)
{
    mcp_json_writer writer;

    if (!columns_is_valid(column, row))
        return;
    if (column->type == COLUMNS_TEXT || column->type == COLUMNS_JSON) {
        query_csv_text(text, TEXT_AT);
        return;
    }
    if (is_moment(column)) {
        char moment[COLUMNS_MOMENT_SIZE];
        columns_moment_text(moment, AT(int64_t), zone_of(column));
        mcp_buf_puts(text, moment);
        return;
    }
    if ((column->type == COLUMNS_F64 && !isfinite(AT(double))) ||
        (column->type == COLUMNS_F32 && !isfinite(AT(float))))
        return;
    if (column->type == COLUMNS_DATE) {
        char moment[COLUMNS_MOMENT_SIZE];
        columns_date_text(moment, AT(int32_t));
        mcp_buf_puts(text, moment);
        return;
    }
    mcp_json_writer_init(&writer, text); /* numbers and booleans are the same in both */
    query_json_value(&writer, column, row);
}
