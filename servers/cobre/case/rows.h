/**
 * rows.h - reads the Parquet files of a case by tables of columns.
 *
 * A table row has a column's name, its type, whether it is required, the range of its values and
 * the registry of its ids. The data stay in columns; `order` lists the rows sorted by the key
 * columns, so that results do not depend on the order in the file.
 */
#ifndef COBRE_CASE_ROWS_H
#define COBRE_CASE_ROWS_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/fields.h"
#include "columns/columns.h"

enum { COBRE_COLUMNS_MAX = 14, COBRE_KEYS_MAX = 4 };

enum { COBRE_UNIT = COBRE_NOT_NEGATIVE | COBRE_AT_MOST_ONE };

typedef struct cobre_column {
    const char *name; /* NULL ends a list */
    columns_type type;
    unsigned flags; /* COBRE_REQUIRED, _NOT_NEGATIVE, _POSITIVE, _AT_MOST_ONE */
    cobre_registry refers;
} cobre_column;

/** The meaning of two rows with one key. */
typedef enum cobre_repeats {
    COBRE_REPEATS_REFUSED,
    COBRE_REPEATS_LAST_WINS,
    COBRE_REPEATS_ALLOWED /* a later layer judges them */
} cobre_repeats;

typedef struct cobre_table_spec {
    const cobre_column *columns;
    size_t keys; /* the first so many columns */
    cobre_repeats repeats;
} cobre_table_spec;

typedef struct cobre_table {
    const cobre_table_spec *spec;
    const columns_column *columns[COBRE_COLUMNS_MAX]; /* as in the spec; NULL: not in the file */
    size_t rows;
    const size_t *order; /* rows by key, then as in the file */
} cobre_table;

/**
 * Check a table and sort its rows; the first problem is reported through `reader`.
 *
 * @param out its rows stay 0 when the reader failed
 */
void cobre_read_rows(cobre_reader *reader, const columns_table *data, const cobre_table_spec *spec,
                     cobre_table *out);

/** How many rows of a table `bytes` hold: twice, since the reader has them too, and their order. */
size_t cobre_rows_most(const cobre_table_spec *spec, size_t bytes);

/** The column of the rows' entity: the first that refers to a registry; COBRE_COLUMNS_MAX: none. */
size_t cobre_table_entity(const cobre_table_spec *spec);

/** The row whose first two columns, the first two of its keys, hold these; COBRE_NONE. */
size_t cobre_table_find(const cobre_table *table, int64_t first, int64_t second);

/** The integer of a column in a row; COBRE_ABSENT for null or an absent column. */
int64_t cobre_table_int(const cobre_table *table, size_t column, size_t row);

/** The real of a column in a row; NAN for null or an absent column. */
double cobre_table_real(const cobre_table *table, size_t column, size_t row);

#endif
