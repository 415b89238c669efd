/*
 * sheet.h - a table being filled, row after row, in the order of its schema's columns.
 *
 *     sheet_row(sheet);
 *     sheet_i32(sheet, stage);
 *     sheet_null(sheet);
 *     sheet_f64(sheet, cost);
 *
 * A value of the wrong type, a null where none may be and a row with too few or too many values are
 * bugs and assert.
 */
#ifndef RESULTS_SHEET_H
#define RESULTS_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include "columns/parquet.h"
#include "mcp/arena.h"

#include "results/schema.h"

typedef struct sheet sheet;

/* An empty sheet with room for `rows_max` rows, the arena's; NULL when memory is out. */
sheet *sheet_new(mcp_arena *arena, results_table table, size_t rows_max);

/* The memory of one row of a table. */
size_t sheet_row_bytes(results_table table);

/* Remove all rows. */
void sheet_clear(sheet *self);

/* Begin the next row. */
void sheet_row(sheet *self);

void sheet_bool(sheet *self, bool value);
void sheet_i8(sheet *self, int8_t value);
void sheet_i32(sheet *self, int32_t value);
void sheet_i64(sheet *self, int64_t value);
void sheet_u32(sheet *self, uint32_t value);
void sheet_u64(sheet *self, uint64_t value);
void sheet_f64(sheet *self, double value);
void sheet_text(sheet *self, const char *value); /* borrowed until the sheet is written */
void sheet_null(sheet *self);

/* `count` zeros of type f64 or i64. */
void sheet_zeros(sheet *self, size_t count);

/* Write the table as file `name` of the folder. */
mcp_status sheet_write(const sheet *self, int dir_fd, const char *name, mcp_error *err);

/* Begin a file that takes sheets of a table batch by batch, compressed fast (zstd level 1). */
mcp_status sheet_file_open(parquet_writer **out, results_table table, int dir_fd, const char *name,
                           mcp_error *err);

/* Append all rows of the sheet to such a file. */
mcp_status sheet_append(const sheet *self, parquet_writer *file, mcp_error *err);

#endif
