/*
 * schema.h - the columns of every Parquet file of the format, also of those not written yet.
 */
#ifndef RESULTS_SCHEMA_H
#define RESULTS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "columns/columns.h"

#define RESULTS_COLUMNS_MAX 40 /* of a table */

/* In the order of variables.csv. */
typedef enum results_table {
    RESULTS_COSTS,
    RESULTS_HYDROS,
    RESULTS_THERMALS,
    RESULTS_EXCHANGES,
    RESULTS_BUSES,
    RESULTS_PUMPING_STATIONS,
    RESULTS_CONTRACTS,
    RESULTS_NON_CONTROLLABLES,
    RESULTS_INFLOW_LAGS,
    RESULTS_GENERIC_VIOLATIONS,
    RESULTS_CONVERGENCE,
    RESULTS_ITERATION_TIMING,
    RESULTS_RANK_TIMING,
    RESULTS_CUT_SELECTION,
    RESULTS_SOLVER_ITERATIONS,
    RESULTS_RETRY_HISTOGRAM,
    RESULTS_TABLE_COUNT,
    /* Not in variables.csv. */
    RESULTS_BOUNDS = RESULTS_TABLE_COUNT, /* dictionaries/bounds.parquet */
    RESULTS_FPHA_PLANES,                  /* hydro_models/fpha_hyperplanes.parquet */
    RESULTS_NOISE_OPENINGS,               /* here and below: of stochastic/ */
    RESULTS_INFLOW_STATS,
    RESULTS_INFLOW_AR,
    RESULTS_INFLOW_ANNUAL,
    RESULTS_LOAD_STATS,
    RESULTS_INNER_BOUND /* training/inner_bound.parquet */
} results_table;

typedef struct results_field {
    const char *name;
    columns_type type;
    bool is_nullable;
    const char *unit; /* "" for none */
    const char *description;
} results_field;

typedef struct results_schema {
    const char *file; /* as in variables.csv */
    const results_field *fields;
    size_t count;
} results_schema;

/* Never NULL; constant. */
const results_schema *results_schema_of(results_table table);

/* "i8", "i32", "f64", "bool", "str", ...: as variables.csv spells it. */
const char *results_type_name(columns_type type);

#endif
