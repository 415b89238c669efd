/*
 * schema.c - one row per column: name, type, nullability, unit, meaning.
 *
 * The writers fill their rows in this order, and variables.csv is this table as text. Names, types
 * and order are those of the output page, sections 3 to 5; spot_price and pumped_volume_hm3 have
 * their actual units, not those that the original prints.
 */
#include "results/schema.h"

#define I8 COLUMNS_I8, false
#define I32 COLUMNS_I32, false
#define I64 COLUMNS_I64, false
#define U32 COLUMNS_U32, false
#define U64 COLUMNS_U64, false
#define F64 COLUMNS_F64, false
#define BOOL COLUMNS_BOOL, false
#define STR COLUMNS_TEXT, false
#define I32_NULL COLUMNS_I32, true
#define F64_NULL COLUMNS_F64, true

#define STAGE                                                                                      \
    {                                                                                              \
        "stage_id", I32, "", "Stage, counted from 0"                                               \
    }
#define BLOCK                                                                                      \
    {                                                                                              \
        "block_id", I32_NULL, "", "Block of the stage, counted from 0; null for the whole stage"   \
    }
#define OPERATIVE_STATE                                                                            \
    {                                                                                              \
        "operative_state_code", I8, "", "Operative state, see codes.json"                          \
    }

static const results_field costs[] = {
    STAGE,
    BLOCK,
    { "total_cost", F64, "$", "Objective of the stage with the discounted future cost" },
    { "immediate_cost", F64, "$", "Cost of the stage itself" },
    { "future_cost", F64, "$", "Discounted cost-to-go" },
    { "discount_factor", F64, "", "Discount factor from the start of the study to this stage" },
    { "thermal_cost", F64, "$", "Thermal generation" },
    { "contract_cost", F64, "$", "Contracts" },
    { "deficit_cost", F64, "$", "Load not served" },
    { "excess_cost", F64, "$", "Generation in excess of the load" },
    { "storage_violation_cost", F64, "$", "Storage below its minimum" },
    { "filling_target_cost", F64, "$", "Filling targets missed" },
    { "hydro_violation_cost", F64, "$", "Sum of the six hydro violation costs that follow" },
    { "outflow_violation_below_cost", F64, "$", "Outflow below its minimum" },
    { "outflow_violation_above_cost", F64, "$", "Outflow above its maximum" },
    { "turbined_violation_cost", F64, "$", "Turbined flow below its minimum" },
    { "generation_violation_cost", F64, "$", "Hydro generation below its minimum" },
    { "evaporation_violation_cost", F64, "$", "Evaporation not met" },
    { "withdrawal_violation_cost", F64, "$", "Water withdrawal not met" },
    { "inflow_penalty_cost", F64, "$", "Inflow added to keep it from being negative" },
    { "generic_violation_cost", F64, "$", "Generic constraints violated" },
    { "spillage_cost", F64, "$", "Spillage and diversion" },
    { "fpha_turbined_cost", F64, "$", "Turbined flow of plants with a production function" },
    { "curtailment_cost", F64, "$", "Non-controllable generation curtailed" },
    { "exchange_cost", F64, "$", "Flow on lines" },
    { "pumping_cost", F64, "$", "Pumping" },
};

static const results_field hydros[] = {
    STAGE,
    BLOCK,
    { "hydro_id", I32, "", "Hydro plant" },
    { "turbined_m3s", F64, "m3/s", "Turbined flow" },
    { "spillage_m3s", F64, "m3/s", "Spilled flow" },
    { "outflow_m3s", F64, "m3/s", "Turbined and spilled flow" },
    { "evaporation_m3s", F64_NULL, "m3/s", "Evaporation" },
    { "diverted_inflow_m3s", F64_NULL, "m3/s", "Flow diverted to the plant" },
    { "diverted_outflow_m3s", F64_NULL, "m3/s", "Flow diverted from the plant" },
    { "incremental_inflow_m3s", F64, "m3/s",
      "Natural inflow between the plants upstream and this one" },
    { "inflow_m3s", F64, "m3/s",
      "Incremental inflow, outflow of the plants upstream and diverted inflow" },
    { "storage_initial_hm3", F64, "hm3", "Storage at the start of the stage" },
    { "storage_final_hm3", F64, "hm3", "Storage at the end of the stage" },
    { "generation_mw", F64, "MW", "Generation" },
    { "generation_mwh", F64, "MWh", "Energy generated in the block" },
    { "productivity_mw_per_m3s", F64_NULL, "MW/(m3/s)",
      "Productivity; null with a production function" },
    { "spillage_cost", F64, "$", "Cost of spillage and diversion" },
    { "water_value_per_hm3", F64, "$/hm3",
      "Dual of the water balance; zero or negative for useful water" },
    { "storage_binding_code", I8, "", "Storage bound that binds, see codes.json" },
    OPERATIVE_STATE,
    { "turbined_slack_m3s", F64, "m3/s", "Turbined flow missing to its minimum" },
    { "outflow_slack_below_m3s", F64, "m3/s", "Outflow missing to its minimum" },
    { "outflow_slack_above_m3s", F64, "m3/s", "Outflow above its maximum" },
    { "generation_slack_mw", F64, "MW", "Generation missing to its minimum" },
    { "storage_violation_below_hm3", F64, "hm3", "Storage missing to its minimum" },
    { "filling_target_violation_hm3", F64, "hm3", "Storage missing to the filling target" },
    { "evaporation_violation_pos_m3s", F64, "m3/s", "Evaporation above what it must be" },
    { "evaporation_violation_neg_m3s", F64, "m3/s", "Evaporation below what it must be" },
    { "inflow_nonnegativity_slack_m3s", F64, "m3/s",
      "Inflow added to keep it from being negative" },
    { "water_withdrawal_violation_pos_m3s", F64, "m3/s", "Withdrawal above what it must be" },
    { "water_withdrawal_violation_neg_m3s", F64, "m3/s", "Withdrawal below what it must be" },
};

static const results_field thermals[] = {
    STAGE,
    BLOCK,
    { "thermal_id", I32, "", "Thermal plant" },
    { "generation_mw", F64, "MW", "Generation" },
    { "generation_mwh", F64, "MWh", "Energy generated in the block" },
    { "generation_cost", F64, "$", "Cost of the generation" },
    { "is_gnl", BOOL, "", "Whether the plant is dispatched ahead of time" },
    { "gnl_committed_mw", F64_NULL, "MW", "Generation committed earlier" },
    { "gnl_decision_mw", F64_NULL, "MW", "Generation decided now for later" },
    OPERATIVE_STATE,
};

static const results_field exchanges[] = {
    STAGE,
    BLOCK,
    { "line_id", I32, "", "Line" },
    { "direct_flow_mw", F64, "MW", "Flow from source to target" },
    { "reverse_flow_mw", F64, "MW", "Flow from target to source" },
    { "net_flow_mw", F64, "MW", "Direct less reverse flow" },
    { "net_flow_mwh", F64, "MWh", "Energy of the net flow" },
    { "losses_mw", F64, "MW", "Losses of both flows" },
    { "losses_mwh", F64, "MWh", "Energy of the losses" },
    { "exchange_cost", F64, "$", "Cost of both flows" },
    OPERATIVE_STATE,
};

static const results_field buses[] = {
    STAGE,
    BLOCK,
    { "bus_id", I32, "", "Bus" },
    { "load_mw", F64, "MW", "Load after noise and block factor" },
    { "load_mwh", F64, "MWh", "Energy of the load" },
    { "deficit_mw", F64, "MW", "Load not served" },
    { "deficit_mwh", F64, "MWh", "Energy not served" },
    { "excess_mw", F64, "MW", "Generation in excess" },
    { "excess_mwh", F64, "MWh", "Energy in excess" },
    { "spot_price", F64, "$/MWh", "Dual of the load balance" },
};

static const results_field pumping_stations[] = {
    STAGE,
    BLOCK,
    { "pumping_station_id", I32, "", "Pumping station" },
    { "pumped_flow_m3s", F64, "m3/s", "Pumped flow" },
    { "pumped_volume_hm3", F64, "hm3", "Pumped volume" },
    { "power_consumption_mw", F64, "MW", "Power taken" },
    { "energy_consumption_mwh", F64, "MWh", "Energy taken" },
    { "pumping_cost", F64, "$", "Cost of pumping" },
    OPERATIVE_STATE,
};

static const results_field contracts[] = {
    STAGE,
    BLOCK,
    { "contract_id", I32, "", "Contract" },
    { "power_mw", F64, "MW", "Contracted power used" },
    { "energy_mwh", F64, "MWh", "Contracted energy used" },
    { "price_per_mwh", F64, "$/MWh", "Price" },
    { "total_cost", F64, "$", "Cost; negative for exports" },
    OPERATIVE_STATE,
};

static const results_field non_controllables[] = {
    STAGE,
    BLOCK,
    { "non_controllable_id", I32, "", "Non-controllable source" },
    { "generation_mw", F64, "MW", "Generation" },
    { "generation_mwh", F64, "MWh", "Energy generated" },
    { "available_mw", F64, "MW", "Generation available" },
    { "curtailment_mw", F64, "MW", "Generation curtailed" },
    { "curtailment_mwh", F64, "MWh", "Energy curtailed" },
    { "curtailment_cost", F64, "$", "Cost of the curtailment" },
    OPERATIVE_STATE,
};

static const results_field inflow_lags[] = {
    STAGE,
    { "hydro_id", I32, "", "Hydro plant" },
    { "lag_index", I32, "", "How many stages back, counted from 1" },
    { "inflow_m3s", F64, "m3/s", "Inflow at that lag" },
};

static const results_field generic_violations[] = {
    STAGE,
    BLOCK,
    { "constraint_id", I32, "", "Generic constraint" },
    { "slack_value", F64, "", "Violation, in the unit of the constraint" },
    { "slack_cost", F64, "$", "Cost of the violation" },
};

static const results_field convergence[] = {
    { "iteration", I32, "", "Iteration, counted from 1" },
    { "lower_bound", F64, "$", "Lower bound" },
    { "upper_bound_mean", F64, "$", "Mean cost of the forward passes" },
    { "upper_bound_std", F64, "$", "Sample standard deviation of those costs" },
    { "gap_percent", F64_NULL, "", "Gap in percent; null while the lower bound is not positive" },
    { "cuts_added", I32, "", "Cuts added" },
    { "cuts_removed", I32, "", "Cuts removed" },
    { "cuts_active", I64, "", "Cuts active at the end" },
    { "time_forward_ms", I64, "ms", "Forward passes" },
    { "time_backward_ms", I64, "ms", "Backward pass" },
    { "time_total_ms", I64, "ms", "Whole iteration" },
    { "forward_passes", I32, "", "Forward passes" },
    { "lp_solves", I64, "", "Linear programs solved" },
};

static const results_field iteration_timing[] = {
    { "iteration", I32, "", "Iteration, counted from 1" },
    { "rank", I32_NULL, "", "Process" },
    { "worker_id", I32_NULL, "", "Thread of the process; null for the process as a whole" },
    { "forward_wall_ms", I64, "ms", "Forward passes" },
    { "backward_wall_ms", I64, "ms", "Backward pass" },
    { "cut_selection_ms", I64, "ms", "Selecting cuts" },
    { "mpi_allreduce_ms", I64, "ms", "Sums over processes" },
    { "cut_sync_ms", I64, "ms", "Exchanging cuts" },
    { "lower_bound_ms", I64, "ms", "Lower bound" },
    { "state_exchange_ms", I64, "ms", "Exchanging states" },
    { "cut_batch_build_ms", I64, "ms", "Putting cuts together" },
    { "bwd_setup_ms", I64, "ms", "Setting up the backward pass" },
    { "bwd_load_imbalance_ms", I64, "ms", "Slowest less mean worker, backward" },
    { "bwd_scheduling_overhead_ms", I64, "ms", "Wall time less slowest worker, backward" },
    { "fwd_setup_ms", I64, "ms", "Setting up the forward pass" },
    { "fwd_load_imbalance_ms", I64, "ms", "Slowest less mean worker, forward" },
    { "fwd_scheduling_overhead_ms", I64, "ms", "Wall time less slowest worker, forward" },
    { "overhead_ms", I64, "ms", "What is left" },
};

static const results_field rank_timing[] = {
    { "iteration", I32, "", "Iteration, counted from 1" },
    { "rank", I32, "", "Process" },
    { "forward_time_ms", I64, "ms", "Forward passes" },
    { "backward_time_ms", I64, "ms", "Backward pass" },
    { "communication_time_ms", I64, "ms", "Communication" },
    { "idle_time_ms", I64, "ms", "Waiting" },
    { "lp_solves", I64, "", "Linear programs solved" },
    { "scenarios_processed", I32, "", "Forward passes done" },
};

static const results_field cut_selection[] = {
    { "iteration", I32, "", "Iteration, counted from 1" },
    { "stage", I32, "", "Stage, counted from 0" },
    { "cuts_populated", I32, "", "Cuts there are" },
    { "cuts_active_before", I32, "", "Cuts active before the selection" },
    { "cuts_deactivated", I32, "", "Cuts deactivated" },
    { "cuts_active_after", I32, "", "Cuts active after the selection" },
    { "selection_time_ms", F64, "ms", "Time of the selection" },
    { "budget_evicted", I32_NULL, "", "Cuts evicted by the budget; null without one" },
    { "active_after_budget", I32_NULL, "", "Cuts active after that; null without a budget" },
};

static const results_field solver_iterations[] = {
    { "iteration", U32, "", "Iteration; in the simulation the scenario" },
    { "phase", STR, "", "forward, backward, lower_bound or simulation" },
    { "stage", I32, "", "Stage, counted from 0; -1 for none" },
    { "opening", I32_NULL, "", "Opening of the backward pass" },
    { "rank", I32_NULL, "", "Process" },
    { "worker_id", I32_NULL, "", "Thread of the process" },
    { "lp_solves", U32, "", "Linear programs solved" },
    { "lp_successes", U32, "", "Solved at the first try" },
    { "lp_retries", U32, "", "Solved after retries" },
    { "lp_failures", U32, "", "Not solved" },
    { "retry_attempts", U32, "", "Retries" },
    { "basis_offered", U32, "", "Solves that began with a basis" },
    { "basis_consistency_failures", U32, "", "Bases that did not fit" },
    { "simplex_iterations", U64, "", "Simplex iterations" },
    { "solve_time_ms", F64, "ms", "Solving" },
    { "load_model_time_ms", F64, "ms", "Loading models" },
    { "set_bounds_time_ms", F64, "ms", "Setting bounds" },
    { "basis_set_time_ms", F64, "ms", "Setting bases" },
    { "basis_reconstructions", U64, "", "Bases rebuilt" },
};

static const results_field retry_histogram[] = {
    { "iteration", U32, "", "Iteration; in the simulation the scenario" },
    { "phase", STR, "", "forward, backward, lower_bound or simulation" },
    { "stage", I32, "", "Stage, counted from 0; -1 for none" },
    { "retry_level", U32, "", "Level of the retry ladder, counted from 0" },
    { "count", U64, "", "Solves that this level ended" },
};

static const results_field bounds[] = {
    { "entity_type_code", I8, "", "Kind of entity, see codes.json" },
    { "entity_id", I32, "", "Entity" },
    STAGE,
    BLOCK,
    { "bound_type_code", I8, "", "Kind of bound, see codes.json" },
    { "bound_value", F64, "", "Bound, in the unit of its kind" },
};

#define STAGE_ID                                                                                   \
    {                                                                                              \
        "stage_id", I32, "", "Id of the stage"                                                     \
    }

static const results_field fpha_planes[] = {
    { "hydro_id", I32, "", "Hydro plant" },
    { "stage_id", I32_NULL, "", "Id of the stage; null for all stages" },
    { "plane_id", I32, "", "Plane of the plant" },
    { "gamma_0", F64, "MW", "Generation at the origin, before kappa" },
    { "gamma_v", F64, "MW/hm3", "Slope by the mean storage" },
    { "gamma_q", F64, "MW/(m3/s)", "Slope by turbined flow" },
    { "gamma_s", F64, "MW/(m3/s)", "Slope by spilled flow" },
    { "kappa", F64_NULL, "", "Factor of gamma_0" },
    { "valid_v_min_hm3", F64_NULL, "hm3", "Smallest volume of the fit" },
    { "valid_v_max_hm3", F64_NULL, "hm3", "Largest volume of the fit" },
    { "valid_q_max_m3s", F64_NULL, "m3/s", "Largest turbined flow of the fit" },
};

static const results_field noise_openings[] = {
    STAGE,
    { "opening_index", U32, "", "Opening, counted from 0" },
    { "entity_index", U32, "", "Place in the noise vector: hydros, buses, sources" },
    { "value", F64, "", "Deviate, after correlation" },
};

static const results_field inflow_stats[] = {
    { "hydro_id", I32, "", "Hydro plant" },
    STAGE_ID,
    { "mean_m3s", F64, "m3/s", "Mean inflow" },
    { "std_m3s", F64, "m3/s", "Standard deviation of the inflow" },
};

static const results_field inflow_ar[] = {
    { "hydro_id", I32, "", "Hydro plant" },
    STAGE_ID,
    { "lag", I32, "", "Lag, counted from 1" },
    { "coefficient", F64, "", "Standardized coefficient" },
    { "residual_std_ratio", F64, "", "Residual deviation over the inflow's" },
};

static const results_field inflow_annual[] = {
    { "hydro_id", I32, "", "Hydro plant" },
    STAGE_ID,
    { "annual_coefficient", F64, "", "Coefficient of the mean of twelve months" },
    { "annual_mean_m3s", F64, "m3/s", "Mean of that mean" },
    { "annual_std_m3s", F64, "m3/s", "Standard deviation of that mean" },
};

static const results_field load_stats[] = {
    { "bus_id", I32, "", "Bus" },
    STAGE_ID,
    { "mean_mw", F64, "MW", "Mean load" },
    { "std_mw", F64, "MW", "Standard deviation of the load" },
};

static const results_field inner_bound[] = {
    { "iteration", I32, "", "Iteration, counted from 1" },
    { "inner_upper_bound", F64, "$", "Upper bound by the inner approximation" },
};

#define SCHEMA(name, fields)                                                                       \
    {                                                                                              \
        name, fields, sizeof fields / sizeof((fields)[0])                                          \
    }

static const results_schema schemas[] = {
    [RESULTS_COSTS] = SCHEMA("costs", costs),
    [RESULTS_HYDROS] = SCHEMA("hydros", hydros),
    [RESULTS_THERMALS] = SCHEMA("thermals", thermals),
    [RESULTS_EXCHANGES] = SCHEMA("exchanges", exchanges),
    [RESULTS_BUSES] = SCHEMA("buses", buses),
    [RESULTS_PUMPING_STATIONS] = SCHEMA("pumping_stations", pumping_stations),
    [RESULTS_CONTRACTS] = SCHEMA("contracts", contracts),
    [RESULTS_NON_CONTROLLABLES] = SCHEMA("non_controllables", non_controllables),
    [RESULTS_INFLOW_LAGS] = SCHEMA("inflow_lags", inflow_lags),
    [RESULTS_GENERIC_VIOLATIONS] = SCHEMA("generic_violations", generic_violations),
    [RESULTS_CONVERGENCE] = SCHEMA("convergence", convergence),
    [RESULTS_ITERATION_TIMING] = SCHEMA("iteration_timing", iteration_timing),
    [RESULTS_RANK_TIMING] = SCHEMA("rank_timing", rank_timing),
    [RESULTS_CUT_SELECTION] = SCHEMA("cut_selection", cut_selection),
    [RESULTS_SOLVER_ITERATIONS] = SCHEMA("solver_iterations", solver_iterations),
    [RESULTS_RETRY_HISTOGRAM] = SCHEMA("retry_histogram", retry_histogram),
    [RESULTS_BOUNDS] = SCHEMA("bounds", bounds),
    [RESULTS_FPHA_PLANES] = SCHEMA("fpha_hyperplanes", fpha_planes),
    [RESULTS_NOISE_OPENINGS] = SCHEMA("noise_openings", noise_openings),
    [RESULTS_INFLOW_STATS] = SCHEMA("inflow_seasonal_stats", inflow_stats),
    [RESULTS_INFLOW_AR] = SCHEMA("inflow_ar_coefficients", inflow_ar),
    [RESULTS_INFLOW_ANNUAL] = SCHEMA("inflow_annual_component", inflow_annual),
    [RESULTS_LOAD_STATS] = SCHEMA("load_seasonal_stats", load_stats),
    [RESULTS_INNER_BOUND] = SCHEMA("inner_bound", inner_bound),
};

const results_schema *results_schema_of(results_table table)
{
    return &schemas[table];
}

const char *results_type_name(columns_type type)
{
    static const char *const names[] = {
        [COLUMNS_BOOL] = "bool", [COLUMNS_I8] = "i8",         [COLUMNS_I16] = "i16",
        [COLUMNS_I32] = "i32",   [COLUMNS_I64] = "i64",       [COLUMNS_U8] = "u8",
        [COLUMNS_U16] = "u16",   [COLUMNS_U32] = "u32",       [COLUMNS_U64] = "u64",
        [COLUMNS_F32] = "f32",   [COLUMNS_F64] = "f64",       [COLUMNS_DATE] = "date",
        [COLUMNS_TEXT] = "str",  [COLUMNS_OTHER] = "unknown",
    };

    return names[type];
}
