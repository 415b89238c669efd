/*
 * map.c - open addressing with linear probing, at most three quarters full.
 *
 * Removing moves later entries of the same run back, so there are no tombstones and a map that
 * lives for days stays as fast as a new one. Keys come from clients, so the hash is SipHash
 * (Aumasson and Bernstein) with one compression round and three final ones, under a key drawn once
 * a process.
 */
#include "base/map.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/arena_int.h"
#include "mcp/clock.h"
#include "mcp/hash.h"

#define FIRST_CAPACITY ((size_t)16)

static uint64_t hash_key[2];

static void draw_key(void)
{
    /* Before the kernel has entropy: what an outsider cannot see must do (addresses, the clock). */
    if (getrandom(hash_key, sizeof hash_key, GRND_NONBLOCK) != (ssize_t)sizeof hash_key) {
        hash_key[0] = (uint64_t)mcp_clock_mono_ns() * UINT64_C(0x9E3779B97F4A7C15);
        hash_key[1] = (uint64_t)(uintptr_t)&hash_key ^ (uint64_t)mcp_clock_wall_ms();
    }
}

uint64_t mcp__map_hash(const char *key, size_t length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, draw_key);
    return mcp_siphash13(hash_key, key, length);
}

void mcp__map_init(mcp__map *map, mcp_arena *arena)
{
    *map = (mcp__map){ .arena = arena };
}

void mcp__map_clear(mcp__map *map)
{
    if (!map->arena)
        free(map->slots);
    *map = (mcp__map){ .arena = map->arena };
}

/* The slot that holds the key, or the free one where it would go. The table is never full. */
static size_t probe(const mcp__map_slot *slots, size_t capacity, uint64_t hash, const char *key,
                    size_t length)
{
    size_t at = (size_t)hash & (capacity - 1);

    while (slots[at].key) {
        const mcp__map_slot *slot = &slots[at];
        if (slot->hash == hash && slot->length == length && memcmp(slot->key, key, length) == 0)
            break;
        at = (at + 1) & (capacity - 1);
    }
    return at;
}

static mcp_status grow(mcp__map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
    mcp__map_slot *slots = map->arena ? mcp_arena_array(map->arena, capacity, sizeof *slots)
                                      : mcp_alloc_zeroed(capacity, sizeof *slots);

    if (!slots)
        return map->arena ? mcp__arena_failure(map->arena) : MCP_E_NOMEM;
    for (size_t i = 0; i < map->capacity; i++) {
        const mcp__map_slot *old = &map->slots[i];
        if (old->key)
            slots[probe(slots, capacity, old->hash, old->key, old->length)] = *old;
    }
    if (!map->arena)
        free(map->slots);
    map->slots = slots;
    map->capacity = capacity;
    return MCP_OK;
}

mcp_status mcp__map_put(mcp__map *map, const char *key, size_t length, void *value)
{
    assert(key && value);
    if (map->count + 1 > map->capacity / 4 * 3) {
        mcp_status st = grow(map);
        if (st != MCP_OK)
            return st;
    }
    uint64_t hash = mcp__map_hash(key, length);
    mcp__map_slot *slot = &map->slots[probe(map->slots, map->capacity, hash, key, length)];
    if (!slot->key)
        map->count++;
    *slot = (mcp__map_slot){ key, length, hash, value };
    return MCP_OK;
}

void *mcp__map_get(const mcp__map *map, const char *key, size_t length)
{
    if (map->count == 0)
        return NULL;
    uint64_t hash = mcp__map_hash(key, length);
    return map->slots[probe(map->slots, map->capacity, hash, key, length)].value;
}

/* Close the gap at `hole`: an entry may move back when its own place does not lie behind the
 * hole. */
static void close_gap(mcp__map *map, size_t hole)
{
    size_t mask = map->capacity - 1;

    for (size_t at = (hole + 1) & mask; map->slots[at].key; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole] = (mcp__map_slot){ 0 };
}

void *mcp__map_remove(mcp__map *map, const char *key, size_t length)
{
    if (map->count == 0)
        return NULL;
    uint64_t hash = mcp__map_hash(key, length);
    size_t at = probe(map->slots, map->capacity, hash, key, length);
    void *value = map->slots[at].value;
    if (value) {
        close_gap(map, at);
        map->count--;
    }
    return value;
}

void *mcp__map_next(const mcp__map *map, size_t *at)
{
    while (*at < map->capacity) {
        const mcp__map_slot *slot = &map->slots[(*at)++];
        if (slot->key)
            return slot->value;
    }
    return NULL;
}

void mcp__map_free_values(mcp__map *map)
{
    size_t at = 0;
    void *value;

    for (value = mcp__map_next(map, &at); value; value = mcp__map_next(map, &at))
        free(value);
    mcp__map_clear(map);
}
