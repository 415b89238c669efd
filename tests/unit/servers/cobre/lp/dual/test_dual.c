/*
 * test_dual.c - the dual simplex for groups against Clp: random bounded programs with all kinds of
 * columns, rows, items and cuts, cold and from any basis.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "instance.h"

static const char *seed_text(uint64_t seed)
{
    static char text[64];

    snprintf(text, sizeof text, "seed %llu", (unsigned long long)seed);
    return text;
}

/* ---- random groups --------------------------------------------------------------------------- */

/* Bounds around a value that rows can meet. */
static void random_bounds(chance *c, double at, double *lower, double *upper)
{
    int kind = chance_in(c, 0, 9);

    *lower = at - chance_in(c, 0, 6);
    *upper = at + chance_in(c, 0, 6);
    if (kind == 0)
        *lower = -LP_INFINITY;
    if (kind == 1 || kind == 2)
        *upper = LP_INFINITY;
    if (kind == 3)
        *lower = *upper = at;
    if (kind == 4) {
        *lower = -LP_INFINITY;
        *upper = LP_INFINITY;
    }
}

static void random_columns(instance *in, chance *c, int columns, int rows, double *activity)
{
    int dense = chance_in(c, 1, 4);

    for (int j = 0; j < columns; j++) {
        double at = chance_in(c, -4, 4), lower, upper;
        random_bounds(c, at, &lower, &upper);
        int cost = chance_in(c, -3, 9);
        if (lower <= -LP_INFINITY && upper >= LP_INFINITY)
            cost = chance_in(c, 0, 3) ? 0 : cost;
        add_column(in, lower, upper, cost);
        for (int i = 0; i < rows; i++)
            if (chance_in(c, 0, rows) < dense) {
                int value = chance_in(c, 1, 5) * (chance_in(c, 0, 1) ? 1 : -1);
                add_element(in, i, value);
                activity[i] += value * at;
            }
    }
}

static void random_rows(instance *in, chance *c, int rows, const double *activity)
{
    for (int i = 0; i < rows; i++) {
        random_bounds(c, activity[i], &in->row_lower[i], &in->row_upper[i]);
        if (chance_in(c, 0, 2) == 0)
            in->row_lower[i] = in->row_upper[i] = activity[i];
    }
    in->program.rows = rows;
}

/* Items of all kinds, of columns and rows that have none yet. */
static void random_items(instance *in, chance *c)
{
    bool is_used[COLUMNS_MAX] = { false };
    size_t lanes = in->group.lanes;

    for (int k = chance_in(c, 0, 5); k > 0; k--) {
        int j = chance_in(c, 0, in->program.columns - 1), i = chance_in(c, 0, in->program.rows - 1);
        bool is_row = chance_in(c, 0, 2) == 0, varies = chance_in(c, 0, 3) > 0;
        double *values = in->values + in->layout.items * lanes, base = 0.0;
        if (is_row) {
            add_item(in, LP_ITEM_SHIFT, i);
        } else if (is_used[j] || in->lower[j] <= -LP_INFINITY || in->upper[j] >= LP_INFINITY) {
            continue;
        } else {
            is_used[j] = true;
            base = in->lower[j];
            add_item(in, in->lower[j] == in->upper[j] ? LP_ITEM_FIXED : LP_ITEM_UPPER, j);
        }
        for (size_t l = 0; l < lanes; l++)
            values[l] = varies || l == 0 ? base + chance_in(c, 0, 3) : values[0];
    }
}

/* Cuts over some columns as state; a theta for each kind of cut. */
static void random_cuts(instance *in, chance *c, int states, int thetas)
{
    size_t count = (size_t)(chance_in(c, 0, 3) == 0 ? 0 : chance_in(c, 1, 150));
    size_t tails = (size_t)chance_in(c, 0, 2);

    in->layout.states = (size_t)states;
    in->layout.dimension = (size_t)states + tails;
    for (int j = 0; j < states; j++)
        in->state[j] = j;
    in->layout.theta = in->program.columns;
    for (int k = 0; k < thetas; k++)
        add_column(in, chance_in(c, 0, 1) ? 0 : -200, LP_INFINITY, 1);
    for (size_t k = 0; k < count; k++) {
        in->intercept[k] = chance_in(c, -20, 20);
        for (size_t j = 0; j < in->layout.dimension; j++)
            *slope_of(in, k, j) = chance_in(c, -4, 4);
        in->theta[k] = (uint32_t)chance_in(c, 0, thetas - 1);
        in->active[k] = chance_in(c, 0, 9) > 0;
    }
    for (size_t i = 0; i < tails * in->group.lanes; i++)
        in->tail[i] = chance_in(c, 0, 2);
    in->cuts.count = count;
    in->cuts.theta = thetas > 1 ? in->theta : NULL;
    in->cuts.active = chance_in(c, 0, 1) ? in->active : NULL;
    for (size_t k = 0; k < count; k++)
        if (chance_in(c, 0, 7) == 0)
            in->set[in->cuts.set_count++] = (uint32_t)k;
}

static void random_group(instance *in, chance *c)
{
    static const size_t lanes[] = { 1, 2, 3, 7, 8, 9, 20 };
    int rows = chance_in(c, 1, 14), columns = chance_in(c, 2, 40);
    double activity[ROWS_MAX] = { 0.0 };

    in->group.lanes = lanes[chance_in(c, 0, 6)];
    random_columns(in, c, columns, rows, activity);
    random_rows(in, c, rows, activity);
    random_items(in, c);
    random_cuts(in, c, chance_in(c, 1, columns < 5 ? columns : 5), chance_in(c, 1, 3));
    for (int j = 0; j < columns; j++)
        if (in->lower[j] == in->upper[j] && in->layout.gradients < STATES_MAX)
            in->gradient[in->layout.gradients++] = j;
}

/* ---- comparison ------------------------------------------------------------------------------ */

typedef struct solver {
    dual_program *program;
    dual_work *work;
} solver;

static void assert_close(double value, double expected, const char *what)
{
    if (!(fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected))))
        fail_msg("%s: %.17g is not %.17g", what, value, expected);
}

/* The lane's point is within bounds, and costs what the objective says. */
static void assert_feasible(const instance *in, const answers *a, size_t lane, const char *what)
{
    static double lower[COLUMNS_MAX], upper[COLUMNS_MAX], row_lower[ROWS_MAX], row_upper[ROWS_MAX];
    double activity[ROWS_MAX] = { 0.0 }, cost = 0.0;
    const double *x = a->primal + lane * (size_t)in->program.columns;

    lane_bounds(in, lane, lower, upper, row_lower, row_upper);
    for (int j = 0; j < in->program.columns; j++) {
        if (!(x[j] >= lower[j] - 1e-7 && x[j] <= upper[j] + 1e-7))
            fail_msg("%s: column %d is %g, not in [%g, %g]", what, j, x[j], lower[j], upper[j]);
        cost += in->cost[j] * x[j];
        for (int e = in->start[j]; e < in->start[j + 1]; e++)
            activity[in->row[e]] += in->value[e] * x[j];
    }
    for (int i = 0; i < in->program.rows; i++)
        if (!(activity[i] >= row_lower[i] - 1e-7 && activity[i] <= row_upper[i] + 1e-7))
            fail_msg("%s: row %d is %g, not in [%g, %g]", what, i, activity[i], row_lower[i],
                     row_upper[i]);
    assert_close(a->objective[lane], cost, what);
}

/* Every lane is Clp's; or the lane that fails is one of those that fail there. */
static lp_status compare(const instance *in, answers *a, solver *s, const char *what)
{
    double expected = 0.0;
    lp_status end = dual_solve(s->program, s->work, &in->group, &a->out);

    if (end != LP_OPTIMAL) {
        if (end == LP_FAILED)
            fail_msg("%s: fails", what);
        if (oracle(in, a->out.failed, &expected) == 0)
            fail_msg("%s: lane %zu has an optimum %g, not %s", what, a->out.failed, expected,
                     lp_status_name(end));
        return end;
    }
    for (size_t l = 0; l < in->group.lanes; l++) {
        if (oracle(in, l, &expected) != 0)
            fail_msg("%s: lane %zu has no optimum", what, l);
        assert_close(a->objective[l], expected, what);
        assert_feasible(in, a, l, what);
        assert_true(a->which[l] < a->out.bases);
    }
    return end;
}

static solver solver_of(const instance *in)
{
    solver s = { NULL, NULL };

    assert_int_equal(dual_program_new(&s.program, &in->program, &in->layout, NULL), MCP_OK);
    assert_int_equal(dual_work_new(&s.work, NULL), MCP_OK);
    return s;
}

static void solver_free(solver *s)
{
    dual_program_free(s->program);
    dual_work_free(s->work);
}

static void values_change(instance *in, chance *c)
{
    for (size_t i = 0; i < in->layout.items * in->group.lanes; i++)
        in->values[i] += in->item[i / in->group.lanes].kind == LP_ITEM_UPPER ? 1.0
                                                                             : chance_in(c, -1, 1);
}

static void random_groups(void **state)
{
    int optimal = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        chance c = { seed };
        instance *in = instance_new();
        answers *a = answers_new();
        random_group(in, &c);
        solver s = solver_of(in);
        optimal += compare(in, a, &s, seed_text(seed)) == LP_OPTIMAL;
        /* Warm, after changes of values, from the basis that it kept. */
        if (a->out.bases > 0) {
            memcpy(in->basis, a->keep, sizeof in->basis);
            in->group.basis = in->basis;
            values_change(in, &c);
            compare(in, a, &s, seed_text(seed));
        }
        /* From any bytes. */
        for (size_t i = 0; i < sizeof in->basis; i++)
            in->basis[i] = (uint8_t)chance_in(&c, 0, 5);
        in->group.basis = in->basis;
        compare(in, a, &s, seed_text(seed));
        solver_free(&s);
        free(in);
        free(a);
    }
    /* Many of the programs have an optimum, so that the comparison says something. */
    assert_true(optimal > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
