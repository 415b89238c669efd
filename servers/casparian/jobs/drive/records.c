/*
 * records.c - the rows of the state that a commit makes.
 *
 * They are stored with the intent, before any file gets its name, so a process that finds the
 * intent of another can complete the commit. Outputs count once they are confirmed; a
 * materialization counts by its output.
 */
#include "jobs/drive/records.h"

#include <string.h>

#include "jobs/drive/outputs.h"
#include "jobs/state/definition_json.h"
#include "jobs/state/events.h"
#include "sinks/identity.h"

static const int64_t second_ns = 1000000000;

/* ---- copying --------------------------------------------------------------------------------- */

static mcp_status copy(casparian_record *out, casparian_drive *self, const casparian_written *from,
                       mcp_error *err)
{
    mcp_arena *arena = self->arena;
    *out = (casparian_record){
        .is_quarantine = from->is_quarantine,
        .format = mcp_arena_strdup(arena, from->format),
        .location = mcp_arena_strdup(arena, from->location),
        .table = mcp_arena_strdup(arena, from->table),
        .protocol_hash = mcp_arena_strdup(arena, from->protocol_hash),
        .target_key = mcp_arena_strdup(arena, from->target_key),
        .sink_uri = mcp_arena_strdup(arena, from->sink->text),
        .sink_mode = casparian_sink_mode_text(from->sink->mode),
        .manifest_sha256 = mcp_arena_strdup(arena, from->manifest_sha256),
        .sha256 = from->sha256[0] ? mcp_arena_strdup(arena, from->sha256) : NULL,
        .rows = from->rows,
        .bytes = from->bytes,
    };
    if (!out->format || !out->location || !out->table || !out->protocol_hash || !out->target_key ||
        !out->sink_uri || !out->manifest_sha256)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the outputs of a commit");
    return casparian_outputs_find(&out->output, &self->outputs, from->output, err);
}

mcp_status casparian_records_copy(const casparian_record **out, size_t *count,
                                  casparian_drive *self, const casparian_commit *commit,
                                  mcp_error *err)
{
    size_t written_count = 0;
    const casparian_written *written = casparian_commit_written(commit, &written_count);
    casparian_record *records = mcp_arena_array(self->arena, written_count, sizeof *records);
    mcp_status st = records
                        ? MCP_OK
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for the outputs of a commit");
    for (size_t i = 0; st == MCP_OK && i < written_count; i++)
        st = copy(&records[i], self, &written[i], err);
    if (st == MCP_OK) {
        *out = records;
        *count = written_count;
    }
    return st;
}

/* ---- storing --------------------------------------------------------------------------------- */

static mcp_status store_output(casparian_drive *self, db_session *session,
                               const casparian_record *record, int64_t now_ms, mcp_error *err)
{
    const casparian_definition *schema = record->output->schema;
    mcp_buf canonical;
    mcp_buf_init(&canonical, CASPARIAN_COLUMN_MAX);
    mcp_status st = casparian_definition_canonical(&canonical, schema);
    if (st != MCP_OK)
        st = mcp_error_set(err, st, "the schema of '%s' is too long", schema->output);
    const db_value values[] = {
        db_text(record->output->name),
        db_text(record->is_quarantine ? "quarantine" : "output"),
        db_text(record->sink_uri),
        db_text(record->format),
        db_text(record->location),
        db_int(self->job.id),
        db_text(self->plugin.id),
        db_text(self->plugin.version),
        db_text(self->plugin.artifact_hash),
        db_text_n(canonical.data, canonical.length),
        db_text(schema->hash),
        db_text(record->protocol_hash),
        db_int(record->rows),
        db_int(record->bytes),
        db_text(record->sha256),
        db_text(record->manifest_sha256),
        db_int(now_ms),
    };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "INSERT INTO cf_outputs (output_name, kind, sink_uri, format, location, "
                    "job_id, plugin_name, plugin_version, artifact_hash, schema_json, schema_hash, "
                    "protocol_schema_hash, rows, bytes, sha256, manifest_sha256, created_at, "
                    "is_committed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                    "$14, $15, $16, $17, 0)",
                    values, sizeof values / sizeof values[0], err);
    mcp_buf_clear(&canonical);
    return st;
}

static const casparian_input_rows *rows_of(const casparian_input *input,
                                           const casparian_output *output)
{
    const casparian_input_rows *rows = input->outputs;
    while (rows && rows->output != output)
        rows = rows->next;
    return rows;
}

static mcp_status store_materialization(casparian_drive *self, db_session *session,
                                        const casparian_record *record,
                                        const casparian_input *input, int64_t now_ms,
                                        mcp_error *err)
{
    const casparian_input_rows *rows = rows_of(input, record->output);
    int64_t valid = rows ? rows->valid : 0;
    int64_t invalid = rows ? rows->invalid : 0;
    char key[CASPARIAN_HASH_SIZE];
    const casparian_materialization what = { .file_id = input->file_id,
                                             .mtime_s = input->file.mtime_ns / second_ns,
                                             .size = input->file.size,
                                             .fingerprint = self->plugin.artifact_hash,
                                             .target_key = record->target_key };
    mcp_status st = casparian_materialization_key(key, &what, err);
    const db_value values[] = {
        db_text(key),
        db_text(record->target_key),
        db_int(input->file_id),
        db_int(what.mtime_s),
        db_int(input->file.size),
        db_text(self->plugin.id),
        db_text(self->plugin.version),
        db_text(self->plugin.artifact_hash),
        db_text(record->output->name),
        db_text(record->sink_uri),
        db_text(record->sink_mode),
        db_text(record->table),
        db_text(record->output->schema->hash),
        db_text(input->sha256),
        db_text(invalid > 0 ? "partial_success"
                : valid > 0 ? "success"
                            : "no_data"),
        db_int(valid),
        db_int(self->job.id),
        db_int(now_ms),
    };
    return st == MCP_OK
               ? db_run(session, NULL,
                        "INSERT OR REPLACE INTO cf_output_materializations (materialization_key, "
                        "output_target_key, file_id, file_mtime, file_size, plugin_name, "
                        "parser_version, parser_fingerprint, output_name, sink_uri, sink_mode, "
                        "table_name, schema_hash, source_hash, status, rows, job_id, created_at) "
                        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
                        "$16, $17, $18)",
                        values, sizeof values / sizeof values[0], err)
               : st;
}

static mcp_status store_materializations(casparian_drive *self, db_session *session,
                                         const casparian_record *record, int64_t now_ms,
                                         mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->input_count; i++)
        if (strcmp(self->inputs[i].status, "ok") == 0)
            st = store_materialization(self, session, record, &self->inputs[i], now_ms, err);
    return st;
}

static mcp_status store_results(db_session *session, int64_t job, const casparian_results *results,
                                mcp_error *err)
{
    const db_value values[] = {
        db_int(job),
        casparian_text_value(&results->result),
        casparian_text_value(&results->outputs),
        casparian_text_value(&results->metrics),
        db_int(results->rows),
        db_int(results->bytes_written),
    };
    return db_run(session, NULL,
                  "UPDATE cf_api_jobs SET result_json = $2, result_outputs_json = $3, "
                  "result_metrics_json = $4, result_rows_processed = $5, "
                  "result_bytes_written = $6 WHERE job_id = $1",
                  values, 6, err);
}

mcp_status casparian_records_store(casparian_drive *self, db_session *session,
                                   const casparian_record *records, size_t count,
                                   const casparian_results *results, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        st = store_output(self, session, &records[i], now_ms, err);
        if (st == MCP_OK && !records[i].is_quarantine)
            st = store_materializations(self, session, &records[i], now_ms, err);
    }
    if (st == MCP_OK)
        st = casparian_records_summary(self, session, err);
    return st == MCP_OK ? store_results(session, self->job.id, results, err) : st;
}

/* ---- the end of a commit --------------------------------------------------------------------- */

/* An event of an output that was committed. */
typedef struct committed {
    const char *name, *uri;
    int64_t rows, bytes;
} committed;

static mcp_status add_event(db_session *session, int64_t job, const char *name, const char *uri,
                            int64_t rows, int64_t bytes, mcp_error *err)
{
    casparian_text payload;
    casparian_event_begin(&payload, "output");
    mcp_write_member_string(&payload.out, "output_name", name);
    mcp_write_member_string(&payload.out, "sink_uri", uri);
    mcp_write_member_int(&payload.out, "rows", rows);
    mcp_write_member_int(&payload.out, "bytes", bytes);
    return casparian_event_add(session, job, "output", &payload, err);
}

static mcp_status read_committed(committed *out, size_t *count, db_session *session,
                                 mcp_arena *arena, int64_t job, mcp_error *err)
{
    const db_value value = db_int(job);
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT CASE kind WHEN 'quarantine' THEN output_name || '_quarantine' "
                             "ELSE output_name END, sink_uri, rows, bytes FROM cf_outputs "
                             "WHERE job_id = $1 ORDER BY output_id",
                             &value, 1, err);
    while (*count < CASPARIAN_SINK_OUTPUTS_MAX && casparian_next(rows, &st, err)) {
        committed *output = &out[(*count)++];
        output->name = casparian_row_text(rows, 0, arena, &st);
        output->uri = casparian_row_text(rows, 1, arena, &st);
        output->rows = db_int_at(rows, 2);
        output->bytes = db_int_at(rows, 3);
    }
    db_rows_free(rows);
    return st;
}

mcp_status casparian_records_confirm(db_session *session, int64_t job, mcp_error *err)
{
    const db_value value = db_int(job);
    mcp_arena *arena = mcp_arena_new(4 << 20);
    committed *outputs = arena ? mcp_arena_array(arena, CASPARIAN_SINK_OUTPUTS_MAX, sizeof *outputs)
                               : NULL;
    size_t count = 0;
    mcp_status st = outputs ? read_committed(outputs, &count, session, arena, job, err)
                            : mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE cf_outputs SET is_committed = 1 WHERE job_id = $1",
                    &value, 1, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = add_event(session, job, outputs[i].name, outputs[i].uri, outputs[i].rows,
                       outputs[i].bytes, err);
    mcp_arena_free(arena);
    return st;
}

mcp_status casparian_records_manifests(const char **out, size_t most, db_session *session,
                                       int64_t job, mcp_arena *arena, mcp_error *err)
{
    const db_value value = db_int(job);
    size_t count = 0;
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT manifest_sha256 FROM cf_outputs WHERE job_id = $1 AND "
                             "manifest_sha256 IS NOT NULL GROUP BY manifest_sha256 "
                             "ORDER BY min(output_id)",
                             &value, 1, err);
    while (count < most && casparian_next(rows, &st, err))
        out[count++] = casparian_row_text(rows, 0, arena, &st);
    db_rows_free(rows);
    return st;
}

mcp_status casparian_records_undo(db_session *session, int64_t job, mcp_error *err)
{
    static const char *const statements[] = {
        "DELETE FROM cf_outputs WHERE job_id = $1 AND is_committed = 0",
        "DELETE FROM cf_output_materializations WHERE job_id = $1",
        "DELETE FROM cf_quarantine_summary WHERE job_id = $1",
        "DELETE FROM cf_commit_intents WHERE job_id = $1",
        "UPDATE cf_api_jobs SET result_json = NULL, result_outputs_json = NULL, "
        "result_metrics_json = NULL, result_rows_processed = NULL, result_bytes_written = NULL "
        "WHERE job_id = $1",
    };
    const db_value value = db_int(job);
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < sizeof statements / sizeof statements[0]; i++)
        st = db_run(session, NULL, statements[i], &value, 1, err);
    return st;
}

/* ---- quarantine ------------------------------------------------------------------------------ */

static mcp_status store_summary(casparian_drive *self, db_session *session,
                                const casparian_output *output, int64_t now_ms, mcp_error *err)
{
    casparian_check_counts counts;
    casparian_text contexts;
    casparian_output_count(output, &counts);
    casparian_text_init(&contexts);
    casparian_output_write(output, self->arena, &contexts.out);
    mcp_status st = casparian_text_end(&contexts, err);
    const db_value values[] = {
        db_int(self->job.id),
        db_text(casparian_job_type_text(self->job.type)),
        db_text(self->plugin.id),
        db_text(self->plugin.version),
        db_text(output->name),
        db_int(counts.rows_emitted),
        db_int(counts.rows_quarantined),
        casparian_text_value(&contexts),
        db_int(now_ms),
    };
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "INSERT OR REPLACE INTO cf_quarantine_summary (job_id, job_type, plugin_name, "
                    "plugin_version, output_name, rows_emitted, rows_quarantined, contexts_json, "
                    "created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                    values, sizeof values / sizeof values[0], err);
    casparian_text_free(&contexts);
    return st;
}

mcp_status casparian_records_summary(casparian_drive *self, db_session *session, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    for (const casparian_output *output = self->outputs.first; st == MCP_OK && output;
         output = output->next)
        st = store_summary(self, session, output, now_ms, err);
    return st;
}
