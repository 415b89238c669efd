/*
 * column.c - buffers that grow by doubling and are kept from batch to batch.
 */
#include <stdlib.h>
#include <string.h>

#include "guest/sdk/column.h"

static uint8_t width_of(cf_type type)
{
    static const uint8_t widths[] = { [CF_BOOLEAN] = 1,      [CF_INT64] = 8, [CF_FLOAT64] = 8,
                                      [CF_DECIMAL] = 16,     [CF_DATE] = 4,  [CF_TIMESTAMP] = 8,
                                      [CF_TIMESTAMP_TZ] = 8, [CF_TIME] = 8,  [CF_DURATION] = 8 };

    return widths[type];
}

static char *duplicate(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (!copy)
        return NULL;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

bool cf__column_init(struct column *column, const char *name, size_t length, const cf_column *like)
{
    const char *zone = like->zone ? like->zone : "UTC";

    *column = (struct column){ 0 };
    column->name = duplicate(name, length);
    column->zone = duplicate(zone, strlen(zone));
    column->name_length = (uint16_t)length;
    column->zone_length = (uint16_t)strlen(zone);
    column->precision = like->precision;
    column->scale = like->scale;
    column->declared = (uint8_t)like->type;
    column->type = (uint8_t)like->type;
    column->width = width_of(like->type);
    return column->name && column->zone;
}

void cf__column_clear(struct column *column)
{
    free(column->name);
    free(column->zone);
    free(column->values);
    free(column->offsets);
    free(column->valid);
    free(column->bytes);
}

/* Make a buffer hold `wanted` elements: 32 at least, and then twice as many each time. */
static bool grow(void *buffer, size_t *room, size_t wanted, size_t element_bits)
{
    void **place = buffer;
    size_t next = *room ? *room : 32;

    if (wanted <= *room)
        return true;
    while (next < wanted)
        next *= 2;
    void *grown = realloc(*place, next * element_bits / 8);
    if (!grown)
        return false;
    *place = grown;
    *room = next;
    return true;
}

bool cf__column_reserve(struct column *column, size_t row)
{
    size_t before = column->valid_room / 8;

    if (column->type == CF_NULL)
        return true;
    if (!grow(&column->valid, &column->valid_room, row + 1, 1))
        return false;
    memset(column->valid + before, 0, column->valid_room / 8 - before);
    column->rows_room = column->valid_room;
    if (cf__is_text(column->type)) {
        if (!grow(&column->offsets, &column->offsets_room, row + 2, 32))
            return false;
        if (column->offsets_room - 1 < column->rows_room)
            column->rows_room = column->offsets_room - 1;
        return true;
    }
    size_t bytes = (row + 1) * column->width;
    if (!grow(&column->values, &column->values_room, bytes, 8))
        return false;
    if (column->values_room / column->width < column->rows_room)
        column->rows_room = column->values_room / column->width;
    return true;
}

bool cf__column_retype(struct column *column, cf_type type, size_t rows)
{
    column->type = (uint8_t)type;
    column->width = width_of(type);
    column->rows_room = 0;
    column->nulls = rows;
    if (!cf__column_reserve(column, rows))
        return false;
    if (type == CF_NULL)
        return true;
    memset(column->valid, 0, column->valid_room / 8);
    if (cf__is_text(column->type))
        memset(column->offsets, 0, (rows + 1) * sizeof *column->offsets);
    else
        memset(column->values, 0, rows * column->width);
    return true;
}

bool cf__column_text(struct column *column, size_t row, const void *bytes, size_t length)
{
    size_t begin = column->offsets[row];

    if (!grow(&column->bytes, &column->bytes_room, begin + length, 8))
        return false;
    if (length > 0)
        memcpy(column->bytes + begin, bytes, length);
    column->offsets[row + 1] = (uint32_t)(begin + length);
    return true;
}

static void set_bit(uint8_t *bits, size_t at, bool is_one)
{
    uint8_t bit = (uint8_t)(1U << (at & 7));

    bits[at / 8] = (uint8_t)(is_one ? bits[at / 8] | bit : bits[at / 8] & ~bit);
}

void cf__column_commit(struct column *column, size_t row, bool is_null)
{
    if (column->type == CF_NULL) {
        column->nulls++;
        return;
    }
    if (!is_null) {
        if (column->nulls > 0)
            set_bit(column->valid, row, true);
        return;
    }
    if (column->nulls == 0) {
        memset(column->valid, 0, column->valid_room / 8);
        for (size_t i = 0; i < row / 8; i++)
            column->valid[i] = 0xFF;
        for (size_t i = row / 8 * 8; i < row; i++)
            set_bit(column->valid, i, true);
    }
    column->nulls++;
    set_bit(column->valid, row, false);
    if (cf__is_text(column->type))
        column->offsets[row + 1] = column->offsets[row];
    else
        memset(column->values + row * column->width, 0, column->width);
}

void cf__column_restart(struct column *column, size_t row, bool is_set)
{
    column->nulls = 0;
    if (column->type == CF_NULL || column->valid_room == 0)
        return;
    if (cf__is_text(column->type)) {
        size_t begin = is_set ? column->offsets[row] : 0;
        size_t length = is_set ? column->offsets[row + 1] - begin : 0;
        if (length > 0)
            memmove(column->bytes, column->bytes + begin, length);
        column->offsets[0] = 0;
        column->offsets[1] = (uint32_t)length;
    } else if (is_set && row > 0) {
        memcpy(column->values, column->values + row * column->width, column->width);
    }
}
