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
    COBRE_RULE_BOUND_STALLING,
    COBRE_RULE_SIMULATION
} cobre_rule_kind;

typedef struct cobre_stopping_rule {
    cobre_rule_kind kind;
    int64_t limit;    /* iteration_limit: iterations; bound_stalling: window; simulation:
                         bound_window */
    double seconds;   /* time_limit */
    double tolerance; /* bound_stalling; simulation: bound_tol */
    uint32_t replications, period; /* simulation */
    double distance_tolerance;     /* simulation */
} cobre_stopping_rule;

typedef enum cobre_inflow_method {
    COBRE_INFLOW_PENALTY,
    COBRE_INFLOW_NONE,
    COBRE_INFLOW_TRUNCATION,
    COBRE_INFLOW_TRUNCATION_WITH_PENALTY
} cobre_inflow_method;

/** Where the noises of forward paths come from (case page, 2.4). */
typedef enum cobre_scheme {
    COBRE_SCHEME_IN_SAMPLE,
    COBRE_SCHEME_OUT_OF_SAMPLE,
    COBRE_SCHEME_EXTERNAL,
    COBRE_SCHEME_HISTORICAL /* inflow alone */
} cobre_scheme;

typedef struct cobre_scenario_source {
    uint64_t seed; /* absolute value; used by schemes other than in_sample; simulation: that of the
                      training where it gives one (method page, 9) */
    cobre_scheme inflow, load, ncs;
    const int32_t *years; /* historical: the years allowed, ascending; NULL: all valid ones */
    size_t year_count;
} cobre_scenario_source;

typedef enum cobre_selection_method {
    COBRE_SELECTION_NONE,
    COBRE_SELECTION_LEVEL1,
    COBRE_SELECTION_LML1,
    COBRE_SELECTION_DOMINATION
} cobre_selection_method;

typedef struct cobre_cut_selection { /* case page, 2.3 */
    cobre_selection_method method;   /* none: only the budget works */
    uint32_t threshold;              /* level1 */
    uint32_t memory_window;          /* lml1 */
    double epsilon;                  /* domination */
    uint32_t check_frequency;        /* > 0 */
    double activity_tolerance;
    uint32_t max_active; /* per stage; 0: no budget */
} cobre_cut_selection;

typedef enum cobre_policy_mode {
    COBRE_MODE_FRESH,
    COBRE_MODE_WARM_START,
    COBRE_MODE_RESUME
} cobre_policy_mode;

typedef struct cobre_policy_config { /* case page, 2.7; output page, 6.3 */
    const char *path;                /* "./policy" */
    cobre_policy_mode mode;
    bool validate_compatibility;
    bool checkpoints; /* default true */
    uint32_t first_checkpoint;
    uint32_t checkpoint_interval; /* iterations; 0: when the last one is 30 s old */
    bool store_basis;
    const char *boundary_path; /* NULL: none */
    uint32_t boundary_stage;   /* index inside the source policy */
} cobre_policy_config;

typedef enum cobre_order_selection {
    COBRE_ORDER_PACF,
    COBRE_ORDER_PACF_ANNUAL
} cobre_order_selection;

typedef struct cobre_estimation { /* case page, 2.9 */
    uint32_t max_order;
    cobre_order_selection order;
    uint32_t min_observations;
    double max_coefficient; /* INFINITY: no limit */
} cobre_estimation;

typedef struct cobre_inner_bound { /* upper_bound_evaluation; method page, 16 */
    bool enabled;
    uint32_t first_iteration, interval; /* 1 and 10 */
    double fallback; /* the Lipschitz constant where none is derived; NAN: none */
    double scale;    /* 1 */
} cobre_inner_bound;

/* training.solver.backend: what solves the stage programs. */
typedef enum cobre_backend {
    COBRE_BACKEND_AUTO, /* by the size of each program */
    COBRE_BACKEND_OWN,  /* the server's dual simplex (lp/dual) */
    COBRE_BACKEND_CLP
} cobre_backend;

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
    bool original_arithmetic; /* modeling.compatibility "cobre-0.5" */
    bool soft_storage;        /* modeling.storage_bounds "soft" */
    uint32_t cycle_rounds;    /* >= 1 */
    bool is_multi_cut;
    cobre_backend backend;
    cobre_cut_selection selection;
    cobre_scenario_source training_source, simulation_source;
    cobre_policy_config policy;
    cobre_estimation estimation;
    cobre_inner_bound inner_bound;
    bool export_states, export_stochastic;
} cobre_config;

/* ---- stages.json ---------------------------------------------------------------------- */

typedef struct cobre_block {
    uint32_t id; /* = its index */
    const char *name;
    double hours; /* > 0 */
} cobre_block;

/** A civil day by its number, 0 on 1970-01-01. */
typedef int32_t cobre_day;

typedef enum cobre_sampling {
    COBRE_SAMPLING_SAA,
    COBRE_SAMPLING_LHS,
    COBRE_SAMPLING_SOBOL,
    COBRE_SAMPLING_HALTON,
    COBRE_SAMPLING_SELECTIVE,
    COBRE_SAMPLING_HISTORICAL
} cobre_sampling;

typedef struct cobre_stage {
    int32_t id;
    const char *start_date, *end_date; /* YYYY-MM-DD; the end is exclusive */
    cobre_day start, end;
    int32_t days; /* between the two */
    cobre_sampling sampling;
    bool is_chronological; /* block_mode */
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

/** A pre-study stage: a place in time for lagged statistics. */
typedef struct cobre_pre_stage {
    int32_t id; /* < 0 */
    cobre_day start, end;
    bool has_season;
    uint32_t season_id;
} cobre_pre_stage;

typedef enum cobre_cycle {
    COBRE_CYCLE_MONTHLY,
    COBRE_CYCLE_WEEKLY,
    COBRE_CYCLE_CUSTOM
} cobre_cycle;

typedef struct cobre_season {
    uint32_t id;
    const char *label;
    uint32_t month_start, day_start, month_end, day_end; /* from 1; defaults filled in */
} cobre_season;

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

/** A point of a table x -> y; tables are sorted by x. */
typedef struct cobre_point {
    double x, y;
} cobre_point;

typedef enum cobre_tailrace_kind {
    COBRE_TAILRACE_NONE,
    COBRE_TAILRACE_POLYNOMIAL, /* height = sum of coefficients[k] * outflow^k */
    COBRE_TAILRACE_PIECEWISE   /* points: outflow, height */
} cobre_tailrace_kind;

typedef enum cobre_head_loss {
    COBRE_LOSS_NONE,
    COBRE_LOSS_FACTOR,
    COBRE_LOSS_CONSTANT
} cobre_head_loss;

/** A row of hydro_geometry: volumes strictly ascending. */
typedef struct cobre_geometry {
    double volume_hm3, height_m, area_km2;
} cobre_geometry;

/** A plane of fpha_hyperplanes: G <= kappa * gamma_0 + gamma_v * mean storage + gamma_q * turbined
 *  + gamma_s * spilled. */
typedef struct cobre_hyperplane {
    size_t stage; /* index; COBRE_NONE: all stages without rows of their own */
    int32_t plane_id;
    double gamma_0, gamma_v, gamma_q, gamma_s, kappa;
} cobre_hyperplane;

/** How computed planes are fitted (case page, 6.9). The window's limits, hm3 and shares of the
 *  storage range from 0 to 1, are NAN when not given. */
typedef struct cobre_fpha_fit {
    bool is_computed; /* else precomputed */
    uint32_t volume_points, turbine_points, spillage_points, max_planes;
    double volume_min, volume_max, percentile_min, percentile_max;
} cobre_fpha_fit;

typedef struct cobre_hydro {
    int32_t id;
    const char *name;
    size_t bus;
    size_t downstream;           /* hydro or COBRE_NONE */
    size_t diversion_downstream; /* hydro or COBRE_NONE */
    double diversion_max_m3s;    /* 0 without a diversion */
    double productivity;         /* MW per m3/s; 0 for an fpha model without one */
    double initial_storage_hm3;  /* of `storage` or of `filling_storage` */
    double inflow_nonnegativity_cost;
    double min_storage, max_storage, max_turbined; /* of the entity, before stage overrides */

    const cobre_geometry *geometry;
    size_t geometry_count;
    cobre_tailrace_kind tailrace;
    const double *tailrace_coefficients;
    const cobre_point *tailrace_points;
    size_t tailrace_count; /* of either */
    cobre_head_loss loss;
    double loss_value;
    double efficiency; /* NAN when not given */
    bool evaporates;
    double evaporation_mm[12];
    double evaporation_reference[12]; /* hm3; NAN: the middle of the entity's bounds */
    const cobre_hyperplane *planes;   /* by stage, then plane_id */
    size_t plane_count;

    bool has_filling;
    size_t filling_start;      /* stage index */
    const double *past_inflow; /* most recent first */
    size_t past_inflow_count;
} cobre_hydro;

/** A non-controllable source. */
typedef struct cobre_source {
    int32_t id;
    const char *name;
    size_t bus;
    double max_mw;
    bool is_stochastic; /* has statistics */
} cobre_source;

typedef struct cobre_station { /* a pumping station */
    int32_t id;
    const char *name;
    size_t bus, source, destination; /* hydros */
    double consumption;              /* MW per m3/s */
} cobre_station;

typedef struct cobre_contract {
    int32_t id;
    const char *name;
    size_t bus;
    bool is_export;
} cobre_contract;

/* The values of one stage, overrides resolved. Those of an element that is absent in the stage are
 * as if it were there. */

typedef enum cobre_hydro_phase {
    COBRE_HYDRO_OPERATING,
    COBRE_HYDRO_FILLING, /* filling_start <= stage < entry */
    COBRE_HYDRO_ABSENT   /* what arrives flows on */
} cobre_hydro_phase;

typedef struct cobre_hydro_stage {
    cobre_hydro_phase phase;
    bool is_last_filling;                  /* the last stage of the filling */
    bool is_soft;                          /* the minimum storage may be violated at a cost */
    bool is_fpha;                          /* else constant productivity */
    double productivity;                   /* override resolved */
    const cobre_fpha_fit *fit;             /* NULL unless is_fpha */
    double min_storage, max_storage;       /* hm3 */
    double min_turbined, max_turbined;     /* m3/s */
    double min_outflow, max_outflow;       /* m3/s; max INFINITY for none */
    double min_generation, max_generation; /* MW */
    double withdrawal;                     /* m3/s */
    double filling_inflow;                 /* m3/s */
    double inflow_mean, inflow_std;        /* m3/s; 0 without statistics */
    /* costs; per hm3 for storages, per (m3/s)h for flows, per MWh for generation */
    double spillage_cost, diversion_cost;
    double turbined_below_cost, outflow_below_cost, outflow_above_cost, generation_below_cost;
    double withdrawal_pos_cost, withdrawal_neg_cost;
    double evaporation_pos_cost, evaporation_neg_cost;
    double storage_below_cost, filling_target_cost, fpha_turbined_cost;
} cobre_hydro_stage;

typedef struct cobre_thermal_stage {
    double min_mw, max_mw, cost_per_mwh;
    bool is_absent; /* outside [entry, exit) */
} cobre_thermal_stage;

typedef struct cobre_line_stage {
    double direct_mw, reverse_mw, exchange_cost;
    const double *direct_factor, *reverse_factor; /* by block; NULL: 1 */
    bool is_absent;                               /* outside [entry, exit) */
} cobre_line_stage;

typedef struct cobre_bus_stage {
    double load_mean, load_std; /* MW; 0 without statistics */
    double excess_cost;
    const double *load_factor; /* by block; NULL: 1 */
} cobre_bus_stage;

typedef struct cobre_source_stage {
    bool is_absent;      /* outside [entry, exit) */
    double available_mw; /* without statistics */
    double mean, std;    /* share of max_mw; with statistics */
    double curtailment_cost;
    const double *factor; /* by block; NULL: 1 */
} cobre_source_stage;

typedef struct cobre_station_stage {
    double min_m3s, max_m3s;
    bool is_absent; /* outside [entry, exit) */
} cobre_station_stage;

typedef struct cobre_contract_stage {
    double min_mw, max_mw, price_per_mwh;
    bool is_absent; /* outside [entry, exit) */
} cobre_contract_stage;

/* ---- generic constraints ------------------------------------------------------------------ */

typedef enum cobre_variable {
    /* clang-format off */
    COBRE_VAR_HYDRO_STORAGE, COBRE_VAR_HYDRO_EVAPORATION, COBRE_VAR_HYDRO_WITHDRAWAL,
    COBRE_VAR_HYDRO_TURBINED, COBRE_VAR_HYDRO_SPILLAGE, COBRE_VAR_HYDRO_DIVERSION,
    COBRE_VAR_HYDRO_OUTFLOW, COBRE_VAR_HYDRO_GENERATION, COBRE_VAR_THERMAL_GENERATION,
    COBRE_VAR_LINE_DIRECT, COBRE_VAR_LINE_REVERSE, COBRE_VAR_LINE_EXCHANGE,
    COBRE_VAR_BUS_DEFICIT, COBRE_VAR_BUS_EXCESS, COBRE_VAR_PUMPING_FLOW,
    COBRE_VAR_PUMPING_POWER, COBRE_VAR_CONTRACT_IMPORT, COBRE_VAR_CONTRACT_EXPORT,
    COBRE_VAR_SOURCE_GENERATION, COBRE_VAR_SOURCE_CURTAILMENT,
    /* clang-format on */
    COBRE_VAR_COUNT
} cobre_variable;

typedef struct cobre_term {
    cobre_variable variable;
    size_t entity; /* index in the registry of the variable */
    size_t block;  /* COBRE_NONE: the block of the row */
    double coefficient;
} cobre_term;

typedef enum cobre_sense { COBRE_SENSE_GE, COBRE_SENSE_LE, COBRE_SENSE_EQ } cobre_sense;

typedef struct cobre_constraint {
    int32_t id;
    const char *name;
    cobre_sense sense;
    bool has_slack;
    double penalty; /* per unit and hour */
    const cobre_term *terms;
    size_t term_count;
} cobre_constraint;

/** One row of a constraint: sorted by stage, constraint, block. A null block of the file has become
 *  one row per block of the stage. */
typedef struct cobre_constraint_row {
    size_t stage, constraint, block;
    double bound;
} cobre_constraint_row;

/* ---- scenarios/ ---------------------------------------------------------------------------- */

/* The rows of the stochastic files, ids resolved to indices, stage ids kept: statistics may belong
 * to pre-study stages. Sorted by the members in their order. */

typedef struct cobre_inflow_stats {
    size_t hydro;
    int32_t stage_id;
    double mean, std;
} cobre_inflow_stats;

typedef struct cobre_ar_row { /* coefficient of one lag, standardized */
    size_t hydro;
    int32_t stage_id;
    uint32_t lag; /* from 1 */
    double coefficient, residual_ratio;
} cobre_ar_row;

typedef struct cobre_annual_row {
    size_t hydro;
    int32_t stage_id;
    double coefficient, mean, std;
} cobre_annual_row;

typedef struct cobre_observation { /* of inflow_history */
    size_t hydro;
    cobre_day date;
    double value; /* m3/s */
} cobre_observation;

typedef struct cobre_recent { /* of recent_observations */
    size_t hydro;
    cobre_day start, end; /* the end is exclusive */
    double value;         /* m3/s */
} cobre_recent;

/** External scenarios of one class: stage by stage. */
typedef struct cobre_external {
    size_t entities;        /* hydros, buses or sources of the case */
    const uint32_t *counts; /* by stage: its scenarios; 0: none */
    /** By stage: [scenario * entities + entity]; NAN where the file has no row. */
    const double *const *values;
} cobre_external;

typedef enum cobre_noise_class {
    COBRE_CLASS_INFLOW,
    COBRE_CLASS_LOAD,
    COBRE_CLASS_NCS
} cobre_noise_class;

typedef struct cobre_correlation_group {
    cobre_noise_class type;
    const char *name;
    const size_t *members; /* indices of hydros, buses or sources */
    size_t count;
    const double *matrix; /* [row * count + column] */
} cobre_correlation_group;

typedef struct cobre_correlation_profile {
    const char *name;
    const cobre_correlation_group *groups;
    size_t group_count;
} cobre_correlation_profile;

typedef struct cobre_scenarios {
    const cobre_inflow_stats *inflow_stats;
    size_t inflow_stats_count;
    const cobre_ar_row *ar;
    size_t ar_count;
    const cobre_annual_row *annual;
    size_t annual_count;
    const cobre_observation *history;
    size_t history_count;
    const cobre_recent *recent;
    size_t recent_count;
    cobre_external inflow, load, ncs; /* counts NULL: no file */

    bool has_correlation; /* correlation.json is there */
    const cobre_correlation_profile *profiles;
    size_t profile_count;
    size_t default_profile;
    const size_t *profile_of_stage; /* by stage, the schedule applied */

    /** noise_openings by stage: [opening * (hydros + stochastic buses) + entity]; NULL: no file. */
    const double *const *openings;
    const uint32_t *opening_counts; /* by stage */
} cobre_scenarios;

/* ---- the whole -------------------------------------------------------------------------- */

typedef struct cobre_case {
    mcp_arena *arena;      /* owns everything here, this struct too */
    const char *directory; /* as given, for messages */
    const char *name;      /* its last segment */
    cobre_config config;

    const cobre_stage *stages;
    size_t stage_count;
    const cobre_pre_stage *pre_stages; /* by id */
    size_t pre_stage_count;
    const cobre_season *seasons;
    size_t season_count;
    bool has_seasons; /* season_definitions is there */
    cobre_cycle cycle;
    bool is_cyclic;     /* else the horizon is finite */
    size_t cycle_start; /* cyclic: the stage that follows the last one */

    const cobre_bus *buses;
    size_t bus_count;
    const cobre_line *lines;
    size_t line_count;
    const cobre_hydro *hydros;
    size_t hydro_count;
    const cobre_thermal *thermals;
    size_t thermal_count;
    const cobre_source *sources;
    size_t source_count;
    const cobre_station *stations;
    size_t station_count;
    const cobre_contract *contracts;
    size_t contract_count;
    const cobre_constraint *constraints;
    size_t constraint_count;
    const cobre_constraint_row *constraint_rows;
    size_t constraint_row_count;

    const cobre_hydro_stage *hydro_stages;       /* [stage * hydro_count + hydro] */
    const cobre_thermal_stage *thermal_stages;   /* [stage * thermal_count + thermal] */
    const cobre_line_stage *line_stages;         /* [stage * line_count + line] */
    const cobre_bus_stage *bus_stages;           /* [stage * bus_count + bus] */
    const cobre_source_stage *source_stages;     /* [stage * source_count + source] */
    const cobre_station_stage *station_stages;   /* [stage * station_count + station] */
    const cobre_contract_stage *contract_stages; /* [stage * contract_count + contract] */
    const bool *bus_is_stochastic;               /* any std > 0 in any stage */
    cobre_scenarios scenarios;

    const char *const *files_present; /* of the 40 paths of the format, sorted */
    size_t file_count;
    int64_t entities_validated; /* registries, stages and generic constraints together */
} cobre_case;

#endif
