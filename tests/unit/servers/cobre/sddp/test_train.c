/*
 * test_train.c - training: published numbers, thread counts, an independent optimum, stops,
 * failures.
 *
 * Numbers of 1dtoy and the d cases are those of the shared data set's README: recorded from the
 * original program or derived there by hand. The deterministic equivalent is built here from the
 * tree, as one LP over all nodes, without any code of the solver but the LP port.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "lp/lp.h"
#include "sddp/sddp.h"

static case_kit kit;

static bool is_near(double value, double expected, double relative)
{
    bool near = fabs(value - expected) <= relative * fmax(1.0, fabs(expected));

    if (!near)
        fprintf(stderr, "%.17g is not near %.17g\n", value, expected);
    return near;
}

/* Train the kit; the study is the caller's. */
static sddp *train(unsigned threads, const sddp_observer *observer, sddp_training *result)
{
    sddp *study = NULL;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK)
        fail_msg("%s", err.message);
    if (sddp_train(study, observer, result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

/* ---- published numbers ----------------------------------------------------------------------- */

static void lower_bounds_of_1dtoy(const sddp_training *result)
{
    static const double expected[] = { 1036235.1443786875, 1386117.4405759126, 1399205.110939332,
                                       1449433.683443838, 1609018.6298414224 };

    assert_int_equal(result->iterations, 128);
    assert_int_equal(result->reason, SDDP_ITERATION_LIMIT);
    assert_false(result->converged);
    for (size_t i = 0; i < 5; i++)
        assert_true(is_near(result->rows[i].lower_bound, expected[i], 1e-6));
    assert_true(is_near(result->rows[127].lower_bound, 2605295.121009262, 1e-6));
    for (size_t i = 1; i < 128; i++)
        assert_true(result->rows[i].lower_bound >= result->rows[i - 1].lower_bound * (1.0 - 1e-12));
    assert_true(result->rows[127].lower_bound <= 2605944.5860989215);
}

/* Six digits of a recorded run. */
static void trajectories_of_1dtoy(const sddp_training *result)
{
    static const struct {
        size_t iteration;
        double cost;
    } expected[] = { { 1, 2.74718e6 },  { 2, 5.89958e5 },  { 3, 2.23298e6 },  { 4, 5.74839e5 },
                     { 5, 6.09305e5 },  { 6, 6.09305e5 },  { 7, 3.53930e6 },  { 8, 5.72792e5 },
                     { 9, 6.07828e5 },  { 76, 6.29958e5 }, { 77, 6.09305e5 }, { 127, 6.09305e5 },
                     { 128, 5.72792e5 } };

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        double unit = expected[i].cost >= 1e6 ? 10.0 : 1.0;
        double cost = result->rows[expected[i].iteration - 1].upper_bound;
        assert_true(fabs(cost - expected[i].cost) <= 0.5 * unit + 1e-6);
    }
}

static void counts_of_1dtoy(const sddp_training *result)
{
    assert_int_equal(result->lp_solves, 5632);
    assert_int_equal(result->total_cuts, 384);
    assert_int_equal(result->active_cuts, 384);
    int64_t wall = 0;
    for (size_t i = 0; i < 128; i++) {
        const sddp_iteration *row = &result->rows[i];
        assert_int_equal(row->iteration, i + 1);
        assert_int_equal(row->lp_solves, 44);
        assert_int_equal(row->cuts_added, 3);
        assert_int_equal(row->cuts_active, 3 * (i + 1));
        assert_int_equal(row->forward_passes, 1);
        assert_true(row->upper_bound_std == 0.0 && row->ci_95 == 0.0);
        wall += row->time_total_ms;
        assert_int_equal(row->wall_time_ms, wall);
        double gap = (row->upper_bound - row->lower_bound) / fmax(1.0, fabs(row->upper_bound));
        assert_true(row->gap == gap);
    }
    assert_true(is_near(result->rows[127].gap, -3.548, 2e-4));
    assert_true(result->solve_time_us > 0);
}

static void figures_of_1dtoy(void **state)
{
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    sddp *study = train(2, NULL, &result);
    lower_bounds_of_1dtoy(&result);
    trajectories_of_1dtoy(&result);
    counts_of_1dtoy(&result);
    sddp_free(study);
}

static void check_bound(double expected, double tolerance)
{
    sddp_training result;
    sddp *study = train(1, NULL, &result);
    const sddp_iteration *last = &result.rows[result.iterations - 1];

    assert_in_range(result.iterations, 1, 10);
    if (fabs(last->lower_bound - expected) > tolerance)
        fail_msg("%.12g instead of %.12g", last->lower_bound, expected);
    assert_true(fabs(last->gap) < 1e-6);
    sddp_free(study);
}

static void deterministic_cases(void **state)
{
    (void)state;
    case_d01(&kit);
    check_bound(182500.0, 1e-6);
    case_d02(&kit);
    check_bound(23635000.0 / 9.0, 1e-4);
    case_d03(&kit);
    check_bound(4171000.0 / 3.0, 1e-4);
    case_d09(&kit);
    check_bound(80738000.0, 1e-6);
}

/* ---- any number of threads ------------------------------------------------------------------- */

typedef struct everything {
    double bounds[2][40];
    double simulated[64];
    size_t rows, scenarios;
    double mean, std;
} everything;

static mcp_status note_scenario(const sddp_scenario *result, void *data, mcp_error *err)
{
    everything *all = data;

    (void)err;
    assert_int_equal(result->scenario, all->scenarios);
    all->simulated[all->scenarios++] = result->cost;
    return MCP_OK;
}

static void run_everything(everything *out, unsigned threads)
{
    sddp_observer observer = { .scenario = note_scenario, .data = out };
    sddp_training training;
    sddp_simulation simulation;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    memset(out, 0, sizeof *out);
    sddp *study = train(threads, NULL, &training);
    if (sddp_simulate(study, &observer, &simulation, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    out->rows = training.iterations;
    for (size_t i = 0; i < training.iterations; i++) {
        out->bounds[0][i] = training.rows[i].lower_bound;
        out->bounds[1][i] = training.rows[i].upper_bound;
    }
    out->mean = simulation.mean;
    out->std = simulation.std;
    sddp_free(study);
}

static void same_bits_with_any_threads(void **state)
{
    everything one, more;

    (void)state;
    case_wide(&kit, 4, 8);
    kit_set_limit(&kit, 10);
    run_everything(&one, 1);
    assert_int_equal(one.rows, 10);
    assert_int_equal(one.scenarios, 11);
    for (unsigned threads = 2; threads <= 3; threads++) {
        run_everything(&more, threads);
        assert_memory_equal(&one, &more, sizeof one);
    }
}

/* ---- the same optimum from one large LP ------------------------------------------------------ */

enum { DE_STAGES = 3, DE_HYDROS = 2, DE_OPENINGS = 3, DE_NODES = 3 + 9 + 27 };
enum { DE_V, DE_Q = 2, DE_S = 4, DE_G = 6, DE_DEF = 7, DE_EXC = 8, DE_COLUMNS = 9 };
enum { DE_ROWS = 3, DE_ELEMENTS = DE_NODES * 40 };

typedef struct tree_lp {
    int columns, elements;
    int start[DE_NODES * DE_COLUMNS + 1], row[DE_ELEMENTS];
    double value[DE_ELEMENTS];
    double lower[DE_NODES * DE_COLUMNS], upper[DE_NODES * DE_COLUMNS], cost[DE_NODES * DE_COLUMNS];
    double right[DE_NODES * DE_ROWS];
} tree_lp;

static void case_tree(void)
{
    kit_begin(&kit, DE_STAGES, DE_HYDROS, 1, 1, 0);
    kit_set_limit(&kit, 40);
    kit.hydros[0].downstream = 1;
    kit_set_hydro(&kit, 0, 60.0, 120.0, 40.0, 0.0);
    kit_set_hydro(&kit, 1, 30.0, 90.0, 45.0, 0.0);
    kit_set_thermal(&kit, 0, 25.0, 35.0);
    kit.bus_is_stochastic[0] = true;
    for (size_t t = 0; t < DE_STAGES; t++) {
        kit.stages[t].openings = DE_OPENINGS;
        kit.stages[t].discount = 0.97;
        for (size_t h = 0; h < DE_HYDROS; h++) {
            kit_hydro(&kit, t, h)->max_outflow = INFINITY;
            kit_hydro(&kit, t, h)->inflow_mean = 20.0 - 4.0 * (double)t;
            kit_hydro(&kit, t, h)->inflow_std = 5.0;
        }
        kit_bus(&kit, t, 0)->load_mean = 70.0;
        kit_bus(&kit, t, 0)->load_std = 12.0;
    }
}

static void element(tree_lp *p, int row, double value)
{
    p->row[p->elements] = row;
    p->value[p->elements++] = value;
}

static void column(tree_lp *p, double lower, double upper, double cost)
{
    p->lower[p->columns] = lower;
    p->upper[p->columns] = upper;
    p->cost[p->columns++] = cost;
}

/* Nodes are breadth first: opening w of stage t under parent p is node first(t) + 3 p + w. */
static int first_of(size_t t)
{
    return t == 0 ? 0 : t == 1 ? 3 : 12;
}

/* The columns of one node; `children` are the nodes whose balance takes this node's storage. */
static void put_node(tree_lp *p, size_t t, int in_stage, double weight)
{
    const cobre_hydro_stage *plants = kit_hydro(&kit, t, 0);
    int base = (first_of(t) + in_stage) * DE_ROWS;
    double c = 0.0036 * 730.0, hour_cost = weight * 730.0;

    for (int h = 0; h < DE_HYDROS; h++) {
        p->start[p->columns] = p->elements;
        column(p, 0.0, plants[h].max_storage, 0.0);
        element(p, base + h, 1.0);
        for (int w = 0; t + 1 < DE_STAGES && w < DE_OPENINGS; w++)
            element(p, (first_of(t + 1) + in_stage * DE_OPENINGS + w) * DE_ROWS + h, -1.0);
    }
    for (int h = 0; h < 2 * DE_HYDROS; h++) {
        bool turbines = h < DE_HYDROS;
        p->start[p->columns] = p->elements;
        column(p, 0.0, turbines ? plants[h % 2].max_turbined : LP_INFINITY,
               turbines ? 0.0 : plants[h % 2].spillage_cost * hour_cost);
        element(p, base + h % 2, c);
        if (h % 2 == 0)
            element(p, base + 1, -c);
        if (turbines)
            element(p, base + 2, 1.0);
    }
    p->start[p->columns] = p->elements;
    column(p, 0.0, 25.0, 35.0 * hour_cost);
    element(p, base + 2, 1.0);
    p->start[p->columns] = p->elements;
    column(p, 0.0, LP_INFINITY, 1000.0 * hour_cost);
    element(p, base + 2, 1.0);
    p->start[p->columns] = p->elements;
    column(p, 0.0, LP_INFINITY, 0.01 * hour_cost);
    element(p, base + 2, -1.0);
}

static void put_right_side(tree_lp *p, const sddp *study, size_t t, int in_stage)
{
    int base = (first_of(t) + in_stage) * DE_ROWS;
    size_t dimension;
    const double *noise = sddp_opening(study, t, (uint32_t)(in_stage % DE_OPENINGS), &dimension);

    assert_int_equal(dimension, 3);
    for (int h = 0; h < DE_HYDROS; h++) {
        double inflow = 20.0 - 4.0 * (double)t + 5.0 * noise[h];
        p->right[base + h] = 0.0036 * 730.0 * inflow;
        if (t == 0)
            p->right[base + h] += h == 0 ? 60.0 : 30.0;
    }
    p->right[base + 2] = 70.0 + 12.0 * noise[2];
}

static double optimum_of_the_tree(const sddp *study)
{
    static tree_lp p;
    int in_stage[DE_STAGES] = { 3, 9, 27 };
    lp *model = NULL;

    memset(&p, 0, sizeof p);
    for (size_t t = 0; t < DE_STAGES; t++)
        for (int i = 0; i < in_stage[t]; i++) {
            put_node(&p, t, i, pow(0.97, (double)t) / in_stage[t]);
            put_right_side(&p, study, t, i);
        }
    p.start[p.columns] = p.elements;
    lp_program program = {
        p.columns, DE_NODES * DE_ROWS, p.start, p.row, p.value, p.lower, p.upper, p.cost, p.right,
        p.right
    };
    assert_int_equal(lp_new(&model, &program, NULL), MCP_OK);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    double optimum = lp_objective(model);
    lp_free(model);
    return optimum;
}

static void equals_the_deterministic_equivalent(void **state)
{
    sddp_training result;

    (void)state;
    case_tree();
    kit.c.config.forward_passes = 2;
    sddp *study = train(2, NULL, &result);
    assert_true(
        is_near(result.rows[result.iterations - 1].lower_bound, optimum_of_the_tree(study), 1e-8));
    sddp_free(study);
}

/* ---- numbers of any size --------------------------------------------------------------------- */

static const double factors[] = { 1e-9, 1e-6, 1e-3, 1e4, 1e8, 1e12 };

/* Money may be counted in any unit: the bound is the same number of it. */
static void costs_in_any_unit(void **state)
{
    sddp_training result;

    (void)state;
    case_tree();
    kit.c.config.forward_passes = 2;
    sddp *study = train(1, NULL, &result);
    double optimum = optimum_of_the_tree(study);
    sddp_free(study);
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        case_tree();
        kit.c.config.forward_passes = 2;
        kit_scale_costs(&kit, factors[i]);
        study = train(1, NULL, &result);
        double bound = result.rows[result.iterations - 1].lower_bound / factors[i];
        assert_true(is_near(bound, optimum, 1e-9));
        sddp_free(study);
    }
}

enum { UNIT_ITERATIONS = 40 };

/* The published bounds in another unit: no iteration is above them. */
static void bounds_in_any_unit(void **state)
{
    sddp_training result;
    double expected[UNIT_ITERATIONS];

    (void)state;
    case_1dtoy(&kit);
    kit_set_limit(&kit, UNIT_ITERATIONS);
    sddp *study = train(1, NULL, &result);
    for (size_t i = 0; i < UNIT_ITERATIONS; i++)
        expected[i] = result.rows[i].lower_bound;
    sddp_free(study);
    for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
        case_1dtoy(&kit);
        kit_set_limit(&kit, UNIT_ITERATIONS);
        kit_scale_costs(&kit, factors[f]);
        study = train(1, NULL, &result);
        for (size_t i = 0; i < UNIT_ITERATIONS; i++)
            assert_true(is_near(result.rows[i].lower_bound / factors[f], expected[i], 1e-9));
        sddp_free(study);
    }
}

/* A penalty that no solution pays does not change the bound, however large it is. */
static void one_very_large_penalty(void **state)
{
    sddp_training result;

    (void)state;
    for (double penalty = 1e4; penalty < 1e13; penalty *= 1e2) {
        case_1dtoy(&kit);
        for (size_t t = 0; t < 4; t++)
            kit_hydro(&kit, t, 0)->outflow_above_cost = penalty;
        sddp *study = train(1, NULL, &result);
        for (size_t i = 0; i < 128; i++)
            assert_true(result.rows[i].lower_bound <= 2605944.5860989215 * (1.0 + 1e-9));
        assert_true(is_near(result.rows[127].lower_bound, 2605295.121009262, 1e-3));
        sddp_free(study);
    }
}

/* ---- stops ----------------------------------------------------------------------------------- */

typedef struct stopper {
    sddp_stop stop;
    int64_t after;      /* questions */
    int64_t iterations; /* or completed iterations */
    _Atomic int64_t asked;
    int64_t seen;
} stopper;

static sddp_stop ask(void *data)
{
    stopper *s = data;
    int64_t asked = atomic_fetch_add(&s->asked, 1);

    if (s->after > 0 && asked >= s->after)
        return s->stop;
    return s->iterations > 0 && s->seen >= s->iterations ? s->stop : SDDP_STOP_NONE;
}

static void count_iteration(const sddp_iteration *row, void *data)
{
    stopper *s = data;
    assert_int_equal(row->iteration, ++s->seen);
}

/* 1dtoy asks before an iteration, before each of its four forward solves, and before each of the
 * four groups of ten openings of the backward pass and the bound. */
enum { QUESTIONS = 1 + 4 + 4 };

/* The stop comes in the middle of the third iteration, which is completed. */
static void a_stop_after_the_iteration_completes_it(void **state)
{
    stopper s = { .stop = SDDP_STOP_AFTER_ITERATION, .after = 2 * QUESTIONS + 5 };
    sddp_observer observer = { .iteration = count_iteration, .should_stop = ask, .data = &s };
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    sddp *study = train(2, &observer, &result);
    assert_int_equal(result.iterations, 3);
    assert_int_equal(s.seen, 3);
    assert_int_equal(result.reason, SDDP_SHUTDOWN);
    assert_int_equal(result.total_cuts, 9);
    assert_true(is_near(result.rows[2].lower_bound, 1399205.110939332, 1e-6));
    sddp_free(study);
}

/* Stopped in the third iteration: two remain, and training on from them gives the same bounds. */
static void stopping_now_drops_the_iteration(void **state)
{
    sddp_failure failure;
    sddp_training result;

    (void)state;
    for (int64_t into = 1; into < QUESTIONS; into++) {
        stopper s = { .stop = SDDP_STOP_NOW, .after = 2 * QUESTIONS + into };
        sddp_observer observer = { .iteration = count_iteration, .should_stop = ask, .data = &s };
        case_1dtoy(&kit);
        kit_set_limit(&kit, 5);
        sddp *study = train(1, &observer, &result);
        assert_int_equal(result.iterations, 2);
        assert_int_equal(result.reason, SDDP_SHUTDOWN);
        assert_int_equal(result.total_cuts, 6);
        assert_int_equal(sddp_train(study, NULL, &result, &failure, NULL), MCP_OK);
        assert_int_equal(result.iterations, 5);
        assert_true(is_near(result.rows[2].lower_bound, 1399205.110939332, 1e-6));
        assert_true(is_near(result.rows[4].lower_bound, 1609018.6298414224, 1e-6));
        sddp_free(study);
    }
}

/* A training that is stopped anywhere, then continued, gives the bits of one without a stop. */
static void stops_leave_no_trace(void **state)
{
    sddp_training whole, result;
    sddp_failure failure;

    (void)state;
    for (int64_t after = 9; after < 100; after += 17) {
        case_wide(&kit, 4, 5);
        kit_set_limit(&kit, 6);
        kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_LML1,
                                                        .memory_window = 1,
                                                        .check_frequency = 2,
                                                        .max_active = 9 };
        sddp *undisturbed = train(1, NULL, &whole);
        stopper s = { .stop = SDDP_STOP_NOW, .after = after };
        sddp_observer observer = { .should_stop = ask, .data = &s };
        sddp *study = train(2, &observer, &result);
        assert_int_equal(result.reason, SDDP_SHUTDOWN);
        assert_int_equal(sddp_train(study, NULL, &result, &failure, NULL), MCP_OK);
        assert_int_equal(result.iterations, 6);
        for (size_t i = 0; i < 6; i++) {
            assert_true(result.rows[i].lower_bound == whole.rows[i].lower_bound);
            assert_true(result.rows[i].upper_bound == whole.rows[i].upper_bound);
            assert_int_equal(result.rows[i].cuts_active, whole.rows[i].cuts_active);
        }
        sddp_free(undisturbed);
        sddp_free(study);
    }
}

static void stopped_before_the_first(void **state)
{
    stopper s = { .stop = SDDP_STOP_AFTER_ITERATION, .after = 0, .iterations = 1, .seen = 1 };
    sddp_observer observer = { .iteration = count_iteration, .should_stop = ask, .data = &s };
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    sddp *study = train(1, &observer, &result);
    assert_int_equal(result.iterations, 0);
    assert_int_equal(result.reason, SDDP_SHUTDOWN);
    sddp_free(study);
}

/* ---- cut selection --------------------------------------------------------------------------- */

/* No selection raises the bound above the optimum or lets it fall; with the gentle ones here it
 * still converges. */
static void bounds_with_selection(void **state)
{
    static const cobre_cut_selection rules[] = {
        { .method = COBRE_SELECTION_LEVEL1, .threshold = 0, .check_frequency = 5 },
        { .method = COBRE_SELECTION_LML1, .memory_window = 6, .check_frequency = 3 },
        { .method = COBRE_SELECTION_DOMINATION, .epsilon = 0.0, .check_frequency = 4 },
    };
    sddp_training result;

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        case_tree();
        kit.c.config.forward_passes = 2;
        kit.c.config.selection = rules[i];
        sddp *study = train(2, NULL, &result);
        double optimum = optimum_of_the_tree(study);
        int64_t removed = 0;
        for (size_t k = 0; k < result.iterations; k++) {
            const sddp_iteration *row = &result.rows[k];
            assert_true(row->lower_bound <= optimum * (1.0 + 1e-9));
            if (k > 0)
                assert_true(row->lower_bound >= row[-1].lower_bound * (1.0 - 1e-9));
            removed += row->cuts_removed;
            assert_int_equal(row->cuts_active, 4 * (int64_t)(k + 1) - removed);
            if (row->iteration % (int32_t)rules[i].check_frequency != 0)
                assert_int_equal(row->cuts_removed, 0);
        }
        assert_true(removed > 0);
        assert_int_equal(result.total_cuts, 4 * (int64_t)result.iterations);
        assert_int_equal(result.active_cuts, result.total_cuts - removed);
        assert_true(is_near(result.rows[39].lower_bound, optimum, 1e-7));
        sddp_free(study);
    }
}

/* Five cuts a stage at most; the bound takes all cuts of the first stage, so it never falls. */
static void a_budget_of_cuts(void **state)
{
    sddp_training result;

    (void)state;
    case_tree();
    kit.c.config.selection.max_active = 5;
    sddp *study = train(1, NULL, &result);
    for (size_t k = 0; k < result.iterations; k++) {
        assert_int_equal(result.rows[k].cuts_active, k < 5 ? 2 * (k + 1) : 10);
        if (k > 0)
            assert_true(result.rows[k].lower_bound >=
                        result.rows[k - 1].lower_bound * (1.0 - 1e-9));
    }
    assert_true(result.rows[39].lower_bound <= optimum_of_the_tree(study) * (1.0 + 1e-9));
    assert_int_equal(result.peak_active_cuts, 10);
    sddp_free(study);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void bound_stalling_converges(void **state)
{
    sddp_training result;

    (void)state;
    case_d02(&kit);
    kit.rules[0] = (cobre_stopping_rule){ .kind = COBRE_RULE_BOUND_STALLING,
                                          .limit = 3,
                                          .tolerance = 1e-9 };
    kit.c.config.max_iterations = 100;
    sddp *study = train(1, NULL, &result);
    assert_int_equal(result.reason, SDDP_BOUND_STALLING);
    assert_true(result.converged);
    assert_in_range(result.iterations, 3, 6);
    sddp_free(study);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The second stage cannot keep its minimum storage, whatever the first leaves. */
static void unreachable_storage_is_infeasible(void **state)
{
    sddp_failure failure;
    sddp_training result;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        sddp *study = NULL;
        case_d02(&kit);
        kit_hydro(&kit, 1, 0)->max_storage = kit_hydro(&kit, 1, 0)->min_storage = 900.0;
        assert_int_equal(sddp_new(&study, &kit.c, threads, &err), MCP_OK);
        assert_int_equal(sddp_train(study, NULL, &result, &failure, &err), MCP_E_INTERNAL);
        assert_string_equal(failure.phase, "forward");
        assert_string_equal(failure.solver_status, "infeasible");
        assert_int_equal(failure.stage, 1);
        assert_int_equal(failure.iteration, 1);
        assert_int_equal(failure.scenario, 0);
        assert_int_equal(failure.opening, 0);
        assert_int_equal(failure.hydro_count, 1);
        assert_int_equal(failure.hydros[0], 0);
        assert_true(failure.missing_hm3[0] > 600.0 && failure.missing_hm3[0] < 900.0);
        assert_int_equal(result.iterations, 0);
        assert_int_equal(result.reason, SDDP_ERROR);
        assert_int_equal(result.total_cuts, 0);
        assert_non_null(strstr(err.message, "stage 1"));
        sddp_free(study);
    }
}

/* One opening in the backward pass has too little inflow: the lowest such one is named. */
static void backward_failures_name_the_opening(void **state)
{
    sddp_failure failure;
    sddp_training result;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        sddp *study = NULL;
        size_t dimension;
        int32_t first_low = -1;
        case_d02(&kit);
        kit.stages[1].openings = 8;
        kit_hydro(&kit, 1, 0)->inflow_std = 60.0;
        kit_hydro(&kit, 1, 0)->inflow_mean = 60.0;
        kit_hydro(&kit, 0, 0)->max_storage = 1.0;
        assert_int_equal(sddp_new(&study, &kit.c, threads, &err), MCP_OK);
        for (uint32_t w = 8; w-- > 0;)
            if (60.0 + 60.0 * sddp_opening(study, 1, w, &dimension)[0] < -1.0)
                first_low = (int32_t)w;
        assert_true(first_low >= 0);
        assert_int_equal(sddp_train(study, NULL, &result, &failure, &err), MCP_E_INTERNAL);
        assert_int_equal(failure.stage, 1);
        if (strcmp(failure.phase, "backward") == 0)
            assert_int_equal(failure.opening, first_low);
        sddp_free(study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_1dtoy),
        cmocka_unit_test(deterministic_cases),
        cmocka_unit_test(same_bits_with_any_threads),
        cmocka_unit_test(equals_the_deterministic_equivalent),
        cmocka_unit_test(costs_in_any_unit),
        cmocka_unit_test(bounds_in_any_unit),
        cmocka_unit_test(one_very_large_penalty),
        cmocka_unit_test(a_stop_after_the_iteration_completes_it),
        cmocka_unit_test(stopping_now_drops_the_iteration),
        cmocka_unit_test(stops_leave_no_trace),
        cmocka_unit_test(stopped_before_the_first),
        cmocka_unit_test(bounds_with_selection),
        cmocka_unit_test(a_budget_of_cuts),
        cmocka_unit_test(bound_stalling_converges),
        cmocka_unit_test(unreachable_storage_is_infeasible),
        cmocka_unit_test(backward_failures_name_the_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
