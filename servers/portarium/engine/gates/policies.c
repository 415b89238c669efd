/*
 * policies.c - the table policies, and what was read of it.
 */
#include "engine/gates/policies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "policy/exposure.h"
#include "store/tx/held.h"

enum { BUCKETS = 256, KEPT_MAX = 1000, ARENA_MAX = 8 << 20 };

typedef struct kept {
    struct kept *next;
    const char *workspace;
    const portarium_policy *policy;
    const char *text; /* that it was read from: where the transaction of a version was rolled back,
                       * another version gets its number */
    size_t length;
    mcp_arena *arena; /* of everything in it, this struct too */
} kept;

struct portarium_policies_read_once {
    const portarium_shapes *shapes;
    pthread_mutex_t lock;
    kept *buckets[BUCKETS];
    size_t count;
};

mcp_status portarium_policies_new(portarium_policies_read_once **out,
                                  const portarium_shapes *shapes, mcp_error *err)
{
    portarium_policies_read_once *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policies");
    self->shapes = shapes;
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return MCP_OK;
}

void portarium_policies_free(portarium_policies_read_once *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (kept *at = self->buckets[i], *next; at; at = next) {
            next = at->next;
            mcp_arena_free(at->arena);
        }
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static size_t bucket_of(const char *id, int64_t version)
{
    return (mcp_fnv1a(id) + (uint64_t)version) % BUCKETS;
}

static bool has_text(const kept *of, const char *text, size_t length)
{
    return of->length == length && memcmp(of->text, text, length) == 0;
}

static const portarium_policy *find(portarium_policies_read_once *self, const char *workspace,
                                    const char *id, int64_t version, const char *text,
                                    size_t length)
{
    const portarium_policy *found = NULL;
    pthread_mutex_lock(&self->lock);
    for (kept *at = self->buckets[bucket_of(id, version)]; at && !found; at = at->next) {
        if (at->policy->version == version && strcmp(at->policy->id, id) == 0 &&
            strcmp(at->workspace, workspace) == 0 && has_text(at, text, length))
            found = at->policy;
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

/* Keep it, where there is room. @return whether the arena is kept */
static bool keep(portarium_policies_read_once *self, mcp_arena *arena, const char *workspace,
                 const portarium_policy *policy, const char *text, size_t length)
{
    kept *made = mcp_arena_alloc(arena, sizeof *made);
    const char *name = mcp_arena_strdup(arena, workspace);
    const char *own = mcp_arena_strndup(arena, text, length);
    bool has_room = false;
    if (!made || !name || !own)
        return false;
    pthread_mutex_lock(&self->lock);
    has_room = self->count < KEPT_MAX;
    if (has_room) {
        kept **bucket = &self->buckets[bucket_of(policy->id, policy->version)];
        *made = (kept){ *bucket, name, policy, own, length, arena };
        *bucket = made;
        self->count++;
    }
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

static mcp_status parse(const portarium_policy **out, portarium_policies_read_once *self,
                        mcp_arena *arena, const char *id, int64_t version, const char *text,
                        size_t length, mcp_error *err)
{
    const mcp_json *json = NULL;
    portarium_fields *fields = mcp_arena_alloc(arena, sizeof *fields);
    const char *own = mcp_arena_strdup(arena, id);
    if (!fields || !own)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a policy");
    portarium_fields_init(fields, arena);
    mcp_status st = mcp_json_read(&json, arena, text, length, err);
    if (st == MCP_OK)
        st = portarium_policy_read(out, arena, self->shapes, json, own, version, fields, err);
    return st == MCP_E_SCHEMA || st == MCP_E_PARSE
               ? mcp_error_set(err, MCP_E_INTERNAL, "policy %s is stored wrongly", id)
               : st;
}

/* An active policy as its row has it: id, revision, document. */
static mcp_status get(const portarium_policy **out, portarium_tx *tx, const char *id,
                      int64_t version, const char *text, size_t length, mcp_error *err)
{
    portarium_policies_read_once *self = tx->settings->policies;
    *out = find(self, tx->workspace, id, version, text, length);
    if (*out)
        return MCP_OK;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a policy");
    mcp_status st = parse(out, self, arena, id, version, text, length, err);
    if (st == MCP_OK && keep(self, arena, tx->workspace, *out, text, length))
        return MCP_OK;
    mcp_arena_free(arena);
    return st == MCP_OK ? parse(out, self, tx->arena, id, version, text, length, err) : st;
}

static mcp_status add(portarium_policy_set *out, const portarium_policy *policy, portarium_tx *tx,
                      mcp_error *err)
{
    if (out->count == PORTARIUM_POLICIES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "More than %d policies are active.",
                             PORTARIUM_POLICIES_MAX);
    if ((out->count & (out->count - 1)) == 0) { /* full at 1, 2, 4, ...: twice as many */
        size_t room = out->count ? 2 * out->count : 1;
        const portarium_policy **items = mcp_arena_array(tx->arena, room, sizeof(void *));
        if (!items)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policies");
        for (size_t i = 0; i < out->count; i++)
            items[i] = out->items[i];
        out->items = items;
    }
    out->items[out->count++] = policy;
    return MCP_OK;
}

static mcp_status read_active(portarium_policy_set *out, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(PORTARIUM_EXPOSURE_ID) };
    *out = (portarium_policy_set){ .count = 0 };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id, revision, json FROM policies WHERE workspace = $1 AND "
                             "active = 1 AND id <> $2 ORDER BY id",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        const portarium_policy *policy = NULL;
        size_t length = 0;
        const char *text = db_text_at(rows, 2, &length);
        st = get(&policy, tx, db_text_at(rows, 0, NULL), db_int_at(rows, 1), text, length, err);
        if (st == MCP_OK)
            st = add(out, policy, tx, err);
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_policies_active(portarium_policy_set *out, portarium_tx *tx, mcp_error *err)
{
    static const char key[] = "active";
    portarium_tx reader = portarium_held_reader(tx);
    const portarium_policy_set *known = portarium_held_get(tx, &portarium_policies, key);
    mcp_status st = MCP_OK;
    if (known) {
        *out = *known;
        return MCP_OK;
    }
    st = read_active(out, &reader, err);
    if (st == MCP_OK)
        portarium_held_keep(tx, &reader, &portarium_policies, key, out, sizeof *out);
    return st;
}
