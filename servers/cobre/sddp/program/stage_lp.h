/*
 * stage_lp.h - the linear program of one stage: its columns, its rows and its varying parts.
 *
 * Built once and read by all threads; each worker loads it into an lp of its own. Solves differ in
 * bounds only: the incoming state and the inflows are fixed columns, stochastic loads are right-
 * hand sides, stochastic sources upper bounds (items.h). So the reduced costs are the gradient of
 * the optimum by the state. All costs are divided by COST_SCALE. Method page, 2.
 */
#ifndef SDDP_PROGRAM_STAGE_LP_H
#define SDDP_PROGRAM_STAGE_LP_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "lp/group.h"
#include "sddp/program/context.h"
#include "sddp/program/regions.h"

#define NO_COLUMN (-1)

/* A term of a generic constraint whose constant varies with the noise: the curtailment of a
 * stochastic source. Terms of one row follow one another. */
typedef struct moving_term {
    int row;
    size_t source, block;
    double coefficient;
} moving_term;

typedef struct stage_lp {
    const program_context *context;
    const cobre_case *input;
    size_t stage, blocks;
    lp_program program;
    bool truncates; /* negative inflows are raised to zero where there is noise */

    int first[REGION_COUNT + 1];      /* the columns of a region: first[r] to first[r + 1] */
    const int *column[REGION_COUNT];  /* by entity: its first column, or NO_COLUMN */
    const int *row[ROW_REGION_COUNT]; /* by entity: its first row, or NO_COLUMN */
    const int *place;                 /* by column: entity * width + k */
    size_t values[REGION_COUNT];      /* entities * width */
    size_t width[REGION_COUNT];
    int theta;        /* the first column of REGION_THETA */
    lp_layout layout; /* what varies (items.h), and where the cuts hang */

    const int *noise_of_bus;    /* index into the noise vector, or NO_COLUMN: load is certain */
    const int *noise_of_source; /* the same: availability is certain */
    const moving_term *moving;
    size_t moving_count;
} stage_lp;

/* Build the program of stage t; `context` is borrowed. Its arrays are the arena's. MCP_OK;
 * MCP_E_NOMEM. */
mcp_status stage_lp_build(stage_lp *out, mcp_arena *arena, const program_context *context, size_t t,
                          mcp_error *err);

/* The size of the program, without building it: columns, rows and elements (one that several terms
 * add up to counts for each). MCP_OK; MCP_E_NOMEM. */
mcp_status stage_lp_size(const program_context *context, size_t t, double out[3], mcp_error *err);

/* A lower limit of its columns, from the counts of the case alone. */
double stage_lp_least_columns(const cobre_case *input, size_t t);

/* Columns and rows of the program, without cuts. */
size_t stage_lp_lines(const stage_lp *stage);

/* Place k of an entity that has columns; NO_COLUMN for one that has none. */
static inline int stage_lp_column(const stage_lp *stage, column_region r, size_t entity, size_t k)
{
    int first = stage->column[r][entity];

    return first == NO_COLUMN ? NO_COLUMN : first + (int)k;
}

/* The load of a bus in a block under a noise: the right-hand side of its row, MW. */
double stage_lp_load(const stage_lp *stage, size_t bus, size_t block, const double *noise);

/* What a source can generate in a block under a noise, MW: 0 where it is absent. */
double stage_lp_available(const stage_lp *stage, size_t source, size_t block, const double *noise);

/* The discounted future cost in a solution, thousands. */
double stage_lp_future(const stage_lp *stage, const double *primal);

/* The column that holds a plant's outgoing storage. */
int stage_lp_storage(const stage_lp *stage, size_t hydro);

/* After an optimal solve: the outgoing storages. */
void stage_lp_leave(const stage_lp *stage, const double *primal, double *storage);

#endif
