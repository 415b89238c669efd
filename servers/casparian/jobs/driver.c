/*
 * driver.c - the way of a job from its claim to its end, and what is prepared before one.
 *
 * Functions of the way return MCP_E_DENIED once the job fails (self->error_code says why),
 * MCP_E_STOPPED when it should stop, and other statuses when the state cannot be written; then the
 * lease ends, and the runner that recovers the job decides.
 */
#include "jobs/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/drive/commit.h"
#include "jobs/drive/destination/destinations.h"
#include "jobs/drive/file.h"
#include "jobs/drive/input/inputs.h"
#include "jobs/drive/journal.h"
#include "jobs/drive/outputs.h"
#include "jobs/drive/plan.h"
#include "jobs/drive/warm.h"
#include "jobs/ephemeral.h"
#include "jobs/plugins/reason.h"
#include "mcp/clock.h"

enum { WARNINGS_MAX = 64 << 10, FAIL_FAST_AFTER = 10, FAIL_FAST_TRIED = 3, SAMPLED_MAX = 20 };

/* ---- the driver ------------------------------------------------------------------------------ */

mcp_status casparian_driver_new(casparian_driver **out, const casparian_driver_options *options,
                                mcp_error *err)
{
    static const char *const everything[] = { "/" };
    mcp_status st = MCP_OK;
    casparian_driver *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the driver");
    self->options = *options;
    if (!self->options.redaction)
        self->options.redaction = &casparian_redaction_defaults;
    self->program = options->program ? options->program : "casparian " CAUSEWAY_VERSION;
    if (!options->roots)
        st = guard_new(&self->anywhere, everything, 1, err);
    if (st == MCP_OK)
        st = casparian_warm_new(&self->warm, err);
    self->roots = options->roots ? options->roots : self->anywhere;
    if (st == MCP_OK)
        *out = self;
    else
        casparian_driver_free(self);
    return st;
}

void casparian_driver_free(casparian_driver *self)
{
    if (!self)
        return;
    casparian_warm_free(self->warm);
    guard_free(self->anywhere);
    free(self);
}

/* ---- what the files of the folder share ------------------------------------------------------ */

mcp_status casparian_drive_fail(casparian_drive *self, const char *code, const char *format, ...)
{
    va_list arguments;
    if (self->error_code)
        return MCP_E_DENIED;
    self->error_code = code;
    va_start(arguments, format);
    vsnprintf(self->error, sizeof self->error, format, arguments);
    va_end(arguments);
    return MCP_E_DENIED;
}

void casparian_drive_warn(casparian_drive *self, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t at = 0; at < self->warnings.length; at += strlen(self->warnings.data + at) + 1)
        if (strcmp(self->warnings.data + at, text) == 0)
            return;
    if (self->warnings.length + strlen(text) < WARNINGS_MAX - 1)
        mcp_buf_append(&self->warnings, text, strlen(text) + 1);
}

bool casparian_drive_should_stop(void *data)
{
    const casparian_drive *self = data;
    return atomic_load(self->stop) != CASPARIAN_STOP_NONE;
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* Lines for each byte of some of the files, as far as they are texts; negative: unknown. */
static double lines_per_byte(const guard *roots, const casparian_job_file *files, size_t count)
{
    char block[32768];
    int64_t bytes = 0;
    int64_t lines = 0;
    for (size_t i = 0; i < count && i < SAMPLED_MAX; i++) {
        int fd = -1;
        if (casparian_input_open(&fd, roots, files[i].path, NULL) != MCP_OK)
            continue;
        ssize_t got = read(fd, block, sizeof block);
        close(fd);
        if (got <= 0 || memchr(block, '\0', (size_t)got))
            continue;
        bytes += got;
        for (ssize_t k = 0; k < got; k++)
            lines += block[k] == '\n';
    }
    return bytes > 0 && lines > 0 ? (double)lines / (double)bytes : -1;
}

static mcp_status estimate(casparian_prepared *out, casparian_driver *self, const char *input,
                           mcp_error *err)
{
    const db_value values[] = { db_text(out->plugin.artifact_hash), db_text(input),
                                db_int((int64_t)out->file_count) };
    db_session *session = NULL;
    int64_t rows = -1;
    mcp_status st = db_begin(&session, casparian_store_database(self->options.store), DB_READ, err);
    if (st == MCP_OK)
        st = casparian_query_int(&rows, -1, session,
                                 "SELECT result_rows_processed FROM cf_api_jobs WHERE job_type = "
                                 "'backtest' AND status = 'completed' AND artifact_hash = $1 AND "
                                 "input_dir = $2 AND progress_items_total = $3 ORDER BY job_id "
                                 "DESC LIMIT 1",
                                 values, 3, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK && rows < 0) {
        double density = lines_per_byte(self->roots, out->files, out->file_count);
        rows = density > 0 ? (int64_t)(density * (double)out->total_bytes) : -1;
    }
    out->estimated_rows = rows;
    return st;
}

static mcp_status list_files(casparian_prepared *out, casparian_driver *self, mcp_arena *arena,
                             const casparian_prepare_request *request, const casparian_spec *spec,
                             mcp_error *err)
{
    const casparian_listing listing = { .input = request->input,
                                        .pattern = spec->pattern,
                                        .settings = &out->plugin.settings,
                                        .max_files = spec->max_files,
                                        .store = self->options.store };
    casparian_job_file *files = NULL;
    mcp_status st = casparian_inputs_list(&files, &out->file_count, self->roots, arena, &listing,
                                          err);
    if (st == MCP_OK && request->sink)
        st = casparian_inputs_keep(files, &out->file_count, self->options.store, spec,
                                   out->plugin.id, request->sink->text, err);
    out->files = files;
    for (size_t i = 0; st == MCP_OK && i < out->file_count; i++)
        out->total_bytes += files[i].size;
    return st == MCP_OK ? estimate(out, self, request->input, err) : st;
}

mcp_status casparian_driver_prepare(casparian_prepared *out, casparian_plugin_problem *problem,
                                    casparian_driver *self, mcp_arena *arena,
                                    const casparian_prepare_request *request, mcp_error *err)
{
    static const casparian_spec nothing;
    const casparian_settings *settings = casparian_store_settings(self->options.store);
    const casparian_spec *spec = request->spec ? request->spec : &nothing;
    casparian_prepared made = { .estimated_rows = -1 };
    casparian_plan plan = { .schema_count = 0 };
    casparian_plugin_ref ref = { 0 };
    *problem = (casparian_plugin_problem){ 0 };
    mcp_status st = casparian_plugin_ref_read(&ref, arena, request->plugin_ref, err);
    if (st == MCP_E_PARAMS)
        problem->code = "invalid_arguments";
    if (st == MCP_OK)
        st = casparian_plan_plugin(&made.plugin, problem, self, arena, &ref, request->plugin_path,
                                   err);
    if (st == MCP_OK)
        st = casparian_plan_schemas(&plan, self->options.store, arena, &made.plugin, spec, err);
    if (st != MCP_OK)
        return st;
    made.job_plugin = (casparian_job_plugin){ .name = made.plugin.id,
                                              .version = made.plugin.version,
                                              .path = request->plugin_path,
                                              .artifact_hash = mcp_arena_strdup(
                                                  arena, made.plugin.artifact_hash),
                                              .ref = request->plugin_ref };
    if (!made.job_plugin.artifact_hash)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a job");
    made.schemas = plan.schemas;
    made.schema_count = plan.schema_count;
    made.quarantine = casparian_quarantine_of_run(&settings->quarantine, &plan.contract,
                                                  &spec->quarantine);
    if (request->lists_files)
        st = list_files(&made, self, arena, request, spec, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status casparian_driver_foresee(const casparian_foreseen **out, casparian_driver *self,
                                    mcp_arena *arena, const casparian_prepared *prepared,
                                    const casparian_sink_uri *sink, const casparian_spec *spec,
                                    mcp_error *err)
{
    size_t count = prepared->file_count;
    casparian_foreseen *all = mcp_arena_array(arena, count + 1, sizeof *all);
    casparian_drive drive = { .driver = self,
                              .store = self->options.store,
                              .arena = arena,
                              .spec = *spec,
                              .plugin = prepared->plugin,
                              .uri = *sink,
                              .outputs = { .schemas = prepared->schemas,
                                           .schema_count = prepared->schema_count },
                              .inputs = mcp_arena_array(arena, count + 1, sizeof *drive.inputs),
                              .input_count = count };
    if (!all || !drive.inputs)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for files");
    for (size_t i = 0; i < count; i++)
        drive.inputs[i] = (casparian_input){ .file = prepared->files[i] };
    mcp_status st = casparian_destinations_read(&drive, err);
    if (st == MCP_OK)
        st = casparian_inputs_foresee(&drive, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        all[i] = drive.inputs[i].status         ? CASPARIAN_FORESEEN_DONE
                 : drive.inputs[i].file_id == 0 ? CASPARIAN_FORESEEN_NEW
                                                : CASPARIAN_FORESEEN_OPEN;
    *out = all;
    return st;
}

/* ---- discovery ------------------------------------------------------------------------------- */

/* What is changed of the caller's policy is a warning of the result. */
static mcp_status read_redaction(casparian_drive *self, mcp_error *err)
{
    const mcp_json *changes = NULL;
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, WARNINGS_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_array(&json);
    casparian_redaction_read(&self->redaction, self->driver->options.redaction,
                             self->spec.redaction, &json);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_json_read(&changes, self->arena, text.data, text.length, err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(changes); i++)
        casparian_drive_warn(self, "%s", mcp_json_string(mcp_json_item(changes, i), NULL));
    mcp_buf_clear(&text);
    return st;
}

static mcp_status read_job(casparian_drive *self, mcp_error *err)
{
    mcp_status st = casparian_job_read(&self->job, self->store, self->arena, self->claim->job, err);
    if (st == MCP_OK)
        st = casparian_spec_read(&self->spec, self->arena, self->job.spec, err);
    if (st == MCP_OK && self->job.approval_id)
        st = casparian_approval_read(&self->approval, self->store, self->arena,
                                     self->job.approval_id, err);
    if (st != MCP_OK)
        return st;
    st = read_redaction(self, err);
    self->deadline_ms = self->started_ms + self->job.timeout_ms;
    return st;
}

static mcp_status find_plugin(casparian_drive *self, mcp_error *err)
{
    casparian_plugin_problem problem = { 0 };
    const char *path = self->job.plugin_path;
    /* The version that was found when the job was made, also where the caller named none. */
    const casparian_plugin_ref ref = { .id = path ? NULL : self->job.plugin_name,
                                       .version = path ? NULL : self->job.plugin_version,
                                       .path = path };
    mcp_status st = casparian_plan_plugin(&self->plugin, &problem, self->driver, self->arena, &ref,
                                          path, err);
    if (st != MCP_OK) {
        const char *code = problem.code ? problem.code : "plugin_error";
        bool is_own = strcmp(code, "plugin_not_trusted") == 0 ||
                      strcmp(code, "plugin_modified") == 0;
        if (self->approval.id && strcmp(code, "plugin_modified") == 0)
            code = "approval_stale";
        return casparian_drive_fail(self, is_own ? code : "plugin_error", "%s", err->message);
    }
    const char *approved = mcp_json_get_string(self->approval.snapshot, "artifact_hash");
    if (self->approval.id && (!approved || strcmp(approved, self->plugin.artifact_hash) != 0))
        return casparian_drive_fail(self, "approval_stale",
                                    "the plugin %s has changed since the request: ask again",
                                    self->plugin.display);
    if (self->plugin.is_unsigned)
        mcp_log_write(casparian_store_log(self->store), MCP_LOG_WARNING,
                      "job %lld runs the unsigned plugin %s", (long long)self->job.id,
                      self->plugin.display);
    self->redaction.words = casparian_words_new(&self->plugin);
    self->redaction.is_known = casparian_words_has;
    return self->redaction.words ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a job");
}

static mcp_status find_schemas(casparian_drive *self, mcp_error *err)
{
    const mcp_json *snapshot = self->approval.snapshot;
    casparian_plan plan = { .schema_count = 0 };
    casparian_quarantine bound = { 0 };
    mcp_status st = snapshot ? casparian_plan_bound(&plan, self->arena, snapshot, err)
                             : casparian_plan_schemas(&plan, self->store, self->arena,
                                                      &self->plugin, &self->spec, err);
    if (st == MCP_OK && snapshot)
        st = casparian_quarantine_read(&bound, mcp_json_get(snapshot, "quarantine"), err);
    if (st != MCP_OK)
        return casparian_drive_fail(self, "internal", "%s", err->message);
    if (snapshot)
        self->spec.quarantine_dir = mcp_json_get_string(snapshot, "quarantine_dir");
    self->policy = casparian_quarantine_of_run(&self->settings->quarantine, &plan.contract,
                                               snapshot ? &bound : &self->spec.quarantine);
    self->outputs.schemas = plan.schemas;
    self->outputs.schema_count = plan.schema_count;
    if (self->spec.ephemeral_id && !snapshot)
        casparian_ephemeral_use(self->store, self->spec.ephemeral_id, self->job.id, NULL);
    return MCP_OK;
}

/* Outputs that the plugin declares are there from the beginning, also without a row. */
static mcp_status add_declared(casparian_drive *self, mcp_error *err)
{
    casparian_output *output = NULL;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->plugin.output_count; i++)
        st = casparian_outputs_find(&output, &self->outputs, self->plugin.outputs[i], err);
    for (size_t i = 0; st == MCP_OK && i < self->plugin.schemas.count; i++)
        st = casparian_outputs_find(&output, &self->outputs, self->plugin.schemas.items[i].output,
                                    err);
    if (st == MCP_OK)
        return MCP_OK;
    return casparian_drive_fail(self, self->outputs.has_sink_failed ? "sink_error" : "internal",
                                "%s", err->message);
}

static mcp_status prepare_run(casparian_drive *self, mcp_error *err)
{
    mcp_status st = casparian_sink_uri_read(&self->uri, self->arena, self->job.sink_uri, "/", err);
    if (st == MCP_OK)
        st = casparian_destinations_read(self, err);
    if (st != MCP_OK)
        return casparian_drive_fail(self, "sink_error", "%s", err->message);
    if (self->approval.id && self->spec.route_count > 0)
        return casparian_drive_fail(self, "sink_error",
                                    "a run that was approved has exactly one sink");
    st = casparian_inputs_skip(self, err);
    if (st != MCP_OK || self->skipped == self->input_count)
        return st;
    return casparian_destinations_open(self, err);
}

static mcp_status make_guest(casparian_drive *self, mcp_error *err)
{
    char job[24];
    const char *const inputs[] = { self->job.input_dir };
    snprintf(job, sizeof job, "%lld", (long long)self->job.id);
    mcp_status st = casparian_guest_make(&self->guest, self->store, &self->plugin, job, inputs, 1,
                                         self->job.type == CASPARIAN_JOB_RUN, err);
    if (st == MCP_E_EXISTS)
        return casparian_drive_fail(self, self->approval.id ? "approval_stale" : "plugin_modified",
                                    "%s", err->message);
    return st == MCP_OK ? MCP_OK : casparian_drive_fail(self, "plugin_error", "%s", err->message);
}

static mcp_status discover(casparian_drive *self, mcp_error *err)
{
    bool is_run = self->job.type == CASPARIAN_JOB_RUN;
    mcp_status st = casparian_journal_phase(self, "discovery", err);
    if (st == MCP_OK)
        st = find_plugin(self, err);
    if (st == MCP_OK)
        st = find_schemas(self, err);
    if (st != MCP_OK)
        return st;
    st = casparian_inputs_read(self, err);
    if (st != MCP_OK)
        return casparian_drive_fail(self, "internal", "%s", err->message);
    st = is_run ? prepare_run(self, err) : casparian_inputs_order(self, err);
    if (st == MCP_OK && !(is_run && !self->outputs.sink))
        st = add_declared(self, err);
    return st == MCP_OK && self->input_count > self->skipped ? make_guest(self, err) : st;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Failures that no other file would be without. */
static bool is_of_plugin(const casparian_input *input)
{
    static const char *const kinds[] = { "import_error", "sandbox_failed", "start_timeout",
                                         "protocol_error", "arrow_not_supported" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(input->kind, kinds[i]) == 0)
            return true;
    return false;
}

static mcp_status after_failure(casparian_drive *self, const casparian_input *input)
{
    self->failed++;
    if (self->passed == 0 &&
        (strcmp(input->kind, "import_error") == 0 || strcmp(input->kind, "sandbox_failed") == 0))
        return casparian_drive_fail(self, "plugin_error", "%s", input->error);
    if (self->settings->jobs.fails_on_file_error)
        return casparian_drive_fail(self, "plugin_error", "%s: %s", input->relative, input->error);
    return MCP_OK;
}

/* Files that failed before fail again: the others would, too. */
static bool is_hopeless(const casparian_drive *self)
{
    return self->spec.fail_fast && self->job.type == CASPARIAN_JOB_BACKTEST &&
           self->processed >= FAIL_FAST_AFTER && self->high_tried >= FAIL_FAST_TRIED &&
           10 * self->high_failed >= 8 * self->high_tried;
}

static mcp_status run_file(casparian_drive *self, casparian_input *input, mcp_error *err)
{
    mcp_status st = casparian_file_run(self, input, err);
    if (st != MCP_OK)
        return st;
    bool has_failed = input->kind != NULL;
    self->processed++;
    self->passed += !has_failed;
    self->bytes_read += input->file.size;
    self->current_bytes = 0;
    self->high_tried += input->is_high_failure;
    self->high_failed += input->is_high_failure && has_failed;
    st = has_failed ? after_failure(self, input) : MCP_OK;
    return st == MCP_OK ? casparian_journal_tick(self, err) : st;
}

static mcp_status run_files(casparian_drive *self, mcp_error *err)
{
    mcp_status st = casparian_journal_phase(self, "parsing", err);
    for (size_t i = 0; st == MCP_OK && i < self->input_count; i++) {
        if (strcmp(self->inputs[i].status, "pending") != 0)
            continue;
        if (casparian_drive_should_stop(self))
            return MCP_E_STOPPED;
        if (mcp_clock_mono_ms() >= self->deadline_ms)
            return casparian_drive_fail(self, "timeout", "job timed out after %lld s",
                                        (long long)(self->job.timeout_ms / 1000));
        st = run_file(self, &self->inputs[i], err);
        if (st == MCP_OK && is_hopeless(self)) {
            casparian_drive_warn(self, "stopped early: files that failed before fail again");
            break;
        }
    }
    return st;
}

/* All files have failed: the job does, and says whose fault it is. */
static mcp_status judge_files(casparian_drive *self)
{
    const casparian_input *first = NULL;
    bool of_plugin = true;
    bool of_memory = true;
    if (self->processed == 0 || self->passed > 0)
        return MCP_OK;
    for (size_t i = 0; i < self->input_count; i++) {
        if (!self->inputs[i].kind)
            continue;
        first = first ? first : &self->inputs[i];
        of_plugin = of_plugin && is_of_plugin(&self->inputs[i]);
        of_memory = of_memory && strcmp(self->inputs[i].kind, "memory_limit") == 0;
    }
    return casparian_drive_fail(self,
                                of_memory   ? "memory_limit"
                                : of_plugin ? "plugin_error"
                                            : "all_files_failed",
                                "all %zu files failed; the first: %s: %s", self->failed,
                                first->relative, first->error);
}

static void warn_of_schemas(casparian_drive *self)
{
    for (size_t i = 0; i < self->outputs.schema_count; i++) {
        const char *name = self->outputs.schemas[i].schema->output;
        const casparian_output *output = self->outputs.first;
        while (output && strcmp(output->name, name) != 0)
            output = output->next;
        if ((!output || !output->has_emitted) &&
            self->outputs.schemas[i].source <= CASPARIAN_SCHEMA_EPHEMERAL && self->passed > 0)
            casparian_drive_warn(self, "output '%s' was not emitted", name);
    }
    for (const casparian_output *output = self->outputs.first; output; output = output->next) {
        const char *flaw = casparian_output_flaw(output, self->arena);
        if (flaw)
            casparian_drive_warn(self, CASPARIAN_FLAW_FORMAT, output->name, flaw);
        else if (output->has_emitted && output->source == CASPARIAN_SCHEMA_INFERRED)
            casparian_drive_warn(self, "output '%s' has no declared schema: it was inferred",
                                 output->name);
    }
}

/* Letters are lost for good where a file is in another encoding than its parser reads. */
static void warn_of_texts(casparian_drive *self)
{
    if (self->repaired > 0)
        casparian_drive_warn(self, CASPARIAN_REPAIRED_FORMAT, (unsigned long long)self->repaired,
                             self->first_repaired);
}

static mcp_status work(casparian_drive *self, mcp_error *err)
{
    mcp_status st = discover(self, err);
    if (st == MCP_OK)
        st = run_files(self, err);
    if (st == MCP_OK)
        st = judge_files(self);
    if (st != MCP_OK)
        return st;
    warn_of_schemas(self);
    warn_of_texts(self);
    if (casparian_drive_should_stop(self))
        return MCP_E_STOPPED;
    return self->job.type == CASPARIAN_JOB_RUN
               ? casparian_drive_commit(self, err)
               : casparian_drive_end(self, CASPARIAN_JOB_COMPLETED, NULL, NULL, true, err);
}

/* ---- the end --------------------------------------------------------------------------------- */

static mcp_status end_stopped(casparian_drive *self, mcp_error *err)
{
    switch (atomic_load(self->stop)) {
    case CASPARIAN_STOP_SHUTDOWN:
        return casparian_claim_give_back(self->store, self->claim, err);
    case CASPARIAN_STOP_LOST:
        return mcp_error_set(err, MCP_E_STOPPED, "job %lld has another runner now",
                             (long long)self->claim->job);
    default:
        return casparian_drive_end(self, CASPARIAN_JOB_CANCELLED, NULL, "Cancelled by user", false,
                                   err);
    }
}

static mcp_status end(casparian_drive *self, mcp_status st, mcp_error *err)
{
    /* Nothing that is not committed may be left before the state says that the job has ended. */
    casparian_sink_abort(self->outputs.sink);
    self->outputs.sink = NULL;
    casparian_guest_free(self->guest);
    self->guest = NULL;
    if (st == MCP_E_DENIED && self->error_code)
        return casparian_drive_end(self, CASPARIAN_JOB_FAILED, self->error_code, self->error,
                                   self->processed > 0, err);
    if (st == MCP_E_DENIED) /* the commit guard has found a cancellation */
        return casparian_drive_end(self, CASPARIAN_JOB_CANCELLED, NULL, "Cancelled by user", false,
                                   err);
    if (st == MCP_E_STOPPED && atomic_load(self->stop) != CASPARIAN_STOP_NONE)
        return end_stopped(self, err);
    return st;
}

static void clear(casparian_drive *self)
{
    casparian_sink_abort(self->outputs.sink);
    casparian_guest_free(self->guest);
    casparian_outputs_free(&self->outputs);
    casparian_words_free(self->redaction.words);
    casparian_journal_free(&self->journal);
    mcp_buf_clear(&self->warnings);
    casparian_destinations_close(self);
    if (self->log_fd >= 0)
        close(self->log_fd);
    mcp_arena_free(self->arena);
}

mcp_status casparian_driver_run(casparian_driver *self, const casparian_claim *claim,
                                const atomic_int *stop, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT; /* the messages of failures are needed */
    casparian_drive drive = { .driver = self,
                              .store = self->options.store,
                              .settings = casparian_store_settings(self->options.store),
                              .claim = claim,
                              .stop = stop,
                              .arena = mcp_arena_new(CASPARIAN_DRIVE_ARENA_MAX),
                              .log_fd = -1,
                              .phase = "discovery",
                              .started_ms = mcp_clock_mono_ms() };
    if (!drive.arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a job");
    drive.outputs.arena = drive.arena;
    drive.outputs.drive = &drive;
    drive.outputs.redaction = &drive.redaction;
    mcp_buf_init(&drive.warnings, WARNINGS_MAX);
    casparian_journal_init(&drive.journal);
    mcp_status st = read_job(&drive, &cause);
    if (st == MCP_OK)
        st = end(&drive, work(&drive, &cause), &cause);
    clear(&drive);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "%s", cause.message);
}

mcp_status casparian_driver_recover(casparian_driver *self, const casparian_claim *claim,
                                    mcp_error *err)
{
    casparian_store *store = self->options.store;
    casparian_recovered how;
    const char *intent = NULL;
    bool is_committed = false;
    mcp_arena *arena = mcp_arena_new(4 << 20);
    mcp_status st = arena ? casparian_claim_intent(&intent, store, arena, claim, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for a recovery");
    if (st == MCP_OK && intent)
        st = casparian_settle(&is_committed, store, claim, intent, err);
    if (st != MCP_OK && st != MCP_E_STOPPED && intent)
        casparian_claim_defer_intent(store, claim, NULL);
    mcp_arena_free(arena);
    return st == MCP_OK && !is_committed ? casparian_claim_recover(&how, store, claim, err) : st;
}
