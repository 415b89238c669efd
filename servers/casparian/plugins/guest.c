/*
 * guest.c - what is common to the guests of both runtimes.
 */
#include "plugins/run/guest_int.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "plugins/run/copy.h"

enum {
    START_TIMEOUT_MS = 30000,
    IDLE_TIMEOUT_MS = 300000,
    FILE_TIMEOUT_MS = 600000,
    CPU_S = 1860,
    MEASURE_MS = 1000,
    STOP_WAIT_MS = 3400, /* SIGTERM, 3 s of grace, and what SIGKILL takes */
    FILTER_MAX = 64 << 10,
    LOG_READ = 64 << 10,
};

static const uint64_t memory_bytes = UINT64_C(2) << 30;
static const uint64_t output_bytes = UINT64_C(10) << 30;
static const uint64_t scratch_bytes = UINT64_C(64) << 20;
static const uint64_t log_bytes = UINT64_C(10) << 20;

bool casparian_sandbox_level(char words[CASPARIAN_SANDBOX_WORDS_SIZE])
{
    return casparian_protections_level(words);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void complete(casparian_guest_limits *limits)
{
    if (!limits->memory_bytes)
        limits->memory_bytes = memory_bytes;
    if (!limits->output_bytes)
        limits->output_bytes = output_bytes;
    if (!limits->scratch_bytes)
        limits->scratch_bytes = scratch_bytes;
    if (!limits->log_bytes)
        limits->log_bytes = log_bytes;
    if (!limits->start_timeout_ms)
        limits->start_timeout_ms = START_TIMEOUT_MS;
    if (!limits->idle_timeout_ms)
        limits->idle_timeout_ms = IDLE_TIMEOUT_MS;
    if (!limits->file_timeout_ms)
        limits->file_timeout_ms = FILE_TIMEOUT_MS;
    if (!limits->cpu_s)
        limits->cpu_s = CPU_S;
}

/* Copies strings that may be NULL; counts what had no memory. */
static const char *keep(mcp_arena *arena, const char *text, size_t *failures)
{
    const char *copy = mcp_arena_strdup(arena, text);
    *failures += text && !copy;
    return copy;
}

static const char *const *keep_all(mcp_arena *arena, const char *const *texts, size_t count,
                                   size_t *failures)
{
    const char **copies = mcp_arena_array(arena, count + 1, sizeof *copies);
    *failures += !copies;
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = keep(arena, texts[i], failures);
    return copies;
}

/* Copies what a guest uses of its plugin. */
static size_t keep_plugin(casparian_guest *self, const casparian_plugin *from)
{
    casparian_plugin *to = &self->plugin;
    mcp_arena *arena = self->arena;
    size_t failures = 0;

    to->id = keep(arena, from->id, &failures);
    to->version = keep(arena, from->version, &failures);
    to->display = keep(arena, from->display, &failures);
    to->runtime = from->runtime;
    to->origin = from->origin;
    to->is_module = from->is_module;
    memcpy(to->artifact_hash, from->artifact_hash, sizeof to->artifact_hash);
    to->dir = keep(arena, from->dir, &failures);
    to->host = keep(arena, from->host, &failures);
    to->entrypoint = keep(arena, from->entrypoint, &failures);
    to->python = keep(arena, from->python, &failures);
    to->outputs = keep_all(arena, from->outputs, from->output_count, &failures);
    to->output_count = from->output_count;
    to->default_output = keep(arena, from->default_output, &failures);
    to->settings = from->settings;
    to->settings.id = NULL;
    to->settings.patterns = NULL;
    to->settings.pattern_count = 0;
    to->settings.env = keep_all(arena, from->settings.env, from->settings.env_count, &failures);
    return failures;
}

/* The hashes by which a native plugin names the schemas that it was written for. */
static mcp_status keep_hashes(casparian_guest *self, const casparian_plugin *plugin, mcp_error *err)
{
    mcp_status st = MCP_OK;
    self->schema_hashes = mcp_arena_array(self->arena, plugin->output_count + 1,
                                          sizeof *self->schema_hashes);
    if (!self->schema_hashes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a guest");
    for (size_t i = 0; i < plugin->output_count && st == MCP_OK; i++) {
        const casparian_definition *definition = casparian_schemas_find(&plugin->schemas,
                                                                        plugin->outputs[i]);
        if (definition)
            st = casparian_definition_protocol_hash(self->schema_hashes[i], definition, err);
    }
    return st;
}

static size_t keep_options(casparian_guest *self, const casparian_guest_options *from)
{
    casparian_guest_options *to = &self->options;
    size_t failures = 0;

    *to = *from;
    to->job_id = keep(self->arena, from->job_id, &failures);
    to->scratch_dir = keep(self->arena, from->scratch_dir, &failures);
    to->inputs = keep_all(self->arena, from->inputs, from->input_count, &failures);
    to->env = keep_all(self->arena, from->env, from->env_count, &failures);
    if (self->plugin.settings.memory_limit_mb > 0)
        to->limits.memory_bytes = (uint64_t)self->plugin.settings.memory_limit_mb << 20;
    complete(&to->limits);
    return failures;
}

mcp_status casparian_guest_new(casparian_guest **out, const casparian_plugin *plugin,
                               const casparian_guest_options *options, mcp_error *err)
{
    if (!options->scratch_dir || options->scratch_dir[0] != '/')
        return mcp_error_set(err, MCP_E_PARAMS, "a guest needs an absolute scratch folder");
    if (plugin->runtime == CASPARIAN_PYTHON && !plugin->python)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "%s: no Python interpreter was found; install python3 or set "
                             "[plugins] python",
                             plugin->display);
    casparian_guest *self = calloc(1, sizeof *self);
    mcp_arena *arena = mcp_arena_new(0);
    if (!self || !arena) {
        free(self);
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a guest");
    }
    self->arena = arena;
    self->channel = -1;
    casparian_frames_init(&self->answers);
    mcp_buf_init(&self->filter, FILTER_MAX);
    mcp_buf_init(&self->load_error, CASPARIAN_FRAME_JSON_MAX);
    size_t failures = keep_plugin(self, plugin) + keep_options(self, options);
    mcp_status st = failures ? mcp_error_set(err, MCP_E_NOMEM, "no memory for a guest") : MCP_OK;
    if (st == MCP_OK)
        st = keep_hashes(self, plugin, err);
    if (st == MCP_OK)
        st = casparian_protections_choose(&self->protections, plugin, options->sandbox, err);
    unsigned filtered = self->protections.file & ~(unsigned)PROC_FILES;
    if (st == MCP_OK && filtered)
        st = proc_filter(&self->filter, filtered, err);
    if (st == MCP_OK)
        st = casparian_scratch_make(&self->scratch, arena, self->options.scratch_dir,
                                    self->protections.uid, err);
    self->dir = self->plugin.dir;
    if (st == MCP_OK && options->copies_plugin && plugin->origin == CASPARIAN_DEV)
        st = casparian_copy_make(&self->copy, &self->plugin, arena, self->options.scratch_dir, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_guest_free(self);
    return st;
}

void casparian_guest_free(casparian_guest *self)
{
    if (!self)
        return;
    casparian_python_end(self);
    if (self->scratch)
        casparian_scratch_remove(self->scratch, true);
    if (self->copy)
        casparian_scratch_remove(self->copy, true);
    casparian_frames_clear(&self->answers);
    mcp_buf_clear(&self->filter);
    mcp_buf_clear(&self->load_error);
    mcp_arena_free(self->arena);
    free(self);
}

bool casparian_guest_is_warm(const casparian_guest *self)
{
    return self->child && self->is_loaded;
}

/* ---- one file -------------------------------------------------------------------------------- */

int64_t casparian_guest_deadline(const casparian_guest *self, const casparian_guest_file *file)
{
    int64_t deadline = mcp_clock_mono_ms() + self->options.limits.file_timeout_ms;
    return file->until_ms && file->until_ms < deadline ? file->until_ms : deadline;
}

void casparian_guest_watch(casparian_guest *self, const casparian_guest_file *file,
                           casparian_intake *intake, int64_t deadline_ms, int64_t *measured_ms)
{
    const casparian_guest_limits *limits = &self->options.limits;
    int64_t now = mcp_clock_mono_ms();

    if (file->should_stop && file->should_stop(file->data))
        casparian_intake_fail(intake, CASPARIAN_FAILURE_CANCELLED, "the file was cancelled");
    if (now >= deadline_ms)
        casparian_intake_fail(intake, CASPARIAN_FAILURE_FILE_TIMEOUT,
                              "the file took longer than its time limit (file_timeout_ms)");
    if (now - intake->heard_ms >= limits->idle_timeout_ms)
        casparian_intake_fail(intake, CASPARIAN_FAILURE_IDLE_TIMEOUT,
                              "nothing was heard of the plugin for %lld ms (idle_timeout_ms)",
                              (long long)limits->idle_timeout_ms);
    if (now - *measured_ms < MEASURE_MS)
        return;
    *measured_ms = now;
    if (casparian_scratch_bytes(self->scratch) > limits->scratch_bytes)
        casparian_intake_fail(intake, CASPARIAN_FAILURE_OUTPUT_LIMIT,
                              "the plugin's files in its scratch folder have more than %llu bytes "
                              "(scratch_mb)",
                              (unsigned long long)limits->scratch_bytes);
}

bool casparian_guest_read_log(proc *child, proc_stream stream, casparian_intake *intake,
                              casparian_lines *lines)
{
    char bytes[LOG_READ];
    size_t length = 0;
    mcp_status st = proc_read(child, stream, bytes, sizeof bytes, &length, 0, NULL);
    if (st == MCP_E_TIMEOUT)
        return true;
    if (st != MCP_OK || length == 0)
        return false;
    intake->heard_ms = mcp_clock_mono_ms();
    casparian_intake_text(intake, lines, bytes, length);
    return true;
}

void casparian_guest_fail_end(casparian_intake *intake, int exit_code, int signal_number)
{
    if (casparian_intake_is_over(intake))
        return;
    intake->outcome->signal = signal_number;
    intake->outcome->exit_code = exit_code;
    if (signal_number == SIGXCPU)
        casparian_intake_fail(intake, CASPARIAN_FAILURE_FILE_TIMEOUT,
                              "the plugin used all of its processor time");
    else if (signal_number)
        casparian_intake_fail(intake, CASPARIAN_FAILURE_CRASHED,
                              "the plugin was ended by signal %d (%s) without an answer",
                              signal_number, strsignal(signal_number));
    else
        casparian_intake_fail(intake, CASPARIAN_FAILURE_CRASHED,
                              "the plugin exited with code %d without an answer", exit_code);
}

void casparian_guest_stop(proc *child, casparian_failure failure)
{
    proc_end end;

    if (failure == CASPARIAN_FAILURE_CANCELLED) {
        proc_stop(child);
        proc_wait(child, &end, mcp_clock_mono_ms() + STOP_WAIT_MS, NULL);
    }
    proc_kill(child);
}

mcp_status casparian_guest_parse(casparian_guest_outcome *outcome, casparian_guest *self,
                                 const casparian_guest_file *file,
                                 const casparian_guest_events *events, mcp_error *err)
{
    casparian_intake *intake = malloc(sizeof *intake);
    if (!intake)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a file");
    casparian_intake_init(intake, outcome, &self->options.limits, events, err);
    if (self->plugin.runtime == CASPARIAN_PYTHON)
        casparian_python_parse(self, file, intake);
    else
        casparian_native_parse(self, file, intake);
    casparian_intake_clear(intake);
    casparian_scratch_remove(self->scratch, false);
    mcp_status st = intake->status;
    free(intake);
    return st;
}
