/*
 * statistics.c - bounds of numbers and texts.
 *
 * The loops over numbers compare without branches that depend on has_range: the bounds begin
 * crossed, and are crossed still when there was no value. Of a text that lies between the bounds
 * only its first eight bytes are looked at, as one number.
 */
#include "columns/parquet/statistics.h"

#include <math.h>
#include <string.h>

void statistics_begin(statistics *self, columns_type type)
{
    self->type = type;
    self->has_range = self->has_nan = false;
    self->null_count = 0;
}

/* RANGE(name, of, member, wide, lowest, highest, is_nan): a function that adds rows of `of`. */
#define RANGE(name, of, member, wide, lowest, highest, is_nan)                                     \
    static void name(statistics *self, const void *values, const uint8_t *valid, size_t rows)      \
    {                                                                                              \
        const of *value = values;                                                                  \
        wide min = self->has_range ? self->min.member : (highest);                                 \
        wide max = self->has_range ? self->max.member : (lowest);                                  \
        bool has_nan = false;                                                                      \
                                                                                                   \
        for (size_t i = 0; i < rows; i++) {                                                        \
            if (valid && !valid[i])                                                                \
                continue;                                                                          \
            min = value[i] < min ? value[i] : min;                                                 \
            max = value[i] > max ? value[i] : max;                                                 \
            has_nan |= is_nan(value[i]);                                                           \
        }                                                                                          \
        self->has_nan |= has_nan;                                                                  \
        self->has_range = min <= max;                                                              \
        self->min.member = min;                                                                    \
        self->max.member = max;                                                                    \
    }

#define NEVER(value) false

RANGE(range_i8, int8_t, i, int64_t, INT64_MIN, INT64_MAX, NEVER)
RANGE(range_i16, int16_t, i, int64_t, INT64_MIN, INT64_MAX, NEVER)
RANGE(range_i32, int32_t, i, int64_t, INT64_MIN, INT64_MAX, NEVER)
RANGE(range_i64, int64_t, i, int64_t, INT64_MIN, INT64_MAX, NEVER)
RANGE(range_u8, uint8_t, u, uint64_t, 0, UINT64_MAX, NEVER)
RANGE(range_u16, uint16_t, u, uint64_t, 0, UINT64_MAX, NEVER)
RANGE(range_u32, uint32_t, u, uint64_t, 0, UINT64_MAX, NEVER)
RANGE(range_u64, uint64_t, u, uint64_t, 0, UINT64_MAX, NEVER)
RANGE(range_f32, float, f, double, -INFINITY, INFINITY, isnan)
RANGE(range_f64, double, f, double, -INFINITY, INFINITY, isnan)

/* Not RANGE: the values may lie at any address. */
static void range_wide(statistics *self, const void *values, const uint8_t *valid, size_t rows)
{
    const char *at = values;
    statistics_wide value;

    for (size_t i = 0; i < rows; i++, at += sizeof value) {
        if (valid && !valid[i])
            continue;
        memcpy(&value, at, sizeof value);
        if (!self->has_range || value < self->min.wide)
            self->min.wide = value;
        if (!self->has_range || value > self->max.wide)
            self->max.wide = value;
        self->has_range = true;
    }
}

static void (*const ranges[])(statistics *self, const void *values, const uint8_t *valid,
                              size_t rows) = {
    [COLUMNS_BOOL] = range_u8,       [COLUMNS_I8] = range_i8,
    [COLUMNS_I16] = range_i16,       [COLUMNS_I32] = range_i32,
    [COLUMNS_I64] = range_i64,       [COLUMNS_U8] = range_u8,
    [COLUMNS_U16] = range_u16,       [COLUMNS_U32] = range_u32,
    [COLUMNS_U64] = range_u64,       [COLUMNS_F32] = range_f32,
    [COLUMNS_F64] = range_f64,       [COLUMNS_DATE] = range_i32,
    [COLUMNS_TIMESTAMP] = range_i64, [COLUMNS_TIMESTAMP_UTC] = range_i64,
    [COLUMNS_TIME] = range_i64,      [COLUMNS_DECIMAL] = range_wide,
};

void statistics_add(statistics *self, const columns_column *column, size_t first, size_t rows)
{
    const uint8_t *valid = column->valid ? column->valid + first : NULL;
    size_t size = columns_type_size(column->type);

    ranges[column->type](self, (const char *)column->values + first * size, valid, rows);
}

static int compare(const char *text, size_t length, const struct statistics_text *with)
{
    size_t same = length < with->length ? length : with->length;
    int order = memcmp(text, with->bytes, same < STATISTICS_TEXT_MAX ? same : STATISTICS_TEXT_MAX);

    if (order != 0 || length == with->length)
        return order;
    return length < with->length ? -1 : 1;
}

static uint64_t head_of(const char *text, size_t length)
{
    uint64_t head = 0;

    if (length >= sizeof head)
        memcpy(&head, text, sizeof head);
    else
        for (size_t i = 0; i < length; i++)
            head |= (uint64_t)(uint8_t)text[i] << 8 * i;
    return __builtin_bswap64(head);
}

static void keep(struct statistics_text *at, uint64_t head, const char *text, size_t length)
{
    at->head = head;
    at->length = length;
    memcpy(at->bytes, text, length < STATISTICS_TEXT_MAX ? length : STATISTICS_TEXT_MAX);
}

void statistics_add_text(statistics *self, const char *text, size_t length)
{
    uint64_t head = head_of(text, length);

    if (self->has_range && head > self->min_text.head && head < self->max_text.head)
        return;
    if (length > STATISTICS_TEXT_MAX)
        length = STATISTICS_TEXT_MAX + 1;
    if (!self->has_range || compare(text, length, &self->min_text) < 0)
        keep(&self->min_text, head, text, length);
    if (!self->has_range || compare(text, length, &self->max_text) > 0)
        keep(&self->max_text, head, text, length);
    self->has_range = true;
}

static bool write_text(const struct statistics_text *bound, char *out, size_t *length)
{
    if (bound->length > STATISTICS_TEXT_MAX)
        return false;
    memcpy(out, bound->bytes, bound->length);
    *length = bound->length;
    return true;
}

/* A double's bytes in the physical type of the column. */
static void write_float(columns_type type, double value, char *out, size_t *length)
{
    float single = (float)value;

    *length = type == COLUMNS_F32 ? sizeof single : sizeof value;
    memcpy(out, type == COLUMNS_F32 ? (const void *)&single : (const void *)&value, *length);
}

void statistics_put_wide(void *to, statistics_wide value, size_t width)
{
    uint8_t *at = to;

    if (width == sizeof(int32_t) || width == sizeof(int64_t)) {
        memcpy(to, &value, width);
        return;
    }
    for (size_t i = width; i > 0; i--, value >>= 8)
        at[i - 1] = (uint8_t)value;
}

static void write_wide(const statistics *self, statistics_wide value, char *out, size_t *length)
{
    *length = self->width;
    statistics_put_wide(out, value, self->width);
}

/* An integer's, or a boolean's: the lowest bytes of both kinds are the same. */
static void write_integer(columns_type type, uint64_t value, char *out, size_t *length)
{
    size_t size = columns_type_size(type);

    *length = type == COLUMNS_BOOL ? 1 : size < sizeof(int32_t) ? sizeof(int32_t) : size;
    value = type == COLUMNS_BOOL ? value != 0 : value;
    memcpy(out, &value, *length);
}

static bool is_text(columns_type type)
{
    return type == COLUMNS_TEXT || type == COLUMNS_STRING || type == COLUMNS_BLOB ||
           type == COLUMNS_LABEL;
}

bool statistics_min(const statistics *self, char out[STATISTICS_TEXT_MAX], size_t *length)
{
    if (!self->has_range || self->has_nan)
        return false;
    if (is_text(self->type))
        return write_text(&self->min_text, out, length);
    if (self->type == COLUMNS_DECIMAL)
        write_wide(self, self->min.wide, out, length);
    else if (self->type == COLUMNS_F32 || self->type == COLUMNS_F64)
        write_float(self->type, self->min.f == 0.0 ? -0.0 : self->min.f, out, length);
    else
        write_integer(self->type, self->min.u, out, length);
    return true;
}

bool statistics_max(const statistics *self, char out[STATISTICS_TEXT_MAX], size_t *length)
{
    if (!self->has_range || self->has_nan)
        return false;
    if (is_text(self->type))
        return write_text(&self->max_text, out, length);
    if (self->type == COLUMNS_DECIMAL)
        write_wide(self, self->max.wide, out, length);
    else if (self->type == COLUMNS_F32 || self->type == COLUMNS_F64)
        write_float(self->type, self->max.f == 0.0 ? 0.0 : self->max.f, out, length);
    else
        write_integer(self->type, self->max.u, out, length);
    return true;
}
