/*
 * result.h - turns the solution of a stage's program into an sddp_stage_result.
 */
#ifndef SDDP_RESULT_H
#define SDDP_RESULT_H

#include "sddp/study.h"

/* The number of doubles in the memory of one stage's result. */
size_t result_length(const sddp *study, size_t stage);

/* The number of zeros that regions without columns need, in any stage. */
size_t result_zeros(const sddp *study);

/* Write the result of a program solved at `state` into its memory. Returns the cost of the stage,
 * without its future. */
double result_write(double *memory, const sddp *study, size_t stage, const solve_output *solved,
                    const double *state, const double *noise);

/* The result in a memory that was written. The arrays of `out` are in `memory` and `zeros`. */
void result_read(sddp_stage_result *out, const double *memory, const sddp *study, size_t stage,
                 const double *zeros);

#endif
