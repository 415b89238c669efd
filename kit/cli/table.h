/**
 * table.h - texts in aligned columns.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_TABLE_COLUMNS_MAX 64

typedef struct cli_table_column {
    const char *title;
    bool is_right; /* numbers stand at the right edge */
} cli_table_column;

/**
 * Print a head line and one line a row; columns are two spaces apart and as wide as their longest
 * cell, counted in characters. Nothing trails a line.
 *
 * @param column_count 1 to CLI_TABLE_COLUMNS_MAX
 * @param cells row after row; NULL is printed as "-"
 * @param color whether the head is bold
 */
void cli_table_print(FILE *stream, const cli_table_column *columns, size_t column_count,
                     const char *const *cells, size_t rows, bool color);

#endif
