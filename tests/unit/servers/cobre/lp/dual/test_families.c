/*
 * test_families.c - the dual simplex on programs that are known to be hard for a simplex method, in
 * units of any size, and on numbers that it must refuse.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dual_check.h"

/* ---- cycles and long paths ------------------------------------------------------------------- */

/* All cycle under the textbook rules of the primal (Beale 1955; Kuhn, in Balinski and Tucker 1969;
 * Marshall and Suurballe 1969). */
static void cycling_programs(void **state)
{
    static const double beale[][3] = {
        { 0.25, 0.5, 0 }, { -60, -90, 0 }, { -0.04, -0.02, 1 }, { 9, 3, 0 }
    };
    static const double beale_cost[] = { -0.75, 150, -0.02, 6 };
    static const double kuhn[][3] = {
        { -2, 1.0 / 3, 2 }, { -9, 1, 3 }, { 1, -1.0 / 3, -1 }, { 9, -2, -12 }
    };
    static const double kuhn_cost[] = { -2, -3, 1, 12 };
    static const double marshall[][4] = { { 0.6, 0.2, 0.4, 0 },
                                          { -6.4, -1.8, -1.6, 1 },
                                          { 4.8, 0.6, 0.2, 0 } };
    static const double marshall_cost[] = { -0.4, -0.4, 1.8 };
    instance *in = instance_new();

    (void)state;
    add_row(in, -LP_INFINITY, 0);
    add_row(in, -LP_INFINITY, 0);
    add_row(in, -LP_INFINITY, 1);
    for (int j = 0; j < 4; j++)
        add_dense(in, LP_INFINITY, beale_cost[j], beale[j]);
    assert_optimum(in, -0.05, "Beale");
    in = instance_new();
    add_row(in, -LP_INFINITY, 0);
    add_row(in, -LP_INFINITY, 0);
    add_row(in, -LP_INFINITY, 2);
    for (int j = 0; j < 4; j++)
        add_dense(in, LP_INFINITY, kuhn_cost[j], kuhn[j]);
    assert_optimum(in, -2, "Kuhn");
    in = instance_new();
    for (int i = 0; i < 4; i++)
        add_row(in, -LP_INFINITY, i == 3);
    for (int j = 0; j < 3; j++)
        add_dense(in, LP_INFINITY, marshall_cost[j], marshall[j]);
    assert_optimum(in, -2, "Marshall and Suurballe");
}

/* maximise sum of 10^(n-j) x_j with 2 sum_{j<i} 10^(i-j) x_j + x_i <= 100^(i-1): 100^(n-1). */
static void klee_minty(void **state)
{
    (void)state;
    for (int n = 1; n <= 7; n++) {
        instance *in = instance_new();
        for (int i = 0; i < n; i++)
            add_row(in, -LP_INFINITY, pow(100, i));
        for (int j = 0; j < n; j++) {
            add_column(in, 0, pow(100, n), -pow(10, n - 1 - j));
            for (int i = j; i < n; i++)
                add_element(in, i, i == j ? 1.0 : 2.0 * pow(10, i - j));
        }
        assert_optimum(in, -pow(100, n - 1), "Klee-Minty");
    }
}

/* maximise sum of 2^(n-j) x_j with sum_{j<i} 2^(i-j+1) x_j + x_i <= 5^i: 5^n, without upper bounds
 * and with ones that do not bind. */
static void larger_cubes(void **state)
{
    (void)state;
    for (int n = 8; n <= 12; n++)
        for (int is_boxed = 0; is_boxed < 2; is_boxed++) {
            instance *in = instance_new();
            for (int i = 1; i <= n; i++)
                add_row(in, -LP_INFINITY, pow(5, i));
            for (int j = 1; j <= n; j++) {
                add_column(in, 0, is_boxed ? pow(5, n) : LP_INFINITY, -pow(2, n - j));
                for (int i = j; i <= n; i++)
                    add_element(in, i - 1, i == j ? 1.0 : pow(2, i - j + 1));
            }
            assert_optimum(in, -pow(5, n), "a larger cube");
        }
}

/* The cube of side 1 with each face tilted by a quarter: x_i in [x_(i-1) / 4, 1 - x_(i-1) / 4]. */
static void tilted_cubes(void **state)
{
    (void)state;
    for (int n = 8; n <= 12; n++) {
        instance *in = instance_new();
        for (int i = 1; i < n; i++) {
            add_row(in, 0, LP_INFINITY);
            add_row(in, -LP_INFINITY, 1);
        }
        for (int j = 0; j < n; j++) {
            add_column(in, 0, 1, j == n - 1 ? -1 : 0);
            if (j > 0) {
                add_element(in, 2 * (j - 1), 1);
                add_element(in, 2 * (j - 1) + 1, 1);
            }
            if (j < n - 1) {
                add_element(in, 2 * j, -0.25);
                add_element(in, 2 * j + 1, 0.25);
            }
        }
        assert_optimum(in, -1, "a tilted cube");
    }
}

/* ---- structure that leads to singular kernels ------------------------------------------------ */

/* Every row and column three times, one of them doubled; a row and a column of zeros between them:
 * minimise 2 x + 3 y with x + y >= 4, x - y <= 2. */
static void parallel_rows_and_columns(void **state)
{
    static const double copies[] = { 1, 1, 2 };
    instance *in = instance_new();

    (void)state;
    for (int k = 0; k < 3; k++) {
        add_row(in, 4 * copies[k], LP_INFINITY);
        add_row(in, -LP_INFINITY, 2 * copies[k]);
        add_row(in, -1, 1); /* of zeros */
    }
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 2; j++) {
            add_column(in, 0, LP_INFINITY, (j == 0 ? 2 : 3) * copies[k]);
            for (int i = 0; i < 9; i++)
                if (i % 3 < 2)
                    add_element(in, i, copies[k] * copies[i / 3] * (i % 3 == 1 && j == 1 ? -1 : 1));
        }
        add_column(in, 1, 7, 0.5); /* of zeros */
    }
    /* x = 3, y = 1; and each column of zeros at its lower bound. */
    assert_optimum(in, 9 + 1.5, "parallel");
}

/* Feed of two kinds in a mixture of 100: at least 30 of protein and at most 12 of fibre. Of grain
 * (0.1, 0.05, 2), meal (0.5, 0.2, 5) and pulses (0.4, 0.05, 6): grain g, meal m, pulses p with
 * 0.1 g + 0.5 m + 0.4 p = 30, 0.05 g + 0.2 m + 0.05 p = 12 and g + m + p = 100. */
static void blending(void **state)
{
    instance *in = instance_new();

    (void)state;
    add_row(in, 100, 100);
    add_row(in, 30, LP_INFINITY);
    add_row(in, -LP_INFINITY, 12);
    add_dense(in, LP_INFINITY, 2, (double[]){ 1, 0.1, 0.05 });
    add_dense(in, LP_INFINITY, 5, (double[]){ 1, 0.5, 0.2 });
    add_dense(in, LP_INFINITY, 6, (double[]){ 1, 0.4, 0.05 });
    /* Fibre: m = 7 / 0.15; protein: 0.4 m + 0.3 p = 20. */
    double m = 140.0 / 3.0, p = (20.0 - 0.4 * m) / 0.3;
    assert_optimum(in, 2 * (100 - m - p) + 5 * m + 6 * p, "blending");
}

/* From 0 to 5 over arcs of capacity: the cheapest way for 10. By the paths 0-1-3-5 (4, 1 + 1 + 1),
 * 0-2-4-5 (5, 2 + 1 + 2) and 0-1-4-5 (1, 1 + 3 + 2), which fill 3-5, 2-4 and what is left. */
static void network(void **state)
{
    static const struct {
        int from, to;
        double most, cost;
    } arcs[] = { { 0, 1, 8, 1 }, { 0, 2, 7, 2 }, { 1, 3, 6, 1 }, { 1, 4, 6, 3 }, { 2, 4, 5, 1 },
                 { 2, 3, 2, 9 }, { 3, 5, 4, 1 }, { 4, 5, 9, 2 }, { 3, 4, 3, 8 } };
    instance *in = instance_new();

    (void)state;
    for (int i = 0; i < 6; i++) {
        double excess = i == 0 ? 10 : i == 5 ? -10 : 0;
        add_row(in, excess, excess);
    }
    for (size_t k = 0; k < sizeof arcs / sizeof arcs[0]; k++) {
        bool is_forward = arcs[k].from < arcs[k].to;
        add_column(in, 0, arcs[k].most, arcs[k].cost);
        add_element(in, is_forward ? arcs[k].from : arcs[k].to, is_forward ? 1 : -1);
        add_element(in, is_forward ? arcs[k].to : arcs[k].from, is_forward ? -1 : 1);
    }
    assert_optimum(in, 4 * 3 + 5 * 5 + 1 * 6, "network");
}

/* Up to 40 rows and 120 columns. */
static void larger_programs(void **state)
{
    int optimal = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        chance c = { .state = 7000 + seed };
        double activity[ROWS_MAX] = { 0.0 };
        int rows = chance_in(&c, 15, 40), columns = chance_in(&c, 40, 120);
        instance *in = instance_new();
        answers *a = answers_new();
        random_columns(in, &c, columns, rows, activity);
        for (int j = 0; j < columns; j++) {
            in->lower[j] = fmax(in->lower[j], -30);
            in->upper[j] = fmin(in->upper[j], 30);
        }
        random_rows(in, &c, rows, activity);
        in->group.lanes = 3;
        random_items(in, &c);
        solver s = solver_of(in);
        optimal += compare(in, a, &s, seed_text(seed)) == LP_OPTIMAL;
        solver_free(&s);
        free(in);
        free(a);
    }
    assert_true(optimal > 20);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The same programs, with units a million times larger or smaller by row and column. */
static void badly_scaled(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        chance c = { .state = seed };
        instance *in = instance_new();
        answers *a = answers_new();
        random_group(in, &c);
        in->layout.states = in->layout.dimension = in->layout.gradients = in->layout.items = 0;
        in->cuts.count = in->cuts.set_count = 0;
        double unit = seed % 2 ? 1e6 : 1e-6;
        for (int j = 0; j < in->program.columns; j += 2) {
            in->cost[j] *= unit;
            in->lower[j] = in->lower[j] <= -LP_INFINITY ? in->lower[j] : in->lower[j] / unit;
            in->upper[j] = in->upper[j] >= LP_INFINITY ? in->upper[j] : in->upper[j] / unit;
            for (int e = in->start[j]; e < in->start[j + 1]; e++)
                in->value[e] *= unit;
        }
        solver s = solver_of(in);
        double expected = 0.0;
        lp_status end = dual_solve(s.program, s.work, &in->group, &a->out);
        assert_int_not_equal(end, LP_FAILED);
        if (oracle(in, 0, &expected) == 0 && end == LP_OPTIMAL)
            assert_close(a->objective[0], expected, seed_text(seed));
        solver_free(&s);
        free(in);
        free(a);
    }
}

static double in_unit(double bound, double unit)
{
    return fabs(bound) >= LP_INFINITY ? bound : bound * unit;
}

typedef enum unit_of { OF_COSTS, OF_ROWS, OF_COLUMNS, OF_ALL } unit_of;

/* The same program in other units; the objective is `unit` times as large where costs are. */
static void change_unit(instance *in, unit_of what, double unit)
{
    if (what == OF_COSTS || what == OF_ALL)
        for (int j = 0; j < in->program.columns; j++)
            in->cost[j] *= unit;
    if (what == OF_ROWS || what == OF_ALL) {
        for (int e = 0; e < in->start[in->program.columns]; e++)
            in->value[e] *= unit;
        for (int i = 0; i < in->program.rows; i++) {
            in->row_lower[i] = in_unit(in->row_lower[i], unit);
            in->row_upper[i] = in_unit(in->row_upper[i], unit);
        }
    }
    for (int j = 0; what == OF_COLUMNS && j < in->program.columns; j++) {
        in->lower[j] = in_unit(in->lower[j], unit);
        in->upper[j] = in_unit(in->upper[j], unit);
        in->cost[j] /= unit;
        for (int e = in->start[j]; e < in->start[j + 1]; e++)
            in->value[e] /= unit;
    }
}

/* In units 1e9 times as large or small the optimum is the same but for the unit, or Clp is left to
 * find it. */
static void far_units(void **state)
{
    int optimal = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++)
        for (int k = 0; k < 8; k++) {
            chance c = { .state = seed };
            instance *in = instance_new();
            answers *a = answers_new();
            double unit = k % 2 ? 1e9 : 1e-9, expected = 0.0;
            random_group(in, &c);
            in->layout.states = in->layout.dimension = in->layout.gradients = in->layout.items = 0;
            in->cuts.count = in->cuts.set_count = 0;
            int found = oracle(in, 0, &expected);
            change_unit(in, (unit_of)(k / 2), unit);
            solver s = solver_of(in);
            lp_status end = dual_solve(s.program, s.work, &in->group, &a->out);
            if (end == LP_OPTIMAL) {
                double by = k / 2 == OF_COSTS || k / 2 == OF_ALL ? unit : 1.0;
                optimal++;
                if (found != 0 ||
                    !(fabs(a->objective[0] / by - expected) <= 1e-7 * (1.0 + fabs(expected))))
                    fail_msg("seed %llu, kind %d: %.17g is not %.17g", (unsigned long long)seed, k,
                             a->objective[0] / by, expected);
            } else if (end != LP_FAILED && found == 0) {
                fail_msg("seed %llu, kind %d: %s", (unsigned long long)seed, k,
                         lp_status_name(end));
            }
            solver_free(&s);
            free(in);
            free(a);
        }
    assert_true(optimal > 200);
}

/* ---- numbers that are refused ---------------------------------------------------------------- */

/* x in [0, 4], y >= 0, one row, an item and a cut that is watched. */
static instance *small_group(void)
{
    instance *in = instance_new();

    add_row(in, 0, 4);
    add_column(in, 0, 4, 1);
    add_element(in, 0, 1);
    in->layout.theta = add_column(in, 0, LP_INFINITY, 1);
    add_item(in, LP_ITEM_SHIFT, 0);
    in->layout.states = 1;
    in->layout.dimension = 2;
    in->cuts.count = in->cuts.set_count = 1;
    *slope_of(in, 0, 0) = *slope_of(in, 0, 1) = -1;
    return in;
}

static void numbers_that_are_refused(void **state)
{
    static const double bad[] = { NAN, 1e21, -1e25, INFINITY };
    enum { PLACES = 6 };

    (void)state;
    assert_optimum(small_group(), 0, "the group before");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (int where = 0; where < PLACES; where++) {
            instance *in = small_group();
            answers *a = answers_new();
            double *const place[PLACES] = { in->cost,      in->value,    in->values,
                                            in->intercept, in->slope[0], in->tail };
            *place[where] = bad[i];
            solver s = solver_of(in);
            lp_status end = dual_solve(s.program, s.work, &in->group, &a->out);
            if (end != LP_FAILED)
                fail_msg("%g at %d: %s", bad[i], where, lp_status_name(end));
            assert_int_equal(dual_work_totals(s.work)->fallbacks, 1);
            solver_free(&s);
            free(in);
            free(a);
        }
}

/* No number, or bounds that nothing is between: never an optimum. */
static void bounds_that_are_refused(void **state)
{
    static const double bad[][2] = {
        { NAN, 1 },      { 0, NAN },       { NAN, NAN }, { 3, 2 },
        { INFINITY, 1 }, { 0, -INFINITY }, { 1e25, 1 },  { 0, -1e25 }
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (int is_row = 0; is_row < 2; is_row++) {
            instance *in = small_group();
            answers *a = answers_new();
            *(is_row ? in->row_lower : in->lower) = bad[i][0];
            *(is_row ? in->row_upper : in->upper) = bad[i][1];
            solver s = solver_of(in);
            lp_status end = dual_solve(s.program, s.work, &in->group, &a->out);
            if (end != LP_FAILED && end != LP_INFEASIBLE)
                fail_msg("[%g, %g] of %s: %s", bad[i][0], bad[i][1], is_row ? "a row" : "a column",
                         lp_status_name(end));
            solver_free(&s);
            free(in);
            free(a);
        }
}

/* The smallest numbers there are, and bounds without a gap. */
static void tiny_numbers(void **state)
{
    static const double tiny[] = { 5e-324, 1e-310, 1e-300, 0.0 };

    (void)state;
    for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
        instance *in = small_group();
        in->upper[0] = tiny[i];
        assert_optimum(in, 0, "a tiny upper bound");
        in = small_group();
        in->lower[0] = in->upper[0] = 2.0;
        in->cost[1] = tiny[i];
        assert_optimum(in, 2, "a tiny cost");
        in = small_group();
        in->row_lower[0] = in->row_upper[0] = tiny[i];
        assert_optimum(in, tiny[i], "a tiny row");
    }
}

/* ---- rows that depend on one another --------------------------------------------------------- */

enum { BASE_MAX = 8 };

/* A column around a value that all rows meet, which is inside its bounds; some are far away. */
static void add_far_column(instance *in, chance *c, double value, double far)
{
    double lower = value - chance_in(c, 1, 6), upper = value + chance_in(c, 1, 6);
    int kind = chance_in(c, 0, 5), cost = chance_in(c, -9, 9);

    if (kind == 0 || kind == 2)
        lower = -far * (0.5 + 0.5 * chance_real(c));
    if (kind == 1 || kind == 2)
        upper = far * (0.5 + 0.5 * chance_real(c));
    if (kind == 3) {
        upper = LP_INFINITY;
        cost = abs(cost);
    }
    add_column(in, lower, upper, cost);
}

/* Some equality rows, then combinations of them. */
static instance *redundant_program(chance *c, double far)
{
    int base = chance_in(c, 1, BASE_MAX), rows = base + chance_in(c, 1, 8);
    int share[2 * BASE_MAX][BASE_MAX];
    instance *in = instance_new();

    for (int i = base; i < rows; i++)
        for (int k = 0; k < base; k++)
            share[i][k] = chance_in(c, 0, 2) ? 0 : chance_in(c, -3, 3);
    for (int i = 0; i < rows; i++)
        add_row(in, 0, 0);
    for (int j = chance_in(c, 2, 30); j > 0; j--) {
        double value = 8.0 * chance_real(c) - 4.0, element[2 * BASE_MAX] = { 0.0 };
        add_far_column(in, c, value, far);
        for (int k = 0; k < base; k++)
            element[k] = chance_in(c, 0, base) < 3 ? 10.0 * chance_real(c) - 5.0 : 0.0;
        for (int i = base; i < rows; i++)
            for (int k = 0; k < base; k++)
                element[i] += share[i][k] * element[k];
        for (int i = 0; i < rows; i++) {
            if (element[i] != 0.0)
                add_element(in, i, element[i]);
            in->row_lower[i] = in->row_upper[i] += element[i] * value;
        }
    }
    return in;
}

/* Far from the optimum the rows disagree by rounding alone, and no pivot mends that: the method may
 * leave it to Clp, but must not say that there is no solution. */
static void redundant_rows(void **state)
{
    int optima = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        chance c = { seed, NULL, 0 };
        instance *in = redundant_program(&c, 1e7);
        answers *a = answers_new();
        solver s = solver_of(in);
        double expected = 0.0;
        lp_status end = dual_solve(s.program, s.work, &in->group, &a->out);
        int oracle_end = end == LP_FAILED ? 0 : oracle(in, 0, &expected);
        if (end == LP_INFEASIBLE && oracle_end == 0)
            fail_msg("seed %d: called infeasible, has the optimum %g", (int)seed, expected);
        if (end == LP_OPTIMAL && oracle_end == 0)
            assert_true(fabs(a->objective[0] - expected) <= 1e-8 * (1.0 + fabs(expected)));
        optima += end == LP_OPTIMAL;
        solver_free(&s);
        free(a);
        free(in);
    }
    assert_true(optima > 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycling_programs),
        cmocka_unit_test(klee_minty),
        cmocka_unit_test(larger_cubes),
        cmocka_unit_test(tilted_cubes),
        cmocka_unit_test(parallel_rows_and_columns),
        cmocka_unit_test(blending),
        cmocka_unit_test(network),
        cmocka_unit_test(larger_programs),
        cmocka_unit_test(badly_scaled),
        cmocka_unit_test(far_units),
        cmocka_unit_test(numbers_that_are_refused),
        cmocka_unit_test(bounds_that_are_refused),
        cmocka_unit_test(tiny_numbers),
        cmocka_unit_test(redundant_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
