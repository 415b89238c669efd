/*
 * sobol.c - direction numbers by the recurrence of a primitive polynomial for each dimension.
 *
 * Direction number v_k, k from 1, is m_k * 2^(32 - k); from k > s on v_k = v_(k-s) xor v_(k-s) >> s
 * xor the v_(k-j) for which the polynomial has a coefficient (S. Joe and F. Y. Kuo, "Remark on
 * Algorithm 659", ACM Trans. Math. Softw. 29, 2003). A point is the xor of the direction numbers
 * that the bits of its index name.
 */
#include "stochastic/points/sobol.h"

#include "stochastic/generator.h"
#include "stochastic/points/quantile.h"
#include "stochastic/points/sobol_numbers.h"

#define BITS 32

size_t sobol_dimensions(void)
{
    return SOBOL_DIMENSIONS;
}

/* The row of a dimension after the given one. */
static const uint16_t *next_row(const uint16_t *row)
{
    return row + 2 + row[0];
}

static const uint16_t *row_of(size_t i)
{
    const uint16_t *row = sobol_numbers;

    for (size_t at = 1; at < i; at++)
        row = next_row(row);
    return row;
}

/* Direction numbers of a dimension: row NULL for the first. */
static void find_directions(uint32_t *out, const uint16_t *row)
{
    for (unsigned k = 0; k < BITS; k++) {
        if (!row || k < row[0]) {
            out[k] = (row ? (uint32_t)row[2 + k] : 1u) << (BITS - 1 - k);
            continue;
        }
        unsigned degree = row[0], inner = row[1];
        out[k] = out[k - degree] ^ out[k - degree] >> degree;
        for (unsigned j = 1; j < degree; j++)
            out[k] ^= (inner >> (degree - 1 - j) & 1u) * out[k - j];
    }
}

static uint32_t combine(const uint32_t *directions, uint32_t bits)
{
    uint32_t x = 0;

    for (; bits != 0; bits >>= 1, directions++)
        x ^= (bits & 1u) * *directions;
    return x;
}

uint32_t sobol_coordinate(size_t i, uint32_t index)
{
    uint32_t directions[BITS];

    find_directions(directions, i == 0 ? NULL : row_of(i));
    return combine(directions, index);
}

static double deviate(uint32_t x, uint32_t factor, uint32_t shift)
{
    return quantile_normal((double)(uint32_t)(factor * x + shift) * 0x1p-32);
}

void sobol_fill(double *out, uint32_t points, size_t dimension, uint64_t seed)
{
    generator g = generator_seeded(seed);
    uint32_t directions[BITS];
    const uint16_t *row = NULL;

    for (size_t i = 0; i < dimension; i++) {
        row = i < 2 ? row_of(i) : next_row(row);
        find_directions(directions, i == 0 ? NULL : row);
        uint32_t factor = generator_u32(&g) | 1u, shift = generator_u32(&g);
        for (uint32_t n = 0; n < points; n++)
            out[n * dimension + i] = deviate(combine(directions, n ^ n >> 1), factor, shift);
    }
}

void sobol_point(double *out, size_t first, size_t dimension, uint32_t index, uint64_t seed)
{
    generator g = generator_seeded(seed);
    uint32_t directions[BITS];
    const uint16_t *row = row_of(first);

    for (size_t i = 0; i < dimension; i++) {
        if (i > 0 && first + i > 1)
            row = next_row(row);
        find_directions(directions, first + i == 0 ? NULL : row);
        uint32_t factor = generator_u32(&g) | 1u, shift = generator_u32(&g);
        out[i] = deviate(combine(directions, index), factor, shift);
    }
}
