/*
 * index.c - SipHash, and which bucket a hash falls into while the number of buckets grows one by one.
 */
#include "model/pages/index.h"

#include <string.h>

#define FIRST_BUCKETS 16u

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t universe_hash(const uint64_t key[2], const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                      key[0] ^ UINT64_C(0x6c7967656e657261),
                      key[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t word;
    size_t left = length;

    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sip_word(v, word);
    }
    word = 0;
    memcpy(&word, at, left);
    sip_word(v, word | (uint64_t)length << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void universe_index_init(universe_index *index)
{
    universe_array_init(&index->heads, sizeof(uint32_t), 6); /* small leaves: rows lie at random */
    index->buckets = 0;
    index->count = 0;
}

/* Heads that were never written read as zeros, so buckets cost nothing before there are rows in them. */
void universe_index_reserve(universe_index *index, uint32_t rows)
{
    if (index->count == 0 && index->buckets == 0)
        index->buckets = rows > FIRST_BUCKETS ? rows : FIRST_BUCKETS;
}

/* The largest power of two that is not larger than `number`. */
static uint32_t power_below(uint32_t number)
{
    return 1u << (31 - __builtin_clz(number));
}

uint32_t universe_index_bucket(const universe_index *index, uint64_t hash)
{
    uint32_t power = power_below(index->buckets);
    uint32_t bucket = (uint32_t)hash & (2 * power - 1);

    return bucket < index->buckets ? bucket : bucket - power;
}

uint32_t universe_index_head(const universe_index *index, uint32_t bucket)
{
    return *(const uint32_t *)universe_array_row(&index->heads, bucket);
}

void universe_index_prefetch(const universe_index *index, uint32_t bucket)
{
    __builtin_prefetch(universe_array_row(&index->heads, bucket), 1);
}

int universe_index_grow(universe_index *index, uint32_t *split)
{
    if (index->buckets == 0) {
        index->buckets = FIRST_BUCKETS;
        return 0;
    }
    if (index->count < index->buckets)
        return 0;
    *split = index->buckets - power_below(index->buckets);
    index->buckets++;
    return 1;
}
