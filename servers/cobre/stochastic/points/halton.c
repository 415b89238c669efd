/*
 * halton.c - the digits of a point's number in base p, mirrored at the point, each permuted by a
 * permutation of its own.
 *
 * As many digits are used as the number of the last point has, so that a permutation of the
 * leading zeros moves all points alike.
 */
#include "stochastic/points/halton.h"

#include <stdbool.h>

#include "stochastic/generator.h"
#include "stochastic/points/quantile.h"

#define LARGEST_BASE 7919

static bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++) {
        if (n % d == 0)
            return false;
    }
    return true;
}

static uint32_t next_prime(uint32_t after)
{
    uint32_t n = after + 1;

    while (!is_prime(n))
        n++;
    return n;
}

static uint32_t prime_of(size_t i)
{
    uint32_t prime = 2;

    for (size_t at = 0; at < i; at++)
        prime = next_prime(prime);
    return prime;
}

static void shuffle(uint16_t *digits, uint32_t base, generator *g)
{
    for (uint32_t k = 0; k < base; k++)
        digits[k] = (uint16_t)k;
    for (uint32_t k = base; k-- > 1;) {
        uint32_t j = generator_below(g, k + 1);
        uint16_t kept = digits[k];
        digits[k] = digits[j];
        digits[j] = kept;
    }
}

/* Add the permuted digits of `count` points from `index` on to out[k * stride]. */
static void add_digits(double *out, size_t stride, uint32_t base, uint32_t index, uint32_t count,
                       uint32_t last, generator *g)
{
    uint16_t digits[LARGEST_BASE];
    uint64_t place = 1;
    double scale = 1.0;

    do {
        shuffle(digits, base, g);
        scale /= base;
        for (uint32_t k = 0; k < count; k++)
            out[k * stride] += scale * digits[(index + k) / place % base];
        place *= base;
    } while (last / place > 0);
}

static void fill(double *out, size_t first, size_t dimension, uint32_t index, uint32_t count,
                 uint32_t points, uint64_t seed)
{
    generator g = generator_seeded(seed);
    uint32_t base = prime_of(first);

    for (size_t i = 0; i < dimension; i++) {
        for (uint32_t k = 0; k < count; k++)
            out[k * dimension + i] = 0.0;
        add_digits(out + i, dimension, base, index, count, points - 1, &g);
        for (uint32_t k = 0; k < count; k++)
            out[k * dimension + i] = quantile_normal(out[k * dimension + i]);
        base = next_prime(base);
    }
}

void halton_fill(double *out, uint32_t points, size_t dimension, uint64_t seed)
{
    fill(out, 0, dimension, 0, points, points, seed);
}

void halton_point(double *out, size_t first, size_t dimension, uint32_t index, uint32_t points,
                  uint64_t seed)
{
    fill(out, first, dimension, index, 1, points, seed);
}
