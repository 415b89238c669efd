/*
 * by_stage.c - fills what every element but the hydros may do in each stage: bounds, costs, block
 * factors, entry and exit.
 *
 * A value is the stage's override, else the entity's, else the global one. Rows for stages that do
 * not exist are skipped; layer 3 has warned of them. Source: the case page, sections 7 and 8; the
 * method page, section 16.
 */
#include "case/build/builder.h"

static size_t cells_of(const cobre_builder *b, cobre_registry registry)
{
    return b->built->stage_count * b->input->registries[registry].count;
}

static int64_t stage_id(const cobre_builder *b, size_t cell, size_t count)
{
    return b->built->stages[cell / count].id;
}

/* ---- block factors --------------------------------------------------------------------------- */

/* Put one factor into its cell's list. The first factor creates the list, filled with ones. */
static void put_factor(cobre_builder *b, double **lists, size_t cell, size_t stage, int64_t block,
                       double value)
{
    size_t blocks = b->built->stages[stage].block_count;

    if (!lists[cell]) {
        lists[cell] = cobre_make(b, blocks, sizeof **lists);
        for (size_t i = 0; i < blocks && lists[cell]; i++)
            lists[cell][i] = 1;
    }
    if (lists[cell] && (size_t)block < blocks)
        lists[cell][block] = value;
}

/* The lists of a file by cell; NULL without factors. `reverse` may be NULL. */
static double **factor_lists(cobre_builder *b, const cobre_raw_factors *raw,
                             cobre_registry registry, double ***reverse)
{
    size_t count = b->input->registries[registry].count, cells = cells_of(b, registry);
    double **lists = raw->count > 0 ? cobre_make(b, cells, sizeof *lists) : NULL;
    double **backward = raw->count > 0 && reverse ? cobre_make(b, cells, sizeof *backward) : NULL;

    for (size_t i = 0; i < raw->count && !b->failed; i++) {
        const cobre_raw_factor *factor = &raw->items[i];
        size_t entity = cobre_input_index(b->input, registry, factor->entity);
        size_t stage = cobre_stage_index(b, factor->stage);
        if (entity == COBRE_NONE || stage == COBRE_NONE)
            continue;
        put_factor(b, lists, stage * count + entity, stage, factor->block, factor->factor);
        if (backward)
            put_factor(b, backward, stage * count + entity, stage, factor->block, factor->reverse);
    }
    if (reverse)
        *reverse = backward;
    return lists;
}

/* ---- thermals -------------------------------------------------------------------------------- */

static void set_thermals(cobre_builder *b)
{
    const cobre_raw_thermal *raw = b->input->registries[COBRE_THERMALS].items;
    size_t count = b->built->thermal_count, cells = cells_of(b, COBRE_THERMALS);
    cobre_thermal_stage *stages = cobre_make(b, cells, sizeof *stages);
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_THERMAL_BOUNDS);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_thermal *thermal = &raw[i % count];
        stages[i] = (cobre_thermal_stage){
            .min_mw = thermal->min,
            .max_mw = thermal->max,
            .cost_per_mwh = thermal->cost,
            .is_absent = !b->is_original &&
                         cobre_is_outside(thermal->entry, thermal->exit, stage_id(b, i, count)),
        };
    }
    while (stages && cobre_next_row(b, COBRE_THERMALS, &at)) {
        if (cobre_table_int(at.table, COBRE_TB_BLOCK, at.row) != COBRE_ABSENT)
            continue; /* the format skips rows of a single block */
        cobre_override(&stages[at.cell].min_mw, &at, COBRE_TB_MIN);
        cobre_override(&stages[at.cell].max_mw, &at, COBRE_TB_MAX);
        cobre_override(&stages[at.cell].cost_per_mwh, &at, COBRE_TB_COST);
    }
    b->built->thermal_stages = stages;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static cobre_line_stage *start_lines(cobre_builder *b, size_t cells)
{
    const cobre_raw_line *raw = b->input->registries[COBRE_LINES].items;
    size_t count = b->built->line_count;
    cobre_line_stage *stages = cobre_make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_line *line = &raw[i % count];
        stages[i] = (cobre_line_stage){
            .direct_mw = line->direct,
            .reverse_mw = line->reverse,
            .exchange_cost = isnan(line->exchange_cost) ? b->input->penalties.exchange_cost
                                                        : line->exchange_cost,
            .is_absent = !b->is_original &&
                         cobre_is_outside(line->entry, line->exit, stage_id(b, i, count)),
        };
    }
    return stages;
}

static void set_lines(cobre_builder *b)
{
    size_t cells = cells_of(b, COBRE_LINES);
    cobre_line_stage *stages = start_lines(b, cells);
    cobre_cursor bounds = cobre_rows_of(b, COBRE_FILE_LINE_BOUNDS);
    cobre_cursor costs = cobre_rows_of(b, COBRE_FILE_PENALTY_LINE);
    double **reverse = NULL;

    if (!stages)
        return;
    while (cobre_next_row(b, COBRE_LINES, &bounds)) {
        cobre_override(&stages[bounds.cell].direct_mw, &bounds, COBRE_LB_DIRECT);
        cobre_override(&stages[bounds.cell].reverse_mw, &bounds, COBRE_LB_REVERSE);
    }
    while (cobre_next_row(b, COBRE_LINES, &costs))
        cobre_override(&stages[costs.cell].exchange_cost, &costs, COBRE_PENALTY_COST);
    double **direct = factor_lists(b, &b->input->exchange_factors, COBRE_LINES, &reverse);
    for (size_t i = 0; direct && reverse && i < cells; i++) {
        stages[i].direct_factor = direct[i];
        stages[i].reverse_factor = reverse[i];
    }
    b->built->line_stages = stages;
}

/* ---- buses ----------------------------------------------------------------------------------- */

static void set_buses(cobre_builder *b)
{
    size_t count = b->built->bus_count, cells = cells_of(b, COBRE_BUSES);
    cobre_bus_stage *stages = cobre_make(b, cells, sizeof *stages);
    bool *is_stochastic = cobre_make(b, count, sizeof *is_stochastic);
    cobre_cursor load = cobre_rows_of(b, COBRE_FILE_LOAD_STATS);
    cobre_cursor costs = cobre_rows_of(b, COBRE_FILE_PENALTY_BUS);

    if (!stages || !is_stochastic)
        return;
    for (size_t i = 0; i < cells; i++)
        stages[i].excess_cost = b->input->penalties.excess_cost;
    while (cobre_next_row(b, COBRE_BUSES, &load)) {
        cobre_override(&stages[load.cell].load_mean, &load, COBRE_STATS_MEAN);
        cobre_override(&stages[load.cell].load_std, &load, COBRE_STATS_STD);
        if (stages[load.cell].load_std > 0)
            is_stochastic[load.entity] = true;
    }
    while (cobre_next_row(b, COBRE_BUSES, &costs))
        cobre_override(&stages[costs.cell].excess_cost, &costs, COBRE_PENALTY_COST);
    double **factors = factor_lists(b, &b->input->load_factors, COBRE_BUSES, NULL);
    for (size_t i = 0; factors && i < cells; i++)
        stages[i].load_factor = factors[i];
    b->built->bus_stages = stages;
    b->built->bus_is_stochastic = is_stochastic;
}

/* ---- non-controllable sources ---------------------------------------------------------------- */

static cobre_source_stage *start_sources(cobre_builder *b, size_t cells)
{
    const cobre_raw_source_plant *raw = b->input->registries[COBRE_SOURCES].items;
    size_t count = b->built->source_count;
    cobre_source_stage *stages = cobre_make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_source_plant *source = &raw[i % count];
        stages[i] = (cobre_source_stage){
            .is_absent = cobre_is_outside(source->entry, source->exit, stage_id(b, i, count)),
            .available_mw = source->max,
            .curtailment_cost = isnan(source->curtailment_cost)
                                    ? b->input->penalties.curtailment_cost
                                    : source->curtailment_cost,
        };
    }
    return stages;
}

static void set_sources(cobre_builder *b)
{
    size_t cells = cells_of(b, COBRE_SOURCES);
    cobre_source_stage *stages = start_sources(b, cells);
    cobre_cursor stats = cobre_rows_of(b, COBRE_FILE_SOURCE_STATS);
    cobre_cursor bounds = cobre_rows_of(b, COBRE_FILE_SOURCE_BOUNDS);
    cobre_cursor costs = cobre_rows_of(b, COBRE_FILE_PENALTY_NCS);

    if (!stages)
        return;
    while (cobre_next_row(b, COBRE_SOURCES, &stats)) {
        cobre_override(&stages[stats.cell].mean, &stats, COBRE_STATS_MEAN);
        cobre_override(&stages[stats.cell].std, &stats, COBRE_STATS_STD);
    }
    while (cobre_next_row(b, COBRE_SOURCES, &bounds))
        cobre_override(&stages[bounds.cell].available_mw, &bounds, COBRE_SB_AVAILABLE);
    while (!b->is_original &&
           cobre_next_row(b, COBRE_SOURCES, &costs)) /* the original reads none */
        cobre_override(&stages[costs.cell].curtailment_cost, &costs, COBRE_PENALTY_COST);
    double **factors = factor_lists(b, &b->input->source_factors, COBRE_SOURCES, NULL);
    for (size_t i = 0; factors && i < cells; i++)
        stages[i].factor = factors[i];
    b->built->source_stages = stages;
}

/* ---- pumping stations and contracts: absent everywhere in the original ----------------------- */

static void set_stations(cobre_builder *b)
{
    const cobre_raw_station *raw = b->input->registries[COBRE_STATIONS].items;
    size_t count = b->built->station_count, cells = cells_of(b, COBRE_STATIONS);
    cobre_station_stage *stages = cobre_make(b, cells, sizeof *stages);
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_PUMPING_BOUNDS);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_station *station = &raw[i % count];
        stages[i] = (cobre_station_stage){
            .min_m3s = station->min,
            .max_m3s = station->max,
            .is_absent = b->is_original ||
                         cobre_is_outside(station->entry, station->exit, stage_id(b, i, count)),
        };
    }
    while (stages && cobre_next_row(b, COBRE_STATIONS, &at)) {
        cobre_override(&stages[at.cell].min_m3s, &at, COBRE_PB_MIN);
        cobre_override(&stages[at.cell].max_m3s, &at, COBRE_PB_MAX);
    }
    b->built->station_stages = stages;
}

static void set_contracts(cobre_builder *b)
{
    const cobre_raw_contract *raw = b->input->registries[COBRE_CONTRACTS].items;
    size_t count = b->built->contract_count, cells = cells_of(b, COBRE_CONTRACTS);
    cobre_contract_stage *stages = cobre_make(b, cells, sizeof *stages);
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_CONTRACT_BOUNDS);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_contract *contract = &raw[i % count];
        stages[i] = (cobre_contract_stage){
            .min_mw = contract->min,
            .max_mw = contract->max,
            .price_per_mwh = contract->price,
            .is_absent = b->is_original ||
                         cobre_is_outside(contract->entry, contract->exit, stage_id(b, i, count)),
        };
    }
    while (stages && cobre_next_row(b, COBRE_CONTRACTS, &at)) {
        cobre_override(&stages[at.cell].min_mw, &at, COBRE_CB_MIN);
        cobre_override(&stages[at.cell].max_mw, &at, COBRE_CB_MAX);
        cobre_override(&stages[at.cell].price_per_mwh, &at, COBRE_CB_PRICE);
    }
    b->built->contract_stages = stages;
}

void cobre_build_elements_by_stage(cobre_builder *b)
{
    set_thermals(b);
    set_lines(b);
    set_buses(b);
    set_sources(b);
    set_stations(b);
    set_contracts(b);
}
