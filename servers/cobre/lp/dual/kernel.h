/*
 * kernel.h - the inverse of the kernel: rows whose logicals are nonbasic by basic columns.
 *
 * M = 1 / A[R, C] is a dense matrix with a row by position of a column and a column by position of
 * a row. Positions move only where a pivot makes the kernel smaller: the last one takes the gap.
 */
#ifndef LP_DUAL_KERNEL_H
#define LP_DUAL_KERNEL_H

#include "lp/dual/task.h"

/*
 * Invert the kernel that kernel_column and kernel_row name: `columns` and `rows` of them. What
 * makes it singular, or not square, is left out: the columns and rows that remain keep their order,
 * and w->size is their number. The lists end with what was left out.
 */
void kernel_invert(dual_work *w, int columns, int rows);

/* out = M right; like an inversion, it needs the list of candidates as scratch. */
void kernel_multiply(const dual_work *w, const double *right, double *out);

/* rho = the row's elements in the basic columns, times M. */
void kernel_row_times(const dual_work *w, int row, double *rho);

/* u = what the basic columns lose when a column rises by one; when the logical of the row at a
 * position does. */
void kernel_enter_column(dual_work *w, int column, double *u);
void kernel_enter_logical(const dual_work *w, int position, double *u);

/* The four exchanges. u and rho are those of before. A row that joins, and a column that enters at
 * the end, take the last position. */
void kernel_column_by_column(dual_work *w, int position, const double *u);
void kernel_column_by_logical(dual_work *w, int position, int row_position);
void kernel_row_by_column(dual_work *w, const double *u, const double *rho, double alpha);
void kernel_row_by_logical(dual_work *w, int row_position, const double *rho);

#endif
