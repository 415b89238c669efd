/*
 * hypercube.c - strata by random permutations.
 *
 * The points of a stage are made together; the paths of an iteration each make their own, from the
 * same permutations: every path makes these again, which costs one draw per dimension and point but
 * needs no memory that threads share.
 */
#include "stochastic/points/hypercube.h"

#include "stochastic/points/quantile.h"

void hypercube_fill(double *out, uint32_t points, size_t dimension, uint64_t seed,
                    uint32_t *scratch)
{
    generator g = generator_seeded(seed);

    for (size_t i = 0; i < dimension; i++) {
        /* The offsets are drawn before the permutation: they wait in the output. */
        for (uint32_t k = 0; k < points; k++) {
            out[k * dimension + i] = generator_uniform(&g);
            scratch[k] = k;
        }
        for (uint32_t k = points; k-- > 1;) {
            uint32_t j = generator_below(&g, k + 1), kept = scratch[k];
            scratch[k] = scratch[j];
            scratch[j] = kept;
        }
        /* Follow each cycle of the permutation: stratum k goes to place scratch[k]. */
        for (uint32_t k = 0; k < points; k++) {
            double offset = out[k * dimension + i];
            uint32_t stratum = k;
            while (scratch[stratum] != UINT32_MAX) {
                uint32_t place = scratch[stratum];
                double next = out[place * dimension + i];
                out[place * dimension + i] = quantile_normal((stratum + offset) / points);
                scratch[stratum] = UINT32_MAX;
                stratum = place;
                offset = next;
            }
        }
    }
}

void hypercube_point(double *out, size_t dimension, uint32_t point, uint32_t points,
                     uint64_t strata, uint64_t offsets)
{
    uint16_t order[HYPERCUBE_POINTS_MAX];
    generator shared = generator_seeded(strata), own = generator_seeded(offsets);

    for (size_t i = 0; i < dimension; i++) {
        for (uint32_t k = 0; k < points; k++)
            order[k] = (uint16_t)k;
        for (uint32_t k = points; k-- > 1;) {
            uint32_t j = generator_below(&shared, k + 1);
            uint16_t kept = order[k];
            order[k] = order[j];
            order[j] = kept;
        }
        out[i] = quantile_normal((order[point] + generator_uniform(&own)) / points);
    }
}
