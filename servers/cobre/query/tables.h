/**
 * tables.h - the tables of an output directory, under the names that clients use.
 *
 * Source: seed SS2.3, SS2.9 and SS3.1; the output page, sections 5, 9 and 10.
 */
#ifndef COBRE_QUERY_TABLES_H
#define COBRE_QUERY_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "results/schema.h"

/** The column that the scenario's directory stands for. */
#define QUERY_SCENARIO "scenario_id"

typedef struct query_table {
    const char *name;   /* "lines" */
    const char *folder; /* below simulation/: "exchanges"; NULL: training/convergence.parquet */
    results_table schema;
    const char *entity;  /* its column of entity ids; NULL: none */
    int64_t entity_code; /* in the dictionary (query/entities.h) */
} query_table;

/** Ends with a row whose name is NULL. */
extern const query_table query_tables[];

/** The table of a name, or of the name of its folder; NULL when there is none. */
const query_table *query_table_find(const char *name);

/**
 * The stored name of a column that a client names: storage_hm3 is storage_final_hm3, and
 * scenario_id a column of every simulation table. NULL when there is none.
 */
const char *query_column_find(const query_table *table, const char *name);

/**
 * The names of all columns in their order, scenario_id first.
 *
 * @param names room for QUERY_COLUMNS_MAX
 * @return how many
 */
size_t query_columns_all(const char **names, const query_table *table);

#define QUERY_COLUMNS_MAX 64

#endif
