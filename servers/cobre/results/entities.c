/*
 * entities.c - the rows of the simulation's files, from the decisions of a stage.
 *
 * Rows are by entity, then block. Values of the whole stage (storages, inflows, water values) are
 * repeated on every block's row. Entities that the stage lacks are deactivated and have zeros; of
 * non-controllable sources only those that are there have rows. Output page, 5.
 *
 * Costs are those of the decisions, by category, not parts of the objective: that their sum equals
 * immediate_cost shows that they are complete (5.1).
 */
#include "results/entities.h"

#include <string.h>

#define HM3_PER_M3S_HOUR 0.0036
#define BINDING_TOLERANCE 1e-6 /* hm3 */

/* codes.json, operative_state */
enum { DEACTIVATED = 0, OPERATING = 2 };

static double block_hours(const cobre_case *in, size_t stage, size_t block)
{
    return in->stages[stage].blocks[block].hours;
}

/* Place k of an entity. */
static double value_at(const sddp_stage_result *did, column_region r, size_t entity, size_t k)
{
    return did->value[r][entity * did->width[r] + k];
}

/* Entry and exit do not count in the original's arithmetic (method page, 16). */
static int8_t state_code(const cobre_case *in, bool is_absent)
{
    return is_absent && !in->config.original_arithmetic ? DEACTIVATED : OPERATING;
}

static void begin_row(sheet *to, const sddp_stage_result *did, size_t block, int32_t id)
{
    sheet_row(to);
    sheet_i32(to, (int32_t)did->stage);
    sheet_i32(to, (int32_t)block);
    sheet_i32(to, id);
}

/* A power and its energy in the block. */
static void put_power(sheet *to, double mw, double hours)
{
    sheet_f64(to, mw);
    sheet_f64(to, mw * hours);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static void fill_costs(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    double violations = 0.0;

    (void)of;
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

/* ---- buses, thermals, lines ------------------------------------------------------------------ */

static void fill_buses(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t b = 0; b < in->bus_count; b++)
        for (size_t k = 0; k < did->blocks; k++) {
            size_t cell = b * did->blocks + k;
            double hours = block_hours(in, did->stage, k), deficit = 0.0;
            for (size_t at = k; at < did->width[REGION_DEFICIT]; at += did->blocks)
                deficit += value_at(did, REGION_DEFICIT, b, at);
            begin_row(to, did, k, in->buses[b].id);
            put_power(to, did->load_mw[cell], hours);
            put_power(to, deficit, hours);
            put_power(to, value_at(did, REGION_EXCESS, b, k), hours);
            sheet_f64(to, did->spot_price[cell]);
        }
}

static void fill_thermals(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t i = 0; i < in->thermal_count; i++) {
        const cobre_thermal_stage *at = &in->thermal_stages[did->stage * in->thermal_count + i];
        for (size_t k = 0; k < did->blocks; k++) {
            double mw = value_at(did, REGION_THERMAL, i, k);
            double hours = block_hours(in, did->stage, k);
            begin_row(to, did, k, in->thermals[i].id);
            put_power(to, mw, hours);
            sheet_f64(to, mw * hours * at->cost_per_mwh);
            sheet_bool(to, false);
            sheet_null(to);
            sheet_null(to);
            sheet_i8(to, state_code(in, at->is_absent));
        }
    }
}

static void fill_exchanges(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t l = 0; l < in->line_count; l++) {
        const cobre_line_stage *at = &in->line_stages[did->stage * in->line_count + l];
        for (size_t k = 0; k < did->blocks; k++) {
            double direct = value_at(did, REGION_DIRECT, l, k);
            double reverse = value_at(did, REGION_REVERSE, l, k);
            double hours = block_hours(in, did->stage, k);
            begin_row(to, did, k, in->lines[l].id);
            sheet_f64(to, direct);
            sheet_f64(to, reverse);
            put_power(to, direct - reverse, hours);
            put_power(to, in->lines[l].losses_percent / 100.0 * (direct + reverse), hours);
            sheet_f64(to, (direct + reverse) * hours * at->exchange_cost);
            sheet_i8(to, state_code(in, at->is_absent));
        }
    }
}

/* ---- hydros ---------------------------------------------------------------------------------- */

/* What the plants upstream release, and what others divert to each plant. */
static void add_arrivals(const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;
    size_t cells = in->hydro_count * did->blocks;

    memset(of->arrived, 0, in->hydro_count * sizeof *of->arrived);
    memset(of->diverted, 0, cells * sizeof *of->diverted);
    for (size_t u = 0; u < in->hydro_count; u++) {
        size_t below = in->hydros[u].downstream, beyond = in->hydros[u].diversion_downstream;
        for (size_t k = 0; k < did->blocks; k++) {
            double flow = value_at(did, REGION_TURBINED, u, k) +
                          value_at(did, REGION_SPILLED, u, k);
            double diverted = value_at(did, REGION_DIVERTED, u, k);
            double volume = HM3_PER_M3S_HOUR * block_hours(in, did->stage, k);
            if (below != COBRE_NONE)
                of->arrived[below] += volume * flow;
            if (beyond == COBRE_NONE)
                continue;
            of->arrived[beyond] += volume * diverted;
            of->diverted[beyond * did->blocks + k] += diverted;
        }
    }
}

static int8_t binding_code(const cobre_hydro_stage *bounds, double storage)
{
    bool is_empty = storage <= bounds->min_storage + BINDING_TOLERANCE;
    bool is_full = storage >= bounds->max_storage - BINDING_TOLERANCE;

    return (int8_t)(is_empty + 2 * is_full);
}

static void put_productivity(sheet *to, const struct entity_case *of, size_t stage, size_t h)
{
    const cobre_case *in = of->input;
    const hydro_model *model = of->models ? &of->models->at[stage * in->hydro_count + h] : NULL;

    if (model && model->is_fpha)
        sheet_null(to);
    else
        sheet_f64(to, model ? model->productivity : in->hydros[h].productivity);
}

static void put_hydro_slacks(sheet *to, const sddp_stage_result *did, size_t h, size_t k)
{
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

static void put_hydro(sheet *to, const struct entity_case *of, const sddp_stage_result *did,
                      size_t h, size_t k)
{
    const cobre_case *in = of->input;
    const cobre_hydro_stage *at = &in->hydro_stages[did->stage * in->hydro_count + h];
    double turbined = value_at(did, REGION_TURBINED, h, k);
    double spilled = value_at(did, REGION_SPILLED, h, k);
    double diverted = value_at(did, REGION_DIVERTED, h, k);
    double inflow = value_at(did, REGION_INFLOW, h, 0);
    double storage = value_at(did, REGION_STORAGE, h, 0);
    double hours = block_hours(in, did->stage, k);

    begin_row(to, did, k, in->hydros[h].id);
    sheet_f64(to, turbined);
    sheet_f64(to, spilled);
    sheet_f64(to, turbined + spilled);
    sheet_f64(to, value_at(did, REGION_EVAPORATION, h, 0));
    sheet_f64(to, of->diverted[h * did->blocks + k]);
    sheet_f64(to, diverted);
    sheet_f64(to, inflow);
    sheet_f64(to, inflow + of->arrived[h] / (HM3_PER_M3S_HOUR * in->stages[did->stage].hours));
    sheet_f64(to, value_at(did, REGION_INCOMING, h, 0));
    sheet_f64(to, storage);
    put_power(to, did->generation_mw[h * did->blocks + k], hours);
    put_productivity(to, of, did->stage, h);
    sheet_f64(to, hours * (spilled * at->spillage_cost + diverted * at->diversion_cost));
    sheet_f64(to, did->water_value[h]);
    sheet_i8(to, binding_code(at, storage));
    sheet_i8(to, state_code(in, at->phase == COBRE_HYDRO_ABSENT));
    put_hydro_slacks(to, did, h, k);
}

static void fill_hydros(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    add_arrivals(of, did);
    for (size_t h = 0; h < of->input->hydro_count; h++)
        for (size_t k = 0; k < did->blocks; k++)
            put_hydro(to, of, did, h, k);
}

static void fill_inflow_lags(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    size_t hydros = of->input->hydro_count;

    for (size_t h = 0; h < hydros; h++)
        for (size_t l = 0; l < of->lags; l++) {
            sheet_row(to);
            sheet_i32(to, (int32_t)did->stage);
            sheet_i32(to, of->input->hydros[h].id);
            sheet_i32(to, (int32_t)l + 1);
            sheet_f64(to, did->lags[l * hydros + h]);
        }
}

/* ---- sources, stations, contracts ------------------------------------------------------------ */

static void fill_sources(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t j = 0; j < in->source_count; j++) {
        const cobre_source_stage *at = &in->source_stages[did->stage * in->source_count + j];
        for (size_t k = 0; k < did->blocks && !at->is_absent; k++) {
            double mw = value_at(did, REGION_SOURCE, j, k);
            double available = did->available_mw[j * did->blocks + k];
            double hours = block_hours(in, did->stage, k);
            begin_row(to, did, k, in->sources[j].id);
            put_power(to, mw, hours);
            sheet_f64(to, available);
            put_power(to, available - mw, hours);
            sheet_f64(to, (available - mw) * hours * at->curtailment_cost);
            sheet_i8(to, OPERATING);
        }
    }
}

static void fill_stations(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t j = 0; j < in->station_count; j++) {
        const cobre_station_stage *at = &in->station_stages[did->stage * in->station_count + j];
        for (size_t k = 0; k < did->blocks; k++) {
            double flow = value_at(did, REGION_PUMPED, j, k);
            double hours = block_hours(in, did->stage, k);
            begin_row(to, did, k, in->stations[j].id);
            sheet_f64(to, flow);
            sheet_f64(to, flow * hours * HM3_PER_M3S_HOUR);
            put_power(to, flow * in->stations[j].consumption, hours);
            sheet_f64(to, 0.0); /* pumping_cost: it has none of its own */
            sheet_i8(to, state_code(in, at->is_absent));
        }
    }
}

static void fill_contracts(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;

    for (size_t c = 0; c < in->contract_count; c++) {
        const cobre_contract_stage *at = &in->contract_stages[did->stage * in->contract_count + c];
        for (size_t k = 0; k < did->blocks; k++) {
            double mw = value_at(did, REGION_CONTRACT, c, k);
            double hours = block_hours(in, did->stage, k);
            begin_row(to, did, k, in->contracts[c].id);
            put_power(to, mw, hours);
            sheet_f64(to, at->price_per_mwh);
            sheet_f64(to, mw * hours * at->price_per_mwh);
            sheet_i8(to, state_code(in, at->is_absent));
        }
    }
}

/* ---- generic constraints --------------------------------------------------------------------- */

/* Missing to an equality counts positive, exceeding it negative. */
static void fill_violations(sheet *to, const struct entity_case *of, const sddp_stage_result *did)
{
    const cobre_case *in = of->input;
    size_t first = of->first_constraint[did->stage];

    for (size_t i = first; i < of->first_constraint[did->stage + 1]; i++) {
        const cobre_constraint_row *row = &in->constraint_rows[i];
        const cobre_constraint *constraint = &in->constraints[row->constraint];
        double below = value_at(did, REGION_GENERIC_BELOW, i - first, 0);
        double above = value_at(did, REGION_GENERIC_ABOVE, i - first, 0);
        begin_row(to, did, row->block, constraint->id);
        sheet_f64(to, constraint->sense == COBRE_SENSE_EQ ? below - above : below + above);
        sheet_f64(to,
                  (below + above) * constraint->penalty * block_hours(in, did->stage, row->block));
    }
}

/* ---- the folders ----------------------------------------------------------------------------- */

static size_t all_blocks(const struct entity_case *of)
{
    size_t blocks = 0;

    for (size_t t = 0; t < of->input->stage_count; t++)
        blocks += of->input->stages[t].block_count;
    return blocks;
}

#define ROWS(name, count)                                                                          \
    static size_t name(const struct entity_case *of)                                               \
    {                                                                                              \
        return count;                                                                              \
    }

ROWS(costs_rows, of->input->stage_count)
ROWS(buses_rows, all_blocks(of) * of->input->bus_count)
ROWS(hydros_rows, all_blocks(of) * of->input->hydro_count)
ROWS(thermals_rows, all_blocks(of) * of->input->thermal_count)
ROWS(exchanges_rows, all_blocks(of) * of->input->line_count)
ROWS(inflow_lags_rows, of->input->stage_count * of->input->hydro_count * of->lags)
ROWS(sources_rows, all_blocks(of) * of->input->source_count)
ROWS(stations_rows, all_blocks(of) * of->input->station_count)
ROWS(contracts_rows, all_blocks(of) * of->input->contract_count)
ROWS(violations_rows, of->first_constraint[of->input->stage_count])

const struct entity_folder entity_folders[ENTITY_COUNT] = {
    /* clang-format off */
    [ENTITY_COSTS] = { "costs", RESULTS_COSTS, costs_rows, fill_costs },
    [ENTITY_BUSES] = { "buses", RESULTS_BUSES, buses_rows, fill_buses },
    [ENTITY_HYDROS] = { "hydros", RESULTS_HYDROS, hydros_rows, fill_hydros },
    [ENTITY_THERMALS] = { "thermals", RESULTS_THERMALS, thermals_rows, fill_thermals },
    [ENTITY_EXCHANGES] = { "exchanges", RESULTS_EXCHANGES, exchanges_rows, fill_exchanges },
    [ENTITY_INFLOW_LAGS] = { "inflow_lags", RESULTS_INFLOW_LAGS, inflow_lags_rows,
                             fill_inflow_lags },
    [ENTITY_SOURCES] = { "non_controllables", RESULTS_NON_CONTROLLABLES, sources_rows,
                         fill_sources },
    [ENTITY_STATIONS] = { "pumping_stations", RESULTS_PUMPING_STATIONS, stations_rows,
                          fill_stations },
    [ENTITY_CONTRACTS] = { "contracts", RESULTS_CONTRACTS, contracts_rows, fill_contracts },
    [ENTITY_VIOLATIONS] = { "violations/generic", RESULTS_GENERIC_VIOLATIONS, violations_rows,
                            fill_violations },
    /* clang-format on */
};

/* Where the rows of generic constraints of each stage begin; they are sorted by stage. */
static void number_constraints(const cobre_case *input, size_t *first)
{
    size_t row = 0;

    for (size_t t = 0; t < input->stage_count; t++) {
        first[t] = row;
        while (row < input->constraint_row_count && input->constraint_rows[row].stage == t)
            row++;
    }
    first[input->stage_count] = row;
}

mcp_status entity_case_make(struct entity_case *out, mcp_arena *arena, const cobre_case *input,
                            const hydro_models *models, size_t lags, mcp_error *err)
{
    struct entity_case made = { .input = input, .models = models, .lags = lags };
    size_t blocks = 0;

    for (size_t t = 0; t < input->stage_count; t++)
        if (input->stages[t].block_count > blocks)
            blocks = input->stages[t].block_count;
    size_t *first = mcp_arena_array(arena, input->stage_count + 1, sizeof *first);
    made.arrived = mcp_arena_array(arena, input->hydro_count, sizeof *made.arrived);
    made.diverted = mcp_arena_array(arena, input->hydro_count * blocks, sizeof *made.diverted);
    if (!first || !made.arrived || !made.diverted)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the results");
    number_constraints(input, first);
    made.first_constraint = first;
    *out = made;
    return MCP_OK;
}
