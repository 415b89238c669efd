/*
 * test_models.c - rules about what hydros make of water, one broken at a time.
 *
 * The good case: the lower hydro has given planes in stages 0 and 1 and computed ones in stage 2,
 * the upper one evaporates.
 */
#include "broken.h"

#define PHYSICAL COBRE_KIND_PHYSICAL_CONSTRAINT
#define ENUM COBRE_KIND_INVALID_ENUM
#define COVERAGE COBRE_KIND_COVERAGE_MISMATCH
#define REFERENCE COBRE_KIND_MISSING_REFERENCE

#define GEOMETRY "system/hydro_geometry.parquet"
#define PLANES "system/fpha_hyperplanes.parquet"
#define MODELS "system/hydro_production_models.json"

static const base_file good[] = {
    { STAGES, "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1},'stages':["
              "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':3,"
              "'season_id':0,'blocks':[{'id':0,'name':'ALL','hours':744}]},"
              "{'id':1,'start_date':'2030-02-01','end_date':'2030-03-01','num_scenarios':3,"
              "'season_id':1,'blocks':[{'id':0,'name':'ALL','hours':672}]},"
              "{'id':2,'start_date':'2030-03-01','end_date':'2030-04-01','num_scenarios':3,"
              "'season_id':2,'blocks':[{'id':0,'name':'ALL','hours':744}]}]}" },
    { HYDROS, "{'hydros':[{'id':2,'name':'Lower','bus_id':1,"
              "'reservoir':{'min_storage_hm3':0,'max_storage_hm3':50},"
              "'outflow':{'min_outflow_m3s':1},"
              "'generation':{'model':'fpha','min_turbined_m3s':0,'max_turbined_m3s':70,"
              "'min_generation_mw':0,'max_generation_mw':63},"
              "'tailrace':{'type':'polynomial','coefficients':[1]},"
              "'hydraulic_losses':{'type':'constant','value_m':0.5},"
              "'efficiency':{'type':'constant','value':0.9}},"
              "{'id':1,'name':'Upper','bus_id':0,'downstream_id':2,"
              "'reservoir':{'min_storage_hm3':10,'max_storage_hm3':200},"
              "'outflow':{'min_outflow_m3s':0},'evaporation':{'coefficients_mm':"
              "[1,2,3,4,5,6,7,8,9,10,11,12]},"
              "'generation':{'model':'constant_productivity','productivity_mw_per_m3s':1.1,"
              "'min_turbined_m3s':0,'max_turbined_m3s':80,'min_generation_mw':0,"
              "'max_generation_mw':88}}]}" },
    { MODELS, "{'production_models':[{'hydro_id':2,'selection_mode':'stage_ranges','stage_ranges':["
              "{'start_stage_id':0,'end_stage_id':1,'model':'fpha','fpha_config':"
              "{'source':'precomputed'}},{'start_stage_id':2,'end_stage_id':null,'model':'fpha',"
              "'fpha_config':{'source':'computed'}}]}]}" },
    { GEOMETRY, "hydro_id i32: 1 1 2 2; volume_hm3 f64: 0 200 0 50; height_m f64: 10 20 5 15;"
                "area_km2 f64: 1 4 1 2" },
    { PLANES, "hydro_id i32: 2 2; stage_id i32: 0 -; plane_id i32: 0 0; gamma_0 f64: 1 1;"
              "gamma_v f64: 0 0.1; gamma_q f64: 0.8 0.8; gamma_s f64: 0 -0.01; kappa f64: 1 -" },
    { NULL, NULL },
};

/* A plane's row with one coefficient replaced. */
#define PLANE(v, q, s, kappa)                                                                      \
    "hydro_id i32: 2; plane_id i32: 0; gamma_0 f64: 1; gamma_v f64:" v "; gamma_q f64:" q          \
    "; gamma_s f64:" s "; kappa f64:" kappa

static void geometry_and_planes(void **state)
{
    static const broken rows[] = {
        { GEOMETRY, "f64: 0 200 0 50;", "f64: 0 200 50 50;", PHYSICAL, 5, 2, "volume_hm3", NULL,
          0 },
        { GEOMETRY, "height_m f64: 10 20 5 15", "height_m f64: 10 9 5 15", PHYSICAL, 5, 1,
          "height_m", NULL, 0 },
        { GEOMETRY, "area_km2 f64: 1 4 1 2", "area_km2 f64: 1 4 2 1", PHYSICAL, 5, 2, "area_km2",
          NULL, 0 },
        { PLANES, NULL, PLANE("-0.1", "1", "0", "1"), PHYSICAL, 5, 2, "gamma_v", NULL, 0 },
        { PLANES, NULL, PLANE("0", "1", "0.1", "1"), PHYSICAL, 5, 2, "gamma_s", NULL, 0 },
        { PLANES, NULL, PLANE("0", "0", "0", "1"), PHYSICAL, 5, 2, "gamma_q", NULL, 0 },
        { PLANES, NULL, PLANE("0", "1", "0", "0"), PHYSICAL, 5, 2, "kappa", NULL, 0 },
        { PLANES, NULL, PLANE("0", "1", "0", "1.01"), PHYSICAL, 5, 2, "kappa", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_ERROR);
}

/* The limits themselves are good, and one plane is enough. */
static void planes_at_their_limits(void **state)
{
    static const broken edge = {
        PLANES, NULL, PLANE("0", "0.001", "0", "1"), 0, 0, 0, NULL, NULL, 0
    };
    scratch folder;

    broken_context = good;
    scratch_open(&folder);
    base_write_all(&folder);
    for (const base_file *file = good; file->path; file++)
        base_write(&folder, file->path, file->text);
    broken_apply(&folder, &edge);
    loaded result = base_load_at(*state, folder.fd, "limits");
    assert_int_equal(broken_count(&result, COBRE_SEVERITY_ERROR), 0);
    loaded_free(&result);
    scratch_close(&folder);
    broken_context = NULL;
}

static void production_models(void **state)
{
    static const broken rows[] = {
        { MODELS, "'hydro_id':2", "'hydro_id':9", REFERENCE, 3, 9, "hydro_id", NULL, 1 },
        { MODELS, NULL, NULL, PHYSICAL, 5, 2, "generation.model", HYDROS, 0 },
        { MODELS, "'start_stage_id':0", "'start_stage_id':1", PHYSICAL, 5, 2,
          "generation.productivity_mw_per_m3s", HYDROS, 0 },
        { PLANES, NULL, NULL, PHYSICAL, 5, 2, "generation.model", HYDROS, 0 },
        { PLANES, NULL, /* planes of stage 0 alone */
          "hydro_id i32: 2; stage_id i32: 0; plane_id i32: 0; gamma_0 f64: 1; gamma_v f64: 0;"
          "gamma_q f64: 1; gamma_s f64: 0",
          PHYSICAL, 5, 2, "generation.model", HYDROS, 0 },
        { PLANES, NULL, /* planes of another hydro alone */
          "hydro_id i32: 1; plane_id i32: 0; gamma_0 f64: 1; gamma_v f64: 0; gamma_q f64: 1;"
          "gamma_s f64: 0",
          COVERAGE, 4, 2, "hydro_id", NULL, 0 },
        { GEOMETRY, NULL,
          "hydro_id i32: 1 1 2; volume_hm3 f64: 0 200 0; height_m f64: 10 20 5;"
          "area_km2 f64: 1 4 1",
          COVERAGE, 4, 2, "hydro_id", NULL, 0 },
        { HYDROS, "'tailrace':{'type':'polynomial','coefficients':[1]},", "", PHYSICAL, 5, 2,
          "tailrace", NULL, 0 },
        { HYDROS, "'hydraulic_losses':{'type':'constant','value_m':0.5},", "", PHYSICAL, 5, 2,
          "hydraulic_losses", NULL, 0 },
        { HYDROS, ",'efficiency':{'type':'constant','value':0.9}", "", PHYSICAL, 5, 2, "efficiency",
          NULL, 0 },
        { HYDROS, "'tailrace'", "'penalties':{'fpha_turbined_cost':-0.1},'tailrace'", PHYSICAL, 5,
          2, "penalties.fpha_turbined_cost", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_ERROR);
}

/* Any word but fpha means constant productivity; one that is nobody's is a mistake. */
static void words_for_models(void **state)
{
    static const broken rows[] = {
        { MODELS, "'end_stage_id':null,'model':'fpha','fpha_config':{'source':'computed'}",
          "'end_stage_id':null,'model':'FPHA','productivity_override':1", ENUM, 5, 2, "model", NULL,
          0 },
        { MODELS, NULL,
          "{'production_models':[{'hydro_id':2,'selection_mode':'seasonal','default_model':'fpah',"
          "'seasons':[{'season_id':0,'model':'fpha','fpha_config':{'source':'precomputed'}},"
          "{'season_id':1,'model':'fpha','fpha_config':{'source':'precomputed'}},"
          "{'season_id':2,'model':'linearized_head','productivity_override':1}]}]}",
          ENUM, 5, 2, "default_model", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_WARNING);
}

static void evaporation(void **state)
{
    static const broken rows[] = {
        { GEOMETRY, "hydro_id i32: 1 1 2 2", "hydro_id i32: 2 2 2 2", PHYSICAL, 5, 1, "evaporation",
          HYDROS, 1 }, /* and the other hydro's volumes are not in order */
        { GEOMETRY, "area_km2 f64: 1 4", "area_km2 f64: 0 0", PHYSICAL, 5, 1, "evaporation", HYDROS,
          0 },
        { STAGES, "'season_id':1,", "", PHYSICAL, 5, 1, "evaporation", HYDROS, 0 },
        { STAGES, "'season_id':1,", "'season_id':12,", PHYSICAL, 5, 1, "evaporation", HYDROS, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_and_planes), cmocka_unit_test(planes_at_their_limits),
        cmocka_unit_test(production_models),   cmocka_unit_test(words_for_models),
        cmocka_unit_test(evaporation),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
