/**
 * inventory.h - the 40 paths of the case format, and the columns of those that are Parquet.
 */
#ifndef COBRE_CASE_INVENTORY_H
#define COBRE_CASE_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "case/rows.h"

typedef enum cobre_file_id {
    /* clang-format off */
    COBRE_FILE_CONFIG, COBRE_FILE_PENALTIES, COBRE_FILE_STAGES, COBRE_FILE_INITIAL,
    COBRE_FILE_BUSES, COBRE_FILE_LINES, COBRE_FILE_HYDROS, COBRE_FILE_THERMALS,
    COBRE_FILE_SOURCES, COBRE_FILE_STATIONS, COBRE_FILE_CONTRACTS,
    COBRE_FILE_GEOMETRY, COBRE_FILE_MODELS, COBRE_FILE_HYPERPLANES,
    COBRE_FILE_HISTORY, COBRE_FILE_INFLOW_STATS, COBRE_FILE_AR, COBRE_FILE_ANNUAL,
    COBRE_FILE_EXTERNAL_INFLOW, COBRE_FILE_EXTERNAL_LOAD, COBRE_FILE_EXTERNAL_NCS,
    COBRE_FILE_LOAD_STATS, COBRE_FILE_LOAD_FACTORS, COBRE_FILE_CORRELATION,
    COBRE_FILE_OPENINGS, COBRE_FILE_SOURCE_FACTORS, COBRE_FILE_SOURCE_STATS,
    COBRE_FILE_THERMAL_BOUNDS, COBRE_FILE_HYDRO_BOUNDS, COBRE_FILE_LINE_BOUNDS,
    COBRE_FILE_PUMPING_BOUNDS, COBRE_FILE_CONTRACT_BOUNDS, COBRE_FILE_EXCHANGE_FACTORS,
    COBRE_FILE_CONSTRAINTS, COBRE_FILE_CONSTRAINT_BOUNDS,
    COBRE_FILE_PENALTY_BUS, COBRE_FILE_PENALTY_LINE, COBRE_FILE_PENALTY_HYDRO,
    COBRE_FILE_PENALTY_NCS, COBRE_FILE_SOURCE_BOUNDS,
    /* clang-format on */
    COBRE_FILE_COUNT
} cobre_file_id;

/* The columns of the supported files in the order of the tables in inventory.c; the entity
 * first. */
enum { COBRE_COL_ENTITY, COBRE_COL_STAGE };
enum { COBRE_STATS_MEAN = 2, COBRE_STATS_STD };
enum { COBRE_TB_BLOCK = 2, COBRE_TB_MIN, COBRE_TB_MAX, COBRE_TB_COST };
/* clang-format off */
enum { COBRE_HB_MIN_TURBINED = 2, COBRE_HB_MAX_TURBINED, COBRE_HB_MIN_STORAGE, COBRE_HB_MAX_STORAGE,
       COBRE_HB_MIN_OUTFLOW, COBRE_HB_MAX_OUTFLOW, COBRE_HB_MIN_GENERATION,
       COBRE_HB_MAX_GENERATION, COBRE_HB_WITHDRAWAL, COBRE_HB_DIVERSION, COBRE_HB_FILLING };
/* clang-format on */
enum { COBRE_LB_DIRECT = 2, COBRE_LB_REVERSE };
enum { COBRE_PENALTY_COST = 2 }; /* the bus's, the line's, the first of the hydro's (cobre_cost) */

typedef struct cobre_file {
    const char *path;
    bool required;
    const cobre_table_spec *table; /* the columns of a Parquet file; NULL: the file is JSON */
} cobre_file;

/** By cobre_file_id. */
extern const cobre_file cobre_files_known[COBRE_FILE_COUNT];

#endif
