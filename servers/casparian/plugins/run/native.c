/*
 * native.c - guests of native plugins: one process for each file.
 *
 * Control messages come on standard error, rows on standard output, which is read within an output
 * only. native_stream.c says what they mean.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "plugins/run/guest_int.h"
#include "plugins/run/native_stream.h"

enum {
    HELLO_MS = 5000,
    READ_BYTES = 64 << 10,
    END_MS = 10000,
    EXIT_PERMANENT = 1,
    EXIT_TRANSIENT = 2,
};

struct native {
    casparian_guest *guest;
    const casparian_guest_file *file;
    casparian_intake *intake;
    proc *child;
    int64_t started_ms, measured_ms;
    casparian_native_stream stream;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* @return false: standard error is at its end */
static bool read_control(struct native *self)
{
    char bytes[READ_BYTES];
    size_t length = 0, room = casparian_native_room(&self->stream);
    mcp_status st = proc_read(self->child, PROC_STDERR, bytes,
                              room < sizeof bytes ? room : sizeof bytes, &length, 0, NULL);
    if (st == MCP_E_TIMEOUT)
        return true;
    if (st != MCP_OK || length == 0) {
        casparian_native_control_end(&self->stream);
        return false;
    }
    self->intake->heard_ms = mcp_clock_mono_ms();
    casparian_native_control(&self->stream, bytes, length);
    return true;
}

/* @return false: standard output is at its end */
static bool read_data(struct native *self)
{
    size_t room, length = 0;
    char *at = casparian_frames_space(&self->stream.blocks, &room);
    if (!at) {
        self->intake->status = mcp_error_set(self->intake->err, MCP_E_NOMEM,
                                             "no memory for a block of rows");
        return false;
    }
    mcp_status st = proc_read(self->child, PROC_STDOUT, at, room, &length, 0, NULL);
    if (st == MCP_E_TIMEOUT)
        return true;
    if (st != MCP_OK || length == 0)
        return false;
    casparian_frames_filled(&self->stream.blocks, length);
    self->intake->heard_ms = mcp_clock_mono_ms();
    return true;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* The words of a failure with the plugin's own path, where a copy of it is run. */
static void fail_start(struct native *self, casparian_failure failure, const char *words)
{
    const casparian_guest *guest = self->guest;
    const char *at = guest->copy ? strstr(words, guest->copy) : NULL;
    size_t length = at ? strlen(guest->copy) : 0;

    casparian_intake_fail(self->intake, failure, "%.*s%s%s", at ? (int)(at - words) : 0, words,
                          at ? guest->dir : "", at ? at + length : words);
}

static void start(struct native *self)
{
    casparian_guest *guest = self->guest;
    const casparian_plugin *plugin = &guest->plugin;
    const char *program[] = { plugin->entrypoint, self->file->path, NULL };
    const char *library[] = { plugin->host,    plugin->entrypoint, plugin->id,
                              plugin->version, self->file->path,   NULL };
    casparian_launch launch = { .plugin = &guest->plugin,
                                .options = &guest->options,
                                .protections = &guest->protections,
                                .scratch = guest->scratch,
                                .argv = plugin->host ? library : program,
                                .file = self->file };
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    proc_spec spec;
    mcp_status st = arena ? casparian_launch_spec(&spec, arena, &launch, &why) : MCP_E_NOMEM;
    if (st == MCP_OK)
        st = casparian_launch_start(&self->child, &spec, &why);
    mcp_arena_free(arena);
    if (st == MCP_E_UNSUPPORTED)
        fail_start(self, CASPARIAN_FAILURE_SANDBOX_FAILED, why.message);
    else if (st == MCP_E_DENIED || st == MCP_E_NOT_FOUND)
        fail_start(self, CASPARIAN_FAILURE_IMPORT_ERROR, why.message);
    else if (st != MCP_OK)
        self->intake->status = mcp_error_set(self->intake->err, st, "%s", why.message);
    else
        proc_protection_words(self->intake->outcome->sandbox, proc_held(self->child));
}

static void watch_hello(struct native *self)
{
    int64_t limit_ms = self->guest->options.limits.start_timeout_ms;
    if (limit_ms > HELLO_MS)
        limit_ms = HELLO_MS;
    if (!self->stream.has_hello && mcp_clock_mono_ms() - self->started_ms >= limit_ms)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_START_TIMEOUT,
                              "no hello within %lld ms", (long long)limit_ms);
}

/* Waits for something and takes it. Standard output is read within an output only. */
static void pump(struct native *self)
{
    bool has_room = casparian_native_room(&self->stream) > 0;
    struct pollfd fds[] = {
        { .fd = has_room ? proc_descriptor(self->child, PROC_STDERR) : -1, .events = POLLIN },
        { .fd = self->stream.is_in_data ? proc_descriptor(self->child, PROC_STDOUT) : -1,
          .events = POLLIN },
        { .fd = proc_end_descriptor(self->child), .events = POLLIN },
    };
    bool is_silent = fds[0].fd < 0 && fds[1].fd < 0;
    if (poll(fds, is_silent ? 3 : 2, CASPARIAN_POLL_MS) <= 0)
        return;
    if (fds[0].revents && !read_control(self))
        proc_close(self->child, PROC_STDERR);
    if (fds[1].revents && !read_data(self))
        proc_close(self->child, PROC_STDOUT);
}

/* Whether everything that the plugin said was taken, and it says no more. */
static bool is_at_end(const struct native *self)
{
    if (proc_descriptor(self->child, PROC_STDERR) >= 0 || self->stream.mark_count)
        return false;
    return !self->stream.is_in_data || proc_descriptor(self->child, PROC_STDOUT) < 0;
}

static void take_file(struct native *self)
{
    int64_t deadline_ms = casparian_guest_deadline(self->guest, self->file);
    self->measured_ms = self->started_ms;
    while (!casparian_intake_is_over(self->intake) && !is_at_end(self) &&
           !casparian_intake_has_enough(self->intake)) {
        pump(self);
        casparian_native_advance(&self->stream);
        watch_hello(self);
        casparian_guest_watch(self->guest, self->file, self->intake, deadline_ms,
                              &self->measured_ms);
    }
}

/* What the end of the process means. */
static void take_end(struct native *self)
{
    proc_end end = { .how = PROC_LOST, .code = -1 };
    proc_wait(self->child, &end, mcp_clock_mono_ms() + END_MS, NULL);
    self->intake->outcome->exit_code = end.code;
    self->intake->outcome->signal = end.signal;
    if (end.how == PROC_EXITED && (end.code == EXIT_PERMANENT || end.code == EXIT_TRANSIENT)) {
        casparian_native_fail(&self->stream);
        self->intake->outcome->is_retryable = end.code == EXIT_TRANSIENT;
    } else if (end.how != PROC_EXITED || end.code != 0) {
        casparian_guest_fail_end(self->intake, end.code, end.signal);
    } else {
        read_data(self); /* rows outside of an output */
        casparian_native_finish(&self->stream);
    }
}

static void run(struct native *self)
{
    start(self);
    if (!self->child)
        return;
    self->started_ms = mcp_clock_mono_ms();
    take_file(self);
    if (!casparian_intake_is_over(self->intake) && !casparian_intake_has_enough(self->intake))
        take_end(self);
    else
        casparian_guest_stop(self->child, self->intake->outcome->failure);
    proc_free(self->child);
}

void casparian_native_parse(casparian_guest *guest, const casparian_guest_file *file,
                            casparian_intake *intake)
{
    struct native *self = calloc(1, sizeof *self);
    if (!self) {
        intake->status = mcp_error_set(intake->err, MCP_E_NOMEM, "no memory for a file");
        return;
    }
    self->guest = guest;
    self->file = file;
    self->intake = intake;
    casparian_native_init(&self->stream, &guest->plugin, intake);
    if (guest->options.checks_schema_hash)
        self->stream.schema_hashes = guest->schema_hashes;
    intake->row_limit = file->row_limit > 0 ? (uint64_t)file->row_limit : 0;
    run(self);
    casparian_native_clear(&self->stream);
    free(self);
}
