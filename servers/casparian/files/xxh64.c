/*
 * xxh64.c - four lanes of 64 bits, each fed with eight bytes of a stripe of 32.
 */
#include "files/xxh64.h"

#include <endian.h>
#include <string.h>

#define STRIPE 32

static const uint64_t prime1 = 0x9E3779B185EBCA87U, prime2 = 0xC2B2AE3D27D4EB4FU,
                      prime3 = 0x165667B19E3779F9U, prime4 = 0x85EBCA77C2B2AE63U,
                      prime5 = 0x27D4EB2F165667C5U;

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

static uint64_t read64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

static uint64_t read32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

static uint64_t feed(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * prime2, 31) * prime1;
}

static void take_stripe(casparian_xxh64 *self, const uint8_t *bytes)
{
    for (size_t i = 0; i < 4; i++)
        self->lanes[i] = feed(self->lanes[i], read64(bytes + 8 * i));
}

void casparian_xxh64_init(casparian_xxh64 *self, uint64_t seed)
{
    *self = (casparian_xxh64){
        .lanes = { seed + prime1 + prime2, seed + prime2, seed, seed - prime1 },
        .seed = seed,
    };
}

void casparian_xxh64_add(casparian_xxh64 *self, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    size_t held = (size_t)(self->total % STRIPE);
    self->total += length;
    if (held + length < STRIPE) {
        memcpy(self->waiting + held, at, length);
        return;
    }
    if (held > 0) {
        memcpy(self->waiting + held, at, STRIPE - held);
        take_stripe(self, self->waiting);
        at += STRIPE - held;
        length -= STRIPE - held;
    }
    for (; length >= STRIPE; at += STRIPE, length -= STRIPE)
        take_stripe(self, at);
    memcpy(self->waiting, at, length);
}

/* The lanes in one. */
static uint64_t merge(const casparian_xxh64 *self)
{
    const uint64_t *lanes = self->lanes;
    uint64_t hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
                    rotate(lanes[3], 18);
    for (size_t i = 0; i < 4; i++)
        hash = (hash ^ feed(0, lanes[i])) * prime1 + prime4;
    return hash;
}

uint64_t casparian_xxh64_end(const casparian_xxh64 *self)
{
    const uint8_t *at = self->waiting;
    size_t left = (size_t)(self->total % STRIPE);
    uint64_t hash = self->total >= STRIPE ? merge(self) : self->seed + prime5;
    hash += self->total;
    for (; left >= 8; at += 8, left -= 8)
        hash = rotate(hash ^ feed(0, read64(at)), 27) * prime1 + prime4;
    if (left >= 4) {
        hash = rotate(hash ^ (read32(at) * prime1), 23) * prime2 + prime3;
        at += 4;
        left -= 4;
    }
    for (; left > 0; at++, left--)
        hash = rotate(hash ^ (*at * prime5), 11) * prime1;
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
}
