/*
 * index.h - hash tables over rows that are chained: heads of buckets in a persistent array.
 *
 * Linear hashing: with every row that comes, one bucket is split, so no insertion is ever long.
 * Hashing is keyed (SipHash-1-3), so nobody outside can choose ids that collide.
 */
#ifndef UNIVERSE_INDEX_H
#define UNIVERSE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "model/pages/array.h"

typedef struct universe_index {
    universe_array heads; /* uint32_t: first row of a bucket */
    uint32_t buckets;     /* 0: none yet */
    uint32_t count;
} universe_index;

void universe_index_init(universe_index *index);

/* Have the buckets for so many rows at once, so that none need be split; for an index without
 * rows. */
void universe_index_reserve(universe_index *index, uint32_t rows);

/* The bucket of a hash. */
uint32_t universe_index_bucket(const universe_index *index, uint64_t hash);

/* The first row of a bucket, 0 when it has none. */
uint32_t universe_index_head(const universe_index *index, uint32_t bucket);

/* The bucket that must be split before the next row comes, and the one that is new; false: none. */
int universe_index_grow(universe_index *index, uint32_t *split);

/* Fetch the head of a bucket that is going to be asked for. */
void universe_index_prefetch(const universe_index *index, uint32_t bucket);

#endif
