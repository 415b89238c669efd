/*
 * scale.c - chooses the scales: first those of the matrix, then a common factor for bounds and
 * right-hand sides, then that of the costs, last those of columns without elements (the future
 * cost, before it has cuts), whose cost becomes one.
 *
 * The mean over bounds and that over costs are geometric, so that one very large penalty or bound
 * moves them little.
 */
#include "lp/scale.h"

#include <math.h>

/* Passes over columns and rows; more change little. */
#define PASSES 3

/* Far from the ends of a double's range. */
#define EXPONENT_MAX 200.0

/* Sum and number of exponents. */
struct mean {
    double sum, count;
};

/* Add a value in scaled numbers. Infinity, zero and what is as good as zero do not count. */
static void add(struct mean *mean, double value, double scale)
{
    double size = fabs(value);

    if (size >= LP_SMALLEST && size < LP_INFINITY) {
        mean->sum += logb(size * scale);
        mean->count += 1.0;
    }
}

/* One over the power of two at the mean; 1 when there were no numbers. */
static double inverse_of(const struct mean *mean)
{
    double exponent = mean->count > 0.0 ? nearbyint(mean->sum / mean->count) : 0.0;

    return ldexp(1.0, (int)-fmax(-EXPONENT_MAX, fmin(EXPONENT_MAX, exponent)));
}

/* A scale that brings the largest of the numbers no further than a solver takes them. */
static double limited(double scale, double largest)
{
    return largest * scale <= LP_LARGEST ? scale : ldexp(1.0, ilogb(LP_LARGEST / largest));
}

/* The larger of two, of which infinity is none. */
static double larger(double one, double other)
{
    return fabs(other) < LP_INFINITY ? fmax(one, fabs(other)) : one;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Each column by the geometric mean of its smallest and its largest element. */
static void scale_columns(const lp_program *p, double *column, const double *row)
{
    for (int j = 0; j < p->columns; j++) {
        double largest = 0.0, smallest = LP_INFINITY;
        struct mean mean = { 0.0, 0.0 };
        for (int e = p->start[j]; e < p->start[j + 1]; e++) {
            double size = fabs(p->value[e]) * row[p->row[e]];
            largest = fmax(largest, size);
            if (size > 0.0)
                smallest = fmin(smallest, size);
        }
        add(&mean, largest, 1.0);
        add(&mean, smallest, 1.0);
        column[j] = inverse_of(&mean);
    }
}

/* Each row by its largest element. */
static void scale_rows(const lp_program *p, const double *column, double *row)
{
    for (int i = 0; i < p->rows; i++)
        row[i] = 0.0;
    for (int j = 0; j < p->columns; j++)
        for (int e = p->start[j]; e < p->start[j + 1]; e++)
            row[p->row[e]] = fmax(row[p->row[e]], fabs(p->value[e]) * column[j]);
    for (int i = 0; i < p->rows; i++) {
        struct mean largest = { 0.0, 0.0 };
        add(&largest, row[i], 1.0);
        row[i] = inverse_of(&largest);
    }
}

/* ---- bounds and costs ------------------------------------------------------------------------ */

/* x' = x / (column * factor), and rows by 1 / factor: the matrix stays, bounds move to one. */
static void scale_bounds(const lp_program *p, double *column, double *row)
{
    struct mean mean = { 0.0, 0.0 };
    double largest = 0.0;

    for (int j = 0; j < p->columns; j++) {
        add(&mean, p->lower[j], 1.0 / column[j]);
        add(&mean, p->upper[j], 1.0 / column[j]);
        largest = fmax(largest, larger(larger(0.0, p->lower[j]), p->upper[j]) / column[j]);
    }
    for (int i = 0; i < p->rows; i++) {
        add(&mean, p->row_lower[i], row[i]);
        add(&mean, p->row_upper[i], row[i]);
        largest = fmax(largest, larger(larger(0.0, p->row_lower[i]), p->row_upper[i]) * row[i]);
    }
    double inverse = limited(inverse_of(&mean), largest);
    for (int j = 0; j < p->columns; j++)
        column[j] /= inverse;
    for (int i = 0; i < p->rows; i++)
        row[i] *= inverse;
}

static double scale_costs(const lp_program *p, double *column)
{
    struct mean costs = { 0.0, 0.0 };
    double largest = 0.0;

    for (int j = 0; j < p->columns; j++)
        if (p->start[j] < p->start[j + 1]) {
            add(&costs, p->cost[j], column[j]);
            largest = fmax(largest, larger(0.0, p->cost[j]) * column[j]);
        }
    double objective = limited(inverse_of(&costs), largest);
    for (int j = 0; j < p->columns; j++)
        if (p->start[j] == p->start[j + 1]) {
            struct mean cost = { 0.0, 0.0 };
            add(&cost, p->cost[j], objective);
            column[j] = inverse_of(&cost);
        }
    return objective;
}

void lp_scale_program(const lp_program *program, double *column, double *row, double *objective)
{
    for (int i = 0; i < program->rows; i++)
        row[i] = 1.0;
    for (int pass = 0; pass < PASSES; pass++) {
        scale_columns(program, column, row);
        scale_rows(program, column, row);
    }
    scale_bounds(program, column, row);
    *objective = scale_costs(program, column);
}

double lp_scale_row(int count, const int *columns, const double *values, const double *column)
{
    struct mean largest = { 0.0, 0.0 };
    double size = 0.0;

    for (int e = 0; e < count; e++)
        size = fmax(size, fabs(values[e]) * column[columns[e]]);
    add(&largest, size, 1.0);
    return inverse_of(&largest);
}
