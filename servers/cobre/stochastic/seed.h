/*
 * seed.h - from the names of a draw (seed, iteration, scenario, stage) to 64 bits of seed.
 *
 * Noise depends on these numbers alone, so any thread may draw it at any time. Method page, 4.1.
 */
#ifndef STOCHASTIC_SEED_H
#define STOCHASTIC_SEED_H

#include <stddef.h>
#include <stdint.h>

/* SipHash with one compression and three finalisation rounds, key (0, 0). */
uint64_t seed_hash(const uint8_t *bytes, size_t length);

/* The seed of one opening of the tree. */
uint64_t seed_opening(uint64_t base, uint32_t opening, uint32_t stage_id);

/* The seed of one step of a forward path. */
uint64_t seed_forward(uint64_t base, uint32_t iteration, uint32_t scenario, uint32_t stage);

/* The seed of one step of a path out of sample: stages of a noise group share it. */
uint64_t seed_grouped(uint64_t base, uint32_t iteration, uint32_t scenario, uint32_t group);

/* The seed of what a whole stage shares. */
uint64_t seed_stage(uint64_t base, uint32_t stage_id);

#endif
