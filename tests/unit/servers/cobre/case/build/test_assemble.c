/*
 * test_assemble.c - every member of a case comes from the files: features one by one on top of the
 * base case, also under the original's arithmetic.
 *
 * The layers that compare files are left out, so features that the solver does not model yet are
 * seen here too.
 */
#include "../base_case.h"
#include "case/build/assemble.h"

#define CONFIG "config.json"
#define STAGES "stages.json"
#define HYDROS "system/hydros.json"
#define THERMALS "system/thermals.json"
#define INITIAL "initial_conditions.json"
#define SOURCES "system/non_controllable_sources.json"

/* Text of the base case with replacements of one piece each. */
typedef struct edit {
    const char *file, *find, *with; /* find NULL: the whole file */
} edit;

static char *edited(const char *text, const edit *change)
{
    const char *at = change->find ? strstr(text, change->find) : NULL;
    size_t size = strlen(text) + strlen(change->with) + 1;
    char *out = malloc(size);

    assert_non_null(out);
    if (!at)
        fail_msg("%s does not hold %s", change->file, change->find);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, change->with,
             at + strlen(change->find));
    return out;
}

static void apply(const scratch *folder, const edit *edits)
{
    for (const edit *change = edits; change->file; change++) {
        char *text = NULL;
        if (!change->find) {
            base_write(folder, change->file, change->with);
            continue;
        }
        text = strdup(base_text(change->file));
        for (const edit *other = edits; other <= change; other++) {
            if (!other->find || strcmp(other->file, change->file) != 0)
                continue;
            char *next = edited(text, other);
            free(text);
            text = next;
        }
        base_write(folder, change->file, text);
        free(text);
    }
}

static loaded build(columns *engine, const edit *edits)
{
    loaded result = { .arena = mcp_arena_new((size_t)64 << 20), .err = MCP_ERROR_INIT };
    cobre_input *input = NULL;
    cobre_case *built = NULL;
    scratch folder;

    result.report = cobre_report_new(result.arena);
    scratch_open(&folder);
    base_write_all(&folder);
    apply(&folder, edits);
    result.status = cobre_input_load(&input, folder.fd, engine, result.report, result.arena,
                                     &result.err);
    scratch_close(&folder);
    if (cobre_report_count(result.report, COBRE_SEVERITY_ERROR) > 0)
        loaded_print(&result, COBRE_SEVERITY_ERROR);
    assert_int_equal(cobre_report_count(result.report, COBRE_SEVERITY_ERROR), 0);
    assert_int_equal(cobre_assemble(&built, input, "dir", &result.err), MCP_OK);
    result.c = built;
    return result;
}

#define BUILD(...) build(*state, (const edit[]){ __VA_ARGS__, { NULL, NULL, NULL } })

#define ORIGINAL                                                                                   \
    {                                                                                              \
        CONFIG, "'inflow_non_negativity'", "'compatibility':'cobre-0.5','inflow_non_negativity'"   \
    }

/* ---- config.json ----------------------------------------------------------------------------- */

static void config_defaults(void **state)
{
    loaded result = BUILD({ CONFIG, "'tree_seed':7,", "" });
    const cobre_config *c = &result.c->config;

    assert_int_equal(c->seed, 42);
    assert_int_equal(c->cycle_rounds, 2);
    assert_false(c->soft_storage || c->is_multi_cut || c->original_arithmetic);
    assert_int_equal(c->selection.method, COBRE_SELECTION_NONE);
    assert_int_equal(c->selection.check_frequency, 5);
    assert_int_equal(c->selection.max_active, 0);
    assert_true(c->policy.checkpoints && c->policy.store_basis);
    assert_true(c->policy.validate_compatibility);
    assert_int_equal(c->policy.first_checkpoint, 1);
    assert_int_equal(c->policy.checkpoint_interval, 0);
    assert_null(c->policy.boundary_path);
    assert_int_equal(c->estimation.max_order, 6);
    assert_int_equal(c->estimation.min_observations, 30);
    assert_true(isinf(c->estimation.max_coefficient));
    assert_false(c->inner_bound.enabled);
    assert_int_equal(c->inner_bound.interval, 10);
    assert_true(isnan(c->inner_bound.fallback) && c->inner_bound.scale == 1);
    assert_int_equal(c->simulation_source.inflow, COBRE_SCHEME_IN_SAMPLE);
    loaded_free(&result);
}

#define WHOLE_CONFIG                                                                               \
    "{'training':{'tree_seed':-9,'forward_passes':3,'cut_formulation':'multi','stopping_rules':["  \
    "{'type':'simulation','replications':20,'period':4,'bound_window':3,'distance_tol':0.5,"       \
    "'bound_tol':0.25}],'cut_selection':{'enabled':true,'method':'domination','threshold':7,"      \
    "'check_frequency':2,'cut_activity_tolerance':0.125,'max_active_per_stage':40},"               \
    "'scenario_source':{'seed':-5,'inflow':{'scheme':'historical'},"                               \
    "'load':{'scheme':'out_of_sample'},'historical_years':[1990,1980,1990]}},"                     \
    "'simulation':{'scenario_source':{'seed':8,'ncs':{'scheme':'external'}}},"                     \
    "'policy':{'path':'p','mode':'warm_start','validate_compatibility':false,'checkpointing':{"    \
    "'enabled':false,'initial_iteration':3,'interval_iterations':6,'store_basis':false},"          \
    "'boundary':{'path':'q','source_stage':2}},'exports':{'states':true,'stochastic':true},"       \
    "'estimation':{'max_order':4,'order_selection':'pacf_annual',"                                 \
    "'min_observations_per_season':9,'max_coefficient_magnitude':2.5},"                            \
    "'upper_bound_evaluation':{'enabled':true,'initial_iteration':5,'interval_iterations':2,"      \
    "'lipschitz':{'mode':'auto','fallback_value':100,'scale_factor':1.5}},"                        \
    "'modeling':{'storage_bounds':'soft','cycle_rounds':4%s}}"

static loaded build_config(void **state, const char *more)
{
    char text[4096];

    snprintf(text, sizeof text, WHOLE_CONFIG, more);
    return BUILD({ CONFIG, NULL, text });
}

static void config_whole(void **state)
{
    loaded result = build_config(state, "");
    const cobre_config *c = &result.c->config;

    assert_int_equal(c->seed, 9);
    assert_true(c->is_multi_cut && c->soft_storage && c->inner_bound.enabled);
    assert_int_equal(c->cycle_rounds, 4);
    assert_int_equal(c->rules[0].kind, COBRE_RULE_SIMULATION);
    assert_int_equal(c->rules[0].replications, 20);
    assert_int_equal(c->rules[0].period, 4);
    assert_int_equal(c->rules[0].limit, 3);
    assert_true(c->rules[0].distance_tolerance == 0.5 && c->rules[0].tolerance == 0.25);
    assert_false(c->has_iteration_limit);
    assert_int_equal(c->max_iterations, 100);
    assert_int_equal(c->selection.method, COBRE_SELECTION_DOMINATION);
    assert_int_equal(c->selection.memory_window, 7); /* the deprecated threshold serves all */
    assert_true(c->selection.epsilon == 7 && c->selection.activity_tolerance == 0.125);
    assert_int_equal(c->selection.check_frequency, 2);
    assert_int_equal(c->selection.max_active, 40);
    assert_int_equal(c->training_source.seed, 5);
    assert_int_equal(c->training_source.inflow, COBRE_SCHEME_HISTORICAL);
    assert_int_equal(c->training_source.load, COBRE_SCHEME_OUT_OF_SAMPLE);
    assert_int_equal(c->training_source.year_count, 2);
    assert_int_equal(c->training_source.years[0], 1980);
    assert_int_equal(c->training_source.years[1], 1990);
    assert_int_equal(c->simulation_source.ncs, COBRE_SCHEME_EXTERNAL);
    assert_int_equal(c->simulation_source.inflow, COBRE_SCHEME_IN_SAMPLE);
    assert_int_equal(c->simulation_source.seed, 5); /* forward paths have the training's seed */
    assert_string_equal(c->policy.path, "p");
    assert_int_equal(c->policy.mode, COBRE_MODE_WARM_START);
    assert_false(c->policy.checkpoints || c->policy.store_basis);
    assert_false(c->policy.validate_compatibility);
    assert_int_equal(c->policy.first_checkpoint, 3);
    assert_int_equal(c->policy.checkpoint_interval, 6);
    assert_string_equal(c->policy.boundary_path, "q");
    assert_int_equal(c->policy.boundary_stage, 2);
    assert_true(c->export_states && c->export_stochastic);
    assert_int_equal(c->estimation.max_order, 4);
    assert_int_equal(c->estimation.order, COBRE_ORDER_PACF_ANNUAL);
    assert_int_equal(c->estimation.min_observations, 9);
    assert_true(c->estimation.max_coefficient == 2.5);
    assert_int_equal(c->inner_bound.first_iteration, 5);
    assert_int_equal(c->inner_bound.interval, 2);
    assert_true(c->inner_bound.fallback == 100 && c->inner_bound.scale == 1.5);
    loaded_free(&result);
}

/* What the original reads but does not model is off; its simulation rule is a limit of 100. */
static void config_of_the_original(void **state)
{
    loaded result = build_config(state, ",'compatibility':'cobre-0.5'");
    const cobre_config *c = &result.c->config;

    assert_true(c->original_arithmetic);
    assert_false(c->is_multi_cut || c->soft_storage || c->inner_bound.enabled);
    assert_int_equal(c->rules[0].kind, COBRE_RULE_ITERATION_LIMIT);
    assert_int_equal(c->rules[0].limit, 100);
    assert_true(c->has_iteration_limit);
    assert_int_equal(c->selection.method, COBRE_SELECTION_DOMINATION);
    loaded_free(&result);
}

static void historical_years_as_a_range(void **state)
{
    loaded result = BUILD({ CONFIG, "'stopping_mode':'any'",
                            "'scenario_source':{'seed':1,'inflow':{'scheme':'historical'},"
                            "'historical_years':{'from':1998,'to':2001}}" });
    const cobre_scenario_source *source = &result.c->config.simulation_source;

    assert_int_equal(source->year_count, 4);
    assert_int_equal(source->years[0], 1998);
    assert_int_equal(source->years[3], 2001);
    loaded_free(&result);
}

/* ---- stages.json ----------------------------------------------------------------------------- */

#define SEASONS                                                                                    \
    "'season_definitions':{'cycle_type':'custom','seasons':["                                      \
    "{'id':1,'label':'dry','month_start':4,'day_start':15,'month_end':9,'day_end':14},"            \
    "{'id':0,'label':'wet','month_start':11}]},"                                                   \
    "'pre_study_stages':[{'id':-1,'start_date':'2029-12-01','end_date':'2030-01-01',"              \
    "'season_id':0}],'stages':"

static void stages_whole(void **state)
{
    loaded result = BUILD({ STAGES, "'stages':", SEASONS },
                          { STAGES, "'num_scenarios':3,",
                            "'num_scenarios':4,'season_id':0,'sampling_method':'qmc_halton',"
                            "'block_mode':'chronological'," },
                          { STAGES, "'finite_horizon'", "'cyclic'" },
                          { STAGES, "'transitions':[]",
                            "'transitions':[{'source_id':2,'target_id':1,'probability':1,"
                            "'annual_discount_rate_override':0.21}]" });
    const cobre_case *c = result.c;

    assert_int_equal(c->stages[0].sampling, COBRE_SAMPLING_HALTON);
    assert_true(c->stages[0].is_chronological && c->stages[0].has_season);
    assert_int_equal(c->stages[0].openings, 4);
    assert_int_equal(c->stages[0].days, 31);
    assert_int_equal(c->stages[1].sampling, COBRE_SAMPLING_SAA);
    assert_false(c->stages[1].has_season);
    assert_true(fabs(c->stages[2].discount - pow(1.21, -31 / 365.25)) < 1e-15);
    assert_true(c->is_cyclic);
    assert_int_equal(c->cycle_start, 1);
    assert_int_equal(c->pre_stage_count, 1);
    assert_int_equal(c->pre_stages[0].id, -1);
    assert_int_equal(c->pre_stages[0].end, c->stages[0].start);
    assert_true(c->pre_stages[0].has_season && c->pre_stages[0].season_id == 0);
    assert_true(c->has_seasons);
    assert_int_equal(c->cycle, COBRE_CYCLE_CUSTOM);
    assert_int_equal(c->season_count, 2);
    assert_string_equal(c->seasons[0].label, "wet"); /* sorted by id, defaults filled in */
    assert_int_equal(c->seasons[0].day_start, 1);
    assert_int_equal(c->seasons[0].month_end, 11);
    assert_int_equal(c->seasons[0].day_end, 31);
    assert_int_equal(c->seasons[1].month_end, 9);
    loaded_free(&result);
}

static void stages_of_the_original(void **state)
{
    loaded result = BUILD(
        { STAGES, "'num_scenarios':3,", "'num_scenarios':3,'block_mode':'chronological'," },
        { STAGES, "'finite_horizon'", "'cyclic'" }, ORIGINAL);

    assert_false(result.c->stages[0].is_chronological);
    assert_false(result.c->is_cyclic);
    loaded_free(&result);
}

/* ---- hydros ---------------------------------------------------------------------------------- */

#define HEAD                                                                                       \
    "'tailrace':{'type':'piecewise','points':[{'outflow_m3s':50,'height_m':4},"                    \
    "{'outflow_m3s':0,'height_m':3}]},'hydraulic_losses':{'type':'factor','value':0.02},"          \
    "'efficiency':{'type':'constant','value':0.93},'evaporation':{'coefficients_mm':"              \
    "[1,2,3,4,5,6,7,8,9,10,11,12],'reference_volumes_hm3':"                                        \
    "[20,20,20,20,20,20,20,20,20,20,20,50]},'diversion':{'downstream_id':1,'max_flow_m3s':6},"

static void hydro_models(void **state)
{
    loaded result = BUILD({ HYDROS, "'penalties'", HEAD "'penalties'" },
                          { "system/hydro_geometry.parquet", NULL,
                            "hydro_id i32: 2 1 2; volume_hm3 f64: 50 0 0; height_m f64: 30 1 20;"
                            "area_km2 f64: 5 1 2" },
                          { "system/fpha_hyperplanes.parquet", NULL,
                            "hydro_id i32: 2 2 2 2; stage_id i32: - 1 1 77; plane_id i32: 0 1 0 0;"
                            "gamma_0 f64: 1 2 3 4; gamma_v f64: 0 0 0 0; gamma_q f64: 1 1 1 1;"
                            "gamma_s f64: 0 0 0 0; kappa f64: - 0.9 1 1" });
    const cobre_hydro *hydro = &result.c->hydros[1];

    assert_int_equal(hydro->id, 2);
    assert_int_equal(hydro->tailrace, COBRE_TAILRACE_PIECEWISE);
    assert_int_equal(hydro->tailrace_count, 2);
    assert_true(hydro->tailrace_points[0].x == 0 && hydro->tailrace_points[1].y == 4);
    assert_int_equal(hydro->loss, COBRE_LOSS_FACTOR);
    assert_true(hydro->loss_value == 0.02 && hydro->efficiency == 0.93);
    assert_true(hydro->evaporates && hydro->evaporation_mm[11] == 12);
    assert_true(hydro->evaporation_reference[11] == 50);
    assert_int_equal(hydro->diversion_downstream, 0);
    assert_true(hydro->diversion_max_m3s == 6);
    assert_int_equal(hydro->geometry_count, 2);
    assert_true(hydro->geometry[0].volume_hm3 == 0 && hydro->geometry[1].area_km2 == 5);
    assert_int_equal(result.c->hydros[0].geometry_count, 1);
    assert_int_equal(hydro->plane_count, 3); /* stage 77 does not exist */
    assert_int_equal(hydro->planes[0].stage, 1);
    assert_int_equal(hydro->planes[0].plane_id, 0);
    assert_true(hydro->planes[1].kappa == 0.9);
    assert_true(hydro->planes[2].stage == COBRE_NONE && hydro->planes[2].kappa == 1);
    assert_true(hydro->max_turbined == 70 && hydro->max_storage == 50);
    assert_false(result.c->hydros[0].evaporates);
    assert_true(isnan(result.c->hydros[0].efficiency));
    loaded_free(&result);
}

static void production_by_stage_and_season(void **state)
{
    loaded result = BUILD(
        { STAGES, "'id':1,'start_date':'2030-02", "'id':1,'season_id':7,'start_date':'2030-02" },
        { "system/hydro_production_models.json", NULL,
          "{'production_models':[{'hydro_id':2,'selection_mode':'stage_ranges','stage_ranges':["
          "{'start_stage_id':0,'end_stage_id':0,'model':'fpha','fpha_config':{"
          "'source':'computed','volume_discretization_points':3,'max_planes_per_hydro':4,"
          "'fitting_window':{'volume_min_hm3':5,'volume_max_percentile':0.75}}},"
          "{'start_stage_id':0,'end_stage_id':1,'model':'linear','productivity_override':0.5}]},"
          "{'hydro_id':1,'selection_mode':'seasonal','default_model':'constant','seasons':["
          "{'season_id':7,'model':'fpha','fpha_config':{'source':'precomputed'}}]}]}" });
    const cobre_hydro_stage *upper = result.c->hydro_stages, *lower = upper + 1;

    assert_true(lower[0].is_fpha && lower[0].fit->is_computed);
    assert_int_equal(lower[0].fit->volume_points, 3);
    assert_int_equal(lower[0].fit->turbine_points, 5);
    assert_int_equal(lower[0].fit->max_planes, 4);
    assert_true(lower[0].fit->volume_min == 5 && isnan(lower[0].fit->percentile_min));
    assert_true(isnan(lower[0].fit->volume_max) && lower[0].fit->percentile_max == 0.75);
    assert_false(lower[2].is_fpha);
    assert_true(lower[2].productivity == 0.5 && !lower[2].fit);
    assert_true(lower[4].productivity == 0.9 && !lower[4].is_fpha); /* in no range */
    assert_false(upper[0].is_fpha);
    assert_true(upper[2].is_fpha && !upper[2].fit->is_computed);
    loaded_free(&result);
}

static void a_hydro_fills_before_it_enters(void **state)
{
    static const edit edits[] = {
        { HYDROS, "'bus_id':0,'downstream_id':2",
          "'bus_id':0,'entry_stage_id':2,'filling':{'start_stage_id':1,'filling_inflow_m3s':3},"
          "'downstream_id':2" },
        { INITIAL, "{'hydro_id':1,'value_hm3':80.5}],'filling_storage':[]",
          "{'hydro_id':1,'value_hm3':80.5}]" },
        { INITIAL, NULL,
          "{'storage':[{'hydro_id':2,'value_hm3':30}],"
          "'filling_storage':[{'hydro_id':1,'value_hm3':4}]}" },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 1 1; stage_id i32: 1 2; filling_inflow_m3s f64: 5 6" },
        { NULL, NULL, NULL },
    };
    const edit whole[] = { edits[0], edits[2], edits[3], edits[4] };
    const edit original[] = { edits[0], edits[2], edits[3], ORIGINAL, edits[4] };
    loaded result = build(*state, whole);
    const cobre_hydro_stage *stages = result.c->hydro_stages;

    assert_true(result.c->hydros[0].has_filling);
    assert_int_equal(result.c->hydros[0].filling_start, 1);
    assert_true(result.c->hydros[0].initial_storage_hm3 == 4);
    assert_int_equal(stages[0].phase, COBRE_HYDRO_ABSENT);
    assert_int_equal(stages[2].phase, COBRE_HYDRO_FILLING);
    assert_true(stages[2].is_last_filling && stages[2].filling_inflow == 5);
    assert_int_equal(stages[4].phase, COBRE_HYDRO_OPERATING);
    assert_true(stages[4].is_soft && !stages[1].is_soft);
    assert_int_equal(stages[1].phase, COBRE_HYDRO_OPERATING);
    loaded_free(&result);
    result = build(*state, original);
    assert_false(result.c->hydros[0].has_filling);
    assert_int_equal(result.c->hydro_stages[0].phase, COBRE_HYDRO_OPERATING);
    assert_true(result.c->hydros[0].initial_storage_hm3 == 0);
    loaded_free(&result);
}

/* Global 105 and 106 with a directed one of 11; hydro 2 has 77 for withdrawals; stage overrides. */
static void directed_costs(void **state)
{
    static const edit edits[] = {
        { "penalties.json", "'water_withdrawal_violation_cost':106",
          "'water_withdrawal_violation_cost':106,'water_withdrawal_violation_neg_cost':11,"
          "'evaporation_violation_pos_cost':12" },
        { "constraints/penalty_overrides_hydro.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 1; water_withdrawal_violation_cost f64: 5;"
          "evaporation_violation_cost f64: 6; spillage_cost f64: 7" },
        { NULL, NULL, NULL },
    };
    const edit original[] = { edits[0], edits[1], ORIGINAL, edits[2] };
    loaded result = build(*state, edits);
    const cobre_hydro_stage *stages = result.c->hydro_stages;

    assert_true(stages[0].withdrawal_pos_cost == 106 && stages[0].withdrawal_neg_cost == 11);
    assert_true(stages[0].evaporation_pos_cost == 12 && stages[0].evaporation_neg_cost == 105);
    assert_true(stages[1].withdrawal_pos_cost == 77 && stages[1].withdrawal_neg_cost == 77);
    assert_true(stages[2].withdrawal_pos_cost == 5 && stages[2].withdrawal_neg_cost == 5);
    assert_true(stages[2].evaporation_pos_cost == 6 && stages[2].evaporation_neg_cost == 6);
    loaded_free(&result);
    result = build(*state, original);
    stages = result.c->hydro_stages;
    assert_true(stages[2].withdrawal_pos_cost == 106 && stages[2].withdrawal_neg_cost == 11);
    assert_true(stages[2].evaporation_pos_cost == 12 && stages[2].evaporation_neg_cost == 105);
    assert_true(stages[2].spillage_cost == 7); /* the undirected ones still count */
    loaded_free(&result);
}

/* ---- the other elements ---------------------------------------------------------------------- */

#define SOURCE_FILE                                                                                \
    {                                                                                              \
        SOURCES, NULL,                                                                             \
            "{'non_controllable_sources':[{'id':4,'name':'Wind','bus_id':1,"                       \
            "'max_generation_mw':20,'entry_stage_id':1,'exit_stage_id':2},"                        \
            "{'id':3,'name':'Sun','bus_id':0,'max_generation_mw':10,'curtailment_cost':0.5}]}"     \
    }

static void sources_have_rows(void **state)
{
    static const edit edits[] = {
        SOURCE_FILE,
        { "scenarios/non_controllable_stats.parquet", NULL,
          "ncs_id i32: 4 4; stage_id i32: 0 1; mean f64: 0.3 0.4; std f64: 0.1 0.2" },
        { "constraints/ncs_bounds.parquet", NULL,
          "ncs_id i32: 3; stage_id i32: 2; available_generation_mw f64: 7" },
        { "constraints/penalty_overrides_ncs.parquet", NULL,
          "source_id i32: 3; stage_id i32: 0; curtailment_cost f64: 0.75" },
        { "scenarios/non_controllable_factors.json", NULL,
          "{'non_controllable_factors':[{'ncs_id':3,'stage_id':0,'block_factors':["
          "{'block_id':1,'factor':0.25}]}]}" },
        { NULL, NULL, NULL },
    };
    const edit original[] = { edits[0], edits[3], ORIGINAL, edits[5] };
    loaded result = build(*state, edits);
    const cobre_case *c = result.c;

    assert_int_equal(c->source_count, 2);
    assert_int_equal(c->sources[0].id, 3);
    assert_int_equal(c->sources[1].bus, 1);
    assert_true(c->sources[1].is_stochastic && !c->sources[0].is_stochastic);
    assert_true(c->source_stages[0].curtailment_cost == 0.75);
    assert_true(c->source_stages[2].curtailment_cost == 0.5);
    assert_true(c->source_stages[1].curtailment_cost == 0.005);
    assert_true(c->source_stages[0].factor[0] == 1 && c->source_stages[0].factor[1] == 0.25);
    assert_null(c->source_stages[2].factor);
    assert_true(c->source_stages[2].available_mw == 10 && c->source_stages[4].available_mw == 7);
    assert_true(c->source_stages[3].mean == 0.4 && c->source_stages[3].std == 0.2);
    assert_true(c->source_stages[1].is_absent && !c->source_stages[3].is_absent);
    assert_true(c->source_stages[5].is_absent);
    loaded_free(&result);
    result = build(*state, original);
    assert_true(result.c->source_stages[0].curtailment_cost == 0.5);
    assert_true(result.c->source_stages[1].is_absent); /* of sources the original honours it */
    loaded_free(&result);
}

static void stations_and_contracts(void **state)
{
    static const edit edits[] = {
        { "system/pumping_stations.json", NULL,
          "{'pumping_stations':[{'id':1,'name':'P','bus_id':1,'source_hydro_id':2,"
          "'destination_hydro_id':1,'consumption_mw_per_m3s':2,'exit_stage_id':2,"
          "'flow':{'min_m3s':1,'max_m3s':9}}]}" },
        { "system/energy_contracts.json", NULL,
          "{'contracts':[{'id':1,'name':'A','bus_id':0,'type':'export','price_per_mwh':-3,"
          "'limits':{'min_mw':0,'max_mw':8}}]}" },
        { "constraints/pumping_bounds.parquet", NULL,
          "station_id i32: 1; stage_id i32: 1; max_m3s f64: 4" },
        { "constraints/contract_bounds.parquet", NULL,
          "contract_id i32: 1; stage_id i32: 2; min_mw f64: 2; price_per_mwh f64: -5" },
        { NULL, NULL, NULL },
    };
    const edit original[] = { edits[0], edits[1], ORIGINAL, edits[4] };
    loaded result = build(*state, edits);
    const cobre_case *c = result.c;

    assert_int_equal(c->stations[0].source, 1);
    assert_int_equal(c->stations[0].destination, 0);
    assert_true(c->stations[0].consumption == 2);
    assert_true(c->station_stages[1].min_m3s == 1 && c->station_stages[1].max_m3s == 4);
    assert_true(c->station_stages[2].is_absent && !c->station_stages[1].is_absent);
    assert_true(c->contracts[0].is_export);
    assert_true(c->contract_stages[1].price_per_mwh == -3 && c->contract_stages[1].min_mw == 0);
    assert_true(c->contract_stages[2].price_per_mwh == -5 && c->contract_stages[2].min_mw == 2);
    assert_true(c->contract_stages[2].max_mw == 8);
    loaded_free(&result);
    result = build(*state, original);
    assert_true(result.c->station_stages[0].is_absent && result.c->contract_stages[0].is_absent);
    loaded_free(&result);
}

static void entry_and_exit(void **state)
{
    static const edit edits[] = {
        { THERMALS, "'bus_id':0", "'bus_id':0,'entry_stage_id':1,'exit_stage_id':2" },
        { "system/lines.json", "'capacity'", "'losses_percent':3,'exit_stage_id':1,'capacity'" },
        { NULL, NULL, NULL },
    };
    const edit original[] = { edits[0], edits[1], ORIGINAL, edits[2] };
    loaded result = build(*state, edits);

    assert_true(result.c->thermal_stages[0].is_absent && !result.c->thermal_stages[2].is_absent);
    assert_true(result.c->thermal_stages[4].is_absent && !result.c->thermal_stages[1].is_absent);
    assert_true(!result.c->line_stages[0].is_absent && result.c->line_stages[1].is_absent);
    assert_true(result.c->lines[0].losses_percent == 3);
    loaded_free(&result);
    result = build(*state, original);
    assert_false(result.c->thermal_stages[0].is_absent || result.c->line_stages[1].is_absent);
    assert_true(result.c->lines[0].losses_percent == 0);
    loaded_free(&result);
}

/* ---- scenarios ------------------------------------------------------------------------------- */

static void series(void **state)
{
    loaded result = BUILD(
        { "scenarios/inflow_seasonal_stats.parquet", NULL,
          "hydro_id i32: 2 1 1; stage_id i32: 0 0 -1; mean_m3s f64: 8 40 39; std_m3s f64: 2 12 11" },
        { "scenarios/inflow_ar_coefficients.parquet", NULL,
          "hydro_id i32: 1 1; stage_id i32: 0 0; lag i32: 2 1; coefficient f64: 0.2 0.5;"
          "residual_std_ratio f64: 0.9 0.9" },
        { "scenarios/inflow_annual_component.parquet", NULL,
          "hydro_id i32: 2; stage_id i32: 0; annual_coefficient f64: 0.1;"
          "annual_mean_m3s f64: 33; annual_std_m3s f64: 4" },
        { "scenarios/inflow_history.parquet", NULL,
          "hydro_id i32: 2 1; date date: 10 9; value_m3s f64: 4 -5" },
        { INITIAL, "'filling_storage':[]",
          "'filling_storage':[],'past_inflows':[{'hydro_id':2,'values_m3s':[5,6.5]}],"
          "'recent_observations':[{'hydro_id':2,'start_date':'2029-12-20',"
          "'end_date':'2029-12-31','value_m3s':8}]" });
    const cobre_scenarios *s = &result.c->scenarios;

    assert_int_equal(s->inflow_stats_count, 3);
    assert_int_equal(s->inflow_stats[0].stage_id, -1);
    assert_true(s->inflow_stats[0].hydro == 0 && s->inflow_stats[0].mean == 39);
    assert_true(s->inflow_stats[2].hydro == 1 && s->inflow_stats[2].std == 2);
    assert_true(result.c->hydro_stages[0].inflow_mean == 40);
    assert_int_equal(s->ar_count, 2);
    assert_true(s->ar[0].lag == 1 && s->ar[0].coefficient == 0.5 && s->ar[1].residual_ratio == 0.9);
    assert_int_equal(s->annual_count, 1);
    assert_true(s->annual[0].hydro == 1 && s->annual[0].mean == 33 && s->annual[0].std == 4);
    assert_int_equal(s->history_count, 2);
    assert_true(s->history[0].date == 9 && s->history[0].value == -5);
    assert_int_equal(s->recent_count, 1);
    assert_true(s->recent[0].hydro == 1 && s->recent[0].value == 8);
    assert_int_equal(s->recent[0].end - s->recent[0].start, 11);
    assert_int_equal(result.c->hydros[1].past_inflow_count, 2);
    assert_true(result.c->hydros[1].past_inflow[1] == 6.5);
    assert_int_equal(result.c->hydros[0].past_inflow_count, 0);
    loaded_free(&result);
}

/* Stages are numbered in external scenarios and openings, so ids that do not begin at 0 matter. */
static void tables_by_stage_index(void **state)
{
    loaded result = BUILD(
        { "scenarios/external_inflow_scenarios.parquet", NULL,
          "stage_id i32: 1 1 1 1; scenario_id i32: 0 1 0 1; hydro_id i32: 2 1 1 2;"
          "value_m3s f64: 1 2 3 4" },
        { "scenarios/noise_openings.parquet", NULL,
          "stage_id i32: 0 0 0 2 2 2; opening_index u32: 0 0 0 0 0 0; entity_index u32: 0 1 2 2 1 "
          "0; value f64: 1 2 3 4 5 6" },
        { "config.json", "'stopping_mode':'any'",
          "'scenario_source':{'seed':1,'inflow':{'scheme':'external'}}" });
    const cobre_scenarios *s = &result.c->scenarios;

    assert_int_equal(s->inflow.entities, 2);
    assert_int_equal(s->inflow.counts[0], 0);
    assert_int_equal(s->inflow.counts[1], 2);
    assert_true(s->inflow.values[1][0] == 3 && s->inflow.values[1][1] == 1);
    assert_true(s->inflow.values[1][2] == 2 && s->inflow.values[1][3] == 4);
    assert_null(s->load.counts);
    /* bus 1 has a deviation in stage 1, so openings have three entities */
    assert_int_equal(s->opening_counts[0], 1);
    assert_true(s->openings[0][2] == 3 && s->openings[2][0] == 6);
    loaded_free(&result);
}

static void correlation(void **state)
{
    loaded result = BUILD(
        { "scenarios/correlation.json", NULL,
          "{'method':'spectral','profiles':{'dry':{'correlation_groups':[{'name':'g','entities':["
          "{'type':'inflow','id':2},{'type':'inflow','id':1}],'matrix':[[1,0.25],[0.25,1]]},"
          "{'name':'empty','entities':[],'matrix':[]}]},"
          "'default':{'correlation_groups':[{'name':'l','entities':[{'type':'load','id':1}],"
          "'matrix':[[1]]}]}},'schedule':[{'stage_id':1,'profile_name':'dry'}]}" });
    const cobre_scenarios *s = &result.c->scenarios;

    assert_true(s->has_correlation);
    assert_int_equal(s->profile_count, 2);
    assert_int_equal(s->default_profile, 1);
    assert_int_equal(s->profile_of_stage[0], 1);
    assert_int_equal(s->profile_of_stage[1], 0);
    assert_int_equal(s->profiles[0].group_count, 1);
    const cobre_correlation_group *group = s->profiles[0].groups;
    assert_int_equal(group->type, COBRE_CLASS_INFLOW);
    assert_true(group->members[0] == 1 && group->members[1] == 0);
    assert_true(group->matrix[1] == 0.25 && group->matrix[3] == 1);
    assert_int_equal(s->profiles[1].groups[0].type, COBRE_CLASS_LOAD);
    loaded_free(&result);
}

/* ---- generic constraints --------------------------------------------------------------------- */

static void constraints(void **state)
{
    static const edit edits[] = {
        { "constraints/generic_constraints.json", NULL,
          "{'constraints':[{'id':8,'name':'B','expression':"
          "'- hydro_turbined(2, 1) + 2.5*thermal_generation(6) + hydro_withdrawal(1)',"
          "'sense':'<=','slack':{'enabled':true,'penalty':40}},{'id':3,'name':'A',"
          "'expression':'hydro_storage(1)','sense':'==','slack':{'enabled':false}}]}" },
        { "constraints/generic_constraint_bounds.parquet", NULL,
          "constraint_id i32: 8 3 8 8; stage_id i32: 0 0 9 1; bound f64: 10 20 30 40;"
          "block_id i32: - 1 - -" },
        { NULL, NULL, NULL },
    };
    const edit original[] = { edits[0], edits[1], ORIGINAL, edits[2] };
    loaded result = build(*state, edits);
    const cobre_case *c = result.c;

    assert_int_equal(c->constraint_count, 2);
    assert_int_equal(c->constraints[0].id, 3);
    assert_int_equal(c->constraints[0].sense, COBRE_SENSE_EQ);
    assert_false(c->constraints[0].has_slack);
    const cobre_constraint *b = &c->constraints[1];
    assert_true(b->sense == COBRE_SENSE_LE && b->has_slack && b->penalty == 40);
    assert_int_equal(b->term_count, 3);
    assert_int_equal(b->terms[0].variable, COBRE_VAR_HYDRO_TURBINED);
    assert_true(b->terms[0].entity == 1 && b->terms[0].block == 1);
    assert_true(b->terms[0].coefficient == -1);
    assert_true(b->terms[1].entity == 1 && b->terms[1].block == COBRE_NONE);
    assert_true(b->terms[1].coefficient == 2.5);
    /* stage 0 has two blocks; stage 9 does not exist */
    assert_int_equal(c->constraint_row_count, 4);
    const cobre_constraint_row *rows = c->constraint_rows;
    assert_true(rows[0].constraint == 0 && rows[0].block == 1 && rows[0].bound == 20);
    assert_true(rows[1].constraint == 1 && rows[1].block == 0 && rows[1].bound == 10);
    assert_true(rows[2].block == 1 && rows[2].bound == 10);
    assert_true(rows[3].stage == 1 && rows[3].bound == 40);
    loaded_free(&result);
    result = build(*state, original);
    assert_int_equal(result.c->constraints[1].term_count, 2); /* the withdrawal is lost */
    loaded_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_defaults),
        cmocka_unit_test(config_whole),
        cmocka_unit_test(config_of_the_original),
        cmocka_unit_test(historical_years_as_a_range),
        cmocka_unit_test(stages_whole),
        cmocka_unit_test(stages_of_the_original),
        cmocka_unit_test(hydro_models),
        cmocka_unit_test(production_by_stage_and_season),
        cmocka_unit_test(a_hydro_fills_before_it_enters),
        cmocka_unit_test(directed_costs),
        cmocka_unit_test(sources_have_rows),
        cmocka_unit_test(stations_and_contracts),
        cmocka_unit_test(entry_and_exit),
        cmocka_unit_test(series),
        cmocka_unit_test(tables_by_stage_index),
        cmocka_unit_test(correlation),
        cmocka_unit_test(constraints),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
