/*
 * test_lp_clp.c - the LP port: optima and duals derived by hand, changes, bases, failures, and that
 * a solve does not depend on earlier ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lp/lp.h"
#include "oom.h"

/*
 * minimise -3x - 5y with x <= 4, 2y <= 12, 3x + 2y <= 18, x, y >= 0: the textbook program of Wyndor
 * Glass (Hillier and Lieberman). Optimum -36 at (2, 6), duals 0, -3/2, -1.
 */
static lp *wyndor(void)
{
    static const int start[] = { 0, 2, 4 }, row[] = { 0, 2, 1, 2 };
    static const double value[] = { 1, 3, 2, 2 }, lower[] = { 0, 0 };
    static const double upper[] = { LP_INFINITY, LP_INFINITY }, cost[] = { -3, -5 };
    static const double row_lower[] = { -LP_INFINITY, -LP_INFINITY, -LP_INFINITY };
    static const double row_upper[] = { 4, 12, 18 };
    const lp_program program = {
        2, 3, start, row, value, lower, upper, cost, row_lower, row_upper
    };
    lp *model = NULL;

    assert_int_equal(lp_new(&model, &program, NULL), MCP_OK);
    return model;
}

static void assert_close(double value, double expected)
{
    if (fabs(value - expected) > 1e-9)
        fail_msg("%.17g is not %.17g", value, expected);
}

static void optimum_and_duals(void **state)
{
    lp *model = wyndor();

    (void)state;
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -36);
    assert_close(lp_primal(model)[0], 2);
    assert_close(lp_primal(model)[1], 6);
    assert_close(lp_duals(model)[0], 0);
    assert_close(lp_duals(model)[1], -1.5);
    assert_close(lp_duals(model)[2], -1);
    assert_int_equal(lp_work(model)->solves, 1);
    assert_int_equal(lp_work(model)->retries, 0);
    assert_true(lp_work(model)->solver_ns > 0);
    lp_free(model);
}

/* With x fixed at 3: y = 4.5, objective -31.5; one more of x costs -3 and takes 1.5 of y away. */
static void reduced_cost_of_a_fixed_column(void **state)
{
    lp *model = wyndor();

    (void)state;
    lp_set_column(model, 0, 3, 3);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -31.5);
    assert_close(lp_reduced_costs(model)[0], -3 + 5 * 1.5);
    lp_free(model);
}

static void changed_bounds(void **state)
{
    lp *model = wyndor();

    (void)state;
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    lp_set_row(model, 2, -LP_INFINITY, 24);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -42); /* (4, 6) */
    lp_free(model);
}

/* x + y <= 7 brings (2, 6) down to the edge; y <= 4 on top of it gives (3, 4). */
static void rows_come_and_go(void **state)
{
    static const int start[] = { 0, 2, 3 }, column[] = { 0, 1, 1 };
    static const double value[] = { 1, 1, 1 }, upper[] = { 7, 4 };
    static const double lower[] = { -LP_INFINITY, -LP_INFINITY };
    lp *model = wyndor();

    (void)state;
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    lp_add_rows(model, &(lp_rows){ 2, lower, upper, start, column, value });
    assert_int_equal(lp_rows_count(model), 5);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -29);
    lp_delete_rows(model, 1, (int[]){ 4 });
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -33); /* (1, 6) */
    lp_delete_rows(model, 1, (int[]){ 3 });
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -36);
    assert_int_equal(lp_rows_count(model), 3);
    assert_int_equal(lp_columns(model), 2);
    lp_free(model);
}

/* From the optimal basis no pivot is left to do. */
static void warm_start(void **state)
{
    uint8_t basis[5];
    lp *model = wyndor();

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(lp_basis(model)[i], i < 2 ? LP_AT_LOWER : LP_BASIC);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    memcpy(basis, lp_basis(model), sizeof basis);
    assert_int_equal(basis[0], LP_BASIC);
    assert_int_equal(basis[1], LP_BASIC);
    assert_int_equal(basis[2], LP_BASIC);
    lp_free(model);

    model = wyndor();
    lp_set_basis(model, basis);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_int_equal(lp_work(model)->pivots, 0);
    assert_close(lp_objective(model), -36);
    lp_free(model);
}

static void infeasible_and_back(void **state)
{
    lp *model = wyndor();

    (void)state;
    lp_set_row(model, 1, 14, 14);
    lp_set_row(model, 2, -LP_INFINITY, 12);
    assert_int_equal(lp_solve(model), LP_INFEASIBLE);
    assert_int_equal(lp_work(model)->retries, 1); /* from scratch; then it is final */
    assert_string_equal(lp_status_name(LP_INFEASIBLE), "infeasible");
    lp_set_row(model, 1, -LP_INFINITY, 12);
    lp_set_row(model, 2, -LP_INFINITY, 18);
    assert_int_equal(lp_solve(model), LP_OPTIMAL);
    assert_close(lp_objective(model), -36);
    lp_free(model);
}

static void unbounded(void **state)
{
    lp *model = wyndor();

    (void)state;
    lp_set_row(model, 1, -LP_INFINITY, LP_INFINITY);
    lp_set_row(model, 2, -LP_INFINITY, LP_INFINITY);
    assert_int_equal(lp_solve(model), LP_UNBOUNDED);
    lp_free(model);
}

static void nothing_to_free(void **state)
{
    (void)state;
    lp_free(NULL);
    assert_string_equal(lp_solver_name(), "clp");
    assert_int_equal(lp_solver_version()[0], '1');
}

/* Clp asserts on such numbers; the process must survive them. */
static void a_number_beyond_all_measure_fails_the_solve(void **state)
{
    static const double beyond[] = { 1e21, -1e29, 1e308, -1e308, INFINITY, -INFINITY, NAN };
    static const int start[] = { 0, 1 }, column[] = { 0 };
    const double one = 1, none = LP_INFINITY, six = 6;

    (void)state;
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        lp *model = wyndor();
        lp_set_column(model, 0, beyond[i], beyond[i]);
        assert_int_equal(lp_solve(model), LP_FAILED);
        lp_set_column(model, 0, 0, LP_INFINITY);
        lp_set_row(model, 1, beyond[i], beyond[i]);
        assert_int_equal(lp_solve(model), LP_FAILED);
        lp_set_row(model, 1, -LP_INFINITY, 12);
        assert_int_equal(lp_solve(model), LP_OPTIMAL);
        assert_close(lp_objective(model), -36);
        const lp_rows row = { 1, &six, &none, start, column, &beyond[i] };
        lp_add_rows(model, &row);
        assert_int_equal(lp_solve(model), LP_FAILED);
        lp_free(model);

        const lp_program program = {
            1, 1, start, column, &one, &one, &six, &beyond[i], &one, &six
        };
        assert_int_equal(lp_new(&model, &program, NULL), MCP_OK);
        assert_int_equal(lp_solve(model), LP_FAILED);
        lp_free(model);
    }
}

/* Clp's presolve reads a null pointer over such an element. */
static void an_element_next_to_nothing_fails_the_solve(void **state)
{
    static const int start[] = { 0, 1 }, row[] = { 0 };
    const double one = 1, six = 6, values[] = { 1e-300, -1e-51, 1e-10, 0.0 };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const double least = -LP_INFINITY;
        const lp_program program = { 1, 1, start, row, &values[i], &one, &six, &one, &least, &six };
        lp *model = NULL;
        assert_int_equal(lp_new(&model, &program, NULL), MCP_OK);
        assert_int_equal(lp_solve(model), i < 2 ? LP_FAILED : LP_OPTIMAL);
        lp_free(model);
    }
}

/* Clp throws: each failed allocation of it, too, ends in a status. */
static mcp_status use_all(void *data)
{
    static const int start[] = { 0, 1, 2 }, row[] = { 0, 0 }, cut_start[] = { 0, 2 };
    static const int cut_column[] = { 0, 1 }, first[] = { 1 };
    static const double value[] = { 1, 1 }, lower[] = { 0, 0 };
    static const double upper[] = { LP_INFINITY, LP_INFINITY }, cost[] = { 1, 2 };
    static const double row_lower[] = { 4 }, row_upper[] = { LP_INFINITY }, cut_lower[] = { 6 };
    const lp_program program = {
        2, 1, start, row, value, lower, upper, cost, row_lower, row_upper
    };
    const lp_rows cut = { 1, cut_lower, row_upper, cut_start, cut_column, value };
    lp *model = NULL;

    (void)data;
    mcp_status st = lp_new(&model, &program, NULL);
    if (st != MCP_OK)
        return st;
    lp_status before = lp_solve(model);
    lp_add_rows(model, &cut);
    lp_status with_cut = lp_solve(model);
    lp_delete_rows(model, 1, first);
    lp_status after = lp_solve(model);
    lp_free(model);
    if (before == LP_OPTIMAL && with_cut == LP_OPTIMAL && after == LP_OPTIMAL)
        return MCP_OK;
    return after == LP_NO_MEMORY ? MCP_E_NOMEM : MCP_E_INTERNAL;
}

/* Of the leak checker, where the test has one. Clp leaks when it throws. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

static void a_lack_of_memory_is_a_status(void **state)
{
    (void)state;
    assert_true(oom_has_new);
    if (__lsan_disable)
        __lsan_disable();
    oom_walk(use_all, NULL);
    if (__lsan_enable)
        __lsan_enable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_and_duals),
        cmocka_unit_test(a_lack_of_memory_is_a_status),
        cmocka_unit_test(reduced_cost_of_a_fixed_column),
        cmocka_unit_test(changed_bounds),
        cmocka_unit_test(rows_come_and_go),
        cmocka_unit_test(warm_start),
        cmocka_unit_test(infeasible_and_back),
        cmocka_unit_test(unbounded),
        cmocka_unit_test(nothing_to_free),
        cmocka_unit_test(a_number_beyond_all_measure_fails_the_solve),
        cmocka_unit_test(an_element_next_to_nothing_fails_the_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
