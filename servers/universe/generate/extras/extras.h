/*
 * extras.h - what is added to a universe after the bodies of its systems, each from a fork of its
 * own.
 */
#ifndef UNIVERSE_EXTRAS_H
#define UNIVERSE_EXTRAS_H

#include "generate/system/system.h"

/* To one system, whose bodies are complete. */
void universe_generate_belts(universe_system *system);
void universe_generate_rings(universe_system *system);
void universe_generate_comets(universe_system *system);
void universe_generate_lagrange(universe_system *system);
void universe_generate_disk(universe_system *system);

/* To the universe as a whole. `roots`: the ids of the systems' centres. */
void universe_generate_groups(universe_generation *generation, universe_rng rng, universe_rng *ids,
                              char (*roots)[UNIVERSE_UUID_SIZE], size_t count);
void universe_generate_nebulae(universe_generation *generation, universe_rng rng,
                               universe_rng *ids);
void universe_generate_rogues(universe_generation *generation, universe_rng rng, universe_rng *ids);

#endif
