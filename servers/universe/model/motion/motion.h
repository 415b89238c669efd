/*
 * motion.h - where a body is relative to its parent, as a closed function of time.
 */
#ifndef UNIVERSE_MOTION_H
#define UNIVERSE_MOTION_H

#include "model/core.h"
#include "model/entity.h"

/* Sine and cosine of an angle in degrees, to 1e-15, whatever its size. */
void universe_sincos(double degrees, double *sine, double *cosine);

/* Add a body's position relative to its parent (a rogue's: its own path) to `xyz`. `orbit` is
 * universe_orbit_of it. */
void universe_motion_add(double xyz[3], const universe_body *body, const universe_orbit *orbit,
                         double time);

#endif
