/*
 * rate.c - token buckets in a hash table with a list in the order of use.
 *
 * A key is kept as 128 bits of SipHash under random keys, so that a bucket has a fixed size and
 * nobody can choose keys that collide. All slots are made at the beginning; they are named by
 * number, and NONE ends a list.
 */
#include "guard/rate.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/hash.h"
#include "mcp/random.h"

#define KEYS_MAX 1000000
#define NONE UINT32_MAX

struct slot {
    uint64_t key[2];
    double tokens;
    int64_t at_ms;         /* when `tokens` was right */
    uint32_t next;         /* in the chain of its hash */
    uint32_t newer, older; /* in the order of use */
};

struct guard_rate {
    pthread_mutex_t lock; /* guards all below but the hash keys */
    guard_rate_limit limit;
    struct slot *slots;
    uint32_t *chains; /* first slot of each; as many as `mask` + 1 */
    uint32_t mask;
    uint32_t count, count_max;
    uint32_t newest, oldest;
    uint64_t hash_keys[2][2];
};

static bool is_valid(guard_rate_limit limit)
{
    if (limit.per_second == 0)
        return true;
    return isfinite(limit.per_second) && limit.per_second > 0 && isfinite(limit.burst) &&
           limit.burst >= 1;
}

mcp_status guard_rate_new(guard_rate **out, guard_rate_limit limit, size_t keys_max, mcp_error *err)
{
    uint32_t chains = 1;

    if (!is_valid(limit) || keys_max == 0 || keys_max > KEYS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a rate limit needs a rate, a burst and keys");
    guard_rate *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a rate limit");
    while (chains < keys_max)
        chains *= 2;
    pthread_mutex_init(&self->lock, NULL);
    self->limit = limit;
    self->mask = chains - 1;
    self->count_max = (uint32_t)keys_max;
    self->newest = self->oldest = NONE;
    self->slots = mcp_alloc_zeroed(keys_max, sizeof *self->slots);
    self->chains = mcp_alloc_zeroed(chains, sizeof *self->chains);
    mcp_status st = self->slots && self->chains
                        ? mcp_random_bytes(self->hash_keys, sizeof self->hash_keys, err)
                        : mcp_error_set(err, MCP_E_NOMEM, "out of memory for a rate limit");
    if (st != MCP_OK) {
        guard_rate_free(self);
        return st;
    }
    memset(self->chains, 0xff, chains * sizeof *self->chains); /* NONE */
    *out = self;
    return MCP_OK;
}

void guard_rate_free(guard_rate *self)
{
    if (!self)
        return;
    pthread_mutex_destroy(&self->lock);
    free(self->chains);
    free(self->slots);
    free(self);
}

mcp_status guard_rate_change(guard_rate *self, guard_rate_limit limit, mcp_error *err)
{
    if (!is_valid(limit))
        return mcp_error_set(err, MCP_E_PARAMS, "a rate limit needs a rate and a burst");
    pthread_mutex_lock(&self->lock);
    self->limit = limit;
    pthread_mutex_unlock(&self->lock);
    return MCP_OK;
}

/* ---- the table, under the lock --------------------------------------------------------------- */

static void leave_order(guard_rate *self, uint32_t at)
{
    struct slot *slot = &self->slots[at];

    if (slot->newer != NONE)
        self->slots[slot->newer].older = slot->older;
    else
        self->newest = slot->older;
    if (slot->older != NONE)
        self->slots[slot->older].newer = slot->newer;
    else
        self->oldest = slot->newer;
}

static void become_newest(guard_rate *self, uint32_t at)
{
    self->slots[at].newer = NONE;
    self->slots[at].older = self->newest;
    if (self->newest != NONE)
        self->slots[self->newest].newer = at;
    else
        self->oldest = at;
    self->newest = at;
}

static void leave_chain(guard_rate *self, uint32_t at)
{
    uint32_t *link = &self->chains[self->slots[at].key[0] & self->mask];

    while (*link != at)
        link = &self->slots[*link].next;
    *link = self->slots[at].next;
}

/* A slot for a new key: an unused one, or that of the key used least recently. */
static uint32_t free_slot(guard_rate *self)
{
    if (self->count < self->count_max)
        return self->count++;
    uint32_t at = self->oldest;
    leave_order(self, at);
    leave_chain(self, at);
    return at;
}

/* The bucket of a key, which becomes the newest; a new one is full. */
static struct slot *find(guard_rate *self, const uint64_t key[2], int64_t now_ms)
{
    uint32_t *chain = &self->chains[key[0] & self->mask];
    uint32_t at = *chain;

    while (at != NONE && memcmp(self->slots[at].key, key, sizeof self->slots[at].key) != 0)
        at = self->slots[at].next;
    if (at != NONE) {
        leave_order(self, at);
    } else {
        at = free_slot(self);
        self->slots[at] = (struct slot){
            .key = { key[0], key[1] }, .tokens = self->limit.burst, .at_ms = now_ms, .next = *chain
        };
        *chain = at;
    }
    become_newest(self, at);
    return &self->slots[at];
}

static int64_t take(struct slot *slot, guard_rate_limit limit, int64_t now_ms)
{
    if (now_ms > slot->at_ms) {
        slot->tokens += (double)(now_ms - slot->at_ms) * limit.per_second / 1000;
        slot->at_ms = now_ms;
    }
    if (slot->tokens > limit.burst)
        slot->tokens = limit.burst;
    if (slot->tokens >= 1) {
        slot->tokens -= 1;
        return 0;
    }
    double wait_ms = ceil((1 - slot->tokens) * 1000 / limit.per_second);
    if (wait_ms < 1)
        return 1;
    return wait_ms < (double)INT32_MAX ? (int64_t)wait_ms : INT32_MAX;
}

int64_t guard_rate_take(guard_rate *self, const void *key, size_t length, int64_t now_ms)
{
    uint64_t hash[2] = { mcp_siphash13(self->hash_keys[0], key, length),
                         mcp_siphash13(self->hash_keys[1], key, length) };
    int64_t wait_ms = 0;

    pthread_mutex_lock(&self->lock);
    if (self->limit.per_second > 0)
        wait_ms = take(find(self, hash, now_ms), self->limit, now_ms);
    pthread_mutex_unlock(&self->lock);
    return wait_ms;
}
