/*
 * normal.c - the ziggurat of Marsaglia and Tsang (2000), one 64-bit draw for 99 of 100 deviates.
 *
 * The low 8 bits choose a layer and the high 52 a point across it; a point left of the next layer's
 * edge lies under the curve and is accepted at once. Otherwise a second draw decides, and in the
 * lowest layer the tail beyond R is sampled by Marsaglia's exponential method. Layer and point come
 * from disjoint bits. Method page, 4.2.
 */
#include "stochastic/normal.h"

#include <math.h>
#include <string.h>

#include "stochastic/normal_table.h"

#define TAIL_START 3.6541528853610088

static double point_across(uint64_t bits)
{
    uint64_t pattern = bits >> 12 | (uint64_t)1024 << 52;
    double in_two_four;

    memcpy(&in_two_four, &pattern, sizeof in_two_four);
    return in_two_four - 3.0;
}

static double tail(generator *g, double side)
{
    double x, y;

    do {
        x = log(generator_open(g)) / TAIL_START;
        y = log(generator_open(g));
    } while (-2.0 * y < x * x);
    return side < 0.0 ? x - TAIL_START : TAIL_START - x;
}

double normal_draw(generator *g)
{
    for (;;) {
        uint64_t bits = generator_u64(g);
        size_t i = (size_t)(bits & 0xff);
        double u = point_across(bits);
        double x = u * layer_x[i];

        if (fabs(x) < layer_x[i + 1])
            return x;
        if (i == 0)
            return tail(g, u);
        double height = layer_f[i + 1] + (layer_f[i] - layer_f[i + 1]) * generator_uniform(g);
        if (height < exp(-x * x / 2.0))
            return x;
    }
}
