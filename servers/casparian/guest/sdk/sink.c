/*
 * sink.c - the control lines and the stream of data of a plugin.
 *
 * The streams of outputs follow one another on stdout, but a program may write to its outputs in
 * turns. So the output that sends a batch gets the stream: the stream of the one before is ended,
 * and a new one is begun, perhaps for a name that had one already. A control line is written at
 * once, after the data before it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/sdk/output.h"
#include "guest/sdk/sink.h"

/* Longest message of cf_warn and cf_error; what is longer is cut. */
enum { MESSAGE_MAX = 8192 };

/* A line is put together here; each byte of a text may become six. */
struct line {
    size_t used;
    char bytes[MESSAGE_MAX * 6 + 1024];
};

void cf__sink_fail(cf_sink *sink, cf_status status)
{
    if (sink->status == CF_OK)
        sink->status = status;
}

static void write_out(cf_sink *sink, int stream, const void *bytes, size_t length)
{
    if (sink->status == CF_OK && length > 0 &&
        !sink->write(stream, bytes, length, sink->write_data))
        cf__sink_fail(sink, CF_E_WRITE);
}

static void flush(cf_sink *sink)
{
    write_out(sink, CF__STREAM_DATA, sink->buffer, sink->used);
    sink->used = 0;
}

void cf__sink_put(cf_sink *sink, const void *bytes, size_t length)
{
    if (length > sizeof sink->buffer - sink->used)
        flush(sink);
    if (length >= sizeof sink->buffer) {
        write_out(sink, CF__STREAM_DATA, bytes, length);
        return;
    }
    if (length > 0)
        memcpy(sink->buffer + sink->used, bytes, length);
    sink->used += length;
}

static void line_raw(struct line *line, const char *text)
{
    size_t length = strlen(text);

    if (length <= sizeof line->bytes - line->used) {
        memcpy(line->bytes + line->used, text, length);
        line->used += length;
    }
}

static void line_number(struct line *line, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    line_raw(line, text);
}

/* Where the last, unfinished character of a text that is cut begins. */
static size_t cut(const char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* A text as a JSON string. */
static void line_text(struct line *line, const char *text)
{
    size_t length = strlen(text);

    if (length > MESSAGE_MAX)
        length = cut(text, MESSAGE_MAX);
    line_raw(line, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        char piece[8] = { (char)byte, 0 };
        if (byte < 0x20)
            snprintf(piece, sizeof piece, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            snprintf(piece, sizeof piece, "\\%c", byte);
        line_raw(line, piece);
    }
    line_raw(line, "\"");
}

static void send_line(cf_sink *sink, struct line *line)
{
    line_raw(line, "}\n");
    flush(sink);
    write_out(sink, CF__STREAM_CONTROL, line->bytes, line->used);
}

/* Writes all of it; what is on the way to a pipe that is full waits. */
static bool write_fd(int stream, const void *bytes, size_t length, void *data)
{
    const char *at = bytes;

    (void)data;
    while (length > 0) {
        ssize_t done = write(stream, at, length);
        if (done < 0 && errno == EAGAIN)
            poll(&(struct pollfd){ .fd = stream, .events = POLLOUT }, 1, -1);
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (done <= 0)
            return false;
        at += done;
        length -= (size_t)done;
    }
    return true;
}

cf_sink *cf_begin_to(const char *id, const char *version, cf_write *write, void *data)
{
    cf_sink *sink = calloc(1, sizeof *sink);
    struct line line = { 0 };

    if (!sink)
        return NULL;
    sink->write = write;
    sink->write_data = data;
    line_raw(&line, "{\"type\":\"hello\",\"protocol\":\"" CF_PROTOCOL "\",\"parser_id\":");
    line_text(&line, id);
    line_raw(&line, ",\"parser_version\":");
    line_text(&line, version);
    line_raw(&line,
             ",\"capabilities\":{\"multi_output\":true,\"finish\":true},\"encoding\":\"cfb\"");
    send_line(sink, &line);
    return sink;
}

cf_sink *cf_begin(const char *id, const char *version, const char *encoding)
{
    if (!encoding || strcmp(encoding, "cfb") != 0)
        return NULL;
    signal(SIGPIPE, SIG_IGN);
    return cf_begin_to(id, version, write_fd, NULL);
}

static void send_message(cf_sink *sink, const char *type, const char *message)
{
    struct line line = { 0 };

    if (!sink)
        return;
    line_raw(&line, "{\"type\":\"");
    line_raw(&line, type);
    line_raw(&line, "\",\"message\":");
    line_text(&line, message);
    send_line(sink, &line);
}

void cf_warn(cf_sink *sink, const char *message)
{
    send_message(sink, "warning", message);
}

void cf_error(cf_sink *sink, const char *message)
{
    send_message(sink, "error", message);
}

void cf_progress(cf_sink *sink, uint64_t bytes_done, uint64_t bytes_total, uint64_t rows)
{
    struct line line = { 0 };

    if (!sink)
        return;
    line_raw(&line, "{\"type\":\"progress\",\"bytes_done\":");
    line_number(&line, bytes_done);
    line_raw(&line, ",\"bytes_total\":");
    line_number(&line, bytes_total);
    line_raw(&line, ",\"rows\":");
    line_number(&line, rows);
    send_line(sink, &line);
}

cf_status cf_sink_status(const cf_sink *sink)
{
    return sink ? sink->status : CF_E_NOMEM;
}

void cf__sink_end_stream(cf_sink *sink, const cf_output *output, const char *name)
{
    static const uint8_t end[4] = { 0 };
    struct line line = { 0 };

    if (!output || sink->current != output)
        return;
    cf__sink_put(sink, end, sizeof end);
    line_raw(&line, "{\"type\":\"output_end\",\"output\":");
    line_text(&line, name);
    line_raw(&line, ",\"rows_emitted\":");
    line_number(&line, sink->rows);
    line_raw(&line, ",\"stream_index\":");
    line_number(&line, sink->streams - 1);
    send_line(sink, &line);
    sink->current = NULL;
}

void cf__sink_turn_to(cf_sink *sink, cf_output *output, const char *name, const char *hash)
{
    struct line line = { 0 };

    if (sink->current == output)
        return;
    if (sink->current)
        cf__sink_end_stream(sink, sink->current, cf__output_name(sink->current));
    line_raw(&line, "{\"type\":\"output_begin\",\"output\":");
    line_text(&line, name);
    line_raw(&line, ",\"schema_hash\":");
    line_text(&line, hash);
    line_raw(&line, ",\"stream_index\":");
    line_number(&line, sink->streams);
    send_line(sink, &line);
    sink->streams++;
    sink->rows = 0;
    sink->current = output;
}

/* Past write_out, since a sink that has failed sends nothing more. */
static void send_no_memory(cf_sink *sink)
{
    static const char line[] = "{\"type\":\"error\",\"message\":\"the plugin has no memory for its "
                               "rows\",\"kind\":\"memory_limit\"}\n";

    sink->write(CF__STREAM_CONTROL, line, sizeof line - 1, sink->write_data);
}

void cf__sink_drop(cf_sink *sink, const char *output, cf_status why)
{
    if (sink->dropped++ > 0)
        return;
    sink->dropped_for = why;
    snprintf(sink->dropped_from, sizeof sink->dropped_from, "%s", output);
}

/* A file whose rows are not all there must not look like one whose rows are. */
static void send_dropped(cf_sink *sink)
{
    char message[256];

    snprintf(message, sizeof message, "the plugin lost %llu rows; the first, of output %s, %s",
             (unsigned long long)sink->dropped, sink->dropped_from,
             sink->dropped_for == CF_E_LIMIT
                 ? "is longer than 48 MiB (CF_E_LIMIT)"
                 : "has a column that there is not, or a value of another type (CF_E_USE)");
    cf_error(sink, message);
}

/* Without it the host takes the file as one whose last rows are missing. A library may have left a
 * line of the stream without an end; empty lines are nothing to the host. */
static void send_finish(cf_sink *sink)
{
    struct line line = { 0 };

    line_raw(&line, "\n{\"type\":\"finish\"");
    send_line(sink, &line);
}

int cf_finish(cf_sink *sink, int exit_code)
{
    if (!sink)
        return exit_code ? exit_code : 1;
    while (sink->outputs)
        cf_output_close(sink->outputs);
    flush(sink);
    if (sink->dropped > 0 && sink->status == CF_OK)
        send_dropped(sink);
    if (sink->status == CF_E_NOMEM)
        send_no_memory(sink);
    send_finish(sink);
    if ((sink->status != CF_OK || sink->dropped > 0) && exit_code == 0)
        exit_code = 1;
    free(sink);
    return exit_code;
}
