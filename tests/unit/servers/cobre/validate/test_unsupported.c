/*
 * test_unsupported.c - features that the original ignores are ignored where the case asks for that,
 * and what changes no result is warned about.
 */
#define BROKEN_UNSUPPORTED
#include "broken.h"

#define SETTINGS COBRE_KIND_INCOMPATIBLE_SETTINGS

#define MODE "'stopping_mode':'any'"
#define METHOD "'inflow_non_negativity'"
#define AS_ORIGINAL "'compatibility':'cobre-0.5','inflow_non_negativity'"

/* Ignored by the original and modelled here: a warning when the case selects its arithmetic. */
static const broken built[] = {
    { CONFIG, MODE, "'cut_formulation':'multi'", SETTINGS, 5, NONE, "training.cut_formulation",
      NULL, 0 },
    { CONFIG, "'policy':",
      "'upper_bound_evaluation':{'enabled':true,'lipschitz':{'fallback_value':5}},'policy':",
      SETTINGS, 5, NONE, "upper_bound_evaluation.enabled", NULL, 0 },
    { CONFIG, "{'type':'bound_stalling','iterations':5,'tolerance':0.001}",
      "{'type':'simulation','replications':1,'period':1,'bound_window':1,'distance_tol':1,"
      "'bound_tol':1}",
      SETTINGS, 5, NONE, "training.stopping_rules", NULL, 0 },
    { CONFIG, METHOD, "'storage_bounds':'soft'," METHOD, SETTINGS, 5, NONE,
      "modeling.storage_bounds", NULL, 0 },
    { STAGES, "'num_scenarios':3,", "'num_scenarios':3,'block_mode':'chronological',", SETTINGS, 5,
      0, "block_mode", NULL, 0 },
    { LINES, "'capacity'", "'losses_percent':2,'capacity'", SETTINGS, 5, 0, "losses_percent", NULL,
      0 },
    { LINES, "'capacity'", "'exit_stage_id':2,'capacity'", SETTINGS, 5, 0, "entry_stage_id", NULL,
      0 },
    { THERMALS, "'bus_id':1", "'bus_id':1,'entry_stage_id':1", SETTINGS, 5, 6, "entry_stage_id",
      NULL, 0 },
    { HYDROS, "'penalties'", "'entry_stage_id':1,'penalties'", SETTINGS, 5, 2, "entry_stage_id",
      NULL, 0 },
    { HYDROS, "'penalties'", "'entry_stage_id':1,'filling':{'start_stage_id':0},'penalties'",
      SETTINGS, 5, 2, "filling", NULL, 1 },
    { "system/energy_contracts.json", NULL,
      "{'contracts':[{'id':1,'name':'A','bus_id':0,'type':'import','price_per_mwh':1,"
      "'limits':{'min_mw':0,'max_mw':1}}]}",
      SETTINGS, 5, NONE, NULL, NULL, 0 },
    { "system/pumping_stations.json", NULL,
      "{'pumping_stations':[{'id':1,'name':'P','bus_id':0,'source_hydro_id':1,"
      "'destination_hydro_id':2,'consumption_mw_per_m3s':1,'flow':{'min_m3s':0,'max_m3s':1}}]}",
      SETTINGS, 5, NONE, NULL, NULL, 0 },
};

/* The base configuration with the original's arithmetic, and the row's own break of it, if any. */
static void write_compatible(const scratch *folder, const broken *row)
{
    const broken same = { CONFIG, "'policy'", "'policy'", SETTINGS, 5, NONE, NULL, NULL, 0 };
    bool is_config = strcmp(row->file, CONFIG) == 0;
    char *text = broken_text(is_config ? row : &same), with[2048];
    char *at = strstr(text, METHOD);

    assert_non_null(at);
    snprintf(with, sizeof with, "%.*s%s%s", (int)(at - text), text, AS_ORIGINAL,
             at + strlen(METHOD));
    base_write(folder, CONFIG, with);
    if (!is_config)
        broken_apply(folder, row);
    free(text);
}

/* Under compatibility each row loads, with a warning. */
static void ignore_each(columns *engine, const broken *rows, size_t count)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (size_t i = 0; i < count; i++) {
        write_compatible(&folder, &rows[i]);
        loaded result = base_load_at(engine, folder.fd, "compatible");
        assert_loads(&result);
        assert_true(result.c->config.original_arithmetic);
        broken_check(&rows[i], &result, COBRE_SEVERITY_WARNING);
        loaded_free(&result);
        broken_restore(&folder, rows[i].file);
    }
    scratch_close(&folder);
}

static void ignored_as_the_original_does(void **state)
{
    ignore_each(*state, built, sizeof built / sizeof built[0]);
}

/* Loads without a word about what is not modelled. */
static void modelled_here(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (size_t i = 0; i < sizeof built / sizeof built[0]; i++) {
        broken_apply(&folder, &built[i]);
        loaded result = base_load_at(*state, folder.fd, "built");
        assert_loads(&result);
        assert_int_equal(broken_count(&result, COBRE_SEVERITY_WARNING), 0);
        loaded_free(&result);
        broken_restore(&folder, built[i].file);
    }
    scratch_close(&folder);
}

static void harmless_features_warn(void **state)
{
    static const broken rows[] = {
        { CONFIG, "'num_scenarios':50", "'policy_type':'inner'", SETTINGS, 5, NONE,
          "simulation.policy_type", NULL, 0 },
        { STAGES, "'risk_measure'", "'state_variables':{'storage':false},'risk_measure'", SETTINGS,
          5, 2, "state_variables", NULL, 0 },
        { THERMALS, "'bus_id':1", "'bus_id':1,'gnl_config':{'lag_stages':2}", SETTINGS, 5, 6,
          "gnl_config", NULL, 0 },
        { "constraints/thermal_bounds.parquet", NULL,
          "thermal_id i32: 5; stage_id i32: 0; block_id i32: 1; max_generation_mw f64: 3", SETTINGS,
          5, NONE, "block_id", NULL, 0 },
        { "constraints/hydro_bounds.parquet", NULL,
          "hydro_id i32: 1; stage_id i32: 0; max_diversion_m3s f64: 3", SETTINGS, 5, NONE,
          "max_diversion_m3s", NULL, 0 },
    };

    BROKEN_RUN(*state, rows, COBRE_SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ignored_as_the_original_does),
        cmocka_unit_test(modelled_here),
        cmocka_unit_test(harmless_features_warn),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
