/*
 * test_regions.c - what the elements of the method page's section 16, production functions,
 * evaporation, sources and generic constraints do to a stage, by costs derived by hand.
 *
 * Each case is one stage of 730 h (unless blocks are set) with thermal energy at some price as the
 * measure of everything else. c = 0.0036 hm3 per (m3/s)h, so 1 m3/s over the stage is 2.628 hm3.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/program/items.h"

#define HOURS 730.0
#define ZETA (0.0036 * HOURS)

static case_kit kit;
static mcp_arena *arena;
static program_models models;
static program_context context;
static stage_lp stage;
static lp *model;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    model = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    lp_free(model);
    mcp_arena_free(arena);
    return 0;
}

/* Build stage t with the models of the kit; `fpha` replaces that of hydro 0 unless NULL. */
static void build(size_t t, const hydro_model *fpha, const uint32_t *openings)
{
    static hydro_model changed[KIT_STAGES * KIT_ENTITIES];

    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    if (fpha) {
        memcpy(changed, models.hydro.at, kit.c.stage_count * kit.c.hydro_count * sizeof *changed);
        changed[t * kit.c.hydro_count] = *fpha;
        models.hydro.at = changed;
    }
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, openings, NULL),
                     MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, t, NULL), MCP_OK);
    lp_free(model);
    assert_int_equal(lp_new(&model, &stage.program, NULL), MCP_OK);
}

static lp_status enter(const double *storage, const double *noise)
{
    static const double calm[KIT_ENTITIES];
    double random[16 * KIT_ENTITIES], values[16 * KIT_ENTITIES];

    assert_true(stage.layout.items <= sizeof values / sizeof values[0]);
    items_of_noise(&stage, noise ? noise : calm, random, 1);
    items_of_state(&stage, storage, &(item_lanes){ 1, random, 1, 0 }, values);
    items_enter(&stage, model, values, 1);
    return lp_solve(model);
}

/* The cost of the stage itself must come out. */
static void assert_solved(const double *storage, const double *noise, double expected)
{
    assert_int_equal(enter(storage, noise), LP_OPTIMAL);
    double future = stage_lp_future(&stage, lp_primal(model));
    double cost = (lp_objective(model) - future) * COST_SCALE;
    if (fabs(cost - expected) > 1e-6 * fmax(1.0, fabs(expected)))
        fail_msg("cost %.12g instead of %.12g", cost, expected);
}

static void assert_cost(const double *storage, double expected)
{
    build(0, NULL, NULL);
    assert_solved(storage, NULL, expected);
}

static double value_of(column_region r, size_t entity, size_t k)
{
    return lp_primal(model)[stage_lp_column(&stage, r, entity, k)];
}

static const double empty[] = { 0.0, 0.0, 0.0 };

/* Load 100 on bus 0 and a thermal at 50 for all of it; plants without storage. */
static void thermal_case(size_t hydros, size_t buses, size_t lines)
{
    kit_begin(&kit, 2, hydros, 1, buses, lines);
    kit_set_thermal(&kit, 0, 500.0, 50.0);
    for (size_t t = 0; t < 2; t++) {
        kit_bus(&kit, t, 0)->load_mean = 100.0;
        for (size_t h = 0; h < hydros; h++)
            kit_hydro(&kit, t, h)->max_storage = 0.0;
    }
}

/* ---- production and evaporation -------------------------------------------------------------- */

/*
 * G <= 5 + 0.1 * mean storage + 0.8 q - 0.2 s, and G <= 40. Storage is held at 100 (bounds 100),
 * 30 m3/s arrive; the turbines take 25: G = 5 + 10 + 20 - 1 = 34 at 0.01 * 25 for turbining, 5 are
 * spilled at 0.01. Thermal makes 66.
 */
static void two_planes(void **state)
{
    static const hydro_plane planes[] = { { 5.0, 0.1, 0.8, -0.2 }, { 40.0, 0.0, 0.0, 0.0 } };
    const hydro_model fpha = { .is_fpha = true, .planes = planes, .plane_count = 2 };
    const double full = 100.0;
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(1, 1, 0);
    plant = kit_hydro(&kit, 0, 0);
    plant->min_storage = plant->max_storage = 100.0;
    plant->inflow_mean = 30.0;
    plant->max_turbined = 25.0;
    plant->fpha_turbined_cost = 0.01;
    build(0, &fpha, NULL);
    assert_solved(&full, NULL, (66.0 * 50.0 + 25.0 * 0.01 + 5.0 * 0.01) * HOURS);
    assert_true(fabs(value_of(REGION_GENERATION, 0, 0) - 34.0) < 1e-9);

    /* max_generation 30 bounds G itself; at min_generation 50 then 20 are missing, at 700. */
    plant->max_generation = 30.0;
    plant->min_generation = 50.0;
    plant->generation_below_cost = 700.0;
    build(0, &fpha, NULL);
    assert_int_equal(enter(&full, NULL), LP_OPTIMAL);
    assert_true(fabs(value_of(REGION_GENERATION_BELOW, 0, 0) - 20.0) < 1e-9);
}

/*
 * Q = 2 + 0.01 * mean storage, storage held at 100: 3 m3/s of the 10 that arrive evaporate, 7 are
 * turbined. Without inflow 3 are missing (below), at 80.
 */
static void evaporation(void **state)
{
    const hydro_model wet = {
        .productivity = 1.0, .evaporates = true, .evaporation_base = 2.0, .evaporation_slope = 0.01
    };
    const double full = 100.0;
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(1, 1, 0);
    plant = kit_hydro(&kit, 0, 0);
    plant->min_storage = plant->max_storage = 100.0;
    plant->inflow_mean = 10.0;
    plant->evaporation_neg_cost = 80.0;
    plant->evaporation_pos_cost = 90.0;
    build(0, &wet, NULL);
    assert_solved(&full, NULL, (100.0 - 7.0) * 50.0 * HOURS);
    assert_true(fabs(value_of(REGION_EVAPORATION, 0, 0) - 3.0) < 1e-9);
    plant->inflow_mean = 0.0;
    build(0, &wet, NULL);
    assert_solved(&full, NULL, (100.0 * 50.0 + 3.0 * 80.0) * HOURS);
}

/* A stage's own productivity counts, in the load and in the minimum generation: 10 m3/s at 3. */
static void productivity_of_a_stage(void **state)
{
    (void)state;
    thermal_case(1, 1, 0);
    kit_hydro(&kit, 0, 0)->productivity = 3.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_hydro(&kit, 0, 0)->min_generation = 35.0;
    kit_hydro(&kit, 0, 0)->generation_below_cost = 700.0;
    assert_cost(empty, (70.0 * 50.0 + 5.0 * 700.0) * HOURS);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* 30 of 40 MW can be used (the load is 30): the objective is -2 for each MWh of them. */
static void sources_are_curtailed(void **state)
{
    static const double half[] = { 0.5 };

    (void)state;
    thermal_case(0, 1, 0);
    kit_bus(&kit, 0, 0)->load_mean = 30.0;
    kit_bus(&kit, 0, 0)->excess_cost = 10.0;
    kit_add_source(&kit, 40.0, 2.0);
    assert_cost(NULL, 30.0 * -2.0 * HOURS);
    kit_source(&kit, 0, 0)->factor = half;
    assert_cost(NULL, (20.0 * -2.0 + 10.0 * 50.0) * HOURS);
    kit_source(&kit, 0, 0)->is_absent = true;
    assert_cost(NULL, 30.0 * 50.0 * HOURS);
}

/* 100 MW times a share of 0.5 + 0.25 * noise, kept between 0 and 1. Its noise follows the hydros'
 * and buses'. */
static void stochastic_sources(void **state)
{
    const double windy[] = { 0.0, 1.0 }, calm[] = { 0.0, -3.0 }, storm[] = { 0.0, 9.0 };

    (void)state;
    thermal_case(1, 1, 0);
    kit_add_source(&kit, 100.0, 0.0);
    kit.sources[0].is_stochastic = true;
    kit_source(&kit, 0, 0)->mean = 0.5;
    kit_source(&kit, 0, 0)->std = 0.25;
    build(0, NULL, NULL);
    assert_solved(empty, windy, 25.0 * 50.0 * HOURS);
    assert_solved(empty, calm, 100.0 * 50.0 * HOURS);
    assert_solved(empty, storm, 0.0);
}

/* Curtailment at most 15: of 100 * 0.75 at least 60 must be generated, though the load is 10 and
 * excess costs 4. */
static void curtailment_of_a_stochastic_source(void **state)
{
    const double windy[] = { 1.0 };

    (void)state;
    thermal_case(0, 1, 0);
    kit_bus(&kit, 0, 0)->load_mean = 10.0;
    kit_bus(&kit, 0, 0)->excess_cost = 4.0;
    kit_add_source(&kit, 100.0, 1.0);
    kit.sources[0].is_stochastic = true;
    kit_source(&kit, 0, 0)->mean = 0.5;
    kit_source(&kit, 0, 0)->std = 0.25;
    kit_add_term(&kit, COBRE_VAR_SOURCE_CURTAILMENT, 0, 1.0);
    kit_set_constraint(&kit, COBRE_SENSE_LE, 15.0, 0.0);
    build(0, NULL, NULL);
    assert_solved(NULL, windy, (60.0 * -1.0 + 50.0 * 4.0) * HOURS);
}

/* ---- lines, contracts, pumping --------------------------------------------------------------- */

/* 20 % are lost on the way: 100 MW at the far bus take 125 there, and 25 more backwards. */
static void losses_on_the_way(void **state)
{
    (void)state;
    thermal_case(0, 2, 1);
    kit.thermals[0].bus = 1;
    kit.lines[0] = (cobre_line){ .source = 1, .target = 0, .losses_percent = 20.0 };
    *kit_line(&kit, 0, 0) = (cobre_line_stage){ .direct_mw = 200.0, .reverse_mw = 200.0 };
    assert_cost(NULL, 125.0 * 50.0 * HOURS);
    kit.lines[0].source = 0;
    kit.lines[0].target = 1;
    assert_cost(NULL, 125.0 * 50.0 * HOURS);
    kit.c.config.original_arithmetic = true;
    assert_cost(NULL, 100.0 * 50.0 * HOURS);
}

/* 30 MW at 20 are imported, the rest is thermal; an export that earns 60 takes 30 more of it. */
static void contracts_of_both_types(void **state)
{
    (void)state;
    thermal_case(0, 1, 0);
    kit_add_contract(&kit, false, 30.0, 20.0);
    assert_cost(NULL, (30.0 * 20.0 + 70.0 * 50.0) * HOURS);
    kit_add_contract(&kit, true, 30.0, -60.0);
    assert_cost(NULL, (130.0 * 50.0 - 30.0 * 60.0) * HOURS);
    kit.contract_stages[0].min_mw = 10.0;
    kit.contract_stages[0].price_per_mwh = -1.0;
    assert_cost(NULL, (110.0 * 50.0 - 10.0 * 1.0) * HOURS);
    kit.contract_stages[0].is_absent = true;
    assert_cost(NULL, 100.0 * 50.0 * HOURS);
}

/*
 * Plant 0 has 20 m3/s and no turbines, plant 1 makes 2 MW of a m3/s. A pump lifts 12 of them, for
 * 0.5 MW each: 24 MW less 6. The other 8 are spilled at 0.01.
 */
static void pumping(void **state)
{
    (void)state;
    thermal_case(2, 1, 0);
    kit_hydro(&kit, 0, 0)->max_turbined = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 20.0;
    kit_set_productivity(&kit, 1, 2.0);
    kit_add_station(&kit, 12.0, 0.5);
    assert_cost(empty, ((100.0 - 18.0) * 50.0 + 8.0 * 0.01) * HOURS);
    kit.station_stages[0].is_absent = true;
    assert_cost(empty, (100.0 * 50.0 + 20.0 * 0.01) * HOURS);
}

/* ---- generic constraints --------------------------------------------------------------------- */

/* The cost of thermal_case with a plant of 20 m3/s, a source of 10 MW, an import of 10 MW at 20 and
 * a term that is bounded. */
static void bounded_case(cobre_variable variable, size_t entity, cobre_sense sense, double bound,
                         double penalty, double expected)
{
    thermal_case(2, 1, 0);
    kit_hydro(&kit, 0, 0)->inflow_mean = 20.0;
    kit_hydro(&kit, 0, 0)->withdrawal = 4.0;
    kit_hydro(&kit, 0, 0)->withdrawal_neg_cost = 5000.0;
    kit_hydro(&kit, 0, 0)->withdrawal_pos_cost = 30.0;
    kit_hydro(&kit, 0, 0)->max_storage = 1000.0;
    kit.hydros[0].diversion_max_m3s = 50.0;
    kit_add_source(&kit, 10.0, 0.0);
    kit_add_contract(&kit, false, 10.0, 20.0);
    kit_add_station(&kit, 30.0, 1.5);
    kit_add_term(&kit, variable, entity, 2.0);
    kit_set_constraint(&kit, sense, 2.0 * bound, penalty);
    assert_cost(empty, expected * HOURS);
}

/* Without the constraint: 16 m3/s are 16 MW, with source and import 36: thermal 64 at 50. Each row
 * changes one thing; the coefficient 2 stands on both sides. */
static void every_variable_can_be_bounded(void **state)
{
    const double free = 64.0 * 50.0 + 10.0 * 20.0;
    /* clang-format off */
    static const struct {
        cobre_variable variable;
        cobre_sense sense;
        double bound, penalty, more;
    } rows[] = {
        /* 5 m3/s must stay in the reservoir: 5 MW of thermal */
        { COBRE_VAR_HYDRO_STORAGE, COBRE_SENSE_GE, 5.0 * ZETA, 0.0, 5.0 * 50.0 },
        { COBRE_VAR_HYDRO_TURBINED, COBRE_SENSE_LE, 11.0, 0.0, 5.0 * 50.0 },
        { COBRE_VAR_HYDRO_GENERATION, COBRE_SENSE_LE, 11.0, 0.0, 5.0 * 50.0 },
        { COBRE_VAR_HYDRO_OUTFLOW, COBRE_SENSE_LE, 11.0, 0.0, 5.0 * 50.0 },
        /* 3 of 16 are spilled, or diverted, at 0.01 */
        { COBRE_VAR_HYDRO_SPILLAGE, COBRE_SENSE_GE, 3.0, 0.0, 3.0 * (50.0 + 0.01) },
        { COBRE_VAR_HYDRO_DIVERSION, COBRE_SENSE_EQ, 3.0, 0.0, 3.0 * (50.0 + 0.01) },
        /* 6 in place of 4 are withdrawn, at 30 for each of 2 */
        { COBRE_VAR_HYDRO_WITHDRAWAL, COBRE_SENSE_GE, 6.0, 0.0, 2.0 * (50.0 + 30.0) },
        /* 7 lacking cost 1000, but save thermal energy */
        { COBRE_VAR_BUS_DEFICIT, COBRE_SENSE_GE, 7.0, 0.0, 7.0 * (1000.0 - 50.0) },
        { COBRE_VAR_BUS_EXCESS, COBRE_SENSE_GE, 7.0, 0.0, 7.0 * (0.01 + 50.0) },
        { COBRE_VAR_THERMAL_GENERATION, COBRE_SENSE_LE, 60.0, 0.0, 4.0 * 950.0 },
        /* 4 MW over at 100 for each unit of twice the generation */
        { COBRE_VAR_THERMAL_GENERATION, COBRE_SENSE_LE, 60.0, 100.0, 8.0 * 100.0 },
        { COBRE_VAR_THERMAL_GENERATION, COBRE_SENSE_EQ, 60.0, 100.0, 8.0 * 100.0 },
        { COBRE_VAR_SOURCE_GENERATION, COBRE_SENSE_LE, 6.0, 0.0, 4.0 * 50.0 },
        { COBRE_VAR_SOURCE_CURTAILMENT, COBRE_SENSE_GE, 4.0, 0.0, 4.0 * 50.0 },
        { COBRE_VAR_CONTRACT_IMPORT, COBRE_SENSE_LE, 6.0, 0.0, 4.0 * (50.0 - 20.0) },
        { COBRE_VAR_CONTRACT_EXPORT, COBRE_SENSE_LE, 6.0, 0.0, 4.0 * (50.0 - 20.0) },
        /* pumped water is turbined by the other plant: it costs 1.5 MW */
        { COBRE_VAR_PUMPING_FLOW, COBRE_SENSE_GE, 4.0, 0.0, 4.0 * 1.5 * 50.0 },
        { COBRE_VAR_PUMPING_POWER, COBRE_SENSE_GE, 6.0, 0.0, 4.0 * 1.5 * 50.0 },
        { COBRE_VAR_HYDRO_EVAPORATION, COBRE_SENSE_LE, 4.0, 0.0, 0.0 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        bounded_case(rows[i].variable, 0, rows[i].sense, rows[i].bound, rows[i].penalty,
                     free + rows[i].more);
}

/* Load 100 behind a line: no more than 30 may come, the reverse flow is bounded from below. */
static void flows_of_lines_can_be_bounded(void **state)
{
    static const struct {
        cobre_variable variable;
        cobre_sense sense;
        double bound, lacking;
    } rows[] = { { COBRE_VAR_LINE_DIRECT, COBRE_SENSE_LE, 30.0, 70.0 },
                 { COBRE_VAR_LINE_EXCHANGE, COBRE_SENSE_LE, 30.0, 70.0 },
                 { COBRE_VAR_LINE_REVERSE, COBRE_SENSE_GE, 10.0, 0.0 } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        thermal_case(0, 2, 1);
        kit.thermals[0].bus = 1;
        kit.lines[0] = (cobre_line){ .source = 1, .target = 0 };
        *kit_line(&kit, 0, 0) = (cobre_line_stage){ .direct_mw = 200.0, .reverse_mw = 200.0 };
        kit_add_term(&kit, rows[i].variable, 0, 1.0);
        kit_set_constraint(&kit, rows[i].sense, rows[i].bound, 0.0);
        assert_cost(NULL, ((100.0 - rows[i].lacking) * 50.0 + rows[i].lacking * 1000.0) * HOURS);
    }
}

/* ---- storage --------------------------------------------------------------------------------- */

/* 20 hm3 are asked for, 5 m3/s (13.14 hm3) arrive: 6.86 hm3 short at 7 a hm3, not times hours. */
static void soft_minimum(void **state)
{
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(1, 1, 0);
    plant = kit_hydro(&kit, 0, 0);
    plant->max_storage = 100.0;
    plant->min_storage = 20.0;
    plant->inflow_mean = 5.0;
    plant->storage_below_cost = 1e5;
    build(0, NULL, NULL);
    assert_int_equal(enter(empty, NULL), LP_INFEASIBLE);
    plant->is_soft = true;
    assert_cost(empty, 100.0 * 50.0 * HOURS + (20.0 - 5.0 * ZETA) * 1e5);
    assert_true(fabs(value_of(REGION_STORAGE_BELOW, 0, 0) - (20.0 - 5.0 * ZETA)) < 1e-9);
    plant->storage_below_cost = 7.0; /* cheaper than thermal energy: all water is used */
    assert_cost(empty, 95.0 * 50.0 * HOURS + 20.0 * 7.0);
}

/*
 * While it fills: no turbines, the storage grows by 4 m3/s (10.512 hm3) of the 3 that arrive: 1
 * m3/s (2.628 hm3) short at 9. In its last stage it must hold 50 hm3 as well.
 */
static void filling(void **state)
{
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(1, 1, 0);
    plant = kit_hydro(&kit, 0, 0);
    plant->phase = COBRE_HYDRO_FILLING;
    plant->min_storage = 50.0;
    plant->max_storage = 100.0;
    plant->inflow_mean = 3.0;
    plant->filling_inflow = 4.0;
    plant->filling_target_cost = 9.0;
    assert_cost(empty, 100.0 * 50.0 * HOURS + ZETA * 9.0);
    assert_true(fabs(value_of(REGION_FILLING_BELOW, 0, 0) - ZETA) < 1e-9);
    plant->is_last_filling = true;
    assert_cost(empty, 100.0 * 50.0 * HOURS + (ZETA + 50.0 - 3.0 * ZETA) * 9.0);
    assert_true(fabs(value_of(REGION_STORAGE, 0, 0) - 3.0 * ZETA) < 1e-9);
}

/*
 * An absent plant keeps its storage (above its maximum here) and lets 10 m3/s pass without a price,
 * no matter what limits it has; the plant below makes 10 MW of them.
 */
static void absent_plant(void **state)
{
    static const double storage[] = { 33.0, 0.0 };
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(2, 1, 0);
    kit.hydros[0].downstream = 1;
    plant = kit_hydro(&kit, 0, 0);
    plant->phase = COBRE_HYDRO_ABSENT;
    plant->inflow_mean = 10.0;
    plant->withdrawal = 3.0;
    plant->min_outflow = 20.0;
    plant->outflow_below_cost = 1000.0;
    plant->spillage_cost = 5.0;
    assert_cost(storage, 90.0 * 50.0 * HOURS);
    assert_true(fabs(value_of(REGION_STORAGE, 0, 0) - 33.0) < 1e-9);
    kit.c.config.original_arithmetic = true; /* it spills 33 hm3 and may not store any */
    build(0, NULL, NULL);
    assert_int_equal(enter(storage, NULL), LP_OPTIMAL);
    assert_true(fabs(value_of(REGION_STORAGE, 0, 0)) < 1e-9);
}

/* 1e20 and more is how cases write that there is no limit: on bus 1 a thermal, a line from there to
 * the load, with a factor of 2, and a plant that may let out anything. */
static void limits_beyond_all_measure(void **state)
{
    static const double far[] = { 1e20, 1e25, 9e29, 1e300 };

    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        thermal_case(1, 2, 1);
        kit.thermals[0].bus = 1;
        kit_thermal(&kit, 0, 0)->max_mw = far[i];
        kit.lines[0] = (cobre_line){ .source = 1, .target = 0 };
        *kit_line(&kit, 0, 0) = (cobre_line_stage){ .direct_mw = 2.0 * far[i] };
        kit_hydro(&kit, 0, 0)->max_outflow = far[i];
        kit_hydro(&kit, 0, 0)->max_turbined = far[i];
        assert_cost(empty, 100.0 * 50.0 * HOURS);
    }
}

/* Thermal, line: away from the stage they give nothing, not even a minimum. */
static void absent_thermal_and_line(void **state)
{
    (void)state;
    thermal_case(0, 2, 1);
    kit_thermal(&kit, 0, 0)->min_mw = 10.0;
    kit_thermal(&kit, 0, 0)->is_absent = true;
    assert_cost(NULL, 100.0 * 1000.0 * HOURS);
    kit_thermal(&kit, 0, 0)->is_absent = false;
    kit.thermals[0].bus = 1;
    kit_thermal(&kit, 0, 0)->min_mw = 0.0;
    kit.lines[0] = (cobre_line){ .source = 1, .target = 0 };
    *kit_line(&kit, 0, 0) = (cobre_line_stage){ .direct_mw = 40.0 };
    assert_cost(NULL, (40.0 * 50.0 + 60.0 * 1000.0) * HOURS);
    kit_line(&kit, 0, 0)->is_absent = true;
    assert_cost(NULL, 100.0 * 1000.0 * HOURS);
}

/* ---- chronological blocks -------------------------------------------------------------------- */

/*
 * Blocks of 100 h and 630 h, load 100 in the first and none in the second; 10 m3/s; 7.2 hm3 are
 * stored. Parallel blocks use all water of the stage in block 0: 7300 MWh that arrive and 2000 that
 * are stored, so thermal makes 700 of 10000. One after the other block 0 has only what is stored
 * and arrives by then, 20 and 10 m3/s: thermal makes 70 MW.
 */
static void blocks_one_after_the_other(void **state)
{
    static const double hours[] = { 100.0, 630.0 }, factor[] = { 1.0, 0.0 };
    const double stored = 7.2;

    (void)state;
    thermal_case(1, 1, 0);
    kit_set_blocks(&kit, 0, 2, hours);
    kit_bus(&kit, 0, 0)->load_factor = factor;
    kit_bus(&kit, 0, 0)->excess_cost = 0.0;
    kit_hydro(&kit, 0, 0)->max_storage = 100.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    assert_cost(&stored, 700.0 * 50.0);
    kit.stages[0].is_chronological = true;
    assert_cost(&stored, 70.0 * 50.0 * 100.0);
    assert_true(fabs(value_of(REGION_BLOCK_STORAGE, 0, 0)) < 1e-9);
    /* Load in the second block alone: the storage of the first, at most 5 hm3 of 10.8, is kept. */
    static const double late[] = { 0.0, 1.0 };
    kit_bus(&kit, 0, 0)->load_factor = late;
    kit_hydro(&kit, 0, 0)->max_storage = 5.0;
    kit_hydro(&kit, 0, 0)->spillage_cost = 0.0;
    assert_cost(&stored, ((100.0 - 10.0) * 630.0 - 5.0 / 0.0036) * 50.0);
    assert_true(fabs(value_of(REGION_BLOCK_STORAGE, 0, 0) - 5.0) < 1e-9);
}

/* Withdrawal and evaporation are rates: in every block 4 of the 10 that arrive are gone. */
static void rates_in_chronological_blocks(void **state)
{
    static const double hours[] = { 100.0, 630.0 };

    (void)state;
    thermal_case(1, 1, 0);
    kit_set_blocks(&kit, 0, 2, hours);
    kit.stages[0].is_chronological = true;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_hydro(&kit, 0, 0)->withdrawal = 4.0;
    kit_hydro(&kit, 0, 0)->withdrawal_neg_cost = 1e4;
    assert_cost(empty, 94.0 * 50.0 * HOURS);
}

/* G <= 0.1 * mean storage of the block. 10 m3/s flow out in each block of 100 h: the storage is
 * 100, 96.4, then 92.8, and G is 9.82, then 9.46 MW. */
static void planes_in_chronological_blocks(void **state)
{
    static const double hours[] = { 100.0, 100.0 };
    static const hydro_plane planes[] = { { 0.0, 0.1, 0.0, 0.0 } };
    const hydro_model fpha = { .is_fpha = true, .planes = planes, .plane_count = 1 };
    const double full = 100.0;
    cobre_hydro_stage *plant;

    (void)state;
    thermal_case(1, 1, 0);
    kit_set_blocks(&kit, 0, 2, hours);
    kit.stages[0].is_chronological = true;
    plant = kit_hydro(&kit, 0, 0);
    plant->max_storage = 200.0;
    plant->max_turbined = 10.0;
    plant->min_turbined = 10.0;
    plant->turbined_below_cost = 1e4;
    build(0, &fpha, NULL);
    assert_solved(&full, NULL, ((100.0 - 9.82) + (100.0 - 9.46)) * 50.0 * 100.0);
    assert_true(fabs(value_of(REGION_GENERATION, 0, 1) - 9.46) < 1e-9);
}

/* ---- the future ------------------------------------------------------------------------------ */

/* A later stage can earn 30 MW * 60 in its 730 h, so theta goes down to that; the last stage has
 * none; in compatibility theta is at least 0. */
static void theta_may_be_negative(void **state)
{
    (void)state;
    thermal_case(0, 1, 0);
    kit_add_contract(&kit, true, 30.0, -60.0);
    build(0, NULL, NULL);
    assert_true(fabs(stage.program.lower[stage.theta] + 30.0 * 60.0 * HOURS / 1000.0) < 1e-9);
    build(1, NULL, NULL);
    assert_true(stage.program.lower[stage.theta] == 0.0 && stage.program.upper[stage.theta] == 0.0);
    kit.c.config.original_arithmetic = true;
    build(0, NULL, NULL);
    assert_true(stage.program.lower[stage.theta] == 0.0);
}

/* In a cycle the last stage has a future too: a round earns r, and all later ones r / (1 - 0.81)
 * at most. */
static void theta_of_a_cycle(void **state)
{
    double earns = 30.0 * 60.0 * HOURS / 1000.0;

    (void)state;
    thermal_case(0, 1, 0);
    kit_add_contract(&kit, true, 30.0, -60.0);
    kit.stages[0].discount = kit.stages[1].discount = 0.9;
    kit.c.is_cyclic = true;
    build(1, NULL, NULL);
    assert_true(stage.program.upper[stage.theta] >= LP_INFINITY);
    assert_true(fabs(stage.program.lower[stage.theta] + 2.0 * earns / (1.0 - 0.81)) < 1e-9);
}

/* Where a boundary policy follows, the last stage has a future. */
static void theta_before_a_boundary(void **state)
{
    (void)state;
    thermal_case(0, 1, 0);
    kit.c.config.policy.boundary_path = "../next/policy";
    build(1, NULL, NULL);
    assert_true(stage.program.upper[stage.theta] >= LP_INFINITY);
}

/* Three openings: three thetas at d/3 each. With CVaR(1/2, 0.4) of theta = (9, 6, 3), all fixed by
 * their bounds: 0.6 * 6 + 0.4 * (worst half of the mass: (9/3 + 6/6) / 0.5 = 8). */
static void one_theta_an_opening(void **state)
{
    static const uint32_t openings[] = { 1, 3 };

    (void)state;
    thermal_case(0, 1, 0);
    kit.stages[0].discount = 0.9;
    kit_bus(&kit, 0, 0)->load_mean = 0.0;
    for (int risk = 0; risk < 2; risk++) {
        kit.stages[0].is_cvar = risk;
        kit.stages[0].cvar_alpha = 0.5;
        kit.stages[0].cvar_lambda = 0.4;
        build(0, NULL, openings);
        for (int w = 0; w < 3; w++)
            lp_set_column(model, stage.theta + w, 9.0 - 3.0 * w, LP_INFINITY);
        double worth = risk ? 0.6 * 6.0 + 0.4 * 8.0 : 6.0;
        assert_solved(NULL, NULL, 0.0);
        assert_true(fabs(stage_lp_future(&stage, lp_primal(model)) - 0.9 * worth) < 1e-9);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_planes),
        TEST(evaporation),
        TEST(productivity_of_a_stage),
        TEST(sources_are_curtailed),
        TEST(stochastic_sources),
        TEST(curtailment_of_a_stochastic_source),
        TEST(losses_on_the_way),
        TEST(contracts_of_both_types),
        TEST(pumping),
        TEST(every_variable_can_be_bounded),
        TEST(flows_of_lines_can_be_bounded),
        TEST(soft_minimum),
        TEST(filling),
        TEST(absent_plant),
        TEST(limits_beyond_all_measure),
        TEST(absent_thermal_and_line),
        TEST(blocks_one_after_the_other),
        TEST(rates_in_chronological_blocks),
        TEST(planes_in_chronological_blocks),
        TEST(theta_may_be_negative),
        TEST(theta_of_a_cycle),
        TEST(theta_before_a_boundary),
        TEST(one_theta_an_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
