/*
 * rows.h - batches of the tests of validation, from rows of JSON as a plugin of Python emits them.
 *
 * A value that JSON has no type for is an object with its type: {"date":19000}, {"timestamp":0},
 * {"timestamp_tz":0}, {"time":0}, {"duration":0}, {"decimal":"1.50"}, {"binary":"abc"}. As the
 * batches of a plugin do, a column has the type of its first value, and cells of other types are
 * odd.
 */
#ifndef TESTS_CASPARIAN_ROWS_H
#define TESTS_CASPARIAN_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "check/batch.h"
#include "mcp/json.h"

static void rows_must(bool claim)
{
    if (!claim)
        abort();
}

static casparian_cell cell_of_object(const mcp_json *json)
{
    static const struct {
        const char *name;
        casparian_kind kind;
    } kinds[] = {
        { "date", CASPARIAN_KIND_DATE },         { "timestamp", CASPARIAN_KIND_TIMESTAMP },
        { "time", CASPARIAN_KIND_TIME },         { "timestamp_tz", CASPARIAN_KIND_TIMESTAMP_TZ },
        { "duration", CASPARIAN_KIND_DURATION }, { "decimal", CASPARIAN_KIND_DECIMAL },
        { "binary", CASPARIAN_KIND_BINARY },
    };
    const char *name = mcp_json_name(json, 0, NULL);
    const mcp_json *value = mcp_json_item(json, 0);
    casparian_cell cell = { .kind = CASPARIAN_KIND_NULL };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            cell.kind = kinds[i].kind;
    }
    if (cell.kind == CASPARIAN_KIND_BINARY) {
        cell.text.bytes = mcp_json_string(value, &cell.text.length);
    } else if (cell.kind == CASPARIAN_KIND_DECIMAL) {
        const char *text = mcp_json_string(value, NULL), *point = strchr(text, '.');
        casparian_decimal_type type = { 38, point ? (uint8_t)strlen(point + 1) : 0 };
        cell.scale = type.scale;
        rows_must(casparian_decimal_parse(&cell.decimal, text, strlen(text), type));
    } else {
        rows_must(mcp_json_int(value, &cell.integer));
    }
    return cell;
}

static casparian_cell cell_of(const mcp_json *json)
{
    casparian_cell cell = { .kind = CASPARIAN_KIND_NULL };
    if (!json)
        cell.is_absent = true;
    else if (mcp_json_is_object(json))
        cell = cell_of_object(json);
    else if (mcp_json_bool(json, &cell.boolean))
        cell.kind = CASPARIAN_KIND_BOOLEAN;
    else if (mcp_json_int(json, &cell.integer))
        cell.kind = CASPARIAN_KIND_INT64;
    else if (mcp_json_double(json, &cell.number))
        cell.kind = CASPARIAN_KIND_FLOAT64;
    else if (mcp_json_is_string(json)) {
        cell.kind = CASPARIAN_KIND_STRING;
        cell.text.bytes = mcp_json_string(json, &cell.text.length);
    }
    return cell;
}

static void set_value(casparian_vector *out, char *values, size_t row, const casparian_cell *cell)
{
    size_t width = casparian_kind_width(out->type.kind);
    int32_t day = (int32_t)cell->integer;
    char *slot = values + row * width;
    if (out->type.kind == CASPARIAN_KIND_BOOLEAN)
        *slot = cell->boolean;
    else if (out->type.kind == CASPARIAN_KIND_DATE)
        memcpy(slot, &day, width);
    else if (out->type.kind == CASPARIAN_KIND_DECIMAL)
        memcpy(slot, &cell->decimal, width);
    else
        memcpy(slot, &cell->integer, width); /* a double is in the same place */
}

static bool is_of(const casparian_vector *vector, const casparian_cell *cell)
{
    return cell->kind == vector->type.kind && cell->kind != CASPARIAN_KIND_NULL &&
           (cell->kind != CASPARIAN_KIND_DECIMAL || cell->scale == vector->type.decimal.scale);
}

static casparian_type type_of_column(const mcp_json *rows, const char *name)
{
    casparian_type type = { .kind = CASPARIAN_KIND_NULL };
    for (size_t i = 0; i < mcp_json_count(rows) && type.kind == CASPARIAN_KIND_NULL; i++) {
        casparian_cell cell = cell_of(mcp_json_get(mcp_json_item(rows, i), name));
        type.kind = cell.kind;
        type.decimal = (casparian_decimal_type){ 38, cell.scale };
        type.zone = cell.kind == CASPARIAN_KIND_TIMESTAMP_TZ ? "UTC" : NULL;
    }
    return type;
}

static casparian_vector column_of(const mcp_json *rows, const char *name, mcp_arena *arena)
{
    size_t count = mcp_json_count(rows), length = 0;
    casparian_vector out = { .name = name, .type = type_of_column(rows, name) };
    uint8_t *valid = mcp_arena_alloc(arena, count / 8 + 1);
    uint8_t *absent = mcp_arena_alloc(arena, count / 8 + 1);
    char *values = mcp_arena_array(arena, count + 1, 16);
    uint32_t *offsets = mcp_arena_array(arena, count + 1, sizeof *offsets);
    casparian_odd *odds = mcp_arena_array(arena, count + 1, sizeof *odds);
    bool is_text = out.type.kind == CASPARIAN_KIND_STRING || out.type.kind == CASPARIAN_KIND_BINARY;
    for (size_t row = 0; row < count; row++) {
        casparian_cell cell = cell_of(mcp_json_get(mcp_json_item(rows, row), name));
        length += is_text && is_of(&out, &cell) ? cell.text.length : 0;
    }
    char *bytes = mcp_arena_alloc(arena, length + 1);
    for (size_t row = 0; row < count; row++) {
        casparian_cell cell = cell_of(mcp_json_get(mcp_json_item(rows, row), name));
        offsets[row + 1] = offsets[row];
        if (is_of(&out, &cell)) {
            valid[row / 8] |= (uint8_t)(1u << (row % 8));
            if (is_text) {
                memcpy(bytes + offsets[row], cell.text.bytes, cell.text.length);
                offsets[row + 1] += (uint32_t)cell.text.length;
            } else {
                set_value(&out, values, row, &cell);
            }
        } else if (cell.is_absent) {
            absent[row / 8] |= (uint8_t)(1u << (row % 8));
            out.absent = absent;
        } else if (cell.kind != CASPARIAN_KIND_NULL) {
            odds[out.odd_count++] = (casparian_odd){ (uint32_t)row, cell };
        }
    }
    out.valid = valid;
    out.odds = odds;
    if (is_text) {
        out.offsets = offsets;
        out.bytes = bytes;
    } else {
        out.values = values;
    }
    return out;
}

/* A batch of an array of objects. */
static casparian_batch batch_of(const mcp_json *rows, mcp_arena *arena)
{
    enum { MOST = 64 };
    casparian_vector *columns = mcp_arena_array(arena, MOST, sizeof *columns);
    casparian_batch batch = { .rows = mcp_json_count(rows), .columns = columns };
    for (size_t row = 0; row < batch.rows; row++) {
        const mcp_json *object = mcp_json_item(rows, row);
        for (size_t i = 0; i < mcp_json_count(object); i++) {
            const char *name = mcp_json_name(object, i, NULL);
            if (casparian_batch_find(&batch, name))
                continue;
            rows_must(batch.count < MOST);
            columns[batch.count++] = column_of(rows, name, arena);
        }
    }
    return batch;
}

#endif
