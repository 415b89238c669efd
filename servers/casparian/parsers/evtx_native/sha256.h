/*
 * sha256.h - the SHA-256 of a file that is given in pieces (FIPS 180-4).
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_SHA256_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct casparian_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

void casparian_sha256_init(struct casparian_sha256 *sha);

void casparian_sha256_add(struct casparian_sha256 *sha, const void *bytes, size_t length);

/** The hash as 64 hexadecimal digits and NUL. */
void casparian_sha256_end(struct casparian_sha256 *sha, char out[65]);

#endif
