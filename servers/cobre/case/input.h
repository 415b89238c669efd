/**
 * input.h - the contents of a case's files, unresolved.
 *
 * Ids are not indices, absent values stay absent (COBRE_ABSENT, NAN, NULL), overrides are not
 * applied. Layer 2 fills the input, the later layers check it, and assemble.c builds the case from
 * it. Registries are sorted by id; each of their records begins with a cobre_entity.
 */
#ifndef COBRE_CASE_INPUT_H
#define COBRE_CASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

#include "case/case.h"
#include "case/expression.h"
#include "case/inventory.h"
#include "findings/report.h"

/* ---- config.json ----------------------------------------------------------------------------- */

enum { COBRE_IN_SAMPLE, COBRE_OUT_OF_SAMPLE, COBRE_EXTERNAL, COBRE_HISTORICAL };
enum { COBRE_POLICY_FRESH, COBRE_POLICY_WARM_START, COBRE_POLICY_RESUME };
enum { COBRE_CUT_SINGLE, COBRE_CUT_MULTI };

typedef struct cobre_raw_rule {
    int64_t type; /* cobre_rule_kind */
    int64_t limit, iterations, replications, period, bound_window;
    double seconds, tolerance, distance_tol, bound_tol;
} cobre_raw_rule;

typedef struct cobre_raw_source {
    const mcp_json *json; /* NULL: the section has none */
    int64_t seed, inflow, load, ncs;
    const mcp_json *historical_years;
} cobre_raw_source;

typedef struct cobre_raw_config {
    const mcp_json *json;
    bool training_enabled, has_tree_seed;
    int64_t tree_seed, forward_passes;
    const mcp_json *rules_json;
    cobre_raw_rule *rules;
    size_t rule_count;
    const char *stopping_mode;
    int64_t cut_formulation;
    int64_t backend; /* cobre_backend */
    const mcp_json *forward_pass;
    bool cut_selection_enabled;
    int64_t cut_method, cut_threshold, cut_memory_window, cut_check_frequency, cut_basis_window,
        cut_max_active;
    double cut_epsilon, cut_tolerance;
    cobre_raw_source training_source, simulation_source;
    int64_t inflow_method;
    int64_t compatibility, storage_bounds, cycle_rounds;
    bool simulation_enabled;
    int64_t scenarios, policy_type;
    const char *policy_path;
    int64_t policy_mode;
    bool validate_compatibility, checkpoints, store_basis;
    int64_t first_checkpoint, checkpoint_interval;
    const mcp_json *boundary;
    const char *boundary_path;
    int64_t boundary_stage;
    bool export_states, export_stochastic;
    int64_t max_order, order_selection, min_observations;
    double max_coefficient;
    bool upper_bound_enabled;
    int64_t upper_bound_first, upper_bound_interval;
    double lipschitz_fallback, lipschitz_scale;
    const char *lipschitz_mode; /* NULL: auto */
} cobre_raw_config;

enum { COBRE_SELECT_PACF, COBRE_SELECT_PACF_ANNUAL, COBRE_SELECT_FIXED };

/** The beginning of every record of a registry. */
typedef struct cobre_entity {
    int64_t id;
    const char *name;
} cobre_entity;

/* ---- stages.json ----------------------------------------------------------------------------- */

typedef struct cobre_raw_stage {
    cobre_entity head; /* without a name */
    cobre_date start, end;
    int64_t season;
    const mcp_json *blocks_json, *risk_json;
    cobre_block *blocks;
    size_t block_count;
    const mcp_json *state_variables;
    bool storage_state, lag_state;
    int64_t block_mode, sampling, openings;
    bool is_cvar;
    double alpha, lambda;
    bool is_study; /* from `stages`, id >= 0 */
} cobre_raw_stage;

typedef struct cobre_raw_transition {
    int64_t source, target;
    double probability, rate;
} cobre_raw_transition;

typedef struct cobre_raw_graph {
    bool is_cyclic;
    int64_t type;
    double rate;
    cobre_raw_transition *transitions;
    size_t transition_count;
} cobre_raw_graph;

typedef struct cobre_raw_season {
    int64_t id, month_start, day_start, month_end, day_end;
    const char *label;
} cobre_raw_season;

/* ---- system/ --------------------------------------------------------------------------------- */

typedef struct cobre_raw_bus {
    cobre_entity head;
    const mcp_json *segments_json;
    cobre_deficit_segment *segments;
    size_t segment_count;
} cobre_raw_bus;

typedef struct cobre_raw_line {
    cobre_entity head;
    int64_t source, target;
    double direct, reverse, exchange_cost, losses;
    int64_t entry, exit;
} cobre_raw_line;

/* The violation and usage costs of a hydro, in the order of the override file. */
typedef enum cobre_cost {
    /* clang-format off */
    COBRE_COST_SPILLAGE, COBRE_COST_FPHA_TURBINED, COBRE_COST_DIVERSION, COBRE_COST_STORAGE_BELOW,
    COBRE_COST_FILLING_TARGET, COBRE_COST_TURBINED_BELOW, COBRE_COST_OUTFLOW_BELOW,
    COBRE_COST_OUTFLOW_ABOVE, COBRE_COST_GENERATION_BELOW, COBRE_COST_EVAPORATION,
    COBRE_COST_WITHDRAWAL,
    COBRE_COST_OVERRIDES,       /* a stage can override those above */
    COBRE_COST_INFLOW = COBRE_COST_OVERRIDES,
    COBRE_COST_ENTITY,          /* a hydro can set those above */
    COBRE_COST_WITHDRAWAL_POS = COBRE_COST_ENTITY, COBRE_COST_WITHDRAWAL_NEG,
    COBRE_COST_EVAPORATION_POS, COBRE_COST_EVAPORATION_NEG,
    /* clang-format on */
    COBRE_COST_COUNT
} cobre_cost;

typedef struct cobre_raw_hydro {
    cobre_entity head;
    int64_t bus, downstream, entry, exit;
    double min_storage, max_storage, min_outflow, max_outflow;
    int64_t model;
    double productivity, min_turbined, max_turbined, min_generation, max_generation;
    const mcp_json *tailrace_json, *losses_json, *efficiency_json, *evaporation_json, *diversion,
        *filling;
    cobre_tailrace_kind tailrace;
    double *tailrace_coefficients;
    cobre_point *tailrace_points;
    size_t tailrace_count; /* of either */
    cobre_head_loss loss;
    double loss_value, efficiency;                        /* efficiency NAN: none */
    double evaporation_mm[12], evaporation_reference[12]; /* NAN: not given */
    int64_t diversion_downstream;
    double diversion_max;
    int64_t filling_start;
    double filling_inflow;
    double costs[COBRE_COST_COUNT]; /* NAN: the global one */
} cobre_raw_hydro;

enum { COBRE_MODEL_CONSTANT, COBRE_MODEL_LINEARIZED, COBRE_MODEL_FPHA };

/** One range of stages, or one season, of a production model. */
typedef struct cobre_raw_range {
    int64_t start, end; /* stage ids, end COBRE_ABSENT: open; or `start` the season */
    const char *model;  /* "fpha" selects planes */
    const mcp_json *config_json;
    int64_t source; /* of the planes: index into precomputed, computed */
    int64_t volume_points, turbine_points, spillage_points, max_planes;
    const mcp_json *window_json;
    double volume_min, volume_max, percentile_min, percentile_max;
    double productivity; /* override; NAN: none */
} cobre_raw_range;

enum { COBRE_MODEL_BY_STAGE, COBRE_MODEL_BY_SEASON };
enum { COBRE_PLANES_PRECOMPUTED, COBRE_PLANES_COMPUTED };

/** A hydro's entry of hydro_production_models.json. */
typedef struct cobre_raw_model {
    int64_t hydro, mode;
    const char *default_model;
    cobre_raw_range *ranges;
    size_t range_count;
} cobre_raw_model;

typedef struct cobre_raw_thermal {
    cobre_entity head;
    int64_t bus, entry, exit;
    double cost, min, max;
    const mcp_json *gnl;
} cobre_raw_thermal;

typedef struct cobre_raw_source_plant { /* a non-controllable source */
    cobre_entity head;
    int64_t bus, entry, exit;
    double max, curtailment_cost;
} cobre_raw_source_plant;

typedef struct cobre_raw_station { /* a pumping station */
    cobre_entity head;
    int64_t bus, source, destination, entry, exit;
    double consumption, min, max;
} cobre_raw_station;

enum { COBRE_CONTRACT_IMPORT, COBRE_CONTRACT_EXPORT };

typedef struct cobre_raw_contract {
    cobre_entity head;
    int64_t bus, type, entry, exit;
    double price, min, max;
} cobre_raw_contract;

typedef struct cobre_raw_constraint { /* a generic constraint */
    cobre_entity head;
    const char *expression;
    int64_t sense;
    bool slack_enabled;
    double slack_penalty;
    cobre_raw_term *terms;
    size_t term_count;
} cobre_raw_constraint;

typedef struct cobre_registry_items {
    void *items; /* sorted by id */
    size_t count;
    size_t size; /* of one */
} cobre_registry_items;

typedef struct cobre_raw_penalties {
    cobre_deficit_segment *segments;
    size_t segment_count;
    double excess_cost, exchange_cost, curtailment_cost;
    double costs[COBRE_COST_COUNT]; /* optional ones resolved */
} cobre_raw_penalties;

/* ---- initial_conditions.json and factors ----------------------------------------------------- */

typedef struct cobre_raw_storage {
    int64_t hydro;
    double value;
} cobre_raw_storage;

typedef struct cobre_raw_past {
    int64_t hydro;
    double *values;   /* most recent first */
    int64_t *seasons; /* NULL: not given */
    size_t count;
} cobre_raw_past;

typedef struct cobre_raw_recent {
    int64_t hydro;
    cobre_date start, end;
    double value;
} cobre_raw_recent;

/** One block's factors of an entity in a stage; `reverse` is used by lines alone. */
typedef struct cobre_raw_factor {
    int64_t entity, stage, block;
    double factor, reverse;
    int64_t entry; /* its entry of the file */
} cobre_raw_factor;

typedef struct cobre_raw_factors {
    cobre_raw_factor *items; /* in file order */
    size_t count;
} cobre_raw_factors;

/* ---- correlation.json ------------------------------------------------------------------------ */

typedef struct cobre_raw_member {
    int64_t type; /* cobre_noise_class */
    int64_t id;
} cobre_raw_member;

typedef struct cobre_raw_group {
    const char *name;
    const mcp_json *entities_json, *matrix_json;
    cobre_raw_member *members;
    size_t count;
    double *matrix; /* [row * count + column] */
} cobre_raw_group;

typedef struct cobre_raw_profile {
    const char *name;
    cobre_raw_group *groups;
    size_t group_count;
} cobre_raw_profile;

typedef struct cobre_raw_schedule {
    int64_t stage;
    const char *profile_name;
    size_t profile; /* index */
} cobre_raw_schedule;

typedef struct cobre_raw_correlation {
    bool present;
    const char *method;
    cobre_raw_profile *profiles;
    size_t profile_count;
    cobre_raw_schedule *schedule;
    size_t schedule_count;
} cobre_raw_correlation;

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct cobre_input {
    mcp_arena *arena;
    cobre_report *report;
    bool present[COBRE_FILE_COUNT];
    size_t entries[COBRE_FILE_COUNT]; /* rows or entries of an optional file */

    cobre_raw_config config;
    cobre_raw_graph graph;
    cobre_raw_stage *stages; /* both kinds, sorted by id */
    size_t stage_count;
    cobre_raw_season *seasons;
    size_t season_count;
    bool has_seasons;
    int64_t cycle; /* cobre_cycle */
    cobre_raw_penalties penalties;
    cobre_registry_items registries[COBRE_REGISTRY_COUNT];

    cobre_raw_storage *storages, *filling_storages;
    size_t storage_count, filling_storage_count;
    cobre_raw_past *past_inflows;
    size_t past_inflow_count;
    cobre_raw_recent *recent;
    size_t recent_count;
    cobre_raw_model *models; /* sorted by hydro */
    size_t model_count;
    cobre_raw_correlation correlation;
    cobre_raw_factors load_factors, exchange_factors, source_factors;
    cobre_table tables[COBRE_FILE_COUNT]; /* of the Parquet files */
} cobre_input;

/** The production model that holds in one stage. */
typedef struct cobre_raw_choice {
    bool is_fpha, is_computed;
    double productivity;          /* of the constant model; NAN: the hydro gives none */
    const cobre_raw_range *range; /* NULL: none holds */
} cobre_raw_choice;

/**
 * The model of a hydro in a stage: by stage the first range that contains it, else the entity's
 * constant productivity; by season the first entry of the season, else the default model; without
 * an entry the entity's model.
 *
 * @param model NULL: the hydro has no entry
 */
cobre_raw_choice cobre_model_choice(const cobre_raw_hydro *hydro, const cobre_raw_model *model,
                                    int64_t stage, int64_t season);

/** The production model of a hydro; NULL: none. */
const cobre_raw_model *cobre_input_model(const cobre_input *input, int64_t hydro);

/** Whether some study stage has inflow lags as states while inflows are autoregressive. */
bool cobre_input_asks_for_lags(const cobre_input *input);

/** Whether a production model's word selects planes; any other means constant productivity. */
bool cobre_model_is_fpha(const char *word);

/** The record at an index of a registry. */
const cobre_entity *cobre_registry_at(const cobre_registry_items *items, size_t index);

/** The record of that id in a registry (a study stage for COBRE_STUDY_STAGES), or NULL. */
const cobre_entity *cobre_input_find(const cobre_input *input, cobre_registry registry, int64_t id);

/** The index of the record in its registry; COBRE_NONE when there is none. */
size_t cobre_input_index(const cobre_input *input, cobre_registry registry, int64_t id);

/** Sort a registry's records by id; false, with the id, when one occurs twice. */
bool cobre_registry_sort(void *items, size_t count, size_t size, int64_t *duplicate);

#endif
