/*
 * catalog.c - the committed outputs of a home.
 *
 * What is superseded is found by one query: for each output, file and job, whether a newer job has
 * committed the same file into the same output. A job's hash is superseded when that holds for each
 * of its files that have the hash.
 */
#include "jobs/catalog.h"

#include <stdio.h>
#include <string.h>

#include "jobs/state/rows.h"
#include "sinks/uri.h"

#define COUNTS "is_committed = 1 AND deleted_at IS NULL"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the catalog");
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status read_definition(casparian_catalog_file *out, const db_rows *rows, int column,
                                  mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    const mcp_json *json = casparian_row_json(rows, column, arena, &st, err);
    casparian_definition *definition = mcp_arena_alloc(arena, sizeof *definition);
    if (st != MCP_OK)
        return st;
    if (!definition)
        return no_memory(err);
    out->definition = definition;
    return casparian_definition_read(definition, arena, json, NULL, NULL, err);
}

/* "<database>#<table>" */
static mcp_status split_location(casparian_catalog_file *out, mcp_arena *arena, mcp_error *err)
{
    const char *hash = strrchr(out->location, '#');
    if (strcmp(out->format, "duckdb") != 0 || !hash)
        return MCP_OK;
    out->table = hash + 1;
    out->location = mcp_arena_strndup(arena, out->location, (size_t)(hash - out->location));
    return out->location ? MCP_OK : no_memory(err);
}

static mcp_status read_csv(casparian_catalog_file *out, const db_rows *rows, mcp_arena *arena,
                           mcp_error *err)
{
    casparian_sink_uri uri;
    const char *text = db_text_at(rows, 4, NULL);
    mcp_status st = casparian_sink_uri_read(&uri, arena, text ? text : "", "/", err);
    if (st != MCP_OK)
        return st;
    out->csv_delimiter = uri.delimiter;
    out->csv_headerless = !uri.has_header;
    return read_definition(out, rows, 5, arena, err);
}

static mcp_status read_file(casparian_catalog_file *out, const db_rows *rows, mcp_arena *arena,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;
    const char *kind = db_text_at(rows, 1, NULL);
    *out = (casparian_catalog_file){ .output = casparian_row_text(rows, 0, arena, &st),
                                     .is_quarantine = kind && strcmp(kind, "quarantine") == 0,
                                     .format = casparian_row_text(rows, 2, arena, &st),
                                     .location = casparian_row_text(rows, 3, arena, &st),
                                     .schema_hash = casparian_row_text(rows, 6, arena, &st),
                                     .job_id = db_int_at(rows, 7),
                                     .created_ms = db_int_at(rows, 8),
                                     .rows = db_int_at(rows, 9) };
    if (st != MCP_OK)
        return no_memory(err);
    st = split_location(out, arena, err);
    return st == MCP_OK && strcmp(out->format, "csv") == 0 ? read_csv(out, rows, arena, err) : st;
}

static mcp_status read_files(casparian_catalog_file **out, size_t *count, db_session *session,
                             mcp_arena *arena, mcp_error *err)
{
    int64_t total = 0;
    db_rows *rows = NULL;
    mcp_status st = casparian_query_int(
        &total, 0, session, "SELECT count(*) FROM cf_outputs WHERE " COUNTS, NULL, 0, err);
    if (st == MCP_OK && total > CASPARIAN_CATALOG_FILES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the catalog has more than %d files",
                             CASPARIAN_CATALOG_FILES_MAX);
    casparian_catalog_file *files = mcp_arena_array(arena, (size_t)total, sizeof *files);
    if (!files)
        return no_memory(err);
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT output_name, kind, format, location, sink_uri, schema_json, "
                      "schema_hash, job_id, created_at, rows FROM cf_outputs WHERE " COUNTS
                      " ORDER BY output_name, job_id, output_id",
                      NULL, 0, err);
    while (*count < (size_t)total && casparian_next(rows, &st, err)) {
        st = read_file(&files[*count], rows, arena, err);
        ++*count;
    }
    db_rows_free(rows);
    *out = files;
    return st;
}

/* ---- what is superseded ---------------------------------------------------------------------- */

/* A hash of a job's output. */
typedef struct hash_row {
    const char *output, *hash;
    int64_t job;
    bool is_superseded;
} hash_row;

static mcp_status read_hashes(hash_row **out, size_t *count, db_session *session, mcp_arena *arena,
                              mcp_error *err)
{
    static const char sql[] =
        "WITH newest AS (SELECT m.output_name, m.file_id, max(m.job_id) AS job_id FROM "
        "cf_output_materializations m JOIN cf_outputs o ON o.job_id = m.job_id AND o.output_name = "
        "m.output_name AND o.kind = 'output' AND o." COUNTS " GROUP BY m.output_name, m.file_id) "
        "SELECT m.output_name, m.job_id, m.source_hash, min(m.job_id < n.job_id) FROM "
        "cf_output_materializations m JOIN newest n ON n.output_name = m.output_name AND n.file_id "
        "= m.file_id GROUP BY m.output_name, m.job_id, m.source_hash "
        "ORDER BY m.output_name, m.job_id";
    db_rows *rows = NULL;
    int64_t total = 0;
    mcp_status st = casparian_query_int(
        &total, 0, session, "SELECT count(*) FROM cf_output_materializations", NULL, 0, err);
    hash_row *hashes = mcp_arena_array(arena, (size_t)total, sizeof *hashes);
    if (!hashes)
        return no_memory(err);
    if (st == MCP_OK)
        st = db_query(&rows, session, sql, NULL, 0, err);
    while (*count < (size_t)total && casparian_next(rows, &st, err)) {
        hash_row *hash = &hashes[(*count)++];
        hash->output = casparian_row_text(rows, 0, arena, &st);
        hash->job = db_int_at(rows, 1);
        hash->hash = casparian_row_text(rows, 2, arena, &st);
        hash->is_superseded = db_int_at(rows, 3) != 0;
    }
    db_rows_free(rows);
    *out = hashes;
    return st;
}

static bool is_before(const hash_row *hash, const casparian_catalog_file *file)
{
    int order = strcmp(hash->output, file->output);
    return order < 0 || (order == 0 && hash->job < file->job_id);
}

static bool is_of(const hash_row *hash, const casparian_catalog_file *file)
{
    return hash->job == file->job_id && strcmp(hash->output, file->output) == 0;
}

/* `from` is the first hash of the file's job. */
static mcp_status mark(casparian_catalog_file *file, const hash_row *from, size_t count,
                       mcp_arena *arena, mcp_error *err)
{
    size_t superseded = 0;
    for (size_t i = 0; i < count; i++)
        superseded += from[i].is_superseded;
    file->is_superseded = count > 0 && superseded == count;
    if (superseded == 0 || file->is_superseded)
        return MCP_OK;
    const char **hashes = mcp_arena_array(arena, superseded, sizeof *hashes);
    if (!hashes)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (from[i].is_superseded)
            hashes[file->superseded_count++] = from[i].hash;
    file->superseded_hashes = hashes;
    return MCP_OK;
}

/* Both lists are in the order of output and job. */
static mcp_status mark_all(casparian_catalog_file *files, size_t file_count, const hash_row *hashes,
                           size_t hash_count, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    size_t at = 0;
    for (size_t i = 0; st == MCP_OK && i < file_count; i++) {
        while (at < hash_count && is_before(&hashes[at], &files[i]))
            at++;
        size_t end = at;
        while (end < hash_count && is_of(&hashes[end], &files[i]))
            end++;
        st = mark(&files[i], &hashes[at], end - at, arena, err);
    }
    return st;
}

/* ---- the catalog ----------------------------------------------------------------------------- */

/* Outputs are only added, confirmed and marked as gone, so these three numbers never repeat. */
static mcp_status read_version(int64_t *out, db_session *session, mcp_error *err)
{
    return casparian_query_int(out, 0, session,
                               "SELECT coalesce(max(output_id), 0) * 1000003 + count(*) * 1009 + "
                               "coalesce(sum(is_committed), 0) * 31 + count(deleted_at) "
                               "FROM cf_outputs",
                               NULL, 0, err);
}

static mcp_status read_catalog(casparian_catalog *out, db_session *session, mcp_arena *arena,
                               mcp_error *err)
{
    casparian_catalog_file *files = NULL;
    hash_row *hashes = NULL;
    size_t hash_count = 0;
    casparian_catalog catalog = { .count = 0 };
    mcp_status st = read_version(&catalog.version, session, err);
    if (st == MCP_OK)
        st = read_files(&files, &catalog.count, session, arena, err);
    if (st == MCP_OK)
        st = read_hashes(&hashes, &hash_count, session, arena, err);
    if (st == MCP_OK)
        st = mark_all(files, catalog.count, hashes, hash_count, arena, err);
    catalog.files = files;
    if (st == MCP_OK)
        *out = catalog;
    return st;
}

mcp_status casparian_catalog_read(casparian_catalog *out, casparian_store *store, mcp_arena *arena,
                                  mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = read_catalog(out, session, arena, err);
    return casparian_store_end(session, st, err);
}

/* A location is a file, or DATABASE#TABLE. */
static mcp_status read_below(const char *const **out, size_t *count, db_session *session,
                             mcp_arena *arena, const char *folder, mcp_error *err)
{
    const char *above = strcmp(folder, "/") == 0 ? "" : folder;
    const db_value values[] = { db_text(mcp_arena_printf(arena, "%s/", above)),
                                db_text(mcp_arena_printf(arena, "%s0", above)) }; /* '/' + 1 */
    int64_t total = 0;
    db_rows *rows = NULL;
    mcp_status st = casparian_query_int(&total, 0, session,
                                        "SELECT count(*) FROM cf_outputs WHERE " COUNTS
                                        " AND location >= $1 AND location < $2",
                                        values, 2, err);
    const char **files = mcp_arena_array(arena, (size_t)total + 1, sizeof *files);
    if (st == MCP_OK && !files)
        return no_memory(err);
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT DISTINCT CASE WHEN format = 'duckdb' AND instr(location, '#') > 0 "
                      "THEN substr(location, 1, instr(location, '#') - 1) ELSE location END AS "
                      "file FROM cf_outputs WHERE " COUNTS
                      " AND location >= $1 AND location < $2 ORDER BY file",
                      values, 2, err);
    while (*count < (size_t)total && casparian_next(rows, &st, err))
        files[(*count)++] = casparian_row_text(rows, 0, arena, &st);
    db_rows_free(rows);
    *out = files;
    return st;
}

mcp_status casparian_catalog_below(const char *const **out, size_t *count, casparian_store *store,
                                   mcp_arena *arena, const char *folder, mcp_error *err)
{
    db_session *session = NULL;
    *out = NULL;
    *count = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_below(out, count, session, arena, folder, err), err);
}

static mcp_status read_folder(const char **out, db_session *session, mcp_arena *arena,
                              const char *output, int64_t job, mcp_error *err)
{
    const db_value values[] = { db_int(job), db_text(output) };
    casparian_catalog_file file = { 0 };
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT format, location FROM cf_outputs WHERE job_id = $1 AND " COUNTS
                             " AND output_name || CASE kind WHEN 'quarantine' THEN '_quarantine' "
                             "ELSE '' END = $2 LIMIT 1",
                             values, 2, err);
    if (casparian_next(rows, &st, err)) {
        file.format = casparian_row_text(rows, 0, arena, &st);
        file.location = casparian_row_text(rows, 1, arena, &st);
    }
    db_rows_free(rows);
    if (st == MCP_OK && file.location)
        st = split_location(&file, arena, err);
    const char *slash = st == MCP_OK && file.location ? strrchr(file.location, '/') : NULL;
    if (!slash)
        return st;
    *out = mcp_arena_strndup(arena, file.location,
                             slash > file.location ? (size_t)(slash - file.location) : 1);
    return *out ? MCP_OK : no_memory(err);
}

mcp_status casparian_catalog_folder(const char **out, casparian_store *store, mcp_arena *arena,
                                    const char *output, int64_t job, mcp_error *err)
{
    db_session *session = NULL;
    *out = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_folder(out, session, arena, output, job, err), err);
}

mcp_status casparian_catalog_version(int64_t *out, casparian_store *store, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = read_version(out, session, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_catalog_forget(casparian_store *store, const char *location, mcp_error *err)
{
    const db_value value = db_text(location);
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE cf_outputs SET deleted_at = unixepoch() * 1000 WHERE location = $1 AND "
                    "deleted_at IS NULL",
                    &value, 1, err);
    return casparian_store_end(session, st, err);
}
