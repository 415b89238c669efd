/*
 * halton.h - points of a Halton sequence whose digits are permuted at random, as standard normal
 * deviates. Method page, 4.3 and 4.4.
 */
#ifndef STOCHASTIC_POINTS_HALTON_H
#define STOCHASTIC_POINTS_HALTON_H

#include <stddef.h>
#include <stdint.h>

/* The largest dimension; its prime is 7919. */
#define HALTON_DIMENSIONS 1000

/* The first points: out receives [point * dimension + i]. */
void halton_fill(double *out, uint32_t points, size_t dimension, uint64_t seed);

/* Point `index` of `points`, of the dimensions from `first` on. */
void halton_point(double *out, size_t first, size_t dimension, uint32_t index, uint32_t points,
                  uint64_t seed);

#endif
