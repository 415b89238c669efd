/*
 * lineage.c - a row's origin, out of the manifest of its job.
 */
#include "sinks/lineage.h"

#include <string.h>

#include "sinks/duckdb.h"

#define MANIFEST_ROOM ((size_t)1 << 30) /* of a manifest's JSON, while it is read */

static const mcp_json *output_of(const mcp_json *manifest, const char *name)
{
    const mcp_json *outputs = mcp_json_get(manifest, "outputs");

    for (size_t i = 0; i < mcp_json_count(outputs); i++) {
        const mcp_json *output = mcp_json_item(outputs, i);
        const char *its = mcp_json_get_string(output, "name");
        if (its && strcmp(its, name) == 0)
            return output;
    }
    return NULL;
}

/* A member's text in the arena, which outlives the manifest. */
static const char *keep(mcp_arena *arena, const mcp_json *object, const char *name)
{
    return mcp_arena_strdup(arena, mcp_json_get_string(object, name));
}

static mcp_status take_paths(casparian_lineage *out, const mcp_json *inputs, const char *hash,
                             mcp_arena *arena, mcp_error *err)
{
    size_t count = mcp_json_count(inputs), found = 0;
    const char **paths = mcp_arena_array(arena, count, sizeof *paths);

    if (!paths)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the origin of a row");
    for (size_t i = 0; i < count; i++) {
        const mcp_json *input = mcp_json_item(inputs, i);
        const char *its = mcp_json_get_string(input, "sha256");
        const char *status = mcp_json_get_string(input, "status");
        if (its && strcmp(its, hash) == 0 && status && strcmp(status, "ok") == 0)
            paths[found++] = keep(arena, input, "path");
    }
    if (found == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "manifest %.60s has no input with the SHA-256 %.64s", out->manifest,
                             hash);
    out->paths = paths;
    out->path_count = found;
    return MCP_OK;
}

static void take_texts(casparian_lineage *out, const mcp_json *manifest, mcp_arena *arena)
{
    const mcp_json *plugin = mcp_json_get(manifest, "plugin");
    const mcp_json *approval = mcp_json_get(manifest, "approval");

    out->created_at = keep(arena, manifest, "created_at");
    out->program = keep(arena, manifest, "program");
    out->plugin = keep(arena, plugin, "id");
    out->version = keep(arena, plugin, "version");
    out->artifact_hash = keep(arena, plugin, "artifact_hash");
    out->signer = keep(arena, plugin, "signer");
    out->approval_id = keep(arena, approval, "approval_id");
    out->decided_by = keep(arena, approval, "decided_by");
    out->decided_at = keep(arena, approval, "decided_at");
    out->snapshot_sha256 = keep(arena, approval, "snapshot_sha256");
    out->is_signed = mcp_json_get_string(manifest, "signature") != NULL;
}

static mcp_status take_manifest(casparian_lineage *out, const casparian_manifest *manifest,
                                const casparian_lineage_row *row, mcp_arena *arena, mcp_error *err)
{
    uint8_t key[KEYS_PUBLIC_SIZE];
    mcp_error why = MCP_ERROR_INIT;

    if (!manifest->json)
        return mcp_error_set(err, MCP_E_PARSE, "manifest %.60s is damaged: %.120s", manifest->file,
                             manifest->damage);
    mcp_status st = casparian_manifest_verify(key, manifest, &why);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "manifest %.60s: %.160s", manifest->file, why.message);
    const mcp_json *output = output_of(manifest->json, row->output);
    if (!output)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "manifest %.60s has no output '%.60s'",
                             manifest->file, row->output);
    out->manifest = mcp_arena_strdup(arena, manifest->file);
    out->manifest_sha256 = mcp_arena_strdup(arena, manifest->sha256);
    out->file = keep(arena, output, "file");
    out->table = keep(arena, output, "table");
    out->row = row->row;
    if (!out->manifest || !out->manifest_sha256)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the origin of a row");
    take_texts(out, manifest->json, arena);
    return take_paths(out, mcp_json_get(manifest->json, "inputs"), row->source_hash, arena, err);
}

/* Look for the row in the output itself. An output that cannot be read says nothing. */
static mcp_status check_row(casparian_lineage *out, int dir_fd, const casparian_lineage_row *row,
                            mcp_arena *arena, mcp_error *err)
{
    const duckdb_rows what = {
        { dir_fd, out->file ? out->file : "" }, out->table, row->job, row->source_hash, row->row
    };
    mcp_error why = MCP_ERROR_INIT;
    duckdb_counts counts = { 0 };

    if (casparian_duckdb_rows(&counts, &what, &why) != MCP_OK) {
        out->unchecked = mcp_arena_strdup(arena, why.message);
        return out->unchecked
                   ? MCP_OK
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for the origin of a row");
    }
    bool is_there = row->row >= 0 ? counts.of_row > 0 : counts.of_source > 0;
    out->check = is_there ? CASPARIAN_ROW_FOUND : CASPARIAN_ROW_ABSENT;
    out->rows = counts.all;
    out->source_rows = counts.of_source;
    out->has_row_ids = counts.has_rows;
    return MCP_OK;
}

mcp_status casparian_lineage_find(casparian_lineage *out, int dir_fd,
                                  const casparian_lineage_row *row, mcp_arena *arena,
                                  mcp_error *err)
{
    casparian_lineage made = { .manifest = NULL };
    casparian_manifest manifest = { .file = NULL };
    mcp_arena *room = mcp_arena_new(MANIFEST_ROOM);
    mcp_status st = room ? casparian_manifest_read(&manifest, dir_fd, row->job, room, err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for a manifest");

    if (st == MCP_OK)
        st = take_manifest(&made, &manifest, row, arena, err);
    mcp_arena_free(room);
    if (st == MCP_OK)
        st = check_row(&made, dir_fd, row, arena, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}
