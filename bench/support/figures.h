/*
 * figures.h - many measurements of one thing.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stddef.h>

/** Put in order, as figures_at wants them. */
void figures_sort(double *figures, size_t count);

/** The figure below which `part` (0 to 1) of them lie; 0.5 is the median. They are in order. */
double figures_at(const double *figures, size_t count, double part);

#endif
