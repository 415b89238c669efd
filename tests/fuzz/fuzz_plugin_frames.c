/*
 * fuzz_plugin_frames.c - any bytes as what a plugin sends: rows of JSON, the frames of a file, and
 * after an 'n' the control messages of a native plugin, a NUL and its blocks of rows.
 *
 * Whatever comes, no frame is longer than what was read, every cell of a batch can be read, and the
 * host itself does not fail.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/run/json_rows.h"
#include "plugins/run/native_stream.h"
#include "plugins/run/python_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

/* Touches every byte that a batch says it has. */
static void read_all(const casparian_batch *batch)
{
    size_t sum = 0;
    for (size_t i = 0; i < batch->count; i++) {
        must(casparian_batch_find(batch, batch->columns[i].name) == &batch->columns[i]);
        for (size_t row = 0; row < batch->rows; row++) {
            casparian_cell cell = casparian_vector_cell(&batch->columns[i], row);
            if (cell.kind == CASPARIAN_KIND_STRING || cell.kind == CASPARIAN_KIND_BINARY) {
                for (size_t k = 0; k < cell.text.length; k++)
                    sum += (uint8_t)cell.text.bytes[k];
            }
        }
    }
    must(sum < SIZE_MAX);
}

static void read_rows(const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new((size_t)256 << 20);
    casparian_batch batch;
    must(arena != NULL);
    if (casparian_json_rows_read(&batch, arena, text, length, NULL) == MCP_OK)
        read_all(&batch);
    mcp_arena_free(arena);
}

static mcp_status take_batch(void *data, const char *output, const casparian_batch *batch,
                             mcp_error *err)
{
    (void)data, (void)err;
    must(casparian_plugin_id_is_valid(output));
    read_all(batch);
    return MCP_OK;
}

static const casparian_guest_limits limits = { .output_bytes = 1 << 20, .log_bytes = 1 << 20 };
static const casparian_guest_events events = { .batch = take_batch };

static void close_intake(casparian_intake *intake)
{
    casparian_intake_clear(intake);
    must(intake->status == MCP_OK);
    must(intake->outcome->failure == CASPARIAN_FAILURE_NONE || intake->outcome->error[0]);
}

/* @return how many bytes fitted */
static size_t fill(casparian_frames *frames, const uint8_t *data, size_t size)
{
    size_t room;
    char *at = casparian_frames_space(frames, &room);
    must(at != NULL);
    size = size < room ? size : room;
    if (size)
        memcpy(at, data, size);
    casparian_frames_filled(frames, size);
    return size;
}

static void read_frames(const uint8_t *data, size_t size)
{
    casparian_guest_outcome outcome;
    casparian_intake intake;
    casparian_python_stream stream;
    casparian_frame frame = { .kind = CASPARIAN_FRAME_NONE };

    casparian_intake_init(&intake, &outcome, &limits, &events, NULL);
    casparian_python_init(&stream, &intake);
    size = fill(&stream.frames, data, size);
    while (casparian_frames_next(&frame, &stream.frames, NULL) == MCP_OK &&
           frame.kind != CASPARIAN_FRAME_NONE) {
        must(frame.length <= size);
        casparian_python_take(&stream, &frame);
        if (frame.kind == CASPARIAN_FRAME_DATA && frame.length > 4)
            read_rows(frame.bytes + 4, frame.length - 4);
    }
    casparian_python_clear(&stream);
    close_intake(&intake);
}

static void read_native(const uint8_t *data, size_t size)
{
    static const casparian_plugin plugin = { .origin = CASPARIAN_DEV };
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t lines = end ? (size_t)(end - data) : size, rest = end ? size - lines - 1 : 0;
    casparian_guest_outcome outcome;
    casparian_intake intake;
    casparian_native_stream stream;

    casparian_intake_init(&intake, &outcome, &limits, &events, NULL);
    casparian_native_init(&stream, &plugin, &intake);
    fill(&stream.blocks, end ? end + 1 : data, rest);
    for (size_t at = 0; at < lines && casparian_native_room(&stream);) {
        size_t room = casparian_native_room(&stream);
        size_t part = lines - at < room ? lines - at : room;
        casparian_native_control(&stream, (const char *)data + at, part);
        casparian_native_advance(&stream);
        at += part;
    }
    casparian_native_control_end(&stream);
    casparian_native_advance(&stream);
    casparian_native_finish(&stream);
    casparian_native_clear(&stream);
    close_intake(&intake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] == '{')
        read_rows((const char *)data, size);
    else if (size && data[0] == 'n')
        read_native(data + 1, size - 1);
    else
        read_frames(data, size);
    return 0;
}
