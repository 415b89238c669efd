/*
 * exposures.c - a table of workspaces with their policy, each in an arena of its own.
 */
#include "gateway/exposures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "policy/exposure.h"

enum { BUCKETS = 256, ARENA_MAX = 8 << 20, PAGE = 1000 };

/* The policy of a workspace. */
typedef struct entry {
    struct entry *next; /* in its bucket */
    mcp_arena *arena;
    const portarium_exposure *policy; /* NULL: it has none */
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

/* Put an entry in the place of the workspace's old one; one without a policy only removes it. */
static void replace(portarium_exposures *self, entry *fresh)
{
    pthread_mutex_lock(&self->lock);
    entry **place = place_of(self, fresh->workspace);
    entry *old = *place;
    if (old)
        *place = old->next;
    if (fresh->policy) {
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

static mcp_status read_policy(entry *to, const portarium_tx *tx, const char *text, size_t length,
                              mcp_error *err)
{
    const mcp_json *json = NULL;
    portarium_fields fields;
    char *own = mcp_arena_strndup(to->arena, text, length);
    if (!own)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    portarium_fields_init(&fields, to->arena);
    mcp_status st = mcp_json_read(&json, to->arena, own, length, err);
    return st == MCP_OK ? portarium_exposure_read(&to->policy, to->arena, tx->settings->shapes,
                                                  json, &fields, err)
                        : st;
}

static mcp_status read_one(portarium_tx *tx, void *data, mcp_error *err)
{
    entry *fresh = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(fresh->workspace), db_text(PORTARIUM_EXPOSURE_ID) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT json FROM policies WHERE workspace = $1 AND id = $2", values,
                             2, err);
    if (portarium_next(rows, &st, err)) {
        size_t length = 0;
        const char *text = db_text_at(rows, 0, &length);
        st = read_policy(fresh, tx, text, length, err);
    }
    db_rows_free(rows);
    return st;
}

/* Read the policy of a workspace once more. */
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

/* Names of workspaces, those behind one. */
typedef struct names {
    const char *after;
    const char *items[PAGE];
    size_t count;
} names;

static mcp_status read_names(portarium_tx *tx, void *data, mcp_error *err)
{
    names *out = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(PORTARIUM_EXPOSURE_ID), db_text(out->after), db_int(PAGE) };
    out->count = 0;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT workspace FROM policies WHERE id = $1 AND workspace > $2 "
                             "ORDER BY workspace LIMIT $3",
                             values, 3, err);
    while (portarium_next(rows, &st, err)) {
        out->items[out->count] = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
        if (!out->items[out->count++])
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    }
    db_rows_free(rows);
    return st;
}

/* Read the policies of the workspaces behind one. @param found their names */
static mcp_status read_page(portarium_exposures *self, names *found, mcp_arena *arena,
                            mcp_error *err)
{
    mcp_status st = portarium_plane_read(self->plane, NULL, arena, read_names, found, err);
    for (size_t i = 0; i < found->count && st == MCP_OK; i++)
        st = read_again(self, found->items[i], err);
    return st;
}

mcp_status portarium_exposures_follow(portarium_exposures *self, portarium_plane *plane,
                                      mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new((size_t)64 << 20);
    names *found = arena ? mcp_arena_alloc(arena, sizeof *found) : NULL;
    if (!found) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    }
    pthread_mutex_lock(&self->reading);
    self->plane = plane;
    found->after = "";
    mcp_status st = read_page(self, found, arena, err);
    while (st == MCP_OK && found->count == PAGE) {
        found->after = found->items[PAGE - 1];
        st = read_page(self, found, arena, err);
    }
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

mcp_status portarium_exposures_on_policies(const char *workspace, void *data, mcp_error *err)
{
    portarium_exposures *self = data;
    pthread_mutex_lock(&self->reading);
    mcp_status st = self->plane ? read_again(self, workspace, err) : MCP_OK;
    if (self->plane && st == MCP_OK && self->on_change)
        self->on_change(self->change_data);
    pthread_mutex_unlock(&self->reading);
    return st;
}

bool portarium_exposures_allow(portarium_exposures *self, const char *workspace, const char *tool,
                               portarium_roles roles, portarium_tier tier)
{
    pthread_mutex_lock(&self->lock);
    const entry *of = *place_of(self, workspace);
    bool allows = portarium_exposure_allows(of ? of->policy : NULL, tool, roles, tier);
    pthread_mutex_unlock(&self->lock);
    return allows;
}
