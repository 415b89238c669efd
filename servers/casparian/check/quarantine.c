/*
 * quarantine.c - rows are gathered into two batches.
 *
 * Where every row is valid, the columns are used as they are. Else the numbers of the rows of each
 * side are listed, and each column is gathered by that list.
 */
#include "check/quarantine.h"

#include <stdio.h>
#include <string.h>

#include "check/text.h"
#include "check/utf8.h"

enum { REASONS = 7 };

/* What is being gathered. */
struct gathering {
    const casparian_judged *judged;
    mcp_arena *arena;
    const uint32_t *rows;
    size_t count;
    bool is_out_of_memory;
};

static void *take(struct gathering *g, size_t count, size_t size)
{
    void *memory = mcp_arena_array(g->arena, count ? count : 1, size);
    g->is_out_of_memory |= !memory;
    return memory;
}

static bool bit(const uint8_t *bitmap, size_t at)
{
    return bitmap[at / 8] >> (at % 8) & 1;
}

int64_t casparian_row_id(const casparian_vector *row_id, size_t row)
{
    casparian_cell cell = { .kind = CASPARIAN_KIND_NULL };
    if (row_id)
        cell = casparian_vector_cell(row_id, row);
    return cell.kind == CASPARIAN_KIND_INT64 && cell.integer >= 0 ? cell.integer : -1;
}

/* ---- gathering columns ----------------------------------------------------------------------- */

static void gather_valid(struct gathering *g, casparian_vector *out, const casparian_vector *in)
{
    uint8_t *valid = in->valid ? take(g, (g->count + 7) / 8, 1) : NULL;
    for (size_t i = 0; valid && i < g->count; i++) {
        if (bit(in->valid, g->rows[i]))
            valid[i / 8] |= (uint8_t)(1u << (i % 8));
    }
    out->valid = valid;
}

static void gather_values(struct gathering *g, casparian_vector *out, const casparian_vector *in)
{
    size_t width = casparian_kind_width(in->type.kind);
    const char *from = in->values;
    char *values = take(g, g->count, width);
    if (!values)
        return;
    switch (width) {
    case 1:
        for (size_t i = 0; i < g->count; i++)
            values[i] = from[g->rows[i]];
        break;
    case 8:
        for (size_t i = 0; i < g->count; i++)
            memcpy(values + i * 8, from + (size_t)g->rows[i] * 8, 8);
        break;
    default:
        for (size_t i = 0; i < g->count; i++)
            memcpy(values + i * width, from + g->rows[i] * width, width);
    }
    out->values = values;
}

static void gather_texts(struct gathering *g, casparian_vector *out, const casparian_vector *in)
{
    uint32_t *offsets = take(g, g->count + 1, sizeof *offsets);
    size_t length = 0;
    for (size_t i = 0; i < g->count; i++)
        length += in->offsets[g->rows[i] + 1] - in->offsets[g->rows[i]];
    char *bytes = take(g, length, 1);
    if (!offsets || !bytes)
        return;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t begin = in->offsets[g->rows[i]], size = in->offsets[g->rows[i] + 1] - begin;
        if (size > 0)
            memcpy(bytes + offsets[i], in->bytes + begin, size);
        offsets[i + 1] = offsets[i] + size;
    }
    out->offsets = offsets;
    out->bytes = bytes;
}

static void gather(struct gathering *g, casparian_vector *out, const casparian_vector *in)
{
    *out = (casparian_vector){ .name = in->name, .type = in->type };
    gather_valid(g, out, in);
    if (in->offsets)
        gather_texts(g, out, in);
    else
        gather_values(g, out, in);
}

/* @param extra columns that stay free behind those of the definition */
static mcp_status gather_all(struct gathering *g, casparian_vector **out, size_t extra)
{
    const casparian_judged *judged = g->judged;
    casparian_vector *columns = take(g, judged->definition->count + extra, sizeof *columns);
    for (size_t i = 0; i < judged->definition->count && !g->is_out_of_memory; i++)
        gather(g, &columns[i], &judged->columns[i].vector);
    *out = columns;
    return g->is_out_of_memory ? MCP_E_NOMEM : MCP_OK;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* The events by row: those of row r are order[begins[r]] to order[begins[r + 1]]. */
struct by_row {
    const uint32_t *begins, *order;
};

static bool sort_by_row(struct gathering *g, struct by_row *out)
{
    const casparian_judged *judged = g->judged;
    size_t rows = g->count > 0 ? judged->batch->rows : 0;
    uint32_t *begins = take(g, rows + 2, sizeof *begins);
    uint32_t *order = take(g, judged->event_count, sizeof *order);
    if (!begins || !order)
        return false;
    for (size_t i = 0; i < judged->event_count; i++)
        begins[judged->events[i].row + 2]++;
    for (size_t row = 1; row <= rows; row++)
        begins[row + 1] += begins[row];
    for (size_t i = 0; i < judged->event_count; i++) /* begins[r + 1] moves from begin to end */
        order[begins[judged->events[i].row + 1]++] = (uint32_t)i;
    out->begins = begins;
    out->order = order;
    return true;
}

static const char *name_of(const casparian_judged *judged, const casparian_event *event)
{
    size_t count = judged->definition->count;
    return event->column < count ? judged->definition->columns[event->column].name
                                 : judged->extras[event->column - count];
}

static const char *format_of(const casparian_column *column)
{
    if (column->pattern)
        return column->pattern;
    if (column->type.kind == CASPARIAN_KIND_DATE)
        return "%Y-%m-%d";
    return column->type.kind == CASPARIAN_KIND_TIME ? "%H:%M:%S" : "RFC 3339";
}

static void put_message(mcp_buf *out, const casparian_judged *judged, const casparian_event *event)
{
    const char *name = name_of(judged, event);
    bool is_extra = event->column >= judged->definition->count;
    const casparian_column *column = is_extra ? NULL : &judged->definition->columns[event->column];
    if (is_extra)
        mcp_buf_printf(out, "schema: unexpected column '%s'", name);
    else if (event->violation == CASPARIAN_VIOLATION_NULL_NOT_ALLOWED)
        mcp_buf_printf(out, "schema: null not allowed in '%s'", name);
    else if (event->violation == CASPARIAN_VIOLATION_FORMAT_MISMATCH)
        mcp_buf_printf(out, "schema: value does not match format '%s' for '%s'", format_of(column),
                       name);
    else if (event->violation != CASPARIAN_VIOLATION_TYPE_MISMATCH)
        mcp_buf_printf(out, "schema: missing column '%s'", name);
    else if (column->type.kind == CASPARIAN_KIND_DECIMAL)
        mcp_buf_printf(out, "schema: value does not match decimal(%d, %d) for '%s'",
                       column->type.decimal.precision, column->type.decimal.scale, name);
    else
        mcp_buf_printf(out, "schema: value does not match type %s for '%s'",
                       casparian_kind_text(column->type.kind), name);
}

/* Bytes of a message that are kept, in whole code points. */
static size_t cut(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t next = casparian_utf8_next(text + at, length - at, NULL);
        if (at + next > CASPARIAN_PARSER_ERROR_MAX)
            break;
        at += next;
    }
    return at;
}

/* What puts the text of one row into a column of reasons. */
typedef void put_reason(mcp_buf *out, struct gathering *g, const struct by_row *events, size_t row);

static void put_messages(mcp_buf *out, struct gathering *g, const struct by_row *events, size_t row)
{
    const casparian_judged *judged = g->judged;
    casparian_cell cell;
    size_t begin = out->length;
    if (casparian_row_error(&cell, judged->row_error, row)) {
        if (cell.kind == CASPARIAN_KIND_STRING)
            mcp_buf_append(out, cell.text.bytes, cut(cell.text.bytes, cell.text.length));
        else
            casparian_text_append(out, &cell, NULL);
    }
    for (uint32_t i = events->begins[row]; i < events->begins[row + 1]; i++) {
        if (out->length > begin)
            mcp_buf_puts(out, "; ");
        put_message(out, judged, &judged->events[events->order[i]]);
    }
}

static void put_type(mcp_buf *out, struct gathering *g, const struct by_row *events, size_t row)
{
    const casparian_judged *judged = g->judged;
    casparian_cell cell;
    if (casparian_row_error(&cell, judged->row_error, row))
        mcp_buf_puts(out, "parser");
    else
        mcp_buf_puts(out, casparian_violation_text(
                              judged->events[events->order[events->begins[row]]].violation));
}

static void put_violations(mcp_buf *out, struct gathering *g, const struct by_row *events,
                           size_t row)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_array(&json);
    for (uint32_t i = events->begins[row]; i < events->begins[row + 1]; i++) {
        const casparian_event *event = &g->judged->events[events->order[i]];
        mcp_write_object(&json);
        mcp_write_member_string(&json, "column", name_of(g->judged, event));
        mcp_write_member_string(&json, "type", casparian_violation_text(event->violation));
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    if (mcp_json_writer_status(&json) != MCP_OK && out->status == MCP_OK)
        out->status = mcp_json_writer_status(&json);
}

static void put_path(mcp_buf *out, struct gathering *g, const struct by_row *events, size_t row)
{
    (void)events;
    (void)row;
    mcp_buf_puts(out, g->judged->path);
}

static void put_raw(mcp_buf *out, struct gathering *g, const struct by_row *events, size_t row)
{
    const casparian_batch *batch = g->judged->batch;
    mcp_json_writer json;
    (void)events;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    for (size_t i = 0; i < batch->count; i++) {
        casparian_cell cell = casparian_vector_cell(&batch->columns[i], row);
        if (cell.is_absent)
            continue;
        mcp_write_name(&json, batch->columns[i].name);
        casparian_text_json(&json, &cell, NULL);
    }
    mcp_write_end(&json);
    if (mcp_json_writer_status(&json) != MCP_OK && out->status == MCP_OK)
        out->status = mcp_json_writer_status(&json);
}

static mcp_status make_texts(struct gathering *g, casparian_vector *out, const char *name,
                             put_reason *put, const struct by_row *events)
{
    mcp_buf texts;
    uint32_t *offsets = take(g, g->count + 1, sizeof *offsets);
    mcp_buf_init(&texts, UINT32_MAX);
    for (size_t i = 0; offsets && i < g->count && texts.status == MCP_OK; i++) {
        put(&texts, g, events, g->rows[i]);
        offsets[i + 1] = (uint32_t)texts.length;
    }
    mcp_status st = texts.status;
    char *bytes = st == MCP_OK ? take(g, texts.length, 1) : NULL;
    if (bytes && texts.length > 0)
        memcpy(bytes, texts.data, texts.length);
    mcp_buf_clear(&texts);
    *out = (casparian_vector){
        .name = name, .type = { .kind = CASPARIAN_KIND_STRING }, .offsets = offsets, .bytes = bytes
    };
    return st == MCP_OK && g->is_out_of_memory ? MCP_E_NOMEM : st;
}

/* The line of the source where the row names it, else the number of the row. */
static mcp_status make_places(struct gathering *g, casparian_vector *source,
                              casparian_vector *index)
{
    const casparian_judged *judged = g->judged;
    int64_t *ids = take(g, g->count, sizeof *ids), *rows = take(g, g->count, sizeof *rows);
    uint8_t *has_id = take(g, (g->count + 7) / 8, 1), *has_row = take(g, (g->count + 7) / 8, 1);
    if (g->is_out_of_memory)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < g->count; i++) {
        int64_t id = casparian_row_id(judged->row_id, g->rows[i]);
        uint8_t mask = (uint8_t)(1u << (i % 8));
        ids[i] = id < 0 ? 0 : id;
        rows[i] = id < 0 ? judged->first_index + g->rows[i] : 0;
        has_id[i / 8] |= id < 0 ? 0 : mask;
        has_row[i / 8] |= id < 0 ? mask : 0;
    }
    const casparian_type type = { .kind = CASPARIAN_KIND_INT64 };
    *source = (casparian_vector){ "_source_row", type, has_id, NULL, ids, NULL, NULL, NULL, 0 };
    *index = (casparian_vector){
        "_output_row_index", type, has_row, NULL, rows, NULL, NULL, NULL, 0
    };
    return MCP_OK;
}

static mcp_status make_reasons(struct gathering *g, casparian_vector *out)
{
    struct by_row events;
    if (!sort_by_row(g, &events))
        return MCP_E_NOMEM;
    mcp_status st = make_texts(g, &out[0], "_error_msg", put_messages, &events);
    if (st == MCP_OK)
        st = make_texts(g, &out[1], "_violation_type", put_type, &events);
    if (st == MCP_OK)
        st = make_texts(g, &out[2], "_violations", put_violations, &events);
    if (st == MCP_OK)
        st = make_places(g, &out[3], &out[4]);
    if (st == MCP_OK)
        st = make_texts(g, &out[5], "_source_path", put_path, &events);
    return st == MCP_OK ? make_texts(g, &out[6], "_raw_row", put_raw, &events) : st;
}

/* ---- the two batches ------------------------------------------------------------------------- */

static mcp_status list_rows(struct gathering *g, bool is_valid, size_t count)
{
    const casparian_judged *judged = g->judged;
    uint32_t *rows = take(g, count, sizeof *rows);
    size_t at = 0;
    for (size_t row = 0; rows && row < judged->batch->rows; row++) {
        if ((judged->flags[row] == 0) == is_valid)
            rows[at++] = (uint32_t)row;
    }
    g->rows = rows;
    g->count = count;
    return rows ? MCP_OK : MCP_E_NOMEM;
}

static mcp_status make_valid(struct gathering *g, casparian_batch *out)
{
    const casparian_judged *judged = g->judged;
    size_t count = judged->definition->count;
    casparian_vector *columns = NULL;
    mcp_status st = MCP_OK;
    if (judged->invalid == 0) {
        columns = take(g, count, sizeof *columns);
        for (size_t i = 0; columns && i < count; i++)
            columns[i] = judged->columns[i].vector;
        st = columns ? MCP_OK : MCP_E_NOMEM;
    } else {
        st = list_rows(g, true, judged->batch->rows - judged->invalid);
        if (st == MCP_OK)
            st = gather_all(g, &columns, 0);
    }
    *out = (casparian_batch){ judged->batch->rows - judged->invalid, count, columns };
    return st;
}

static mcp_status make_invalid(struct gathering *g, casparian_batch *out)
{
    size_t count = g->judged->definition->count;
    casparian_vector *columns = NULL;
    mcp_status st = list_rows(g, false, g->judged->invalid);
    if (st == MCP_OK)
        st = gather_all(g, &columns, REASONS);
    if (st == MCP_OK)
        st = make_reasons(g, columns + count);
    *out = (casparian_batch){ g->judged->invalid, count + REASONS, columns };
    return st;
}

mcp_status casparian_quarantine_split(casparian_batch *valid, casparian_batch *invalid,
                                      const casparian_judged *judged, mcp_arena *arena,
                                      mcp_error *err)
{
    struct gathering g = { .judged = judged, .arena = arena };
    mcp_status st = make_valid(&g, valid);
    if (st == MCP_OK)
        st = make_invalid(&g, invalid);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, st, "%zu rows of output '%s': %s", judged->batch->rows,
                         judged->definition->output, mcp_status_words(st));
}
