/*
 * stream.h - JSON on its way to a sink: written into a buffer that is emptied whenever it has
 * grown.
 */
#ifndef UNIVERSE_STREAM_H
#define UNIVERSE_STREAM_H

#include "mcp/buf.h"
#include "mcp/json.h"
#include "model/model.h"

typedef struct universe_stream {
    mcp_json_writer writer;
    mcp_buf buf;
    mcp_buf escaped; /* what is in `buf`, as a JSON string: when `form` asks for it */
    universe_form form;
    universe_sink *sink;
    void *data;
    mcp_error *err;
    mcp_status status; /* of the sink */
} universe_stream;

void universe_stream_open(universe_stream *stream, universe_form form, universe_sink *sink,
                          void *data, mcp_error *err);

/* Between two values: hand over what is there, once it is worth it. @return whether to continue */
bool universe_stream_step(universe_stream *stream);

/* Between two values: hand over what is there, and then these bytes, which are in the stream's form
 * already. */
void universe_stream_put(universe_stream *stream, const char *bytes, size_t length);

/* Writing cannot continue; the first failure counts. */
void universe_stream_fail(universe_stream *stream, mcp_status status);

/* What is in `buf` as a JSON string, its quotes with it, in `escaped`. */
mcp_status universe_stream_escape(mcp_buf *escaped, const mcp_buf *buf);

/* Hand over the rest and free the buffer. @return what the sink said, or why writing failed */
mcp_status universe_stream_close(universe_stream *stream);

#endif
