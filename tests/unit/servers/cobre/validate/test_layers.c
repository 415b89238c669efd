/*
 * test_layers.c - layers 3 to 5: one row per rule of the errors page, broken alone.
 */
#include "broken.h"

#define REFERENCE COBRE_KIND_MISSING_REFERENCE
#define COVERAGE COBRE_KIND_COVERAGE_MISMATCH
#define STAGE COBRE_KIND_STAGE_MISMATCH
#define SETTINGS COBRE_KIND_INCOMPATIBLE_SETTINGS
#define PHYSICAL COBRE_KIND_PHYSICAL_CONSTRAINT
#define CAPACITY COBRE_KIND_CAPACITY_VIOLATION
#define PENALTY COBRE_KIND_PENALTY_CONSISTENCY
#define RANGE COBRE_KIND_OUT_OF_RANGE
#define DUPLICATE COBRE_KIND_DUPLICATE_ID

#define LOAD_FACTORS "scenarios/load_factors.json"
#define STATIONS "system/pumping_stations.json"
#define CONTRACTS "system/energy_contracts.json"

static void references(void **state)
{
    static const broken rows[] = {
        { LINES, "'source_bus_id':0", "'source_bus_id':99", REFERENCE, 3, 0, "source_bus_id", NULL,
          0 },
        { LINES, "'target_bus_id':1", "'target_bus_id':-1", REFERENCE, 3, 0, "target_bus_id", NULL,
          0 },
        { HYDROS, "'bus_id':1", "'bus_id':99", REFERENCE, 3, 2, "bus_id", NULL, 0 },
        { HYDROS, "'downstream_id':2", "'downstream_id':3", REFERENCE, 3, 1, "downstream_id", NULL,
          0 },
        { HYDROS, "'penalties'", "'diversion':{'downstream_id':9,'max_flow_m3s':1},'penalties'",
          REFERENCE, 3, 2, "diversion.downstream_id", NULL, 0 },
        { THERMALS, "'bus_id':1", "'bus_id':2", REFERENCE, 3, 6, "bus_id", NULL, 0 },
        { INITIAL, "'hydro_id':2", "'hydro_id':7", REFERENCE, 3, 7, "storage.hydro_id", NULL, 0 },
        { "constraints/thermal_bounds.parquet", NULL,
          "thermal_id i32: 5 7; stage_id i32: 0 0; max_generation_mw f64: 40 40", REFERENCE, 3, 7,
          "thermal_id", NULL, 0 },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 3; stage_id i32: 0; max_storage_hm3 f64: 40", REFERENCE, 3, 3, "hydro_id",
          NULL, 0 },
        { "constraints/line_bounds.parquet", NULL,
          "line_id i32: 3; stage_id i32: 0; direct_mw f64: 40", REFERENCE, 3, 3, "line_id", NULL,
          0 },
        { "constraints/penalty_overrides_bus.parquet", NULL,
          "bus_id i32: 3; stage_id i32: 0; excess_cost f64: 40", REFERENCE, 3, 3, "bus_id", NULL,
          0 },
        { "constraints/penalty_overrides_line.parquet", NULL,
          "line_id i32: 3; stage_id i32: 0; exchange_cost f64: 40", REFERENCE, 3, 3, "line_id",
          NULL, 0 },
        { "constraints/penalty_overrides_hydro.parquet", NULL,
          "hydro_id i32: 3; stage_id i32: 0; spillage_cost f64: 40", REFERENCE, 3, 3, "hydro_id",
          NULL, 0 },
        { INFLOW, NULL,
          "hydro_id i32: 1 1 1 2 2 2 3; stage_id i32: 0 1 2 0 1 2 0;"
          "mean_m3s f64: 1 1 1 1 1 1 1; std_m3s f64: 1 1 1 1 1 1 1",
          REFERENCE, 3, 3, "hydro_id", NULL, 0 },
        { LOAD, NULL,
          "bus_id i32: 0 0 0 1 1 1 2; stage_id i32: 0 1 2 0 1 2 0;"
          "mean_mw f64: 1 1 1 1 1 1 1; std_mw f64: 0 0 0 0 0 0 0",
          REFERENCE, 3, 2, "bus_id", NULL, 0 },
        { LOAD_FACTORS, NULL,
          "{'load_factors':[{'bus_id':9,'stage_id':0,'block_factors':["
          "{'block_id':0,'factor':1},{'block_id':1,'factor':1}]}]}",
          REFERENCE, 3, 9, "bus_id", NULL, 0 },
        { LOAD_FACTORS, NULL,
          "{'load_factors':[{'bus_id':0,'stage_id':9,'block_factors':["
          "{'block_id':0,'factor':1}]}]}",
          REFERENCE, 3, 0, "stage_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void reference_warnings(void **state)
{
    static const broken rows[] = {
        { "constraints/line_bounds.parquet", NULL,
          "line_id i32: 0; stage_id i32: 9; direct_mw f64: 40", REFERENCE, 3, 0, "stage_id", NULL,
          0 },
        { "constraints/exchange_factors.json", NULL,
          "{'exchange_factors':[{'line_id':5,'stage_id':0,'block_factors':["
          "{'block_id':0,'direct_factor':1,'reverse_factor':1}]}]}",
          REFERENCE, 3, 5, "line_id", NULL, 0 },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'past_inflows':["
          "{'hydro_id':8,'values_m3s':[3]}]",
          REFERENCE, 3, 8, "past_inflows.hydro_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

/* A source is random in all stages of its life, or in none; one without statistics is not. */
static void coverage_of_sources(void **state)
{
    static const base_file context[] = {
        { "system/non_controllable_sources.json",
          "{'non_controllable_sources':[{'id':3,'name':'Sun','bus_id':0,'max_generation_mw':9},"
          "{'id':4,'name':'Wind','bus_id':0,'max_generation_mw':9,'entry_stage_id':1}]}" },
        { "scenarios/non_controllable_stats.parquet",
          "ncs_id i32: 4 4; stage_id i32: 1 2; mean f64: 0.5 0.5; std f64: 0.1 0.1" },
        { "scenarios/non_controllable_factors.json",
          "{'non_controllable_factors':[{'ncs_id':3,'stage_id':0,'block_factors':["
          "{'block_id':1,'factor':1}]}]}" },
        { NULL, NULL },
    };
    static const broken warned[] = {
        { "scenarios/non_controllable_stats.parquet", NULL,
          "ncs_id i32: 4; stage_id i32: 2; mean f64: 0.5; std f64: 0.1", COVERAGE, 4, 4, "stage_id",
          NULL, 0 },
        /* What is available of a random source is drawn; of source 3 it is given. */
        { "constraints/ncs_bounds.parquet", NULL,
          "ncs_id i32: 3 4 4; stage_id i32: 0 1 2; available_generation_mw f64: 2 2 2", SETTINGS, 5,
          4, "available_generation_mw", NULL, 0 },
    };
    static const broken refused[] = {
        { "scenarios/non_controllable_factors.json", "'block_id':1", "'block_id':2", PHYSICAL, 5, 3,
          "block_id", NULL, 0 },
        { "scenarios/non_controllable_factors.json", "'ncs_id':3", "'ncs_id':5", REFERENCE, 3, 5,
          "ncs_id", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, warned, COBRE_SEVERITY_WARNING);
    BROKEN_RUN_ON(*state, context, refused, COBRE_SEVERITY_ERROR);
}

static void coverage(void **state)
{
    static const broken rows[] = {
        { INFLOW, NULL,
          "hydro_id i32: 1 1 1 2 2; stage_id i32: 0 1 2 0 2;"
          "mean_m3s f64: 1 1 1 1 1; std_m3s f64: 1 1 1 1 1",
          COVERAGE, 4, 2, "stage_id", NULL, 0 },
        { INFLOW, NULL,
          "hydro_id i32: 1 1 1; stage_id i32: 0 1 2; mean_m3s f64: 1 1 1;"
          "std_m3s f64: 1 1 1",
          COVERAGE, 4, 2, "stage_id", NULL, 0 },
        { LOAD, NULL,
          "bus_id i32: 1 1 1 0 0; stage_id i32: 0 1 2 0 1; mean_mw f64: 1 1 1 1 1;"
          "std_mw f64: 0 0 0 0 0",
          COVERAGE, 4, 0, "stage_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void plants(void **state)
{
    static const broken rows[] = {
        { HYDROS, "'downstream_id':null", "'downstream_id':1", PHYSICAL, 5, 1, "downstream_id",
          NULL, 0 },
        { HYDROS, "'downstream_id':null", "'downstream_id':2", PHYSICAL, 5, 2, "downstream_id",
          NULL, 0 },
        { HYDROS, "'min_storage_hm3':10", "'min_storage_hm3':201", CAPACITY, 5, 1,
          "reservoir.min_storage_hm3", NULL, 0 },
        { HYDROS, "'min_outflow_m3s':0", "'min_outflow_m3s':91", CAPACITY, 5, 1,
          "outflow.min_outflow_m3s", NULL, 0 },
        { HYDROS, "'min_turbined_m3s':0,'max_turbined_m3s':70",
          "'min_turbined_m3s':71,'max_turbined_m3s':70", CAPACITY, 5, 2,
          "generation.min_turbined_m3s", NULL, 0 },
        { HYDROS, "'min_generation_mw':0,'max_generation_mw':63",
          "'min_generation_mw':64,'max_generation_mw':63", CAPACITY, 5, 2,
          "generation.min_generation_mw", NULL, 0 },
        { THERMALS, "'min_mw':5", "'min_mw':31", CAPACITY, 5, 6, "generation.min_mw", NULL, 0 },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 0; max_storage_hm3 f64: 9", CAPACITY, 5, 1,
          "min_storage_hm3", NULL, 0 },
        { "constraints/thermal_bounds.parquet", NULL,
          "thermal_id i32: 6; stage_id i32: 0; min_generation_mw f64: 31", CAPACITY, 5, 6,
          "min_generation_mw", NULL, 0 },
        { THERMALS, "'bus_id':1", "'bus_id':1,'entry_stage_id':2,'exit_stage_id':2", STAGE, 5, 6,
          "entry_stage_id", NULL, 0 },
        { HYDROS, "'productivity_mw_per_m3s':", "'productivity_mw_per_m3s':-", RANGE, 2, 2,
          "generation.productivity_mw_per_m3s", NULL, 0 },
        { LINES, "'capacity'", "'losses_percent':100.1,'capacity'", RANGE, 5, 0, "losses_percent",
          NULL, 0 },
        { LINES, "'capacity'", "'entry_stage_id':2,'exit_stage_id':1,'capacity'", STAGE, 5, 0,
          "entry_stage_id", NULL, 0 },
        { HYDROS, "'penalties'", "'entry_stage_id':2,'filling':{'start_stage_id':9},'penalties'",
          STAGE, 5, 2, "filling.start_stage_id", NULL, 1 },
        { HYDROS, "'penalties'", "'filling':{'start_stage_id':0},'penalties'", STAGE, 5, 2,
          "entry_stage_id", NULL, 0 },
        { LINES, "'target_bus_id':1", "'target_bus_id':0", PHYSICAL, 5, 0, "target_bus_id", NULL,
          0 },
        { HYDROS, "'penalties'", "'diversion':{'downstream_id':2,'max_flow_m3s':1},'penalties'",
          PHYSICAL, 5, 2, "diversion.downstream_id", NULL, 0 },
        { STATIONS, NULL,
          "{'pumping_stations':[{'id':4,'name':'P','bus_id':0,'source_hydro_id':2,"
          "'destination_hydro_id':2,'consumption_mw_per_m3s':1,'flow':{'min_m3s':0,'max_m3s':5}}]}",
          PHYSICAL, 5, 4, "destination_hydro_id", NULL, 0 },
        { CONTRACTS, NULL,
          "{'contracts':[{'id':4,'name':'C','bus_id':0,'type':'export','price_per_mwh':-9,"
          "'limits':{'min_mw':0,'max_mw':1e20}}]}",
          RANGE, 5, 4, "limits.max_mw", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

/* What earns by spilling, or by sending power in a ring, has no optimum, or a senseless one. */
static void negative_costs(void **state)
{
    static const broken rows[] = {
        { HYDROS, "'spillage_cost':0.015", "'spillage_cost':-0.015", RANGE, 2, 2,
          "penalties.spillage_cost", NULL, 0 },
        { HYDROS, "'water_withdrawal_violation_cost':77", "'inflow_nonnegativity_cost':-1", RANGE,
          2, 2, "penalties.inflow_nonnegativity_cost", NULL, 0 },
        { LINES, "'capacity'", "'exchange_cost':-0.5,'capacity'", RANGE, 2, 0, "exchange_cost",
          NULL, 0 },
        { COSTS, "'fpha_turbined_cost'", "'inflow_nonnegativity_cost':-1,'fpha_turbined_cost'",
          RANGE, 2, NONE, "hydro.inflow_nonnegativity_cost", NULL, 0 },
        { COSTS, "'fpha_turbined_cost'", "'evaporation_violation_pos_cost':-1,'fpha_turbined_cost'",
          RANGE, 2, NONE, "hydro.evaporation_violation_pos_cost", NULL, 0 },
        { "system/non_controllable_sources.json", NULL,
          "{'non_controllable_sources':[{'id':3,'name':'Sun','bus_id':0,'max_generation_mw':9,"
          "'curtailment_cost':-1}]}",
          RANGE, 2, 3, "curtailment_cost", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

/* Numbers that no solver takes; but an upper limit of any size is one that does not bind. */
static void large_numbers(void **state)
{
    static const base_file context[] = {
        { THERMALS, "{'thermals':[{'id':5,'name':'Gas','bus_id':0,'cost_per_mwh':60,"
                    "'generation':{'min_mw':0,'max_mw':1e25}}]}" },
        { CONFIG, "{'training':{'forward_passes':1,'stopping_rules':["
                  "{'type':'time_limit','seconds':1e30}]}}" },
        { "constraints/hydro_bounds.parquet",
          "hydro_id i32: 1; stage_id i32: 0; max_storage_hm3 f64: 1e25" },
        { NULL, NULL },
    };
    static const broken rows[] = {
        { THERMALS, "'cost_per_mwh':60", "'cost_per_mwh':1e21", RANGE, 2, 5, "cost_per_mwh", NULL,
          0 },
        { INITIAL, "'value_hm3':30", "'value_hm3':1e21", RANGE, 2, 2, "storage[0].value_hm3", NULL,
          0 },
        { STAGES, "'hours':500", "'hours':1e21", RANGE, 2, 0, "blocks[0].hours", NULL, 0 },
        { LOAD, "mean_mw f64: 70", "mean_mw f64: -1e21", RANGE, 2, 0, "mean_mw", NULL, 0 },
        { "constraints/hydro_bounds.parquet", "max_storage_hm3 f64: 1e25",
          "water_withdrawal_m3s f64: 1e21", RANGE, 2, 1, "water_withdrawal_m3s", NULL, 0 },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'past_inflows':[{'hydro_id':1,'values_m3s':[1,1e21]}]", RANGE, 2, 1,
          "past_inflows[0].values_m3s", NULL, 0 },
        { "constraints/generic_constraints.json", NULL,
          "{'constraints':[{'id':3,'name':'G','expression':'1e21 * hydro_storage(1)',"
          "'sense':'<=','slack':{'enabled':false}}]}",
          COBRE_KIND_SCHEMA_VIOLATION, 2, 3, "expression", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_ERROR);
}

static void plant_warnings(void **state)
{
    static const broken rows[] = {
        { INITIAL,
          "{'hydro_id':2,'value_hm3':30},{'hydro_id':1,'value_hm3':80.5}],"
          "'filling_storage':[]",
          "{'hydro_id':1,'value_hm3':80.5}],'filling_storage':[{'hydro_id':2,'value_hm3':51}]",
          RANGE, 5, 2, "filling_storage.value_hm3", INITIAL, 0 },
        { INITIAL, ",{'hydro_id':1,'value_hm3':80.5}", "", RANGE, 5, 1, "storage", INITIAL, 0 },
        { HYDROS, "'penalties'", "'diversion':{'downstream_id':1,'max_flow_m3s':1},'penalties'",
          PHYSICAL, 5, 2, "diversion.downstream_id", NULL, 0 },
        { INITIAL, "'value_hm3':30", "'value_hm3':51", RANGE, 5, 2, "storage.value_hm3", INITIAL,
          0 },
        { THERMALS, "'max_mw':40", "'max_mw':0", PHYSICAL, 5, 5, "generation.max_mw", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

static void stages(void **state)
{
    static const broken rows[] = {
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':7,'target_id':1,'probability':1}]", STAGE, 5, 7,
          "policy_graph.transitions.source_id", NULL, 0 },
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':0,'target_id':7,'probability':1}]", STAGE, 5, 7,
          "policy_graph.transitions.target_id", NULL, 0 },
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':0,'target_id':1,'probability':0.4},"
          "{'source_id':0,'target_id':2,'probability':0.5}]",
          RANGE, 5, 0, "policy_graph.transitions.probability", NULL, 0 },
        { STAGES, "'finite_horizon','annual_discount_rate':0.1,'transitions':[]",
          "'cyclic','annual_discount_rate':0.1,"
          "'transitions':[{'source_id':1,'target_id':0,'probability':1}]",
          STAGE, 5, 1, "policy_graph.transitions.target_id", NULL, 0 },
        { STAGES, "'finite_horizon','annual_discount_rate':0.1,'transitions':[]",
          "'cyclic','annual_discount_rate':0.1,"
          "'transitions':[{'source_id':2,'target_id':0,'probability':0.5},"
          "{'source_id':2,'target_id':1,'probability':0.5}]",
          SETTINGS, 5, 2, "policy_graph.transitions", NULL, 0 },
        { STAGES, "'finite_horizon','annual_discount_rate':0.1,'transitions':[]",
          "'cyclic','annual_discount_rate':0.1,'transitions':[{'source_id':2,'target_id':2,"
          "'probability':1,'annual_discount_rate_override':0}]",
          RANGE, 5, NONE, "policy_graph.annual_discount_rate", NULL, 0 },
        { STAGES, "'finite_horizon','annual_discount_rate':0.1",
          "'cyclic','annual_discount_rate':0", RANGE, 5, NONE, "policy_graph.annual_discount_rate",
          NULL, 0 },
        { STAGES, NULL,
          "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0},"
          "'stages':[{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01',"
          "'num_scenarios':3,'blocks':[{'id':0,'name':'A','hours':1}]}]}",
          STAGE, 5, NONE, "stages", NULL, 0 },
        { STAGES, NULL,
          "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0},"
          "'stages':[]}",
          STAGE, 5, NONE, "stages", NULL, 0 },
        { STAGES, "'stages':[",
          "'season_definitions':{'cycle_type':'monthly','seasons':[]},"
          "'stages':[{'id':3,'season_id':4,'start_date':'2030-04-01','end_date':'2030-05-01',"
          "'num_scenarios':3,'blocks':[{'id':0,'name':'A','hours':1}]},",
          PHYSICAL, 5, 3, "season_id", NULL, 4 },
        { LOAD_FACTORS, NULL,
          "{'load_factors':[{'bus_id':0,'stage_id':0,'block_factors':["
          "{'block_id':2,'factor':1}]}]}",
          PHYSICAL, 5, 0, "block_id", NULL, 0 },
        { STAGES, "'start_date':'2030-02-01','end_date':'2030-03-01'",
          "'start_date':'2030-01-01','end_date':'2030-02-01'", STAGE, 5, 1, "start_date", NULL, 0 },
        { STAGES, "'start_date':'2030-02-01','end_date':'2030-03-01'",
          "'start_date':'2029-12-01','end_date':'2030-01-01'", STAGE, 5, 1, "start_date", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

/* Of several factors of a block the last one counts, as of other overrides. */
static void repeated_factors(void **state)
{
    static const broken rows[] = {
        { LOAD_FACTORS, NULL,
          "{'load_factors':[{'bus_id':0,'stage_id':0,'block_factors':["
          "{'block_id':1,'factor':1},{'block_id':0,'factor':1},{'block_id':1,'factor':2}]}]}",
          DUPLICATE, 2, 0, "block_id", NULL, 0 },
        { "constraints/exchange_factors.json", NULL,
          "{'exchange_factors':[{'line_id':0,'stage_id':1,'block_factors':["
          "{'block_id':0,'direct_factor':1,'reverse_factor':1}]},"
          "{'line_id':0,'stage_id':0,'block_factors':["
          "{'block_id':0,'direct_factor':1,'reverse_factor':1}]},"
          "{'line_id':0,'stage_id':1,'block_factors':["
          "{'block_id':0,'direct_factor':2,'reverse_factor':1}]}]}",
          DUPLICATE, 2, 0, "block_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

/* The stages of a finite graph follow one another, whatever its transitions say: a directory of the
 * original with such a graph loads. */
static void stage_warnings(void **state)
{
    static const broken rows[] = {
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':0,'target_id':2,'probability':1}]", STAGE, 5, 0,
          "policy_graph.transitions.target_id", NULL, 0 },
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':2,'target_id':0,'probability':1}]", STAGE, 5, 2,
          "policy_graph.transitions.target_id", NULL, 0 },
        { STAGES, "'transitions':[]",
          "'transitions':[{'source_id':0,'target_id':1,'probability':0.4},"
          "{'source_id':0,'target_id':2,'probability':0.6}]",
          SETTINGS, 5, 0, "policy_graph.transitions", NULL, 1 },
        { STAGES, "'start_date':'2030-02-01'", "'start_date':'2030-01-31'", STAGE, 5, 1,
          "start_date", NULL, 0 },
        { STAGES, "'start_date':'2030-02-01'", "'start_date':'2030-02-02'", STAGE, 5, 1,
          "start_date", NULL, 0 },
        { CONFIG, "{'type':'iteration_limit','limit':20},", "", SETTINGS, 5, NONE,
          "training.stopping_rules", NULL, 0 },
        { INFLOW, NULL,
          "hydro_id i32: 1 1 1 2 2 2; stage_id i32: 0 1 2 0 1 2;"
          "mean_m3s f64: 1 1 1 1 1 1; std_m3s f64: 1 1 1 1 0 1",
          PHYSICAL, 5, 2, "std_m3s", NULL, 0 },
        { STAGES, "'stages':[",
          "'season_definitions':{'cycle_type':'monthly','seasons':["
          "{'id':1,'label':'Jan','month_start':1}]},'stages':[",
          PHYSICAL, 5, NONE, "season_id", NULL, 0 },
        { "constraints/exchange_factors.json", NULL,
          "{'exchange_factors':[{'line_id':0,'stage_id':1,'block_factors':["
          "{'block_id':1,'direct_factor':1,'reverse_factor':1}]}]}",
          PHYSICAL, 5, 0, "block_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

static void penalty_order(void **state)
{
    static const broken rows[] = {
        { COSTS, "'filling_target_violation_cost':3000", "'filling_target_violation_cost':2000",
          PENALTY, 5, 1, "filling_target_violation_cost", NULL, 0 },
        { COSTS, "'storage_violation_below_cost':2000", "'storage_violation_below_cost':900",
          PENALTY, 5, 1, "storage_violation_below_cost", NULL, 0 },
        { COSTS, "'outflow_violation_above_cost':103", "'outflow_violation_above_cost':900",
          PENALTY, 5, 1, "outflow_violation_above_cost", NULL, 0 },
        { COSTS, "'turbined_violation_below_cost':101", "'turbined_violation_below_cost':0.02",
          PENALTY, 5, 1, "turbined_violation_below_cost", NULL, 0 },
        { HYDROS, "'spillage_cost':0.015", "'spillage_cost':0", PENALTY, 5, 2,
          "penalties.spillage_cost", NULL, 0 },
        { CONTRACTS, NULL,
          "{'contracts':[{'id':4,'name':'C','bus_id':0,'type':'export','price_per_mwh':-401,"
          "'limits':{'min_mw':0,'max_mw':9}},{'id':5,'name':'D','bus_id':1,'type':'export',"
          "'price_per_mwh':-401,'limits':{'min_mw':0,'max_mw':9}}]}",
          PENALTY, 5, 4, "price_per_mwh", NULL, 0 },
        { CONTRACTS, NULL,
          "{'contracts':[{'id':4,'name':'C','bus_id':0,'type':'import','price_per_mwh':-1,"
          "'limits':{'min_mw':0,'max_mw':9}},{'id':5,'name':'D','bus_id':1,'type':'import',"
          "'price_per_mwh':-1.5,'limits':{'min_mw':0,'max_mw':9}}]}",
          PENALTY, 5, 5, "price_per_mwh", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references),       cmocka_unit_test(reference_warnings),
        cmocka_unit_test(coverage),         cmocka_unit_test(coverage_of_sources),
        cmocka_unit_test(plants),           cmocka_unit_test(plant_warnings),
        cmocka_unit_test(stages),           cmocka_unit_test(stage_warnings),
        cmocka_unit_test(repeated_factors), cmocka_unit_test(penalty_order),
        cmocka_unit_test(negative_costs),   cmocka_unit_test(large_numbers),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
