/*
 * sink.h - the sink of the SDK: its two streams, its control lines, and which output has the stream
 * of data.
 */
#ifndef CASPARIAN_GUEST_SDK_SINK_H
#define CASPARIAN_GUEST_SDK_SINK_H

#include "casparian_plugin.h"

enum { CF__STREAM_DATA = 1, CF__STREAM_CONTROL = 2 };

struct cf_sink {
    cf_write *write;
    void *write_data;
    cf_status status;      /* the first failure; nothing is written after it */
    cf_output *outputs;    /* a list by `next` */
    cf_output *current;    /* that has the stream; NULL: none has */
    uint64_t streams;      /* begun */
    uint64_t rows;         /* of the current stream */
    uint64_t dropped;      /* rows of all outputs that were committed and could not be taken */
    cf_status dropped_for; /* why the first of them */
    char dropped_from[64]; /* its output */
    size_t used;
    uint8_t buffer[64 << 10]; /* data that was not written yet */
};

/** The sink fails: the first failure counts. */
void cf__sink_fail(cf_sink *sink, cf_status status);

/** A row of an output was dropped. cf_finish says so. */
void cf__sink_drop(cf_sink *sink, const char *output, cf_status why);

/** Append to the stream of data. */
void cf__sink_put(cf_sink *sink, const void *bytes, size_t length);

/** The stream belongs to this output from now on, whose name and schema hash are given. */
void cf__sink_turn_to(cf_sink *sink, cf_output *output, const char *name, const char *hash);

/** End the stream of the output, which has that name, if it has one. */
void cf__sink_end_stream(cf_sink *sink, const cf_output *output, const char *name);

#endif
