/*
 * column.h - the cells of one column of a batch that is being filled, in the form of CFB1.
 *
 * Cells are written at the place behind the committed rows. What a row that is dropped has written
 * there is overwritten by the next one, so dropping costs nothing. `nulls` and the bitmap `valid`
 * count committed rows only; the bitmap is kept from the first null of a batch on.
 */
#ifndef CASPARIAN_GUEST_SDK_COLUMN_H
#define CASPARIAN_GUEST_SDK_COLUMN_H

#include "casparian_plugin.h"

struct column {
    char *name;
    char *zone; /* counts where the type is CF_TIMESTAMP_TZ */
    uint16_t name_length;
    uint16_t zone_length;
    uint8_t type;
    uint8_t width; /* bytes of a value; 0: a text, or the type null */
    uint8_t precision;
    uint8_t scale;
    uint8_t declared; /* the type of the schema; CF_NULL: any */
    bool is_null;     /* the cell of the row */
    bool is_used;     /* in the batch (of an open schema) */
    size_t rows_room; /* of what the type uses of values, offsets and valid */
    size_t nulls;
    uint64_t mark; /* the row that set the column last */
    uint8_t *values;
    uint32_t *offsets;
    uint8_t *valid;
    uint8_t *bytes;
    size_t values_room; /* bytes */
    size_t offsets_room;
    size_t valid_room; /* bits, a multiple of 8 */
    size_t bytes_room;
};

/** False: no memory. */
bool cf__column_init(struct column *column, const char *name, size_t length, const cf_column *like);

void cf__column_clear(struct column *column);

/** Give a column without committed values another type, with `rows` nulls. False: no memory. */
bool cf__column_retype(struct column *column, cf_type type, size_t rows);

/** Room for a value of row `row`; false: no memory. */
bool cf__column_reserve(struct column *column, size_t row);

/** The text of row `row`; false: no memory. */
bool cf__column_text(struct column *column, size_t row, const void *bytes, size_t length);

/** The row is committed: its cell is the one that was set, or null. */
void cf__column_commit(struct column *column, size_t row, bool is_null);

/** The committed rows are gone; a cell that row `row` has set moves to the front. */
void cf__column_restart(struct column *column, size_t row, bool is_set);

static inline bool cf__is_text(uint8_t type)
{
    return type == CF_STRING || type == CF_BINARY;
}

#endif
