/*
 * figures.c - order and quantiles.
 */
#include "support/figures.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void figures_sort(double *figures, size_t count)
{
    qsort(figures, count, sizeof figures[0], ascending);
}

double figures_at(const double *figures, size_t count, double part)
{
    size_t at = (size_t)(part * (double)count);

    return figures[at < count ? at : count - 1];
}
