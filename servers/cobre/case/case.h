/**
 * case.h - a case directory in memory, for the solver, the writers and the tools.
 *
 * A case is loaded once, is never changed, and belongs to one arena. Registries are sorted by id,
 * so that nothing depends on the order in the files; entities refer to one another by index into
 * these registries, COBRE_NONE for none. Stages here are the study stages (id >= 0) in id order; a
 * stage's index is its position. Arrays over stages and entities are flat: [stage * count +
 * entity]. Units: MW, MWh, m3/s, hm3, hours, currency. Defaults are filled in, and overrides of
 * single stages are resolved.
 *
 * Source: the case-format page; seed SS2.1, SS2.7.
 */
#ifndef COBRE_CASE_H
#define COBRE_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

#define COBRE_NONE SIZE_MAX

/* ---- config.json ---------------------------------------------------------------------- */

typedef enum cobre_rule_kind {
    COBRE_RULE_ITERATION_LIMIT,
    COBRE_RULE_TIME_LIMIT,
    COBRE_RULE_BOUND_STALLING
} cobre_rule_kind;

typedef struct cobre_stopping_rule {
    cobre_rule_kind kind;
    int64_t limit;    /* iteration_limit: iterations; bound_stalling: window */
    double seconds;   /* time_limit */
    double tolerance; /* bound_stalling */
} cobre_stopping_rule;

typedef enum cobre_inflow_method {
    COBRE_INFLOW_PENALTY,
    COBRE_INFLOW_NONE,
    COBRE_INFLOW_TRUNCATION,
    COBRE_INFLOW_TRUNCATION_WITH_PENALTY
} cobre_inflow_method;

typedef struct cobre_config {
    const mcp_json *json; /* config.json unchanged */
    bool training_enabled;
    bool has_tree_seed;
    int64_t tree_seed;                /* as configured */
    uint64_t seed;                    /* in effect: its absolute value, 42 without one */
    uint32_t forward_passes;          /* >= 1 */
    const cobre_stopping_rule *rules; /* never empty: iteration_limit 100 where the file has none */
    size_t rule_count;
    bool stop_when_all;      /* stopping_mode "all" */
    uint32_t max_iterations; /* largest iteration_limit; 100 without one */
    bool has_iteration_limit;
    cobre_inflow_method inflow_method;
    bool simulation_enabled; /* false also for num_scenarios 0 */
    uint32_t simulation_scenarios;
    const char *policy_path;  /* "./policy" */
    bool original_arithmetic; /* modeling.compatibility "cobre-0.5" */
} cobre_config;

/* ---- stages.json ---------------------------------------------------------------------- */

typedef struct cobre_block {
    uint32_t id; /* = its index */
    const char *name;
    double hours; /* > 0 */
} cobre_block;

typedef struct cobre_stage {
    int32_t id;
    const char *start_date, *end_date; /* YYYY-MM-DD; the end is exclusive */
    int32_t days;                      /* between the two */
    bool has_season;
    uint32_t season_id;
    const cobre_block *blocks;
    size_t block_count; /* >= 1 */
    double hours;       /* sum over the blocks */
    uint32_t openings;  /* num_scenarios of the stage, > 0 */
    double discount;    /* d_t of the method page, section 6; 1 without a rate */
    bool is_cvar;       /* else expectation */
    double cvar_alpha, cvar_lambda;
} cobre_stage;

/* ---- system/ and penalties.json -------------------------------------------------------- */

typedef struct cobre_deficit_segment {
    double depth_mw; /* INFINITY for the last */
    double cost;     /* per MWh */
} cobre_deficit_segment;

typedef struct cobre_bus {
    int32_t id;
    const char *name;
    const cobre_deficit_segment *segments; /* its own, else the global ones */
    size_t segment_count;
} cobre_bus;

typedef struct cobre_line {
    int32_t id;
    const char *name;
    size_t source, target; /* buses */
    double direct_mw, reverse_mw, losses_percent;
} cobre_line;

typedef struct cobre_thermal {
    int32_t id;
    const char *name;
    size_t bus;
    double min_mw, max_mw, cost_per_mwh;
} cobre_thermal;

typedef struct cobre_hydro {
    int32_t id;
    const char *name;
    size_t bus;
    size_t downstream;           /* hydro or COBRE_NONE */
    size_t diversion_downstream; /* hydro or COBRE_NONE */
    double diversion_max_m3s;    /* 0 without a diversion */
    double productivity;         /* MW per m3/s */
    double initial_storage_hm3;
    double inflow_nonnegativity_cost;
} cobre_hydro;

/* The values of one stage, overrides resolved. */

typedef struct cobre_hydro_stage {
    double min_storage, max_storage;       /* hm3 */
    double min_turbined, max_turbined;     /* m3/s */
    double min_outflow, max_outflow;       /* m3/s; max INFINITY for none */
    double min_generation, max_generation; /* MW */
    double withdrawal;                     /* m3/s */
    double inflow_mean, inflow_std;        /* m3/s; 0 without statistics */
    /* costs; per hm3 for storages, per (m3/s)h for flows, per MWh for generation */
    double spillage_cost, diversion_cost;
    double turbined_below_cost, outflow_below_cost, outflow_above_cost, generation_below_cost;
    double withdrawal_pos_cost, withdrawal_neg_cost;
    double storage_below_cost, filling_target_cost, evaporation_cost, fpha_turbined_cost;
} cobre_hydro_stage;

typedef struct cobre_thermal_stage {
    double min_mw, max_mw, cost_per_mwh;
} cobre_thermal_stage;

typedef struct cobre_line_stage {
    double direct_mw, reverse_mw, exchange_cost;
    const double *direct_factor, *reverse_factor; /* by block; NULL: 1 */
} cobre_line_stage;

typedef struct cobre_bus_stage {
    double load_mean, load_std; /* MW; 0 without statistics */
    double excess_cost;
    const double *load_factor; /* by block; NULL: 1 */
} cobre_bus_stage;

/* ---- the whole -------------------------------------------------------------------------- */

typedef struct cobre_case {
    mcp_arena *arena;      /* owns everything here, this struct too */
    const char *directory; /* as given, for messages */
    const char *name;      /* its last segment */
    cobre_config config;

    const cobre_stage *stages;
    size_t stage_count;
    const cobre_bus *buses;
    size_t bus_count;
    const cobre_line *lines;
    size_t line_count;
    const cobre_hydro *hydros;
    size_t hydro_count;
    const cobre_thermal *thermals;
    size_t thermal_count;

    const cobre_hydro_stage *hydro_stages;     /* [stage * hydro_count + hydro] */
    const cobre_thermal_stage *thermal_stages; /* [stage * thermal_count + thermal] */
    const cobre_line_stage *line_stages;       /* [stage * line_count + line] */
    const cobre_bus_stage *bus_stages;         /* [stage * bus_count + bus] */
    const bool *bus_is_stochastic;             /* any std > 0 in any stage */

    const char *const *files_present; /* of the 40 paths of the format, sorted */
    size_t file_count;
    int64_t entities_validated; /* registries, stages and generic constraints together */
} cobre_case;

#endif
