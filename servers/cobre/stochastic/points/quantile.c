/*
 * quantile.c - a rational function in the middle, a polynomial of ln(-ln(tail)) outside.
 *
 * B. Moro, "The full Monte", Risk 8 (1995); method page, 4.3.
 */
#include "stochastic/points/quantile.h"

#include <float.h>
#include <math.h>

#define MIDDLE 0.42
#define LEAST_TAIL 1e-20
#define FARTHEST 8.21

static double polynomial(const double *coefficients, int count, double x)
{
    double sum = coefficients[count - 1];

    for (int i = count - 2; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

static double middle(double y)
{
    static const double top[] = { 2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637 };
    static const double bottom[] = { 1.0, -8.47351093090, 23.08336743743, -21.06224101826,
                                     3.13082909833 };
    double r = y * y;

    return y * polynomial(top, 4, r) / polynomial(bottom, 5, r);
}

static double tail(double share)
{
    static const double c[] = { 0.3374754822726147, 0.9761690190917186, 0.1607979714918209,
                                0.0276438810333863, 0.0038405729373609, 0.0003951896511349,
                                0.0000321767881768, 0.0000002888167364, 0.0000003960315187 };

    return share <= LEAST_TAIL ? FARTHEST : polynomial(c, 9, log(-log(share)));
}

double quantile_normal(double p)
{
    double inside = fmin(fmax(p, DBL_MIN), 1.0 - DBL_EPSILON);
    double y = inside - 0.5;

    if (fabs(y) < MIDDLE)
        return middle(y);
    return y < 0.0 ? -tail(inside) : tail(1.0 - inside);
}
