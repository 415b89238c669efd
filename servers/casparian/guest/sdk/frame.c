/*
 * frame.c - a batch as the bytes of CFB1.
 *
 * The buffers of the columns are written as they are, so the machine must be little-endian. Each
 * section is padded to a multiple of 8 from the start of the batch.
 */
#include <string.h>

#include "guest/sdk/output.h"
#include "guest/sdk/sink.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "batches are written as they are in memory, which must be little-endian"
#endif

enum { HEADER = 16, DESCRIPTOR = 12, HAS_VALID = 1 };

static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* Columns of an open schema that no row of the batch has are left out. */
static bool is_in(const cf_output *output, size_t index)
{
    const struct column *column = &output->columns[index];

    if (output->is_open)
        return column->is_used;
    return index != output->error_column || column->nulls < output->rows;
}

static size_t zone_length(const struct column *column)
{
    return column->type == CF_TIMESTAMP_TZ ? column->zone_length : 0;
}

static bool has_valid(const struct column *column)
{
    return column->nulls > 0 && column->type != CF_NULL;
}

static size_t section_bytes(const struct column *column, size_t rows)
{
    size_t total = has_valid(column) ? padded((rows + 7) / 8) : 0;

    if (cf__is_text(column->type))
        return total + padded((rows + 1) * sizeof(uint32_t)) + padded(column->offsets[rows]);
    return total + padded(rows * column->width);
}

static void put_padded(cf_sink *sink, const void *bytes, size_t length)
{
    static const uint8_t zeros[8] = { 0 };

    cf__sink_put(sink, bytes, length);
    cf__sink_put(sink, zeros, padded(length) - length);
}

static void put_column(cf_sink *sink, const struct column *column, size_t rows)
{
    if (has_valid(column))
        put_padded(sink, column->valid, (rows + 7) / 8);
    if (cf__is_text(column->type)) {
        put_padded(sink, column->offsets, (rows + 1) * sizeof(uint32_t));
        put_padded(sink, column->bytes, column->offsets[rows]);
    } else if (column->type != CF_NULL) {
        put_padded(sink, column->values, rows * column->width);
    }
}

static void put_descriptor(cf_sink *sink, const struct column *column)
{
    uint16_t lengths[2] = { column->name_length, (uint16_t)zone_length(column) };
    bool is_decimal = column->type == CF_DECIMAL;
    uint8_t descriptor[DESCRIPTOR] = { column->type, has_valid(column) ? HAS_VALID : 0,
                                       is_decimal ? column->precision : 0,
                                       is_decimal ? column->scale : 0 };

    memcpy(descriptor + 4, lengths, sizeof lengths);
    cf__sink_put(sink, descriptor, sizeof descriptor);
    cf__sink_put(sink, column->name, column->name_length);
    cf__sink_put(sink, column->zone, zone_length(column));
}

void cf__frame_send(cf_output *output)
{
    static const uint8_t zeros[8] = { 0 };
    cf_sink *sink = output->sink;
    uint32_t rows = (uint32_t)output->rows, descriptors = 0;
    uint16_t counts[2] = { 1, 0 };
    size_t total = 0;

    for (size_t i = 0; i < output->count; i++) {
        const struct column *column = &output->columns[i];
        if (!is_in(output, i))
            continue;
        counts[1]++;
        descriptors += (uint32_t)(DESCRIPTOR + column->name_length + zone_length(column));
        total += section_bytes(column, rows);
    }
    total += padded(HEADER + descriptors);
    uint8_t length[4] = { (uint8_t)(total >> 24), (uint8_t)(total >> 16), (uint8_t)(total >> 8),
                          (uint8_t)total };
    cf__sink_put(sink, length, sizeof length);
    cf__sink_put(sink, "CFB1", 4);
    cf__sink_put(sink, counts, sizeof counts);
    cf__sink_put(sink, &rows, sizeof rows);
    cf__sink_put(sink, &descriptors, sizeof descriptors);
    for (size_t i = 0; i < output->count; i++)
        if (is_in(output, i))
            put_descriptor(sink, &output->columns[i]);
    cf__sink_put(sink, zeros, padded(HEADER + descriptors) - HEADER - descriptors);
    for (size_t i = 0; i < output->count; i++)
        if (is_in(output, i))
            put_column(sink, &output->columns[i], rows);
    sink->rows += rows;
}
