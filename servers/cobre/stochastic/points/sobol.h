/*
 * sobol.h - points of a Sobol sequence, scrambled by a random affine map, as standard normal
 * deviates. Method page, 4.3 and 4.4.
 */
#ifndef STOCHASTIC_POINTS_SOBOL_H
#define STOCHASTIC_POINTS_SOBOL_H

#include <stddef.h>
#include <stdint.h>

/* The number of dimensions that there are direction numbers for. */
size_t sobol_dimensions(void);

/* The 32 bits of a coordinate before scrambling: of point `index` of dimension `i` in plain binary
 * order. Dimension 0 is the van der Corput sequence. */
uint32_t sobol_coordinate(size_t i, uint32_t index);

/* The first points in Gray-code order: out receives [point * dimension + i]. */
void sobol_fill(double *out, uint32_t points, size_t dimension, uint64_t seed);

/* Point `index`, in plain binary order, of the dimensions from `first` on. */
void sobol_point(double *out, size_t first, size_t dimension, uint32_t index, uint64_t seed);

#endif
