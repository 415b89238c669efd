/*
 * test_stage_lp.c - every column and row of a stage's program, by cases whose cost is derived by
 * hand.
 *
 * The cases have one or two stages alike, no storage worth keeping and no uncertainty, so that the
 * cost of a stage can be worked out in a comment. c = 0.0036 hm3 per (m3/s)h.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/program/items.h"
#include "sddp/program/stage_lp.h"

#define HOURS 730.0

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

static void build(size_t t)
{
    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, NULL, NULL), MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, t, NULL), MCP_OK);
}

static lp_status enter(const double *storage, const double *noise)
{
    double random[8 * KIT_ENTITIES], values[8 * KIT_ENTITIES];

    assert_true(stage.layout.items <= sizeof values / sizeof values[0]);
    items_of_noise(&stage, noise, random, 1);
    items_of_state(&stage, storage, &(item_lanes){ 1, random, 1, 0 }, values);
    items_enter(&stage, model, values, 1);
    return lp_solve(model);
}

static lp_status solve(const double *storage, const double *noise)
{
    build(0);
    assert_int_equal(lp_new(&model, &stage.program, NULL), MCP_OK);
    return enter(storage, noise);
}

/* Solve stage 0 from these storages and without noise; the cost must come out. */
static void assert_cost(const double *storage, double expected)
{
    static const double calm[KIT_ENTITIES];

    assert_int_equal(solve(storage, calm), LP_OPTIMAL);
    double cost = lp_objective(model) * COST_SCALE;
    if (fabs(cost - expected) > 1e-6 * fmax(1.0, fabs(expected)))
        fail_msg("cost %.12g instead of %.12g", cost, expected);
}

/* Place 0 of an entity in the solution. */
static double value_of(column_region r, size_t entity)
{
    return lp_primal(model)[stage_lp_column(&stage, r, entity, 0)];
}

/*
 * Thermal (100 MW at 10) on bus 0 with load 20, bus 1 with load 50 behind a line of 30 MW direct
 * at 1 a MWh: 50 MW thermal, 30 on the line, 20 deficit at 1000.
 */
static void line_forwards(void **state)
{
    (void)state;
    kit_begin(&kit, 2, 0, 1, 2, 1);
    kit_set_thermal(&kit, 0, 100.0, 10.0);
    kit.lines[0] = (cobre_line){ .source = 0, .target = 1 };
    *kit_line(&kit, 0,
              0) = (cobre_line_stage){ .direct_mw = 30.0, .reverse_mw = 5.0, .exchange_cost = 1.0 };
    kit_bus(&kit, 0, 0)->load_mean = 20.0;
    kit_bus(&kit, 0, 1)->load_mean = 50.0;
    assert_cost(NULL, (50.0 * 10.0 + 30.0 * 1.0 + 20.0 * 1000.0) * HOURS);
    assert_true(fabs(value_of(REGION_DIRECT, 0) - 30.0) < 1e-9);
}

/* The same line used backwards: its reverse limit is 5, halved by the factor of the block. */
static void line_backwards(void **state)
{
    static const double half[] = { 0.5 };

    (void)state;
    kit_begin(&kit, 2, 0, 1, 2, 1);
    kit_set_thermal(&kit, 0, 100.0, 10.0);
    kit.thermals[0].bus = 1;
    kit.lines[0] = (cobre_line){ .source = 0, .target = 1 };
    *kit_line(&kit, 0, 0) = (cobre_line_stage){
        .direct_mw = 30.0, .reverse_mw = 5.0, .exchange_cost = 1.0, .reverse_factor = half
    };
    kit_bus(&kit, 0, 0)->load_mean = 20.0;
    assert_cost(NULL, (2.5 * 10.0 + 2.5 * 1.0 + 17.5 * 1000.0) * HOURS);
    assert_true(fabs(value_of(REGION_REVERSE, 0) - 2.5) < 1e-9);
}

/*
 * Blocks of 100 h and 630 h with load 40 and 20; thermals 20 MW at 10 and 100 MW at 100; a plant
 * without storage that gets 10 m3/s, that is 7300 MWh. They replace the dear thermal in block 0
 * (2000 MWh) first, then 5300 of 14600 MWh of the cheap one.
 */
static void blocks_share_the_water(void **state)
{
    static const double hours[] = { 100.0, 630.0 }, factor[] = { 2.0, 1.0 };
    const double empty = 0.0;

    (void)state;
    kit_begin(&kit, 2, 1, 2, 1, 0);
    kit_set_blocks(&kit, 0, 2, hours);
    kit_set_thermal(&kit, 0, 20.0, 10.0);
    kit_set_thermal(&kit, 1, 100.0, 100.0);
    kit_hydro(&kit, 0, 0)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_bus(&kit, 0, 0)->load_mean = 20.0;
    kit_bus(&kit, 0, 0)->load_factor = factor;
    assert_cost(&empty, (14600.0 - 5300.0) * 10.0);
}

/* Thermal minimum 12 MW at 3 with load 10: 2 MW of excess at 7. */
static void minimum_of_a_thermal(void **state)
{
    (void)state;
    kit_begin(&kit, 2, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 20.0, 3.0);
    kit_thermal(&kit, 0, 0)->min_mw = 12.0;
    kit_bus(&kit, 0, 0)->load_mean = 10.0;
    kit_bus(&kit, 0, 0)->excess_cost = 7.0;
    assert_cost(NULL, (12.0 * 3.0 + 2.0 * 7.0) * HOURS);
}

/* A plant that earns nothing, without storage, with this inflow. */
static cobre_hydro_stage *idle_plant(double inflow)
{
    kit_begin(&kit, 2, 1, 0, 1, 0);
    kit_set_productivity(&kit, 0, 0.0);
    kit_hydro(&kit, 0, 0)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = inflow;
    return kit_hydro(&kit, 0, 0);
}

/* 5 m3/s arrive, 8 shall leave: 3 short at 500. */
static void minimum_outflow(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(5.0);

    (void)state;
    plant->min_outflow = 8.0;
    plant->outflow_below_cost = 500.0;
    assert_cost(&empty, 3.0 * 500.0 * HOURS);
    assert_true(fabs(value_of(REGION_OUTFLOW_BELOW, 0) - 3.0) < 1e-9);
}

/* 60 arrive, 50 may leave: 10 over at 300; 10 pass the turbines, 50 are spilled at 0.01. */
static void maximum_outflow(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(60.0);

    (void)state;
    plant->max_outflow = 50.0;
    plant->max_turbined = 10.0;
    plant->outflow_above_cost = 300.0;
    assert_cost(&empty, (10.0 * 300.0 + 50.0 * 0.01) * HOURS);
}

/* 5 arrive, 8 shall be turbined: 3 short at 400. */
static void minimum_turbined(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(5.0);

    (void)state;
    plant->min_turbined = 8.0;
    plant->turbined_below_cost = 400.0;
    assert_cost(&empty, 3.0 * 400.0 * HOURS);
}

/* 5 m3/s at 2 MW each are 10 MW of the 20 asked for: 10 short at 700. Load 10 takes them. */
static void minimum_generation(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(5.0);

    (void)state;
    kit_set_productivity(&kit, 0, 2.0);
    plant->min_generation = 20.0;
    plant->generation_below_cost = 700.0;
    kit_bus(&kit, 0, 0)->load_mean = 10.0;
    assert_cost(&empty, 10.0 * 700.0 * HOURS);
}

/* max_generation 30 at 2 MW per m3/s: 15 m3/s of 20 are turbined, 5 spilled; load 40 lacks 10. */
static void maximum_generation(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(20.0);

    (void)state;
    kit_set_productivity(&kit, 0, 2.0);
    plant->max_generation = 30.0;
    kit_bus(&kit, 0, 0)->load_mean = 40.0;
    assert_cost(&empty, (10.0 * 1000.0 + 5.0 * 0.01) * HOURS);
}

/* 5 arrive, 8 are withdrawn: 3 short at 200. */
static void withdrawal_falls_short(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(5.0);

    (void)state;
    plant->withdrawal = 8.0;
    plant->withdrawal_neg_cost = 200.0;
    plant->withdrawal_pos_cost = 100.0;
    assert_cost(&empty, 3.0 * 200.0 * HOURS);
    assert_true(fabs(value_of(REGION_WITHDRAWAL_BELOW, 0) - 3.0) < 1e-9);
}

/* 9 arrive, 4 are withdrawn, nothing may flow out (600 over the limit): 5 withdrawn more, at
 * 100. */
static void withdrawal_takes_more(void **state)
{
    const double empty = 0.0;
    cobre_hydro_stage *plant = idle_plant(9.0);

    (void)state;
    plant->withdrawal = 4.0;
    plant->withdrawal_neg_cost = 200.0;
    plant->withdrawal_pos_cost = 100.0;
    plant->max_outflow = 0.0;
    plant->outflow_above_cost = 600.0;
    assert_cost(&empty, 5.0 * 100.0 * HOURS);
}

/* Withdrawn water is lost to the turbines: 10 arrive, 4 go; load 10 gets 6, and 4 of thermal at
 * 20. */
static void withdrawal_is_served_first(void **state)
{
    const double empty = 0.0;

    (void)state;
    kit_begin(&kit, 2, 1, 1, 1, 0);
    kit_set_thermal(&kit, 0, 50.0, 20.0);
    kit_hydro(&kit, 0, 0)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_hydro(&kit, 0, 0)->withdrawal = 4.0;
    kit_hydro(&kit, 0, 0)->withdrawal_neg_cost = 1000.0;
    kit_bus(&kit, 0, 0)->load_mean = 10.0;
    assert_cost(&empty, 4.0 * 20.0 * HOURS);
}

/*
 * Plant 0 has no turbines; of its 10 m3/s 6 can be diverted (at 0.05) to plant 1, which makes 6 MW
 * of them; 4 are spilled at 0.01 and lost. Thermal at 10 makes the other 4 of load 10.
 */
static void diversion(void **state)
{
    const double empty[] = { 0.0, 0.0 };

    (void)state;
    kit_begin(&kit, 2, 2, 1, 1, 0);
    kit_set_thermal(&kit, 0, 50.0, 10.0);
    kit.hydros[0].diversion_downstream = 1;
    kit.hydros[0].diversion_max_m3s = 6.0;
    for (size_t h = 0; h < 2; h++)
        kit_hydro(&kit, 0, h)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->max_turbined = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_hydro(&kit, 0, 0)->diversion_cost = 0.05;
    kit_bus(&kit, 0, 0)->load_mean = 10.0;
    assert_cost(empty, (6.0 * 0.05 + 4.0 * 0.01 + 4.0 * 10.0) * HOURS);
}

/* Spilled and turbined water both reach the plant below: 10 m3/s make 4 MW above and 10 below. */
static void cascade(void **state)
{
    const double empty[] = { 0.0, 0.0 };

    (void)state;
    kit_begin(&kit, 2, 2, 1, 1, 0);
    kit_set_thermal(&kit, 0, 50.0, 10.0);
    kit.hydros[0].downstream = 1;
    for (size_t h = 0; h < 2; h++)
        kit_hydro(&kit, 0, h)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->max_turbined = 4.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = 10.0;
    kit_bus(&kit, 0, 0)->load_mean = 20.0;
    assert_cost(empty, (6.0 * 0.01 + 6.0 * 10.0) * HOURS);
}

/* 25 lacking of 30: 10 at 100, then 15 at 400. */
static void deficit_segments(void **state)
{
    (void)state;
    kit_begin(&kit, 2, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 5.0, 1.0);
    kit.segments[0][0] = (cobre_deficit_segment){ 10.0, 100.0 };
    kit.segments[0][1] = (cobre_deficit_segment){ INFINITY, 400.0 };
    kit.buses[0].segment_count = 2;
    kit_bus(&kit, 0, 0)->load_mean = 30.0;
    assert_cost(NULL, (5.0 * 1.0 + 10.0 * 100.0 + 15.0 * 400.0) * HOURS);
}

/* ---- inflow methods -------------------------------------------------------------------------- */

static void negative_inflow_is_infeasible(void **state)
{
    const double empty = 0.0, calm = 0.0;

    (void)state;
    idle_plant(-5.0);
    assert_int_equal(solve(&empty, &calm), LP_INFEASIBLE);
}

static void negative_inflow_at_a_price(void **state)
{
    const double empty = 0.0;

    (void)state;
    idle_plant(-5.0);
    kit.c.config.inflow_method = COBRE_INFLOW_PENALTY;
    kit.hydros[0].inflow_nonnegativity_cost = 100.0;
    assert_cost(&empty, 5.0 * 100.0 * HOURS);
    assert_true(fabs(value_of(REGION_INFLOW_SLACK, 0) - 5.0) < 1e-9);
}

static void negative_inflow_truncated(void **state)
{
    const double empty = 0.0, low = -3.0;

    (void)state;
    idle_plant(5.0)->inflow_std = 4.0;
    kit.c.config.inflow_method = COBRE_INFLOW_TRUNCATION;
    assert_int_equal(solve(&empty, &low), LP_OPTIMAL);
    assert_true(value_of(REGION_INFLOW, 0) == 0.0);
    assert_int_equal(stage.column[REGION_INFLOW_SLACK][0], NO_COLUMN);
}

/* Without noise truncation cannot lift it (method page, 3.2); the penalty next to it pays. */
static void certain_negative_inflow_is_not_truncated(void **state)
{
    const double empty = 0.0;

    (void)state;
    idle_plant(-5.0);
    kit.c.config.inflow_method = COBRE_INFLOW_TRUNCATION_WITH_PENALTY;
    kit.hydros[0].inflow_nonnegativity_cost = 100.0;
    assert_cost(&empty, 5.0 * 100.0 * HOURS);
}

/* ---- noise, state, duals --------------------------------------------------------------------- */

/* Load 20 + 5 * 2 = 30 in block 0 at factor 1.5 = 45; 20 - 5 * 9 is cut off at 0. */
static void stochastic_load(void **state)
{
    static const double factor[] = { 1.5 };
    const double high[] = { 2.0 }, low[] = { -9.0 };

    (void)state;
    kit_begin(&kit, 2, 0, 1, 2, 0);
    kit_set_thermal(&kit, 0, 100.0, 10.0);
    kit.thermals[0].bus = 1;
    kit.bus_is_stochastic[1] = true;
    kit_bus(&kit, 0, 1)->load_mean = 20.0;
    kit_bus(&kit, 0, 1)->load_std = 5.0;
    kit_bus(&kit, 0, 1)->load_factor = factor;
    assert_int_equal(solve(NULL, high), LP_OPTIMAL);
    assert_true(fabs(lp_objective(model) * COST_SCALE - 45.0 * 10.0 * HOURS) < 1e-6);
    assert_int_equal(enter(NULL, low), LP_OPTIMAL);
    assert_true(fabs(lp_objective(model)) < 1e-9);
}

/*
 * The plant's water saves thermal energy at 50: 1 hm3 is 1/0.0036 MWh, so the gradient by incoming
 * storage is -50/0.0036 currency, and the balance row's dual the same.
 */
static void gradient_by_incoming_storage(void **state)
{
    const double storage = 10.0, calm = 0.0;

    (void)state;
    kit_begin(&kit, 2, 1, 1, 1, 0);
    kit_set_thermal(&kit, 0, 100.0, 50.0);
    kit_hydro(&kit, 0, 0)->max_storage = 0.0;
    kit_bus(&kit, 0, 0)->load_mean = 60.0;
    assert_int_equal(solve(&storage, &calm), LP_OPTIMAL);
    double gradient = lp_reduced_costs(model)[stage_lp_column(&stage, REGION_INCOMING, 0, 0)];
    assert_true(fabs(gradient * COST_SCALE + 50.0 / 0.0036) < 1e-6);
    assert_true(fabs(lp_duals(model)[stage.row[ROW_BALANCE][0]] - gradient) < 1e-12);
    double price = lp_duals(model)[stage.row[ROW_LOAD][0]] * COST_SCALE / HOURS;
    assert_true(fabs(price - 50.0) < 1e-9);
}

/* Initial storage above the maximum has to be spilled; the outgoing state is inside the bounds. */
static void too_full_at_the_start(void **state)
{
    const double storage = 1500.0, calm = 0.0;
    double outgoing;

    (void)state;
    kit_begin(&kit, 2, 1, 0, 1, 0);
    kit_hydro(&kit, 0, 0)->max_turbined = 0.0;
    assert_int_equal(solve(&storage, &calm), LP_OPTIMAL);
    stage_lp_leave(&stage, lp_primal(model), &outgoing);
    assert_true(fabs(outgoing - 1000.0) < 1e-9 && outgoing <= 1000.0);
}

static void size_is_that_of_the_program(void **state)
{
    double size[3];

    (void)state;
    case_wide(&kit, 3, 12);
    build(1);
    assert_int_equal(stage_lp_size(&context, 1, size, NULL), MCP_OK);
    assert_true(stage_lp_least_columns(&kit.c, 1) <= size[0]);
    assert_true(size[0] == stage.program.columns);
    assert_true(size[1] == stage.program.rows);
    assert_true(size[2] >= stage.program.start[stage.program.columns]);
    for (int j = 0; j < stage.program.columns; j++)
        for (int i = stage.program.start[j] + 1; i < stage.program.start[j + 1]; i++)
            assert_true(stage.program.row[i - 1] < stage.program.row[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(line_forwards),
        TEST(line_backwards),
        TEST(blocks_share_the_water),
        TEST(minimum_of_a_thermal),
        TEST(minimum_outflow),
        TEST(maximum_outflow),
        TEST(minimum_turbined),
        TEST(minimum_generation),
        TEST(maximum_generation),
        TEST(withdrawal_falls_short),
        TEST(withdrawal_takes_more),
        TEST(withdrawal_is_served_first),
        TEST(diversion),
        TEST(cascade),
        TEST(deficit_segments),
        TEST(negative_inflow_is_infeasible),
        TEST(negative_inflow_at_a_price),
        TEST(negative_inflow_truncated),
        TEST(certain_negative_inflow_is_not_truncated),
        TEST(stochastic_load),
        TEST(gradient_by_incoming_storage),
        TEST(too_full_at_the_start),
        TEST(size_is_that_of_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
