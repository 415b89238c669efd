/*
 * rng.h - the generator of random numbers behind generated universes: xoshiro128**, seeded by
 * SplitMix32, with forks by name (universe.md 13.1). The same seed gives the same numbers
 * everywhere; what goes through exp, log, sqrt or cos depends in its last place on the mathematical
 * library.
 */
#ifndef UNIVERSE_RNG_H
#define UNIVERSE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The state; copied freely. */
typedef struct universe_rng {
    uint32_t s[4];
} universe_rng;

/** From a number. */
universe_rng universe_rng_number(uint32_t seed);

/** From a text: FNV-1a over its UTF-16 code units. @param text UTF-8 */
universe_rng universe_rng_text(const char *text, size_t length);

/** A generator of its own by name; this one does not move. */
universe_rng universe_rng_fork(const universe_rng *rng, const char *label);

/** The next 32 bits. */
uint32_t universe_rng_next(universe_rng *rng);

/** 0 to below 1, 53 bits. */
double universe_rng_float(universe_rng *rng);

/** A whole number from min to max, both included, without bias. */
int64_t universe_rng_int(universe_rng *rng, int64_t min, int64_t max);

/** True with probability p. */
bool universe_rng_bool(universe_rng *rng, double p);

/** min to below max. */
double universe_rng_uniform(universe_rng *rng, double min, double max);

/** Normal by Box and Muller. */
double universe_rng_normal(universe_rng *rng, double mean, double sigma);

/** exp of a normal. */
double universe_rng_log_normal(universe_rng *rng, double mean, double sigma);

/** Failures before the first success; 0 when p is not within (0, 1). */
int64_t universe_rng_geometric(universe_rng *rng, double p);

/** An index with probability by weight. */
size_t universe_rng_weighted(universe_rng *rng, const double *weights, size_t count);

#endif
