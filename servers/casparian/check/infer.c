/*
 * infer.c - what was seen of each column, and the narrowest type of it.
 *
 * null < boolean; null < int64 < decimal < float64; null < date < timestamp; what else is joined
 * becomes a string.
 */
#include "check/infer.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/json.h"

#define MEMORY_MAX ((size_t)16 << 20)
#define TEXT_MAX ((size_t)4 << 20)

/* A column, as far as it was seen. */
struct seen {
    const char *name;
    uint32_t kinds;      /* bit k: a value of casparian_kind k */
    int64_t values;      /* that are not null */
    int64_t present;     /* rows that have the column at all */
    size_t whole, scale; /* of integers and decimals */
    const char *zone;
};

struct casparian_infer {
    mcp_arena *arena;
    struct seen *columns; /* CASPARIAN_COLUMNS_MAX */
    size_t count;
    int64_t rows;
};

mcp_status casparian_infer_new(casparian_infer **out, mcp_error *err)
{
    casparian_infer *self = calloc(1, sizeof *self);
    if (self)
        self->arena = mcp_arena_new(MEMORY_MAX);
    if (self && self->arena)
        self->columns = mcp_arena_array(self->arena, CASPARIAN_COLUMNS_MAX, sizeof *self->columns);
    if (!self || !self->columns) {
        casparian_infer_free(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to infer a schema");
    }
    *out = self;
    return MCP_OK;
}

void casparian_infer_free(casparian_infer *self)
{
    if (!self)
        return;
    mcp_arena_free(self->arena);
    free(self);
}

int64_t casparian_infer_rows(const casparian_infer *self)
{
    return self->rows;
}

/* ---- seeing ---------------------------------------------------------------------------------- */

static mcp_status find(casparian_infer *self, struct seen **out, const char *name, mcp_error *err)
{
    size_t at = 0;
    while (at < self->count && strcmp(self->columns[at].name, name) != 0)
        at++;
    if (at == CASPARIAN_COLUMNS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "an output has more than %d columns",
                             CASPARIAN_COLUMNS_MAX);
    if (at == self->count) {
        self->columns[at].name = mcp_arena_strdup(self->arena, name);
        if (!self->columns[at].name)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the name of a column");
        self->count++;
    }
    *out = &self->columns[at];
    return MCP_OK;
}

static void widen(struct seen *self, size_t whole, size_t scale)
{
    self->whole = whole > self->whole ? whole : self->whole;
    self->scale = scale > self->scale ? scale : self->scale;
}

static size_t digits_of(casparian_int128 value)
{
    size_t count = 0;
    for (; value != 0; value /= 10)
        count++;
    return count;
}

static void see_cell(struct seen *self, const casparian_cell *cell)
{
    if (cell->kind == CASPARIAN_KIND_NULL)
        return;
    self->values++;
    self->kinds |= 1u << cell->kind;
    if (cell->kind == CASPARIAN_KIND_INT64) {
        widen(self, digits_of(cell->integer), 0);
    } else if (cell->kind == CASPARIAN_KIND_DECIMAL) {
        size_t digits = digits_of(cell->decimal);
        widen(self, digits > cell->scale ? digits - cell->scale : 0, cell->scale);
    }
}

/* Zones that differ become UTC: the instants are the same. */
static mcp_status see_zone(casparian_infer *self, struct seen *column,
                           const casparian_vector *vector, mcp_error *err)
{
    if (vector->type.kind != CASPARIAN_KIND_TIMESTAMP_TZ || !vector->type.zone)
        return MCP_OK;
    if (column->zone && strcmp(column->zone, vector->type.zone) != 0) {
        column->zone = "UTC";
        return MCP_OK;
    }
    if (!column->zone)
        column->zone = mcp_arena_strdup(self->arena, vector->type.zone);
    return column->zone ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a zone");
}

/* A column whose plugin declares decimal(P, Q) stays that, also where its values are short. */
static void see_decimals(struct seen *column, const casparian_vector *vector)
{
    if (vector->type.kind == CASPARIAN_KIND_DECIMAL && vector->type.decimal.precision > 0)
        widen(column, (size_t)vector->type.decimal.precision - vector->type.decimal.scale,
              vector->type.decimal.scale);
}

mcp_status casparian_infer_add(casparian_infer *self, const casparian_batch *batch, mcp_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const casparian_vector *vector = &batch->columns[i];
        struct seen *column = NULL;
        if (strcmp(vector->name, CASPARIAN_ROW_ERROR) == 0)
            continue;
        mcp_status st = find(self, &column, vector->name, err);
        if (st == MCP_OK)
            st = see_zone(self, column, vector, err);
        if (st != MCP_OK)
            return st;
        see_decimals(column, vector);
        for (size_t row = 0; row < batch->rows; row++) {
            casparian_cell cell = casparian_vector_cell(vector, row);
            column->present += !cell.is_absent;
            see_cell(column, &cell);
        }
    }
    self->rows += (int64_t)batch->rows;
    return MCP_OK;
}

/* ---- the definition -------------------------------------------------------------------------- */

#define ONLY(kind) (1u << CASPARIAN_KIND_##kind)

static bool is_within(uint32_t kinds, uint32_t allowed)
{
    return (kinds & ~allowed) == 0;
}

static casparian_type type_of(const struct seen *column)
{
    casparian_type type = { .kind = CASPARIAN_KIND_STRING };
    size_t precision = column->whole + column->scale;
    if (column->kinds == 0)
        return type;
    for (int kind = CASPARIAN_KIND_BOOLEAN; kind < CASPARIAN_KIND_COUNT; kind++) {
        if (column->kinds == 1u << kind)
            type.kind = (casparian_kind)kind;
    }
    if (column->kinds == ONLY(TIMESTAMP_TZ))
        type.zone = column->zone ? column->zone : "UTC";
    if (column->kinds == (ONLY(DATE) | ONLY(TIMESTAMP)))
        type.kind = CASPARIAN_KIND_TIMESTAMP;
    if (is_within(column->kinds, ONLY(INT64) | ONLY(DECIMAL) | ONLY(FLOAT64)) &&
        column->kinds != ONLY(INT64)) {
        bool is_decimal = !(column->kinds & ONLY(FLOAT64)) &&
                          precision <= CASPARIAN_DECIMAL_PRECISION_MAX;
        type.kind = is_decimal ? CASPARIAN_KIND_DECIMAL : CASPARIAN_KIND_FLOAT64;
        type.decimal.precision = (uint8_t)(precision > 0 ? precision : 1);
        type.decimal.scale = (uint8_t)column->scale;
    }
    return type;
}

/* Whether every row has every column. */
static bool is_complete(const casparian_infer *self)
{
    bool is_complete = true;
    for (size_t i = 0; i < self->count; i++)
        is_complete &= self->columns[i].present == self->rows;
    return is_complete;
}

static void write_definition(const casparian_infer *self, const char *output, mcp_json_writer *out)
{
    mcp_write_object(out);
    mcp_write_member_string(out, "output_name", output);
    if (!is_complete(self))
        mcp_write_member_string(out, "mode", "allow_missing_optional");
    mcp_write_member_array(out, "columns");
    for (size_t i = 0; i < self->count; i++) {
        casparian_type type = type_of(&self->columns[i]);
        mcp_write_object(out);
        mcp_write_member_string(out, "name", self->columns[i].name);
        mcp_write_member_bool(out, "nullable", self->columns[i].values < self->rows);
        mcp_write_name(out, "type");
        casparian_type_write(out, &type);
        mcp_write_end(out);
    }
    mcp_write_end(out);
    mcp_write_end(out);
}

mcp_status casparian_infer_definition(casparian_definition *out, const casparian_infer *self,
                                      const char *output, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *json = NULL;
    mcp_json_writer writer;
    mcp_buf text;
    if (self->count == 0)
        return mcp_error_set(err, MCP_E_SCHEMA, "output '%.64s' has no rows to infer a schema from",
                             output);
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&writer, &text);
    write_definition(self, output, &writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&json, arena, text.data, text.length, err);
    else
        mcp_error_set(err, st, "the schema of output '%.64s': %s", output, mcp_status_words(st));
    if (st == MCP_OK)
        st = casparian_definition_read(out, arena, json, NULL, NULL, err);
    mcp_buf_clear(&text);
    return st;
}
