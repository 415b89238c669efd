/* holes.h - stars that are black holes (universe.md 13.5). */
#ifndef UNIVERSE_HOLES_H
#define UNIVERSE_HOLES_H

#include "generate/system/system.h"

/** Which stars of a system are holes. */
typedef struct universe_holes {
    bool center;
    bool companions[3];
} universe_holes;

/** Draw it, before the masses; no draw where holes are not enabled. */
universe_holes universe_holes_draw(const universe_config *config, universe_rng *rng, int stars);

/** Make a black hole of a star: type, mass by profile, properties. */
void universe_hole_make(universe_system *system, universe_sprout *star, universe_rng *rng);

#endif
