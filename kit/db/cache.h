/*
 * cache.h - the prepared statements of a connection: those used last, by their text.
 */
#ifndef DB_CACHE_H
#define DB_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

enum { DB_CACHE_SIZE = 64 };

struct db_cache_entry {
    char *sql; /* NULL: free */
    uint64_t hash;
    uint64_t used; /* the larger, the later */
    void *statement;
};

/* Zero is empty. Statements are the driver's; the texts are the cache's. */
struct db_cache {
    struct db_cache_entry entries[DB_CACHE_SIZE];
    uint64_t uses;
};

/* The statement of that text, now the last used; NULL: none. */
void *db_cache_find(struct db_cache *cache, const char *sql);

/*
 * Add a statement with a new text.
 *
 * @param out the statement that was removed for it, which the driver ends; or NULL
 * @return MCP_OK or MCP_E_NOMEM
 */
mcp_status db_cache_put(void **out, struct db_cache *cache, const char *sql, void *statement,
                        mcp_error *err);

/* Drop one statement, or any (NULL); what it was, NULL when there is none. */
void *db_cache_take(struct db_cache *cache, const void *statement);

#endif
