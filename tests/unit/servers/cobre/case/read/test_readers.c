/*
 * test_readers.c - layers 1 and 2: one row per rule of the case page, broken alone.
 */
#include "../../validate/broken.h"

#define JSON COBRE_KIND_PARSE_ERROR
#define SCHEMA COBRE_KIND_SCHEMA_VIOLATION
#define TYPE COBRE_KIND_TYPE_MISMATCH
#define RANGE COBRE_KIND_OUT_OF_RANGE
#define ENUM COBRE_KIND_INVALID_ENUM
#define TWICE COBRE_KIND_DUPLICATE_ID
#define GONE COBRE_KIND_MISSING_FILE

static void missing_files(void **state)
{
    static const broken rows[] = {
        { CONFIG, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { STAGES, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { COSTS, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { INITIAL, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { BUSES, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { LINES, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { HYDROS, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
        { THERMALS, NULL, NULL, GONE, 1, NONE, NULL, NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void any_json(void **state)
{
    static const broken rows[] = {
        { CONFIG, NULL, "", JSON, 2, NONE, NULL, NULL, 0 },
        { CONFIG, NULL, "{", JSON, 2, NONE, NULL, NULL, 0 },
        { CONFIG, "}}}", "},}}", JSON, 2, NONE, NULL, NULL, 0 },
        { BUSES, "'buses'", "/* all */ 'buses'", JSON, 2, NONE, NULL, NULL, 0 },
        { HYDROS, "'name':'Upper'", "'name':'Upper','name':'Uper'", JSON, 2, NONE, NULL, NULL, 0 },
        { THERMALS, NULL, "[]", TYPE, 2, NONE, NULL, NULL, 0 },
        { LINES, NULL, "{'lignes':[]}", SCHEMA, 2, NONE, "lines", NULL, 0 },
        { LINES, NULL, "{'lines':{}}", TYPE, 2, NONE, "lines", NULL, 0 },
        { LINES, NULL, "{'lines':[7]}", TYPE, 2, NONE, "lines[0]", NULL, 0 },
        { BUSES, "'South'", "'So\\u0000th'", SCHEMA, 2, 1, "name", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void config(void **state)
{
    static const broken rows[] = {
        { CONFIG, "'forward_passes':2,", "", SCHEMA, 2, NONE, "training.forward_passes", NULL, 0 },
        { CONFIG, "'forward_passes':2", "'forward_passes':0", RANGE, 2, NONE,
          "training.forward_passes", NULL, 0 },
        { CONFIG, "'forward_passes':2", "'forward_passes':2.0", TYPE, 2, NONE,
          "training.forward_passes", NULL, 0 },
        { CONFIG, "'forward_passes':2", "'forward_passes':-2", RANGE, 2, NONE,
          "training.forward_passes", NULL, 0 },
        { CONFIG, "'forward_passes':2", "'forward_passes':4294967296", RANGE, 2, NONE,
          "training.forward_passes", NULL, 0 },
        { CONFIG, NULL, "{'training':{'forward_passes':1}}", SCHEMA, 2, NONE,
          "training.stopping_rules", NULL, 0 },
        { CONFIG, NULL, "{'simulation':{}}", SCHEMA, 2, NONE, "training", NULL, 0 },
        { CONFIG, NULL, "{'training':7}", TYPE, 2, NONE, "training", NULL, 0 },
        { CONFIG, "'iteration_limit'", "'iterations'", ENUM, 2, NONE,
          "training.stopping_rules[0].type", NULL, 0 },
        { CONFIG, "'limit':20", "'limits':20", SCHEMA, 2, NONE, "training.stopping_rules[0].limit",
          NULL, 0 },
        { CONFIG, "'tolerance':0.001", "'tolerance':'low'", TYPE, 2, NONE,
          "training.stopping_rules[1].tolerance", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'stopping_mode':null", TYPE, 2, NONE,
          "training.stopping_mode", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'cut_formulation':'triple'", ENUM, 2, NONE,
          "training.cut_formulation", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'solver':{'backend':'glpk'}", ENUM, 2, NONE,
          "training.solver.backend", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'cut_selection':{'basis_activity_window':32}", RANGE, 2,
          NONE, "training.cut_selection.basis_activity_window", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'scenario_source':{'inflow':{'schema':'x'}}", SCHEMA, 2,
          NONE, "training.scenario_source.inflow.schema", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'scenario_source':{'load':{'scheme':'historical'}}",
          ENUM, 2, NONE, "training.scenario_source.load.scheme", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'",
          "'scenario_source':{'inflow':{'scheme':'out_of_sample'}}", SCHEMA, 2, NONE,
          "training.scenario_source.seed", NULL, 0 },
        { CONFIG, "'stopping_mode':'any'", "'scenario_source':{'historical_years':[1990]}", SCHEMA,
          2, NONE, "training.scenario_source.historical_years", NULL, 0 },
        { CONFIG, "'tree_seed':7", "'tree_seed':'seven'", TYPE, 2, NONE, "training.tree_seed", NULL,
          0 },
        { CONFIG, "'tree_seed':7", "'enabled':1", TYPE, 2, NONE, "training.enabled", NULL, 0 },
        { CONFIG, "'mode':'fresh'", "'mode':'new'", ENUM, 2, NONE, "policy.mode", NULL, 0 },
        { CONFIG, "'mode':'fresh'", "'boundary':{'path':'p'}", SCHEMA, 2, NONE,
          "policy.boundary.source_stage", NULL, 0 },
        { CONFIG, "'method':'penalty'", "'method':'clip'", ENUM, 2, NONE,
          "modeling.inflow_non_negativity.method", NULL, 0 },
        { CONFIG, "'inflow_non_negativity'", "'compatibility':'cobre-9','inflow_non_negativity'",
          ENUM, 2, NONE, "modeling.compatibility", NULL, 0 },
        { CONFIG, "'inflow_non_negativity'", "'cycle_rounds':0,'inflow_non_negativity'", RANGE, 2,
          NONE, "modeling.cycle_rounds", NULL, 0 },
        { CONFIG, "'num_scenarios':50", "'num_scenarios':-1", RANGE, 2, NONE,
          "simulation.num_scenarios", NULL, 0 },
        { CONFIG, "'num_scenarios':50", "'policy_type':'middle'", ENUM, 2, NONE,
          "simulation.policy_type", NULL, 0 },
        { CONFIG, "'policy':", "'estimation':{'order_selection':'aic'},'policy':", ENUM, 2, NONE,
          "estimation.order_selection", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void config_warnings(void **state)
{
    static const broken rows[] = {
        { CONFIG, "'policy':", "'stages':120,'policy':", SCHEMA, 2, NONE, "stages", NULL, 0 },
        { CONFIG, "'policy':", "'cut_selection':{},'policy':", SCHEMA, 2, NONE, "cut_selection",
          NULL, 0 },
        { CONFIG, "'policy':", "'exports':{'cuts':true},'policy':", SCHEMA, 2, NONE, "exports.cuts",
          NULL, 0 },
        { CONFIG, "'tree_seed'", "'seed'", SCHEMA, 2, NONE, "training.seed", NULL, 0 },
        { CONFIG, "'num_scenarios':50", "'sampling_scheme':{'type':'in_sample'}", SCHEMA, 2, NONE,
          "simulation.sampling_scheme", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

static void stages(void **state)
{
    static const broken rows[] = {
        { STAGES, "'stages':[", "'scenario_source':{},'stages':[", SCHEMA, 2, NONE,
          "scenario_source", NULL, 0 },
        { STAGES, "'finite_horizon'", "'infinite'", ENUM, 2, NONE, "policy_graph.type", NULL, 0 },
        { STAGES, "0.1,", "-0.1,", RANGE, 2, NONE, "policy_graph.annual_discount_rate", NULL, 0 },
        { STAGES, "'annual_discount_rate':0.1,", "", SCHEMA, 2, NONE,
          "policy_graph.annual_discount_rate", NULL, 0 },
        { STAGES, "'id':1,'start", "'id':0,'start", TWICE, 2, 0, "id", NULL, 0 },
        { STAGES, "'stages':[",
          "'pre_study_stages':[{'id':0,'start_date':'2029-12-01','end_date':'2030-01-01'}],"
          "'stages':[",
          TWICE, 2, 0, "id", NULL, 0 },
        { STAGES, "2030-02-01','end_date':'2030-03-01", "2030-03-01','end_date':'2030-02-01",
          SCHEMA, 2, 1, "end_date", NULL, 0 },
        { STAGES, "2030-03-01','num", "2030-02-29','num", SCHEMA, 2, 1, "end_date", NULL, 0 },
        { STAGES, "2030-03-01','num", "2030-3-1','num", SCHEMA, 2, 1, "end_date", NULL, 0 },
        { STAGES, "'start_date':'2030-01-01',", "", SCHEMA, 2, 0, "start_date", NULL, 0 },
        { STAGES, "'num_scenarios':3", "'num_scenarios':0", RANGE, 2, 0, "num_scenarios", NULL, 0 },
        { STAGES, "'num_scenarios':3,", "", SCHEMA, 2, 0, "num_scenarios", NULL, 0 },
        { STAGES, "'hours':672", "'hours':0", RANGE, 2, 1, "blocks[0].hours", NULL, 0 },
        { STAGES, "'id':1,'name'", "'id':2,'name'", RANGE, 2, 0, "blocks[0].id", NULL, 0 },
        { STAGES, "'id':1,'name'", "'id':0,'name'", TWICE, 2, 0, "blocks[1].id", NULL, 0 },
        { STAGES, "[{'id':0,'name':'ALL','hours':672}]", "[]", SCHEMA, 2, 1, "blocks", NULL, 0 },
        { STAGES, "'alpha':0.5", "'alpha':0", RANGE, 2, 2, "risk_measure.cvar.alpha", NULL, 0 },
        { STAGES, "'alpha':0.5", "'alpha':1.5", RANGE, 2, 2, "risk_measure.cvar.alpha", NULL, 0 },
        { STAGES, "'lambda':0.25", "'lambda':-1", RANGE, 2, 2, "risk_measure.cvar.lambda", NULL,
          0 },
        { STAGES, "{'cvar':{'alpha':0.5,'lambda':0.25}}", "'worst_case'", ENUM, 2, 2,
          "risk_measure", NULL, 0 },
        { STAGES, "{'cvar':{'alpha':0.5,'lambda':0.25}}", "7", TYPE, 2, 2, "risk_measure", NULL,
          0 },
        { STAGES, "'risk_measure'", "'block_mode':'serial','risk_measure'", ENUM, 2, 2,
          "block_mode", NULL, 0 },
        { STAGES, "'risk_measure'", "'sampling_method':'mc','risk_measure'", ENUM, 2, 2,
          "sampling_method", NULL, 0 },
        { STAGES, "'stages':[",
          "'season_definitions':{'cycle_type':'lunar','seasons':[]},"
          "'stages':[",
          ENUM, 2, NONE, "season_definitions.cycle_type", NULL, 0 },
        { STAGES, "'stages':[",
          "'season_definitions':{'cycle_type':'monthly','seasons':["
          "{'id':3,'label':'x','month_start':13}]},'stages':[",
          RANGE, 2, 3, "month_start", NULL, 0 },
        { STAGES, "'transitions':[]", "'transitions':[{'source_id':0}]", SCHEMA, 2, NONE,
          "policy_graph.transitions[0].target_id", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void penalties_and_initial_conditions(void **state)
{
    static const broken rows[] = {
        { COSTS, "'excess_cost':1", "'excess_cost':0", RANGE, 2, NONE, "bus.excess_cost", NULL, 0 },
        { COSTS, "'line':{'exchange_cost':0.5},", "", SCHEMA, 2, NONE, "line", NULL, 0 },
        { COSTS, "'spillage_cost':0.01,", "", SCHEMA, 2, NONE, "hydro.spillage_cost", NULL, 0 },
        { COSTS, "'fpha_turbined_cost':0.03", "'fpha_turbined_cost':-1", RANGE, 2, NONE,
          "hydro.fpha_turbined_cost", NULL, 0 },
        { COSTS, "[{'depth_mw':null,'cost':900}]", "[]", SCHEMA, 2, NONE, "bus.deficit_segments",
          NULL, 0 },
        { COSTS, "'depth_mw':null", "'depth_mw':10", SCHEMA, 2, NONE,
          "bus.deficit_segments[0].depth_mw", NULL, 0 },
        { COSTS, "'cost':900", "'cost':0", RANGE, 2, NONE, "bus.deficit_segments[0].cost", NULL,
          0 },
        { INITIAL, "'value_hm3':30", "'value_hm3':-30", RANGE, 2, 2, "storage[0].value_hm3", NULL,
          0 },
        { INITIAL, "'hydro_id':2", "'hydro_id':1", TWICE, 2, 1, "hydro_id", NULL, 0 },
        { INITIAL, "'filling_storage':[]", "'filling_storage':[{'hydro_id':2,'value_hm3':1}]",
          SCHEMA, 2, 2, "filling_storage", NULL, 0 },
        { INITIAL, ",'filling_storage':[]", "", SCHEMA, 2, NONE, "filling_storage", NULL, 0 },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'past_inflows':["
          "{'hydro_id':1,'values_m3s':[3,4],'season_ids':[1]}]",
          SCHEMA, 2, 1, "past_inflows[0].season_ids", NULL, 0 },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'recent_observations':["
          "{'hydro_id':1,'start_date':'2029-12-01','end_date':'2029-12-11','value_m3s':4},"
          "{'hydro_id':1,'start_date':'2029-12-10','end_date':'2029-12-21','value_m3s':4}]",
          SCHEMA, 2, 1, "recent_observations", NULL, 0 },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'recent_observations':["
          "{'hydro_id':1,'start_date':'2029-12-01','end_date':'2029-12-01','value_m3s':4}]",
          SCHEMA, 2, 1, "recent_observations", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void registries(void **state)
{
    static const broken rows[] = {
        { BUSES, "'id':1", "'id':0", TWICE, 2, 0, "id", NULL, 0 },
        { BUSES, "'id':1", "'id':2147483648", RANGE, 2, 2147483648, "id", NULL, 0 },
        { BUSES, "'id':1", "'id':'1'", TYPE, 2, NONE, "id", NULL, 0 },
        { BUSES, ",'name':'South'", "", SCHEMA, 2, 1, "name", NULL, 0 },
        { BUSES, "'cost':800", "'cost':400", RANGE, 2, 0, "deficit_segments[1].cost", NULL, 0 },
        { BUSES, "'depth_mw':20", "'depth_mw':null", SCHEMA, 2, 0, "deficit_segments[0].depth_mw",
          NULL, 0 },
        { LINES, "'direct_mw':60", "'direct_mw':-60", RANGE, 2, 0, "capacity.direct_mw", NULL, 0 },
        { LINES, ",'reverse_mw':40", "", SCHEMA, 2, 0, "capacity.reverse_mw", NULL, 0 },
        { LINES, "'capacity':{'direct_mw':60,'reverse_mw':40}", "'capacity':60", TYPE, 2, 0,
          "capacity", NULL, 0 },
        { LINES, "'capacity'", "'losses_percent':-1,'capacity'", RANGE, 2, 0, "losses_percent",
          NULL, 0 },
        { HYDROS, "'id':1", "'id':2", TWICE, 2, 2, "id", NULL, 0 },
        { HYDROS, "'min_storage_hm3':10", "'min_storage_hm3':-10", RANGE, 2, 1,
          "reservoir.min_storage_hm3", NULL, 0 },
        { HYDROS, ",'max_storage_hm3':200", "", SCHEMA, 2, 1, "reservoir.max_storage_hm3", NULL,
          0 },
        { HYDROS, "'min_outflow_m3s':1", "'min_outflow_m3s':-1", RANGE, 2, 2,
          "outflow.min_outflow_m3s", NULL, 0 },
        { HYDROS, "'constant_productivity'", "'magic'", ENUM, 2, 2, "generation.model", NULL, 0 },
        { HYDROS, "'productivity_mw_per_m3s':0.9,", "", SCHEMA, 2, 2,
          "generation.productivity_mw_per_m3s", NULL, 0 },
        { HYDROS, "'downstream_id':null", "'downstream_id':'sea'", TYPE, 2, 2, "downstream_id",
          NULL, 0 },
        { HYDROS, "'spillage_cost':0.015", "'spillage_cost':true", TYPE, 2, 2,
          "penalties.spillage_cost", NULL, 0 },
        { HYDROS, "'penalties'", "'diversion':{'max_flow_m3s':3},'penalties'", SCHEMA, 2, 2,
          "diversion.downstream_id", NULL, 0 },
        { HYDROS, "'penalties'", "'evaporation':{'coefficients_mm':[1,2]},'penalties'", SCHEMA, 2,
          2, "evaporation.coefficients_mm", NULL, 0 },
        { HYDROS, "'penalties'",
          "'evaporation':{'coefficients_mm':[1,1,1,1,1,1,1,1,1,1,1,1],"
          "'reference_volumes_hm3':[1,1,1,1,1,1,1,1,1,1,1,99]},'penalties'",
          RANGE, 2, 2, "evaporation.reference_volumes_hm3", NULL, 0 },
        { HYDROS, "'penalties'", "'tailrace':{'type':'spline'},'penalties'", ENUM, 2, 2,
          "tailrace.type", NULL, 0 },
        { THERMALS, "'id':6", "'id':5", TWICE, 2, 5, "id", NULL, 0 },
        { THERMALS, "'cost_per_mwh':60", "'cost_per_mwh':-60", RANGE, 2, 5, "cost_per_mwh", NULL,
          0 },
        { THERMALS, "'min_mw':5", "'min_mw':-5", RANGE, 2, 6, "generation.min_mw", NULL, 0 },
        { THERMALS, "'generation':{'min_mw':0,'max_mw':40}", "'min_mw':0,'max_mw':40", SCHEMA, 2, 5,
          "generation.min_mw", NULL, 0 },
        { "system/non_controllable_sources.json", NULL,
          "{'non_controllable_sources':[{'id':1,'name':'Wind','bus_id':0,"
          "'max_generation_mw':-1}]}",
          RANGE, 2, 1, "max_generation_mw", NULL, 0 },
        { "system/energy_contracts.json", NULL,
          "{'contracts':[{'id':1,'name':'A','bus_id':0,'type':'lease','price_per_mwh':1,"
          "'limits':{'min_mw':0,'max_mw':1}}]}",
          ENUM, 2, 1, "type", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void optional_json(void **state)
{
    static const broken rows[] = {
        { "scenarios/load_factors.json", NULL,
          "{'load_factors':[{'bus_id':0,'stage_id':0,'block_factors':["
          "{'block_id':0,'factor':0}]}]}",
          RANGE, 2, 0, "load_factors[0].block_factors[0].factor", NULL, 0 },
        { "scenarios/load_factors.json", NULL,
          "{'load_factors':[{'bus_id':0,'stage_id':0,'block_factors':[]},"
          "{'bus_id':0,'stage_id':0,'block_factors':[]}]}",
          TWICE, 2, 0, "bus_id", NULL, 0 },
        { "constraints/exchange_factors.json", NULL,
          "{'exchange_factors':[{'line_id':0,'stage_id':0,'block_factors':["
          "{'block_id':0,'direct_factor':1}]}]}",
          SCHEMA, 2, 0, "exchange_factors[0].block_factors[0].reverse_factor", NULL, 0 },
        { "scenarios/correlation.json", NULL,
          "{'method':'','profiles':{'default':"
          "{'correlation_groups':[]}}}",
          SCHEMA, 2, NONE, "method", NULL, 0 },
        { "scenarios/correlation.json", NULL, "{'method':'spectral','profiles':{}}", SCHEMA, 2,
          NONE, "profiles", NULL, 0 },
        { "constraints/generic_constraints.json", NULL,
          "{'constraints':[{'id':4,'name':'c','expression':'x','sense':'=<',"
          "'slack':{'enabled':false}}]}",
          ENUM, 2, 4, "sense", NULL, 0 },
        { "constraints/generic_constraints.json", NULL,
          "{'constraints':[{'id':4,'name':'c','expression':'x','sense':'<=',"
          "'slack':{'enabled':true}}]}",
          SCHEMA, 2, 4, "slack.penalty", NULL, 0 },
        { "system/hydro_production_models.json", NULL,
          "{'production_models':[{'hydro_id':1,'selection_mode':'always'}]}", ENUM, 2, 1,
          "production_models[0].selection_mode", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void parquet(void **state)
{
    static const broken rows[] = {
        { LOAD, NULL, "bus_id i64: 0; stage_id i32: 0; mean_mw f64: 1; std_mw f64: 0", TYPE, 2,
          NONE, "bus_id", NULL, 0 },
        { LOAD, NULL, "bus_id i32: 0; stage_id i32: 0; mean_mw f32: 1; std_mw f64: 0", TYPE, 2,
          NONE, "mean_mw", NULL, 0 },
        { LOAD, NULL, "bus_id i32: 0; stage_id i32: 0; mean_mw f64: 1", SCHEMA, 2, NONE, "std_mw",
          NULL, 0 },
        { LOAD, NULL, "bus_id i32: 0 1; stage_id i32: 0 0; mean_mw f64: 1 -; std_mw f64: 0 0",
          SCHEMA, 2, 1, "mean_mw", NULL, 0 },
        { LOAD, NULL, "bus_id i32: 0; stage_id i32: -; mean_mw f64: 1; std_mw f64: 0", SCHEMA, 2, 0,
          "stage_id", NULL, 0 },
        { INFLOW, NULL, "hydro_id i32: 1; stage_id i32: 0; mean_m3s f64: nan; std_m3s f64: 0",
          RANGE, 2, 1, "mean_m3s", NULL, 0 },
        { INFLOW, NULL, "hydro_id i32: 1; stage_id i32: 0; mean_m3s f64: 1; std_m3s f64: inf",
          RANGE, 2, 1, "std_m3s", NULL, 0 },
        { INFLOW, NULL, "hydro_id i32: 1; stage_id i32: 0; mean_m3s f64: 1; std_m3s f64: -2", RANGE,
          2, 1, "std_m3s", NULL, 0 },
        { INFLOW, NULL,
          "hydro_id i32: 1 2 1; stage_id i32: 0 0 0; mean_m3s f64: 1 1 1;"
          "std_m3s f64: 1 1 1",
          TWICE, 2, 1, "stage_id", NULL, 0 },
        { "constraints/thermal_bounds.parquet", NULL,
          "thermal_id i32: 5; stage_id i32: 0; cost_per_mwh f64: -1", RANGE, 2, 5, "cost_per_mwh",
          NULL, 0 },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 0; max_storage_hm3 f64: nan", RANGE, 2, 1,
          "max_storage_hm3", NULL, 0 },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 0; min_storage_hm3 f64: -1", RANGE, 2, 1,
          "min_storage_hm3", NULL, 0 },
        { "constraints/line_bounds.parquet", NULL,
          "line_id i32: 0; stage_id i32: 0; direct_mw f64: -40", RANGE, 2, 0, "direct_mw", NULL,
          0 },
        { "constraints/line_bounds.parquet", NULL,
          "line_id i32: 0; stage_id i32: 0; reverse_mw f64: -0.5", RANGE, 2, 0, "reverse_mw", NULL,
          0 },
        { "constraints/penalty_overrides_bus.parquet", NULL,
          "bus_id i32: 1; stage_id i32: 0; excess_cost f64: 0", RANGE, 2, 1, "excess_cost", NULL,
          0 },
        { "scenarios/noise_openings.parquet", NULL,
          "stage_id i32: 0; opening_index i32: 0; entity_index u32: 0; value f64: 0", TYPE, 2, NONE,
          "opening_index", NULL, 0 },
        { "scenarios/inflow_ar_coefficients.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 0; lag i32: 0; coefficient f64: 1;"
          "residual_std_ratio f64: 1",
          RANGE, 2, 1, "lag", NULL, 0 },
        { "constraints/ncs_bounds.parquet", NULL,
          "ncs_id i32: 1; stage_id i32: 0; available_generation_mw f64: -1", RANGE, 2, 1,
          "available_generation_mw", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

static void repeated_overrides_warn(void **state)
{
    static const broken rows[] = {
        { "constraints/line_bounds.parquet", NULL,
          "line_id i32: 0 0; stage_id i32: 1 1; direct_mw f64: 5 6", TWICE, 2, 0, "stage_id", NULL,
          0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

/* The whole key in words: a null, a number, a date. */
static void repeated_keys_are_spelled_out(void **state)
{
    static const struct {
        const char *file, *text, *message;
        cobre_severity severity;
    } rows[] = {
        { "constraints/thermal_bounds.parquet",
          "thermal_id i32: 5 5; stage_id i32: 1 1; cost_per_mwh f64: 3 4",
          "(thermal_id 5, stage_id 1, block_id null); the last", COBRE_SEVERITY_WARNING },
        { "scenarios/inflow_history.parquet",
          "hydro_id i32: 1 1; date date: 366 366; value_m3s f64: 1 1",
          "(hydro_id 1, date 1971-01-02)", COBRE_SEVERITY_ERROR },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scratch folder;
        scratch_open(&folder);
        base_write_all(&folder);
        base_write(&folder, rows[i].file, rows[i].text);
        loaded result = base_load_at(*state, folder.fd, "repeated");
        const cobre_finding *finding = cobre_report_finding(result.report, rows[i].severity, 0);
        assert_non_null(finding);
        if (!strstr(finding->message, rows[i].message))
            fail_msg("%s", finding->message);
        loaded_free(&result);
        scratch_close(&folder);
    }
}

static void wrong_expressions_are_explained(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    base_write(&folder, "constraints/generic_constraints.json",
               "{'constraints':[{'id':1,'name':'g','expression':'hydro_turbined(-1)','sense':'<=',"
               "'slack':{'enabled':false}}]}");
    loaded result = base_load_at(*state, folder.fd, "expression");
    const cobre_finding *finding = cobre_report_finding(result.report, COBRE_SEVERITY_ERROR, 0);
    assert_non_null(finding);
    assert_string_equal(finding->bare,
                        "expression: expected an integer >= 0 at byte 15, found '-1)'");
    loaded_free(&result);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_files),
        cmocka_unit_test(any_json),
        cmocka_unit_test(config),
        cmocka_unit_test(config_warnings),
        cmocka_unit_test(stages),
        cmocka_unit_test(penalties_and_initial_conditions),
        cmocka_unit_test(registries),
        cmocka_unit_test(optional_json),
        cmocka_unit_test(parquet),
        cmocka_unit_test(repeated_overrides_warn),
        cmocka_unit_test(repeated_keys_are_spelled_out),
        cmocka_unit_test(wrong_expressions_are_explained),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
