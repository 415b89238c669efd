/*
 * outputs.c - the rows that a plugin emits.
 */
#include "jobs/drive/outputs.h"

#include <string.h>

#include "jobs/drive/destination/destinations.h"
#include "jobs/drive/textify.h"

void casparian_outputs_free(casparian_outputs *self)
{
    for (casparian_output *output = self->first; output; output = output->next) {
        casparian_check_free(output->check);
        casparian_infer_free(output->infer);
        mcp_arena_free(output->errors.store.arena);
        mcp_arena_free(output->file_errors.store.arena);
    }
    self->first = NULL;
}

/* Begin again without a row. */
static mcp_status clear_said(casparian_said *said, const casparian_redaction *redaction,
                             mcp_error *err)
{
    if (said->store.arena && said->store.bytes == 0 && said->tally.count == 0)
        return MCP_OK;
    mcp_arena_free(said->store.arena);
    *said = (casparian_said){ .store = { .arena = mcp_arena_new(0), .redaction = redaction } };
    return said->store.arena ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
}

/* What the output needs while its rows have no schema. */
static mcp_status use_no_schema(const casparian_outputs *self, casparian_output *output,
                                mcp_error *err)
{
    mcp_status st = casparian_infer_new(&output->infer, err);
    if (st == MCP_OK)
        st = clear_said(&output->errors, self->redaction, err);
    return st == MCP_OK ? clear_said(&output->file_errors, self->redaction, err) : st;
}

static const casparian_effective *effective_of(const casparian_outputs *self, const char *name)
{
    for (size_t i = 0; i < self->schema_count; i++)
        if (strcmp(self->schemas[i].schema->output, name) == 0)
            return &self->schemas[i];
    return NULL;
}

/* A sink has the tables of an output. */
static mcp_status add_tables(casparian_outputs *self, casparian_output *output, mcp_error *err)
{
    unsigned flags = output->source == CASPARIAN_SCHEMA_INFERRED ? CASPARIAN_SINK_INFERRED : 0;
    size_t place = 0;
    mcp_status st = casparian_destination_place(&place, self->drive, output->name, false, err);
    if (st == MCP_OK)
        st = casparian_sink_add(&output->sink, self->sink, place, output->schema, flags, err);
    if (st == MCP_OK)
        st = casparian_destination_place(&place, self->drive, output->name, true, err);
    if (st == MCP_OK)
        st = casparian_sink_add(&output->quarantine, self->sink, place, output->schema,
                                flags | CASPARIAN_SINK_QUARANTINE, err);
    self->has_sink_failed = st != MCP_OK;
    return st;
}

mcp_status casparian_outputs_add_tables(casparian_outputs *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (casparian_output *output = self->first; st == MCP_OK && output; output = output->next)
        if (output->check)
            st = add_tables(self, output, err);
    return st;
}

/* From now on the output is held against a schema, and a sink has a table for it. */
static mcp_status use_schema(casparian_outputs *self, casparian_output *output,
                             const casparian_definition *schema, casparian_schema_source source,
                             mcp_error *err)
{
    const casparian_check_options how = { .output = output->name,
                                          .definition = schema,
                                          .redaction = self->redaction,
                                          .is_inferred = source == CASPARIAN_SCHEMA_INFERRED };
    mcp_status st = casparian_check_new(&output->check, &how, err);
    output->schema = schema;
    output->source = source;
    if (st == MCP_OK && self->path)
        st = casparian_check_begin(output->check, self->path, err);
    return st == MCP_OK && self->sink ? add_tables(self, output, err) : st;
}

static mcp_status add(casparian_output **out, casparian_outputs *self, const char *name,
                      mcp_error *err)
{
    casparian_output **end = &self->first;
    const casparian_effective *effective = effective_of(self, name);
    if (self->count == CASPARIAN_OUTPUTS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the plugin has more than %d outputs",
                             CASPARIAN_OUTPUTS_MAX);
    casparian_output *output = mcp_arena_alloc(self->arena, sizeof *output);
    if (!output)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
    output->name = mcp_arena_strdup(self->arena, name);
    output->source = CASPARIAN_SCHEMA_INFERRED;
    mcp_status st = output->name ? MCP_OK
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
    if (st == MCP_OK)
        st = effective ? use_schema(self, output, effective->schema, effective->source, err)
                       : use_no_schema(self, output, err);
    while (*end) /* linked also after a failure, so that it is freed */
        end = &(*end)->next;
    *end = output;
    self->count++;
    *out = output;
    return st;
}

mcp_status casparian_outputs_find(casparian_output **out, casparian_outputs *self, const char *name,
                                  mcp_error *err)
{
    for (casparian_output *output = self->first; output; output = output->next)
        if (strcmp(output->name, name) == 0) {
            *out = output;
            return MCP_OK;
        }
    return add(out, self, name, err);
}

mcp_status casparian_outputs_begin(casparian_outputs *self, const char *path, mcp_error *err)
{
    mcp_status st = MCP_OK;
    self->path = path;
    for (casparian_output *output = self->first; st == MCP_OK && output; output = output->next) {
        output->file_rows = 0;
        casparian_output_count(output, &output->before);
        st = output->check ? casparian_check_begin(output->check, path, err)
                           : clear_said(&output->file_errors, self->redaction, err);
    }
    return st;
}

mcp_status casparian_outputs_named(void *data, const char *name, mcp_error *err)
{
    casparian_outputs *self = data;
    casparian_output *output = NULL;
    mcp_status st = casparian_outputs_find(&output, self, name, err);
    if (st == MCP_OK)
        output->has_emitted = true;
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_errors(casparian_said *said, const casparian_batch *batch)
{
    const casparian_vector *errors = casparian_batch_find(batch, CASPARIAN_ROW_ERROR);
    casparian_cell cell;
    for (size_t row = 0; errors && row < batch->rows; row++)
        if (casparian_row_error(&cell, errors, row))
            casparian_tally_add(&said->tally, &said->store, &cell, false, "", (int64_t)row);
}

static mcp_status append(casparian_outputs *self, casparian_output *output,
                         const casparian_checked *checked, mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (!self->sink_file)
        return MCP_OK;
    if (checked->valid.rows > 0)
        st = casparian_sink_append(self->sink_file, output->sink, &checked->valid, err);
    if (st == MCP_OK && checked->invalid.rows > 0)
        st = casparian_sink_append(self->sink_file, output->quarantine, &checked->invalid, err);
    self->has_sink_failed = st != MCP_OK;
    return st;
}

static mcp_status check(casparian_outputs *self, casparian_output *output,
                        const casparian_batch *batch, mcp_error *err)
{
    casparian_checked checked;
    mcp_arena *arena = mcp_arena_new(CASPARIAN_BATCH_ARENA_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for rows");
    casparian_batch texts = *batch;
    mcp_status st = MCP_OK;
    if (output->source == CASPARIAN_SCHEMA_INFERRED)
        st = casparian_textify(&texts, batch, output->schema, arena, err);
    if (st == MCP_OK)
        st = casparian_check_batch(output->check, &checked, &texts, arena, err);
    if (st == MCP_OK)
        st = append(self, output, &checked, err);
    mcp_arena_free(arena);
    return st;
}

mcp_status casparian_outputs_batch(void *data, const char *name, const casparian_batch *batch,
                                   mcp_error *err)
{
    casparian_outputs *self = data;
    casparian_output *output = NULL;
    mcp_status st = casparian_outputs_find(&output, self, name, err);
    if (st != MCP_OK)
        return st;
    output->has_emitted = true;
    if (output->check)
        return self->wants_schemas ? MCP_OK : check(self, output, batch, err);
    if (self->sink && !self->wants_schemas) {
        self->needs_schemas = true;
        return mcp_error_set(err, MCP_E_STOPPED, "the schema of '%s' is to be inferred", name);
    }
    output->file_rows += (int64_t)batch->rows;
    add_errors(&output->file_errors, batch);
    return casparian_infer_add(output->infer, batch, err);
}

void casparian_outputs_end(casparian_outputs *self, bool is_kept)
{
    self->path = NULL;
    for (casparian_output *output = self->first; output; output = output->next) {
        if (output->check)
            casparian_check_end(output->check, is_kept);
        if (is_kept) {
            output->rows += output->file_rows;
            casparian_tally_merge(&output->errors.tally, &output->errors.store,
                                  &output->file_errors.tally);
        }
        output->file_rows = 0;
        output->file_errors.tally = (casparian_tally){ 0 };
    }
}

mcp_status casparian_outputs_infer(casparian_outputs *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (casparian_output *output = self->first; st == MCP_OK && output; output = output->next) {
        if (output->check || casparian_infer_rows(output->infer) == 0)
            continue;
        casparian_definition *schema = mcp_arena_alloc(self->arena, sizeof *schema);
        if (!schema)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a schema");
        st = casparian_infer_definition(schema, output->infer, output->name, self->arena, err);
        if (st == MCP_OK)
            st = use_schema(self, output, schema, CASPARIAN_SCHEMA_INFERRED, err);
    }
    return st;
}

/* ---- figures --------------------------------------------------------------------------------- */

void casparian_output_count(const casparian_output *output, casparian_check_counts *out)
{
    *out = (casparian_check_counts){ .rows_emitted = output->rows + output->file_rows,
                                     .parser_errors = output->errors.tally.count +
                                                      output->file_errors.tally.count };
    out->rows_quarantined = out->parser_errors;
    out->rows_valid = out->rows_emitted - out->rows_quarantined;
    if (output->check)
        casparian_check_count(output->check, out);
}

void casparian_outputs_count(const casparian_outputs *self, int64_t *emitted, int64_t *quarantined)
{
    *emitted = 0;
    *quarantined = 0;
    for (const casparian_output *output = self->first; output; output = output->next) {
        casparian_check_counts counts;
        casparian_output_count(output, &counts);
        *emitted += counts.rows_emitted;
        *quarantined += counts.rows_quarantined;
    }
}

/* The figures of an output whose rows were only seen. */
static void write_seen(const casparian_output *output, mcp_arena *arena, mcp_json_writer *out)
{
    casparian_definition schema;
    casparian_check_counts counts;
    casparian_output_count(output, &counts);
    double invalid = (double)counts.rows_quarantined;
    double emitted = (double)counts.rows_emitted;
    mcp_write_member_int(out, "rows_emitted", counts.rows_emitted);
    mcp_write_member_int(out, "rows_valid", counts.rows_valid);
    mcp_write_member_int(out, "rows_quarantined", counts.rows_quarantined);
    mcp_write_member_double(out, "pass_rate", emitted > 0 ? 1 - invalid / emitted : 1);
    mcp_write_member_double(out, "quarantine_pct", emitted > 0 ? 100 * invalid / emitted : 0);
    if (casparian_infer_rows(output->infer) > 0 &&
        casparian_infer_definition(&schema, output->infer, output->name, arena, NULL) == MCP_OK)
        mcp_write_member_string(out, "schema_hash", schema.hash);
    mcp_write_member_array(out, "violations");
    mcp_write_end(out);
    casparian_write_parser_errors(&output->errors.tally, output->errors.store.redaction, out);
    mcp_write_member_int(out, "extra_columns_dropped", 0);
}

const char *casparian_output_flaw(const casparian_output *output, mcp_arena *arena)
{
    casparian_definition schema;
    mcp_error why = MCP_ERROR_INIT;
    if (output->check || casparian_infer_rows(output->infer) == 0 ||
        casparian_infer_definition(&schema, output->infer, output->name, arena, &why) == MCP_OK)
        return NULL;
    return mcp_arena_strdup(arena, why.message);
}

void casparian_output_write(const casparian_output *output, mcp_arena *arena, mcp_json_writer *out)
{
    if (output->check)
        casparian_check_write(output->check, out);
    else
        write_seen(output, arena, out);
    mcp_write_member_string(out, "schema_source", casparian_schema_source_text(output->source));
    mcp_write_name(out, "inferred");
    mcp_write_bool(out, output->source == CASPARIAN_SCHEMA_INFERRED);
}
