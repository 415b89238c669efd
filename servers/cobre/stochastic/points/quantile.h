/*
 * quantile.h - the standard normal quantile by the algorithm of Beasley, Springer and Moro.
 */
#ifndef STOCHASTIC_POINTS_QUANTILE_H
#define STOCHASTIC_POINTS_QUANTILE_H

/* The deviate below which a share p of N(0, 1) lies, to 3e-9 between 1e-12 and 1 - 1e-12. A p
 * outside the open (0, 1) counts as its nearest number inside. */
double quantile_normal(double p);

#endif
