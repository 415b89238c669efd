/*
 * preview.c - a few files through a plugin, and the first rows that come out. Nothing is stored.
 *
 * Rows are shown as the plugin emitted them, redacted; the figures and violations are those of a
 * backtest of these files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/drive/file.h"
#include "jobs/drive/input/inputs.h"
#include "jobs/drive/outputs.h"
#include "jobs/drive/warm.h"
#include "jobs/driver.h"
#include "jobs/plugins/reason.h"
#include "jobs/state/definition_json.h"
#include "mcp/clock.h"
#include "schema/zone.h"

enum { LIMIT = 100, LIMIT_MAX = 1000, BUDGET_MS = 20000, SAMPLES_MAX = 8 << 20, ZONES_MAX = 16 };

/* The rows that are shown of an output: JSON objects with commas in between. */
typedef struct sample {
    struct sample *next;
    const casparian_output *output;
    mcp_buf rows;
    int64_t count;
    bool is_full; /* there were more, or there was no room */
} sample;

/* Zones that times are shown in. */
typedef struct zones {
    const char *names[ZONES_MAX];
    const casparian_zone *loaded[ZONES_MAX]; /* NULL: UTC, or not known here */
    size_t count;
} zones;

typedef struct preview {
    casparian_driver *driver;
    const casparian_preview_request *request;
    mcp_arena *arena;
    casparian_redaction redaction; /* that of the request, with the words of the plugin */
    casparian_outputs outputs;
    casparian_guest *guest;
    char key[CASPARIAN_HASH_SIZE]; /* of the guest */
    sample *samples;
    int64_t limit, until_ms;
    bool stopped_early;         /* a file was not read to its end */
    uint64_t repaired;          /* texts that were not UTF-8 */
    const char *first_repaired; /* the path of the first file with some */
    zones zones;
    mcp_json_writer *errors;
} preview;

/* ---- rows ------------------------------------------------------------------------------------ */

static sample *sample_of(preview *self, const casparian_output *output)
{
    sample *found = self->samples;
    while (found && found->output != output)
        found = found->next;
    if (found)
        return found;
    found = mcp_arena_alloc(self->arena, sizeof *found);
    if (!found)
        return NULL;
    found->output = output;
    mcp_buf_init(&found->rows, SAMPLES_MAX);
    found->next = self->samples;
    self->samples = found;
    return found;
}

/* The zone of that name; NULL: UTC, also where there is no memory or no room for another one. */
static const casparian_zone *find_zone(preview *self, const char *name)
{
    zones *known = &self->zones;
    size_t i = 0;
    while (name && i < known->count && strcmp(known->names[i], name) != 0)
        i++;
    if (!name || strcmp(name, "UTC") == 0 || i == ZONES_MAX)
        return NULL;
    if (i < known->count)
        return known->loaded[i];
    known->names[i] = mcp_arena_strdup(self->arena, name);
    if (!known->names[i] ||
        casparian_zone_load(&known->loaded[i], self->arena, name, NULL) != MCP_OK)
        known->loaded[i] = NULL;
    known->count += known->names[i] != NULL;
    return known->loaded[i];
}

/* @param declared the column of the schema; NULL: it has none */
static void write_cell(preview *self, const casparian_column *declared,
                       const casparian_vector *vector, size_t row, mcp_json_writer *out)
{
    const casparian_redaction *redaction = &self->redaction;
    casparian_cell cell = casparian_vector_cell(vector, row);
    const casparian_type *type = declared && declared->type.kind == CASPARIAN_KIND_TIMESTAMP_TZ
                                     ? &declared->type
                                     : &vector->type;
    const casparian_zone *zone = cell.kind == CASPARIAN_KIND_TIMESTAMP_TZ
                                     ? find_zone(self, type->zone)
                                     : NULL;
    if (cell.is_absent)
        return;
    mcp_write_name(out, vector->name);
    casparian_redact_cell(out, redaction, casparian_redaction_is_sensitive(redaction, vector->name),
                          &cell, zone);
}

static bool is_declared(const casparian_definition *schema, const char *name)
{
    for (size_t i = 0; schema && i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0)
            return true;
    return false;
}

/* The columns of the schema in its order, then what the plugin has emitted beyond them. */
static void write_row(preview *self, const casparian_output *output, const casparian_batch *batch,
                      size_t row, mcp_json_writer *out)
{
    const casparian_definition *schema = output->schema;
    mcp_write_object(out);
    for (size_t i = 0; schema && i < schema->count; i++) {
        const casparian_vector *vector = casparian_batch_find(batch, schema->columns[i].name);
        if (vector)
            write_cell(self, &schema->columns[i], vector, row, out);
    }
    for (size_t i = 0; i < batch->count; i++)
        if (!is_declared(schema, batch->columns[i].name))
            write_cell(self, NULL, &batch->columns[i], row, out);
    mcp_write_end(out);
}

/* Append a row. False: there is no room for it. */
static bool show_row(preview *self, sample *shown, const casparian_batch *batch, size_t row,
                     mcp_buf *text)
{
    mcp_json_writer out;
    mcp_buf_reset(text);
    mcp_json_writer_init(&out, text);
    write_row(self, shown->output, batch, row, &out);
    if (mcp_json_writer_status(&out) != MCP_OK ||
        shown->rows.length + text->length + 1 > SAMPLES_MAX)
        return false;
    if (shown->count > 0)
        mcp_buf_putc(&shown->rows, ',');
    shown->count++;
    return mcp_buf_append(&shown->rows, text->data, text->length) == MCP_OK;
}

static void show_rows(preview *self, sample *shown, const casparian_batch *batch)
{
    mcp_buf text;
    mcp_buf_init(&text, SAMPLES_MAX);
    for (size_t row = 0; row < batch->rows && !shown->is_full; row++)
        shown->is_full = shown->count == self->limit || !show_row(self, shown, batch, row, &text);
    mcp_buf_clear(&text);
}

static mcp_status on_batch(void *data, const char *name, const casparian_batch *batch,
                           mcp_error *err)
{
    preview *self = data;
    casparian_output *output = NULL;
    mcp_status st = casparian_outputs_find(&output, &self->outputs, name, err);
    sample *shown = st == MCP_OK ? sample_of(self, output) : NULL;
    if (st == MCP_OK && !shown)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a preview");
    if (st != MCP_OK)
        return st;
    show_rows(self, shown, batch);
    return casparian_outputs_batch(&self->outputs, name, batch, err);
}

static mcp_status on_output(void *data, const char *name, mcp_error *err)
{
    preview *self = data;
    return casparian_outputs_named(&self->outputs, name, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Takes the text, which is redacted. */
static void write_error(preview *self, const char *path, const char *kind, mcp_buf *text)
{
    if (self->request->failed)
        ++*self->request->failed;
    mcp_write_object(self->errors);
    mcp_write_member_string(self->errors, "file", path);
    mcp_write_member_string(self->errors, "kind", kind);
    mcp_write_name(self->errors, "error");
    mcp_write_string_n(self->errors, text->data ? text->data : "", text->length);
    mcp_write_end(self->errors);
    mcp_buf_clear(text);
}

/* A reason of the host. */
static void add_error(preview *self, const char *path, const char *kind, const char *message)
{
    mcp_buf text;
    mcp_buf_init(&text, 8192);
    casparian_redact_message(&text, &self->redaction, message, strlen(message));
    write_error(self, path, kind, &text);
}

/* A reason of the plugin. */
static void add_failure(preview *self, const char *path, const casparian_guest_outcome *outcome)
{
    mcp_buf text;
    mcp_buf_init(&text, 8192);
    casparian_reason_append(&text, &self->redaction, self->request->plugin, outcome);
    write_error(self, path, casparian_failure_text(outcome->failure), &text);
}

static bool should_stop(void *data)
{
    const preview *self = data;
    return self->request->should_stop && self->request->should_stop(self->request->data);
}

static mcp_status parse(preview *self, const char *path, int fd, mcp_error *err)
{
    const casparian_guest_events events = { .output = on_output, .batch = on_batch, .data = self };
    const casparian_guest_file file = { .path = path,
                                        .fd = fd,
                                        .row_limit = self->limit,
                                        .until_ms = self->until_ms,
                                        .should_stop = should_stop,
                                        .data = self };
    casparian_guest_outcome outcome = { .failure = CASPARIAN_FAILURE_NONE };
    mcp_status st = casparian_outputs_begin(&self->outputs, path, err);
    if (st == MCP_OK)
        st = casparian_guest_parse(&outcome, self->guest, &file, &events, err);
    bool is_kept = st == MCP_OK && outcome.failure == CASPARIAN_FAILURE_NONE;
    casparian_outputs_end(&self->outputs, is_kept);
    self->stopped_early = self->stopped_early || outcome.stopped_at_row_limit;
    if (outcome.repaired > 0 && !self->first_repaired)
        self->first_repaired = path;
    self->repaired += outcome.repaired;
    if (st != MCP_OK || is_kept)
        return st;
    if (should_stop(self))
        return mcp_error_set(err, MCP_E_STOPPED, "the preview was cancelled");
    if (mcp_clock_mono_ms() >= self->until_ms)
        add_error(self, path, "timeout", "the time of the preview is over");
    else
        add_failure(self, path, &outcome);
    return MCP_OK;
}

static mcp_status run_file(preview *self, const char *path, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    int fd = -1;
    if (mcp_clock_mono_ms() >= self->until_ms) {
        add_error(self, path, "timeout", "the time of the preview is over");
        return MCP_OK;
    }
    if (casparian_input_open(&fd, self->driver->roots, path, &cause) != MCP_OK) {
        add_error(self, path, "file_not_found", cause.message);
        return MCP_OK;
    }
    mcp_status st = parse(self, path, fd, err);
    close(fd);
    return st;
}

/* What a warm guest is known by: the plugin, and the files that it may read. The system's rules are
 * those of inodes, so a file that was replaced is another. */
static mcp_status guest_key(preview *self, const char *const *files, size_t count, mcp_error *err)
{
    const char **parts = mcp_arena_array(self->arena, count + 1, sizeof *parts);
    bool has_memory = parts != NULL;
    if (has_memory)
        parts[0] = self->request->plugin->artifact_hash;
    for (size_t i = 0; has_memory && i < count; i++) {
        struct stat what = { 0 };
        stat(files[i], &what);
        parts[i + 1] = mcp_arena_printf(self->arena, "%s %llu %llu", files[i],
                                        (unsigned long long)what.st_dev,
                                        (unsigned long long)what.st_ino);
        has_memory = parts[i + 1] != NULL;
    }
    return has_memory ? casparian_hash_parts(self->key, parts, count + 1, err)
                      : mcp_error_set(err, MCP_E_NOMEM, "no memory for a preview");
}

/* The guest is confined to the files that are there. */
static mcp_status make_guest(preview *self, mcp_error *err)
{
    const casparian_preview_request *request = self->request;
    const char **there = mcp_arena_array(self->arena, request->file_count, sizeof *there);
    size_t count = 0;
    if (!there)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a preview");
    for (size_t i = 0; i < request->file_count; i++)
        if (access(request->files[i], R_OK) == 0)
            there[count++] = request->files[i];
    mcp_status st = guest_key(self, there, count, err);
    if (st == MCP_OK)
        self->guest = casparian_warm_take(self->driver->warm, self->key);
    return st != MCP_OK || self->guest
               ? st
               : casparian_guest_make(&self->guest, self->driver->options.store, request->plugin,
                                      "preview", there, count, false, err);
}

static mcp_status run_files(preview *self, mcp_error *err)
{
    const casparian_preview_request *request = self->request;
    casparian_output *output = NULL;
    mcp_status st = make_guest(self, err);
    for (size_t i = 0; st == MCP_OK && i < request->plugin->output_count; i++)
        st = casparian_outputs_find(&output, &self->outputs, request->plugin->outputs[i], err);
    for (size_t i = 0; st == MCP_OK && i < request->file_count; i++)
        st = run_file(self, request->files[i], err);
    return st;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* An output without a declared schema has none before its first row: the members are left out. */
static void write_schema(preview *self, const casparian_output *output, mcp_json_writer *out)
{
    casparian_definition inferred;
    const casparian_definition *schema = output->schema;
    if (!schema && casparian_infer_rows(output->infer) > 0 &&
        casparian_infer_definition(&inferred, output->infer, output->name, self->arena, NULL) ==
            MCP_OK)
        schema = &inferred;
    if (!schema)
        return;
    mcp_write_name(out, "schema");
    casparian_write_definition(out, schema, NULL);
    mcp_write_member_string(out, "schema_hash", schema->hash);
}

static void write_output(preview *self, const casparian_output *output, mcp_json_writer *out)
{
    const sample *shown = sample_of(self, output);
    casparian_check_counts counts;
    casparian_output_count(output, &counts);
    mcp_write_member_object(out, output->name);
    write_schema(self, output, out);
    mcp_write_member_string(out, "schema_source", casparian_schema_source_text(output->source));
    mcp_write_name(out, "inferred");
    mcp_write_bool(out, output->source == CASPARIAN_SCHEMA_INFERRED);
    mcp_write_name(out, "sample_rows");
    mcp_write_array(out);
    if (shown && shown->rows.length > 0)
        mcp_write_raw(out, shown->rows.data, shown->rows.length);
    mcp_write_end(out);
    mcp_write_member_int(out, "row_count", counts.rows_emitted);
    mcp_write_name(out, "row_count_exact");
    mcp_write_bool(out, !self->stopped_early);
    mcp_write_name(out, "violations");
    if (output->check) {
        casparian_check_write_violations(output->check, out);
    } else {
        mcp_write_array(out);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}

/* The warnings of the caller, and outputs of which a run would fail. */
static void write_warnings(preview *self, mcp_json_writer *out)
{
    const mcp_buf *given = self->request->warnings;
    bool is_begun = given && given->length > 0;
    if (is_begun) {
        mcp_write_member_array(out, "warnings");
        mcp_write_raw(out, given->data, given->length);
    }
    for (const casparian_output *output = self->outputs.first; output; output = output->next) {
        const char *flaw = casparian_output_flaw(output, self->arena);
        if (flaw && !is_begun)
            mcp_write_member_array(out, "warnings");
        is_begun = is_begun || flaw;
        if (flaw)
            mcp_write_string(
                out, mcp_arena_printf(self->arena, CASPARIAN_FLAW_FORMAT, output->name, flaw));
    }
    if (self->repaired > 0 && !is_begun)
        mcp_write_member_array(out, "warnings");
    if (self->repaired > 0) {
        const char *slash = strrchr(self->first_repaired, '/');
        mcp_write_string(out, mcp_arena_printf(self->arena, CASPARIAN_REPAIRED_FORMAT,
                                               (unsigned long long)self->repaired,
                                               slash ? slash + 1 : self->first_repaired));
    }
    if (is_begun || self->repaired > 0)
        mcp_write_end(out);
}

static void write_answer(preview *self, const mcp_buf *errors, mcp_json_writer *out)
{
    mcp_write_member_object(out, "outputs");
    for (const casparian_output *output = self->outputs.first; output; output = output->next)
        write_output(self, output, out);
    mcp_write_end(out);
    mcp_write_name(out, "errors");
    mcp_write_raw(out, errors->data, errors->length);
    write_warnings(self, out);
}

mcp_status casparian_driver_preview(mcp_json_writer *out, casparian_driver *self, mcp_arena *arena,
                                    const casparian_preview_request *request, mcp_error *err)
{
    int64_t budget_ms = request->budget_ms > 0 ? request->budget_ms : BUDGET_MS;
    int64_t limit = request->limit > 0 ? request->limit : LIMIT;
    mcp_json_writer errors;
    mcp_buf texts;
    preview work = { .driver = self,
                     .request = request,
                     .arena = arena,
                     .redaction = *request->redaction,
                     .outputs = { .arena = arena,
                                  .schemas = request->schemas,
                                  .schema_count = request->schema_count,
                                  .redaction = &work.redaction },
                     .limit = limit < LIMIT_MAX ? limit : LIMIT_MAX,
                     .until_ms = mcp_clock_mono_ms() + budget_ms,
                     .errors = &errors };
    work.redaction.words = casparian_words_new(request->plugin);
    if (!work.redaction.words)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a preview");
    work.redaction.is_known = casparian_words_has;
    mcp_buf_init(&texts, 1 << 20);
    mcp_json_writer_init(&errors, &texts);
    mcp_write_array(&errors);
    mcp_status st = run_files(&work, err);
    mcp_write_end(&errors);
    if (st == MCP_OK && mcp_json_writer_status(&errors) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a preview");
    if (st == MCP_OK)
        write_answer(&work, &texts, out);
    if (st == MCP_OK && work.guest && casparian_guest_is_warm(work.guest))
        casparian_warm_put(self->warm, work.key, work.guest);
    else
        casparian_guest_free(work.guest);
    casparian_outputs_free(&work.outputs);
    casparian_words_free(work.redaction.words);
    for (sample *shown = work.samples; shown; shown = shown->next)
        mcp_buf_clear(&shown->rows);
    mcp_buf_clear(&texts);
    return st;
}
