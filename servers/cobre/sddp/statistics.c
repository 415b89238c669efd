/*
 * statistics.c - Welford's running mean and variance, which do not cancel, and the tail mean.
 */
#include "sddp/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

statistics statistics_of(const double *values, size_t n)
{
    statistics result = { 0.0, 0.0, 0.0 };
    double squares = 0.0;

    for (size_t i = 0; i < n; i++) {
        double from_old = values[i] - result.mean;
        result.mean += from_old / (double)(i + 1);
        squares += from_old * (values[i] - result.mean);
    }
    if (n < 2)
        return result;
    result.std = sqrt(squares / (double)(n - 1));
    result.half_width = 1.96 * result.std / sqrt((double)n);
    return result;
}

static int by_size_descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

double statistics_cvar95(const double *values, size_t n, double *sorted)
{
    double sum = 0.0;

    if (n == 0)
        return 0.0;
    size_t tail = n - (size_t)floor(0.95 * (double)n);
    if (tail < 1)
        tail = 1;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_size_descending);
    for (size_t i = 0; i < tail; i++)
        sum += sorted[i];
    return sum / (double)tail;
}
