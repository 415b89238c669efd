/*
 * journal.c - what the state hears of a job that runs.
 */
#include "jobs/drive/journal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/drive/outputs.h"
#include "jobs/state/events.h"
#include "mcp/clock.h"

enum { FLUSH_MS = 1000, PROGRESS_EVENT_MS = 5000, RATE_MS = 5000, PENDING_MAX = 5000, TOP = 5 };

typedef struct casparian_pending {
    struct casparian_pending *next;
    const char *type; /* a constant */
    casparian_text payload;
} casparian_pending;

void casparian_journal_init(casparian_journal *self)
{
    *self = (casparian_journal){ .rate_ms = mcp_clock_mono_ms() };
    self->last = &self->first;
    self->progress_ms = self->rate_ms;
}

void casparian_journal_free(casparian_journal *self)
{
    while (self->first) {
        casparian_pending *pending = self->first;
        self->first = pending->next;
        casparian_text_free(&pending->payload);
        free(pending);
    }
    self->last = &self->first;
    self->pending = 0;
}

void casparian_journal_begin(casparian_text *payload, const char *type)
{
    casparian_event_begin(payload, type);
}

void casparian_journal_add(casparian_drive *self, const char *type, casparian_text *payload)
{
    casparian_journal *journal = &self->journal;
    casparian_pending *pending = journal->pending < PENDING_MAX ? calloc(1, sizeof *pending) : NULL;
    if (!pending) {
        casparian_text_free(payload);
        return;
    }
    pending->type = type;
    pending->payload = *payload;
    pending->payload.out.buf = &pending->payload.buf; /* the text has moved */
    *journal->last = pending;
    journal->last = &pending->next;
    journal->pending++;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* An average that forgets within five seconds. */
static double rate_of(casparian_drive *self, int64_t rows, int64_t now_ms)
{
    casparian_journal *journal = &self->journal;
    double passed_ms = (double)(now_ms - journal->rate_ms);
    if (passed_ms >= FLUSH_MS / 2.0) {
        double now = 1000 * (double)(rows - journal->rate_rows) / passed_ms;
        double kept = exp(-passed_ms / RATE_MS);
        journal->rate = journal->rate * kept + (now > 0 ? now : 0) * (1 - kept);
        journal->rate_rows = rows;
        journal->rate_ms = now_ms;
    }
    return journal->rate;
}

static void write_eta(const casparian_drive *self, mcp_json_writer *out, int64_t elapsed_ms)
{
    int64_t read = self->bytes_read + self->current_bytes;
    int64_t items = (int64_t)self->input_count;
    int64_t done = (int64_t)self->processed;
    mcp_write_name(out, "eta_ms");
    if (self->bytes_total > 0 && read * 50 >= self->bytes_total && read <= self->bytes_total)
        mcp_write_int(
            out, (int64_t)((double)elapsed_ms * (double)(self->bytes_total - read) / (double)read));
    else if (done > 0 && done <= items)
        mcp_write_int(out, elapsed_ms * (items - done) / done);
    else
        mcp_write_null(out);
}

typedef struct top_violation {
    const casparian_output *output;
    casparian_violation_count count;
} top_violation;

static void insert_top(top_violation *top, size_t *count, const casparian_output *output,
                       const casparian_violation_count *found)
{
    size_t at = *count;
    while (at > 0 && top[at - 1].count.count < found->count)
        at--;
    if (at == TOP)
        return;
    size_t moved = (*count < TOP ? *count : TOP - 1) - at;
    memmove(&top[at + 1], &top[at], moved * sizeof top[0]);
    top[at] = (top_violation){ .output = output, .count = *found };
    *count += *count < TOP;
}

static void write_top(const casparian_outputs *outputs, mcp_json_writer *out)
{
    top_violation top[TOP + 1];
    size_t count = 0;
    for (const casparian_output *output = outputs->first; output; output = output->next) {
        casparian_violation_count found[TOP];
        size_t of_output = output->check ? casparian_check_top(output->check, found, TOP) : 0;
        for (size_t i = 0; i < of_output; i++)
            insert_top(top, &count, output, &found[i]);
    }
    mcp_write_member_array(out, "top_violations");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "output", top[i].output->name);
        mcp_write_member_string(out, "column", top[i].count.column);
        mcp_write_member_string(out, "violation_type",
                                casparian_violation_text(top[i].count.violation));
        mcp_write_member_int(out, "count", top[i].count.count);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}

static void write_outputs(const casparian_outputs *outputs, mcp_json_writer *out)
{
    mcp_write_member_object(out, "outputs");
    for (const casparian_output *output = outputs->first; output; output = output->next) {
        casparian_check_counts counts;
        casparian_output_count(output, &counts);
        mcp_write_member_object(out, output->name);
        mcp_write_member_int(out, "rows_emitted", counts.rows_emitted);
        mcp_write_member_int(out, "rows_valid", counts.rows_valid);
        mcp_write_member_int(out, "rows_quarantined", counts.rows_quarantined);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}

void casparian_progress_write(casparian_drive *self, mcp_json_writer *out)
{
    int64_t now_ms = mcp_clock_mono_ms();
    int64_t emitted = 0;
    int64_t quarantined = 0;
    casparian_outputs_count(&self->outputs, &emitted, &quarantined);
    mcp_write_member_string(out, "phase", self->phase);
    mcp_write_member_int(out, "items_done", (int64_t)(self->processed + self->skipped));
    mcp_write_member_int(out, "items_total", (int64_t)(self->input_count));
    mcp_write_member_int(out, "elapsed_ms", now_ms - self->started_ms);
    write_eta(self, out, now_ms - self->started_ms);
    mcp_write_member_int(out, "files_processed", (int64_t)self->processed);
    mcp_write_member_int(out, "files_total", (int64_t)self->input_count);
    mcp_write_member_int(out, "files_failed", (int64_t)self->failed);
    mcp_write_member_int(out, "bytes_read", self->bytes_read + self->current_bytes);
    mcp_write_member_int(out, "bytes_total", self->bytes_total);
    mcp_write_member_int(out, "rows_emitted", emitted);
    mcp_write_member_int(out, "rows_quarantined", quarantined);
    mcp_write_member_double(out, "quarantine_pct",
                            emitted > 0 ? 100 * (double)quarantined / (double)emitted : 0);
    mcp_write_member_double(out, "throughput_rows_per_sec", rate_of(self, emitted, now_ms));
    if (self->current)
        mcp_write_member_string(out, "current_file", self->current->relative);
    write_outputs(&self->outputs, out);
    write_top(&self->outputs, out);
}

/* ---- storing --------------------------------------------------------------------------------- */

static mcp_status store_outcome(casparian_drive *self, db_session *session,
                                const casparian_input *input, mcp_error *err)
{
    const casparian_job_file *file = &input->file;
    bool is_known = strcmp(input->status, "ok") == 0;
    const db_value values[] = {
        db_int(self->job.id),
        db_text(file->path),
        db_int(file->size),
        db_int(file->mtime_ns),
        db_int(file->inode),
        db_text(input->sha256),
        db_text(input->status),
        is_known ? db_int(input->rows) : db_null(),
        is_known ? db_int(input->rows_quarantined) : db_null(),
        db_text(input->kind),
        db_text(input->error),
        db_int(input->duration_ms),
    };
    return db_run(session, NULL,
                  "INSERT INTO cf_api_job_files (job_id, path, size, mtime, inode, sha256, status, "
                  "rows, rows_quarantined, error_kind, error_message, duration_ms) VALUES ($1, $2, "
                  "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (job_id, path) DO UPDATE "
                  "SET sha256 = $6, status = $7, rows = $8, rows_quarantined = $9, "
                  "error_kind = $10, error_message = $11, duration_ms = $12",
                  values, sizeof values / sizeof values[0], err);
}

static mcp_status store_outcomes(casparian_drive *self, db_session *session, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->input_count; i++) {
        casparian_input *input = &self->inputs[i];
        if (input->is_stored || strcmp(input->status, "pending") == 0)
            continue;
        st = store_outcome(self, session, input, err);
        input->is_stored = st == MCP_OK;
    }
    return st;
}

static mcp_status store_events(casparian_drive *self, db_session *session, mcp_error *err)
{
    casparian_journal *journal = &self->journal;
    mcp_status st = MCP_OK;
    while (st == MCP_OK && journal->first) {
        casparian_pending *pending = journal->first;
        st = casparian_event_add(session, self->job.id, pending->type, &pending->payload, err);
        journal->first = pending->next;
        journal->pending--;
        free(pending);
    }
    if (!journal->first)
        journal->last = &journal->first;
    return st;
}

static void add_progress_event(casparian_drive *self, int64_t now_ms)
{
    casparian_text payload;
    if (now_ms - self->journal.progress_ms < PROGRESS_EVENT_MS)
        return;
    self->journal.progress_ms = now_ms;
    casparian_journal_begin(&payload, "progress");
    mcp_write_member_int(&payload.out, "items_done", (int64_t)(self->processed + self->skipped));
    mcp_write_member_int(&payload.out, "items_total", (int64_t)self->input_count);
    mcp_write_member_string(&payload.out, "message", self->phase);
    casparian_journal_add(self, "progress", &payload);
}

mcp_status casparian_journal_store(casparian_drive *self, db_session *session, mcp_error *err)
{
    mcp_status st = store_outcomes(self, session, err);
    return st == MCP_OK ? store_events(self, session, err) : st;
}

mcp_status casparian_journal_flush(casparian_drive *self, mcp_error *err)
{
    casparian_text progress;
    db_session *session = NULL;
    int64_t now_ms = mcp_clock_mono_ms();
    casparian_text_init(&progress);
    casparian_progress_write(self, &progress.out);
    mcp_status st = casparian_text_end(&progress, err);
    add_progress_event(self, now_ms);
    const casparian_progress report = { .phase = self->phase,
                                        .items_done = (int64_t)(self->processed + self->skipped),
                                        .items_total = (int64_t)self->input_count,
                                        .progress = progress.buf.data,
                                        .length = progress.buf.length,
                                        .has_advanced = self->journal.has_advanced };
    if (st == MCP_OK)
        st = db_begin(&session, casparian_store_database(self->store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_claim_report_in(session, self->claim, &report, err);
    if (st == MCP_OK)
        st = casparian_journal_store(self, session, err);
    st = casparian_store_end(session, st, err);
    casparian_text_free(&progress);
    self->journal.flushed_ms = now_ms;
    if (st == MCP_OK)
        self->journal.has_advanced = false;
    return st;
}

mcp_status casparian_journal_tick(casparian_drive *self, mcp_error *err)
{
    self->journal.has_advanced = true;
    return mcp_clock_mono_ms() - self->journal.flushed_ms < FLUSH_MS
               ? MCP_OK
               : casparian_journal_flush(self, err);
}

mcp_status casparian_journal_phase(casparian_drive *self, const char *phase, mcp_error *err)
{
    casparian_text payload;
    self->phase = phase;
    self->journal.has_advanced = true;
    casparian_journal_begin(&payload, "phase");
    mcp_write_member_string(&payload.out, "name", phase);
    casparian_journal_add(self, "phase", &payload);
    return casparian_journal_flush(self, err);
}
