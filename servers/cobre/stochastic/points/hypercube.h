/*
 * hypercube.h - Latin hypercube sampling: of n points, each of n equal strata of each dimension
 * holds one. Points are standard normal deviates. Method page, 4.3 and 4.4.
 */
#ifndef STOCHASTIC_POINTS_HYPERCUBE_H
#define STOCHASTIC_POINTS_HYPERCUBE_H

#include <stddef.h>
#include <stdint.h>

#include "stochastic/generator.h"

/* Points of which hypercube_point can give one. */
#define HYPERCUBE_POINTS_MAX 65536

/*
 * All points.
 *
 * out:     receives [point * dimension + i]
 * scratch: `points` numbers
 */
void hypercube_fill(double *out, uint32_t points, size_t dimension, uint64_t seed,
                    uint32_t *scratch);

/*
 * One point of `points`, which are HYPERCUBE_POINTS_MAX at most.
 *
 * strata:  the seed that all points share
 * offsets: the seed of this point's place inside its strata
 */
void hypercube_point(double *out, size_t dimension, uint32_t point, uint32_t points,
                     uint64_t strata, uint64_t offsets);

#endif
