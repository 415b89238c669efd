/*
 * native_stream.h - what a native plugin says: control messages as lines of JSON, and rows in
 * blocks of CFB1 (plugins, 4.2 and 4.4).
 *
 * It is given the bytes of both streams as they are read, and hands on to the intake what they
 * mean. It starts no process and waits for nothing.
 */
#ifndef CASPARIAN_PLUGINS_RUN_NATIVE_STREAM_H
#define CASPARIAN_PLUGINS_RUN_NATIVE_STREAM_H

#include "plugins/run/frames.h"
#include "plugins/run/intake.h"

/* Most messages about outputs that wait for their data. */
#define CASPARIAN_MARKS_MAX 256

/* `output_begin` or `output_end`. */
typedef struct casparian_mark {
    bool is_begin;
    char output[CASPARIAN_OUTPUT_NAME_MAX + 2]; /* a longer name shows as too long */
    char hash[CASPARIAN_HASH_SIZE];
    int64_t stream, rows;
} casparian_mark;

typedef struct casparian_native_stream {
    const casparian_plugin *plugin;
    char (*schema_hashes)[CASPARIAN_HASH_SIZE]; /* by `plugin->outputs`; "": none is declared. NULL:
                                                   hashes are not compared */
    casparian_intake *intake;
    bool has_hello;
    bool says_finish, has_finish; /* a capability: the message `finish` is the last one */
    size_t lines_logged;

    mcp_buf line; /* of the control messages, not complete */
    bool line_is_dropped;
    casparian_mark marks[CASPARIAN_MARKS_MAX];
    size_t mark_begin, mark_count;

    casparian_frames blocks; /* the caller puts the bytes of rows here */
    bool is_in_data;         /* an output is open: rows may be read */
    bool is_after_data;
    size_t output;  /* that is open: the index of the intake */
    int64_t stream; /* the next stream_index, or the open one's */
    uint64_t stream_rows;
    bool has_said_error;
    casparian_failure said_failure; /* of the last message of type error */
    char said[300];                 /* its text */
} casparian_native_stream;

/* Begin a file. Both are borrowed until casparian_native_clear. */
void casparian_native_init(casparian_native_stream *self, const casparian_plugin *plugin,
                           casparian_intake *intake);

void casparian_native_clear(casparian_native_stream *self);

/* How many bytes of control messages may be given now; 0: rows must be taken first. */
size_t casparian_native_room(const casparian_native_stream *self);

/* Take bytes of control messages, at most as many as there is room for. */
void casparian_native_control(casparian_native_stream *self, const char *bytes, size_t length);

/* There are no more control messages: take a last line without its end. */
void casparian_native_control_end(casparian_native_stream *self);

/* Take what can be taken of the messages that wait and of `blocks`. */
void casparian_native_advance(casparian_native_stream *self);

/* The plugin says that it failed: fail its file by its last message of type error. */
void casparian_native_fail(casparian_native_stream *self);

/* The plugin ended well, and everything was taken: fail its file if it said an error nevertheless,
 * or left something incomplete. */
void casparian_native_finish(casparian_native_stream *self);

#endif
