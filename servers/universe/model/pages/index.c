/*
 * index.c - which bucket a hash falls into while the number of buckets grows one by one.
 */
#include "model/pages/index.h"

#define FIRST_BUCKETS 16u

void universe_index_init(universe_index *index)
{
    universe_array_init(&index->heads, sizeof(uint32_t), 6); /* small leaves: rows lie at random */
    index->buckets = 0;
    index->count = 0;
}

/* Heads that were never written read as zeros, so buckets cost nothing before there are rows in
 * them. */
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
