/*
 * native.c - guests of native plugins: one process for each file.
 *
 * Control messages come line by line on standard error, rows on standard output, and nothing says
 * in which order both are read. So what is said about outputs waits in a queue: a begin opens
 * standard output for reading, the end of its data closes it, and only then the next of the queue
 * counts. All other messages count at once. The queue can be full without a deadlock: then the data
 * of its first output is in the pipe already.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/json.h"
#include "plugins/run/guest_int.h"

enum {
    HELLO_MS = 5000,
    LINE_MAX_BYTES = 1 << 20,
    BLOCK_MAX = 64 << 20,
    QUEUE_MAX = 256,
    LINES_LOGGED_MAX = 100, /* that are no control messages */
    READ_BYTES = 64 << 10,
    END_MS = 10000,
    EXIT_PERMANENT = 1,
    EXIT_TRANSIENT = 2,
};

/* `output_begin` or `output_end`. */
struct mark {
    bool is_begin;
    char output[CASPARIAN_OUTPUT_NAME_MAX + 2]; /* a longer name shows as too long */
    char hash[CASPARIAN_HASH_SIZE];
    int64_t stream, rows;
};

struct native {
    casparian_guest *guest;
    const casparian_guest_file *file;
    casparian_intake *intake;
    proc *child;
    int64_t started_ms, measured_ms;
    bool has_hello;
    size_t lines_logged;

    mcp_buf line; /* of standard error, not complete */
    bool line_is_dropped;
    struct mark queue[QUEUE_MAX];
    size_t queue_begin, queue_count;

    casparian_frames blocks; /* of standard output */
    bool is_in_data, is_after_data;
    size_t output;  /* that is open: the index of the intake */
    int64_t stream; /* the next stream_index, or the open one's */
    uint64_t stream_rows;
    bool has_said_error;
    char said[300]; /* the last message of type error */
};

static void violated(struct native *self, const char *what)
{
    casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR, "%s", what);
}

/* ---- control messages ------------------------------------------------------------------------ */

static void on_hello(struct native *self, const mcp_json *json)
{
    const casparian_plugin *plugin = &self->guest->plugin;
    const char *protocol = mcp_json_get_string(json, "protocol");
    const char *id = mcp_json_get_string(json, "parser_id");
    const char *version = mcp_json_get_string(json, "parser_version");
    const char *encoding = mcp_json_get_string(json, "encoding");

    if (self->has_hello)
        violated(self, "hello came twice");
    self->has_hello = true;
    if (!protocol || strcmp(protocol, "0.1") != 0)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "hello has the protocol %.40s; only 0.1 is known",
                              protocol ? protocol : "(none)");
    else if (!id || !version)
        violated(self, "hello without parser_id and parser_version");
    else if (plugin->origin != CASPARIAN_DEV &&
             (strcmp(id, plugin->id) != 0 || strcmp(version, plugin->version) != 0))
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "hello is of %.60s %.40s, the manifest of %s %s", id, version,
                              plugin->id, plugin->version);
    else if (!encoding || strcmp(encoding, "arrow") == 0)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_ARROW_NOT_SUPPORTED,
                              "the plugin sends Arrow IPC, which is not read; build it with the "
                              "encoding cfb");
    else if (strcmp(encoding, "cfb") != 0)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "hello has the encoding %.40s; there are cfb and arrow", encoding);
}

static void copy(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static void on_mark(struct native *self, const mcp_json *json, bool is_begin)
{
    struct mark *mark = &self->queue[(self->queue_begin + self->queue_count) % QUEUE_MAX];
    const char *output = mcp_json_get_string(json, "output");
    const char *hash = mcp_json_get_string(json, "schema_hash");

    *mark = (struct mark){ .is_begin = is_begin, .stream = -1, .rows = -1 };
    mcp_json_int(mcp_json_get(json, "stream_index"), &mark->stream);
    mcp_json_int(mcp_json_get(json, "rows_emitted"), &mark->rows);
    copy(mark->output, sizeof mark->output, output ? output : "");
    copy(mark->hash, sizeof mark->hash, hash ? hash : "");
    self->queue_count++;
}

static void on_begin(struct native *self, const mcp_json *json)
{
    on_mark(self, json, true);
}

static void on_end(struct native *self, const mcp_json *json)
{
    on_mark(self, json, false);
}

static void on_warning(struct native *self, const mcp_json *json)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_json_get(json, "message"), &length);
    if (text)
        casparian_intake_log(self->intake, CASPARIAN_LOG_WARN, text, length);
}

static void on_error(struct native *self, const mcp_json *json)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_json_get(json, "message"), &length);
    self->has_said_error = true;
    copy(self->said, sizeof self->said, text ? text : "the plugin gave no reason");
    if (text)
        casparian_intake_log(self->intake, CASPARIAN_LOG_ERROR, text, length);
}

static void on_progress(struct native *self, const mcp_json *json)
{
    const casparian_guest_events *events = self->intake->events;
    int64_t done = -1, total = -1, rows = -1;
    mcp_json_int(mcp_json_get(json, "bytes_done"), &done);
    mcp_json_int(mcp_json_get(json, "bytes_total"), &total);
    mcp_json_int(mcp_json_get(json, "rows"), &rows);
    if (events->progress)
        events->progress(events->data, done, total, rows);
}

static const struct {
    const char *type;
    void (*run)(struct native *self, const mcp_json *json);
} messages[] = {
    { "hello", on_hello },     { "output_begin", on_begin }, { "output_end", on_end },
    { "warning", on_warning }, { "error", on_error },        { "progress", on_progress },
};

/* A line that is no message: a library's, perhaps. */
static void log_line(struct native *self, const char *line, size_t length)
{
    if (self->lines_logged++ < LINES_LOGGED_MAX)
        casparian_intake_log(self->intake, CASPARIAN_LOG_STDERR, line, length);
}

static void on_message(struct native *self, const mcp_json *json, const char *line, size_t length)
{
    const char *type = mcp_json_get_string(json, "type");
    if (!type) {
        log_line(self, line, length);
        return;
    }
    if (!self->has_hello && strcmp(type, "hello") != 0) {
        violated(self, "the first message is not hello");
        return;
    }
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        if (strcmp(messages[i].type, type) == 0) {
            messages[i].run(self, json);
            return;
        }
    }
    casparian_intake_log(self->intake, CASPARIAN_LOG_WARN, line, length);
}

static void on_line(struct native *self, const char *line, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *json = NULL;
    if (length && line[0] == '{' && arena &&
        mcp_json_read(&json, arena, line, length, NULL) == MCP_OK && mcp_json_is_object(json))
        on_message(self, json, line, length);
    else if (length)
        log_line(self, line, length);
    mcp_arena_free(arena);
}

/* Adds to the incomplete line. One that is too long is logged at its first 64 KiB and dropped. */
static void add_to_line(struct native *self, const char *text, size_t length)
{
    if (self->line_is_dropped)
        return;
    if (mcp_buf_append(&self->line, text, length) == MCP_OK)
        return;
    log_line(self, self->line.data, CASPARIAN_LOG_LINE_MAX);
    self->line_is_dropped = true;
    mcp_buf_reset(&self->line);
}

static void end_line(struct native *self)
{
    if (!self->line_is_dropped && self->line.length)
        on_line(self, self->line.data, self->line.length);
    self->line_is_dropped = false;
    mcp_buf_reset(&self->line);
}

/* @return false: standard error is at its end */
static bool read_control(struct native *self)
{
    char bytes[READ_BYTES];
    size_t length = 0;
    /* A message has at least 20 bytes, so what is read fits into a queue that is a part empty. */
    size_t room = (QUEUE_MAX - self->queue_count) * 20;
    if (room > sizeof bytes)
        room = sizeof bytes;
    mcp_status st = proc_read(self->child, PROC_STDERR, bytes, room, &length, 0, NULL);
    if (st == MCP_E_TIMEOUT)
        return true;
    if (st != MCP_OK || length == 0) {
        end_line(self);
        return false;
    }
    self->intake->heard_ms = mcp_clock_mono_ms();
    for (const char *at = bytes; length;) {
        const char *end = memchr(at, '\n', length);
        size_t part = end ? (size_t)(end - at) : length;
        add_to_line(self, at, part);
        if (!end)
            break;
        end_line(self);
        at += part + 1;
        length -= part + 1;
    }
    return true;
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Whether a hash is that of the schema which the output is declared with. */
static bool hash_fits(struct native *self, const struct mark *mark)
{
    const casparian_guest *guest = self->guest;
    if (!guest->options.checks_schema_hash || strcmp(mark->hash, "*") == 0)
        return true;
    for (size_t i = 0; i < guest->plugin.output_count; i++) {
        if (strcmp(guest->plugin.outputs[i], mark->output) == 0 && guest->schema_hashes[i][0])
            return strcmp(guest->schema_hashes[i], mark->hash) == 0;
    }
    return true;
}

static void begin_output(struct native *self, const struct mark *mark)
{
    if (self->is_after_data)
        violated(self, "output_begin before the output_end of the output before");
    else if (mark->stream != self->stream)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "output_begin has the stream_index %lld; %lld comes next",
                              (long long)mark->stream, (long long)self->stream);
    else if (!hash_fits(self, mark))
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "output %s: the schema hash %.16s... is not that of the declared "
                              "schema; it is SHA-256, upstream's is BLAKE3",
                              mark->output, mark->hash);
    else if (casparian_intake_output(self->intake, &self->output, mark->output))
        self->is_in_data = true;
    self->stream_rows = 0;
}

static void end_output(struct native *self, const struct mark *mark)
{
    if (!self->is_after_data || mark->stream != self->stream ||
        strcmp(mark->output, self->intake->outputs[self->output]) != 0)
        violated(self, "output_end of an output that is not open");
    else if (mark->rows < 0 || (uint64_t)mark->rows != self->stream_rows)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "output_end of %s says %lld rows, and %llu came", mark->output,
                              (long long)mark->rows, (unsigned long long)self->stream_rows);
    self->is_after_data = false;
    self->stream++;
}

static void take_block(struct native *self, const casparian_frame *block)
{
    if (block->length < 4 || memcmp(block->bytes, "CFB1", 4) != 0)
        violated(self, "a block of rows that does not begin with CFB1");
    else
        self->stream_rows += casparian_intake_rows(self->intake, self->output, block->bytes,
                                                   block->length);
}

/* Takes blocks of the open output. @return false: more bytes are needed */
static bool take_blocks(struct native *self)
{
    casparian_frame block;
    mcp_error why = MCP_ERROR_INIT;

    while (self->is_in_data && !casparian_intake_is_over(self->intake)) {
        if (casparian_frames_next_block(&block, &self->blocks, BLOCK_MAX, &why) != MCP_OK)
            violated(self, why.message);
        else if (block.kind == CASPARIAN_FRAME_NONE)
            return false;
        else if (block.kind == CASPARIAN_FRAME_DATA)
            take_block(self, &block);
        self->is_after_data = block.kind == CASPARIAN_FRAME_END;
        self->is_in_data = !self->is_after_data;
    }
    return true;
}

/* Takes what can be taken of the queue and of the data. */
static void advance(struct native *self)
{
    while (!casparian_intake_is_over(self->intake)) {
        if (self->is_in_data) {
            if (!take_blocks(self))
                return;
            continue;
        }
        if (self->queue_count == 0)
            return;
        const struct mark *mark = &self->queue[self->queue_begin];
        self->queue_begin = (self->queue_begin + 1) % QUEUE_MAX;
        self->queue_count--;
        if (mark->is_begin)
            begin_output(self, mark);
        else
            end_output(self, mark);
    }
}

/* @return false: standard output is at its end */
static bool read_data(struct native *self)
{
    size_t room, length = 0;
    char *at = casparian_frames_space(&self->blocks, &room);
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
    casparian_frames_filled(&self->blocks, length);
    self->intake->heard_ms = mcp_clock_mono_ms();
    return true;
}

/* ---- the process ----------------------------------------------------------------------------- */

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
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_SANDBOX_FAILED, "%s", why.message);
    else if (st == MCP_E_DENIED || st == MCP_E_NOT_FOUND)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_IMPORT_ERROR, "%s", why.message);
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
    if (!self->has_hello && mcp_clock_mono_ms() - self->started_ms >= limit_ms)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_START_TIMEOUT,
                              "no hello within %lld ms", (long long)limit_ms);
}

/* Waits for something and takes it. Standard output is read within an output only. */
static void pump(struct native *self)
{
    bool has_room = self->queue_count < QUEUE_MAX / 2;
    struct pollfd fds[] = {
        { .fd = has_room ? proc_descriptor(self->child, PROC_STDERR) : -1, .events = POLLIN },
        { .fd = self->is_in_data ? proc_descriptor(self->child, PROC_STDOUT) : -1,
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
    if (proc_descriptor(self->child, PROC_STDERR) >= 0 || self->queue_count)
        return false;
    return !self->is_in_data || proc_descriptor(self->child, PROC_STDOUT) < 0;
}

static void take_file(struct native *self)
{
    int64_t deadline_ms = casparian_guest_deadline(self->guest, self->file);
    self->measured_ms = self->started_ms;
    while (!casparian_intake_is_over(self->intake) && !is_at_end(self) &&
           !casparian_intake_has_enough(self->intake)) {
        pump(self);
        advance(self);
        watch_hello(self);
        casparian_guest_watch(self->guest, self->file, self->intake, deadline_ms,
                              &self->measured_ms);
    }
}

static void check_rest(struct native *self)
{
    if (!self->has_hello)
        violated(self, "the plugin ended without hello");
    else if (self->is_in_data || self->is_after_data)
        violated(self, "the plugin ended within an output");
    else if (read_data(self) && proc_descriptor(self->child, PROC_STDOUT) >= 0 &&
             casparian_frames_rest(&self->blocks))
        violated(self, "the plugin wrote rows outside of an output");
}

/* What the end of the process means. */
static void take_end(struct native *self)
{
    proc_end end = { .how = PROC_LOST, .code = -1 };
    proc_wait(self->child, &end, mcp_clock_mono_ms() + END_MS, NULL);
    self->intake->outcome->exit_code = end.code;
    self->intake->outcome->signal = end.signal;
    if (end.how == PROC_EXITED && (end.code == EXIT_PERMANENT || end.code == EXIT_TRANSIENT)) {
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PARSE_ERROR, "%s",
                              self->has_said_error ? self->said : "the plugin gave no reason");
        self->intake->outcome->is_retryable = end.code == EXIT_TRANSIENT;
    } else if (end.how != PROC_EXITED || end.code != 0) {
        casparian_guest_fail_end(self->intake, end.code, end.signal);
    } else if (self->has_said_error) {
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PARSE_ERROR, "%s", self->said);
    } else {
        check_rest(self);
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
    casparian_frames_init(&self->blocks);
    mcp_buf_init(&self->line, LINE_MAX_BYTES);
    intake->row_limit = file->row_limit > 0 ? (uint64_t)file->row_limit : 0;
    run(self);
    casparian_frames_clear(&self->blocks);
    mcp_buf_clear(&self->line);
    free(self);
}
