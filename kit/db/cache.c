/*
 * cache.c - finding a statement by its text: a short array, searched by hash.
 *
 * 64 comparisons of a number cost less than running a statement, so there is no map.
 */
#include "db/cache.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/hash.h"

void *db_cache_find(struct db_cache *cache, const char *sql)
{
    uint64_t hash = mcp_fnv1a(sql);

    for (size_t i = 0; i < DB_CACHE_SIZE; i++) {
        struct db_cache_entry *entry = &cache->entries[i];
        if (entry->sql && entry->hash == hash && strcmp(entry->sql, sql) == 0) {
            entry->used = ++cache->uses;
            return entry->statement;
        }
    }
    return NULL;
}

/* A free place, else the one not used for longest. */
static struct db_cache_entry *place_in(struct db_cache *cache)
{
    struct db_cache_entry *oldest = &cache->entries[0];

    for (size_t i = 0; i < DB_CACHE_SIZE; i++) {
        struct db_cache_entry *entry = &cache->entries[i];
        if (!entry->sql)
            return entry;
        if (entry->used < oldest->used)
            oldest = entry;
    }
    return oldest;
}

mcp_status db_cache_put(void **out, struct db_cache *cache, const char *sql, void *statement,
                        mcp_error *err)
{
    char *copy = mcp_alloc_strdup(sql);

    if (!copy)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a statement");
    struct db_cache_entry *entry = place_in(cache);
    *out = entry->sql ? entry->statement : NULL;
    free(entry->sql);
    *entry = (struct db_cache_entry){ copy, mcp_fnv1a(sql), ++cache->uses, statement };
    return MCP_OK;
}

void *db_cache_take(struct db_cache *cache, const void *statement)
{
    for (size_t i = 0; i < DB_CACHE_SIZE; i++) {
        struct db_cache_entry *entry = &cache->entries[i];
        if (!entry->sql || (statement && entry->statement != statement))
            continue;
        void *taken = entry->statement;
        free(entry->sql);
        *entry = (struct db_cache_entry){ 0 };
        return taken;
    }
    return NULL;
}
