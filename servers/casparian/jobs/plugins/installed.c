/*
 * installed.c - rows of cf_plugin_manifest and schema_contracts.
 */
#include "jobs/plugins/installed.h"

#include <string.h>

#include "jobs/state/definition_json.h"
#include "jobs/state/rows.h"
#include "jobs/state/uuid.h"
#include "keys/canonical.h"

/* ---- hashes ---------------------------------------------------------------------------------- */

/* The hash of a version, for one or for all states of its row. @return MCP_E_NOT_FOUND */
static mcp_status read_hash(char out[CASPARIAN_HASH_SIZE], db_session *session, const char *id,
                            const char *version, bool is_active, mcp_error *err)
{
    const db_value values[] = { db_text(id), db_text(version), db_int(is_active) };
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT artifact_hash FROM cf_plugin_manifest WHERE plugin_name = $1 "
                             "AND version = $2 AND (status = 'active' OR CAST($3 AS BIGINT) = 0)",
                             values, 3, err);
    bool is_found = casparian_next(rows, &st, err);
    size_t length = 0;
    const char *text = is_found ? db_text_at(rows, 0, &length) : NULL;
    if (text && length < CASPARIAN_HASH_SIZE) {
        memcpy(out, text, length);
        out[length] = '\0';
    }
    db_rows_free(rows);
    if (st == MCP_OK && !is_found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s@%s was never imported", id, version);
    return st;
}

mcp_status casparian_installed_hash(char out[CASPARIAN_HASH_SIZE], casparian_store *store,
                                    const char *id, const char *version, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_hash(out, session, id, version, true, err), err);
}

/* ---- contracts ------------------------------------------------------------------------------- */

static mcp_status scope_of(char out[KEYS_HEX_SIZE], const char **described, mcp_arena *arena,
                           const casparian_plugin *plugin, const char *output, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    const char *text = mcp_arena_printf(arena, "%s:%s:%s", plugin->id, plugin->version, output);
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a contract");
    mcp_status st = mcp_sha256(digest, text, strlen(text), err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    *described = text;
    return st;
}

static mcp_status insert_contract(db_session *session, mcp_arena *arena,
                                  const casparian_import *import,
                                  const casparian_definition *schema, int64_t now_ms,
                                  mcp_error *err)
{
    char id[CASPARIAN_UUID_SIZE], scope[KEYS_HEX_SIZE];
    const char *described = NULL;
    casparian_text text;
    mcp_status st = scope_of(scope, &described, arena, import->plugin, schema->output, err);
    if (st == MCP_OK)
        st = casparian_uuid(id, err);
    if (st != MCP_OK)
        return st;
    casparian_text_init(&text);
    mcp_write_name(&text.out, schema->output);
    st = casparian_write_definition(&text.out, schema, err);
    if (st == MCP_OK)
        st = casparian_text_end(&text, err);
    const db_value values[] = { db_text(id),
                                db_text(scope),
                                db_text(described),
                                db_text(import->plugin->artifact_hash),
                                db_int(now_ms),
                                db_text(import->user),
                                casparian_text_value(&text) };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "INSERT INTO schema_contracts (contract_id, scope_id, scope_description, "
                    "logic_hash, approved_at, approved_by, version, schemas_json) VALUES ($1, $2, "
                    "$3, $4, $5, $6, 1, $7) ON CONFLICT (scope_id, version) DO NOTHING",
                    values, 7, err);
    casparian_text_free(&text);
    return st;
}

/* ---- imports --------------------------------------------------------------------------------- */

static void write_names(casparian_text *text, const char *member, const char *const *names,
                        size_t count)
{
    casparian_text_init(text);
    mcp_write_member_array(&text->out, member);
    for (size_t i = 0; i < count; i++)
        mcp_write_string(&text->out, names[i]);
    mcp_write_end(&text->out);
}

static mcp_status insert_plugin(db_session *session, const casparian_import *import, int64_t now_ms,
                                mcp_error *err)
{
    const casparian_plugin *plugin = import->plugin;
    casparian_text outputs, topics;
    write_names(&outputs, "outputs", plugin->outputs, plugin->output_count);
    write_names(&topics, "topics", plugin->topics, plugin->topic_count);
    mcp_status st = casparian_text_end(&outputs, err);
    if (st == MCP_OK)
        st = casparian_text_end(&topics, err);
    const db_value values[] = { db_text(plugin->id),
                                db_text(plugin->version),
                                db_text(casparian_runtime_text(plugin->runtime)),
                                db_text(plugin->entrypoint),
                                db_text(import->os),
                                db_text(import->arch),
                                db_text(import->dir),
                                db_text(plugin->artifact_hash),
                                db_text(plugin->signer),
                                db_int(plugin->signer != NULL),
                                casparian_text_value(&outputs),
                                casparian_text_value(&topics),
                                db_int(now_ms) };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "INSERT INTO cf_plugin_manifest (plugin_name, version, runtime, entrypoint, "
                    "os, arch, dir, artifact_hash, signer, signature_ok, outputs_json, "
                    "topics_json, created_at, status) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                    "$10, $11, $12, $13, 'active') ON CONFLICT (plugin_name, version, os, arch) "
                    "DO UPDATE SET status = 'active', signer = excluded.signer, signature_ok = "
                    "excluded.signature_ok",
                    values, 13, err);
    casparian_text_free(&outputs);
    casparian_text_free(&topics);
    return st;
}

static mcp_status store_all(db_session *session, mcp_arena *arena, const casparian_import *import,
                            mcp_error *err)
{
    const casparian_plugin *plugin = import->plugin;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    if (st == MCP_OK)
        st = insert_plugin(session, import, now_ms, err);
    for (size_t i = 0; st == MCP_OK && i < plugin->schemas.count; i++)
        st = insert_contract(session, arena, import, &plugin->schemas.items[i], now_ms, err);
    return st;
}

/* A version that was imported before has the same hash, or it is another plugin. */
static mcp_status check_hash(db_session *session, const casparian_plugin *plugin, mcp_error *err)
{
    char hash[CASPARIAN_HASH_SIZE] = "";
    mcp_status st = read_hash(hash, session, plugin->id, plugin->version, false, err);
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st == MCP_OK && strcmp(hash, plugin->artifact_hash) != 0)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "%s@%s was imported with other files: a version never changes; give "
                             "this plugin another version",
                             plugin->id, plugin->version);
    return st;
}

mcp_status casparian_installed_store(casparian_store *store, mcp_arena *arena,
                                     const casparian_import *import, casparian_import_place *place,
                                     void *data, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = check_hash(session, import->plugin, err);
    if (st == MCP_OK)
        st = store_all(session, arena, import, err);
    if (st == MCP_OK)
        st = place(data, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_installed_remove(casparian_store *store, const char *id, const char *version,
                                      mcp_error *err)
{
    const db_value values[] = { db_text(id), db_text(version) };
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = db_run(session, NULL,
                "UPDATE cf_plugin_manifest SET status = 'deactivated' WHERE plugin_name = $1 AND "
                "version = $2",
                values, 2, err);
    return casparian_store_end(session, st, err);
}
