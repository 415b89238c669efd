/*
 * fuzz_casparian_batch.c - bytes of a plugin as a CFB1 batch: what is taken can be read cell by
 * cell, written again to the same batch, and held against the schema that is inferred from it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/infer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_MAX = 64 << 20, COLUMNS_MAX = 32 };

static void must(bool claim)
{
    if (!claim)
        abort();
}

/* Write the batch and read that: the cells are the same. */
static void round_trip(const casparian_batch *batch, mcp_arena *arena)
{
    casparian_batch again;
    mcp_buf bytes;
    mcp_buf_init(&bytes, CASPARIAN_BATCH_BYTES_MAX);
    must(casparian_batch_encode(&bytes, batch, NULL) == MCP_OK);
    void *copy = mcp_arena_alloc(arena, bytes.length);
    must(copy != NULL);
    memcpy(copy, bytes.data, bytes.length);
    must(casparian_batch_decode(&again, NULL, arena, copy, bytes.length, NULL) == MCP_OK);
    must(again.rows == batch->rows && again.count == batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        for (size_t row = 0; row < batch->rows; row++) {
            casparian_cell a = casparian_vector_cell(&batch->columns[i], row);
            casparian_cell b = casparian_vector_cell(&again.columns[i], row);
            must(a.kind == b.kind);
            if (a.kind == CASPARIAN_KIND_STRING || a.kind == CASPARIAN_KIND_BINARY)
                must(
                    a.text.length == b.text.length &&
                    (a.text.length == 0 || memcmp(a.text.bytes, b.text.bytes, a.text.length) == 0));
        }
    }
    mcp_buf_clear(&bytes);
}

static void hold(const casparian_batch *batch, const casparian_definition *definition,
                 mcp_arena *arena)
{
    casparian_redaction redaction;
    casparian_check *check = NULL;
    casparian_checked checked;
    mcp_json_writer out;
    mcp_buf text;
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    const casparian_check_options options = {
        .output = "o", .definition = definition, .redaction = &redaction, .is_inferred = true
    };
    if (casparian_check_new(&check, &options, NULL) != MCP_OK)
        return; /* a zone that there is not */
    must(casparian_check_begin(check, "f", NULL) == MCP_OK);
    if (casparian_check_batch(check, &checked, batch, arena, NULL) == MCP_OK)
        must(checked.valid.rows + checked.invalid.rows == batch->rows);
    casparian_check_end(check, true);
    mcp_buf_init(&text, ARENA_MAX);
    mcp_json_writer_init(&out, &text);
    mcp_write_object(&out);
    casparian_check_write(check, &out);
    mcp_write_end(&out);
    must(mcp_json_writer_status(&out) == MCP_OK);
    mcp_buf_clear(&text);
    casparian_check_free(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    casparian_batch batch;
    casparian_infer *infer = NULL;
    casparian_definition definition;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    void *bytes = mcp_arena_alloc(arena, size + 1); /* aligned */
    must(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    if (casparian_batch_decode(&batch, NULL, arena, bytes, size, NULL) == MCP_OK &&
        batch.count <= COLUMNS_MAX) {
        round_trip(&batch, arena);
        must(casparian_infer_new(&infer, NULL) == MCP_OK);
        must(casparian_infer_add(infer, &batch, NULL) == MCP_OK);
        if (casparian_infer_definition(&definition, infer, "o", arena, NULL) == MCP_OK)
            hold(&batch, &definition, arena);
    }
    casparian_infer_free(infer);
    mcp_arena_free(arena);
    return 0;
}
