/*
 * statistics.h - mean and sample deviation of costs, in the order in which they are given.
 */
#ifndef SDDP_STATISTICS_H
#define SDDP_STATISTICS_H

#include <stddef.h>

typedef struct statistics {
    double mean;
    double std;        /* divisor n - 1; 0 for fewer than two values */
    double half_width; /* of the 95 % interval of the mean: 1.96 * std / sqrt(n) */
} statistics;

statistics statistics_of(const double *values, size_t n);

/* The mean of the worst 5 % of costs, of one at least. `sorted` is scratch of n. */
double statistics_cvar95(const double *values, size_t n, double *sorted);

#endif
