/*
 * intake.c - what comes of one file.
 *
 * Memory is bounded by one payload: it is decoded in an arena of its own, handed on, and freed. One
 * that takes more than 512 MiB of it fails its file.
 */
#include "plugins/run/intake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/utf8.h"
#include "mcp/clock.h"
#include "plugins/run/frames.h"
#include "plugins/run/json_rows.h"

enum {
    MAGIC_SIZE = 4,
    ARENA_EXTRA = 16 << 20,
    ARENA_FACTOR = 24,
    ARENA_MAX = 512 << 20, /* of the host's memory, whatever a plugin sends */
    DROPPED_FACTOR = 20,
    DROPPED_EXTRA = 1000,
};

static const char reserved_prefix[] = "_cf_";
static const char row_prefix[] = "__cf_";

void casparian_intake_init(casparian_intake *self, casparian_guest_outcome *outcome,
                           const casparian_guest_limits *limits,
                           const casparian_guest_events *events, mcp_error *err)
{
    memset(self, 0, sizeof *self);
    memset(outcome, 0, sizeof *outcome);
    self->outcome = outcome;
    self->limits = limits;
    self->events = events;
    self->err = err;
    self->heard_ms = mcp_clock_mono_ms();
    self->out.level = CASPARIAN_LOG_STDOUT;
    self->errors.level = CASPARIAN_LOG_STDERR;
    mcp_buf_init(&self->out.rest, CASPARIAN_LOG_LINE_MAX);
    mcp_buf_init(&self->errors.rest, CASPARIAN_LOG_LINE_MAX);
    outcome->exit_code = -1;
}

static void flush_line(casparian_intake *self, casparian_lines *lines)
{
    if (lines->rest.length)
        casparian_intake_log(self, lines->level, lines->rest.data, lines->rest.length);
    mcp_buf_reset(&lines->rest);
}

void casparian_intake_clear(casparian_intake *self)
{
    flush_line(self, &self->out);
    flush_line(self, &self->errors);
    mcp_buf_clear(&self->out.rest);
    mcp_buf_clear(&self->errors.rest);
}

bool casparian_intake_is_over(const casparian_intake *self)
{
    return self->status != MCP_OK || self->outcome->failure != CASPARIAN_FAILURE_NONE;
}

/* ---- failures -------------------------------------------------------------------------------- */

/* One line: line ends become blanks. */
static void one_line(char *text)
{
    for (; *text; text++) {
        if (*text == '\n' || *text == '\r' || *text == '\t')
            *text = ' ';
    }
}

/* Cuts at a code point, and leaves out a part of one: the text may be cut already. */
static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strlen(text), used = 0;
    for (size_t at = 0, next = 0; at < length; at += next) {
        bool is_valid = false;
        next = casparian_utf8_next(text + at, length - at, &is_valid);
        if (used + next >= size)
            break;
        if (is_valid) {
            memcpy(out + used, text + at, next);
            used += next;
        }
    }
    out[used] = '\0';
}

void casparian_intake_fail(casparian_intake *self, casparian_failure failure, const char *format,
                           ...)
{
    casparian_guest_outcome *outcome = self->outcome;
    char text[2 * sizeof outcome->error];
    va_list arguments;

    if (casparian_intake_is_over(self))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    copy_text(outcome->error, sizeof outcome->error, text);
    one_line(outcome->error);
    outcome->failure = failure;
    outcome->category = casparian_failure_category(failure, outcome->error);
}

static casparian_failure failure_of(const char *word, casparian_failure otherwise)
{
    static const char *const words[] = {
#define WORD(name, word) word,
        CASPARIAN_FAILURE_MAP(WORD)
#undef WORD
    };
    for (size_t i = 1; word && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], word) == 0)
            return (casparian_failure)i;
    }
    return otherwise;
}

void casparian_intake_error(casparian_intake *self, const mcp_json *json,
                            casparian_failure otherwise)
{
    casparian_guest_outcome *outcome = self->outcome;
    const char *text = mcp_json_get_string(json, "error");
    const char *trace = mcp_json_get_string(json, "traceback");
    casparian_failure failure = failure_of(mcp_json_get_string(json, "kind"), otherwise);

    if (casparian_intake_is_over(self))
        return;
    casparian_intake_fail(self, failure, "%s", text ? text : "the plugin gave no reason");
    mcp_json_bool(mcp_json_get(json, "retryable"), &outcome->is_retryable);
    /* The end of a traceback says the most. */
    size_t length = trace ? strlen(trace) : 0;
    size_t most = sizeof outcome->traceback - 1;
    const char *from = length > most ? trace + length - most : trace;
    while (from && ((unsigned char)*from & 0xC0) == 0x80)
        from++;
    if (from)
        copy_text(outcome->traceback, sizeof outcome->traceback, from);
}

/* ---- outputs and rows ------------------------------------------------------------------------ */

static void keep_status(casparian_intake *self, mcp_status status)
{
    if (self->status == MCP_OK)
        self->status = status;
}

bool casparian_intake_output(casparian_intake *self, size_t *index, const char *name)
{
    if (casparian_intake_is_over(self))
        return false;
    for (*index = 0; *index < self->output_count; ++*index) {
        if (strcmp(self->outputs[*index], name) == 0)
            return true;
    }
    if (!casparian_plugin_id_is_valid(name)) {
        casparian_intake_fail(self, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "\"%.80s\" is no name of an output", name);
        return false;
    }
    if (casparian_output_name_is_reserved(name)) {
        casparian_intake_fail(self, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "no output is called %s: " CASPARIAN_OUTPUT_NAME_RESERVED, name);
        return false;
    }
    if (self->output_count == CASPARIAN_OUTPUTS_MAX) {
        casparian_intake_fail(self, CASPARIAN_FAILURE_PROTOCOL_ERROR, "more than %d outputs",
                              CASPARIAN_OUTPUTS_MAX);
        return false;
    }
    snprintf(self->outputs[self->output_count++], sizeof *self->outputs, "%s", name);
    if (self->events->output)
        keep_status(self, self->events->output(self->events->data, name, self->err));
    return self->status == MCP_OK;
}

static bool is_reserved(const char *name)
{
    if (strcmp(name, CASPARIAN_ROW_ERROR) == 0 || strcmp(name, CASPARIAN_ROW_ID) == 0)
        return false;
    return strncmp(name, reserved_prefix, sizeof reserved_prefix - 1) == 0 ||
           strncmp(name, row_prefix, sizeof row_prefix - 1) == 0;
}

static bool check_columns(casparian_intake *self, const casparian_batch *batch, const char *output)
{
    for (size_t i = 0; i < batch->count; i++) {
        const char *name = batch->columns[i].name;
        if (!is_reserved(name))
            continue;
        casparian_intake_fail(self, CASPARIAN_FAILURE_RESERVED_COLUMN,
                              "output %s: the column %.80s is casparian's own; rename it", output,
                              name);
        return false;
    }
    return true;
}

/* CFB1 is decoded in place, so it must begin at an address that is a multiple of 8. */
static mcp_status decode_binary(casparian_batch *out, mcp_arena *arena, const char *payload,
                                size_t length, size_t *repaired, mcp_error *err)
{
    char *aligned = mcp_arena_alloc(arena, length);
    if (!aligned)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch of %zu bytes", length);
    memcpy(aligned, payload, length);
    return casparian_batch_decode(out, repaired, arena, aligned, length, err);
}

static mcp_status decode(casparian_batch *out, mcp_arena *arena, const char *payload, size_t length,
                         size_t *repaired, mcp_error *err)
{
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch of %zu bytes", length);
    if (length >= MAGIC_SIZE && memcmp(payload, "CFJ1", MAGIC_SIZE) == 0)
        return casparian_json_rows_read(out, arena, payload + MAGIC_SIZE, length - MAGIC_SIZE, err);
    if (length >= MAGIC_SIZE && memcmp(payload, "CFB1", MAGIC_SIZE) == 0)
        return decode_binary(out, arena, payload, length, repaired, err);
    if (length >= MAGIC_SIZE && memcmp(payload, "\xFF\xFF\xFF\xFF", MAGIC_SIZE) == 0)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "Arrow IPC is not read; send CFJ1 or CFB1, or return rows or a "
                             "DataFrame to the shim");
    return mcp_error_set(err, MCP_E_PARSE, "a payload that begins with neither CFJ1 nor CFB1");
}

static void fail_decode(casparian_intake *self, const char *output, mcp_status st,
                        const mcp_error *why)
{
    if (st == MCP_E_NOMEM)
        casparian_intake_fail(self, CASPARIAN_FAILURE_OUTPUT_LIMIT,
                              "output %s: a payload takes more memory than it may: %s", output,
                              why->message);
    else if (st == MCP_E_UNSUPPORTED)
        casparian_intake_fail(self, CASPARIAN_FAILURE_ARROW_NOT_SUPPORTED, "output %s: %s", output,
                              why->message);
    else
        casparian_intake_fail(self, CASPARIAN_FAILURE_PROTOCOL_ERROR, "output %s: %s", output,
                              why->message);
}

bool casparian_intake_has_enough(const casparian_intake *self)
{
    if (self->dropped == 0)
        return false;
    for (size_t i = 0; i < self->output_count; i++) {
        if (self->rows[i] < self->row_limit)
            return self->dropped > DROPPED_FACTOR * self->row_limit + DROPPED_EXTRA;
    }
    return true;
}

/* Hands on as many rows of a batch as the limit leaves. */
static void hand_on(casparian_intake *self, size_t index, casparian_batch batch)
{
    uint64_t room = self->row_limit - self->rows[index];
    if (self->row_limit && batch.rows > room) {
        self->dropped += batch.rows - room;
        self->outcome->stopped_at_row_limit = true;
        batch.rows = (size_t)room;
    }
    self->rows[index] += batch.rows;
    self->outcome->rows += batch.rows;
    if (self->events->batch && batch.rows)
        keep_status(
            self, self->events->batch(self->events->data, self->outputs[index], &batch, self->err));
}

size_t casparian_intake_rows(casparian_intake *self, size_t index, const char *payload,
                             size_t length)
{
    casparian_batch batch = { 0 };
    const char *output = self->outputs[index];
    mcp_error why = MCP_ERROR_INIT;
    size_t repaired = 0;

    if (casparian_intake_is_over(self))
        return SIZE_MAX;
    self->outcome->bytes += length;
    if (self->outcome->bytes > self->limits->output_bytes) {
        casparian_intake_fail(self, CASPARIAN_FAILURE_OUTPUT_LIMIT,
                              "the file gave more than %llu bytes of rows (output_max_mb)",
                              (unsigned long long)self->limits->output_bytes);
        return SIZE_MAX;
    }
    size_t memory = length * ARENA_FACTOR + ARENA_EXTRA;
    mcp_arena *arena = mcp_arena_new(memory < ARENA_MAX ? memory : ARENA_MAX);
    mcp_status st = decode(&batch, arena, payload, length, &repaired, &why);
    self->outcome->repaired += repaired;
    if (st != MCP_OK)
        fail_decode(self, output, st, &why);
    else if (check_columns(self, &batch, output))
        hand_on(self, index, batch);
    size_t rows = batch.rows;
    mcp_arena_free(arena);
    return casparian_intake_is_over(self) ? SIZE_MAX : rows;
}

/* ---- the log --------------------------------------------------------------------------------- */

void casparian_intake_log(casparian_intake *self, casparian_log_level level, const char *text,
                          size_t length)
{
    static const char note[] = "the log of this file is longer than its limit; the rest is dropped";
    casparian_guest_outcome *outcome = self->outcome;
    mcp_buf repaired;

    outcome->log_bytes += length;
    if (!self->events->log || self->log_was_cut)
        return;
    if (outcome->log_bytes > self->limits->log_bytes) {
        self->log_was_cut = true;
        self->events->log(self->events->data, CASPARIAN_LOG_WARN, note, sizeof note - 1);
        return;
    }
    if (casparian_utf8_is_valid(text, length)) {
        self->events->log(self->events->data, level, text, length);
        return;
    }
    mcp_buf_init(&repaired, 3 * length + 1);
    if (casparian_utf8_repair(&repaired, text, length) == MCP_OK)
        self->events->log(self->events->data, level, repaired.data, repaired.length);
    mcp_buf_clear(&repaired);
}

/* Adds to the line that is not complete; a line that is too long is given in pieces. */
static void add_to_line(casparian_intake *self, casparian_lines *lines, const char *text,
                        size_t length)
{
    while (length) {
        size_t room = CASPARIAN_LOG_LINE_MAX - lines->rest.length;
        size_t part = length < room ? length : room;
        if (mcp_buf_append(&lines->rest, text, part) != MCP_OK)
            keep_status(self, mcp_error_set(self->err, MCP_E_NOMEM, "no memory for a log line"));
        text += part;
        length -= part;
        if (length)
            flush_line(self, lines);
    }
}

void casparian_intake_text(casparian_intake *self, casparian_lines *lines, const char *text,
                           size_t length)
{
    while (length) {
        const char *end = memchr(text, '\n', length);
        size_t part = end ? (size_t)(end - text) : length;
        add_to_line(self, lines, text, part);
        if (!end)
            return;
        flush_line(self, lines);
        text += part + 1;
        length -= part + 1;
    }
}
