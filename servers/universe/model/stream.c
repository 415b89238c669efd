/*
 * stream.c - JSON on its way to a sink.
 */
#include "model/stream.h"

#define WORTH_BYTES (48u << 10)
#define BUFFER_MAX ((size_t)2 << 30) /* one entity with millions of children */

void universe_stream_open(universe_stream *stream, universe_sink *sink, void *data, mcp_error *err)
{
    *stream = (universe_stream){ .sink = sink, .data = data, .err = err };
    mcp_buf_init(&stream->buf, BUFFER_MAX);
    mcp_json_writer_init(&stream->writer, &stream->buf);
}

static void hand_over(universe_stream *stream)
{
    const mcp_buf *buf = &stream->buf;

    for (size_t at = 0; at < buf->length && stream->status == MCP_OK;) {
        size_t piece = buf->length - at < UNIVERSE_PIECE_MAX ? buf->length - at
                                                             : UNIVERSE_PIECE_MAX;
        stream->status = stream->sink(buf->data + at, piece, stream->data, stream->err);
        at += piece;
    }
}

bool universe_stream_step(universe_stream *stream)
{
    if (stream->status != MCP_OK || mcp_json_writer_status(&stream->writer) != MCP_OK)
        return false;
    if (stream->buf.length < WORTH_BYTES)
        return true;
    hand_over(stream);
    mcp_buf_reset(&stream->buf);
    return stream->status == MCP_OK;
}

mcp_status universe_stream_close(universe_stream *stream)
{
    mcp_status st = mcp_json_writer_status(&stream->writer);

    if (st == MCP_OK)
        st = stream->buf.status;
    if (st != MCP_OK && stream->status == MCP_OK)
        stream->status = mcp_error_set(stream->err, st, "a state could not be written: %s",
                                       mcp_status_words(st));
    if (stream->status == MCP_OK)
        hand_over(stream);
    mcp_buf_clear(&stream->buf);
    return stream->status;
}
