/*
 * algorithm.h - the signature algorithms that are accepted (RFC 7518 section 3.1), and their keys.
 */
#ifndef AUTH_ALGORITHM_H
#define AUTH_ALGORITHM_H

#include <stddef.h>

typedef struct auth_algorithm {
    const char *name;       /* as `alg` spells it */
    const char *kty;        /* "RSA" or "EC" */
    const char *curve;      /* "P-256", "P-384"; NULL for RSA */
    int curve_id;           /* cjose's number of the curve; 0 for RSA */
    size_t coordinate_size; /* bytes of x, of y and of half a signature; 0 for RSA */
} auth_algorithm;

/* The row of that name; NULL for "none", HS* and other algorithms that are not accepted. */
const auth_algorithm *auth_algorithm_find(const char *name);

/* The one algorithm of a curve, or NULL. */
const auth_algorithm *auth_algorithm_of_curve(const char *curve);

#endif
