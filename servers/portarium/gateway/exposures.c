/*
 * exposures.c - a table of workspaces with their policies, each in an arena of its own.
 */
#include "gateway/exposures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "policy/exposure.h"

enum { BUCKETS = 256, POLICIES_MAX = 16, ARENA_MAX = 8 << 20 };

/* The policies of a workspace. */
typedef struct entry {
    struct entry *next; /* in its bucket */
    mcp_arena *arena;
    const portarium_exposure *policies[POLICIES_MAX];
    size_t count;
    char workspace[];
} entry;

struct portarium_exposures {
    pthread_mutex_t reading;       /* of the plane; held while news are read from it */
    portarium_plane *plane;        /* NULL: it follows none */
    void (*on_change)(void *data); /* under `reading`, as the next; NULL: nobody listens */
    void *change_data;
    pthread_mutex_t lock; /* of the entries */
    entry *buckets[BUCKETS];
};

static void free_entry(entry *what)
{
    if (what)
        mcp_arena_free(what->arena);
    free(what);
}

mcp_status portarium_exposures_new(portarium_exposures **out, mcp_error *err)
{
    portarium_exposures *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->reading, NULL);
    *out = self;
    return MCP_OK;
}

void portarium_exposures_free(portarium_exposures *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (entry *at = self->buckets[i], *next; at; at = next) {
            next = at->next;
            free_entry(at);
        }
    }
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->reading);
    free(self);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* With the lock held. @return where the pointer to the workspace's entry is, or would be */
static entry **place_of(portarium_exposures *self, const char *workspace)
{
    entry **at = &self->buckets[mcp_fnv1a(workspace) % BUCKETS];
    while (*at && strcmp((*at)->workspace, workspace) != 0)
        at = &(*at)->next;
    return at;
}

/* Put an entry in the place of the workspace's old one; one without policies only removes it. */
static void replace(portarium_exposures *self, entry *fresh)
{
    pthread_mutex_lock(&self->lock);
    entry **place = place_of(self, fresh->workspace);
    entry *old = *place;
    if (old)
        *place = old->next;
    if (fresh->count > 0) {
        fresh->next = *place;
        *place = fresh;
        fresh = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    free_entry(old);
    free_entry(fresh);
}

static entry *new_entry(const char *workspace)
{
    size_t size = strlen(workspace) + 1;
    entry *fresh = calloc(1, sizeof *fresh + size);
    if (!fresh)
        return NULL;
    memcpy(fresh->workspace, workspace, size);
    fresh->arena = mcp_arena_new(ARENA_MAX);
    if (fresh->arena)
        return fresh;
    free(fresh);
    return NULL;
}

/* Add a policy to the entry, unless it is inactive. */
static mcp_status add(entry *to, const portarium_tx *tx, const char *text, size_t length,
                      mcp_error *err)
{
    const mcp_json *json = NULL;
    const portarium_exposure *policy = NULL;
    portarium_fields fields;
    bool active = true;
    char *own = mcp_arena_strndup(to->arena, text, length);
    if (!own)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    mcp_status st = mcp_json_read(&json, to->arena, own, length, err);
    mcp_json_bool(mcp_json_get(json, "active"), &active);
    if (st != MCP_OK || !active || !mcp_json_get(json, "defaultEffect"))
        return st;
    if (to->count == POLICIES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d tool exposure policies", POLICIES_MAX);
    portarium_fields_init(&fields, to->arena);
    st = portarium_exposure_read(&policy, to->arena, tx->settings->shapes, json, &fields, err);
    if (st == MCP_OK)
        to->policies[to->count++] = policy;
    return st;
}

#define POLICIES_SQL                                                                               \
    "SELECT json FROM policies WHERE workspace = $1 AND json LIKE '%\"defaultEffect\"%' ORDER BY " \
    "id"

static mcp_status read_one(portarium_tx *tx, void *data, mcp_error *err)
{
    entry *fresh = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(fresh->workspace) };
    mcp_status st = db_query(&rows, tx->session, POLICIES_SQL, values, 1, err);
    while (portarium_next(rows, &st, err)) {
        size_t length = 0;
        const char *text = db_text_at(rows, 0, &length);
        st = add(fresh, tx, text, length, err);
    }
    db_rows_free(rows);
    return st;
}

/* Read the policies of a workspace once more. */
static mcp_status read_again(portarium_exposures *self, const char *workspace, mcp_error *err)
{
    entry *fresh = new_entry(workspace);
    if (!fresh)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    mcp_status st = portarium_plane_read(self->plane, NULL, fresh->arena, read_one, fresh, err);
    if (st == MCP_OK)
        replace(self, fresh);
    else
        free_entry(fresh);
    return st;
}

/* ---- following ------------------------------------------------------------------------------- */

/* Names of workspaces. */
typedef struct names {
    const char *items[4096];
    size_t count;
} names;

static mcp_status read_names(portarium_tx *tx, void *data, mcp_error *err)
{
    names *out = data;
    db_rows *rows = NULL;
    out->count = 0;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT DISTINCT workspace FROM policies WHERE json LIKE "
                             "'%\"defaultEffect\"%' ORDER BY workspace",
                             NULL, 0, err);
    while (portarium_next(rows, &st, err)) {
        if (out->count == sizeof out->items / sizeof out->items[0])
            st = mcp_error_set(err, MCP_E_LIMIT,
                               "more than %zu workspaces have tool exposure policies", out->count);
        else
            out->items[out->count++] = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_exposures_follow(portarium_exposures *self, portarium_plane *plane,
                                      mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    names *found = arena ? mcp_arena_alloc(arena, sizeof *found) : NULL;
    if (!found) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    }
    pthread_mutex_lock(&self->reading);
    self->plane = plane;
    mcp_status st = portarium_plane_read(plane, NULL, arena, read_names, found, err);
    for (size_t i = 0; i < found->count && st == MCP_OK; i++)
        st = found->items[i] ? read_again(self, found->items[i], err) : MCP_E_NOMEM;
    pthread_mutex_unlock(&self->reading);
    mcp_arena_free(arena);
    return st;
}

void portarium_exposures_unfollow(portarium_exposures *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->reading);
    self->plane = NULL;
    pthread_mutex_unlock(&self->reading);
}

void portarium_exposures_listen(portarium_exposures *self, void (*on_change)(void *data),
                                void *data)
{
    pthread_mutex_lock(&self->reading);
    self->on_change = on_change;
    self->change_data = data;
    pthread_mutex_unlock(&self->reading);
}

void portarium_exposures_on_policies(const char *workspace, void *data)
{
    portarium_exposures *self = data;
    mcp_error err = MCP_ERROR_INIT;
    pthread_mutex_lock(&self->reading);
    if (self->plane)
        (void)read_again(self, workspace, &err); /* the copy stays as it is */
    if (self->plane && self->on_change)
        self->on_change(self->change_data);
    pthread_mutex_unlock(&self->reading);
}

bool portarium_exposures_allow(portarium_exposures *self, const char *workspace, const char *tool,
                               portarium_roles roles, portarium_tier tier)
{
    bool allows = true;
    pthread_mutex_lock(&self->lock);
    const entry *of = *place_of(self, workspace);
    for (size_t i = 0; of && i < of->count && allows; i++)
        allows = portarium_exposure_allows(of->policies[i], tool, roles, tier);
    pthread_mutex_unlock(&self->lock);
    return allows;
}
