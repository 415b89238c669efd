/*
 * result.h - turns the solution of a stage's program into an sddp_stage_result.
 */
#ifndef SDDP_RESULT_H
#define SDDP_RESULT_H

#include "sddp/study.h"

/* The number of doubles in the arrays of one stage's result. */
size_t result_length(const sddp *study, size_t stage);

/* The number of zeros that regions without columns need, in any stage. */
size_t result_zeros(const sddp *study);

/* Fill `out`, whose arrays are placed in `memory` and point to `zeros`, from a program solved
 * at `state`. */
void result_fill(sddp_stage_result *out, double *memory, const sddp *study, size_t stage,
                 const double *zeros, const lp *model, const double *state, const double *noise);

#endif
