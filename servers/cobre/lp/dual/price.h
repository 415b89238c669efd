/*
 * price.h - the prices y of the kernel's rows, reduced costs computed from them when asked for, and
 * the dual ratio test: which column or logical enters for a leaving row.
 *
 * d_j = c_j - sum of y_i A_ij; that of the logical of a row of the kernel is its y. At a lower
 * bound d must not be negative, at an upper one not positive.
 */
#ifndef LP_DUAL_PRICE_H
#define LP_DUAL_PRICE_H

#include "lp/dual/task.h"

/* y from the inverse and the costs of the basic columns. */
void price_compute(dual_work *w);

/* After y changed: by row, and what the cuts take off the columns that they hang on. */
void price_spread(dual_work *w);

static inline double price_column(const dual_work *w, int column)
{
    const dual_program *p = w->program;
    double d = p->cost[column] - w->cut_price[column];

    for (int e = p->start[column]; e < p->start[column + 1]; e++)
        d -= w->row_price[p->row[e]] * p->value[e];
    return d;
}

/* What the lanes may lose by reduced costs of a wrong sign: the sum of each times the range of its
 * column. */
double price_loss(dual_work *w);

/* A leaving row of the tableau: x + sum of alpha_j x_j is constant. */
typedef struct ratio_row {
    int position;      /* of the leaving column, or -1 */
    int row;           /* the watched row whose logical leaves, or -1 */
    double sigma;      /* 1: below its lower bound; -1: above its upper bound */
    double miss;       /* by how much, in the target lane */
    const double *rho; /* its row of the inverse */
} ratio_row;

#define RATIO_NONE (-1)

/*
 * Walk the breakpoints. Columns whose flip leaves the row still infeasible are listed in w->flips.
 *
 * Returns what enters: a column, or the number of columns plus the position of a row of the kernel.
 * RATIO_NONE: nothing can, the row is infeasible. w->alpha is then set by column.
 */
int ratio_test(dual_work *w, const ratio_row *leaving, size_t target);

#endif
