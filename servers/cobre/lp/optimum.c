/*
 * optimum.c - computes A x and c - A'y again and compares them with the bounds.
 *
 * Each sum is compared with the sum of its terms' magnitudes, since that is what rounding follows.
 */
#include "lp/optimum.h"

#include <math.h>

#include "lp/lp.h"

/* A hundred times the tolerance of the solvers: what is beyond is no rounding. */
#define TOLERANCE 1e-7

/* Also false for NaN. */
static bool is_between(double value, double lower, double upper, double size)
{
    double slack = TOLERANCE * (1.0 + size);

    return value >= lower - slack && value <= upper + slack;
}

/* The price of moving a value up is not negative, unless it cannot move up; likewise down. */
static bool is_priced(double price, double size, double value, double lower, double upper)
{
    double slack = TOLERANCE * (1.0 + size);
    double near = TOLERANCE * (1.0 + fabs(value));

    return (price >= -slack || value >= upper - near) && (price <= slack || value <= lower + near);
}

static bool column_holds(const lp_claim *claim, int j)
{
    double x = claim->primal[j], price = claim->cost[j], size = fabs(price);

    if (!is_between(x, claim->lower[j], claim->upper[j], fabs(x)))
        return false;
    for (int k = 0; k < claim->length[j]; k++) {
        int e = claim->start[j] + k, i = claim->row[e];
        double term = claim->value[e] * x, dual_term = claim->value[e] * claim->dual[i];
        claim->activity[i] += term;
        claim->size[i] += fabs(term);
        price -= dual_term;
        size += fabs(dual_term);
    }
    return is_priced(price, size, x, claim->lower[j], claim->upper[j]);
}

static bool row_holds(const lp_claim *claim, int i, double largest_dual)
{
    double activity = claim->activity[i], size = claim->size[i], dual = claim->dual[i];
    double lower = claim->row_lower[i], upper = claim->row_upper[i];
    double near = TOLERANCE * (1.0 + size), slack = TOLERANCE * (1.0 + largest_dual);

    /* A dual above zero is the price of a row at its lower side. */
    return is_between(activity, lower, upper, size) &&
           (dual <= slack || activity <= lower + near) &&
           (dual >= -slack || activity >= upper - near);
}

bool lp_claim_holds(const lp_claim *claim)
{
    double largest_dual = 0.0;

    for (int i = 0; i < claim->rows; i++) {
        claim->activity[i] = claim->size[i] = 0.0;
        largest_dual = fmax(largest_dual, fabs(claim->dual[i]));
    }
    for (int j = 0; j < claim->columns; j++)
        if (!column_holds(claim, j))
            return false;
    for (int i = 0; i < claim->rows; i++)
        if (!row_holds(claim, i, largest_dual))
            return false;
    return true;
}
