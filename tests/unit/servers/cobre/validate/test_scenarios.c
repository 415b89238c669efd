/*
 * test_scenarios.c - rules about schemes, sampling, correlation and settings that hang together,
 * one broken at a time.
 */
#include "broken.h"

#define PHYSICAL COBRE_KIND_PHYSICAL_CONSTRAINT
#define SETTINGS COBRE_KIND_INCOMPATIBLE_SETTINGS
#define REFERENCE COBRE_KIND_MISSING_REFERENCE
#define COVERAGE COBRE_KIND_COVERAGE_MISMATCH

#define CORRELATION "scenarios/correlation.json"
#define OPENINGS "scenarios/noise_openings.parquet"
#define EXTERNAL "scenarios/external_inflow_scenarios.parquet"
#define MODE "'stopping_mode':'any'"

static const base_file correlated[] = {
    { CORRELATION,
      "{'method':'spectral','profiles':{'default':{'correlation_groups':["
      "{'name':'rivers','entities':[{'type':'inflow','id':1},{'type':'inflow','id':2}],"
      "'matrix':[[1,0.5],[0.5,1]]},"
      "{'name':'loads','entities':[{'type':'load','id':1}],'matrix':[[1]]}]},"
      "'dry':{'correlation_groups':[]}},"
      "'schedule':[{'stage_id':1,'profile_name':'dry'}]}" },
    { NULL, NULL },
};

static void correlation(void **state)
{
    static const broken rows[] = {
        { CORRELATION, "{'type':'inflow','id':2}", "{'type':'inflow','id':9}", REFERENCE, 3, 9,
          "entities.id", NULL, 0 },
        { CORRELATION, "{'type':'load','id':1}", "{'type':'load','id':9}", REFERENCE, 3, 9,
          "entities.id", NULL, 0 },
        { CORRELATION, "{'type':'load','id':1}", "{'type':'ncs','id':1}", REFERENCE, 3, 1,
          "entities.id", NULL, 0 },
        { CORRELATION, "{'type':'inflow','id':2}", "{'type':'load','id':0}", PHYSICAL, 5, NONE,
          "entities.type", NULL, 0 },
        { CORRELATION, "{'type':'load','id':1}", "{'type':'inflow','id':1}", SETTINGS, 5, 1,
          "entities", NULL, 0 },
        { CORRELATION, "'schedule':[", "'schedule':[{'stage_id':1,'profile_name':'default'},",
          SETTINGS, 5, 1, "schedule.stage_id", NULL, 0 },
        { CORRELATION, "'default'", "'wet'", SETTINGS, 5, NONE, "profiles", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, correlated, rows, COBRE_SEVERITY_ERROR);
}

static void correlation_warns(void **state)
{
    static const broken rows[] = {
        { CORRELATION, "'spectral'", "'lucky'", SETTINGS, 5, NONE, "method", NULL, 0 },
        { CORRELATION, "'stage_id':1", "'stage_id':8", REFERENCE, 3, NONE, "schedule.stage_id",
          NULL, 0 },
    };

    BROKEN_RUN_ON(*state, correlated, rows, COBRE_SEVERITY_WARNING);
}

/* Of three noises two that follow the third one alike cannot be opposite. A matrix of rank 1, and
 * one that is indefinite by the rounding of its digits alone, are fine. */
static void correlations_that_contradict_one_another_warn(void **state)
{
    static const base_file context[] = {
        { "system/non_controllable_sources.json",
          "{'non_controllable_sources':[{'id':3,'name':'Sun','bus_id':0,'max_generation_mw':9},"
          "{'id':4,'name':'Wind','bus_id':0,'max_generation_mw':9},"
          "{'id':5,'name':'Tide','bus_id':0,'max_generation_mw':9}]}" },
        { CORRELATION, "{'method':'spectral','profiles':{'default':{'correlation_groups':["
                       "{'name':'skies','entities':[{'type':'ncs','id':3},{'type':'ncs','id':4},"
                       "{'type':'ncs','id':5}],'matrix':[[1,1,1],[1,1,1],[1,1,1]]},"
                       "{'name':'rivers','entities':[{'type':'inflow','id':1},"
                       "{'type':'inflow','id':2}],'matrix':[[1,-1],[-1,1]]}]},"
                       "'dry':{'correlation_groups':["
                       "{'name':'skies','entities':[{'type':'ncs','id':3},{'type':'ncs','id':4},"
                       "{'type':'ncs','id':5}],"
                       "'matrix':[[1,0.6,0.8],[0.6,1,-0.0000001],[0.8,-0.0000001,1]]}]}}}" },
        { NULL, NULL },
    };
    static const broken rows[] = {
        { CORRELATION, "[[1,1,1],[1,1,1],[1,1,1]]", "[[1,0.9,0.9],[0.9,1,-0.9],[0.9,-0.9,1]]",
          PHYSICAL, 5, NONE, "matrix", NULL, 0 },
        { CORRELATION, "[[1,1,1],[1,1,1],[1,1,1]]", "[[1,1,1],[1,1,0.9],[1,0.9,1]]", PHYSICAL, 5,
          NONE, "matrix", NULL, 0 },
        { CORRELATION, "'spectral'", "'lucky'", SETTINGS, 5, NONE, "method", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_WARNING);
}

static void schemes(void **state)
{
    static const broken rows[] = {
        { CONFIG, MODE, "'scenario_source':{'seed':1,'inflow':{'scheme':'external'}}", SETTINGS, 5,
          NONE, "training.scenario_source.inflow.scheme", NULL, 0 },
        { CONFIG, "'num_scenarios':50",
          "'scenario_source':{'seed':1,'load':{'scheme':'external'},'ncs':{'scheme':'external'}}",
          SETTINGS, 5, NONE, "simulation.scenario_source.load.scheme", NULL, 1 },
        { CONFIG, MODE, "'scenario_source':{'seed':1,'inflow':{'scheme':'historical'}}", SETTINGS,
          5, NONE, "training.scenario_source.inflow.scheme", NULL, 0 },
        { STAGES, "'risk_measure'", "'sampling_method':'selective','risk_measure'", SETTINGS, 5, 2,
          "sampling_method", NULL, 0 },
        { STAGES, "'risk_measure'", "'sampling_method':'historical_residuals','risk_measure'",
          SETTINGS, 5, 2, "sampling_method", NULL, 0 },
        { CONFIG, MODE, "'cut_selection':{'enabled':true}", SETTINGS, 5, NONE,
          "training.cut_selection.method", NULL, 0 },
        { CONFIG, MODE, "'cut_selection':{'enabled':true,'method':'lml1','check_frequency':0}",
          SETTINGS, 5, NONE, "training.cut_selection.check_frequency", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_ERROR);
}

/* 1000 hydros are the most that sobol and halton points are known for: with one more no stage can
 * draw them. */
static void points_have_a_limit_of_dimensions(void **state)
{
    static const char *const methods[] = { "qmc_sobol", "qmc_halton" };

    for (size_t i = 0; i < 2; i++) {
        for (int count = 1000; count <= 1001; count++) {
            size_t size = (size_t)count * 320 + 64, used = 0;
            char *hydros = malloc(size), stage[160];
            scratch folder;
            assert_non_null(hydros);
            used += (size_t)snprintf(hydros, size, "{'hydros':[");
            for (int id = 1; id <= count; id++)
                used += (size_t)snprintf(
                    hydros + used, size - used,
                    "%s{'id':%d,'name':'H','bus_id':0,'reservoir':{'min_storage_hm3':0,"
                    "'max_storage_hm3':90},'outflow':{'min_outflow_m3s':0},'generation':{'model':"
                    "'constant_productivity','productivity_mw_per_m3s':1,'min_turbined_m3s':0,"
                    "'max_turbined_m3s':1,'min_generation_mw':0,'max_generation_mw':1}}",
                    id > 1 ? "," : "", id);
            snprintf(hydros + used, size - used, "]}");
            snprintf(stage, sizeof stage, "'sampling_method':'%s','risk_measure'", methods[i]);
            const broken method = { .file = STAGES, .find = "'risk_measure'", .with = stage };
            scratch_open(&folder);
            base_write_all(&folder);
            base_write(&folder, HYDROS, hydros);
            unlinkat(folder.fd, INFLOW, 0);
            /* a stochastic bus would count as well */
            base_write(&folder, LOAD,
                       "bus_id i32: 0 0 0 1 1 1; stage_id i32: 0 1 2 0 1 2;"
                       "mean_mw f64: 70 71 72 50 51 52; std_mw f64: 0 0 0 0 0 0");
            broken_apply(&folder, &method);
            loaded result = base_load_at(*state, folder.fd, "points");
            const cobre_finding *finding = cobre_report_finding(result.report, COBRE_SEVERITY_ERROR,
                                                                0);
            assert_int_equal(cobre_report_count(result.report, COBRE_SEVERITY_ERROR), count - 1000);
            if (finding)
                assert_string_equal(finding->field, "sampling_method");
            loaded_free(&result);
            scratch_close(&folder);
            free(hydros);
        }
    }
}

static void settings_warn(void **state)
{
    static const broken rows[] = {
        { STAGES, "'risk_measure'", "'sampling_method':'qmc_sobol','risk_measure'", PHYSICAL, 5, 2,
          "num_scenarios", NULL, 0 },
        { CONFIG, MODE, "'cut_selection':{'max_active_per_stage':1}", SETTINGS, 5, NONE,
          "training.cut_selection.max_active_per_stage", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

/* A fit of slopes is known for constant productivity alone; with a fallback it is fine. */
static void inner_bound_needs_a_slope(void **state)
{
    static const base_file context[] = {
        { "system/hydro_production_models.json",
          "{'production_models':[{'hydro_id':1,'selection_mode':'stage_ranges','stage_ranges':["
          "{'start_stage_id':0,'model':'constant','productivity_override':2}]}]}" },
        { NULL, NULL },
    };
    static const broken rows[] = {
        { CONFIG, "'policy':", "'upper_bound_evaluation':{'enabled':true},'policy':", SETTINGS, 5,
          NONE, "upper_bound_evaluation.lipschitz.fallback_value", NULL, 0 },
        { CONFIG, "'policy':",
          "'upper_bound_evaluation':{'enabled':true,'lipschitz':{'mode':'steep','fallback_value':1}}"
          ",'policy':",
          SETTINGS, 5, NONE, "upper_bound_evaluation.lipschitz.mode", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_ERROR);
}

/* Openings of two hydros and the one bus whose load has a deviation. */
static const base_file given[] = {
    { OPENINGS, "stage_id i32: 0 0 0 1 1 1 2 2 2; opening_index u32: 0 0 0 0 0 0 0 0 0;"
                "entity_index u32: 0 1 2 0 1 2 0 1 2; value f64: 0 0 0 0 0 0 0 0 0" },
    { EXTERNAL, "stage_id i32: 0 0 1 1 2 2 2 2; scenario_id i32: 0 0 0 0 0 0 1 1;"
                "hydro_id i32: 1 2 1 2 1 2 1 2; value_m3s f64: 1 2 3 4 5 6 7 8" },
    { CONFIG, "{'training':{'forward_passes':2,'stopping_rules':["
              "{'type':'iteration_limit','limit':20}],"
              "'scenario_source':{'seed':1,'inflow':{'scheme':'external'}}}}" },
    { NULL, NULL },
};

static void tables_without_gaps(void **state)
{
    static const broken rows[] = {
        { OPENINGS, "u32: 0 0 0 0 0 0 0 0 0;", "u32: 0 0 0 0 0 0 1 1 1;", COVERAGE, 4, NONE,
          "opening_index", NULL, 0 },
        { OPENINGS, "u32: 0 0 0 0 0 0 0 0 0;", "u32: 0 0 0 0 0 0 0 0 4294967295;", COVERAGE, 4,
          NONE, "entity_index", NULL, 0 },
        { OPENINGS, "entity_index u32: 0 1 2 0 1 2 0 1 2", "entity_index u32: 0 1 2 0 1 2 0 1 3",
          COVERAGE, 4, NONE, "entity_index", NULL, 0 },
        { OPENINGS, "i32: 0 0 0 1 1 1 2 2 2", "i32: 0 0 0 1 1 1 3 3 3", COVERAGE, 4, NONE,
          "stage_id", NULL, 1 }, /* stage 2 is missing, and stage 3 does not exist */
        { EXTERNAL, "i32: 0 0 0 0 0 0 1 1;", "i32: 0 0 0 0 0 0 2147483647 2147483647;", COVERAGE, 4,
          NONE, "scenario_id", NULL, 0 },
        { EXTERNAL, "stage_id i32: 0 0 1 1 2 2 2 2", "stage_id i32: 0 0 2147483647 1 2 2 2 2",
          COVERAGE, 4, NONE, "stage_id", NULL, 1 },
        { EXTERNAL, "hydro_id i32: 1 2 1 2 1 2 1 2", "hydro_id i32: 1 2 1 2 1 2 1 3", REFERENCE, 3,
          3, "hydro_id", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, given, rows, COBRE_SEVERITY_ERROR);
}

/* January 2020 of both hydros: 18276 is 2020-01-15. */
static void listed_years_are_observed(void **state)
{
    static const base_file context[] = {
        { CONFIG, "{'training':{'forward_passes':2,'stopping_rules':["
                  "{'type':'iteration_limit','limit':20}],"
                  "'scenario_source':{'seed':1,'inflow':{'scheme':'historical'},"
                  "'historical_years':[2020]}}}" },
        { STAGES, "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1},'stages':["
                  "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':3,"
                  "'season_id':0,'blocks':[{'id':1,'name':'LOW','hours':500},"
                  "{'id':0,'name':'HIGH','hours':244}]},"
                  "{'id':1,'start_date':'2030-02-01','end_date':'2030-03-01','num_scenarios':3,"
                  "'season_id':1,'blocks':[{'id':0,'name':'ALL','hours':672}]},"
                  "{'id':2,'start_date':'2030-03-01','end_date':'2030-04-01','num_scenarios':3,"
                  "'season_id':2,'blocks':[{'id':0,'name':'ALL','hours':744}]}]}" },
        { "scenarios/inflow_history.parquet",
          "hydro_id i32: 1 2; date date: 18276 18276; value_m3s f64: 9 8" },
        { "scenarios/inflow_ar_coefficients.parquet",
          "hydro_id i32: 1; stage_id i32: 1; lag i32: 1; coefficient f64: 0.5;"
          "residual_std_ratio f64: 0.9" },
        { NULL, NULL },
    };
    static const char years[] = "training.scenario_source.historical_years";
    static const broken rows[] = {
        { CONFIG, "[2020]", "[1950]", SETTINGS, 5, NONE, years, NULL, 0 },
        { CONFIG, "[2020]", "[]", SETTINGS, 5, NONE, years, NULL, 0 },
        { CONFIG, "[2020]", "{'from':1950,'to':1960}", SETTINGS, 5, NONE, years, NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_ERROR);
}

static void hypercubes_have_a_limit(void **state)
{
    static const base_file context[] = {
        { CONFIG, "{'training':{'forward_passes':65537,'stopping_rules':["
                  "{'type':'iteration_limit','limit':20}],"
                  "'scenario_source':{'seed':1,'load':{'scheme':'out_of_sample'}}}}" },
        { NULL, NULL },
    };
    static const broken rows[] = {
        { STAGES, "'risk_measure'", "'sampling_method':'lhs','risk_measure'", SETTINGS, 5, 2,
          "sampling_method", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_ERROR);
}

/* No scheme uses the external scenarios: the case runs without them, whatever they lack. */
static void unused_tables_with_gaps_warn(void **state)
{
    static const base_file unused[] = {
        { EXTERNAL, "stage_id i32: 0 0; scenario_id i32: 0 0; hydro_id i32: 1 2;"
                    "value_m3s f64: 1 2" },
        { NULL, NULL },
    };
    static const broken rows[] = {
        { EXTERNAL, "scenario_id i32: 0 0", "scenario_id i32: 2147483647 2147483647", COVERAGE, 4,
          NONE, "scenario_id", NULL, 0 },
        { EXTERNAL, "stage_id i32: 0 0", "stage_id i32: 9 9", COVERAGE, 4, NONE, "stage_id", NULL,
          0 },
    };

    BROKEN_RUN_ON(*state, unused, rows, COBRE_SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlation),
        cmocka_unit_test(correlation_warns),
        cmocka_unit_test(correlations_that_contradict_one_another_warn),
        cmocka_unit_test(schemes),
        cmocka_unit_test(points_have_a_limit_of_dimensions),
        cmocka_unit_test(settings_warn),
        cmocka_unit_test(inner_bound_needs_a_slope),
        cmocka_unit_test(tables_without_gaps),
        cmocka_unit_test(listed_years_are_observed),
        cmocka_unit_test(hypercubes_have_a_limit),
        cmocka_unit_test(unused_tables_with_gaps_warn),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
