/*
 * seed.c - SipHash-1-3 over the little-endian bytes of a draw's names.
 *
 * The byte string is what decides, not the types: a 64-bit base, then 32-bit numbers, each with its
 * lowest byte first on every machine. Source: Aumasson and Bernstein, "SipHash: a fast short-input
 * PRF" (2012); method page, 4.1, with its golden values.
 */
#include "stochastic/seed.h"

typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(sip *s)
{
    s->a += s->b;
    s->b = rotate(s->b, 13) ^ s->a;
    s->a = rotate(s->a, 32);
    s->c += s->d;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = rotate(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = rotate(s->b, 17) ^ s->c;
    s->c = rotate(s->c, 32);
}

static uint64_t read_word(const uint8_t *bytes, size_t length)
{
    uint64_t word = 0;

    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void sip_word(sip *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

uint64_t seed_hash(const uint8_t *bytes, size_t length)
{
    sip s = { 0x736f6d6570736575u, 0x646f72616e646f6du, 0x6c7967656e657261u, 0x7465646279746573u };
    size_t whole = length / 8 * 8;

    for (size_t i = 0; i < whole; i += 8)
        sip_word(&s, read_word(bytes + i, 8));
    sip_word(&s, read_word(bytes + whole, length - whole) | (uint64_t)(length & 0xff) << 56);
    s.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
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

uint64_t seed_stage(uint64_t base, uint32_t stage_id)
{
    uint8_t bytes[12];
    size_t length = put(bytes, 0, base, 8);

    length = put(bytes, length, stage_id, 4);
    return seed_hash(bytes, length);
}
