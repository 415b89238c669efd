/*
 * hydro_stages.c - fills what each hydro may do in each stage: phase, bounds, costs and statistics.
 *
 * The undirected costs of withdrawal and evaporation set both directions, for an entity and for a
 * stage; the original loses a stage's override of them, and so does compatibility "cobre-0.5".
 * Source: the case page, sections 5, 6.3 and 8; the method page, section 16.
 */
#include <string.h>

#include "case/build/builder.h"

/* ---- costs ----------------------------------------------------------------------------------- */

static void replace_cost(double costs[COBRE_COST_COUNT], size_t index, double value)
{
    if (isnan(value))
        return;
    costs[index] = value;
    if (index == COBRE_COST_WITHDRAWAL) {
        costs[COBRE_COST_WITHDRAWAL_POS] = value;
        costs[COBRE_COST_WITHDRAWAL_NEG] = value;
    } else if (index == COBRE_COST_EVAPORATION) {
        costs[COBRE_COST_EVAPORATION_POS] = value;
        costs[COBRE_COST_EVAPORATION_NEG] = value;
    }
}

static void place_costs(const double costs[COBRE_COST_COUNT], cobre_hydro_stage *stage)
{
    stage->spillage_cost = costs[COBRE_COST_SPILLAGE];
    stage->diversion_cost = costs[COBRE_COST_DIVERSION];
    stage->turbined_below_cost = costs[COBRE_COST_TURBINED_BELOW];
    stage->outflow_below_cost = costs[COBRE_COST_OUTFLOW_BELOW];
    stage->outflow_above_cost = costs[COBRE_COST_OUTFLOW_ABOVE];
    stage->generation_below_cost = costs[COBRE_COST_GENERATION_BELOW];
    stage->withdrawal_pos_cost = costs[COBRE_COST_WITHDRAWAL_POS];
    stage->withdrawal_neg_cost = costs[COBRE_COST_WITHDRAWAL_NEG];
    stage->evaporation_pos_cost = costs[COBRE_COST_EVAPORATION_POS];
    stage->evaporation_neg_cost = costs[COBRE_COST_EVAPORATION_NEG];
    stage->storage_below_cost = costs[COBRE_COST_STORAGE_BELOW];
    stage->filling_target_cost = costs[COBRE_COST_FILLING_TARGET];
    stage->fpha_turbined_cost = costs[COBRE_COST_FPHA_TURBINED];
}

static void entity_costs(const cobre_input *input, const cobre_raw_hydro *raw,
                         double costs[COBRE_COST_COUNT])
{
    memcpy(costs, input->penalties.costs, COBRE_COST_COUNT * sizeof *costs);
    for (size_t i = 0; i < COBRE_COST_ENTITY; i++)
        replace_cost(costs, i, raw->costs[i]);
}

static void apply_penalties(const cobre_builder *b, cobre_hydro_stage *stages)
{
    const cobre_raw_hydro *raw = b->input->registries[COBRE_HYDROS].items;
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_PENALTY_HYDRO);
    double costs[COBRE_COST_COUNT], before[COBRE_COST_COUNT];

    while (cobre_next_row(b, COBRE_HYDROS, &at)) {
        entity_costs(b->input, &raw[at.entity], costs);
        memcpy(before, costs, sizeof before);
        for (size_t i = 0; i < COBRE_COST_OVERRIDES; i++)
            replace_cost(costs, i, cobre_cell_real(&at, COBRE_PENALTY_COST + i));
        for (size_t i = COBRE_COST_ENTITY; i < COBRE_COST_COUNT && b->is_original; i++)
            costs[i] = before[i];
        place_costs(costs, &stages[at.cell]);
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Whether a filling that is under way in the stage ends with it. The study behind a boundary policy
 * has the stage with the next id. */
static bool ends_filling(const cobre_case *built, const cobre_raw_hydro *raw, size_t at)
{
    if (at + 1 < built->stage_count)
        return built->stages[at + 1].id >= raw->entry;
    return !built->config.policy.boundary_path || (int64_t)built->stages[at].id + 1 >= raw->entry;
}

static void set_phase(const cobre_builder *b, const cobre_raw_hydro *raw, size_t at,
                      cobre_hydro_stage *stage)
{
    const cobre_case *built = b->built;
    int64_t id = built->stages[at].id;

    stage->is_soft = built->config.soft_storage;
    if (b->is_original)
        return;
    if (raw->filling && id >= raw->filling_start && id < raw->entry) {
        stage->phase = COBRE_HYDRO_FILLING;
        stage->is_last_filling = ends_filling(built, raw, at);
        stage->filling_inflow = raw->filling_inflow;
    } else if (cobre_is_outside(raw->entry, raw->exit, id)) {
        stage->phase = COBRE_HYDRO_ABSENT;
    } else if (raw->filling) {
        stage->is_soft = true; /* filling may have fallen short */
    }
}

static cobre_hydro_stage *start_stages(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;
    size_t cells = b->built->stage_count * items->count;
    cobre_hydro_stage *stages = cobre_make(b, cells, sizeof *stages);
    double costs[COBRE_COST_COUNT];

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_hydro *raw = &hydros[i % items->count];
        stages[i] = (cobre_hydro_stage){
            .min_storage = raw->min_storage,
            .max_storage = raw->max_storage,
            .min_turbined = raw->min_turbined,
            .max_turbined = raw->max_turbined,
            .min_outflow = raw->min_outflow,
            .max_outflow = isnan(raw->max_outflow) ? INFINITY : raw->max_outflow,
            .min_generation = raw->min_generation,
            .max_generation = raw->max_generation,
        };
        set_phase(b, raw, i / items->count, &stages[i]);
        entity_costs(b->input, raw, costs);
        place_costs(costs, &stages[i]);
    }
    return stages;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void apply_bounds(const cobre_builder *b, cobre_hydro_stage *stages)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_HYDRO_BOUNDS);

    while (cobre_next_row(b, COBRE_HYDROS, &at)) {
        cobre_hydro_stage *stage = &stages[at.cell];
        cobre_override(&stage->min_turbined, &at, COBRE_HB_MIN_TURBINED);
        cobre_override(&stage->max_turbined, &at, COBRE_HB_MAX_TURBINED);
        cobre_override(&stage->min_storage, &at, COBRE_HB_MIN_STORAGE);
        cobre_override(&stage->max_storage, &at, COBRE_HB_MAX_STORAGE);
        cobre_override(&stage->min_outflow, &at, COBRE_HB_MIN_OUTFLOW);
        cobre_override(&stage->max_outflow, &at, COBRE_HB_MAX_OUTFLOW);
        cobre_override(&stage->min_generation, &at, COBRE_HB_MIN_GENERATION);
        cobre_override(&stage->max_generation, &at, COBRE_HB_MAX_GENERATION);
        cobre_override(&stage->withdrawal, &at, COBRE_HB_WITHDRAWAL);
        if (stage->phase == COBRE_HYDRO_FILLING)
            cobre_override(&stage->filling_inflow, &at, COBRE_HB_FILLING);
    }
}

static void apply_inflow(const cobre_builder *b, cobre_hydro_stage *stages)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_INFLOW_STATS);

    while (cobre_next_row(b, COBRE_HYDROS, &at)) {
        cobre_override(&stages[at.cell].inflow_mean, &at, COBRE_STATS_MEAN);
        cobre_override(&stages[at.cell].inflow_std, &at, COBRE_STATS_STD);
    }
}

void cobre_build_hydros_by_stage(cobre_builder *b)
{
    cobre_hydro_stage *stages = start_stages(b);

    if (!stages)
        return;
    apply_bounds(b, stages);
    apply_penalties(b, stages);
    apply_inflow(b, stages);
    cobre_build_models_by_stage(b, stages);
    b->built->hydro_stages = stages;
}
