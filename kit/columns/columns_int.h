/*
 * columns_int.h - the body of a `columns`, and the types in DuckDB.
 */
#ifndef COLUMNS_COLUMNS_INT_H
#define COLUMNS_COLUMNS_INT_H

#include <pthread.h>

#include "columns/columns.h"
#include "columns/engine.h"

struct columns {
    pthread_mutex_t turn; /* guards all below: one file at a time */
    struct engine engine;
};

/* The name of a type, its name in DuckDB, and the size of one value in memory (0: none). */
struct columns_type_row {
    const char *name;
    duckdb_type duckdb;
    size_t size;
};

const struct columns_type_row *columns_type_row(columns_type type);

/* The type of a DuckDB column. */
columns_type columns_type_from(duckdb_type type);

#endif
