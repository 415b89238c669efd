/*
 * result.c - the result of a job.
 */
#include "jobs/drive/result.h"

#include <stdlib.h>
#include <string.h>

#include "jobs/drive/destination/destinations.h"
#include "jobs/drive/journal.h"
#include "jobs/drive/outputs.h"
#include "mcp/clock.h"

enum { ERRORS_MAX = 100 };

/* ---- errors ---------------------------------------------------------------------------------- */

static bool has_failed(const casparian_input *input)
{
    return input->kind != NULL;
}

static int by_category(const void *a, const void *b)
{
    const casparian_input *const *left = a;
    const casparian_input *const *right = b;
    int order = strcmp((*left)->category, (*right)->category);
    return order ? order : strcmp((*left)->file.path, (*right)->file.path);
}

static void write_errors(const casparian_input *const *failed, size_t count, mcp_json_writer *out)
{
    mcp_write_member_array(out, "errors");
    for (size_t i = 0; i < count && i < ERRORS_MAX; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "file", failed[i]->file.path);
        mcp_write_member_string(out, "kind", failed[i]->kind);
        mcp_write_member_string(out, "category", failed[i]->category);
        mcp_write_member_string(out, "error", failed[i]->error);
        mcp_write_end(out);
    }
    mcp_write_end(out);
    mcp_write_member_object(out, "category_counts");
    for (size_t i = 0; i < count;) { /* they are sorted by category */
        size_t begin = i;
        while (i < count && strcmp(failed[i]->category, failed[begin]->category) == 0)
            i++;
        mcp_write_member_int(out, failed[begin]->category, (int64_t)(i - begin));
    }
    mcp_write_end(out);
}

static mcp_status write_failures(casparian_drive *self, mcp_json_writer *out, mcp_error *err)
{
    size_t count = 0;
    const casparian_input **failed = mcp_arena_array(self->arena, self->input_count,
                                                     sizeof *failed);
    if (!failed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the result");
    for (size_t i = 0; i < self->input_count; i++)
        if (has_failed(&self->inputs[i]))
            failed[count++] = &self->inputs[i];
    if (count > 1)
        qsort(failed, count, sizeof *failed, by_category);
    write_errors(failed, count, out);
    return MCP_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* The sink of an output; the job's, where it has no route. */
static const casparian_sink_uri *sink_of(const casparian_drive *self, const char *output)
{
    casparian_destination *target = NULL;
    if (self->destination_count > 0 &&
        casparian_destination_find(&target, self, output, NULL) == MCP_OK)
        return &target->uri;
    return &self->uri;
}

/* What a run has written of an output. */
static void write_written(casparian_drive *self, const casparian_output *output,
                          const casparian_record *records, size_t count, mcp_json_writer *out)
{
    const casparian_record *plain = NULL;
    const casparian_record *quarantine = NULL;
    for (size_t i = 0; i < count; i++) {
        if (records[i].output != output)
            continue;
        if (records[i].is_quarantine)
            quarantine = &records[i];
        else
            plain = &records[i];
    }
    mcp_write_member_int(out, "rows_written", plain ? plain->rows : 0);
    mcp_write_member_int(out, "bytes_written",
                         (plain ? plain->bytes : 0) + (quarantine ? quarantine->bytes : 0));
    const casparian_sink_uri *uri = sink_of(self, output->name);
    mcp_write_member_string(out, "sink_uri", uri->text ? uri->text : "");
    mcp_write_member_array(out, "locations");
    if (plain)
        mcp_write_string(out, plain->location);
    mcp_write_end(out);
    if (plain && uri->kind == CASPARIAN_SINK_DUCKDB)
        mcp_write_member_string(out, "table", plain->table);
    if (!quarantine)
        return;
    mcp_write_member_object(out, "quarantine");
    mcp_write_member_int(out, "rows", quarantine->rows);
    mcp_write_member_string(out, "location", quarantine->location);
    mcp_write_end(out);
}

static void write_outputs(casparian_drive *self, const casparian_record *records, size_t count,
                          mcp_json_writer *out)
{
    mcp_write_member_object(out, "outputs");
    for (const casparian_output *output = self->outputs.first; output; output = output->next) {
        mcp_write_member_object(out, output->name);
        casparian_output_write(output, self->arena, out);
        if (self->job.type == CASPARIAN_JOB_RUN)
            write_written(self, output, records, count, out);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}

/* ---- the texts ------------------------------------------------------------------------------- */

static void write_warnings(const casparian_drive *self, mcp_json_writer *out)
{
    mcp_write_member_array(out, "warnings");
    for (size_t at = 0; at < self->warnings.length;) {
        mcp_write_string(out, self->warnings.data + at);
        at += strlen(self->warnings.data + at) + 1;
    }
    mcp_write_end(out);
}

static mcp_status write_result(casparian_results *self, casparian_drive *drive,
                               const casparian_record *records, size_t count, mcp_error *err)
{
    mcp_json_writer *out = &self->result.out;
    int64_t emitted = 0;
    int64_t quarantined = 0;
    casparian_outputs_count(&drive->outputs, &emitted, &quarantined);
    mcp_write_member_int(out, "files_processed", (int64_t)drive->processed);
    mcp_write_member_int(out, "files_total", (int64_t)drive->input_count);
    mcp_write_member_int(out, "files_passed", (int64_t)drive->passed);
    mcp_write_member_int(out, "files_failed", (int64_t)drive->failed);
    if (drive->job.type == CASPARIAN_JOB_RUN)
        mcp_write_member_int(out, "files_skipped", (int64_t)drive->skipped);
    mcp_write_name(out, "partial");
    mcp_write_bool(out, drive->failed > 0 || quarantined > 0);
    write_outputs(drive, records, count, out);
    mcp_status st = write_failures(drive, out, err);
    write_warnings(drive, out);
    casparian_write_text(out, "ephemeral_id", drive->spec.ephemeral_id);
    mcp_write_member_string(out, "sandbox", drive->sandbox[0] ? drive->sandbox : "none");
    mcp_write_member_int(out, "bytes_read", drive->bytes_read);
    mcp_write_member_int(out, "elapsed_ms", mcp_clock_mono_ms() - drive->started_ms);
    return st;
}

static void write_output_list(casparian_results *self, const casparian_record *records,
                              size_t count)
{
    mcp_json_writer *out = &self->outputs.out;
    mcp_write_array(out);
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "name", records[i].output->name);
        mcp_write_member_string(out, "kind", records[i].is_quarantine ? "quarantine" : "output");
        mcp_write_member_string(out, "sink_uri", records[i].sink_uri);
        mcp_write_member_int(out, "rows", records[i].rows);
        mcp_write_member_int(out, "bytes", records[i].bytes);
        mcp_write_end(out);
        self->bytes_written += records[i].bytes;
    }
    mcp_write_end(out);
}

static void write_metric(mcp_json_writer *out, mcp_arena *arena, const char *key, const char *name,
                         int64_t value)
{
    const char *full = mcp_arena_printf(arena, "%s.%s", key, name);
    if (full)
        mcp_write_member_int(out, full, value);
}

/* 0 ok, 1 partial, 2 failed. */
static int64_t status_of(const casparian_drive *drive, const casparian_check_counts *counts)
{
    casparian_verdict verdict = casparian_quarantine_judge(&drive->policy, counts->rows_valid,
                                                           counts->rows_quarantined);
    bool is_run = drive->job.type == CASPARIAN_JOB_RUN;
    if (is_run && verdict > CASPARIAN_VERDICT_QUARANTINED)
        return 2;
    return counts->rows_quarantined > 0;
}

static void write_metrics(casparian_results *self, casparian_drive *drive)
{
    mcp_json_writer *out = &self->metrics.out;
    int64_t quarantined = 0;
    int64_t rejected = 0;
    casparian_outputs_count(&drive->outputs, &self->rows, &quarantined);
    mcp_write_member_int(out, "rows", self->rows);
    mcp_write_member_int(out, "quarantine_rows", quarantined);
    mcp_write_member_int(out, "lineage_unavailable_rows", 0);
    mcp_write_member_int(out, "output_count", (int64_t)drive->outputs.count);
    mcp_write_member_int(out, "is_transient", 0);
    mcp_write_member_int(out, "invalid_utf8", (int64_t)drive->repaired);
    for (const casparian_output *output = drive->outputs.first; output; output = output->next) {
        casparian_check_counts counts;
        casparian_output_count(output, &counts);
        int64_t status = status_of(drive, &counts);
        rejected |= status == 2;
        write_metric(out, drive->arena, "rows", output->name, counts.rows_emitted);
        write_metric(out, drive->arena, "status", output->name, status);
        write_metric(out, drive->arena, "quarantine_rows", output->name, counts.rows_quarantined);
    }
    mcp_write_member_int(out, "quarantine_rejected", rejected);
}

mcp_status casparian_results_make(casparian_results *out, casparian_drive *self,
                                  const casparian_record *records, size_t count, mcp_error *err)
{
    *out = (casparian_results){ .rows = 0 };
    casparian_text_init(&out->result);
    casparian_text_init(&out->metrics);
    casparian_text_init(&out->progress);
    mcp_buf_init(&out->outputs.buf, CASPARIAN_COLUMN_MAX); /* an array, not an object */
    mcp_json_writer_init(&out->outputs.out, &out->outputs.buf);
    mcp_status st = write_result(out, self, records, count, err);
    write_output_list(out, records, count);
    write_metrics(out, self);
    casparian_progress_write(self, &out->progress.out);
    if (st == MCP_OK)
        st = casparian_text_end(&out->result, err);
    if (st == MCP_OK)
        st = casparian_text_end(&out->metrics, err);
    if (st == MCP_OK)
        st = casparian_text_end(&out->progress, err);
    if (st == MCP_OK && mcp_json_writer_status(&out->outputs.out) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the result");
    return st;
}

void casparian_results_free(casparian_results *self)
{
    casparian_text_free(&self->result);
    casparian_text_free(&self->outputs);
    casparian_text_free(&self->metrics);
    casparian_text_free(&self->progress);
}
