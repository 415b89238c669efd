/*
 * python_stream.c - the order and the meaning of frames of one file.
 */
#include "plugins/run/python_stream.h"

#include <string.h>

#include "mcp/clock.h"
#include "mcp/json.h"

void casparian_python_init(casparian_python_stream *self, casparian_intake *intake)
{
    *self = (casparian_python_stream){ .intake = intake };
    casparian_frames_init(&self->frames);
}

void casparian_python_clear(casparian_python_stream *self)
{
    casparian_frames_clear(&self->frames);
}

static void violated(casparian_python_stream *self, const char *what)
{
    casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR, "%s", what);
}

static void on_meta(casparian_python_stream *self, const mcp_json *json)
{
    int64_t index = 0;
    size_t known = self->intake->output_count, at = 0;
    const char *name = mcp_json_get_string(json, "name");

    if (!mcp_json_int(mcp_json_get(json, "index"), &index) || !name ||
        self->output_count == CASPARIAN_OUTPUTS_MAX || index != (int64_t)self->output_count + 1) {
        violated(self, "OUTPUT_META without the next index and a name");
        return;
    }
    if (!casparian_intake_output(self->intake, &at, name))
        return;
    if (at != known)
        violated(self, "OUTPUT_META names an output a second time");
    self->outputs[self->output_count++] = at;
}

static void on_metrics(casparian_python_stream *self, const mcp_json *json)
{
    int64_t published = -1;
    const char *status = mcp_json_get_string(json, "status");

    self->has_metrics = true;
    self->intake->outcome->stopped_at_row_limit = status && strcmp(status, "limited") == 0;
    if (!mcp_json_int(mcp_json_get(json, "rows_published"), &published) ||
        (uint64_t)published != self->intake->outcome->rows)
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "METRICS says %lld rows, and %llu came", (long long)published,
                              (unsigned long long)self->intake->outcome->rows);
}

static void on_answer(casparian_python_stream *self)
{
    self->has_answered = true;
    self->answered_ms = mcp_clock_mono_ms();
}

static void on_json(casparian_python_stream *self, const casparian_frame *frame)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *json = NULL;
    if (!arena || mcp_json_read(&json, arena, frame->bytes, frame->length, NULL) != MCP_OK ||
        !mcp_json_is_object(json)) {
        casparian_intake_fail(self->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR,
                              "a %s frame without a JSON object",
                              casparian_frame_text(frame->kind));
    } else if (frame->kind == CASPARIAN_FRAME_OUTPUT_META) {
        on_meta(self, json);
    } else if (frame->kind == CASPARIAN_FRAME_METRICS) {
        on_metrics(self, json);
    } else {
        casparian_intake_error(self->intake, json, CASPARIAN_FAILURE_PARSE_ERROR);
        on_answer(self);
    }
    mcp_arena_free(arena);
}

static void on_start(casparian_python_stream *self, uint32_t index)
{
    if (self->open)
        violated(self, "OUTPUT_START within an output");
    else if (index == 0 || index > self->output_count)
        violated(self, "OUTPUT_START of an output without OUTPUT_META");
    else
        self->open = index;
}

void casparian_python_take(casparian_python_stream *self, const casparian_frame *frame)
{
    if (self->has_answered) {
        violated(self, "frames after the end of the file");
        return;
    }
    switch (frame->kind) {
    case CASPARIAN_FRAME_LOG:
        casparian_intake_log(self->intake, (casparian_log_level)frame->number, frame->bytes,
                             frame->length);
        break;
    case CASPARIAN_FRAME_OUTPUT_START:
        on_start(self, frame->number);
        break;
    case CASPARIAN_FRAME_OUTPUT_END:
        if (!self->open || frame->number != self->open)
            violated(self, "OUTPUT_END of an output that is not open");
        self->open = 0;
        break;
    case CASPARIAN_FRAME_DATA:
        if (!self->open)
            violated(self, "rows outside of an output");
        else
            casparian_intake_rows(self->intake, self->outputs[self->open - 1], frame->bytes,
                                  frame->length);
        break;
    case CASPARIAN_FRAME_END:
        if (self->open || !self->has_metrics)
            violated(self, self->open ? "END within an output" : "END without METRICS");
        on_answer(self);
        break;
    case CASPARIAN_FRAME_OUTPUT_META:
    case CASPARIAN_FRAME_METRICS:
    case CASPARIAN_FRAME_ERROR:
        on_json(self, frame);
        break;
    default:
        violated(self, "a frame that a file does not have");
    }
}
