/*
 * simulation.c - the files of each scenario: the decisions for each entity, stage by stage.
 *
 * When a scenario is complete its decisions are copied into the sheets of a vacant slot, which the
 * queue's thread writes; so the solver waits for the disk only when no slot is vacant. Rows are in
 * stage order, inside a stage by entity, then block. Values of the whole stage (storages, inflows,
 * water values) repeat on every block's row.
 *
 * Costs are those of the decisions, by category, not parts of the objective: that their sum equals
 * immediate_cost shows that they are complete (the output page, 5.1).
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "guard/paths.h"
#include "results/results_int.h"

#define OPERATING 2            /* codes.json, operative_state */
#define BINDING_TOLERANCE 1e-6 /* hm3 */

#define QUEUED_MAX 64 /* scenarios that wait to be written */
#define QUEUED_BYTES ((size_t)64 << 20)

static double block_hours(const cobre_case *in, size_t stage, size_t block)
{
    return in->stages[stage].blocks[block].hours;
}

/* Place k of an entity. */
static double value_at(const sddp_stage_result *did, column_region r, size_t entity, size_t k)
{
    return did->value[r][entity * did->width[r] + k];
}

/* ---- costs ----------------------------------------------------------------------------------- */

static double spillage_cost(const cobre_case *in, const sddp_stage_result *did, size_t hydro,
                            size_t block)
{
    const cobre_hydro_stage *hydro_stage = &in->hydro_stages[did->stage * in->hydro_count + hydro];

    return block_hours(in, did->stage, block) *
           (value_at(did, REGION_SPILLED, hydro, block) * hydro_stage->spillage_cost +
            value_at(did, REGION_DIVERTED, hydro, block) * hydro_stage->diversion_cost);
}

static double thermal_cost(const cobre_case *in, const sddp_stage_result *did, size_t i, size_t k)
{
    return value_at(did, REGION_THERMAL, i, k) * block_hours(in, did->stage, k) *
           in->thermal_stages[did->stage * in->thermal_count + i].cost_per_mwh;
}

static double exchange_cost(const cobre_case *in, const sddp_stage_result *did, size_t l, size_t k)
{
    double flow = value_at(did, REGION_DIRECT, l, k) + value_at(did, REGION_REVERSE, l, k);

    return flow * block_hours(in, did->stage, k) *
           in->line_stages[did->stage * in->line_count + l].exchange_cost;
}

static void fill_costs(sheet *to, const cobre_case *in, const sddp_stage_result *did)
{
    double violations = 0.0;

    (void)in;
    for (cost_category c = COST_OUTFLOW_BELOW; c <= COST_WITHDRAWAL; c++)
        violations += did->cost[c];
    sheet_row(to);
    sheet_i32(to, (int32_t)did->stage);
    sheet_null(to);
    sheet_f64(to, did->objective);
    sheet_f64(to, did->objective - did->future_cost);
    sheet_f64(to, did->future_cost);
    sheet_f64(to, did->discount);
    for (cost_category c = 0; c < COST_CATEGORIES; c++) {
        if (c == COST_OUTFLOW_BELOW)
            sheet_f64(to, violations);
        sheet_f64(to, did->cost[c]);
    }
}

/* ---- entities -------------------------------------------------------------------------------- */

static void fill_buses(sheet *to, const cobre_case *in, const sddp_stage_result *did)
{
    for (size_t b = 0; b < in->bus_count; b++)
        for (size_t k = 0; k < did->blocks; k++) {
            size_t cell = b * did->blocks + k;
            double hours = block_hours(in, did->stage, k);
            double deficit = 0.0, excess = value_at(did, REGION_EXCESS, b, k);
            for (size_t at = k; at < did->width[REGION_DEFICIT]; at += did->blocks)
                deficit += value_at(did, REGION_DEFICIT, b, at);
            sheet_row(to);
            sheet_i32(to, (int32_t)did->stage);
            sheet_i32(to, (int32_t)k);
            sheet_i32(to, in->buses[b].id);
            sheet_f64(to, did->load_mw[cell]);
            sheet_f64(to, did->load_mw[cell] * hours);
            sheet_f64(to, deficit);
            sheet_f64(to, deficit * hours);
            sheet_f64(to, excess);
            sheet_f64(to, excess * hours);
            sheet_f64(to, did->spot_price[cell]);
        }
}

static void fill_thermals(sheet *to, const cobre_case *in, const sddp_stage_result *did)
{
    for (size_t i = 0; i < in->thermal_count; i++)
        for (size_t k = 0; k < did->blocks; k++) {
            double mw = value_at(did, REGION_THERMAL, i, k);
            sheet_row(to);
            sheet_i32(to, (int32_t)did->stage);
            sheet_i32(to, (int32_t)k);
            sheet_i32(to, in->thermals[i].id);
            sheet_f64(to, mw);
            sheet_f64(to, mw * block_hours(in, did->stage, k));
            sheet_f64(to, thermal_cost(in, did, i, k));
            sheet_bool(to, false);
            sheet_null(to);
            sheet_null(to);
            sheet_i8(to, OPERATING);
        }
}

static void fill_exchanges(sheet *to, const cobre_case *in, const sddp_stage_result *did)
{
    for (size_t l = 0; l < in->line_count; l++)
        for (size_t k = 0; k < did->blocks; k++) {
            double direct = value_at(did, REGION_DIRECT, l, k);
            double reverse = value_at(did, REGION_REVERSE, l, k);
            double losses = in->lines[l].losses_percent / 100.0 * (direct + reverse);
            double hours = block_hours(in, did->stage, k);
            sheet_row(to);
            sheet_i32(to, (int32_t)did->stage);
            sheet_i32(to, (int32_t)k);
            sheet_i32(to, in->lines[l].id);
            sheet_f64(to, direct);
            sheet_f64(to, reverse);
            sheet_f64(to, direct - reverse);
            sheet_f64(to, (direct - reverse) * hours);
            sheet_f64(to, losses);
            sheet_f64(to, losses * hours);
            sheet_f64(to, exchange_cost(in, did, l, k));
            sheet_i8(to, OPERATING);
        }
}

/* The flow that other plants divert to this one in a block. */
static double diverted_to(const cobre_case *in, const sddp_stage_result *did, size_t hydro,
                          size_t block)
{
    double flow = 0.0;

    for (size_t u = 0; u < in->hydro_count; u++)
        if (in->hydros[u].diversion_downstream == hydro)
            flow += value_at(did, REGION_DIVERTED, u, block);
    return flow;
}

/* The plant's total inflow, averaged over the stage: incremental inflow, outflow of the plants
 * upstream, and diverted flow. */
static double total_inflow(const cobre_case *in, const sddp_stage_result *did, size_t hydro)
{
    double volume = 0.0;

    for (size_t k = 0; k < did->blocks; k++) {
        double flow = diverted_to(in, did, hydro, k);
        for (size_t u = 0; u < in->hydro_count; u++)
            if (in->hydros[u].downstream == hydro)
                flow += value_at(did, REGION_TURBINED, u, k) + value_at(did, REGION_SPILLED, u, k);
        volume += flow * block_hours(in, did->stage, k);
    }
    return value_at(did, REGION_INFLOW, hydro, 0) + volume / in->stages[did->stage].hours;
}

static int8_t binding_code(const cobre_hydro_stage *bounds, double storage)
{
    bool is_empty = storage <= bounds->min_storage + BINDING_TOLERANCE;
    bool is_full = storage >= bounds->max_storage - BINDING_TOLERANCE;

    return (int8_t)(is_empty + 2 * is_full);
}

static void fill_hydro_row(sheet *to, const cobre_case *in, const sddp_stage_result *did, size_t h,
                           size_t k, double inflow)
{
    const cobre_hydro *hydro = &in->hydros[h];
    double turbined = value_at(did, REGION_TURBINED, h, k);
    double spilled = value_at(did, REGION_SPILLED, h, k);
    double storage = value_at(did, REGION_STORAGE, h, 0);
    double generation = did->generation_mw[h * did->blocks + k];

    sheet_row(to);
    sheet_i32(to, (int32_t)did->stage);
    sheet_i32(to, (int32_t)k);
    sheet_i32(to, hydro->id);
    sheet_f64(to, turbined);
    sheet_f64(to, spilled);
    sheet_f64(to, turbined + spilled);
    sheet_f64(to, value_at(did, REGION_EVAPORATION, h, 0));
    sheet_f64(to, diverted_to(in, did, h, k));
    sheet_f64(to, value_at(did, REGION_DIVERTED, h, k));
    sheet_f64(to, value_at(did, REGION_INFLOW, h, 0));
    sheet_f64(to, inflow);
    sheet_f64(to, value_at(did, REGION_INCOMING, h, 0));
    sheet_f64(to, storage);
    sheet_f64(to, generation);
    sheet_f64(to, generation * block_hours(in, did->stage, k));
    sheet_f64(to, hydro->productivity);
    sheet_f64(to, spillage_cost(in, did, h, k));
    sheet_f64(to, did->water_value[h]);
    sheet_i8(to, binding_code(&in->hydro_stages[did->stage * in->hydro_count + h], storage));
    sheet_i8(to, OPERATING);
    sheet_f64(to, value_at(did, REGION_TURBINED_BELOW, h, k));
    sheet_f64(to, value_at(did, REGION_OUTFLOW_BELOW, h, k));
    sheet_f64(to, value_at(did, REGION_OUTFLOW_ABOVE, h, k));
    sheet_f64(to, value_at(did, REGION_GENERATION_BELOW, h, k));
    sheet_f64(to, value_at(did, REGION_STORAGE_BELOW, h, 0));
    sheet_f64(to, value_at(did, REGION_FILLING_BELOW, h, 0) +
                      value_at(did, REGION_FILLING_TARGET, h, 0));
    sheet_f64(to, value_at(did, REGION_EVAPORATION_ABOVE, h, 0));
    sheet_f64(to, value_at(did, REGION_EVAPORATION_BELOW, h, 0));
    sheet_f64(to, value_at(did, REGION_INFLOW_SLACK, h, 0));
    sheet_f64(to, value_at(did, REGION_WITHDRAWAL_ABOVE, h, 0));
    sheet_f64(to, value_at(did, REGION_WITHDRAWAL_BELOW, h, 0));
}

static void fill_hydros(sheet *to, const cobre_case *in, const sddp_stage_result *did)
{
    for (size_t h = 0; h < in->hydro_count; h++) {
        double inflow = total_inflow(in, did, h);
        for (size_t k = 0; k < did->blocks; k++)
            fill_hydro_row(to, in, did, h, k, inflow);
    }
}

static const struct {
    const char *folder;
    results_table table;
    void (*fill)(sheet *to, const cobre_case *in, const sddp_stage_result *did);
} entities[ENTITY_COUNT] = {
    [ENTITY_COSTS] = { "costs", RESULTS_COSTS, fill_costs },
    [ENTITY_BUSES] = { "buses", RESULTS_BUSES, fill_buses },
    [ENTITY_HYDROS] = { "hydros", RESULTS_HYDROS, fill_hydros },
    [ENTITY_THERMALS] = { "thermals", RESULTS_THERMALS, fill_thermals },
    [ENTITY_EXCHANGES] = { "exchanges", RESULTS_EXCHANGES, fill_exchanges },
};

/* ---- the phase ------------------------------------------------------------------------------- */

static size_t rows_of(const cobre_case *in, size_t entity)
{
    const size_t counts[ENTITY_COUNT] = {
        [ENTITY_BUSES] = in->bus_count,
        [ENTITY_HYDROS] = in->hydro_count,
        [ENTITY_THERMALS] = in->thermal_count,
        [ENTITY_EXCHANGES] = in->line_count,
    };
    size_t blocks = 0;

    if (entity == ENTITY_COSTS)
        return in->stage_count;
    for (size_t t = 0; t < in->stage_count; t++)
        blocks += in->stages[t].block_count;
    return blocks * counts[entity];
}

/* Room for all rows of one scenario. */
static mcp_status make_sheets(results *self, struct queue_slot *slot, mcp_error *err)
{
    sheet **sheets = mcp_arena_array(self->arena, ENTITY_COUNT, sizeof *sheets);

    if (!sheets)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a scenario");
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        size_t rows = rows_of(self->input, i);
        if (rows == 0)
            continue;
        sheets[i] = sheet_new(self->arena, entities[i].table, rows);
        if (!sheets[i])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a scenario of %zu rows", rows);
    }
    slot->sheets = sheets;
    return MCP_OK;
}

/* The scenarios that may wait to be written: two at least, QUEUED_BYTES of them. */
static size_t slots_wanted(const results *self)
{
    size_t scenarios = self->input->config.simulation_scenarios, bytes = 1;

    for (size_t i = 0; i < ENTITY_COUNT; i++)
        bytes += rows_of(self->input, i) * sheet_row_bytes(entities[i].table);
    size_t wanted = QUEUED_BYTES / bytes;
    if (wanted > scenarios)
        wanted = scenarios;
    if (wanted > QUEUED_MAX)
        wanted = QUEUED_MAX;
    return wanted < 2 ? 2 : wanted;
}

static mcp_status make_slots(results *self, mcp_error *err)
{
    size_t wanted = slots_wanted(self);
    mcp_status st = MCP_OK;

    if (self->slots)
        return MCP_OK;
    self->slots = mcp_arena_array(self->arena, wanted, sizeof *self->slots);
    if (!self->slots)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu scenarios", wanted);
    for (size_t i = 0; i < wanted && st == MCP_OK; i++)
        st = make_sheets(self, &self->slots[i], err);
    self->slot_count = wanted;
    return st;
}

void results_end_scenarios(results *self)
{
    queue_end(&self->scenarios);
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        if (self->entity_fds[i] >= 0)
            close(self->entity_fds[i]);
        self->entity_fds[i] = -1;
    }
}

static mcp_status make_entity_folder(results *self, size_t entity, mcp_error *err)
{
    char path[64];

    snprintf(path, sizeof path, "simulation/%s", entities[entity].folder);
    mcp_status st = guard_remove_tree(self->out_fd, path, err);
    if (st == MCP_OK && rows_of(self->input, entity) > 0)
        st = guard_make_dir(&self->entity_fds[entity], self->out_fd, path, err);
    return st;
}

static mcp_status write_entity(const results *self, const struct queue_slot *slot, size_t entity,
                               mcp_error *err)
{
    char folder[32];
    int fd = -1;

    snprintf(folder, sizeof folder, "scenario_id=%04" PRIu32, slot->scenario);
    mcp_status st = guard_make_dir(&fd, self->entity_fds[entity], folder, err);
    if (st != MCP_OK)
        return st;
    st = sheet_write(slot->sheets[entity], fd, "data.parquet", err);
    close(fd);
    return st;
}

/* The files of one scenario; on the queue's thread. */
static mcp_status write_slot(const struct queue_slot *slot, void *data, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < ENTITY_COUNT && st == MCP_OK; i++)
        if (slot->sheets[i])
            st = write_entity(data, slot, i, &cause);
    if (st != MCP_OK)
        mcp_error_set(err, st, "scenario %" PRIu32 ": %s", slot->scenario, cause.message);
    return st;
}

mcp_status results_begin_simulation(results *self, mcp_error *err)
{
    results_begin_phase(self);
    results_end_scenarios(self);
    mcp_status st = make_slots(self, err);
    for (size_t i = 0; i < ENTITY_COUNT && st == MCP_OK; i++)
        st = make_entity_folder(self, i, err);
    if (st == MCP_OK)
        queue_begin(&self->scenarios, self->slots, self->slot_count, write_slot, self);
    return st;
}

mcp_status results_write_scenario(results *self, const sddp_scenario *scenario, mcp_error *err)
{
    struct queue_slot *slot = NULL;
    mcp_status st = queue_vacant(&slot, &self->scenarios, err);

    if (st != MCP_OK)
        return st;
    slot->scenario = scenario->scenario;
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        sheet *to = slot->sheets[i];
        if (!to)
            continue;
        sheet_clear(to);
        for (size_t t = 0; t < scenario->stage_count; t++)
            entities[i].fill(to, self->input, &scenario->stages[t]);
    }
    queue_submit(&self->scenarios);
    return MCP_OK;
}

static const char *status_of(const results *self, const sddp_simulation *simulation, bool failed)
{
    if (failed || self->scenarios.failed > 0)
        return "failed";
    return self->scenarios.written == simulation->scenarios_total ? "complete" : "partial";
}

static void describe_costs(const sddp_simulation *simulation, mcp_json_writer *writer)
{
    const struct {
        const char *name;
        double value;
    } members[] = { { "mean", simulation->mean }, { "std", simulation->std },
                    { "min", simulation->min },   { "max", simulation->max },
                    { "cvar", simulation->cvar }, { "cvar_alpha", 0.95 } };

    mcp_write_member_object(writer, "cost_summary");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        mcp_write_name(writer, members[i].name);
        mcp_write_double_or_null(writer, members[i].value);
    }
    mcp_write_end(writer);
}

static mcp_status write_metadata(const results *self, const sddp_simulation *simulation,
                                 const char *status, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    results_describe_run(self, &writer, status);
    mcp_write_member_object(&writer, "scenarios");
    mcp_write_member_int(&writer, "total", simulation->scenarios_total);
    mcp_write_member_int(&writer, "completed", self->scenarios.written);
    mcp_write_member_int(&writer, "failed", self->scenarios.failed);
    mcp_write_end(&writer);
    if (self->scenarios.written > 0)
        describe_costs(simulation, &writer);
    results_describe_distribution(self, &writer);
    mcp_write_end(&writer);
    return results_write_json(self, "simulation/metadata.json", &writer, err);
}

mcp_status results_end_simulation(results *self, const sddp_simulation *simulation, bool failed,
                                  mcp_error *err)
{
    results_end_scenarios(self);
    const mcp_error *failure = &self->scenarios.failure;
    const char *words = status_of(self, simulation, failed);
    mcp_status st = write_metadata(self, simulation, words, err);
    if (failure->status != MCP_OK) /* the first, whatever became of the metadata */
        st = mcp_error_set(err, failure->status, "%s", failure->message);
    if (st == MCP_OK && words[0] == 'c')
        st = results_mark_success(self, "simulation", err);
    return st;
}
