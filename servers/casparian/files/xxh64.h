/*
 * xxh64.h - XXH64, a fast hash of bytes that is no protection against intent.
 *
 * Source: Collet, "xxHash fast digest algorithm", XXH64.
 */
#ifndef CASPARIAN_FILES_XXH64_H
#define CASPARIAN_FILES_XXH64_H

#include <stddef.h>
#include <stdint.h>

typedef struct casparian_xxh64 {
    uint64_t lanes[4];
    uint64_t seed;
    uint64_t total;      /* bytes so far */
    uint8_t waiting[32]; /* the last bytes, less than one stripe */
} casparian_xxh64;

void casparian_xxh64_init(casparian_xxh64 *self, uint64_t seed);

void casparian_xxh64_add(casparian_xxh64 *self, const void *bytes, size_t length);

/* The hash of all bytes so far. */
uint64_t casparian_xxh64_end(const casparian_xxh64 *self);

#endif
