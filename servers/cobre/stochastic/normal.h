/*
 * normal.h - standard normal deviates by the ziggurat of 256 layers. Method page, 4.2.
 */
#ifndef STOCHASTIC_NORMAL_H
#define STOCHASTIC_NORMAL_H

#include "stochastic/generator.h"

/* One deviate N(0, 1). */
double normal_draw(generator *g);

#endif
