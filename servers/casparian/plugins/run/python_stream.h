/*
 * python_stream.h - what the child of a file says: frames, in the order of the protocol (plugins,
 * 2.4).
 *
 * It is given frame after frame, and hands on to the intake what they mean. It starts no process
 * and waits for nothing.
 */
#ifndef CASPARIAN_PLUGINS_RUN_PYTHON_STREAM_H
#define CASPARIAN_PLUGINS_RUN_PYTHON_STREAM_H

#include "plugins/run/frames.h"
#include "plugins/run/intake.h"

typedef struct casparian_python_stream {
    casparian_intake *intake;
    casparian_frames frames;               /* the caller puts the bytes here, and takes frames */
    size_t outputs[CASPARIAN_OUTPUTS_MAX]; /* by index - 1: that of the intake */
    size_t output_count;
    uint32_t open; /* the index of the output that rows belong to; 0: none */
    bool has_metrics;
    bool has_answered; /* END or ERROR came */
    int64_t answered_ms;
} casparian_python_stream;

/* Begin a file. The intake is borrowed until casparian_python_clear. */
void casparian_python_init(casparian_python_stream *self, casparian_intake *intake);

void casparian_python_clear(casparian_python_stream *self);

/* Take a frame. */
void casparian_python_take(casparian_python_stream *self, const casparian_frame *frame);

#endif
