/**
 * cell.h - the values of rows as bytes, one after the other, in the order of the columns.
 *
 * A cell is one byte, its kind, and what that kind has: nothing, a number, or a length and bytes. A
 * row has no mark of its own; the count of columns says where it ends. Lengths and integers are
 * of variable length, seven bits a byte, the lowest first.
 *
 *     columns_cell_reader reader = { bytes, length, 0 };
 *     while (columns_cell_next(&reader, &cell))
 *         use(&cell);
 */
#ifndef COLUMNS_SEALED_CELL_H
#define COLUMNS_SEALED_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

typedef enum columns_cell_kind {
    COLUMNS_CELL_NULL,
    COLUMNS_CELL_FALSE,
    COLUMNS_CELL_TRUE,
    COLUMNS_CELL_INTEGER, /* integer */
    COLUMNS_CELL_NUMBER,  /* number */
    COLUMNS_CELL_NUMERAL, /* text: a decimal, or an integer beyond 64 bits */
    COLUMNS_CELL_MOMENT,  /* text: a date, time, timestamp or interval */
    COLUMNS_CELL_TEXT,    /* text: UTF-8 */
    COLUMNS_CELL_BYTES,   /* text: any bytes */
    COLUMNS_CELL_JSON,    /* text: the JSON of a list, struct or map */
    COLUMNS_CELL_KINDS
} columns_cell_kind;

typedef struct columns_cell {
    columns_cell_kind kind;
    int64_t integer;
    double number;
    const char *text; /* borrowed from the bytes; no NUL follows */
    size_t length;
} columns_cell;

/** Append a cell. @return out->status */
mcp_status columns_cell_put(mcp_buf *out, const columns_cell *cell);

/** Reads cells from bytes. */
typedef struct columns_cell_reader {
    const char *bytes;
    size_t length;
    size_t at; /* of the next cell */
} columns_cell_reader;

/** The next cell. @return false: there is none, or the bytes are not one; `at` stays then */
bool columns_cell_next(columns_cell_reader *reader, columns_cell *out);

#endif
