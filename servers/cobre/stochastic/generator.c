/*
 * generator.c - random bits, and uniform numbers made of them.
 *
 * A 128-bit linear congruential state, whose two halves are folded and rotated for the output
 * (O'Neill, "PCG: a family of simple fast space-efficient statistically good algorithms", 2014).
 * The 64-bit seed becomes state and increment by eight steps of the 32-bit member of the family.
 * Bounded integers use Canon's multiplication with one further draw for the carry, which is nearly
 * unbiased and never loops. Method page, 4.2, with its golden values.
 */
#include "stochastic/generator.h"

#include <string.h>

#define MULTIPLIER ((generator_word)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u)

static uint32_t expand_word(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 11634580027462260723u;
    uint32_t folded = (uint32_t)(((*state >> 18) ^ *state) >> 27);
    unsigned turn = (unsigned)(*state >> 59);
    return folded >> turn | folded << (-turn & 31u);
}

static uint64_t expand_long(uint64_t *state)
{
    uint64_t low = expand_word(state);
    return low | (uint64_t)expand_word(state) << 32;
}

static void step(generator *g)
{
    g->state = g->state * MULTIPLIER + g->increment;
}

generator generator_seeded(uint64_t seed)
{
    uint64_t words[4];
    generator g;

    for (int i = 0; i < 4; i++)
        words[i] = expand_long(&seed);
    g.state = words[0] | (generator_word)words[1] << 64;
    g.increment = words[2] | (generator_word)words[3] << 64 | 1;
    g.state += g.increment;
    step(&g);
    return g;
}

uint64_t generator_u64(generator *g)
{
    step(g);
    uint64_t folded = (uint64_t)(g->state >> 64) ^ (uint64_t)g->state;
    unsigned turn = (unsigned)(g->state >> 122);
    return folded >> turn | folded << (-turn & 63u);
}

uint32_t generator_u32(generator *g)
{
    return (uint32_t)generator_u64(g);
}

double generator_uniform(generator *g)
{
    return (double)(generator_u64(g) >> 11) * 0x1p-53;
}

double generator_open(generator *g)
{
    uint64_t bits = generator_u64(g) >> 12 | (uint64_t)1023 << 52;
    double in_one_two;

    memcpy(&in_one_two, &bits, sizeof in_one_two);
    return in_one_two - (1.0 - 0x1p-53);
}

uint32_t generator_below(generator *g, uint32_t n)
{
    uint64_t product = (uint64_t)generator_u32(g) * n;
    uint32_t high = (uint32_t)(product >> 32), low = (uint32_t)product;

    if (low > (uint32_t)-n) {
        uint64_t further = (uint64_t)generator_u32(g) * n >> 32;
        high += (uint32_t)((low + further) >> 32);
    }
    return high;
}
