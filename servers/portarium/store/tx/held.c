/*
 * held.c - the list of locked workspaces, and what was read of each.
 */
#include "store/tx/held.h"

#include <string.h>

enum { KEPT_MAX = 32, KEPT_BYTES = 64 << 20 };

struct portarium_kept {
    struct portarium_kept *next;
    const void *kind; /* NULL: dropped */
    const char *key;
    const void *value;
};

mcp_status portarium_holdings_of(portarium_holdings **out, db_session *session, mcp_error *err)
{
    db_shared *shared = db_session_shared(session);
    if (shared && !shared->data) {
        portarium_holdings *made = mcp_arena_alloc(shared->arena, sizeof *made);
        if (made)
            made->arena = shared->arena;
        shared->data = made;
    }
    *out = shared ? shared->data : NULL;
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a transaction");
}

portarium_held *portarium_held_find(const portarium_holdings *self, const char *workspace)
{
    portarium_held *at = self->first;
    while (at && strcmp(at->workspace, workspace) != 0)
        at = at->next;
    return at;
}

mcp_status portarium_held_add(portarium_held **out, portarium_holdings *self, const char *workspace,
                              mcp_error *err)
{
    portarium_held *made = mcp_arena_alloc(self->arena, sizeof *made);
    const char *name = mcp_arena_strdup(self->arena, workspace);
    if (!made || !name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a transaction");
    *made = (portarium_held){ .next = self->first, .workspace = name, .arena = self->arena };
    self->first = made;
    *out = made;
    return MCP_OK;
}

/* What the transaction holds of the workspace that it is in. */
static portarium_held *held_of(const portarium_tx *tx)
{
    bool is_there = tx->held && tx->workspace && strcmp(tx->held->workspace, tx->workspace) == 0;
    return is_there ? tx->held : NULL;
}

portarium_tx portarium_held_reader(const portarium_tx *tx)
{
    portarium_tx out = *tx;
    const portarium_held *held = held_of(tx);
    if (held && held->kept_count < KEPT_MAX && mcp_arena_used(held->arena) < KEPT_BYTES)
        out.arena = held->arena;
    return out;
}

static bool is_of(const portarium_kept *kept, const void *kind, const char *key)
{
    return kept->kind == kind && strcmp(kept->key, key) == 0;
}

const void *portarium_held_get(const portarium_tx *tx, const void *kind, const char *key)
{
    const portarium_held *held = held_of(tx);
    const portarium_kept *at = held ? held->kept : NULL;
    while (at && !is_of(at, kind, key))
        at = at->next;
    return at ? at->value : NULL;
}

/* Without memory it is read again by the next. */
void portarium_held_keep(const portarium_tx *tx, const portarium_tx *reader, const void *kind,
                         const char *key, const void *value, size_t size)
{
    portarium_held *held = held_of(tx);
    if (!held || reader->arena != held->arena)
        return;
    portarium_kept *made = mcp_arena_alloc(held->arena, sizeof *made);
    void *copy = mcp_arena_alloc(held->arena, size);
    const char *name = mcp_arena_strdup(held->arena, key);
    if (!made || !copy || !name)
        return;
    memcpy(copy, value, size);
    *made = (portarium_kept){ .next = held->kept, .kind = kind, .key = name, .value = copy };
    held->kept = made;
    held->kept_count++;
}

void portarium_held_add_definition(const portarium_tx *tx)
{
    portarium_held *held = held_of(tx);
    if (held)
        held->has_definitions = true;
}

bool portarium_held_has_committed_definitions(const portarium_tx *tx)
{
    const portarium_held *held = held_of(tx);
    return !tx->writes || (held && !held->has_definitions);
}

void portarium_held_drop(const portarium_tx *tx, const void *kind)
{
    for (portarium_kept *at = tx->held ? tx->held->kept : NULL; at; at = at->next) {
        if (at->kind == kind)
            at->kind = NULL;
    }
}
