/**
 * rate.h - how often something may happen: a token bucket for each key.
 *
 * A bucket holds `burst` tokens at first and gains `per_second` of them. What happens takes one, or
 * is refused until there is one again. Buckets are kept for a bounded number of keys; beyond it the
 * key that was used least recently is forgotten, and is full when it comes back. So `keys_max` must
 * exceed the number of keys that are active at one time, and a key must not be the client's to
 * choose.
 *
 * Any thread. All memory is taken at the beginning.
 */
#ifndef GUARD_RATE_H
#define GUARD_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

typedef struct guard_rate guard_rate;

/** A limit. Zero `per_second` is no limit. */
typedef struct guard_rate_limit {
    double per_second; /* tokens gained; finite, not negative */
    double burst;      /* tokens at most; at least 1, unless there is no limit */
} guard_rate_limit;

/**
 * Make an empty set of buckets.
 *
 * @param out      yours, free it with guard_rate_free
 * @param keys_max 1 to 1,000,000; each takes about 60 bytes
 * @return MCP_OK; MCP_E_PARAMS; MCP_E_NOMEM; MCP_E_IO (no random bytes for the table)
 */
mcp_status guard_rate_new(guard_rate **out, guard_rate_limit limit, size_t keys_max,
                          mcp_error *err);

/** NULL is fine. */
void guard_rate_free(guard_rate *self);

/** Change the limit of all buckets from now on. @return MCP_OK; MCP_E_PARAMS */
mcp_status guard_rate_change(guard_rate *self, guard_rate_limit limit, mcp_error *err);

/**
 * Take a token of a key's bucket.
 *
 * @param key    who or what is limited: any bytes; two keys with one hash of 128 bits share a bucket
 * @param now_ms mcp_clock_mono_ms(); a time before the last one counts as the last one
 * @return 0: taken. Otherwise nothing was taken, and it is how many milliseconds later there is a
 *         token; a Retry-After field has seconds, so round it up
 */
int64_t guard_rate_take(guard_rate *self, const void *key, size_t length, int64_t now_ms);

#endif
