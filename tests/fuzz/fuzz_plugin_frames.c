/*
 * fuzz_plugin_frames.c - any bytes as what a plugin sends: frames, and the rows in them.
 *
 * Whatever comes, no frame is longer than what was read, and every cell of a batch can be read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/run/frames.h"
#include "plugins/run/json_rows.h"

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

static void read_frames(const uint8_t *data, size_t size)
{
    casparian_frames reader;
    casparian_frame frame = { .kind = CASPARIAN_FRAME_NONE };
    size_t room;
    casparian_frames_init(&reader);
    char *at = casparian_frames_space(&reader, &room);
    must(at != NULL);
    size = size < room ? size : room;
    if (size)
        memcpy(at, data, size);
    casparian_frames_filled(&reader, size);
    while (casparian_frames_next(&frame, &reader, NULL) == MCP_OK &&
           frame.kind != CASPARIAN_FRAME_NONE) {
        must(frame.length <= size);
        if (frame.kind == CASPARIAN_FRAME_DATA && frame.length > 4)
            read_rows(frame.bytes + 4, frame.length - 4);
    }
    casparian_frames_clear(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] == '{')
        read_rows((const char *)data, size);
    else
        read_frames(data, size);
    return 0;
}
