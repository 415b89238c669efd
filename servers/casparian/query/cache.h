/**
 * cache.h - results that are kept for some minutes: for the next page, and for the same question.
 *
 * The rows of a result are in a file without a name (O_TMPFILE) in the cache's folder, mode 0600,
 * without redaction; the file ends with the process. What is kept is dropped when it has not been
 * used for a time, when all of it is larger than it may be (the longest unused first), and when the
 * catalog has another version.
 *
 * Threads may share a cache.
 *
 * Source: casparian's tools, 5.3.
 */
#ifndef CASPARIAN_QUERY_CACHE_H
#define CASPARIAN_QUERY_CACHE_H

#include <stdint.h>

#include "mcp/hash.h"
#include "query/result.h"

typedef struct casparian_query_cache casparian_query_cache;

typedef struct casparian_query_cache_options {
    const char *dir; /* made when it is missing; copied */
    uint64_t bytes_max;
    int64_t ttl_ms;
} casparian_query_cache_options;

/** What a result is found by; all zero: by its token alone. */
typedef struct casparian_query_key {
    uint8_t digest[MCP_SHA256_SIZE];
} casparian_query_key;

/** @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_query_cache_open(casparian_query_cache **out,
                                      const casparian_query_cache_options *options, mcp_error *err);

/** NULL is fine. */
void casparian_query_cache_close(casparian_query_cache *self);

/** Drop what is too old and, unless it is of this version of the catalog, everything. */
void casparian_query_cache_sweep(casparian_query_cache *self, int64_t version);

/** Drop everything. */
void casparian_query_cache_forget(casparian_query_cache *self);

/**
 * Keep a result, all of whose rows are in `result->cells`. Gives it its token.
 *
 * @param key     NULL: it is found by its token alone
 * @param version of the catalog
 * @return MCP_OK; MCP_E_IO, MCP_E_NOMEM, MCP_E_LIMIT (larger than all may be): it is not kept
 */
mcp_status casparian_query_cache_put(casparian_query_cache *self, casparian_query_result *result,
                                     const casparian_query_key *key, int64_t version,
                                     mcp_error *err);

/**
 * Read a page of the result of that key, from its first row.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_IO, MCP_E_NOMEM
 */
mcp_status casparian_query_cache_find(casparian_query_result **out, casparian_query_cache *self,
                                      const casparian_query_key *key, size_t limit, mcp_error *err);

/** Read the page that a cursor names. @return as casparian_query_cache_find */
mcp_status casparian_query_cache_page(casparian_query_result **out, casparian_query_cache *self,
                                      const char *cursor, size_t limit, mcp_error *err);

#endif
