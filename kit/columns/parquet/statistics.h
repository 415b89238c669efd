/*
 * statistics.h - the smallest and the largest value of a column chunk, and its nulls.
 *
 * Readers skip row groups by them, so a bound that is wrong hides rows. Signed and unsigned
 * integers have orders of their own, texts and blobs that of their bytes. A zero is -0.0 as the
 * smallest and +0.0 as the largest value. A text longer than STATISTICS_TEXT_MAX is left out. A
 * chunk with a NaN has no bounds: the format keeps NaN out of them, and readers that sort it above
 * all numbers, as DuckDB does, would then skip it.
 *
 * Source: parquet.thrift, Statistics and ColumnOrder.
 */
#ifndef COLUMNS_STATISTICS_H
#define COLUMNS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns/columns.h"

#define STATISTICS_TEXT_MAX 64

/* A decimal without its point. */
__extension__ typedef __int128 statistics_wide;

/* A text's first bytes, which decide the order of all that are not left out. */
struct statistics_text {
    uint64_t head; /* the first eight, as a number of the same order; zeros where there are less */
    size_t length; /* STATISTICS_TEXT_MAX + 1: longer than that */
    char bytes[STATISTICS_TEXT_MAX];
};

typedef struct statistics {
    columns_type type;
    size_t width;   /* of DECIMAL: bytes in the file; 4 and 8 are integers, others big-endian */
    bool has_range; /* a value was seen; NaN is none */
    bool has_nan;
    int64_t null_count;
    union {
        int64_t i;
        uint64_t u;
        double f;
        statistics_wide wide;
    } min, max;
    struct statistics_text min_text, max_text;
} statistics;

void statistics_begin(statistics *self, columns_type type);

/* Add rows of a column of numbers. */
void statistics_add(statistics *self, const columns_column *column, size_t first, size_t rows);

/* Add a value of TEXT, STRING, BLOB or LABEL. */
void statistics_add_text(statistics *self, const char *text, size_t length);

/* Write a decimal as the file has it. The value fits into the width. */
void statistics_put_wide(void *to, statistics_wide value, size_t width);

/* The PLAIN bytes of a bound, without a text's length. @return false: there is none to write */
bool statistics_min(const statistics *self, char out[STATISTICS_TEXT_MAX], size_t *length);
bool statistics_max(const statistics *self, char out[STATISTICS_TEXT_MAX], size_t *length);

#endif
