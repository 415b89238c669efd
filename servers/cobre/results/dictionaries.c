/*
 * dictionaries.c - the files that explain the ids, codes and columns of the other files.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "results/results_int.h"

#define FOLDER "training/dictionaries"

/* Codes: the output page, section 4. */
enum entity_type {
    TYPE_HYDRO = 0,
    TYPE_THERMAL = 1,
    TYPE_BUS = 2,
    TYPE_LINE = 3,
    TYPE_STATION = 4,
    TYPE_CONTRACT = 5,
    TYPE_SOURCE = 7
};
enum bound_type {
    BOUND_STORAGE_MIN,
    BOUND_STORAGE_MAX,
    BOUND_TURBINED_MIN,
    BOUND_TURBINED_MAX,
    BOUND_OUTFLOW_MIN,
    BOUND_OUTFLOW_MAX,
    BOUND_GENERATION_MIN,
    BOUND_GENERATION_MAX,
    BOUND_FLOW_MIN,
    BOUND_FLOW_MAX
};

static const struct {
    const char *group; /* NULL: of the group above */
    const char *code, *name;
} codes[] = {
    { "operative_state", "0", "deactivated" },
    { NULL, "1", "maintenance" },
    { NULL, "2", "operating" },
    { NULL, "3", "saturated" },
    { "storage_binding", "0", "none" },
    { NULL, "1", "below_minimum" },
    { NULL, "2", "above_maximum" },
    { NULL, "3", "both" },
    { "contract_type", "0", "import" },
    { NULL, "1", "export" },
    { "entity_type", "0", "hydro" },
    { NULL, "1", "thermal" },
    { NULL, "2", "bus" },
    { NULL, "3", "line" },
    { NULL, "4", "pumping_station" },
    { NULL, "5", "contract" },
    { NULL, "7", "non_controllable" },
    { "bound_type", "0", "storage_min" },
    { NULL, "1", "storage_max" },
    { NULL, "2", "turbined_min" },
    { NULL, "3", "turbined_max" },
    { NULL, "4", "outflow_min" },
    { NULL, "5", "outflow_max" },
    { NULL, "6", "generation_min" },
    { NULL, "7", "generation_max" },
    { NULL, "8", "flow_min" },
    { NULL, "9", "flow_max" },
};

static mcp_status write_codes(results *self, mcp_error *err)
{
    char now[MCP_CLOCK_UTC_SIZE];
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_clock_utc(now, mcp_clock_wall_ms(), 0);
    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "version", "1.0");
    mcp_write_member_string(&writer, "generated_at", now);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].group && i > 0)
            mcp_write_end(&writer);
        if (codes[i].group)
            mcp_write_member_object(&writer, codes[i].group);
        mcp_write_member_string(&writer, codes[i].code, codes[i].name);
    }
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return results_write_json(self, FOLDER "/codes.json", &writer, err);
}

/* A field of a CSV line, quoted where RFC 4180 requires it. */
static void put_field(mcp_buf *buf, const char *text, char end)
{
    if (strpbrk(text, ",\"\r\n")) {
        mcp_buf_putc(buf, '"');
        for (const char *at = text; *at; at++) {
            if (*at == '"')
                mcp_buf_putc(buf, '"');
            mcp_buf_putc(buf, *at);
        }
        mcp_buf_putc(buf, '"');
    } else {
        mcp_buf_puts(buf, text);
    }
    mcp_buf_putc(buf, end);
}

static void put_entity(mcp_buf *buf, enum entity_type type, int32_t id, const char *name,
                       int32_t bus_id)
{
    mcp_buf_printf(buf, "%d,%d,", (int)type, (int)id);
    put_field(buf, name, ',');
    mcp_buf_printf(buf, "%d,0\n", (int)bus_id);
}

static mcp_status write_entities(results *self, mcp_error *err)
{
    const cobre_case *in = self->input;
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_buf_puts(&buf, "entity_type_code,entity_id,name,bus_id,system_id\n");
    for (size_t i = 0; i < in->hydro_count; i++)
        put_entity(&buf, TYPE_HYDRO, in->hydros[i].id, in->hydros[i].name,
                   in->buses[in->hydros[i].bus].id);
    for (size_t i = 0; i < in->thermal_count; i++)
        put_entity(&buf, TYPE_THERMAL, in->thermals[i].id, in->thermals[i].name,
                   in->buses[in->thermals[i].bus].id);
    for (size_t i = 0; i < in->bus_count; i++)
        put_entity(&buf, TYPE_BUS, in->buses[i].id, in->buses[i].name, in->buses[i].id);
    for (size_t i = 0; i < in->line_count; i++)
        put_entity(&buf, TYPE_LINE, in->lines[i].id, in->lines[i].name, -1);
    for (size_t i = 0; i < in->station_count; i++)
        put_entity(&buf, TYPE_STATION, in->stations[i].id, in->stations[i].name,
                   in->buses[in->stations[i].bus].id);
    for (size_t i = 0; i < in->contract_count; i++)
        put_entity(&buf, TYPE_CONTRACT, in->contracts[i].id, in->contracts[i].name,
                   in->buses[in->contracts[i].bus].id);
    for (size_t i = 0; i < in->source_count; i++)
        put_entity(&buf, TYPE_SOURCE, in->sources[i].id, in->sources[i].name,
                   in->buses[in->sources[i].bus].id);
    return results_write_text(self, FOLDER "/entities.csv", &buf, err);
}

static mcp_status write_variables(results *self, mcp_error *err)
{
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_buf_puts(&buf, "file,column,type,unit,description,nullable\n");
    for (results_table table = 0; table < RESULTS_TABLE_COUNT; table++) {
        const results_schema *schema = results_schema_of(table);
        for (size_t i = 0; i < schema->count; i++) {
            const results_field *field = &schema->fields[i];
            put_field(&buf, schema->file, ',');
            put_field(&buf, field->name, ',');
            put_field(&buf, results_type_name(field->type), ',');
            put_field(&buf, field->unit, ',');
            put_field(&buf, field->description, ',');
            put_field(&buf, field->is_nullable ? "true" : "false", '\n');
        }
    }
    return results_write_text(self, FOLDER "/variables.csv", &buf, err);
}

/* ---- bounds.parquet -------------------------------------------------------------------------- */

static void put_bound(sheet *to, enum entity_type type, int32_t id, size_t stage,
                      enum bound_type bound, double value)
{
    sheet_row(to);
    sheet_i8(to, (int8_t)type);
    sheet_i32(to, id);
    sheet_i32(to, (int32_t)stage);
    sheet_null(to);
    sheet_i8(to, (int8_t)bound);
    sheet_f64(to, value);
}

static void put_hydro_bounds(sheet *to, const cobre_case *in, size_t h, size_t stage)
{
    const cobre_hydro_stage *bounds = &in->hydro_stages[stage * in->hydro_count + h];
    int32_t id = in->hydros[h].id;

    put_bound(to, TYPE_HYDRO, id, stage, BOUND_STORAGE_MIN, bounds->min_storage);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_STORAGE_MAX, bounds->max_storage);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_TURBINED_MIN, bounds->min_turbined);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_TURBINED_MAX, bounds->max_turbined);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_OUTFLOW_MIN, bounds->min_outflow);
    if (isfinite(bounds->max_outflow))
        put_bound(to, TYPE_HYDRO, id, stage, BOUND_OUTFLOW_MAX, bounds->max_outflow);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_GENERATION_MIN, bounds->min_generation);
    put_bound(to, TYPE_HYDRO, id, stage, BOUND_GENERATION_MAX, bounds->max_generation);
}

static void put_flow_bounds(sheet *to, enum entity_type type, int32_t id, size_t stage,
                            double least, double most)
{
    put_bound(to, type, id, stage, BOUND_FLOW_MIN, least);
    put_bound(to, type, id, stage, BOUND_FLOW_MAX, most);
}

static void put_bounds(sheet *to, const cobre_case *in)
{
    for (size_t h = 0; h < in->hydro_count; h++)
        for (size_t t = 0; t < in->stage_count; t++)
            put_hydro_bounds(to, in, h, t);
    for (size_t i = 0; i < in->thermal_count; i++)
        for (size_t t = 0; t < in->stage_count; t++) {
            const cobre_thermal_stage *at = &in->thermal_stages[t * in->thermal_count + i];
            put_bound(to, TYPE_THERMAL, in->thermals[i].id, t, BOUND_GENERATION_MIN, at->min_mw);
            put_bound(to, TYPE_THERMAL, in->thermals[i].id, t, BOUND_GENERATION_MAX, at->max_mw);
        }
    for (size_t l = 0; l < in->line_count; l++)
        for (size_t t = 0; t < in->stage_count; t++)
            put_flow_bounds(to, TYPE_LINE, in->lines[l].id, t, 0.0,
                            in->line_stages[t * in->line_count + l].direct_mw);
    for (size_t j = 0; j < in->station_count; j++)
        for (size_t t = 0; t < in->stage_count; t++) {
            const cobre_station_stage *at = &in->station_stages[t * in->station_count + j];
            put_flow_bounds(to, TYPE_STATION, in->stations[j].id, t, at->min_m3s, at->max_m3s);
        }
    for (size_t c = 0; c < in->contract_count; c++)
        for (size_t t = 0; t < in->stage_count; t++) {
            const cobre_contract_stage *at = &in->contract_stages[t * in->contract_count + c];
            put_flow_bounds(to, TYPE_CONTRACT, in->contracts[c].id, t, at->min_mw, at->max_mw);
        }
}

static mcp_status write_bounds(results *self, mcp_error *err)
{
    const cobre_case *in = self->input;
    size_t rows = in->stage_count *
                  (8 * in->hydro_count + 2 * (in->thermal_count + in->line_count +
                                              in->station_count + in->contract_count));
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    sheet *to = arena ? sheet_new(arena, RESULTS_BOUNDS, rows) : NULL;
    int fd = -1;

    if (!to) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu bounds", rows);
    }
    put_bounds(to, in);
    mcp_status st = guard_open_subdir(&fd, self->out_fd, FOLDER, err);
    if (st == MCP_OK) {
        st = sheet_write(to, fd, "bounds.parquet", err);
        close(fd);
    }
    mcp_arena_free(arena);
    return st;
}

/* ---- state_dictionary.json ------------------------------------------------------------------- */

static void describe_state(mcp_json_writer *writer, const char *type, int32_t id, size_t lag,
                           size_t index)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "type", type);
    mcp_write_member_string(writer, "entity_type", "hydro");
    mcp_write_member_int(writer, "entity_id", id);
    if (lag > 0)
        mcp_write_member_int(writer, "lag_index", (int64_t)lag);
    mcp_write_member_string(writer, "unit", strcmp(type, "storage") == 0 ? "hm3" : "m3/s");
    mcp_write_member_int(writer, "dimension_index", (int64_t)index);
    mcp_write_end(writer);
}

/* Where stages are parts of a period: the running sums, those that become a lag with its index. */
static void describe_sums(mcp_json_writer *writer, const cobre_case *in, const state_table *state)
{
    for (size_t j = 0; j < state->dimension; j++)
        if (state->entries[j].kind == STATE_SUM)
            describe_state(writer, "inflow_sum", in->hydros[state->entries[j].hydro].id,
                           state->entries[j].lag, j);
}

/* The most lags that a plant's inflow uses at any stage. */
static size_t order_of(const inflow_model *model, size_t hydro)
{
    size_t order = 0;

    for (size_t t = 0; t < model->stages; t++)
        if (model->order[t * model->hydros + hydro] > order)
            order = model->order[t * model->hydros + hydro];
    return order;
}

/* Storages, then the lags of each plant. dimension_index is the place in a cut's coefficients,
 * which have every lag of all plants, lag after lag. */
static mcp_status write_state(results *self, mcp_error *err)
{
    const inflow_model *model = self->options.inflow;
    size_t hydros = self->input->hydro_count;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "version", "1.0");
    mcp_write_member_array(&writer, "state_variables");
    for (size_t h = 0; h < hydros; h++)
        describe_state(&writer, "storage", self->input->hydros[h].id, 0, h);
    for (size_t h = 0; model && h < hydros; h++) {
        size_t order = order_of(model, h);
        for (size_t lag = 1; lag <= order; lag++)
            describe_state(&writer, "inflow_lag", self->input->hydros[h].id, lag, hydros * lag + h);
    }
    if (self->options.state)
        describe_sums(&writer, self->input, self->options.state);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return results_write_json(self, FOLDER "/state_dictionary.json", &writer, err);
}

mcp_status results_write_dictionaries(results *self, mcp_error *err)
{
    mcp_status st = write_codes(self, err);

    if (st == MCP_OK)
        st = write_entities(self, err);
    if (st == MCP_OK)
        st = write_variables(self, err);
    if (st == MCP_OK)
        st = write_bounds(self, err);
    if (st == MCP_OK)
        st = write_state(self, err);
    return st;
}
