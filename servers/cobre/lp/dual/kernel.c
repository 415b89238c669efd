/*
 * kernel.c - inversion and the four exchanges; every formula is a loop over rows of the inverse.
 */
#include "lp/dual/kernel.h"

#include <math.h>
#include <string.h>

#include "lp/dual/rows.h"

/* A smaller pivot of the scaled kernel means that it is singular. */
#define PIVOT_LEAST 1e-9

/* to -= factor * from */
static void subtract(double *restrict to, double factor, const double *restrict from, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] -= factor * from[i];
}

static void multiply(double *line, double factor, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        line[i] *= factor;
}

/* ---- inversion ------------------------------------------------------------------------------- */

/* Write the kernel and, right of it, a unit matrix: a line by row, `width` long. */
static void fill(dual_work *w, int columns, int rows)
{
    int width = columns + rows;

    w->size = columns;
    for (int c = 0; c < columns; c++)
        w->position[w->kernel_column[c]] = c;
    for (int r = 0; r < rows; r++) {
        double *line = w->elimination + (size_t)r * (size_t)width;
        rows_gather(w, w->kernel_row[r], line);
        memset(line + columns, 0, (size_t)rows * sizeof *line);
        line[columns + r] = 1.0;
    }
}

/* The free line with the largest element of a column; -1: they are all too small. */
static int pivot_line(const dual_work *w, int column, int rows, int width, const int *line_column)
{
    double largest = PIVOT_LEAST;
    int best = -1;

    for (int r = 0; r < rows; r++) {
        double size = fabs(w->elimination[(size_t)r * (size_t)width + (size_t)column]);
        if (line_column[r] < 0 && size > largest) {
            largest = size;
            best = r;
        }
    }
    return best;
}

/* Make the column a unit vector. What lies left of it is one already. */
static void eliminate(dual_work *w, int column, int pivot, int rows, int width)
{
    double *at = w->elimination + (size_t)pivot * (size_t)width + column;
    int count = width - column;

    multiply(at, 1.0 / at[0], count);
    for (int r = 0; r < rows; r++) {
        double *line = w->elimination + (size_t)r * (size_t)width + column;
        if (r != pivot && line[0] != 0.0)
            subtract(line, line[0], at, count);
    }
}

/* Take what was pivoted to the front of both lists, and the rest behind it. */
static void sort_lists(dual_work *w, int columns, int rows, const int *line_column,
                       const int *column_line)
{
    int *rest = w->flips, size = 0, left = 0;

    for (int c = 0; c < columns; c++) {
        if (column_line[c] >= 0)
            w->kernel_column[size++] = w->kernel_column[c];
        else
            rest[left++] = w->kernel_column[c];
    }
    memcpy(w->kernel_column + size, rest, (size_t)left * sizeof *rest);
    size = left = 0;
    for (int r = 0; r < rows; r++) {
        if (line_column[r] >= 0)
            w->kernel_row[size++] = w->kernel_row[r];
        else
            rest[left++] = w->kernel_row[r];
    }
    memcpy(w->kernel_row + size, rest, (size_t)left * sizeof *rest);
}

/* The line of a column's pivot is its row of the inverse. */
static void read_inverse(dual_work *w, int columns, int rows, const int *line_column,
                         const int *column_line)
{
    int size = 0, width = columns + rows;

    for (int c = 0; c < columns; c++) {
        if (column_line[c] < 0)
            continue;
        double *to = task_inverse(w, size++);
        const double *from = w->elimination + (size_t)column_line[c] * (size_t)width +
                             (size_t)columns;
        for (int r = 0, at = 0; r < rows; r++)
            if (line_column[r] >= 0)
                to[at++] = from[r];
    }
    w->size = size;
}

void kernel_invert(dual_work *w, int columns, int rows)
{
    int *line_column = w->candidate, *column_line = line_column + rows, width = columns + rows;

    w->totals.refactors++;
    w->pivots_since = 0;
    fill(w, columns, rows);
    for (int r = 0; r < rows; r++)
        line_column[r] = -1;
    for (int c = 0; c < columns; c++) {
        int pivot = pivot_line(w, c, rows, width, line_column);
        column_line[c] = pivot;
        if (pivot < 0)
            continue;
        line_column[pivot] = c;
        eliminate(w, c, pivot, rows, width);
    }
    read_inverse(w, columns, rows, line_column, column_line);
    sort_lists(w, columns, rows, line_column, column_line);
    for (int c = 0; c < columns; c++)
        w->position[w->kernel_column[c]] = c < w->size ? c : -1;
    for (int r = 0; r < rows; r++)
        w->row_position[w->kernel_row[r]] = r < w->size ? r : -1;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Right-hand sides are mostly zeros. */
void kernel_multiply(const dual_work *w, const double *right, double *out)
{
    int used = 0, *at = w->candidate;

    for (int r = 0; r < w->size; r++)
        if (right[r] != 0.0)
            at[used++] = r;
    for (int c = 0; c < w->size; c++) {
        const double *line = task_inverse(w, c);
        double sum = 0.0;
        for (int i = 0; i < used; i++)
            sum += line[at[i]] * right[at[i]];
        out[c] = sum;
    }
}

void kernel_row_times(const dual_work *w, int row, double *rho)
{
    double *elements = w->right;

    rows_gather(w, row, elements);
    for (int r = 0; r < w->size; r++)
        rho[r] = 0.0;
    for (int c = 0; c < w->size; c++)
        if (elements[c] != 0.0)
            subtract(rho, -elements[c], task_inverse(w, c), w->size);
}

void kernel_enter_column(dual_work *w, int column, double *u)
{
    for (int r = 0; r < w->size; r++)
        w->right[r] = 0.0;
    rows_add_column(w, column, 1.0, w->right);
    kernel_multiply(w, w->right, u);
}

void kernel_enter_logical(const dual_work *w, int position, double *u)
{
    for (int c = 0; c < w->size; c++)
        u[c] = -task_inverse(w, c)[position];
}

/* ---- exchanges ------------------------------------------------------------------------------- */

void kernel_column_by_column(dual_work *w, int position, const double *u)
{
    double *line = task_inverse(w, position);

    multiply(line, 1.0 / u[position], w->size);
    for (int c = 0; c < w->size; c++)
        if (c != position && u[c] != 0.0)
            subtract(task_inverse(w, c), u[c], line, w->size);
}

void kernel_column_by_logical(dual_work *w, int position, int row_position)
{
    const double *line = task_inverse(w, position);
    double pivot = line[row_position];
    int last = w->size - 1;

    for (int c = 0; c < w->size; c++) {
        double *other = task_inverse(w, c), factor = other[row_position] / pivot;
        if (c == position)
            continue;
        if (factor != 0.0)
            subtract(other, factor, line, w->size);
        other[row_position] = other[last];
    }
    if (position != last)
        memcpy(task_inverse(w, position), task_inverse(w, last), (size_t)last * sizeof *line);
    w->size = last;
}

void kernel_row_by_column(dual_work *w, const double *u, const double *rho, double alpha)
{
    double inverse = -1.0 / alpha, *added = task_inverse(w, w->size);
    int size = w->size;

    for (int r = 0; r < size; r++)
        added[r] = -rho[r] * inverse;
    for (int c = 0; c < size; c++) {
        double *line = task_inverse(w, c);
        if (u[c] != 0.0)
            subtract(line, u[c], added, size);
        line[size] = -u[c] * inverse;
    }
    added[size] = inverse;
    w->size = size + 1;
}

void kernel_row_by_logical(dual_work *w, int row_position, const double *rho)
{
    for (int c = 0; c < w->size; c++) {
        double *line = task_inverse(w, c), factor = line[row_position] / rho[row_position];
        if (factor != 0.0)
            subtract(line, factor, rho, w->size);
        line[row_position] = factor;
    }
}
