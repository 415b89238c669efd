/*
 * verdicts.h - the tokens that were found good a short while ago, by their SHA-256.
 *
 * A verdict is of the keys that it was reached with: when those are renewed it counts no longer. All
 * functions may be called on any thread.
 */
#ifndef AUTH_VERDICTS_H
#define AUTH_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/http.h"

#define AUTH_HASH_SIZE 32

/* How many verdicts are kept at most; one that is pushed out is reached anew. */
#define AUTH_VERDICTS_MAX 1024

typedef struct auth_verdicts auth_verdicts;

mcp_status auth_verdicts_new(auth_verdicts **out, mcp_error *err);

/* NULL is fine. */
void auth_verdicts_free(auth_verdicts *all);

/* Whether a verdict is kept and still holds; then *out is set, its texts in `arena`. */
bool auth_verdicts_find(mcp_principal *out, auth_verdicts *all, const uint8_t *hash,
                        uint64_t generation, int64_t now_ms, mcp_arena *arena);

/* Keep a verdict until its expires_ms. One with over-long texts, or without memory, is not kept. */
void auth_verdicts_keep(auth_verdicts *all, const uint8_t *hash, uint64_t generation,
                        int64_t now_ms, const mcp_principal *principal);

#endif
