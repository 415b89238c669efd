/*
 * definitions.c - the table workflow_versions, and what was read of it.
 */
#include "store/definitions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "store/tx/held.h"

enum { BUCKETS = 256, KEPT_MAX = 1000, ARENA_MAX = 64 << 20 };

typedef struct kept {
    struct kept *next;
    const char *workspace;
    const portarium_workflow *workflow;
    mcp_arena *arena; /* of everything in it, this struct too */
} kept;

struct portarium_definitions {
    const portarium_shapes *shapes;
    pthread_mutex_t lock;
    kept *buckets[BUCKETS];
    size_t count;
};

mcp_status portarium_definitions_new(portarium_definitions **out, const portarium_shapes *shapes,
                                     mcp_error *err)
{
    portarium_definitions *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the definitions");
    self->shapes = shapes;
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return MCP_OK;
}

void portarium_definitions_free(portarium_definitions *self)
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

static const portarium_workflow *find(portarium_definitions *self, const char *workspace,
                                      const char *id, int64_t version)
{
    const portarium_workflow *found = NULL;
    pthread_mutex_lock(&self->lock);
    for (kept *at = self->buckets[bucket_of(id, version)]; at && !found; at = at->next) {
        if (at->workflow->version == version && strcmp(at->workflow->id, id) == 0 &&
            strcmp(at->workspace, workspace) == 0)
            found = at->workflow;
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

/* Keep it, where there is room. @return whether the arena is kept */
static bool keep(portarium_definitions *self, mcp_arena *arena, const char *workspace,
                 const portarium_workflow *workflow)
{
    kept *made = mcp_arena_alloc(arena, sizeof *made);
    const char *name = mcp_arena_strdup(arena, workspace);
    bool has_room = false;
    if (!made || !name)
        return false;
    pthread_mutex_lock(&self->lock);
    has_room = self->count < KEPT_MAX;
    if (has_room) {
        kept **bucket = &self->buckets[bucket_of(workflow->id, workflow->version)];
        *made = (kept){ *bucket, name, workflow, arena };
        *bucket = made;
        self->count++;
    }
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

static mcp_status parse(const portarium_workflow **out, portarium_definitions *self,
                        mcp_arena *arena, const portarium_workflow_origin *origin, const char *text,
                        size_t length, mcp_error *err)
{
    const mcp_json *json = NULL;
    portarium_fields *fields = mcp_arena_alloc(arena, sizeof *fields);
    if (!fields)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a definition");
    const portarium_workflow_origin own = { .id = mcp_arena_strdup(arena, origin->id),
                                            .workspace_id = mcp_arena_strdup(arena,
                                                                             origin->workspace_id),
                                            .version = origin->version };
    if (!own.id || !own.workspace_id)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a definition");
    portarium_fields_init(fields, arena);
    mcp_status st = mcp_json_read(&json, arena, text, length, err);
    if (st == MCP_OK)
        st = portarium_workflow_read(out, arena, self->shapes, json, &own, fields, err);
    return st == MCP_E_SCHEMA || st == MCP_E_PARSE
               ? mcp_error_set(err, MCP_E_INTERNAL, "a stored definition is invalid")
               : st;
}

static mcp_status read_text(portarium_tx *tx, const char **out, size_t *length, const char *id,
                            int64_t version, mcp_error *err)
{
    db_rows *rows = NULL;
    bool found = false;
    db_value values[] = { db_text(tx->workspace), db_text(id), db_int(version) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT json FROM workflow_versions WHERE workspace = $1 AND id = $2 "
                             "AND version = $3",
                             values, 3, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found) {
        const char *text = db_text_at(rows, 0, length);
        *out = mcp_arena_strndup(tx->arena, text, *length);
        st = *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a definition");
    }
    db_rows_free(rows);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Workflow %.128s has no version %lld.", id,
                           (long long)version);
    return st;
}

mcp_status portarium_definition_get(const portarium_workflow **out, portarium_tx *tx,
                                    const char *id, int64_t version, mcp_error *err)
{
    portarium_definitions *self = tx->settings->definitions;
    const char *text = NULL;
    size_t length = 0;
    const portarium_workflow_origin origin = { .id = id,
                                               .workspace_id = tx->workspace,
                                               .version = version };
    *out = find(self, tx->workspace, id, version);
    if (*out)
        return MCP_OK;
    mcp_status st = read_text(tx, &text, &length, id, version, err);
    if (st != MCP_OK)
        return st;
    if (!portarium_held_has_committed_definitions(tx))
        return parse(out, self, tx->arena, &origin, text, length, err);
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a definition");
    st = parse(out, self, arena, &origin, text, length, err);
    if (st == MCP_OK && keep(self, arena, tx->workspace, *out))
        return MCP_OK;
    mcp_arena_free(arena);
    return st == MCP_OK ? parse(out, self, tx->arena, &origin, text, length, err) : st;
}

mcp_status portarium_definition_json(const mcp_json **out, portarium_tx *tx, const char *id,
                                     int64_t version, mcp_error *err)
{
    const char *text = NULL;
    size_t length = 0;
    mcp_status st = read_text(tx, &text, &length, id, version, err);
    return st == MCP_OK ? portarium_tx_json(tx, out, text, length, err) : st;
}

mcp_status portarium_definition_add(portarium_tx *tx, const char *id, int64_t version,
                                    const mcp_json *json, mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer writer;
    mcp_buf_init(&buf, 4 << 20);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_value(&writer, json);
    db_value values[] = { db_text(tx->workspace), db_text(id), db_int(version), db_int(tx->now_ms),
                          db_text_n(buf.data, buf.length) };
    mcp_status st = mcp_json_writer_status(&writer);
    portarium_held_add_definition(tx);
    st = st == MCP_OK
             ? db_run(tx->session, NULL,
                      "INSERT INTO workflow_versions (workspace, id, version, created_at, json) "
                      "VALUES ($1, $2, $3, $4, $5)",
                      values, 5, err)
             : mcp_error_set(err, st, "a definition cannot be stored: %s", mcp_status_words(st));
    mcp_buf_clear(&buf);
    return st;
}
