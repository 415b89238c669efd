/*
 * dual_check.h - solve groups by the dual simplex and compare each lane with Clp.
 */
#ifndef TESTS_DUAL_CHECK_H
#define TESTS_DUAL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "lp_instance.h"

static inline const char *seed_text(uint64_t seed)
{
    static char text[64];

    snprintf(text, sizeof text, "seed %llu", (unsigned long long)seed);
    return text;
}

typedef struct solver {
    dual_program *program;
    dual_work *work;
} solver;

static inline void assert_close(double value, double expected, const char *what)
{
    if (!(fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected))))
        fail_msg("%s: %.17g is not %.17g", what, value, expected);
}

/* The lane's point is within bounds, and costs what the objective says. */
static inline void assert_feasible(const instance *in, const answers *a, size_t lane,
                                   const char *what)
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
static inline lp_status compare(const instance *in, answers *a, solver *s, const char *what)
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

static inline solver solver_of(const instance *in)
{
    solver s = { NULL, NULL };

    assert_int_equal(dual_program_new(&s.program, &in->program, &in->layout, NULL), MCP_OK);
    assert_int_equal(dual_work_new(&s.work, NULL), MCP_OK);
    return s;
}

static inline void solver_free(solver *s)
{
    dual_program_free(s->program);
    dual_work_free(s->work);
}

/* Solve and compare with Clp, and with the optimum that is known. */
static inline void assert_optimum(instance *in, double optimum, const char *what)
{
    answers *a = answers_new();
    solver s = solver_of(in);

    assert_int_equal(compare(in, a, &s, what), LP_OPTIMAL);
    for (size_t l = 0; l < in->group.lanes; l++)
        assert_close(a->objective[l], optimum, what);
    solver_free(&s);
    free(a);
    free(in);
}

static inline void assert_end(instance *in, lp_status end, const char *what)
{
    answers *a = answers_new();
    solver s = solver_of(in);

    if (compare(in, a, &s, what) != end)
        fail_msg("%s", what);
    solver_free(&s);
    free(a);
    free(in);
}

/* A column by the elements of its rows; those of zero are left out. */
static inline void add_dense(instance *in, double upper, double cost, const double *elements)
{
    add_column(in, 0, upper, cost);
    for (int i = 0; i < in->program.rows; i++)
        if (elements[i] != 0.0)
            add_element(in, i, elements[i]);
}

#endif
