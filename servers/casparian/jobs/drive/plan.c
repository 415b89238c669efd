/*
 * plan.c - what a job works with.
 */
#include "jobs/drive/plan.h"

#include <limits.h>
#include <string.h>

#include "guard/canonical.h"
#include "guard/named.h"
#include "jobs/ephemeral.h"
#include "keys/canonical.h"

/* The path was checked when it was named; it must still be beneath a root, without a link. */
static bool is_allowed(const casparian_driver *driver, const char *plugin_path)
{
    char place[PATH_MAX];
    return guard_canonical(place, plugin_path) && strcmp(place, plugin_path) == 0 &&
           guard_allows(driver->roots, place);
}

mcp_status casparian_plan_plugin(casparian_plugin *out, casparian_plugin_problem *problem,
                                 casparian_driver *driver, mcp_arena *arena,
                                 const casparian_plugin_ref *ref, const char *plugin_path,
                                 mcp_error *err)
{
    *problem = (casparian_plugin_problem){ 0 };
    if (plugin_path && !is_allowed(driver, plugin_path)) {
        problem->code = "plugin_not_trusted";
        return mcp_error_set(err, MCP_E_DENIED,
                             "the plugin '%.120s' is not within the allowed directories",
                             plugin_path);
    }
    mcp_status st = casparian_registry_resolve(out, problem, arena, driver->options.registry, ref,
                                               plugin_path, err);
    return st == MCP_OK
               ? casparian_registry_verify(problem, arena, driver->options.registry, out, err)
               : st;
}

/* ---- contracts ------------------------------------------------------------------------------- */

static mcp_status scope_of(char out[KEYS_HEX_SIZE], mcp_arena *arena,
                           const casparian_plugin *plugin, const char *output, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    const char *text = mcp_arena_printf(arena, "%s:%s:%s", plugin->id, plugin->version, output);
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a contract");
    mcp_status st = mcp_sha256(digest, text, strlen(text), err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    return st;
}

/* What the newest contract of an output has: its row's two JSON texts. */
static mcp_status read_contract(const mcp_json **schemas, const mcp_json **quarantine,
                                db_session *session, mcp_arena *arena, const char *scope,
                                mcp_error *err)
{
    const db_value value = db_text(scope);
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT schemas_json, quarantine_json FROM schema_contracts WHERE "
                             "scope_id = $1 ORDER BY version DESC LIMIT 1",
                             &value, 1, err);
    *schemas = NULL;
    *quarantine = NULL;
    if (casparian_next(rows, &st, err)) {
        *schemas = casparian_row_json(rows, 0, arena, &st, err);
        *quarantine = casparian_row_json(rows, 1, arena, &st, err);
    }
    db_rows_free(rows);
    return st;
}

static mcp_status find_contract(const casparian_definition **out, casparian_quarantine *policy,
                                db_session *session, mcp_arena *arena,
                                const casparian_plugin *plugin, const char *output, mcp_error *err)
{
    char scope[KEYS_HEX_SIZE];
    const mcp_json *json = NULL;
    const mcp_json *quarantine = NULL;
    casparian_schemas schemas;
    mcp_status st = scope_of(scope, arena, plugin, output, err);
    if (st == MCP_OK)
        st = read_contract(&json, &quarantine, session, arena, scope, err);
    *out = NULL;
    if (st != MCP_OK || !json)
        return st;
    st = casparian_schemas_read(&schemas, arena, json, NULL, NULL, err);
    if (st == MCP_OK)
        *out = casparian_schemas_find(&schemas, output);
    return st == MCP_OK && quarantine ? casparian_quarantine_read(policy, quarantine, err) : st;
}

/* ---- the schemas ----------------------------------------------------------------------------- */

/* Schemas of the job in the order of their precedence. */
typedef struct sources {
    const casparian_schemas *request, *ephemeral, *declared;
} sources;

static mcp_status find_schema(casparian_effective *out, casparian_plan *plan, db_session *session,
                              mcp_arena *arena, const casparian_plugin *plugin, const sources *from,
                              const char *output, mcp_error *err)
{
    out->source = CASPARIAN_SCHEMA_REQUEST;
    out->schema = from->request ? casparian_schemas_find(from->request, output) : NULL;
    if (out->schema)
        return MCP_OK;
    out->source = CASPARIAN_SCHEMA_EPHEMERAL;
    out->schema = from->ephemeral ? casparian_schemas_find(from->ephemeral, output) : NULL;
    if (out->schema)
        return MCP_OK;
    out->source = CASPARIAN_SCHEMA_CONTRACT;
    mcp_status st = find_contract(&out->schema, &plan->contract, session, arena, plugin, output,
                                  err);
    if (st != MCP_OK || out->schema)
        return st;
    out->source = CASPARIAN_SCHEMA_DECLARED;
    out->schema = casparian_schemas_find(from->declared, output);
    return MCP_OK;
}

static bool has(const casparian_effective *items, size_t count, const char *output)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].schema->output, output) == 0)
            return true;
    return false;
}

static mcp_status find_all(casparian_plan *plan, casparian_effective *items, db_session *session,
                           mcp_arena *arena, const casparian_plugin *plugin, const sources *from,
                           const char *const *names, size_t name_count, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < name_count; i++) {
        casparian_effective *item = &items[plan->schema_count];
        if (has(items, plan->schema_count, names[i]))
            continue;
        st = find_schema(item, plan, session, arena, plugin, from, names[i], err);
        plan->schema_count += st == MCP_OK && item->schema;
    }
    return st;
}

/* All outputs that anybody has named. */
static const char **list_names(size_t *count, mcp_arena *arena, const casparian_plugin *plugin,
                               const sources *from)
{
    const casparian_schemas *all[] = { from->declared, from->request, from->ephemeral };
    size_t room = plugin->output_count;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        room += all[i] ? all[i]->count : 0;
    const char **names = mcp_arena_array(arena, room, sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < plugin->output_count; i++)
        names[(*count)++] = plugin->outputs[i];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t k = 0; all[i] && k < all[i]->count; k++)
            names[(*count)++] = all[i]->items[k].output;
    return names;
}

mcp_status casparian_plan_schemas(casparian_plan *out, casparian_store *store, mcp_arena *arena,
                                  const casparian_plugin *plugin, const casparian_spec *spec,
                                  mcp_error *err)
{
    casparian_ephemeral ephemeral;
    sources from = { .request = spec->schemas, .declared = &plugin->schemas };
    casparian_plan plan = { .schema_count = 0 };
    db_session *session = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;
    if (spec->ephemeral_id) {
        st = casparian_ephemeral_load(&ephemeral, store, arena, spec->ephemeral_id, err);
        from.ephemeral = &ephemeral.schemas;
    }
    if (st != MCP_OK)
        return st;
    const char **names = list_names(&count, arena, plugin, &from);
    casparian_effective *items = mcp_arena_array(arena, count, sizeof *items);
    if (!names || !items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the schemas of a job");
    plan.schemas = items;
    st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = find_all(&plan, items, session, arena, plugin, &from, names, count, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        *out = plan;
    return st;
}

/* ---- what an approval has bound -------------------------------------------------------------- */

static casparian_schema_source source_of(const char *text)
{
    int source = CASPARIAN_SCHEMA_INFERRED;
    while (source > CASPARIAN_SCHEMA_REQUEST &&
           (!text || strcmp(text, casparian_schema_source_text((casparian_schema_source)source))))
        source--;
    return (casparian_schema_source)source;
}

mcp_status casparian_plan_bound(casparian_plan *out, mcp_arena *arena, const mcp_json *snapshot,
                                mcp_error *err)
{
    const mcp_json *schemas = mcp_json_get(snapshot, "schemas");
    size_t count = mcp_json_count(schemas);
    mcp_status st = MCP_OK;
    casparian_effective *items = mcp_arena_array(arena, count, sizeof *items);
    casparian_definition *definitions = mcp_arena_array(arena, count, sizeof *definitions);
    if (!items || !definitions)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the schemas of a job");
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        const mcp_json *item = mcp_json_item(schemas, i);
        st = casparian_definition_read(&definitions[i], arena, mcp_json_get(item, "schema"), NULL,
                                       NULL, err);
        items[i] = (casparian_effective){
            .schema = &definitions[i], .source = source_of(mcp_json_get_string(item, "source"))
        };
    }
    if (st == MCP_OK)
        *out = (casparian_plan){ .schemas = items, .schema_count = count };
    return st;
}
