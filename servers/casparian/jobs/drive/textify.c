/*
 * textify.c - values of several kinds in a column that was inferred as a string.
 */
#include "jobs/drive/textify.h"

#include <string.h>

#include "check/text.h"

static bool is_string_column(const casparian_definition *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0)
            return schema->columns[i].type.kind == CASPARIAN_KIND_STRING;
    return false;
}

static bool is_mixed(const casparian_vector *vector)
{
    return vector->odd_count > 0 ||
           (vector->type.kind != CASPARIAN_KIND_STRING && vector->type.kind != CASPARIAN_KIND_NULL);
}

/* `texts` holds those of all rows, one after the other. */
static mcp_status append_rows(mcp_buf *texts, uint32_t *offsets, uint8_t *valid,
                              const casparian_vector *vector, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        casparian_cell cell = casparian_vector_cell(vector, row);
        if (cell.kind != CASPARIAN_KIND_NULL) {
            valid[row / 8] |= (uint8_t)(1U << row % 8);
            casparian_text_append(texts, &cell, NULL);
        }
        offsets[row + 1] = (uint32_t)texts->length;
    }
    return texts->status;
}

static mcp_status textify(casparian_vector *vector, size_t rows, mcp_arena *arena, mcp_error *err)
{
    uint32_t *offsets = mcp_arena_array(arena, rows + 1, sizeof *offsets);
    uint8_t *valid = mcp_arena_alloc(arena, (rows + 7) / 8);
    mcp_status st = offsets && valid ? MCP_OK : MCP_E_NOMEM;
    char *bytes = NULL;
    mcp_buf texts;
    mcp_buf_init(&texts, CASPARIAN_BATCH_BYTES_MAX);
    if (st == MCP_OK)
        st = append_rows(&texts, offsets, valid, vector, rows);
    if (st == MCP_OK)
        bytes = mcp_arena_strndup(arena, texts.data ? texts.data : "", texts.length);
    if (st == MCP_OK && !bytes)
        st = MCP_E_NOMEM;
    mcp_buf_clear(&texts);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no room for the texts of the column '%s'", vector->name);
    vector->type = (casparian_type){ .kind = CASPARIAN_KIND_STRING };
    vector->valid = valid;
    vector->values = NULL;
    vector->offsets = offsets;
    vector->bytes = bytes;
    vector->odds = NULL;
    vector->odd_count = 0;
    return MCP_OK;
}

mcp_status casparian_textify(casparian_batch *out, const casparian_batch *batch,
                             const casparian_definition *schema, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    casparian_vector *columns = mcp_arena_array(arena, batch->count, sizeof *columns);
    if (!columns)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for rows");
    for (size_t i = 0; st == MCP_OK && i < batch->count; i++) {
        columns[i] = batch->columns[i];
        if (is_mixed(&columns[i]) && is_string_column(schema, columns[i].name))
            st = textify(&columns[i], batch->rows, arena, err);
    }
    *out = (casparian_batch){ .rows = batch->rows, .count = batch->count, .columns = columns };
    return st;
}
