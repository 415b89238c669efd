/*
 * noise.h - the places of a noise vector: a deviate per hydro, then one per stochastic bus, then
 * one per stochastic source, in id order. Method page, 4.
 */
#ifndef STOCHASTIC_NOISE_H
#define STOCHASTIC_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"

#include "case/case.h"

#define NOISE_CLASSES 3 /* of cobre_noise_class */

/* The places of a class. */
typedef struct noise_range {
    size_t first, count;
} noise_range;

noise_range noise_of_class(const cobre_case *input, cobre_noise_class class);

/* The length of a noise vector. */
size_t noise_dimension(const cobre_case *input);

/* The place of a hydro, a bus or a source; COBRE_NONE when it is not stochastic. */
size_t noise_place(const cobre_case *input, cobre_noise_class class, size_t entity);

/* The group of each stage, the arena's; NULL: no memory. Stages of one season that start in the
 * same year are one group and share their noise; others have groups of their own. Numbered from 0
 * in the order of the stages. */
const uint32_t *noise_groups(const cobre_case *input, mcp_arena *arena);

#endif
