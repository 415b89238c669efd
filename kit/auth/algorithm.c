/*
 * algorithm.c - the table of signature algorithms.
 *
 * It has signatures of private keys only. The key of HS* would be a secret shared with the issuer,
 * and a holder of the public key could sign with that key as the secret (RFC 8725 section 2.1).
 */
#include "auth/algorithm.h"

#include <string.h>

#include <cjose/jwk.h>

static const auth_algorithm algorithms[] = {
    { "RS256", "RSA", NULL, 0, 0 },
    { "RS384", "RSA", NULL, 0, 0 },
    { "RS512", "RSA", NULL, 0, 0 },
    { "PS256", "RSA", NULL, 0, 0 },
    { "PS384", "RSA", NULL, 0, 0 },
    { "PS512", "RSA", NULL, 0, 0 },
    { "ES256", "EC", "P-256", CJOSE_JWK_EC_P_256, 32 },
    { "ES384", "EC", "P-384", CJOSE_JWK_EC_P_384, 48 },
};

enum { ALGORITHM_COUNT = sizeof algorithms / sizeof algorithms[0] };

const auth_algorithm *auth_algorithm_find(const char *name)
{
    for (size_t i = 0; i < ALGORITHM_COUNT; i++)
        if (strcmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    return NULL;
}

const auth_algorithm *auth_algorithm_of_curve(const char *curve)
{
    for (size_t i = 0; i < ALGORITHM_COUNT; i++)
        if (algorithms[i].curve && strcmp(algorithms[i].curve, curve) == 0)
            return &algorithms[i];
    return NULL;
}
