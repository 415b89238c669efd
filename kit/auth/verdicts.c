/*
 * verdicts.c - a small cache with a fixed number of places.
 *
 * The first byte of a hash chooses a row of four places; a new verdict takes the place of the same token,
 * else a free one, else the one that ends soonest. Only good tokens are kept, so nobody without a
 * signature can push others out. One lock guards the table; nothing slow is done under it.
 */
#include "auth/verdicts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "auth/auth.h"

enum { WAYS = 4, ROWS = AUTH_VERDICTS_MAX / WAYS, TEXT_MAX = 2048 };

struct verdict {
    uint8_t hash[AUTH_HASH_SIZE];
    uint64_t generation;
    int64_t expires_ms;
    size_t name_length;
    char texts[]; /* the name, NUL, the scopes, NUL */
};

struct auth_verdicts {
    pthread_mutex_t lock;
    struct verdict *table[ROWS][WAYS]; /* owned; NULL: free */
};

mcp_status auth_verdicts_new(auth_verdicts **out, mcp_error *err)
{
    auth_verdicts *all = calloc(1, sizeof *all);

    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for verdicts");
    pthread_mutex_init(&all->lock, NULL);
    *out = all;
    return MCP_OK;
}

void auth_verdicts_free(auth_verdicts *all)
{
    if (!all)
        return;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t way = 0; way < WAYS; way++)
            free(all->table[row][way]);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static struct verdict **row_of(auth_verdicts *all, const uint8_t *hash)
{
    return all->table[hash[0] % ROWS];
}

static bool is_of(const struct verdict *verdict, const uint8_t *hash)
{
    return verdict && CRYPTO_memcmp(verdict->hash, hash, AUTH_HASH_SIZE) == 0;
}

/* A verdict from what is now the future was reached before the clock was set back. */
static bool holds(const struct verdict *verdict, uint64_t generation, int64_t now_ms)
{
    return verdict->generation == generation && now_ms < verdict->expires_ms &&
           verdict->expires_ms <= now_ms + AUTH_VERDICT_MS;
}

static bool copy_out(mcp_principal *out, const struct verdict *verdict, mcp_arena *arena)
{
    const char *name = mcp_arena_strdup(arena, verdict->texts);
    const char *scopes = mcp_arena_strdup(arena, verdict->texts + verdict->name_length + 1);

    if (!name || !scopes)
        return false;
    out->name = name;
    out->scopes = scopes;
    out->expires_ms = verdict->expires_ms;
    return true;
}

bool auth_verdicts_find(mcp_principal *out, auth_verdicts *all, const uint8_t *hash,
                        uint64_t generation, int64_t now_ms, mcp_arena *arena)
{
    bool found = false;

    pthread_mutex_lock(&all->lock);
    struct verdict **row = row_of(all, hash);
    for (size_t way = 0; way < WAYS && !found; way++)
        if (is_of(row[way], hash) && holds(row[way], generation, now_ms))
            found = copy_out(out, row[way], arena);
    pthread_mutex_unlock(&all->lock);
    return found;
}

static struct verdict *verdict_new(const uint8_t *hash, uint64_t generation,
                                   const mcp_principal *principal)
{
    size_t name_length = strlen(principal->name);
    size_t scopes_length = strlen(principal->scopes);

    if (name_length + scopes_length + 2 > TEXT_MAX)
        return NULL;
    struct verdict *verdict = malloc(sizeof *verdict + name_length + scopes_length + 2);
    if (!verdict)
        return NULL;
    memcpy(verdict->hash, hash, AUTH_HASH_SIZE);
    verdict->generation = generation;
    verdict->expires_ms = principal->expires_ms;
    verdict->name_length = name_length;
    memcpy(verdict->texts, principal->name, name_length + 1);
    memcpy(verdict->texts + name_length + 1, principal->scopes, scopes_length + 1);
    return verdict;
}

/* Which place of a row a verdict about `hash` takes. */
static size_t place_for(struct verdict *const *row, const uint8_t *hash, uint64_t generation,
                        int64_t now_ms)
{
    size_t soonest = 0;

    for (size_t way = 0; way < WAYS; way++)
        if (is_of(row[way], hash))
            return way;
    for (size_t way = 0; way < WAYS; way++)
        if (!row[way] || !holds(row[way], generation, now_ms))
            return way;
    for (size_t way = 1; way < WAYS; way++)
        if (row[way]->expires_ms < row[soonest]->expires_ms)
            soonest = way;
    return soonest;
}

void auth_verdicts_keep(auth_verdicts *all, const uint8_t *hash, uint64_t generation,
                        int64_t now_ms, const mcp_principal *principal)
{
    struct verdict *verdict = verdict_new(hash, generation, principal);

    if (!verdict)
        return;
    pthread_mutex_lock(&all->lock);
    struct verdict **row = row_of(all, hash);
    size_t way = place_for(row, hash, generation, now_ms);
    struct verdict *pushed_out = row[way];
    row[way] = verdict;
    pthread_mutex_unlock(&all->lock);
    free(pushed_out);
}
