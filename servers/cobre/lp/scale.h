/*
 * scale.h - powers of two that bring the numbers of a program near one.
 *
 * A solver's tolerances are absolute, so the unit of a cost or a volume would decide what counts as
 * optimal. The scaled program has the columns x' = x / column, the rows row * (A x) and the costs
 * objective * c * column. Powers of two scale without rounding.
 */
#ifndef LP_SCALE_H
#define LP_SCALE_H

#include "lp/lp.h"

/* Fill `column` and `row`, which have as many entries as the program has columns and rows, and
 * `objective`. */
void lp_scale_program(const lp_program *program, double *column, double *row, double *objective);

/* The scale of one more row with `count` elements: the largest one becomes about one. */
double lp_scale_row(int count, const int *columns, const double *values, const double *column);

#endif
