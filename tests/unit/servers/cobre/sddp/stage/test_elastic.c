/*
 * test_elastic.c - the hydros whose water balance cannot hold, by amounts derived by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/program/items.h"
#include "sddp/stage/elastic.h"

static case_kit kit;
static elastic_gap violated[4]; /* constraint rows, by the last search */
static size_t violated_count;

/* The gaps from these storages, without noise. */
static size_t calm_gaps(const stage_lp *stage, const double *storage, elastic_gap *gaps,
                        size_t most)
{
    static const double calm[KIT_ENTITIES];
    double random[8 * KIT_ENTITIES], values[8 * KIT_ENTITIES];

    assert_true(stage->layout.items <= sizeof values / sizeof values[0]);
    items_of_noise(stage, calm, random, 1);
    items_of_state(stage, storage, &(item_lanes){ 1, random, 1, 0 }, values);
    elastic_gaps found = { .most = most, .hydros = gaps, .rows = violated };
    elastic_find(&found, stage, values, 1);
    violated_count = found.row_count;
    return found.hydro_count;
}

/* Two plants in a row without inflow, from 100 hm3 each; the second must end with `needed`. */
static size_t gaps_of(double needed, elastic_gap *gaps, size_t most)
{
    static const double storage[] = { 100.0, 100.0 };
    mcp_arena *arena = mcp_arena_new(0);
    program_models models;
    program_context context;
    stage_lp stage;

    kit_begin(&kit, 2, 2, 1, 1, 0);
    kit.hydros[0].downstream = 1;
    kit_hydro(&kit, 0, 0)->min_storage = 30.0;
    kit_hydro(&kit, 0, 1)->min_storage = needed;
    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, NULL, NULL), MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, 0, NULL), MCP_OK);
    size_t count = calm_gaps(&stage, storage, gaps, most);
    mcp_arena_free(arena);
    return count;
}

static void what_upstream_can_give_is_no_gap(void **state)
{
    elastic_gap gaps[4];

    (void)state;
    assert_int_equal(gaps_of(170.0, gaps, 4), 0);
}

/* 100 + (100 - 30) hm3 are there, 250 are needed: 80 are missing, at the one or the other plant. */
static void what_is_missing(void **state)
{
    elastic_gap gaps[4];
    double sum = 0.0;

    (void)state;
    size_t count = gaps_of(250.0, gaps, 4);
    assert_in_range(count, 1, 2);
    for (size_t i = 0; i < count; i++)
        sum += gaps[i].amount;
    assert_true(fabs(sum - 80.0) < 1e-6);
}

/* The first plant cannot give: the gap is the second one's alone. */
static void the_largest_first(void **state)
{
    static const double storage[] = { 10.0, 50.0, 100.0 };
    mcp_arena *arena = mcp_arena_new(0);
    elastic_gap gaps[2];
    program_models models;
    program_context context;
    stage_lp stage;

    (void)state;
    kit_begin(&kit, 2, 3, 1, 1, 0);
    for (size_t h = 0; h < 3; h++)
        kit_hydro(&kit, 0, h)->min_storage = 100.0;
    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, NULL, NULL), MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, 0, NULL), MCP_OK);
    assert_int_equal(calm_gaps(&stage, storage, gaps, 2), 2);
    assert_int_equal(gaps[0].at, 0);
    assert_true(fabs(gaps[0].amount - 90.0) < 1e-6);
    assert_int_equal(gaps[1].at, 1);
    assert_true(fabs(gaps[1].amount - 50.0) < 1e-6);
    assert_int_equal(calm_gaps(&stage, storage, gaps, 1), 1);
    assert_int_equal(gaps[0].at, 0);
    mcp_arena_free(arena);
}

/* 10 m3/s of negative inflow over blocks of 100 and 200 h drain an empty plant: 3.6 and 7.2 hm3 are
 * missing, in either block. */
static void each_block_of_a_chronological_stage(void **state)
{
    static const double hours[] = { 100.0, 200.0 }, empty = 0.0;
    mcp_arena *arena = mcp_arena_new(0);
    elastic_gap gaps[2];
    program_models models;
    program_context context;
    stage_lp stage;

    (void)state;
    kit_begin(&kit, 2, 1, 1, 1, 0);
    kit_set_blocks(&kit, 0, 2, hours);
    kit.stages[0].is_chronological = true;
    kit_hydro(&kit, 0, 0)->max_storage = 0.0;
    kit_hydro(&kit, 0, 0)->inflow_mean = -10.0;
    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, NULL, NULL), MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, 0, NULL), MCP_OK);
    assert_int_equal(calm_gaps(&stage, &empty, gaps, 2), 1);
    assert_true(fabs(gaps[0].amount - 10.8) < 1e-6);
    mcp_arena_free(arena);
}

/* 2 * storage of the first plant, which starts with 100 hm3 and takes no more, must be `bound`. */
static size_t gaps_of_wish(double bound, double penalty, double minimum, elastic_gap *gaps)
{
    static const double storage[] = { 100.0, 100.0 };
    mcp_arena *arena = mcp_arena_new(0);
    program_models models;
    program_context context;
    stage_lp stage;

    kit_begin(&kit, 2, 2, 1, 1, 0);
    kit_hydro(&kit, 0, 0)->max_storage = 100.0;
    kit_hydro(&kit, 0, 1)->min_storage = minimum;
    kit_add_term(&kit, COBRE_VAR_HYDRO_STORAGE, 0, 2.0);
    kit_set_constraint(&kit, COBRE_SENSE_EQ, bound, penalty);
    assert_int_equal(program_models_build(&models, arena, &kit.c, NULL), MCP_OK);
    assert_int_equal(program_context_make(&context, arena, &kit.c, &models, NULL, NULL), MCP_OK);
    assert_int_equal(stage_lp_build(&stage, arena, &context, 0, NULL), MCP_OK);
    size_t count = calm_gaps(&stage, storage, gaps, 4);
    mcp_arena_free(arena);
    return count;
}

/* No more than 200 can be, and no less than 0. */
static void a_constraint_that_cannot_hold(void **state)
{
    elastic_gap gaps[4];

    (void)state;
    assert_int_equal(gaps_of_wish(200.0, 0.0, 0.0, gaps), 0);
    assert_int_equal(violated_count, 0);
    assert_int_equal(gaps_of_wish(230.0, 0.0, 0.0, gaps), 0);
    assert_int_equal(violated_count, 1);
    assert_int_equal(violated[0].at, 0);
    assert_true(fabs(violated[0].amount - 30.0) < 1e-6);
    assert_int_equal(gaps_of_wish(-10.0, 0.0, 0.0, gaps), 0);
    assert_int_equal(violated_count, 1);
    assert_true(fabs(violated[0].amount + 10.0) < 1e-6);
}

/* The second plant lacks 50 hm3, which is no matter of the constraint. */
static void a_balance_and_a_constraint(void **state)
{
    elastic_gap gaps[4];

    (void)state;
    assert_int_equal(gaps_of_wish(230.0, 0.0, 150.0, gaps), 1);
    assert_int_equal(gaps[0].at, 1);
    assert_true(fabs(gaps[0].amount - 50.0) < 1e-6);
    assert_int_equal(violated_count, 1);
    assert_int_equal(gaps_of_wish(230.0, 5.0, 150.0, gaps), 1); /* it has a slack */
    assert_int_equal(violated_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_upstream_can_give_is_no_gap),
        cmocka_unit_test(what_is_missing),
        cmocka_unit_test(the_largest_first),
        cmocka_unit_test(each_block_of_a_chronological_stage),
        cmocka_unit_test(a_constraint_that_cannot_hold),
        cmocka_unit_test(a_balance_and_a_constraint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
