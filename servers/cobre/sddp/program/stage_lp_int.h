/*
 * stage_lp_int.h - a program while it is built: between stage_lp.c, matrix.c and items.c.
 */
#ifndef SDDP_PROGRAM_STAGE_LP_INT_H
#define SDDP_PROGRAM_STAGE_LP_INT_H

#include "sddp/program/stage_lp.h"

typedef struct builder {
    stage_lp *lp;
    program_site site;
    int *column_of[REGION_COUNT], *row_of[ROW_REGION_COUNT]; /* by entity */
    int columns, rows;
    int *place;
    double *lower, *upper, *cost, *row_lower, *row_upper; /* NULL while they are counted */
    size_t elements;
    int *row, *column; /* triplets; NULL while they are counted, as `value` and `moving` */
    double *value;
    size_t moving_count;
    moving_term *moving;
} builder;

/* Put every element of the matrix, and the constants of generic constraints. Layout is complete. */
void matrix_put(builder *b);

/* Fill the layout: what varies, and where cuts hang. The rest of the program is complete. MCP_OK;
 * MCP_E_NOMEM. */
mcp_status stage_lp_lay(stage_lp *stage, mcp_arena *arena, mcp_error *err);

#endif
