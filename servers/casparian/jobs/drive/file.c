/*
 * file.c - one input file of a job.
 *
 * What a plugin does wrong, and what is wrong with a file, is the file's outcome. What the host
 * cannot do (write to the sink, to the state) fails the job.
 *
 * A file is parsed once; twice after a failure that may pass; and once more before, its rows
 * dropped, where a run has to learn the schema of an output.
 */
#include "jobs/drive/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault.h"
#include "guard/paths.h"
#include "jobs/drive/destination/destinations.h"
#include "jobs/drive/input/hasher.h"
#include "jobs/drive/input/inputs.h"
#include "jobs/drive/journal.h"
#include "jobs/drive/outputs.h"
#include "jobs/plugins/reason.h"
#include "jobs/state/events.h"
#include "mcp/clock.h"

enum {
    RETRY_MS = 1000,
    RETRY_STEP_MS = 100,
    INFERRED_ROWS_MAX = 1000000,
    VIOLATION_EVENTS_MAX = 500,
    VIOLATIONS_MAX = 20, /* of an event */
    CONTEXTS_MAX = 1 << 20,
    LOG_MAX = 64 << 20, /* of a job */
    CPU_SLACK_S = 60,
    LOG_LINE_MAX = 64 << 10
};

static const int64_t mib = INT64_C(1) << 20;

/* ---- the guest ------------------------------------------------------------------------------- */

static casparian_sandbox sandbox_of(const char *text)
{
    if (text && strcmp(text, "required") == 0)
        return CASPARIAN_SANDBOX_REQUIRED;
    return text && strcmp(text, "off") == 0 ? CASPARIAN_SANDBOX_OFF : CASPARIAN_SANDBOX_BEST_EFFORT;
}

static mcp_status make_scratch(char *path, size_t size, casparian_store *store, mcp_error *err)
{
    int length = snprintf(path, size, "%s/tmp", casparian_store_home(store));
    if (length < 0 || (size_t)length >= size)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the home is too long");
    if (mkdir(path, S_IRWXU) == 0 || errno == EEXIST)
        return MCP_OK;
    if (errno == ENOENT)
        return mcp_error_set(err, MCP_E_IO, "the home '%s' was removed: restart the program",
                             casparian_store_home(store));
    return mcp_error_errno(err, errno, "'%s' cannot be made", path);
}

mcp_status casparian_guest_make(casparian_guest **out, casparian_store *store,
                                const casparian_plugin *plugin, const char *job,
                                const char *const *inputs, size_t input_count,
                                bool checks_schema_hash, mcp_error *err)
{
    const casparian_settings *settings = casparian_store_settings(store);
    const casparian_plugins_settings *plugins = &settings->plugins;
    int64_t timeout_ms = settings->jobs.timeout_ms;
    char scratch[4096];
    casparian_guest_options how = {
        .job_id = job,
        .scratch_dir = scratch,
        .inputs = inputs,
        .input_count = input_count,
        .sandbox = sandbox_of(plugins->sandbox),
        .limits = { .memory_bytes = (uint64_t)(mib *
                                               casparian_settings_memory_mb(settings, plugin->id)),
                    .output_bytes = (uint64_t)(mib * plugins->output_max_mb),
                    .scratch_bytes = (uint64_t)(mib * plugins->scratch_mb),
                    .start_timeout_ms = plugins->start_timeout_ms,
                    .idle_timeout_ms = plugins->idle_timeout_ms,
                    .file_timeout_ms = plugins->file_timeout_ms,
                    .cpu_s = timeout_ms > 0 ? (uint32_t)(timeout_ms / 1000) + CPU_SLACK_S : 0 },
        .copies_plugin = true,
        .checks_schema_hash = checks_schema_hash,
    };
    mcp_status st = make_scratch(scratch, sizeof scratch, store, err);
    return st == MCP_OK ? casparian_guest_new(out, plugin, &how, err) : st;
}

/* ---- what the guest tells -------------------------------------------------------------------- */

static mcp_status on_output(void *data, const char *output, mcp_error *err)
{
    casparian_drive *self = data;
    return casparian_outputs_named(&self->outputs, output, err);
}

/* The only file of a job: as soon as its hash is known its rows are written, not kept until it is
 * done. A small file's rows fit in memory, so they are kept. */
static mcp_status identify(casparian_drive *self, mcp_error *err)
{
    casparian_outputs *outputs = &self->outputs;
    bool is_alone = self->input_count - self->skipped == 1;
    if (!is_alone || outputs->is_sink_used || !outputs->sink_file || !self->hasher ||
        !casparian_hasher_is_ready(self->hasher))
        return MCP_OK;
    outputs->is_sink_used = true;
    mcp_status st = casparian_sink_file_identify(outputs->sink_file, self->hasher->sha256, err);
    outputs->has_sink_failed = st != MCP_OK;
    return st;
}

static mcp_status on_batch(void *data, const char *output, const casparian_batch *batch,
                           mcp_error *err)
{
    casparian_drive *self = data;
    mcp_status st = identify(self, err);
    if (st == MCP_OK)
        st = casparian_outputs_batch(&self->outputs, output, batch, err);
    if (st != MCP_OK)
        return st;
    st = casparian_journal_tick(self, err);
    self->has_state_failed = st != MCP_OK;
    return st;
}

static void on_progress(void *data, int64_t bytes_done, int64_t bytes_total, int64_t rows)
{
    casparian_drive *self = data;
    (void)bytes_total;
    (void)rows;
    if (bytes_done > self->current_bytes && self->current)
        self->current_bytes = bytes_done < self->current->file.size ? bytes_done
                                                                    : self->current->file.size;
    casparian_journal_tick(self, NULL); /* that of the next batch tells what fails */
}

static void open_log(casparian_drive *self)
{
    char relative[64];
    int logs = -1;
    int home = open(casparian_store_home(self->store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (home < 0)
        return;
    snprintf(relative, sizeof relative, "%lld.log", (long long)self->job.id);
    if (guard_make_dir(&logs, home, "logs/jobs", NULL) == MCP_OK) {
        self->log_fd = openat(logs, relative,
                              O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                              S_IRUSR | S_IWUSR);
        close(logs);
    }
    close(home);
}

/* The log is for people: a failure to write it is no failure of the job. */
static void on_log(void *data, casparian_log_level level, const char *text, size_t length)
{
    static const char *const levels[] = { "stdout", "stderr", "debug", "info", "warn", "error" };
    casparian_drive *self = data;
    mcp_buf line;
    if (self->log_bytes >= LOG_MAX)
        return;
    if (self->log_fd < 0)
        open_log(self);
    if (self->log_fd < 0)
        return;
    mcp_buf_init(&line, LOG_LINE_MAX + 8192);
    mcp_buf_printf(&line, "%s [%s] ", self->current ? self->current->relative : "", levels[level]);
    mcp_buf_append(&line, text, length);
    if (line.length > 0 && line.data[line.length - 1] != '\n')
        mcp_buf_putc(&line, '\n');
    self->log_bytes += (int64_t)line.length;
    if (self->log_bytes >= LOG_MAX)
        mcp_buf_puts(&line, "[the log of this job is cut here]\n");
    ssize_t written = line.status == MCP_OK ? write(self->log_fd, line.data, line.length) : 0;
    (void)written;
    mcp_buf_clear(&line);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the outcome of a file");
}

static void add_failed_event(casparian_drive *self, const casparian_input *input)
{
    casparian_text payload;
    casparian_journal_begin(&payload, "file_failed");
    mcp_write_member_string(&payload.out, "file", input->relative);
    mcp_write_member_string(&payload.out, "kind", input->kind);
    mcp_write_member_string(&payload.out, "error", input->error);
    casparian_journal_add(self, "file_failed", &payload);
}

/* The file has failed. Takes the text, which is redacted. */
static mcp_status fail_for(casparian_drive *self, casparian_input *input, const char *kind,
                           const char *category, mcp_buf *text, mcp_error *err)
{
    input->status = strcmp(kind, "changed") == 0 ? "changed" : "failed";
    input->kind = kind;
    input->category = category;
    input->error = mcp_arena_strndup(self->arena, text->data ? text->data : "", text->length);
    mcp_buf_clear(text);
    if (!input->error)
        return no_memory(err);
    add_failed_event(self, input);
    return MCP_OK;
}

/* The file has failed, for a reason of the host. */
static mcp_status fail_file(casparian_drive *self, casparian_input *input, const char *kind,
                            const char *category, const char *message, mcp_error *err)
{
    mcp_buf text;
    mcp_buf_init(&text, 8192);
    casparian_redact_message(&text, &self->redaction, message, strlen(message));
    return fail_for(self, input, kind, category, &text, err);
}

/* The plugin has failed with the file. Its own words are in the log, which is for people. */
static mcp_status fail_by_plugin(casparian_drive *self, casparian_input *input,
                                 const casparian_guest_outcome *outcome, mcp_error *err)
{
    const char *said = outcome->traceback[0] != '\0' ? outcome->traceback : outcome->error;
    mcp_buf text;
    on_log(self, CASPARIAN_LOG_ERROR, said, strlen(said));
    mcp_buf_init(&text, 8192);
    casparian_reason_append(&text, &self->redaction, &self->plugin, outcome);
    return fail_for(self, input, casparian_failure_text(outcome->failure),
                    outcome->category ? outcome->category : "unknown", &text, err);
}

/* ---- one pass of the plugin ------------------------------------------------------------------ */

/* A sink that has rows of a pass that was dropped is replaced by an empty one. */
static mcp_status replace_sink(casparian_drive *self, mcp_error *err)
{
    casparian_sink_abort(self->outputs.sink);
    self->outputs.sink = NULL;
    self->outputs.is_sink_used = false;
    mcp_status st = casparian_destinations_open(self, err);
    return st == MCP_OK ? casparian_outputs_add_tables(&self->outputs, err) : st;
}

static mcp_status begin_pass(casparian_drive *self, const casparian_input *input, mcp_error *err)
{
    char now[MCP_CLOCK_UTC_SIZE];
    mcp_status st = self->outputs.is_sink_used ? replace_sink(self, err) : MCP_OK;
    if (st == MCP_OK)
        st = casparian_outputs_begin(&self->outputs, input->file.path, err);
    if (st != MCP_OK || !self->outputs.sink || self->outputs.wants_schemas)
        return st;
    mcp_clock_utc(now, mcp_clock_wall_ms(), 1);
    st = casparian_sink_file_begin(&self->outputs.sink_file, self->outputs.sink, now, err);
    self->outputs.has_sink_failed = st != MCP_OK;
    return st;
}

static void drop_pass(casparian_drive *self)
{
    casparian_outputs_end(&self->outputs, false);
    casparian_sink_file_discard(self->outputs.sink_file);
    self->outputs.sink_file = NULL;
}

static mcp_status parse(casparian_guest_outcome *outcome, casparian_drive *self,
                        const casparian_input *input, int fd, int64_t row_limit, mcp_error *err)
{
    char file_id[24];
    const casparian_guest_events events = {
        .output = on_output, .batch = on_batch, .log = on_log, .progress = on_progress, .data = self
    };
    const casparian_guest_file file = { .path = input->file.path,
                                        .fd = fd,
                                        .file_id = file_id,
                                        .row_limit = row_limit,
                                        .until_ms = self->deadline_ms,
                                        .should_stop = casparian_drive_should_stop,
                                        .data = self };
    snprintf(file_id, sizeof file_id, "%lld", (long long)input->file_id);
    *outcome = (casparian_guest_outcome){ .failure = CASPARIAN_FAILURE_NONE };
    mcp_status st = begin_pass(self, input, err);
    if (st == MCP_OK)
        st = casparian_guest_parse(outcome, self->guest, &file, &events, err);
    if (outcome->sandbox[0] != '\0')
        memcpy(self->sandbox, outcome->sandbox, sizeof self->sandbox);
    return st;
}

/* Learn the schemas of the outputs that have none from the rows of this file. */
static mcp_status infer(casparian_guest_outcome *outcome, casparian_drive *self,
                        const casparian_input *input, int fd, mcp_error *err)
{
    drop_pass(self);
    self->outputs.needs_schemas = false;
    self->outputs.wants_schemas = true;
    mcp_status st = parse(outcome, self, input, fd, INFERRED_ROWS_MAX, err);
    drop_pass(self);
    self->outputs.wants_schemas = false;
    if (st == MCP_OK && outcome->failure == CASPARIAN_FAILURE_NONE)
        st = casparian_outputs_infer(&self->outputs, err);
    return st;
}

static mcp_status parse_with_schemas(casparian_guest_outcome *outcome, casparian_drive *self,
                                     const casparian_input *input, int fd, mcp_error *err)
{
    mcp_status st = parse(outcome, self, input, fd, 0, err);
    if (st != MCP_E_STOPPED || !self->outputs.needs_schemas)
        return st;
    st = infer(outcome, self, input, fd, err);
    return st == MCP_OK && outcome->failure == CASPARIAN_FAILURE_NONE
               ? parse(outcome, self, input, fd, 0, err)
               : st;
}

/* Wait before the second attempt. */
static void wait_to_retry(casparian_drive *self)
{
    for (int waited = 0; waited < RETRY_MS && !casparian_drive_should_stop(self);
         waited += RETRY_STEP_MS)
        poll(NULL, 0, RETRY_STEP_MS);
}

static mcp_status attempt(casparian_guest_outcome *outcome, casparian_drive *self,
                          const casparian_input *input, int fd, mcp_error *err)
{
    mcp_status st = parse_with_schemas(outcome, self, input, fd, err);
    if (st != MCP_OK || outcome->failure == CASPARIAN_FAILURE_NONE || !outcome->is_retryable)
        return st;
    drop_pass(self);
    wait_to_retry(self);
    return casparian_drive_should_stop(self) ? MCP_OK
                                             : parse_with_schemas(outcome, self, input, fd, err);
}

/* ---- the rows of a file that was read -------------------------------------------------------- */

/* The first contexts of an output with their samples; false: they are too long. */
static bool write_contexts(const casparian_output *output, mcp_json_writer *out)
{
    const mcp_json *contexts = NULL;
    mcp_json_writer all;
    mcp_buf text;
    mcp_arena *arena = mcp_arena_new(8 * CONTEXTS_MAX);
    mcp_buf_init(&text, CONTEXTS_MAX);
    mcp_json_writer_init(&all, &text);
    casparian_check_write_violations(output->check, &all);
    bool is_read = arena && mcp_json_writer_status(&all) == MCP_OK &&
                   mcp_json_read(&contexts, arena, text.data, text.length, NULL) == MCP_OK;
    for (size_t i = 0; is_read && i < mcp_json_count(contexts) && i < VIOLATIONS_MAX; i++) {
        const mcp_json *context = mcp_json_item(contexts, i);
        mcp_write_object(out);
        mcp_write_member_value(out, "violation_type", mcp_json_get(context, "violation_type"));
        mcp_write_member_value(out, "column_name", mcp_json_get(context, "column"));
        mcp_write_member_value(out, "count", mcp_json_get(context, "count"));
        mcp_write_member_value(out, "samples", mcp_json_get(context, "samples"));
        mcp_write_end(out);
    }
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
    return is_read;
}

static void write_counts(const casparian_output *output, mcp_json_writer *out)
{
    casparian_violation_count top[VIOLATIONS_MAX];
    size_t count = casparian_check_top(output->check, top, VIOLATIONS_MAX);
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "violation_type", casparian_violation_text(top[i].violation));
        mcp_write_member_string(out, "column_name", top[i].column);
        mcp_write_member_int(out, "count", top[i].count);
        mcp_write_end(out);
    }
}

/* What is wrong with an output so far, at the end of a file that has added to it. */
static void add_violations_event(casparian_drive *self, const casparian_input *input,
                                 const casparian_output *output)
{
    casparian_text payload;
    if (self->violation_events >= VIOLATION_EVENTS_MAX)
        return;
    self->violation_events++;
    casparian_journal_begin(&payload, "violation");
    mcp_write_member_string(&payload.out, "file", input->relative);
    mcp_write_member_string(&payload.out, "output_name", output->name);
    mcp_write_member_array(&payload.out, "violations");
    if (!write_contexts(output, &payload.out))
        write_counts(output, &payload.out);
    mcp_write_end(&payload.out);
    casparian_journal_add(self, "violation", &payload);
}

/* Note the rows of each output, before the file's figures become those of the job. */
static mcp_status note_rows(casparian_drive *self, casparian_input *input, mcp_error *err)
{
    for (casparian_output *output = self->outputs.first; output; output = output->next) {
        casparian_check_counts now;
        casparian_output_count(output, &now);
        int64_t emitted = now.rows_emitted - output->before.rows_emitted;
        int64_t invalid = now.rows_quarantined - output->before.rows_quarantined;
        if (emitted == 0)
            continue;
        casparian_input_rows *rows = mcp_arena_alloc(self->arena, sizeof *rows);
        if (!rows)
            return no_memory(err);
        *rows = (casparian_input_rows){
            .next = input->outputs, .output = output, .valid = emitted - invalid, .invalid = invalid
        };
        input->outputs = rows;
        input->rows += emitted;
        input->rows_quarantined += invalid;
    }
    return MCP_OK;
}

static mcp_status keep_pass(casparian_drive *self, casparian_input *input, const char *sha256,
                            mcp_error *err)
{
    mcp_status st = note_rows(self, input, err);
    if (st != MCP_OK) {
        drop_pass(self);
        return st;
    }
    casparian_outputs_end(&self->outputs, true);
    for (const casparian_input_rows *rows = input->outputs; rows; rows = rows->next)
        if (rows->invalid > 0 && rows->output->check)
            add_violations_event(self, input, rows->output);
    input->status = "ok";
    input->sha256 = mcp_arena_strdup(self->arena, sha256);
    if (!input->sha256)
        st = no_memory(err);
    casparian_sink_file *file = self->outputs.sink_file;
    self->outputs.sink_file = NULL;
    if (!file)
        return st;
    st = casparian_sink_file_commit(file, sha256, err);
    self->outputs.has_sink_failed = st != MCP_OK;
    return st;
}

/* ---- the way of a file ----------------------------------------------------------------------- */

static bool is_same(const struct stat *what, const casparian_job_file *file)
{
    int64_t mtime_ns = (int64_t)what->st_mtim.tv_sec * 1000000000 + what->st_mtim.tv_nsec;
    return what->st_size == file->size && mtime_ns == file->mtime_ns &&
           (int64_t)what->st_ino == file->inode;
}

/* A failure of the host is the job's, unless the plugin has caused it. */
static mcp_status host_failure(casparian_drive *self, casparian_input *input, mcp_status st,
                               mcp_error *err)
{
    mcp_error cause = err ? *err : (mcp_error)MCP_ERROR_INIT;
    drop_pass(self);
    if (self->has_state_failed)
        return st;
    if (self->outputs.has_sink_failed)
        return casparian_drive_fail(self, "sink_error", "%s", cause.message);
    if (st == MCP_E_LIMIT || st == MCP_E_SCHEMA)
        return fail_file(self, input, st == MCP_E_LIMIT ? "output_limit" : "unsupported_value",
                         "schema_violation", cause.message, err);
    return casparian_drive_fail(self, "internal", "%s: %s", input->relative, cause.message);
}

static mcp_status guest_failure(casparian_drive *self, casparian_input *input,
                                const casparian_guest_outcome *outcome, mcp_error *err)
{
    drop_pass(self);
    if (self->deadline_ms > 0 && mcp_clock_mono_ms() >= self->deadline_ms)
        return casparian_drive_fail(self, "timeout", "job timed out after %lld s",
                                    (long long)(self->job.timeout_ms / 1000));
    return fail_by_plugin(self, input, outcome, err);
}

/* The file was read to its end: its rows count if it is still the same. */
static mcp_status finish(casparian_drive *self, casparian_input *input, int fd,
                         casparian_hasher *hasher, mcp_error *err)
{
    struct stat what;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = casparian_hasher_join(hasher, &cause);
    if (st != MCP_OK || fstat(fd, &what) != 0 || !is_same(&what, &input->file)) {
        drop_pass(self);
        return fail_file(self, input, "input_changed", "unknown",
                         st == MCP_OK ? "the file changed while it was read" : cause.message, err);
    }
    st = keep_pass(self, input, hasher->sha256, err);
    return st == MCP_OK ? MCP_OK : host_failure(self, input, st, err);
}

static void note_repaired(casparian_drive *self, const casparian_input *input,
                          const casparian_guest_outcome *outcome)
{
    if (outcome->repaired > 0 && !self->first_repaired)
        self->first_repaired = input->relative;
    self->repaired += outcome->repaired;
}

static mcp_status run_open(casparian_drive *self, casparian_input *input, int fd, mcp_error *err)
{
    casparian_guest_outcome outcome;
    casparian_hasher hasher;
    casparian_hasher_start(&hasher, fd, input->file.size);
    self->hasher = &hasher;
    mcp_status st = attempt(&outcome, self, input, fd, err);
    self->hasher = NULL;
    if (casparian_drive_should_stop(self)) {
        drop_pass(self);
        st = MCP_E_STOPPED;
    } else if (st != MCP_OK) {
        st = host_failure(self, input, st, err);
    } else if (outcome.failure != CASPARIAN_FAILURE_NONE) {
        st = guest_failure(self, input, &outcome, err);
    } else {
        note_repaired(self, input, &outcome);
        return finish(self, input, fd, &hasher, err);
    }
    casparian_hasher_drop(&hasher);
    return st;
}

mcp_status casparian_file_run(casparian_drive *self, casparian_input *input, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    struct stat what;
    int64_t started_ms = mcp_clock_mono_ms();
    bool is_frozen = self->approval.id != NULL;
    int fd = -1;
    FAULT_POINT("file-begun");
    self->current = input;
    self->current_bytes = 0;
    mcp_status st = casparian_input_open(&fd, self->driver->roots, input->file.path, &cause);
    if (st != MCP_OK)
        return fail_file(self, input, is_frozen ? "changed" : "file_not_found", "file_not_found",
                         cause.message, err);
    if (fstat(fd, &what) != 0 || !is_same(&what, &input->file))
        st = fail_file(self, input, is_frozen ? "changed" : "input_changed", "unknown",
                       "the file is not the one that was listed", err);
    else
        st = run_open(self, input, fd, err);
    close(fd);
    input->duration_ms = mcp_clock_mono_ms() - started_ms;
    if (st == MCP_OK)
        FAULT_POINT("file-done");
    return st;
}
