/*
 * generator.h - PCG XSL RR 128/64: a stream of random bits from one 64-bit seed.
 *
 * A generator is a value on the caller's stack; nothing is shared. Method page, 4.2.
 */
#ifndef STOCHASTIC_GENERATOR_H
#define STOCHASTIC_GENERATOR_H

#include <stdint.h>

__extension__ typedef unsigned __int128 generator_word;

typedef struct generator {
    generator_word state;
    generator_word increment; /* odd */
} generator;

/* The generator of a seed. */
generator generator_seeded(uint64_t seed);

/* The next 64 bits, and the next 32 (the low half of a 64-bit draw). */
uint64_t generator_u64(generator *g);
uint32_t generator_u32(generator *g);

/* Uniform in [0, 1), and in the open (0, 1). */
double generator_uniform(generator *g);
double generator_open(generator *g);

/* Uniform in 0 .. n-1; n > 0. */
uint32_t generator_below(generator *g, uint32_t n);

#endif
