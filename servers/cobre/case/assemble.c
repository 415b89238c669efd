/*
 * assemble.c - builds the case for the solver from input without errors.
 *
 * Ids become indices, defaults and overrides become values, one record per entity and stage. A
 * penalty is the stage's override, else the entity's value, else the global one; the undirected
 * costs of withdrawal set both directions (the original loses a stage's override of them, and so
 * does compatibility "cobre-0.5"). Rows for stages that do not exist are skipped; layer 3 has
 * warned of them.
 */
#include "case/assemble.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    const cobre_input *input;
    mcp_arena *arena;
    cobre_case *built;
    bool failed; /* memory is out */
};

static void *make(struct builder *b, size_t count, size_t size)
{
    void *array = mcp_arena_array(b->arena, count, size);

    b->failed = b->failed || !array;
    return array;
}

/* ---- config ---------------------------------------------------------------------------------- */

static void add_rule(cobre_config *config, cobre_stopping_rule *rule, const cobre_raw_rule *raw)
{
    switch (raw->type) {
    case COBRE_RULE_TIME_LIMIT:
        *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_TIME_LIMIT, .seconds = raw->seconds };
        return;
    case COBRE_RULE_BOUND_STALLING:
        *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_BOUND_STALLING,
                                       .limit = raw->iterations,
                                       .tolerance = raw->tolerance };
        return;
    default: /* iteration_limit; the original turns `simulation` into one of 100 */
        break;
    }
    int64_t limit = raw->type == COBRE_RULE_ITERATION_LIMIT ? raw->limit : 100;
    *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_ITERATION_LIMIT, .limit = limit };
    if (!config->has_iteration_limit || limit > config->max_iterations)
        config->max_iterations = (uint32_t)limit;
    config->has_iteration_limit = true;
}

static void set_rules(struct builder *b, cobre_config *config)
{
    static const cobre_raw_rule fallback = { .type = COBRE_RULE_ITERATION_LIMIT, .limit = 100 };
    const cobre_raw_config *raw = &b->input->config;
    size_t count = raw->rule_count ? raw->rule_count : 1;
    cobre_stopping_rule *rules = make(b, count, sizeof *rules);

    config->max_iterations = 100;
    for (size_t i = 0; i < count && rules; i++)
        add_rule(config, &rules[i], raw->rule_count ? &raw->rules[i] : &fallback);
    config->rules = rules;
    config->rule_count = count;
}

static void set_config(struct builder *b)
{
    const cobre_raw_config *raw = &b->input->config;
    cobre_config *config = &b->built->config;

    config->json = raw->json;
    config->training_enabled = raw->training_enabled;
    config->has_tree_seed = raw->has_tree_seed;
    config->tree_seed = config->has_tree_seed ? raw->tree_seed : 0;
    config->seed = 42;
    if (raw->has_tree_seed)
        config->seed = raw->tree_seed < 0 ? -(uint64_t)raw->tree_seed : (uint64_t)raw->tree_seed;
    config->forward_passes = (uint32_t)raw->forward_passes;
    config->stop_when_all = raw->stopping_mode && strcasecmp(raw->stopping_mode, "all") == 0;
    config->inflow_method = (cobre_inflow_method)raw->inflow_method;
    config->simulation_enabled = raw->simulation_enabled && raw->scenarios > 0;
    config->simulation_scenarios = (uint32_t)raw->scenarios;
    config->policy.path = raw->policy_path ? raw->policy_path : "./policy";
    config->original_arithmetic = raw->compatibility != COBRE_ABSENT;
    set_rules(b, config);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static double discount_of(const cobre_raw_graph *graph, int64_t stage, int32_t days)
{
    double rate = graph->rate;

    for (size_t i = 0; i < graph->transition_count; i++) {
        if (graph->transitions[i].source != stage)
            continue;
        if (!isnan(graph->transitions[i].rate))
            rate = graph->transitions[i].rate;
        break; /* only the first transition that leaves a stage counts */
    }
    return rate == 0 ? 1 : 1 / pow(1 + rate, days / 365.25);
}

static void set_stage(const cobre_input *input, const cobre_raw_stage *raw, cobre_stage *stage)
{
    stage->id = (int32_t)raw->head.id;
    stage->start_date = raw->start.text;
    stage->end_date = raw->end.text;
    stage->start = raw->start.day;
    stage->end = raw->end.day;
    stage->days = raw->end.day - raw->start.day;
    stage->has_season = raw->season != COBRE_ABSENT;
    stage->season_id = stage->has_season ? (uint32_t)raw->season : 0;
    stage->blocks = raw->blocks;
    stage->block_count = raw->block_count;
    for (size_t i = 0; i < raw->block_count; i++)
        stage->hours += raw->blocks[i].hours;
    stage->openings = (uint32_t)raw->openings;
    stage->discount = discount_of(&input->graph, raw->head.id, stage->days);
    stage->is_cvar = raw->is_cvar;
    stage->cvar_alpha = raw->alpha;
    stage->cvar_lambda = raw->lambda;
}

static void set_stages(struct builder *b)
{
    const cobre_input *input = b->input;
    cobre_stage *stages = make(b, input->stage_count, sizeof *stages);
    size_t count = 0;

    for (size_t i = 0; i < input->stage_count && stages; i++) {
        if (input->stages[i].is_study)
            set_stage(input, &input->stages[i], &stages[count++]);
    }
    b->built->stages = stages;
    b->built->stage_count = count;
}

static int compare_stages(const void *a, const void *b)
{
    int32_t x = ((const cobre_stage *)a)->id, y = ((const cobre_stage *)b)->id;

    return x < y ? -1 : x > y;
}

static size_t stage_index(const cobre_case *built, int64_t id)
{
    if (id < INT32_MIN || id > INT32_MAX || built->stage_count == 0)
        return COBRE_NONE;
    const cobre_stage key = { .id = (int32_t)id };
    const cobre_stage *found = bsearch(&key, built->stages, built->stage_count,
                                       sizeof *built->stages, compare_stages);
    return found ? (size_t)(found - built->stages) : COBRE_NONE;
}

/* ---- registries ------------------------------------------------------------------------------ */

static size_t index_or_none(const cobre_input *input, cobre_registry registry, int64_t id)
{
    return id == COBRE_ABSENT ? COBRE_NONE : cobre_input_index(input, registry, id);
}

static void set_buses(struct builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_BUSES];
    const cobre_raw_penalties *penalties = &b->input->penalties;
    const cobre_raw_bus *raw = items->items;
    cobre_bus *buses = make(b, items->count, sizeof *buses);

    for (size_t i = 0; i < items->count && buses; i++) {
        bool own = raw[i].segment_count > 0;
        buses[i] = (cobre_bus){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .segments = own ? raw[i].segments : penalties->segments,
            .segment_count = own ? raw[i].segment_count : penalties->segment_count,
        };
    }
    b->built->buses = buses;
    b->built->bus_count = items->count;
}

static void set_lines(struct builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_LINES];
    const cobre_raw_line *raw = items->items;
    cobre_line *lines = make(b, items->count, sizeof *lines);

    for (size_t i = 0; i < items->count && lines; i++) {
        lines[i] = (cobre_line){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .source = cobre_input_index(b->input, COBRE_BUSES, raw[i].source),
            .target = cobre_input_index(b->input, COBRE_BUSES, raw[i].target),
            .direct_mw = raw[i].direct,
            .reverse_mw = raw[i].reverse,
            .losses_percent = raw[i].losses,
        };
    }
    b->built->lines = lines;
    b->built->line_count = items->count;
}

static void set_thermals(struct builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_THERMALS];
    const cobre_raw_thermal *raw = items->items;
    cobre_thermal *thermals = make(b, items->count, sizeof *thermals);

    for (size_t i = 0; i < items->count && thermals; i++) {
        thermals[i] = (cobre_thermal){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = cobre_input_index(b->input, COBRE_BUSES, raw[i].bus),
            .min_mw = raw[i].min,
            .max_mw = raw[i].max,
            .cost_per_mwh = raw[i].cost,
        };
    }
    b->built->thermals = thermals;
    b->built->thermal_count = items->count;
}

static int compare_storages(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_storage *)a)->hydro, y = ((const cobre_raw_storage *)b)->hydro;

    return x < y ? -1 : x > y;
}

static double initial_storage(const cobre_input *input, int64_t hydro)
{
    const cobre_raw_storage key = { hydro, 0 };
    const cobre_raw_storage *found = NULL;

    if (input->storage_count > 0)
        found = bsearch(&key, input->storages, input->storage_count, sizeof key, compare_storages);
    return found ? found->value : 0;
}

static double inflow_cost(const cobre_input *input, const cobre_raw_hydro *raw)
{
    double own = raw->costs[COBRE_COST_INFLOW];

    return isnan(own) ? input->penalties.costs[COBRE_COST_INFLOW] : own;
}

static void set_hydros(struct builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *raw = items->items;
    cobre_hydro *hydros = make(b, items->count, sizeof *hydros);

    for (size_t i = 0; i < items->count && hydros; i++) {
        hydros[i] = (cobre_hydro){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = cobre_input_index(b->input, COBRE_BUSES, raw[i].bus),
            .downstream = index_or_none(b->input, COBRE_HYDROS, raw[i].downstream),
            .diversion_downstream = index_or_none(b->input, COBRE_HYDROS,
                                                  raw[i].diversion_downstream),
            .diversion_max_m3s = raw[i].diversion ? raw[i].diversion_max : 0,
            .productivity = raw[i].productivity,
            .initial_storage_hm3 = initial_storage(b->input, raw[i].head.id),
            .inflow_nonnegativity_cost = inflow_cost(b->input, &raw[i]),
        };
    }
    b->built->hydros = hydros;
    b->built->hydro_count = items->count;
}

/* ---- by stage: what holds without overrides -------------------------------------------------- */

/* One hydro's costs, unchanged or with one of them replaced in both its directions. */
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
    stage->storage_below_cost = costs[COBRE_COST_STORAGE_BELOW];
    stage->filling_target_cost = costs[COBRE_COST_FILLING_TARGET];
    stage->evaporation_pos_cost = stage->evaporation_neg_cost = costs[COBRE_COST_EVAPORATION];
    stage->fpha_turbined_cost = costs[COBRE_COST_FPHA_TURBINED];
}

static void entity_costs(const cobre_input *input, const cobre_raw_hydro *raw,
                         double costs[COBRE_COST_COUNT])
{
    memcpy(costs, input->penalties.costs, COBRE_COST_COUNT * sizeof *costs);
    for (size_t i = 0; i < COBRE_COST_ENTITY; i++)
        replace_cost(costs, i, raw->costs[i]);
}

static void start_hydro_stage(const cobre_input *input, const cobre_raw_hydro *raw,
                              cobre_hydro_stage *stage)
{
    double costs[COBRE_COST_COUNT];

    *stage = (cobre_hydro_stage){
        .min_storage = raw->min_storage,
        .max_storage = raw->max_storage,
        .min_turbined = raw->min_turbined,
        .max_turbined = raw->max_turbined,
        .min_outflow = raw->min_outflow,
        .max_outflow = isnan(raw->max_outflow) ? INFINITY : raw->max_outflow,
        .min_generation = raw->min_generation,
        .max_generation = raw->max_generation,
    };
    entity_costs(input, raw, costs);
    place_costs(costs, stage);
}

static cobre_hydro_stage *start_hydros(struct builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *raw = items->items;
    size_t cells = b->built->stage_count * items->count;
    cobre_hydro_stage *stages = make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++)
        start_hydro_stage(b->input, &raw[i % items->count], &stages[i]);
    return stages;
}

static cobre_thermal_stage *start_thermals(struct builder *b)
{
    size_t count = b->built->thermal_count, cells = b->built->stage_count * count;
    cobre_thermal_stage *stages = make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_thermal *thermal = &b->built->thermals[i % count];
        stages[i] = (cobre_thermal_stage){ .min_mw = thermal->min_mw,
                                           .max_mw = thermal->max_mw,
                                           .cost_per_mwh = thermal->cost_per_mwh };
    }
    return stages;
}

static cobre_line_stage *start_lines(struct builder *b)
{
    const cobre_raw_line *raw = b->input->registries[COBRE_LINES].items;
    size_t count = b->built->line_count, cells = b->built->stage_count * count;
    cobre_line_stage *stages = make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++) {
        const cobre_raw_line *line = &raw[i % count];
        stages[i] = (cobre_line_stage){
            .direct_mw = line->direct,
            .reverse_mw = line->reverse,
            .exchange_cost = isnan(line->exchange_cost) ? b->input->penalties.exchange_cost
                                                        : line->exchange_cost,
        };
    }
    return stages;
}

static cobre_bus_stage *start_buses(struct builder *b)
{
    size_t cells = b->built->stage_count * b->built->bus_count;
    cobre_bus_stage *stages = make(b, cells, sizeof *stages);

    for (size_t i = 0; i < cells && stages; i++)
        stages[i] = (cobre_bus_stage){ .excess_cost = b->input->penalties.excess_cost };
    return stages;
}

/* ---- by stage: the files that override ------------------------------------------------------- */

/* The rows of a table in key order, each with its cell in the flat array. */
struct cursor {
    const cobre_table *table;
    size_t next, row, cell;
};

static bool next_row(const struct builder *b, cobre_registry registry, struct cursor *at)
{
    const cobre_table *table = at->table;

    while (at->next < table->rows) {
        at->row = table->order[at->next++];
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, at->row);
        size_t entity = cobre_input_index(b->input, registry, id);
        size_t stage = stage_index(b->built, cobre_table_int(table, COBRE_COL_STAGE, at->row));
        if (entity == COBRE_NONE || stage == COBRE_NONE)
            continue;
        at->cell = stage * b->input->registries[registry].count + entity;
        return true;
    }
    return false;
}

static struct cursor rows_of(const struct builder *b, cobre_file_id id)
{
    return (struct cursor){ .table = &b->input->tables[id] };
}

static void override(double *value, const struct cursor *at, size_t column)
{
    double given = cobre_table_real(at->table, column, at->row);

    if (!isnan(given))
        *value = given;
}

static void apply_hydro_bounds(struct builder *b, cobre_hydro_stage *stages)
{
    struct cursor at = rows_of(b, COBRE_FILE_HYDRO_BOUNDS);

    while (next_row(b, COBRE_HYDROS, &at)) {
        cobre_hydro_stage *stage = &stages[at.cell];
        override(&stage->min_turbined, &at, COBRE_HB_MIN_TURBINED);
        override(&stage->max_turbined, &at, COBRE_HB_MAX_TURBINED);
        override(&stage->min_storage, &at, COBRE_HB_MIN_STORAGE);
        override(&stage->max_storage, &at, COBRE_HB_MAX_STORAGE);
        override(&stage->min_outflow, &at, COBRE_HB_MIN_OUTFLOW);
        override(&stage->max_outflow, &at, COBRE_HB_MAX_OUTFLOW);
        override(&stage->min_generation, &at, COBRE_HB_MIN_GENERATION);
        override(&stage->max_generation, &at, COBRE_HB_MAX_GENERATION);
        override(&stage->withdrawal, &at, COBRE_HB_WITHDRAWAL);
    }
}

static void apply_hydro_penalties(struct builder *b, cobre_hydro_stage *stages)
{
    const cobre_raw_hydro *raw = b->input->registries[COBRE_HYDROS].items;
    struct cursor at = rows_of(b, COBRE_FILE_PENALTY_HYDRO);
    double costs[COBRE_COST_COUNT];

    while (next_row(b, COBRE_HYDROS, &at)) {
        entity_costs(b->input, &raw[at.cell % b->built->hydro_count], costs);
        double neg = costs[COBRE_COST_WITHDRAWAL_NEG], pos = costs[COBRE_COST_WITHDRAWAL_POS];
        for (size_t i = 0; i < COBRE_COST_OVERRIDES; i++)
            replace_cost(costs, i, cobre_table_real(at.table, COBRE_PENALTY_COST + i, at.row));
        if (b->built->config.original_arithmetic) {
            costs[COBRE_COST_WITHDRAWAL_NEG] = neg;
            costs[COBRE_COST_WITHDRAWAL_POS] = pos;
        }
        place_costs(costs, &stages[at.cell]);
    }
}

static void apply_inflow(struct builder *b, cobre_hydro_stage *stages)
{
    struct cursor at = rows_of(b, COBRE_FILE_INFLOW_STATS);

    while (next_row(b, COBRE_HYDROS, &at)) {
        override(&stages[at.cell].inflow_mean, &at, COBRE_STATS_MEAN);
        override(&stages[at.cell].inflow_std, &at, COBRE_STATS_STD);
    }
}

static void apply_thermal_bounds(struct builder *b, cobre_thermal_stage *stages)
{
    struct cursor at = rows_of(b, COBRE_FILE_THERMAL_BOUNDS);

    while (next_row(b, COBRE_THERMALS, &at)) {
        if (cobre_table_int(at.table, COBRE_TB_BLOCK, at.row) != COBRE_ABSENT)
            continue; /* the format skips rows of a single block */
        override(&stages[at.cell].min_mw, &at, COBRE_TB_MIN);
        override(&stages[at.cell].max_mw, &at, COBRE_TB_MAX);
        override(&stages[at.cell].cost_per_mwh, &at, COBRE_TB_COST);
    }
}

static void apply_lines(struct builder *b, cobre_line_stage *stages)
{
    struct cursor bounds = rows_of(b, COBRE_FILE_LINE_BOUNDS);
    struct cursor costs = rows_of(b, COBRE_FILE_PENALTY_LINE);

    while (next_row(b, COBRE_LINES, &bounds)) {
        override(&stages[bounds.cell].direct_mw, &bounds, COBRE_LB_DIRECT);
        override(&stages[bounds.cell].reverse_mw, &bounds, COBRE_LB_REVERSE);
    }
    while (next_row(b, COBRE_LINES, &costs))
        override(&stages[costs.cell].exchange_cost, &costs, COBRE_PENALTY_COST);
}

static void apply_buses(struct builder *b, cobre_bus_stage *stages)
{
    struct cursor load = rows_of(b, COBRE_FILE_LOAD_STATS);
    struct cursor costs = rows_of(b, COBRE_FILE_PENALTY_BUS);

    while (next_row(b, COBRE_BUSES, &load)) {
        override(&stages[load.cell].load_mean, &load, COBRE_STATS_MEAN);
        override(&stages[load.cell].load_std, &load, COBRE_STATS_STD);
    }
    while (next_row(b, COBRE_BUSES, &costs))
        override(&stages[costs.cell].excess_cost, &costs, COBRE_PENALTY_COST);
}

/* ---- block factors --------------------------------------------------------------------------- */

/* Put one factor into its cell's list. The first factor creates the list, filled with ones. */
static void put_factor(struct builder *b, double **lists, size_t cell, size_t stage, int64_t block,
                       double value)
{
    size_t blocks = b->built->stages[stage].block_count;

    if (!lists[cell]) {
        lists[cell] = make(b, blocks, sizeof **lists);
        for (size_t i = 0; i < blocks && lists[cell]; i++)
            lists[cell][i] = 1;
    }
    if (lists[cell] && (size_t)block < blocks)
        lists[cell][block] = value;
}

static void apply_load_factors(struct builder *b, cobre_bus_stage *stages)
{
    const cobre_raw_factors *raw = &b->input->load_factors;
    size_t count = b->built->bus_count, cells = b->built->stage_count * count;
    double **lists = raw->count > 0 ? make(b, cells, sizeof *lists) : NULL;

    for (size_t i = 0; i < raw->count && !b->failed; i++) {
        const cobre_raw_factor *factor = &raw->items[i];
        size_t bus = cobre_input_index(b->input, COBRE_BUSES, factor->entity);
        size_t stage = stage_index(b->built, factor->stage);
        if (bus != COBRE_NONE && stage != COBRE_NONE)
            put_factor(b, lists, stage * count + bus, stage, factor->block, factor->factor);
    }
    for (size_t i = 0; lists && i < cells; i++)
        stages[i].load_factor = lists[i];
}

static void apply_exchange_factors(struct builder *b, cobre_line_stage *stages)
{
    const cobre_raw_factors *raw = &b->input->exchange_factors;
    size_t count = b->built->line_count, cells = b->built->stage_count * count;
    double **direct = raw->count > 0 ? make(b, cells, sizeof *direct) : NULL;
    double **reverse = raw->count > 0 ? make(b, cells, sizeof *reverse) : NULL;

    for (size_t i = 0; i < raw->count && !b->failed; i++) {
        const cobre_raw_factor *factor = &raw->items[i];
        size_t line = cobre_input_index(b->input, COBRE_LINES, factor->entity);
        size_t stage = stage_index(b->built, factor->stage);
        if (line == COBRE_NONE || stage == COBRE_NONE)
            continue;
        put_factor(b, direct, stage * count + line, stage, factor->block, factor->factor);
        put_factor(b, reverse, stage * count + line, stage, factor->block, factor->reverse);
    }
    for (size_t i = 0; direct && reverse && i < cells; i++) {
        stages[i].direct_factor = direct[i];
        stages[i].reverse_factor = reverse[i];
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void set_stochastic(struct builder *b)
{
    cobre_case *built = b->built;
    bool *flags = make(b, built->bus_count, sizeof *flags);

    for (size_t i = 0; i < built->stage_count * built->bus_count && flags; i++) {
        if (built->bus_stages[i].load_std > 0)
            flags[i % built->bus_count] = true;
    }
    built->bus_is_stochastic = flags;
}

static void set_by_stage(struct builder *b)
{
    cobre_hydro_stage *hydros = start_hydros(b);
    cobre_thermal_stage *thermals = start_thermals(b);
    cobre_line_stage *lines = start_lines(b);
    cobre_bus_stage *buses = start_buses(b);

    if (b->failed)
        return;
    apply_hydro_bounds(b, hydros);
    apply_hydro_penalties(b, hydros);
    apply_inflow(b, hydros);
    apply_thermal_bounds(b, thermals);
    apply_lines(b, lines);
    apply_buses(b, buses);
    apply_load_factors(b, buses);
    apply_exchange_factors(b, lines);
    b->built->hydro_stages = hydros;
    b->built->thermal_stages = thermals;
    b->built->line_stages = lines;
    b->built->bus_stages = buses;
    set_stochastic(b);
}

/* The last segment of a path without trailing slashes. */
static const char *last_segment(mcp_arena *arena, const char *directory)
{
    size_t end = strlen(directory);

    while (end > 1 && directory[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && directory[start - 1] != '/')
        start--;
    return mcp_arena_strndup(arena, directory + start, end - start);
}

int64_t cobre_input_entities(const cobre_input *input)
{
    size_t count = input->stage_count;

    for (size_t i = 0; i < COBRE_REGISTRY_COUNT; i++)
        count += input->registries[i].count;
    return (int64_t)count;
}

mcp_status cobre_assemble(cobre_case **out, const cobre_input *input, const char *directory,
                          mcp_error *err)
{
    cobre_case *built = mcp_arena_alloc(input->arena, sizeof *built);
    struct builder b = { .input = input, .arena = input->arena, .built = built };

    if (!built)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the case");
    built->arena = input->arena;
    built->directory = mcp_arena_strdup(input->arena, directory);
    built->name = last_segment(input->arena, directory);
    b.failed = !built->directory || !built->name;
    built->entities_validated = cobre_input_entities(input);
    set_config(&b);
    set_stages(&b);
    set_buses(&b);
    set_lines(&b);
    set_thermals(&b);
    set_hydros(&b);
    if (!b.failed)
        set_by_stage(&b);
    if (b.failed)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the case");
    *out = built;
    return MCP_OK;
}
