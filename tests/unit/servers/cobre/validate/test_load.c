/*
 * test_load.c - valid directories load with the right values; links and other file types are
 * refused.
 */
#include "../case/base_case.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fmax(1, fabs(b)))

/* The base case with some files replaced (a path and a text each, NULL at the end). */
static loaded load_with(columns *engine, const char *const *replacements)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (size_t i = 0; replacements[i]; i += 2)
        base_write(&folder, replacements[i], replacements[i + 1]);
    loaded result = base_load_at(engine, folder.fd, "/somewhere/base-case/");
    scratch_close(&folder);
    return result;
}

/* ---- what stands in the files ---------------------------------------------------------------- */

static void base_case_has_its_configuration(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ NULL });

    assert_loads(&result);
    const cobre_config *config = &result.c->config;
    assert_string_equal(result.c->name, "base-case");
    assert_string_equal(result.c->directory, "/somewhere/base-case/");
    assert_int_equal(config->seed, 7);
    assert_int_equal(config->forward_passes, 2);
    assert_int_equal(config->rule_count, 2);
    assert_int_equal(config->rules[1].kind, COBRE_RULE_BOUND_STALLING);
    assert_int_equal(config->rules[1].limit, 5);
    assert_true(config->rules[1].tolerance == 0.001);
    assert_int_equal(config->max_iterations, 20);
    assert_true(config->has_iteration_limit && !config->stop_when_all);
    assert_true(config->simulation_enabled && config->simulation_scenarios == 50);
    assert_string_equal(config->policy.path, "./policy");
    assert_int_equal(config->inflow_method, COBRE_INFLOW_PENALTY);
    assert_int_equal(result.c->file_count, 10);
    assert_string_equal(result.c->files_present[0], "config.json");
    assert_string_equal(result.c->files_present[9], "system/thermals.json");
    /* 2 buses, 1 line, 2 hydros, 2 thermals, 3 stages */
    assert_int_equal(result.c->entities_validated, 10);
    assert_int_equal(cobre_report_coverage(result.report)->files_checked, 10);
    assert_int_equal(cobre_report_coverage(result.report)->layers_completed, 5);
    loaded_free(&result);
}

static void base_case_has_its_stages(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ NULL });

    assert_loads(&result);
    const cobre_stage *stages = result.c->stages;
    assert_int_equal(result.c->stage_count, 3);
    assert_int_equal(stages[0].block_count, 2);
    assert_string_equal(stages[0].blocks[0].name, "HIGH");
    assert_true(stages[0].blocks[0].hours == 244 && stages[0].hours == 744);
    assert_int_equal(stages[0].days, 31);
    assert_int_equal(stages[1].days, 28);
    NEAR(stages[0].discount, exp(-31 / 365.25 * log(1.1)));
    assert_false(stages[0].is_cvar);
    assert_true(stages[2].is_cvar && stages[2].cvar_alpha == 0.5 && stages[2].cvar_lambda == 0.25);
    assert_int_equal(stages[1].openings, 3);
    loaded_free(&result);
}

static void base_case_has_its_entities(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ NULL });

    assert_loads(&result);
    const cobre_case *c = result.c;
    assert_int_equal(c->hydros[0].id, 1); /* the file has 2 first */
    assert_int_equal(c->hydros[0].downstream, 1);
    assert_true(c->hydros[1].downstream == COBRE_NONE && c->hydros[1].bus == 1);
    assert_true(c->hydros[0].initial_storage_hm3 == 80.5 && c->hydros[1].initial_storage_hm3 == 30);
    assert_true(c->hydros[0].inflow_nonnegativity_cost == 1000);
    assert_int_equal(c->buses[0].segment_count, 2);
    assert_true(isinf(c->buses[0].segments[1].depth_mw) && c->buses[0].segments[0].cost == 400);
    assert_true(c->buses[1].segment_count == 1 && c->buses[1].segments[0].cost == 900);
    assert_true(c->lines[0].source == 0 && c->lines[0].target == 1);
    assert_true(c->thermals[1].min_mw == 5 && c->thermals[1].cost_per_mwh == 150);
    loaded_free(&result);
}

static void base_case_has_its_values_by_stage(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ NULL });

    assert_loads(&result);
    const cobre_case *c = result.c;
    const cobre_hydro_stage *upper = &c->hydro_stages[2 * 2 + 0], *lower = &c->hydro_stages[2 + 1];
    assert_true(upper->inflow_mean == 30 && upper->inflow_std == 9);
    assert_true(lower->inflow_mean == 7 && lower->inflow_std == 2);
    assert_true(isinf(lower->max_outflow) && upper->max_outflow == 90);
    assert_true(lower->spillage_cost == 0.015 && upper->spillage_cost == 0.01);
    assert_true(lower->withdrawal_pos_cost == 77 && lower->withdrawal_neg_cost == 77);
    assert_true(upper->withdrawal_pos_cost == 106 && upper->turbined_below_cost == 101);
    assert_true(upper->outflow_below_cost == 102 && upper->outflow_above_cost == 103);
    assert_true(upper->generation_below_cost == 104 && upper->storage_below_cost == 2000);
    assert_true(c->bus_stages[2 + 1].load_mean == 51 && c->bus_stages[2 + 1].load_std == 3);
    assert_true(!c->bus_is_stochastic[0] && c->bus_is_stochastic[1]);
    assert_true(c->line_stages[2].exchange_cost == 0.5 && !c->line_stages[2].direct_factor);
    assert_true(c->bus_stages[0].excess_cost == 1);
    loaded_free(&result);
}

/* ---- overrides ------------------------------------------------------------------------------- */

static void bounds_override_by_stage(void **state)
{
    static const char *const files[] = {
        "constraints/hydro_bounds.parquet",
        "hydro_id i32: 2 1; stage_id i32: 1 0; water_withdrawal_m3s f64: 2.5 -;"
        "max_storage_hm3 f64: 40 150; max_outflow_m3s f64: 60 -",
        "constraints/thermal_bounds.parquet",
        "thermal_id i32: 6 5 5; stage_id i32: 2 0 1; max_generation_mw f64: 22 33 11;"
        "cost_per_mwh f64: - 61 99; block_id i32: - - 0",
        "constraints/line_bounds.parquet",
        "line_id i32: 0 0; stage_id i32: 1 1;"
        "reverse_mw f64: 7 8",
        NULL,
    };
    loaded result = load_with(*state, files);

    assert_loads(&result);
    const cobre_case *c = result.c;
    const cobre_hydro_stage *lower = &c->hydro_stages[2 + 1], *upper = &c->hydro_stages[0];
    assert_true(lower->withdrawal == 2.5 && lower->max_storage == 40 && lower->max_outflow == 60);
    assert_true(upper->withdrawal == 0 && upper->max_storage == 150 && upper->max_outflow == 90);
    assert_true(c->hydro_stages[2 * 2 + 1].max_storage == 50);
    assert_true(c->thermal_stages[2 * 2 + 1].max_mw == 22);
    assert_true(c->thermal_stages[2 * 2 + 1].cost_per_mwh == 150);
    assert_true(c->thermal_stages[0].max_mw == 33 && c->thermal_stages[0].cost_per_mwh == 61);
    assert_true(c->thermal_stages[2].max_mw == 40); /* a row of one block is skipped */
    assert_true(c->line_stages[1].reverse_mw == 8 && c->line_stages[0].reverse_mw == 40);
    loaded_free(&result);
}

#define OVERRIDES                                                                                  \
    "constraints/penalty_overrides_hydro.parquet",                                                 \
        "hydro_id i32: 2; stage_id i32: 1; spillage_cost f64: 0.5;"                                \
        "water_withdrawal_violation_cost f64: 88",                                                 \
        "constraints/penalty_overrides_line.parquet",                                              \
        "line_id i32: 0; stage_id i32: 2; exchange_cost f64: 4",                                   \
        "constraints/penalty_overrides_bus.parquet",                                               \
        "bus_id i32: 1; stage_id i32: 0; excess_cost f64: 6"

static void penalties_override_by_stage(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ OVERRIDES, NULL });

    assert_loads(&result);
    const cobre_case *c = result.c;
    const cobre_hydro_stage *lower = &c->hydro_stages[2 + 1];
    assert_true(lower->spillage_cost == 0.5 && lower->turbined_below_cost == 101);
    assert_true(lower->withdrawal_pos_cost == 88 && lower->withdrawal_neg_cost == 88);
    assert_true(c->hydro_stages[1].spillage_cost == 0.015);
    assert_true(c->line_stages[2].exchange_cost == 4 && c->line_stages[1].exchange_cost == 0.5);
    assert_true(c->bus_stages[1].excess_cost == 6 && c->bus_stages[3].excess_cost == 1);
    loaded_free(&result);
}

/* Cobre 0.5 does not carry a stage's undirected withdrawal cost to the two that its LP uses. */
static void original_arithmetic_loses_the_undirected_override(void **state)
{
    loaded result = load_with(
        *state, (const char *const[]){ OVERRIDES, "config.json",
                                       "{'training':{'forward_passes':1,'stopping_rules':[]},"
                                       "'modeling':{'compatibility':'cobre-0.5'}}",
                                       NULL });

    assert_loads(&result);
    assert_true(result.c->hydro_stages[2 + 1].withdrawal_pos_cost == 77);
    assert_true(result.c->hydro_stages[2 + 1].spillage_cost == 0.5);
    loaded_free(&result);
}

static void factors_by_block(void **state)
{
    static const char *const files[] = {
        "scenarios/load_factors.json",
        "{'load_factors':[{'bus_id':1,'stage_id':0,'block_factors':["
        "{'block_id':1,'factor':0.8}]}]}",
        "constraints/exchange_factors.json",
        "{'exchange_factors':[{'line_id':0,'stage_id':0,'block_factors':["
        "{'block_id':0,'direct_factor':0.5,'reverse_factor':0.25}]}]}",
        NULL,
    };
    loaded result = load_with(*state, files);

    assert_loads(&result);
    const cobre_case *c = result.c;
    assert_true(c->bus_stages[1].load_factor[0] == 1 && c->bus_stages[1].load_factor[1] == 0.8);
    assert_null(c->bus_stages[0].load_factor);
    assert_true(c->line_stages[0].direct_factor[0] == 0.5);
    assert_true(c->line_stages[0].reverse_factor[0] == 0.25);
    assert_true(c->line_stages[0].direct_factor[1] == 1);
    loaded_free(&result);
}

static void transitions_override_the_discount_rate(void **state)
{
    static const char *const files[] = {
        "stages.json",
        "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1,'transitions':["
        "{'source_id':0,'target_id':1,'probability':1,'annual_discount_rate_override':0.3},"
        "{'source_id':1,'target_id':2,'probability':1,'annual_discount_rate_override':0}]},"
        "'pre_study_stages':[{'id':-1,'start_date':'2029-12-01','end_date':'2030-01-01'}],"
        "'stages':[{'id':0,'start_date':'2030-01-01','end_date':'2031-01-01','num_scenarios':1,"
        "'blocks':[{'id':0,'name':'A','hours':100}]},"
        "{'id':1,'start_date':'2031-01-01','end_date':'2032-01-01','num_scenarios':1,"
        "'risk_measure':'Expectation','blocks':[{'id':0,'name':'A','hours':100}]},"
        "{'id':2,'start_date':'2032-01-01','end_date':'2033-01-01','num_scenarios':1,"
        "'blocks':[{'id':0,'name':'A','hours':100}]}]}",
        NULL,
    };
    loaded result = load_with(*state, files);

    assert_loads(&result);
    assert_int_equal(result.c->stage_count, 3); /* the pre-study stage is none of them */
    assert_int_equal(result.c->stages[0].id, 0);
    NEAR(result.c->stages[0].discount, exp(-365 / 365.25 * log(1.3)));
    assert_true(result.c->stages[1].discount == 1);
    assert_int_equal(result.c->stages[2].days, 366); /* 2032 is a leap year */
    NEAR(result.c->stages[2].discount, exp(-366 / 365.25 * log(1.1)));
    loaded_free(&result);
}

static uint64_t seed_of(columns *engine, const char *seed)
{
    char config[256];

    snprintf(config, sizeof config,
             "{'training':{'tree_seed':%s,'forward_passes':1,"
             "'stopping_rules':[],'stopping_mode':'ALL'}}",
             seed);
    loaded result = load_with(engine, (const char *const[]){ "config.json", config, NULL });
    assert_loads(&result);
    uint64_t value = result.c->config.seed;
    assert_int_equal(result.c->config.max_iterations, 100); /* no rule: 100 iterations */
    assert_int_equal(result.c->config.rule_count, 1);
    assert_true(result.c->config.stop_when_all && !result.c->config.simulation_enabled);
    loaded_free(&result);
    return value;
}

static void seeds_count_by_their_absolute_value(void **state)
{
    assert_true(seed_of(*state, "null") == 42);
    assert_true(seed_of(*state, "0") == 0);
    assert_true(seed_of(*state, "-5") == 5);
    assert_true(seed_of(*state, "-9223372036854775808") == (uint64_t)1 << 63);
}

/* Programs that write a case from a model of it write null for what is not given. */
static void null_is_absent(void **state)
{
    static const char *const files[] = {
        "config.json",
        "{'training':{'forward_passes':1,'stopping_rules':[],'cut_selection':{'enabled':null,"
        "'threshold':null,'check_frequency':null,'cut_activity_tolerance':null,"
        "'basis_activity_window':null}}}",
        "stages.json",
        "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1},"
        "'pre_study_stages':null,'stages':["
        "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':3,"
        "'state_variables':null,'blocks':[{'id':0,'name':'ALL','hours':744}]},"
        "{'id':1,'start_date':'2030-02-01','end_date':'2030-03-01','num_scenarios':3,"
        "'blocks':[{'id':0,'name':'ALL','hours':672}]},"
        "{'id':2,'start_date':'2030-03-01','end_date':'2030-04-01','num_scenarios':3,"
        "'blocks':[{'id':0,'name':'ALL','hours':744}]}]}",
        "system/hydro_production_models.json",
        "{'production_models':[{'hydro_id':1,'selection_mode':'stage_ranges','stage_ranges':["
        "{'start_stage_id':0,'end_stage_id':null,'model':'fpha','productivity_override':null,"
        "'fpha_config':{'source':'precomputed','volume_discretization_points':null,"
        "'turbine_discretization_points':null,'spillage_discretization_points':null,"
        "'max_planes_per_hydro':null,'fitting_window':null}}]}]}",
        "system/fpha_hyperplanes.parquet",
        "hydro_id i32: 1; stage_id i32: -; plane_id i32: 0; gamma_0 f64: 1; gamma_v f64: 0.1;"
        "gamma_q f64: 0.9; gamma_s f64: -0.1; kappa f64: -",
        NULL,
    };
    loaded result = load_with(*state, files);

    assert_loads(&result);
    assert_int_equal(result.c->config.selection.method, COBRE_SELECTION_NONE);
    assert_int_equal(result.c->config.selection.check_frequency, 5);
    loaded_free(&result);
}

/* A file with no rows counts as absent (variants of 1dtoy have such files). */
static void empty_parquet_is_absent(void **state)
{
    static const char *const files[] = {
        "scenarios/inflow_seasonal_stats.parquet",
        "hydro_id i32:; stage_id i32:; mean_m3s f64:; std_m3s f64:",
        NULL,
    };
    loaded result = load_with(*state, files);

    assert_loads(&result);
    assert_true(result.c->hydro_stages[0].inflow_mean == 0);
    assert_int_equal(result.c->file_count, 10);
    loaded_free(&result);
}

/* ---- what is not what it seems --------------------------------------------------------------- */

static void expect_one(const loaded *result, cobre_kind kind, const char *file, int layers)
{
    const cobre_finding *finding = cobre_report_finding(result->report, COBRE_SEVERITY_ERROR, 0);

    assert_int_equal(result->status, MCP_OK);
    assert_null(result->c);
    if (cobre_report_count(result->report, COBRE_SEVERITY_ERROR) != 1 || finding->kind != kind ||
        strcmp(finding->file, file) != 0) {
        loaded_print(result, COBRE_SEVERITY_ERROR);
        fail_msg("expected one %s in %s", cobre_kind_name(kind), file);
    }
    assert_int_equal(cobre_report_coverage(result->report)->layers_completed, layers);
}

static void links_out_of_the_directory_are_refused(void **state)
{
    static const char *const paths[] = { "config.json", "system/hydros.json",
                                         "scenarios/inflow_seasonal_stats.parquet",
                                         "system/hydro_geometry.parquet" };
    scratch folder, outside;

    scratch_open(&folder);
    scratch_open(&outside);
    base_write_all(&outside);
    base_write(&outside, "system/hydro_geometry.parquet",
               "hydro_id i32: 1; volume_hm3 f64: 1; height_m f64: 1; area_km2 f64: 1");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        base_write_all(&folder);
        unlinkat(folder.fd, paths[i], 0);
        assert_int_equal(symlinkat(scratch_path(&outside, paths[i]), folder.fd, paths[i]), 0);
        loaded result = base_load_at(*state, folder.fd, "linked");
        expect_one(&result, COBRE_KIND_MISSING_FILE, paths[i], 1);
        loaded_free(&result);
        unlinkat(folder.fd, paths[i], 0);
    }
    scratch_close(&outside);
    scratch_close(&folder);
}

static void fifos_and_folders_are_refused_without_waiting(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    assert_int_equal(unlinkat(folder.fd, "stages.json", 0), 0);
    assert_int_equal(mkfifoat(folder.fd, "stages.json", 0600), 0);
    loaded fifo = base_load_at(*state, folder.fd, "fifo");
    expect_one(&fifo, COBRE_KIND_MISSING_FILE, "stages.json", 1);
    loaded_free(&fifo);
    assert_int_equal(unlinkat(folder.fd, "stages.json", 0), 0);
    assert_int_equal(mkdirat(folder.fd, "stages.json", 0700), 0);
    loaded dir = base_load_at(*state, folder.fd, "folder");
    expect_one(&dir, COBRE_KIND_MISSING_FILE, "stages.json", 1);
    loaded_free(&dir);
    scratch_close(&folder);
}

static void parquet_cut_short_is_a_parse_error(void **state)
{
    const char *path = "scenarios/inflow_seasonal_stats.parquet";
    scratch folder;
    struct stat whole;

    scratch_open(&folder);
    base_write_all(&folder);
    int fd = openat(folder.fd, path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &whole), 0);
    for (off_t size = whole.st_size - 1; size >= 0; size = size > 100 ? size - 97 : size - 50) {
        assert_int_equal(ftruncate(fd, size), 0);
        loaded result = base_load_at(*state, folder.fd, "cut");
        expect_one(&result, COBRE_KIND_PARSE_ERROR, path, 2);
        loaded_free(&result);
    }
    close(fd);
    scratch_close(&folder);
}

/* Layer 2 continues over all files, and the first of them in order is reported first. */
static void problems_of_several_files_come_together_and_in_order(void **state)
{
    loaded result = load_with(*state, (const char *const[]){ "system/lines.json", "{'lines':3}",
                                                             "config.json", "{",
                                                             "system/buses.json", "7", NULL });
    static const char *const files[] = { "config.json", "system/buses.json", "system/lines.json" };

    assert_int_equal(cobre_report_count(result.report, COBRE_SEVERITY_ERROR), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(cobre_report_finding(result.report, COBRE_SEVERITY_ERROR, i)->file,
                            files[i]);
    assert_int_equal(cobre_report_coverage(result.report)->layers_completed, 2);
    loaded_free(&result);
}

static void reference_message_reads_as_the_seed_shows_it(void **state)
{
    loaded result = load_with(
        *state,
        (const char *const[]){ "system/lines.json",
                               "{'lines':[{'id':0,'name':'L','source_bus_id':99,'target_bus_id':1,"
                               "'capacity':{'direct_mw':60,'reverse_mw':40}}]}",
                               NULL });
    const cobre_finding *finding = cobre_report_finding(result.report, COBRE_SEVERITY_ERROR, 0);

    assert_non_null(finding);
    assert_string_equal(finding->bare, "source_bus_id '99' not found in system/buses.json");
    assert_string_equal(finding->suggestion,
                        "Check that source_bus_id '99' exists in system/buses.json.");
    assert_string_equal(finding->members[1].text, "buses.json");
    loaded_free(&result);
}

/* ---- the shipped cases ----------------------------------------------------------------------- */

static int open_shipped(const char *name)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/../shared/data/cobre/%s", source ? source : ".", name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        print_message("  ../shared/data/cobre/%s is absent: not checked\n", name);
    return fd;
}

static void shipped_cases_load(void **state)
{
    static const char *const names[] = { "1dtoy", "d01-thermal-dispatch", "d02-single-hydro",
                                         "d03-two-hydro-cascade", "d09-multi-deficit" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int fd = open_shipped(names[i]);
        if (fd < 0)
            continue;
        loaded result = base_load_at(*state, fd, names[i]);
        assert_loads(&result);
        loaded_free(&result);
        close(fd);
    }
}

/* The numbers that the README of the data gives in words. */
static void shipped_toy_holds_its_numbers(void **state)
{
    int fd = open_shipped("1dtoy");

    if (fd < 0)
        return;
    loaded result = base_load_at(*state, fd, "1dtoy");
    assert_loads(&result);
    const cobre_case *c = result.c;
    assert_true(c->stage_count == 4 && c->hydro_count == 1 && c->thermal_count == 2);
    assert_true(c->config.max_iterations == 128 && c->config.seed == 42);
    assert_true(c->config.inflow_method == COBRE_INFLOW_NONE);
    for (size_t t = 0; t < 4; t++) {
        assert_true(c->hydro_stages[t].inflow_mean == 40 && c->hydro_stages[t].inflow_std == 10);
        assert_true(c->bus_stages[t].load_mean == 75 && c->bus_stages[t].load_std == 0);
        assert_int_equal(c->stages[t].openings, 10);
    }
    assert_true(c->hydros[0].initial_storage_hm3 == 83.222);
    loaded_free(&result);
    close(fd);
}

/* The data set's own words: each stage of d05 has the plane G <= q; d13 bounds thermal 0 by 10. */
static void shipped_cases_with_planes_and_constraints(void **state)
{
    int fd = open_shipped("d05-fpha-constant-head");
    if (fd < 0)
        return;
    loaded planes = base_load_at(*state, fd, "d05");
    close(fd);
    assert_loads(&planes);
    assert_true(planes.c->hydro_stages[0].is_fpha && planes.c->hydro_stages[1].is_fpha);
    assert_int_equal(planes.c->hydros[0].plane_count, 2);
    assert_true(planes.c->hydros[0].planes[0].gamma_q == 1.0);
    loaded_free(&planes);

    fd = open_shipped("d13-generic-constraint");
    if (fd < 0)
        return;
    loaded bounded = base_load_at(*state, fd, "d13");
    close(fd);
    assert_loads(&bounded);
    assert_int_equal(bounded.c->constraint_row_count, 2);
    assert_true(bounded.c->constraint_rows[1].bound == 10.0);
    assert_int_equal(bounded.c->constraints[0].terms[0].variable, COBRE_VAR_THERMAL_GENERATION);
    loaded_free(&bounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_case_has_its_configuration),
        cmocka_unit_test(base_case_has_its_stages),
        cmocka_unit_test(base_case_has_its_entities),
        cmocka_unit_test(base_case_has_its_values_by_stage),
        cmocka_unit_test(bounds_override_by_stage),
        cmocka_unit_test(penalties_override_by_stage),
        cmocka_unit_test(original_arithmetic_loses_the_undirected_override),
        cmocka_unit_test(factors_by_block),
        cmocka_unit_test(transitions_override_the_discount_rate),
        cmocka_unit_test(seeds_count_by_their_absolute_value),
        cmocka_unit_test(null_is_absent),
        cmocka_unit_test(empty_parquet_is_absent),
        cmocka_unit_test(links_out_of_the_directory_are_refused),
        cmocka_unit_test(fifos_and_folders_are_refused_without_waiting),
        cmocka_unit_test(parquet_cut_short_is_a_parse_error),
        cmocka_unit_test(problems_of_several_files_come_together_and_in_order),
        cmocka_unit_test(reference_message_reads_as_the_seed_shows_it),
        cmocka_unit_test(shipped_cases_load),
        cmocka_unit_test(shipped_toy_holds_its_numbers),
        cmocka_unit_test(shipped_cases_with_planes_and_constraints),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
