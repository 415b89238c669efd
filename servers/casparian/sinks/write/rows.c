/*
 * rows.c - copies of batches: one allocation each, the vectors first, then their buffers.
 */
#include "sinks/write/rows.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

#define ALIGNMENT ((size_t)16)
#define DECODED_MAX ((size_t)256 << 20) /* of texts that are repaired, and the vectors */

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool is_text(casparian_kind kind)
{
    return kind == CASPARIAN_KIND_STRING || kind == CASPARIAN_KIND_BINARY;
}

static size_t buffers_of(const casparian_vector *vector, size_t rows)
{
    size_t size = vector->valid ? rounded((rows + 7) / 8) : 0;

    if (is_text(vector->type.kind))
        return size + rounded((rows + 1) * sizeof(uint32_t)) + rounded(vector->offsets[rows]);
    return size + rounded(rows * casparian_kind_width(vector->type.kind));
}

/* Copy bytes to *to, which moves behind them. */
static const void *put(char **to, const void *bytes, size_t length)
{
    char *at = *to;

    if (length > 0)
        memcpy(at, bytes, length);
    *to += rounded(length);
    return at;
}

static void copy_vector(casparian_vector *to, const casparian_vector *from, size_t rows, char **at)
{
    *to = (casparian_vector){ .name = from->name, .type = from->type };
    if (from->valid)
        to->valid = put(at, from->valid, (rows + 7) / 8);
    if (is_text(from->type.kind)) {
        to->offsets = put(at, from->offsets, (rows + 1) * sizeof(uint32_t));
        to->bytes = put(at, from->bytes, from->offsets[rows]);
    } else {
        to->values = put(at, from->values, rows * casparian_kind_width(from->type.kind));
    }
}

mcp_status write_rows_copy(write_rows **out, const casparian_batch *batch, mcp_error *err)
{
    size_t head = rounded(sizeof(write_rows));
    size_t size = head + rounded(batch->count * sizeof(casparian_vector));

    for (size_t i = 0; i < batch->count; i++)
        size += buffers_of(&batch->columns[i], batch->rows);
    char *memory = mcp_alloc(size);
    if (!memory)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu rows", batch->rows);
    write_rows *self = (write_rows *)(void *)memory;
    casparian_vector *columns = (casparian_vector *)(void *)(memory + head);
    char *at = memory + head + rounded(batch->count * sizeof(casparian_vector));
    *self = (write_rows){ .size = size, .batch = { batch->rows, batch->count, columns } };
    for (size_t i = 0; i < batch->count; i++)
        copy_vector(&columns[i], &batch->columns[i], batch->rows, &at);
    *out = self;
    return MCP_OK;
}

mcp_status write_rows_decode(write_rows **out, char *bytes, size_t length, mcp_error *err)
{
    write_rows *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self) {
        free(bytes);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for rows");
    }
    self->bytes = bytes;
    self->size = length;
    self->arena = mcp_arena_new(DECODED_MAX);
    mcp_status st = self->arena ? casparian_batch_decode(&self->batch, NULL, self->arena, bytes,
                                                         length, err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory for rows");
    if (st == MCP_OK)
        *out = self;
    else
        write_rows_free(self);
    return st;
}

void write_rows_free(write_rows *self)
{
    if (!self)
        return;
    mcp_arena_free(self->arena);
    free(self->bytes);
    free(self);
}
