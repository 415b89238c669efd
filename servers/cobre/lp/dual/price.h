/*
 * price.h - the prices y of the kernel's rows, reduced costs, which pivots keep up, and
 * the dual ratio test: which column or logical enters for a leaving row.
 *
 * d_j = c_j - sum of y_i A_ij; that of the logical of a row of the kernel is its y. At a lower
 * bound d must not be negative, at an upper one not positive.
 */
#ifndef LP_DUAL_PRICE_H
#define LP_DUAL_PRICE_H

#include "lp/dual/task.h"

/* y from the inverse and the costs of the basic columns, and reduced costs from y. */
void price_compute(dual_work *w);

/* After a ratio test: y += t rho, and the reduced costs follow. */
void price_move(dual_work *w, double t, const double *rho);

/* The reduced cost of any column, from y. */
double price_column(const dual_work *w, int column);

/* What the lanes may lose by reduced costs of a wrong sign: the sum of each times the range of its
 * column. Reduced costs are computed from y for it. */
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
