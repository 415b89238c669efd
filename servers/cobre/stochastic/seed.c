/*
 * seed.c - SipHash-1-3 over the little-endian bytes of a draw's names.
 *
 * The byte string is the same on every machine: a 64-bit base, then 32-bit numbers, each with its
 * lowest byte first. Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012);
 * method page, 4.1, with its golden values.
 */
#include "stochastic/seed.h"

#include "mcp/hash.h"

uint64_t seed_hash(const uint8_t *bytes, size_t length)
{
    static const uint64_t no_key[2];

    return mcp_siphash13(no_key, bytes, length);
}

static size_t put(uint8_t *out, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[at + i] = (uint8_t)(value >> (8 * i));
    return at + bytes;
}

uint64_t seed_opening(uint64_t base, uint32_t opening, uint32_t stage_id)
{
    uint8_t bytes[16];
    size_t length = put(bytes, 0, base, 8);

    length = put(bytes, length, opening, 4);
    length = put(bytes, length, stage_id, 4);
    return seed_hash(bytes, length);
}

uint64_t seed_forward(uint64_t base, uint32_t iteration, uint32_t scenario, uint32_t stage)
{
    uint8_t bytes[20];
    size_t length = put(bytes, 0, base, 8);

    length = put(bytes, length, iteration, 4);
    length = put(bytes, length, scenario, 4);
    length = put(bytes, length, stage, 4);
    return seed_hash(bytes, length);
}

/* A byte in front keeps these apart from the seeds of seed_forward. */
uint64_t seed_grouped(uint64_t base, uint32_t iteration, uint32_t scenario, uint32_t group)
{
    uint8_t bytes[21] = { 1 };
    size_t length = put(bytes, 1, base, 8);

    length = put(bytes, length, iteration, 4);
    length = put(bytes, length, scenario, 4);
    length = put(bytes, length, group, 4);
    return seed_hash(bytes, length);
}

uint64_t seed_stage(uint64_t base, uint32_t stage_id)
{
    uint8_t bytes[12];
    size_t length = put(bytes, 0, base, 8);

    length = put(bytes, length, stage_id, 4);
    return seed_hash(bytes, length);
}
