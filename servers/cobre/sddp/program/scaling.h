/*
 * scaling.h - the numbers of a stage's program before and after the solver's scaling.
 */
#ifndef SDDP_PROGRAM_SCALING_H
#define SDDP_PROGRAM_SCALING_H

#include <stddef.h>

#include "lp/lp.h"
#include "mcp/error.h"

/* The smallest and the largest magnitude of numbers that are not zero; both 0 without any. */
typedef struct scaling_range {
    double least, most;
} scaling_range;

typedef struct scaling_factors {
    double least, most, median;
    size_t count;
} scaling_factors;

typedef struct program_scaling {
    size_t columns, rows, elements;
    scaling_range matrix_before, costs_before, matrix_after, costs_after;
    scaling_factors column, row;
} program_scaling;

/* Measure a program. MCP_OK; MCP_E_NOMEM. */
mcp_status program_scaling_of(program_scaling *out, const lp_program *program, mcp_error *err);

#endif
