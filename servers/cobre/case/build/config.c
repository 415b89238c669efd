/*
 * config.c - fills the case's configuration.
 *
 * Source: the case page, section 2; for "cobre-0.5" the method page, section 16.
 */
#include <stdlib.h>
#include <strings.h>

#include "case/build/builder.h"

/* ---- stopping rules -------------------------------------------------------------------------- */

static void add_limit(cobre_config *config, cobre_stopping_rule *rule, int64_t limit)
{
    *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_ITERATION_LIMIT, .limit = limit };
    if (!config->has_iteration_limit || limit > config->max_iterations)
        config->max_iterations = (uint32_t)limit;
    config->has_iteration_limit = true;
}

static void add_rule(cobre_config *config, cobre_stopping_rule *rule, const cobre_raw_rule *raw)
{
    switch (raw->type) {
    case COBRE_RULE_TIME_LIMIT:
        *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_TIME_LIMIT, .seconds = raw->seconds };
        break;
    case COBRE_RULE_BOUND_STALLING:
        *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_BOUND_STALLING,
                                       .limit = raw->iterations,
                                       .tolerance = raw->tolerance };
        break;
    case COBRE_RULE_SIMULATION:
        *rule = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                       .limit = raw->bound_window,
                                       .tolerance = raw->bound_tol,
                                       .replications = (uint32_t)raw->replications,
                                       .period = (uint32_t)raw->period,
                                       .distance_tolerance = raw->distance_tol };
        break;
    case COBRE_RULE_ITERATION_LIMIT:
    default:
        add_limit(config, rule, raw->limit);
        break;
    }
}

static void set_rules(cobre_builder *b, cobre_config *config)
{
    const cobre_raw_config *raw = &b->input->config;
    size_t count = raw->rule_count ? raw->rule_count : 1;
    cobre_stopping_rule *rules = cobre_make(b, count, sizeof *rules);

    config->max_iterations = 100;
    for (size_t i = 0; i < count && rules; i++) {
        /* The original turns `simulation` into a limit of 100. */
        if (raw->rule_count == 0 || (b->is_original && raw->rules[i].type == COBRE_RULE_SIMULATION))
            add_limit(config, &rules[i], 100);
        else
            add_rule(config, &rules[i], &raw->rules[i]);
    }
    config->rules = rules;
    config->rule_count = count;
}

/* ---- scenario sources ------------------------------------------------------------------------ */

static uint64_t absolute(int64_t seed)
{
    return seed < 0 ? -(uint64_t)seed : (uint64_t)seed;
}

/* Every int64 is a seed, COBRE_ABSENT too. */
static bool has_seed(const cobre_raw_source *raw)
{
    return mcp_json_is_number(mcp_json_get(raw->json, "seed"));
}

static int compare_years(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

static void set_years(cobre_builder *b, const mcp_json *json, cobre_scenario_source *source)
{
    int64_t from = 0, to = 0, year = 0;
    bool is_range = mcp_json_is_object(json);

    if (!json || mcp_json_is_null(json))
        return;
    mcp_json_int(mcp_json_get(json, "from"), &from);
    mcp_json_int(mcp_json_get(json, "to"), &to);
    size_t count = is_range ? (size_t)(to - from + 1) : mcp_json_count(json), kept = 0;
    int32_t *years = cobre_make(b, count, sizeof *years);
    for (size_t i = 0; i < count && years; i++) {
        if (!is_range)
            mcp_json_int(mcp_json_item(json, i), &year);
        years[i] = (int32_t)(is_range ? from + (int64_t)i : year);
    }
    if (!years)
        return;
    if (count > 1)
        qsort(years, count, sizeof *years, compare_years);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || years[i] != years[kept - 1])
            years[kept++] = years[i];
    }
    source->years = years;
    source->year_count = kept;
}

static void set_source(cobre_builder *b, const cobre_raw_source *raw, cobre_scenario_source *source)
{
    *source = (cobre_scenario_source){
        .seed = has_seed(raw) ? absolute(raw->seed) : 0,
        .inflow = (cobre_scheme)raw->inflow,
        .load = (cobre_scheme)raw->load,
        .ncs = (cobre_scheme)raw->ncs,
    };
    set_years(b, raw->historical_years, source);
}

static void set_sources(cobre_builder *b, cobre_config *config)
{
    const cobre_raw_source *training = &b->input->config.training_source;
    const cobre_raw_source *simulation = &b->input->config.simulation_source;

    set_source(b, training, &config->training_source);
    config->simulation_source = config->training_source;
    if (!simulation->json)
        return;
    set_source(b, simulation, &config->simulation_source);
    if (has_seed(training)) /* the seed of forward paths is that of the training (method page, 9) */
        config->simulation_source.seed = config->training_source.seed;
}

/* ---- the sections ---------------------------------------------------------------------------- */

static uint32_t number_or(int64_t value, int64_t fallback)
{
    return (uint32_t)(value == COBRE_ABSENT ? fallback : value);
}

static cobre_cut_selection selection_of(const cobre_raw_config *raw)
{
    static const cobre_selection_method methods[] = { COBRE_SELECTION_LEVEL1, COBRE_SELECTION_LML1,
                                                      COBRE_SELECTION_DOMINATION };
    bool enabled = raw->cut_selection_enabled && raw->cut_method != COBRE_ABSENT;

    return (cobre_cut_selection){
        .method = enabled ? methods[raw->cut_method] : COBRE_SELECTION_NONE,
        .threshold = (uint32_t)raw->cut_threshold,
        .memory_window = number_or(raw->cut_memory_window, raw->cut_threshold),
        .epsilon = isnan(raw->cut_epsilon) ? (double)raw->cut_threshold : raw->cut_epsilon,
        .check_frequency = (uint32_t)raw->cut_check_frequency,
        .activity_tolerance = raw->cut_tolerance,
        .max_active = number_or(raw->cut_max_active, 0),
    };
}

static cobre_policy_config policy_of(const cobre_raw_config *raw)
{
    return (cobre_policy_config){
        .path = raw->policy_path ? raw->policy_path : "./policy",
        .mode = (cobre_policy_mode)raw->policy_mode,
        .validate_compatibility = raw->validate_compatibility,
        .checkpoints = raw->checkpoints,
        .first_checkpoint = (uint32_t)raw->first_checkpoint,
        .checkpoint_interval = (uint32_t)raw->checkpoint_interval,
        .store_basis = raw->store_basis,
        .boundary_path = raw->boundary ? raw->boundary_path : NULL,
        .boundary_stage = raw->boundary ? (uint32_t)raw->boundary_stage : 0,
    };
}

static cobre_estimation estimation_of(const cobre_raw_config *raw)
{
    bool is_annual = raw->order_selection == COBRE_SELECT_PACF_ANNUAL;

    return (cobre_estimation){
        .max_order = (uint32_t)raw->max_order,
        .order = is_annual ? COBRE_ORDER_PACF_ANNUAL : COBRE_ORDER_PACF,
        .min_observations = (uint32_t)raw->min_observations,
        .max_coefficient = isnan(raw->max_coefficient) ? INFINITY : raw->max_coefficient,
    };
}

void cobre_build_config(cobre_builder *b)
{
    const cobre_raw_config *raw = &b->input->config;
    cobre_config *config = &b->built->config;
    bool is_whole = !b->is_original;

    *config = (cobre_config){
        .json = raw->json,
        .training_enabled = raw->training_enabled,
        .has_tree_seed = raw->has_tree_seed,
        .tree_seed = raw->has_tree_seed ? raw->tree_seed : 0,
        .seed = raw->has_tree_seed ? absolute(raw->tree_seed) : 42,
        .forward_passes = (uint32_t)raw->forward_passes,
        .stop_when_all = raw->stopping_mode && strcasecmp(raw->stopping_mode, "all") == 0,
        .inflow_method = (cobre_inflow_method)raw->inflow_method,
        .simulation_enabled = raw->simulation_enabled && raw->scenarios > 0,
        .simulation_scenarios = (uint32_t)raw->scenarios,
        .original_arithmetic = b->is_original,
        .soft_storage = is_whole && raw->storage_bounds != 0,
        .cycle_rounds = (uint32_t)raw->cycle_rounds,
        .is_multi_cut = is_whole && raw->cut_formulation == COBRE_CUT_MULTI,
        .backend = (cobre_backend)raw->backend,
        .selection = selection_of(raw),
        .policy = policy_of(raw),
        .estimation = estimation_of(raw),
        .inner_bound = {
            .enabled = is_whole && raw->upper_bound_enabled,
            .first_iteration = (uint32_t)raw->upper_bound_first,
            .interval = (uint32_t)raw->upper_bound_interval,
            .fallback = raw->lipschitz_fallback,
            .scale = raw->lipschitz_scale,
        },
        .export_states = raw->export_states,
        .export_stochastic = raw->export_stochastic,
    };
    set_rules(b, config);
    set_sources(b, config);
}
