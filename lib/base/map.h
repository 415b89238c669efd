/*
 * map.h - a hash map from byte strings to pointers.
 *
 * Hashing is keyed with random bytes of the process, so nobody outside can choose names that
 * collide. One thread at a time.
 */
#ifndef MCP_BASE_MAP_H
#define MCP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp__map_slot {
    const char *key; /* NULL: the slot is free */
    size_t length;
    uint64_t hash;
    void *value;
} mcp__map_slot;

typedef struct mcp__map {
    mcp__map_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
    mcp_arena *arena; /* pays for the slots; NULL: they come from malloc */
} mcp__map;

/* Make `map` empty. With an arena the map ends with it; without one, end it by mcp__map_clear.
 * Zeros are an empty map without an arena. In an arena what a growing map leaves behind stays
 * allocated, at most as much again as the map itself. */
void mcp__map_init(mcp__map *map, mcp_arena *arena);

/* Free the slots (not the keys, not the values); the map is empty and usable afterwards. */
void mcp__map_clear(mcp__map *map);

/*
 * Set the value of a key. The key's bytes are kept by pointer and must live as long as the entry;
 * where the key is there already, the older pointer is replaced too.
 *
 * @param value must not be NULL
 * @return MCP_OK, MCP_E_NOMEM or MCP_E_LIMIT (the arena's bound); on failure nothing has changed
 */
mcp_status mcp__map_put(mcp__map *map, const char *key, size_t length, void *value);

/* The value of a key, NULL when it is not there. */
void *mcp__map_get(const mcp__map *map, const char *key, size_t length);

/* Remove a key and hand back its value; NULL when it was not there. */
void *mcp__map_remove(mcp__map *map, const char *key, size_t length);

/* Visit all values in no particular order: begin with *at = 0 and stop at NULL. The map must not
 * be changed meanwhile. */
void *mcp__map_next(const mcp__map *map, size_t *at);

/* The keyed hash that maps use: SipHash-1-3 under the process's random key. Any thread. */
uint64_t mcp__map_hash(const char *key, size_t length);

#ifdef __cplusplus
}
#endif

/** free() every value, then as mcp__map_clear: for values that are their own keys' memory. */
void mcp__map_free_values(mcp__map *map);

#endif
