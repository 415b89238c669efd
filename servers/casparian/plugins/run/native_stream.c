/*
 * native_stream.c - control messages and rows of a native plugin.
 *
 * Nothing says in which order both streams are read. So what is said about outputs waits in a
 * queue: a begin opens the data for reading, the end of the data closes it, and only then the next
 * of the queue counts. All other messages count at once. The queue can be full without a deadlock:
 * then the data of its first output is in the pipe already.
 */
#include "plugins/run/native_stream.h"

#include <string.h>

#include "mcp/json.h"

enum {
    LINE_MAX_BYTES = 1 << 20,
    BLOCK_MAX = 64 << 20,
    LINES_LOGGED_MAX = 100, /* that are no control messages */
    MESSAGE_BYTES_MIN = 20,
};

void casparian_native_init(casparian_native_stream *self, const casparian_plugin *plugin,
                           casparian_intake *intake)
{
    *self = (casparian_native_stream){ .plugin = plugin, .intake = intake };
    casparian_frames_init(&self->blocks);
    mcp_buf_init(&self->line, LINE_MAX_BYTES);
}

void casparian_native_clear(casparian_native_stream *self)
{
    casparian_frames_clear(&self->blocks);
    mcp_buf_clear(&self->line);
}

static void violated(casparian_native_stream *self, const char *what)
{
    casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR, "%s", what);
}

/* ---- control messages ------------------------------------------------------------------------ */

static void on_hello(casparian_native_stream *self, const mcp_json *json)
{
    const casparian_plugin *plugin = self->plugin;
    const char *protocol = mcp_json_get_string(json, "protocol");
    const char *id = mcp_json_get_string(json, "parser_id");
    const char *version = mcp_json_get_string(json, "parser_version");
    const char *encoding = mcp_json_get_string(json, "encoding");

    if (self->has_hello)
        violated(self, "hello came twice");
    self->has_hello = true;
    mcp_json_bool(mcp_json_get(mcp_json_get(json, "capabilities"), "finish"), &self->says_finish);
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

static void on_mark(casparian_native_stream *self, const mcp_json *json, bool is_begin)
{
    casparian_mark
        *mark = &self->marks[(self->mark_begin + self->mark_count) % CASPARIAN_MARKS_MAX];
    const char *output = mcp_json_get_string(json, "output");
    const char *hash = mcp_json_get_string(json, "schema_hash");

    *mark = (casparian_mark){ .is_begin = is_begin, .stream = -1, .rows = -1 };
    mcp_json_int(mcp_json_get(json, "stream_index"), &mark->stream);
    mcp_json_int(mcp_json_get(json, "rows_emitted"), &mark->rows);
    copy(mark->output, sizeof mark->output, output ? output : "");
    copy(mark->hash, sizeof mark->hash, hash ? hash : "");
    self->mark_count++;
}

static void on_begin(casparian_native_stream *self, const mcp_json *json)
{
    on_mark(self, json, true);
}

static void on_end(casparian_native_stream *self, const mcp_json *json)
{
    on_mark(self, json, false);
}

static void on_warning(casparian_native_stream *self, const mcp_json *json)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_json_get(json, "message"), &length);
    if (text)
        casparian_intake_log(self->intake, CASPARIAN_LOG_WARN, text, length);
}

static void on_error(casparian_native_stream *self, const mcp_json *json)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_json_get(json, "message"), &length);
    const char *kind = mcp_json_get_string(json, "kind");
    self->has_said_error = true;
    self->said_failure = kind && strcmp(kind, "memory_limit") == 0 ? CASPARIAN_FAILURE_MEMORY_LIMIT
                                                                   : CASPARIAN_FAILURE_PARSE_ERROR;
    copy(self->said, sizeof self->said, text ? text : "the plugin gave no reason");
    if (text)
        casparian_intake_log(self->intake, CASPARIAN_LOG_ERROR, text, length);
}

static void on_finish(casparian_native_stream *self, const mcp_json *json)
{
    (void)json;
    self->has_finish = true;
}

static void on_progress(casparian_native_stream *self, const mcp_json *json)
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
    void (*run)(casparian_native_stream *self, const mcp_json *json);
} messages[] = {
    { "hello", on_hello },     { "output_begin", on_begin }, { "output_end", on_end },
    { "warning", on_warning }, { "error", on_error },        { "progress", on_progress },
    { "finish", on_finish },
};

/* A line that is no message: a library's, perhaps. */
static void log_line(casparian_native_stream *self, const char *line, size_t length)
{
    if (self->lines_logged++ < LINES_LOGGED_MAX)
        casparian_intake_log(self->intake, CASPARIAN_LOG_STDERR, line, length);
}

static void on_message(casparian_native_stream *self, const mcp_json *json, const char *line,
                       size_t length)
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

static void on_line(casparian_native_stream *self, const char *line, size_t length)
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
static void add_to_line(casparian_native_stream *self, const char *text, size_t length)
{
    if (self->line_is_dropped)
        return;
    if (mcp_buf_append(&self->line, text, length) == MCP_OK)
        return;
    log_line(self, self->line.data, CASPARIAN_LOG_LINE_MAX);
    self->line_is_dropped = true;
    mcp_buf_reset(&self->line);
}

static void end_line(casparian_native_stream *self)
{
    if (!self->line_is_dropped && self->line.length)
        on_line(self, self->line.data, self->line.length);
    self->line_is_dropped = false;
    mcp_buf_reset(&self->line);
}

size_t casparian_native_room(const casparian_native_stream *self)
{
    if (self->mark_count >= CASPARIAN_MARKS_MAX / 2)
        return 0;
    return (CASPARIAN_MARKS_MAX - self->mark_count) * MESSAGE_BYTES_MIN;
}

void casparian_native_control(casparian_native_stream *self, const char *bytes, size_t length)
{
    while (length) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end ? (size_t)(end - bytes) : length;
        add_to_line(self, bytes, part);
        if (!end)
            return;
        end_line(self);
        bytes += part + 1;
        length -= part + 1;
    }
}

void casparian_native_control_end(casparian_native_stream *self)
{
    end_line(self);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Whether a hash is that of the schema which the output is declared with. */
static bool hash_fits(casparian_native_stream *self, const casparian_mark *mark)
{
    const casparian_plugin *plugin = self->plugin;
    if (!self->schema_hashes || strcmp(mark->hash, "*") == 0)
        return true;
    for (size_t i = 0; i < plugin->output_count; i++) {
        if (strcmp(plugin->outputs[i], mark->output) == 0 && self->schema_hashes[i][0])
            return strcmp(self->schema_hashes[i], mark->hash) == 0;
    }
    return true;
}

static void begin_output(casparian_native_stream *self, const casparian_mark *mark)
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

static void end_output(casparian_native_stream *self, const casparian_mark *mark)
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

static void take_block(casparian_native_stream *self, const casparian_frame *block)
{
    if (block->length < 4 || memcmp(block->bytes, "CFB1", 4) != 0)
        violated(self, "a block of rows that does not begin with CFB1");
    else
        self->stream_rows += casparian_intake_rows(self->intake, self->output, block->bytes,
                                                   block->length);
}

/* Takes blocks of the open output. @return false: more bytes are needed */
static bool take_blocks(casparian_native_stream *self)
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

void casparian_native_advance(casparian_native_stream *self)
{
    while (!casparian_intake_is_over(self->intake)) {
        if (self->is_in_data) {
            if (!take_blocks(self))
                return;
            continue;
        }
        if (self->mark_count == 0)
            return;
        const casparian_mark *mark = &self->marks[self->mark_begin];
        self->mark_begin = (self->mark_begin + 1) % CASPARIAN_MARKS_MAX;
        self->mark_count--;
        if (mark->is_begin)
            begin_output(self, mark);
        else
            end_output(self, mark);
    }
}

void casparian_native_fail(casparian_native_stream *self)
{
    if (self->has_said_error)
        casparian_intake_fail(self->intake, self->said_failure, "%s", self->said);
    else
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PARSE_ERROR,
                              "the plugin gave no reason");
}

void casparian_native_finish(casparian_native_stream *self)
{
    if (self->has_said_error)
        casparian_native_fail(self);
    else if (!self->has_hello)
        violated(self, "the plugin ended without hello");
    else if (self->is_in_data || self->is_after_data)
        violated(self, "the plugin ended within an output");
    else if (casparian_frames_rest(&self->blocks))
        violated(self, "the plugin wrote rows outside of an output");
    else if (self->says_finish && !self->has_finish)
        violated(self, "the plugin ended without cf_finish: its last rows are missing");
}
