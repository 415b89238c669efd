/*
 * stored.c - rows of `credentials`. What is sealed is bound to the workspace and the name.
 */
#include "engine/sealed/stored.h"

#include <stdio.h>
#include <string.h>

#include "engine/sealed/secrets.h"

bool portarium_stored_name_is_valid(const char *name)
{
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strspn(name, others);
    return name[0] >= 'A' && name[0] <= 'Z' && name[length] == '\0' &&
           length <= PORTARIUM_STORED_NAME_MAX;
}

static const char *binding_of(mcp_arena *arena, const char *workspace, const char *name)
{
    return mcp_arena_printf(arena, "%s/credentials/%s", workspace, name);
}

/* ---- storing --------------------------------------------------------------------------------- */

static mcp_status count(int64_t *all, bool *has_name, portarium_tx *tx, const char *name,
                        mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(name) };
    mcp_status st = db_query(
        &rows, tx->session,
        "SELECT COUNT(*), COALESCE(SUM(CASE WHEN name = $2 THEN 1 ELSE 0 END), "
        "0) FROM credentials WHERE workspace = $1",
        values, 2, err);
    if (portarium_next(rows, &st, err)) {
        *all = db_int_at(rows, 0);
        *has_name = db_int_at(rows, 1) > 0;
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_stored_put(bool *is_new, portarium_tx *tx, const char *name, const char *value,
                                mcp_error *err)
{
    int64_t all = 0;
    bool has_name = false;
    const char *sealed = NULL, *binding = binding_of(tx->arena, tx->workspace, name);
    mcp_status st = count(&all, &has_name, tx, name, err);
    *is_new = !has_name;
    if (st == MCP_OK && !has_name && all >= PORTARIUM_STORED_MAX)
        st = mcp_error_set(err, MCP_E_LIMIT, "The workspace has %d credentials already.",
                           PORTARIUM_STORED_MAX);
    if (st == MCP_OK)
        st = binding ? portarium_seal(&sealed, tx->arena, tx->settings, binding, value,
                                      strlen(value), err)
                     : mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    if (st != MCP_OK)
        return st;
    db_value values[] = { db_text(tx->workspace), db_text(name), db_blob(sealed, strlen(sealed)),
                          db_int(tx->now_ms) };
    return db_run(tx->session, NULL,
                  "INSERT INTO credentials (workspace, name, sealed, created_at) "
                  "VALUES ($1, $2, $3, $4) ON CONFLICT (workspace, name) DO UPDATE SET "
                  "sealed = excluded.sealed, created_at = excluded.created_at",
                  values, 4, err);
}

/* ---- attempts -------------------------------------------------------------------------------- */

mcp_status portarium_stored_write(mcp_json_writer *json, portarium_tx *tx, const char *const *names,
                                  mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[1 + PORTARIUM_STORED_NAMES] = { db_text(tx->workspace) };
    for (size_t i = 0; i < PORTARIUM_STORED_NAMES; i++)
        values[1 + i] = db_text(names[i]);
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT name, sealed FROM credentials WHERE workspace = $1 AND "
                             "name IN ($2, $3, $4)",
                             values, 1 + PORTARIUM_STORED_NAMES, err);
    mcp_write_member_array(json, "stored");
    while (portarium_next(rows, &st, err)) {
        size_t length = 0;
        const char *bytes = db_blob_at(rows, 1, &length);
        const char *sealed = mcp_arena_strndup(tx->arena, bytes, length);
        mcp_write_object(json);
        mcp_write_member_string(json, "name", db_text_at(rows, 0, NULL));
        mcp_write_member_string(json, "sealed", sealed ? sealed : "");
        mcp_write_end(json);
    }
    mcp_write_end(json);
    db_rows_free(rows);
    return st;
}

static void open_one(portarium_stored_credential *out, mcp_arena *arena,
                     const portarium_settings *settings, const char *workspace,
                     const mcp_json *stored)
{
    size_t length = 0;
    const char *sealed = mcp_json_get_string(stored, "sealed");
    out->name = mcp_json_get_string(stored, "name");
    const char *binding = out->name ? binding_of(arena, workspace, out->name) : NULL;
    if (!binding || !sealed ||
        portarium_unseal(&out->value, &length, arena, settings, binding, sealed, NULL) != MCP_OK)
        out->value = NULL;
}

void portarium_stored_open(portarium_stored_credential *out, mcp_arena *arena,
                           const portarium_settings *settings, const char *workspace,
                           const mcp_json *attempt)
{
    const mcp_json *stored = mcp_json_get(attempt, "stored");
    for (size_t i = 0; i < mcp_json_count(stored) && i < PORTARIUM_STORED_NAMES; i++)
        open_one(&out[i], arena, settings, workspace, mcp_json_item(stored, i));
}
