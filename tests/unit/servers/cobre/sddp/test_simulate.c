/*
 * test_simulate.c - simulation: published figures, and results whose parts add up.
 *
 * The identities are those of the output page, 5.1: what a stage cost is the sum of what its parts
 * cost, and water and power balance.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "sddp/sddp.h"

static case_kit kit;

static sddp *trained(unsigned threads)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK ||
        sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

static void simulate(sddp *study, const sddp_observer *observer, sddp_simulation *result)
{
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_simulate(study, observer, result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

/* Method page, 15: mean 2 463 357.956, deviation 4 767 158.62, half-width 9.34363e5, 400 solves. */
static void figures_of_1dtoy(void **state)
{
    sddp_simulation result;

    (void)state;
    case_1dtoy(&kit);
    for (unsigned threads = 1; threads <= 2; threads++) {
        sddp *study = trained(threads);
        simulate(study, NULL, &result);
        assert_true(fabs(result.mean - 2463357.956) < 0.001);
        assert_true(fabs(result.std - 4767158.62) < 0.01);
        assert_true(fabs(result.ci_95 - 9.34363e5) < 0.6);
        assert_int_equal(result.lp_solves, 400);
        assert_int_equal(result.scenarios_total, 100);
        assert_int_equal(result.scenarios_completed, 100);
        assert_false(result.stopped);
        assert_true(result.min < result.mean && result.mean < result.cvar);
        assert_true(result.cvar <= result.max);
        sddp_free(study);
    }
}

/* ---- parts that add up ----------------------------------------------------------------------- */

static double at(const sddp_stage_result *r, column_region of, size_t entity, size_t k)
{
    return r->value[of][entity * r->width[of] + k];
}

/* Over the blocks of a stage, per hour. */
static double sum_blocks(const sddp_stage_result *r, column_region of, size_t entity)
{
    double sum = 0.0;

    for (size_t k = 0; k < r->blocks; k++)
        sum += at(r, of, entity, k) * kit.stages[r->stage].blocks[k].hours;
    return sum;
}

static double cost_of_hydro(const sddp_stage_result *r, size_t h)
{
    const cobre_hydro_stage *price = kit_hydro(&kit, r->stage, h);

    return price->spillage_cost * sum_blocks(r, REGION_SPILLED, h) +
           price->diversion_cost * sum_blocks(r, REGION_DIVERTED, h) +
           price->outflow_below_cost * sum_blocks(r, REGION_OUTFLOW_BELOW, h) +
           price->outflow_above_cost * sum_blocks(r, REGION_OUTFLOW_ABOVE, h) +
           price->turbined_below_cost * sum_blocks(r, REGION_TURBINED_BELOW, h) +
           price->generation_below_cost * sum_blocks(r, REGION_GENERATION_BELOW, h) +
           kit.stages[r->stage].hours *
               (kit.hydros[h].inflow_nonnegativity_cost * at(r, REGION_INFLOW_SLACK, h, 0) +
                price->withdrawal_neg_cost * at(r, REGION_WITHDRAWAL_BELOW, h, 0) +
                price->withdrawal_pos_cost * at(r, REGION_WITHDRAWAL_ABOVE, h, 0));
}

static double deficit_at(const sddp_stage_result *r, size_t bus, size_t k, bool priced)
{
    double sum = 0.0;

    for (size_t s = 0; s < kit.buses[bus].segment_count; s++)
        sum += at(r, REGION_DEFICIT, bus, s * r->blocks + k) *
               (priced ? kit.segments[bus][s].cost : 1.0);
    return sum;
}

static double cost_of_parts(const sddp_stage_result *r)
{
    const cobre_stage *stage = &kit.stages[r->stage];
    double cost = 0.0;

    for (size_t h = 0; h < kit.c.hydro_count; h++)
        cost += cost_of_hydro(r, h);
    for (size_t i = 0; i < kit.c.thermal_count; i++)
        cost += kit_thermal(&kit, r->stage, i)->cost_per_mwh * sum_blocks(r, REGION_THERMAL, i);
    for (size_t i = 0; i < kit.c.line_count; i++)
        cost += kit_line(&kit, r->stage, i)->exchange_cost *
                (sum_blocks(r, REGION_DIRECT, i) + sum_blocks(r, REGION_REVERSE, i));
    for (size_t b = 0; b < kit.c.bus_count; b++) {
        cost += kit_bus(&kit, r->stage, b)->excess_cost * sum_blocks(r, REGION_EXCESS, b);
        for (size_t k = 0; k < r->blocks; k++)
            cost += stage->blocks[k].hours * deficit_at(r, b, k, true);
    }
    return cost;
}

static double cost_of_categories(const sddp_stage_result *r)
{
    double cost = 0.0;

    for (cost_category c = 0; c < COST_CATEGORIES; c++)
        cost += r->cost[c];
    return cost;
}

static double power_at(const sddp_stage_result *r, size_t bus, size_t k)
{
    double power = deficit_at(r, bus, k, false) - at(r, REGION_EXCESS, bus, k);

    for (size_t h = 0; h < kit.c.hydro_count; h++)
        if (kit.hydros[h].bus == bus)
            power += kit.hydros[h].productivity * at(r, REGION_TURBINED, h, k);
    for (size_t i = 0; i < kit.c.thermal_count; i++)
        if (kit.thermals[i].bus == bus)
            power += at(r, REGION_THERMAL, i, k);
    for (size_t i = 0; i < kit.c.line_count; i++) {
        double net = at(r, REGION_DIRECT, i, k) - at(r, REGION_REVERSE, i, k);
        power += kit.lines[i].target == bus ? net : 0.0;
        power -= kit.lines[i].source == bus ? net : 0.0;
    }
    return power;
}

static double outflow(const sddp_stage_result *r, size_t h)
{
    return 0.0036 * (sum_blocks(r, REGION_TURBINED, h) + sum_blocks(r, REGION_SPILLED, h));
}

/* What a plant's storage must be at the end of the stage. */
static double storage_of(const sddp_stage_result *r, size_t h)
{
    const cobre_stage *stage = &kit.stages[r->stage];
    double rate = at(r, REGION_INFLOW, h, 0) + at(r, REGION_INFLOW_SLACK, h, 0) -
                  kit_hydro(&kit, r->stage, h)->withdrawal + at(r, REGION_WITHDRAWAL_BELOW, h, 0) -
                  at(r, REGION_WITHDRAWAL_ABOVE, h, 0);
    double storage = at(r, REGION_INCOMING, h, 0) + 0.0036 * stage->hours * rate - outflow(r, h) -
                     0.0036 * sum_blocks(r, REGION_DIVERTED, h);

    for (size_t u = 0; u < kit.c.hydro_count; u++) {
        if (kit.hydros[u].downstream == h)
            storage += outflow(r, u);
        if (kit.hydros[u].diversion_downstream == h)
            storage += 0.0036 * sum_blocks(r, REGION_DIVERTED, u);
    }
    return storage;
}

static void assert_near(double value, double expected, const char *what)
{
    if (fabs(value - expected) > 1e-6 * fmax(1.0, fabs(expected)))
        fail_msg("%s: %.12g instead of %.12g", what, value, expected);
}

static void check_stage(const sddp_stage_result *r, const sddp_stage_result *before)
{
    assert_near(cost_of_parts(r), r->objective - r->future_cost, "cost");
    assert_near(cost_of_categories(r), r->objective - r->future_cost, "categories");
    for (size_t b = 0; b < kit.c.bus_count; b++)
        for (size_t k = 0; k < r->blocks; k++)
            assert_near(power_at(r, b, k), r->load_mw[b * r->blocks + k], "load");
    for (size_t h = 0; h < kit.c.hydro_count; h++) {
        assert_near(storage_of(r, h), at(r, REGION_STORAGE, h, 0), "storage");
        if (before)
            assert_near(at(r, REGION_INCOMING, h, 0), at(before, REGION_STORAGE, h, 0),
                        "storage handed over");
    }
}

static mcp_status check_scenario(const sddp_scenario *result, void *data, mcp_error *err)
{
    uint32_t *next = data;
    double cost = 0.0, discount = 1.0;

    (void)err;
    assert_int_equal(result->scenario, (*next)++);
    assert_int_equal(result->stage_count, kit.c.stage_count);
    for (size_t t = 0; t < result->stage_count; t++) {
        const sddp_stage_result *r = &result->stages[t];
        assert_int_equal(r->stage, t);
        assert_int_equal(r->blocks, kit.stages[t].block_count);
        check_stage(r, t > 0 ? r - 1 : NULL);
        assert_near(r->discount, discount, "discount");
        cost += discount * (r->objective - r->future_cost);
        discount *= kit.stages[t].discount;
    }
    assert_near(result->stages[result->stage_count - 1].future_cost, 0.0, "end of the horizon");
    assert_near(result->cost, cost, "scenario");
    return MCP_OK;
}

static void check_all(unsigned threads)
{
    uint32_t next = 0;
    sddp_observer observer = { .scenario = check_scenario, .data = &next };
    sddp_simulation result;
    sddp *study = trained(threads);

    simulate(study, &observer, &result);
    assert_int_equal(next, kit.c.config.simulation_scenarios);
    assert_int_equal(result.scenarios_completed, next);
    sddp_free(study);
}

static void parts_of_1dtoy(void **state)
{
    (void)state;
    case_1dtoy(&kit);
    check_all(1);
}

/* Everything at once: limits that bind, withdrawals, a diversion, a line, deficits. */
static void parts_of_a_wide_case(void **state)
{
    (void)state;
    case_wide(&kit, 4, 8);
    kit_set_limit(&kit, 3);
    kit.c.config.inflow_method = COBRE_INFLOW_PENALTY;
    kit.hydros[3].diversion_downstream = 6;
    kit.hydros[3].diversion_max_m3s = 5.0;
    for (size_t h = 0; h < 8; h++) {
        kit.hydros[h].inflow_nonnegativity_cost = 900.0;
        for (size_t t = 0; t < 4; t++) {
            cobre_hydro_stage *plant = kit_hydro(&kit, t, h);
            plant->inflow_std = plant->inflow_mean;
            plant->min_outflow = 15.0 + (double)h;
            plant->min_turbined = 9.0;
            plant->min_generation = 10.0;
            plant->withdrawal = h % 3 ? 0.0 : 6.0;
            plant->outflow_below_cost = 60.0;
            plant->turbined_below_cost = 30.0;
            plant->generation_below_cost = 40.0;
            plant->withdrawal_neg_cost = 80.0;
            plant->withdrawal_pos_cost = 20.0;
            plant->diversion_cost = 0.02;
        }
    }
    check_all(2);
}

/* The identity of the output page, 5.1: the parts less what the available power would cost. */
static mcp_status check_categories(const sddp_scenario *result, void *data, mcp_error *err)
{
    double *seen = data;

    (void)err;
    for (size_t t = 0; t < result->stage_count; t++) {
        const sddp_stage_result *r = &result->stages[t];
        double cost = cost_of_categories(r);
        for (size_t k = 0; k < r->blocks; k++)
            cost -= kit_source(&kit, t, 0)->curtailment_cost * r->available_mw[k] *
                    kit.stages[t].blocks[k].hours;
        assert_near(cost, r->objective - r->future_cost, "categories");
        for (cost_category c = 0; c < COST_CATEGORIES; c++)
            seen[c] += fabs(r->cost[c]);
        if (t > 0)
            for (size_t h = 0; h < kit.c.hydro_count; h++)
                assert_near(at(r, REGION_INCOMING, h, 0), at(r - 1, REGION_STORAGE, h, 0), "state");
        assert_near(r->lags[0], t > 0 ? at(r - 1, REGION_INFLOW, 0, 0) : 18.0, "lag");
    }
    return MCP_OK;
}

/* Lags, a source, an export, a pump, losses, chronological blocks, a plant that fills, then one
 * that is soft, a bounded thermal: their costs add up in each simulated stage. */
static void parts_of_every_element(void **state)
{
    static cobre_ar_row ar[4 * 8];
    static const double past[] = { 18.0 };
    double seen[COST_CATEGORIES] = { 0 };
    sddp_observer observer = { .scenario = check_categories, .data = seen };
    sddp_simulation result;

    (void)state;
    case_wide(&kit, 4, 8);
    kit_set_limit(&kit, 4);
    kit_add_source(&kit, 60.0, 0.5);
    kit_add_contract(&kit, true, 20.0, -90.0);
    kit_add_station(&kit, 5.0, 0.3);
    kit_add_term(&kit, COBRE_VAR_THERMAL_GENERATION, 0, 1.0);
    kit_set_constraint(&kit, COBRE_SENSE_LE, 30.0, 1.0);
    kit.lines[0].losses_percent = 4.0;
    for (size_t h = 0; h < 8; h++) {
        kit.hydros[h].past_inflow = past;
        kit.hydros[h].past_inflow_count = 1;
        for (size_t t = 0; t < 4; t++)
            ar[h * 4 + t] = (cobre_ar_row){ h, (int32_t)t, 1, 0.4, 0.9 };
    }
    kit.c.scenarios.ar = ar;
    kit.c.scenarios.ar_count = 4 * 8;
    for (size_t t = 0; t < 4; t++) {
        kit.stages[t].has_season = true;
        kit.stages[t].is_chronological = t % 2;
        kit_hydro(&kit, t, 7)->is_soft = true;
        kit_hydro(&kit, t, 7)->min_storage = 900.0;
        kit_hydro(&kit, t, 7)->storage_below_cost = 3.0;
    }
    kit_hydro(&kit, 0, 4)->phase = COBRE_HYDRO_ABSENT;
    kit_hydro(&kit, 1, 4)->phase = COBRE_HYDRO_FILLING;
    kit_hydro(&kit, 1, 4)->is_last_filling = true;
    kit_hydro(&kit, 1, 4)->min_storage = 5000.0;
    kit_hydro(&kit, 1, 4)->filling_target_cost = 2.0;
    sddp *study = trained(2);
    simulate(study, &observer, &result);
    static const cost_category must_occur[] = { COST_THERMAL, COST_CONTRACT, COST_STORAGE,
                                                COST_FILLING, COST_SPILLAGE, COST_EXCHANGE };
    for (size_t i = 0; i < sizeof must_occur / sizeof must_occur[0]; i++)
        if (seen[must_occur[i]] == 0.0)
            fail_msg("nothing was paid for category %d", (int)must_occur[i]);
    sddp_free(study);
}

/* ---- ways to end early ----------------------------------------------------------------------- */

static mcp_status refuse_the_sixth(const sddp_scenario *result, void *data, mcp_error *err)
{
    (void)data;
    if (result->scenario < 5)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_IO, "the disk is full");
}

static void a_failing_observer_ends_it(void **state)
{
    sddp_observer observer = { .scenario = refuse_the_sixth };
    sddp_simulation result;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    case_1dtoy(&kit);
    kit_set_limit(&kit, 3);
    sddp *study = trained(1);
    assert_int_equal(sddp_simulate(study, &observer, &result, &failure, &err), MCP_E_IO);
    assert_string_equal(err.message, "the disk is full");
    assert_null(failure.solver_status);
    sddp_free(study);
}

static mcp_status count_scenario(const sddp_scenario *result, void *data, mcp_error *err)
{
    uint32_t *reported = data;

    (void)result;
    (void)err;
    (*reported)++;
    return MCP_OK;
}

static sddp_stop stop_after_six(void *data)
{
    const uint32_t *reported = data;

    return *reported < 6 ? SDDP_STOP_NONE : SDDP_STOP_AFTER_ITERATION;
}

/* Who is asked to stop between two scenarios completes no more than those that were running. */
static void any_stop_gives_up(void **state)
{
    uint32_t reported = 0;
    sddp_observer observer = { .should_stop = stop_after_six,
                               .scenario = count_scenario,
                               .data = &reported };
    sddp_simulation result;

    (void)state;
    case_1dtoy(&kit);
    kit_set_limit(&kit, 3);
    sddp *study = trained(1);
    simulate(study, &observer, &result);
    assert_true(result.stopped);
    assert_int_equal(result.scenarios_completed, reported);
    assert_in_range(reported, 6, 99);
    assert_int_equal(result.scenarios_total, 100);
    sddp_free(study);
}

static void infeasible_scenarios_are_named(void **state)
{
    sddp *study = NULL;
    sddp_simulation result;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    case_d02(&kit);
    kit.c.config.simulation_scenarios = 3;
    kit_hydro(&kit, 1, 0)->max_storage = kit_hydro(&kit, 1, 0)->min_storage = 900.0;
    assert_int_equal(sddp_new(&study, &kit.c, 2, &err), MCP_OK);
    assert_int_equal(sddp_simulate(study, NULL, &result, &failure, &err), MCP_E_INTERNAL);
    assert_string_equal(failure.phase, "simulation");
    assert_string_equal(failure.solver_status, "infeasible");
    assert_int_equal(failure.scenario, 0);
    assert_int_equal(failure.stage, 1);
    assert_int_equal(failure.iteration, -1);
    sddp_free(study);
}

static void fail_to_simulate(cobre_backend backend, unsigned threads, sddp_failure *failure)
{
    sddp *study = NULL;
    sddp_simulation result;
    mcp_error err = MCP_ERROR_INIT;

    kit.c.config.backend = backend;
    assert_int_equal(sddp_new(&study, &kit.c, threads, &err), MCP_OK);
    assert_int_equal(sddp_simulate(study, NULL, &result, failure, &err), MCP_E_INTERNAL);
    sddp_free(study);
}

/* The last stage needs more water than the driest of its openings brings. Clp, which solves one
 * scenario after the other, and the dual simplex, which solves many at a time, name the same. */
static void one_infeasible_scenario_among_many(void **state)
{
    sddp_failure one, many;

    (void)state;
    case_d02(&kit);
    kit.c.config.simulation_scenarios = 40;
    kit.stages[1].openings = 12;
    kit_hydro(&kit, 1, 0)->inflow_std = 4.0;
    kit_hydro(&kit, 0, 0)->max_storage = kit_hydro(&kit, 0, 0)->min_storage = 100.0;
    kit_hydro(&kit, 1, 0)->max_storage = 1e6;
    kit_hydro(&kit, 1, 0)->min_storage = 100.0 + 0.0036 * kit.stages[1].hours * 5.5;
    fail_to_simulate(COBRE_BACKEND_CLP, 1, &one);
    assert_string_equal(one.solver_status, "infeasible");
    assert_true(one.scenario > 0);
    assert_int_equal(one.hydro_count, 1);
    assert_true(one.missing_hm3[0] > 0.0);
    for (unsigned threads = 1; threads <= 3; threads++) {
        fail_to_simulate(COBRE_BACKEND_OWN, threads, &many);
        assert_string_equal(many.phase, "simulation");
        assert_string_equal(many.solver_status, "infeasible");
        assert_int_equal(many.stage, 1);
        assert_int_equal(many.scenario, one.scenario);
        assert_int_equal(many.opening, one.opening);
        assert_int_equal(many.hydro_count, 1);
        assert_int_equal(many.hydros[0], 0);
        assert_true(fabs(many.missing_hm3[0] - one.missing_hm3[0]) < 1e-6);
    }
}

/* ---- the same bits --------------------------------------------------------------------------- */

typedef struct recorded {
    double costs[64], storages[64];
} recorded;

static mcp_status record_scenario(const sddp_scenario *result, void *data, mcp_error *err)
{
    recorded *all = data;
    const sddp_stage_result *last = &result->stages[result->stage_count - 1];

    (void)err;
    all->costs[result->scenario] = result->cost;
    for (size_t h = 0; h < kit.c.hydro_count; h++)
        all->storages[result->scenario] += at(last, REGION_STORAGE, h, 0) * (double)(h + 1);
    return MCP_OK;
}

/* Batches of other sizes, and other threads. */
static void scenarios_do_not_depend_on_threads(void **state)
{
    recorded first, other;

    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        recorded *all = threads == 1 ? &first : &other;
        sddp_observer observer = { .scenario = record_scenario, .data = all };
        sddp_simulation result;
        case_wide(&kit, 4, 8);
        kit_set_limit(&kit, 3);
        kit.c.config.simulation_scenarios = 61;
        for (size_t t = 0; t < 4; t++)
            for (size_t h = 0; h < 8; h++)
                kit_hydro(&kit, t, h)->inflow_std = 0.3 * kit_hydro(&kit, t, h)->inflow_mean;
        memset(all, 0, sizeof *all);
        sddp *study = trained(threads);
        simulate(study, &observer, &result);
        sddp_free(study);
        assert_int_equal(result.scenarios_completed, 61);
        if (threads > 1)
            assert_memory_equal(&other, &first, sizeof first);
    }
    assert_true(first.costs[0] != first.costs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_1dtoy),
        cmocka_unit_test(parts_of_1dtoy),
        cmocka_unit_test(parts_of_a_wide_case),
        cmocka_unit_test(a_failing_observer_ends_it),
        cmocka_unit_test(parts_of_every_element),
        cmocka_unit_test(any_stop_gives_up),
        cmocka_unit_test(infeasible_scenarios_are_named),
        cmocka_unit_test(one_infeasible_scenario_among_many),
        cmocka_unit_test(scenarios_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
