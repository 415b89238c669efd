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
    const mcp_json *forward_pass;
    bool cut_selection_enabled;
    int64_t cut_method, cut_check_frequency, cut_basis_window, cut_max_active;
    cobre_raw_source training_source, simulation_source;
    int64_t inflow_method;
    int64_t compatibility, storage_bounds, cycle_rounds;
    bool simulation_enabled;
    int64_t scenarios, policy_type;
    const char *policy_path;
    int64_t policy_mode;
    const mcp_json *boundary, *checkpointing;
    bool export_states, export_stochastic;
    int64_t order_selection;
    bool upper_bound_enabled;
} cobre_raw_config;

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
    bool lag_state;
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
    const mcp_json *tailrace, *losses, *efficiency, *evaporation, *diversion, *filling;
    int64_t diversion_downstream;
    double diversion_max;
    int64_t filling_start;
    double filling_inflow;
    double costs[COBRE_COST_COUNT]; /* NAN: the global one */
} cobre_raw_hydro;

enum { COBRE_MODEL_CONSTANT, COBRE_MODEL_LINEARIZED, COBRE_MODEL_FPHA };

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
    cobre_raw_penalties penalties;
    cobre_registry_items registries[COBRE_REGISTRY_COUNT];

    cobre_raw_storage *storages, *filling_storages;
    size_t storage_count, filling_storage_count;
    cobre_raw_storage *past_inflows; /* the hydros that have some */
    size_t past_inflow_count;
    cobre_raw_factors load_factors, exchange_factors, source_factors;
    cobre_table tables[COBRE_FILE_COUNT]; /* of the Parquet files */
} cobre_input;

/** The record at an index of a registry. */
const cobre_entity *cobre_registry_at(const cobre_registry_items *items, size_t index);

/** The record of that id in a registry (a study stage for COBRE_STUDY_STAGES), or NULL. */
const cobre_entity *cobre_input_find(const cobre_input *input, cobre_registry registry, int64_t id);

/** The index of the record in its registry; COBRE_NONE when there is none. */
size_t cobre_input_index(const cobre_input *input, cobre_registry registry, int64_t id);

/** Sort a registry's records by id; false, with the id, when one occurs twice. */
bool cobre_registry_sort(void *items, size_t count, size_t size, int64_t *duplicate);

#endif
