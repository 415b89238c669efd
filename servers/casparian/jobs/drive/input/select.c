/*
 * select.c - which inputs a job takes, and in which order, by what earlier jobs found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/drive/destination/destinations.h"
#include "jobs/drive/input/inputs.h"
#include "sinks/identity.h"

enum { REGISTERED_AT_ONCE = 500 };

static const int64_t second_ns = 1000000000;

/* ---- the order of a backtest ----------------------------------------------------------------- */

/* A file that was tested before. */
typedef struct tested {
    const char *path;
    int64_t failures;    /* in succession */
    int64_t resolved_at; /* 0: it still fails */
} tested;

static int by_path(const void *a, const void *b)
{
    return strcmp(((const tested *)a)->path, ((const tested *)b)->path);
}

static mcp_status read_tested(tested **out, size_t *count, casparian_drive *self,
                              db_session *session, mcp_error *err)
{
    const db_value plugin = db_text(self->plugin.id);
    int64_t total = 0;
    db_rows *rows = NULL;
    mcp_status st = casparian_query_int(&total, 0, session,
                                        "SELECT count(*) FROM cf_high_failure_files "
                                        "WHERE plugin_name = $1",
                                        &plugin, 1, err);
    tested *all = mcp_arena_array(self->arena, (size_t)total, sizeof *all);
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the order of files");
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT path, consecutive_failures, resolved_at FROM cf_high_failure_files "
                      "WHERE plugin_name = $1",
                      &plugin, 1, err);
    while (*count < (size_t)total && casparian_next(rows, &st, err)) {
        all[*count].path = casparian_row_text(rows, 0, self->arena, &st);
        all[*count].failures = db_int_at(rows, 1);
        all[(*count)++].resolved_at = db_int_at(rows, 2);
    }
    db_rows_free(rows);
    if (st == MCP_OK && *count > 1)
        qsort(all, *count, sizeof *all, by_path);
    *out = all;
    return st;
}

/* Lower ranks come first: failing ones by how often, then repaired ones, then all others. */
static int64_t rank_of(const tested *all, size_t count, const char *path)
{
    const tested wanted = { .path = path };
    const tested *found = count ? bsearch(&wanted, all, count, sizeof wanted, by_path) : NULL;
    if (!found)
        return 1;
    return found->resolved_at ? 0 : -found->failures;
}

typedef struct ranked {
    int64_t rank;
    casparian_input input;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *left = a;
    const ranked *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return strcmp(left->input.file.path, right->input.file.path);
}

mcp_status casparian_inputs_order(casparian_drive *self, mcp_error *err)
{
    db_session *session = NULL;
    tested *all = NULL;
    size_t count = 0;
    mcp_status st = db_begin(&session, casparian_store_database(self->store), DB_READ, err);
    if (st == MCP_OK)
        st = read_tested(&all, &count, self, session, err);
    st = casparian_store_end(session, st, err);
    if (st != MCP_OK || count == 0)
        return st;
    ranked *order = mcp_arena_array(self->arena, self->input_count, sizeof *order);
    if (!order)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the order of files");
    for (size_t i = 0; i < self->input_count; i++) {
        order[i].input = self->inputs[i];
        order[i].rank = rank_of(all, count, self->inputs[i].file.path);
        order[i].input.is_high_failure = order[i].rank < 0;
    }
    qsort(order, self->input_count, sizeof *order, by_rank);
    for (size_t i = 0; i < self->input_count; i++)
        self->inputs[i] = order[i].input;
    return MCP_OK;
}

mcp_status casparian_inputs_remember(casparian_drive *self, db_session *session, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    for (size_t i = 0; st == MCP_OK && i < self->input_count; i++) {
        const casparian_input *input = &self->inputs[i];
        const db_value values[] = { db_text(self->plugin.id), db_text(input->file.path),
                                    db_int(now_ms), db_text(input->category) };
        if (strcmp(input->status, "failed") == 0)
            st = db_run(session, NULL,
                        "INSERT INTO cf_high_failure_files (plugin_name, path, "
                        "consecutive_failures, last_error_category, last_tested_at) VALUES ($1, "
                        "$2, 1, $4, $3) ON CONFLICT (plugin_name, path) DO UPDATE SET "
                        "consecutive_failures = CASE WHEN resolved_at IS NULL THEN "
                        "consecutive_failures + 1 ELSE 1 END, last_error_category = $4, "
                        "last_tested_at = $3, resolved_at = NULL",
                        values, 4, err);
        else if (strcmp(input->status, "ok") == 0)
            st = db_run(session, NULL,
                        "UPDATE cf_high_failure_files SET last_tested_at = $3, resolved_at = "
                        "coalesce(resolved_at, $3) WHERE plugin_name = $1 AND path = $2",
                        values, 3, err);
    }
    return st;
}

/* ---- only what failed, or had invalid rows --------------------------------------------------- */

static mcp_status keep(casparian_job_file *files, size_t *count, db_session *session,
                       casparian_only only, const db_value *values, mcp_error *err)
{
    const char *sql = only == CASPARIAN_ONLY_FAILED
                          ? "SELECT 1 FROM cf_api_job_files WHERE job_id = $1 AND path = $2 AND "
                            "status IN ('failed', 'changed')"
                          : "SELECT 1 FROM cf_api_job_files WHERE job_id = $1 AND path = $2 AND "
                            "rows_quarantined > 0";
    size_t kept = 0;
    int64_t newest = 0;
    mcp_status st = casparian_query_int(
        &newest, 0, session,
        "SELECT max(job_id) FROM cf_api_jobs WHERE job_type = 'run' AND plugin_name = $1 AND "
        "output_sink = $2 AND coalesce(json_extract(job_spec_json, '$.sinks'), '') = $3 AND "
        "status IN ('completed', 'failed')",
        values, 3, err);
    for (size_t i = 0; st == MCP_OK && i < *count; i++) {
        const db_value of_file[] = { db_int(newest), db_text(files[i].path) };
        int64_t found = 0;
        st = casparian_query_int(&found, 0, session, sql, of_file, 2, err);
        if (found)
            files[kept++] = files[i];
    }
    *count = kept;
    return st;
}

mcp_status casparian_inputs_keep(casparian_job_file *files, size_t *count, casparian_store *store,
                                 const casparian_spec *spec, const char *plugin,
                                 const char *sink_uri, mcp_error *err)
{
    db_session *session = NULL;
    mcp_json_writer writer;
    mcp_buf routes;
    if (spec->only == CASPARIAN_ONLY_ALL)
        return MCP_OK;
    mcp_buf_init(&routes, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&writer, &routes);
    if (spec->route_count > 0)
        casparian_spec_write_routes(&writer, spec);
    mcp_status st = routes.status == MCP_OK
                        ? db_begin(&session, casparian_store_database(store), DB_READ, err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for the routes of a run");
    const db_value values[] = { db_text(plugin), db_text(sink_uri),
                                db_text_n(routes.data ? routes.data : "", routes.length) };
    if (st == MCP_OK)
        st = keep(files, count, session, spec->only, values, err);
    mcp_buf_clear(&routes);
    return casparian_store_end(session, st, err);
}

/* ---- what a run has done already ------------------------------------------------------------- */

static mcp_status register_file(casparian_input *input, db_session *session, int64_t now_ms,
                                mcp_error *err)
{
    const char *path = input->file.path;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash, '.');
    const db_value values[] = {
        db_text(path),
        db_text(input->relative),
        db_text_n(path, (size_t)(slash - path)),
        db_text(slash + 1),
        db_text(dot ? dot + 1 : NULL),
        db_int(input->file.size),
        db_int(input->file.mtime_ns / second_ns),
        db_int(now_ms),
    };
    return casparian_query_int(
        &input->file_id, 0, session,
        "INSERT INTO scout_files (path, rel_path, parent_path, name, extension, size, mtime, "
        "first_seen_at, last_seen_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) "
        "ON CONFLICT (path) DO UPDATE SET size = $6, mtime = $7, last_seen_at = $8 RETURNING id",
        values, sizeof values / sizeof values[0], err);
}

static mcp_status register_some(casparian_drive *self, size_t from, mcp_error *err)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    mcp_status st = db_begin(&session, casparian_store_database(self->store), DB_WRITE, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    for (size_t i = from; st == MCP_OK && i < self->input_count && i < from + REGISTERED_AT_ONCE;
         i++)
        st = register_file(&self->inputs[i], session, now_ms, err);
    return casparian_store_end(session, st, err);
}

/* The outputs of the last run of this artifact into this sink, with the keys that they have now. */
typedef struct wanted {
    const char *output;
    char key[CASPARIAN_HASH_SIZE];
} wanted;

/* An output without a route has no key: it is not done, and the run says why it cannot be. */
static mcp_status target_key(wanted *out, const casparian_drive *self, mcp_error *err)
{
    casparian_destination *sink = NULL;
    char protocol[CASPARIAN_HASH_SIZE];
    char table[CASPARIAN_FILE_NAME_SIZE];
    const casparian_definition *schema = NULL;
    out->key[0] = '\0';
    if (casparian_destination_find(&sink, self, out->output, NULL) != MCP_OK)
        return MCP_OK;
    const casparian_sink_uri *uri = &sink->uri;
    for (size_t i = 0; i < self->outputs.schema_count; i++)
        if (strcmp(self->outputs.schemas[i].schema->output, out->output) == 0)
            schema = self->outputs.schemas[i].schema;
    mcp_status st = schema ? casparian_definition_protocol_hash(protocol, schema, err) : MCP_OK;
    const char *hash = schema ? protocol : NULL;
    if (st == MCP_OK)
        st = casparian_output_table_name(table, uri->table ? uri->table : out->output, hash, err);
    const casparian_target target = { .output = out->output,
                                      .uri = uri->text,
                                      .mode = casparian_sink_mode_text(uri->mode),
                                      .table = table,
                                      .protocol_hash = hash };
    return st == MCP_OK ? casparian_target_key(out->key, &target, err) : st;
}

/* The last run of this artifact into any of these sinks; 0: there was none. */
static mcp_status find_last(int64_t *out, const casparian_drive *self, db_session *session,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;
    *out = 0;
    for (size_t i = 0; st == MCP_OK && i < self->destination_count; i++) {
        const db_value values[] = { db_text(self->plugin.artifact_hash),
                                    db_text(self->destinations[i].uri.text) };
        int64_t job = 0;
        st = casparian_query_int(&job, 0, session,
                                 "SELECT max(job_id) FROM cf_output_materializations WHERE "
                                 "parser_fingerprint = $1 AND sink_uri = $2",
                                 values, 2, err);
        *out = job > *out ? job : *out;
    }
    return st;
}

static mcp_status read_wanted(wanted **out, size_t *count, casparian_drive *self,
                              db_session *session, mcp_error *err)
{
    int64_t last = 0;
    wanted *all = mcp_arena_array(self->arena, CASPARIAN_OUTPUTS_MAX, sizeof *all);
    db_rows *rows = NULL;
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the outputs");
    mcp_status st = find_last(&last, self, session, err);
    const db_value value = db_int(last);
    if (st == MCP_OK)
        st = db_query(
            &rows, session,
            "SELECT DISTINCT output_name FROM cf_output_materializations WHERE job_id = $1", &value,
            1, err);
    while (*count < CASPARIAN_OUTPUTS_MAX && casparian_next(rows, &st, err)) {
        wanted *output = &all[*count];
        output->output = casparian_row_text(rows, 0, self->arena, &st);
        if (st == MCP_OK)
            st = target_key(output, self, err);
        ++*count;
    }
    db_rows_free(rows);
    *out = all;
    return st;
}

/* Whether the file or the database of an output is still there. */
static bool is_there(const char *location)
{
    char path[4200];
    const char *end = location ? strchr(location, '#') : NULL;
    if (!location)
        return false;
    int length = snprintf(path, sizeof path, "%.*s",
                          (int)(end ? (size_t)(end - location) : strlen(location)), location);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

static mcp_status is_done(bool *out, casparian_drive *self, const casparian_input *input,
                          const wanted *output, db_session *session, mcp_error *err)
{
    char key[CASPARIAN_HASH_SIZE];
    const casparian_materialization what = { .file_id = input->file_id,
                                             .mtime_s = input->file.mtime_ns / second_ns,
                                             .size = input->file.size,
                                             .fingerprint = self->plugin.artifact_hash,
                                             .target_key = output->key };
    db_rows *rows = NULL;
    mcp_status st = casparian_materialization_key(key, &what, err);
    const db_value value = db_text(key);
    *out = false;
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT o.location FROM cf_output_materializations m JOIN cf_outputs o ON "
                      "o.job_id = m.job_id AND o.output_name = m.output_name AND o.kind = 'output' "
                      "AND o.is_committed = 1 AND o.deleted_at IS NULL "
                      "WHERE m.materialization_key = $1",
                      &value, 1, err);
    while (!*out && casparian_next(rows, &st, err))
        *out = is_there(db_text_at(rows, 0, NULL));
    db_rows_free(rows);
    return st;
}

static mcp_status skip_done(casparian_drive *self, db_session *session, mcp_error *err)
{
    wanted *outputs = NULL;
    size_t count = 0;
    mcp_status st = read_wanted(&outputs, &count, self, session, err);
    for (size_t i = 0; st == MCP_OK && count > 0 && i < self->input_count; i++) {
        casparian_input *input = &self->inputs[i];
        bool done = true;
        for (size_t k = 0; st == MCP_OK && done && k < count; k++)
            st = is_done(&done, self, input, &outputs[k], session, err);
        if (st == MCP_OK && done) {
            input->status = "skipped";
            self->skipped++;
        }
    }
    return st;
}

mcp_status casparian_inputs_skip(casparian_drive *self, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = MCP_OK;
    for (size_t from = 0; st == MCP_OK && from < self->input_count; from += REGISTERED_AT_ONCE)
        st = register_some(self, from, err);
    if (st != MCP_OK || self->spec.force)
        return st;
    st = db_begin(&session, casparian_store_database(self->store), DB_READ, err);
    if (st == MCP_OK)
        st = skip_done(self, session, err);
    return casparian_store_end(session, st, err);
}

/* A file that no job and no scan has seen is not registered by a look. */
static mcp_status find_file(casparian_input *input, db_session *session, mcp_error *err)
{
    const db_value path = db_text(input->file.path);
    return casparian_query_int(&input->file_id, 0, session,
                               "SELECT id FROM scout_files WHERE path = $1", &path, 1, err);
}

mcp_status casparian_inputs_foresee(casparian_drive *self, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(self->store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; st == MCP_OK && i < self->input_count; i++)
        st = find_file(&self->inputs[i], session, err);
    if (st == MCP_OK && !self->spec.force)
        st = skip_done(self, session, err);
    return casparian_store_end(session, st, err);
}
