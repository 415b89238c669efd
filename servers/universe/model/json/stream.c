/*
 * stream.c - JSON on its way to a sink.
 */
#include "model/json/stream.h"

#define WORTH_BYTES (48u << 10)
#define BUFFER_MAX ((size_t)2 << 30) /* one entity with millions of children */

void universe_stream_open(universe_stream *stream, universe_form form, universe_sink *sink,
                          void *data, mcp_error *err)
{
    *stream = (universe_stream){ .form = form, .sink = sink, .data = data, .err = err };
    mcp_buf_init(&stream->buf, BUFFER_MAX);
    mcp_buf_init(&stream->escaped, 6 * BUFFER_MAX);
    mcp_json_writer_init(&stream->writer, &stream->buf);
}

static void to_sink(universe_stream *stream, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length && stream->status == MCP_OK;) {
        size_t piece = length - at < UNIVERSE_PIECE_MAX ? length - at : UNIVERSE_PIECE_MAX;
        stream->status = stream->sink(bytes + at, piece, stream->data, stream->err);
        at += piece;
    }
}

void universe_stream_fail(universe_stream *stream, mcp_status status)
{
    if (stream->status == MCP_OK)
        stream->status = mcp_error_set(stream->err, status, "a state could not be written: %s",
                                       mcp_status_words(status));
}

mcp_status universe_stream_escape(mcp_buf *escaped, const mcp_buf *buf)
{
    mcp_json_writer writer;

    mcp_buf_reset(escaped);
    mcp_json_writer_init(&writer, escaped);
    mcp_write_string_n(&writer, buf->data, buf->length);
    return mcp_json_writer_status(&writer);
}

/* Whole values are in the buffer, so no character is cut in two. */
static void hand_over(universe_stream *stream)
{
    if (stream->buf.length == 0 || stream->status != MCP_OK)
        return;
    if (stream->form == UNIVERSE_PLAIN) {
        to_sink(stream, stream->buf.data, stream->buf.length);
    } else {
        mcp_status st = universe_stream_escape(&stream->escaped, &stream->buf);
        if (st == MCP_OK)
            to_sink(stream, stream->escaped.data + 1, stream->escaped.length - 2);
        else
            universe_stream_fail(stream, st);
    }
    mcp_buf_reset(&stream->buf);
}

void universe_stream_put(universe_stream *stream, const char *bytes, size_t length)
{
    if (mcp_json_writer_status(&stream->writer) != MCP_OK)
        return;
    hand_over(stream);
    to_sink(stream, bytes, length);
}

bool universe_stream_step(universe_stream *stream)
{
    if (stream->status != MCP_OK || mcp_json_writer_status(&stream->writer) != MCP_OK)
        return false;
    if (stream->buf.length < WORTH_BYTES)
        return true;
    hand_over(stream);
    return stream->status == MCP_OK;
}

mcp_status universe_stream_close(universe_stream *stream)
{
    mcp_status st = mcp_json_writer_status(&stream->writer);

    if (st == MCP_OK)
        st = stream->buf.status;
    if (st != MCP_OK)
        universe_stream_fail(stream, st);
    hand_over(stream);
    mcp_buf_clear(&stream->buf);
    mcp_buf_clear(&stream->escaped);
    return stream->status;
}
