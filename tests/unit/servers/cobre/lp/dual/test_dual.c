/*
 * test_dual.c - the dual simplex for groups against Clp: random bounded programs with all kinds of
 * columns, rows, items and cuts, cold and from any basis.
 *
 * What is proved where: the four exchanges and the refactored inverse: test_kernel.c. Random
 * programs, groups and cuts: here, and tests/fuzz/fuzz_lp.c. Families, scales and numbers that are
 * refused: test_families.c, and here. Every program of a whole training: test_every_program.c of
 * sddp. The same bits for any number of threads, after a stop, and for another instruction set:
 * test_train.c and test_start.c of sddp, bits.c here. A spoiled inverse and few pivots:
 * test_trouble.c here (also built as few_pivots), and the tests backend.spoiled and
 * backend.fallback (tests/CMakeLists.txt). An infeasible stage program as it is reported:
 * test_forward.c and test_elastic.c of sddp, under each solver. Rates: bench/sddp.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dual_check.h"

/* ---- random programs ------------------------------------------------------------------------- */

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
        chance c = { .state = seed };
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

/* ---- named programs -------------------------------------------------------------------------- */

/* 3 y + a x = 0 with y basic, below its bound by just what the range of x makes up for: a slope
 * that rounding leaves above zero is no sign of infeasibility. */
static void a_range_that_just_suffices(void **state)
{
    static const uint8_t basis[] = { LP_BASIC, LP_AT_UPPER, LP_AT_LOWER };
    chance c = { .state = 17 };

    (void)state;
    for (int i = 0; i < 500; i++) {
        instance *in = instance_new();
        add_row(in, 0, 0);
        add_column(in, 0, 10, 0);
        add_element(in, 0, 3);
        add_column(in, 0, 0.1 + chance_real(&c), -1);
        add_element(in, 0, 0.1 + chance_real(&c));
        in->group.basis = basis;
        assert_optimum(in, 0, "a range");
    }
}

/* y = x + 4 at the cost of y: the least is 4, however far the upper bound of x is. What a value may
 * violate a bound by is measured by that bound alone. */
static void a_far_bound_loosens_no_other(void **state)
{
    static const double far[] = { 1e3, 1e9, 1e15, 1e20, LP_INFINITY };

    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        instance *in = instance_new();
        add_row(in, -4, -4);
        add_column(in, 0, far[i], 0);
        add_element(in, 0, 1);
        add_column(in, 0, 10, 1);
        add_element(in, 0, -1);
        assert_optimum(in, 4, "a far bound");
        /* The same of a row: x is at least 9 - 4. */
        in = instance_new();
        add_row(in, -4, far[i]);
        add_column(in, 0, 10, 1);
        add_element(in, 0, 1);
        add_column(in, 9, 9, 0);
        add_element(in, 0, -1);
        assert_optimum(in, 5, "a far bound of a row");
    }
}

/* An assignment of n to n where i to j costs (i + j) mod n: each can have the one of cost 0. */
static void assignment(void **state)
{
    enum { N = 10 };
    instance *in = instance_new();

    (void)state;
    for (int i = 0; i < 2 * N; i++)
        add_row(in, 1, 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            add_column(in, 0, 1, (i + j) % N);
            add_element(in, i, 1);
            add_element(in, N + j, 1);
        }
    assert_optimum(in, 0, "assignment");
}

/* Hillier and Lieberman's Wyndor Glass, Dantzig's plants and markets (153.675 thousand dollars). */
static void textbooks(void **state)
{
    static const double miles[2][3] = { { 2.5, 1.7, 1.8 }, { 2.5, 1.8, 1.4 } };
    static const double wyndor[][3] = { { 1, 0, 3 }, { 0, 2, 2 } };
    instance *in = instance_new();

    (void)state;
    add_row(in, -LP_INFINITY, 4);
    add_row(in, -LP_INFINITY, 12);
    add_row(in, -LP_INFINITY, 18);
    add_dense(in, LP_INFINITY, -3, wyndor[0]);
    add_dense(in, LP_INFINITY, -5, wyndor[1]);
    assert_optimum(in, -36, "Wyndor");
    in = instance_new();
    add_row(in, -LP_INFINITY, 350);
    add_row(in, -LP_INFINITY, 600);
    add_row(in, 325, LP_INFINITY);
    add_row(in, 300, LP_INFINITY);
    add_row(in, 275, LP_INFINITY);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            add_column(in, 0, LP_INFINITY, 0.09 * miles[i][j]);
            add_element(in, i, 1);
            add_element(in, 2 + j, 1);
        }
    assert_optimum(in, 153.675, "transport");
}

/* Make in t = 0..n-1 for 1 + t a piece, hold a piece for 0.5 a period, at most 10 are made in one;
 * demand is 6 + t. Hand-made: demand in period t is met from the last periods with room. */
static void inventory(void **state)
{
    enum { N = 8 };
    instance *in = instance_new();

    (void)state;
    for (int t = 0; t < N; t++)
        add_row(in, 6 + t, 6 + t);
    for (int t = 0; t < N; t++) {
        add_column(in, 0, 10, 1 + t);
        add_element(in, t, 1);
        add_column(in, 0, LP_INFINITY, 0.5);
        add_element(in, t, -1);
        if (t + 1 < N)
            add_element(in, t + 1, 1);
    }
    /* All demand is 76 pieces, of 80 that can be made; the 4 that are not are the dearest ones: of
     * the last period, whose need is then held from before. Made: 10 in periods 0 to 6, 6 in 7.
     * Stock after them: 4, 7, 9, 10, 10, 9, 7, 0. */
    assert_optimum(in, 10 * (1 + 2 + 3 + 4 + 5 + 6 + 7) + 6 * 8 + 0.5 * 56, "inventory");
}

static instance *one_row(double row_lower, double row_upper, double cost)
{
    instance *in = instance_new();

    add_row(in, row_lower, row_upper);
    add_column(in, 0, 4, 1);
    add_element(in, 0, 1);
    add_column(in, 0, LP_INFINITY, cost);
    return in;
}

static void ends_without_optimum(void **state)
{
    instance *in = one_row(5, LP_INFINITY, 1);

    (void)state;
    assert_end(in, LP_INFEASIBLE, "one row");
    /* x >= 3 and x <= 2: each row alone can be met. */
    in = instance_new();
    add_row(in, 3, LP_INFINITY);
    add_row(in, -LP_INFINITY, 2);
    add_dense(in, 4, 1, (double[]){ 1, 1 });
    assert_end(in, LP_INFEASIBLE, "two rows");
    assert_end(one_row(0, 4, -1), LP_UNBOUNDED, "a ray");
    in = one_row(0, 4, 1);
    in->lower[0] = 3;
    in->upper[0] = 2;
    assert_end(in, LP_INFEASIBLE, "bounds that cross");
    assert_optimum(instance_new(), 0, "empty");
    assert_optimum(one_row(-LP_INFINITY, LP_INFINITY, 1), 0,
                   "a free row, a column without elements");
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* A group of one lane of another. */
static void take_lane(instance *one, const instance *in, size_t lane)
{
    memcpy(one, in, sizeof *one);
    one->program = (lp_program){ in->program.columns, in->program.rows, one->start, one->row,
                                 one->value,          one->lower,       one->upper, one->cost,
                                 one->row_lower,      one->row_upper };
    for (int i = 0; i < CUTS_MAX / CHUNK; i++)
        one->chunk[i] = one->slope[i];
    one->cuts.intercept = one->intercept;
    one->cuts.slope = one->chunk;
    one->cuts.set = one->set;
    one->group.values = one->values;
    one->group.cuts = &one->cuts;
    one->group.lanes = 1;
    for (size_t i = 0; i < in->layout.items; i++)
        one->values[i] = in->values[i * in->group.lanes + lane];
}

/* The objective at the incoming storages of another group is above the plane of this one. */
static void assert_subgradient(const instance *in, const answers *a, const instance *other,
                               const answers *b)
{
    for (size_t l = 0; l < in->group.lanes; l++) {
        double plane = a->objective[l];
        for (size_t i = 0; i < in->layout.gradients; i++) {
            size_t at = (4 + i) * in->group.lanes + l;
            plane += a->gradient[a->which[l] * in->layout.gradients + i] *
                     (other->values[at] - in->values[at]);
        }
        if (!(b->objective[l] >= plane - 1e-9 * (1.0 + fabs(plane))))
            fail_msg("lane %zu: %.17g is below the plane's %.17g", l, b->objective[l], plane);
    }
}

static void groups_of_any_size(void **state)
{
    static const size_t lanes[] = { 1, 7, 8, 9, 200 };

    (void)state;
    for (size_t k = 0; k < 5; k++) {
        chance c = { .state = k };
        instance *in = instance_new(), *one = instance_new();
        answers *a = answers_new(), *b = answers_new();
        make_brazil(in, lanes[k], 150, &c);
        solver s = solver_of(in);
        assert_int_equal(compare(in, a, &s, "group"), LP_OPTIMAL);
        for (size_t l = 0; l < lanes[k]; l++) {
            take_lane(one, in, l);
            assert_int_equal(dual_solve(s.program, s.work, &one->group, &b->out), LP_OPTIMAL);
            assert_close(b->objective[0], a->objective[l], "one by one");
        }
        /* Another state, for the subgradient; from the kept basis. */
        take_lane(one, in, 0);
        memcpy(one->values, in->values, sizeof in->values);
        one->group.lanes = lanes[k];
        for (size_t i = 4 * lanes[k]; i < 8 * lanes[k]; i++)
            one->values[i] *= 0.7;
        one->group.basis = a->keep;
        assert_int_equal(compare(one, b, &s, "other state"), LP_OPTIMAL);
        assert_subgradient(in, a, one, b);
        assert_subgradient(one, b, in, a);
        solver_free(&s);
        free(in);
        free(one);
        free(a);
        free(b);
    }
}

/* Lane 5 alone asks for more than there is. */
static void the_infeasible_lane_is_named(void **state)
{
    instance *in = one_row(0, 4, 1);
    answers *a = answers_new();

    (void)state;
    add_item(in, LP_ITEM_SHIFT, 0);
    in->group.lanes = 9;
    in->values[5] = 5;
    solver s = solver_of(in);
    assert_int_equal(compare(in, a, &s, "lane 5"), LP_INFEASIBLE);
    assert_int_equal(a->out.failed, 5);
    solver_free(&s);
    free(in);
    free(a);
}

static void identical_lanes_share_a_basis(void **state)
{
    chance c = { .state = 3 };
    instance *in = instance_new();
    answers *a = answers_new();

    (void)state;
    make_brazil(in, 16, 60, &c);
    for (size_t i = 0; i < 8; i++)
        for (size_t l = 1; l < 16; l++)
            in->values[i * 16 + l] = in->values[i * 16];
    solver s = solver_of(in);
    assert_int_equal(compare(in, a, &s, "identical"), LP_OPTIMAL);
    assert_int_equal(a->out.bases, 1);
    solver_free(&s);
    free(in);
    free(a);
}

/* The same call gives the same bits, whatever the work did in between. */
static void the_past_does_not_matter(void **state)
{
    chance c = { .state = 11 }, d = { .state = 12 };
    instance *in = instance_new(), *other = instance_new();
    answers *a = answers_new(), *b = answers_new();

    (void)state;
    make_brazil(in, 40, 300, &c);
    make_brazil(other, 90, 500, &d);
    solver s = solver_of(in), t = solver_of(other);
    assert_int_equal(dual_solve(s.program, s.work, &in->group, &a->out), LP_OPTIMAL);
    assert_int_equal(dual_solve(t.program, s.work, &other->group, &b->out), LP_OPTIMAL);
    memset(b->tight, 0, sizeof b->tight);
    memset(b->hits, 0, sizeof b->hits);
    assert_int_equal(dual_solve(s.program, s.work, &in->group, &b->out), LP_OPTIMAL);
    assert_memory_equal(a->objective, b->objective, 40 * sizeof *a->objective);
    assert_memory_equal(a->which, b->which, 40 * sizeof *a->which);
    assert_memory_equal(a->gradient, b->gradient, a->out.bases * 4 * sizeof *a->gradient);
    assert_memory_equal(a->keep, b->keep, 149);
    assert_memory_equal(a->tight, b->tight, 300);
    assert_memory_equal(a->hits, b->hits, 300 * sizeof *a->hits);
    solver_free(&s);
    solver_free(&t);
    free(in);
    free(other);
    free(a);
    free(b);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* The same optimum with an empty, a full and a wrong working set, and from a basis that holds cuts
 * which are gone or deactivated. */
static void any_working_set(void **state)
{
    static const size_t counts[] = { 0, 1, 1000 };

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        chance c = { .state = k };
        instance *in = instance_new();
        answers *a = answers_new();
        make_brazil(in, 12, counts[k], &c);
        solver s = solver_of(in);
        assert_int_equal(compare(in, a, &s, "empty set"), LP_OPTIMAL);
        for (size_t i = 0; i < counts[k]; i++)
            in->set[in->cuts.set_count++] = (uint32_t)i;
        assert_int_equal(compare(in, a, &s, "full set"), LP_OPTIMAL);
        in->group.basis = a->keep;
        in->cuts.active = in->active;
        for (size_t i = 0; i < counts[k]; i++)
            in->active[i] = !a->tight[i];
        assert_int_equal(compare(in, a, &s, "deactivated"), LP_OPTIMAL);
        in->cuts.active = NULL;
        in->cuts.set_count = counts[k] ? 1 : 0;
        in->set[0] = 5000;
        in->cuts.count = counts[k] / 2;
        assert_int_equal(compare(in, a, &s, "truncated"), LP_OPTIMAL);
        solver_free(&s);
        free(in);
        free(a);
    }
}

/* From the kept basis and its tight cuts nothing is left to do but to answer. */
static void the_kept_basis_is_optimal(void **state)
{
    chance c = { .state = 9 };
    instance *in = instance_new();
    answers *a = answers_new();

    (void)state;
    make_brazil(in, 1, 200, &c);
    solver s = solver_of(in);
    assert_int_equal(compare(in, a, &s, "cold"), LP_OPTIMAL);
    for (size_t i = 0; i < 200; i++)
        if (a->tight[i])
            in->set[in->cuts.set_count++] = (uint32_t)i;
    assert_true(in->cuts.set_count > 0);
    assert_int_equal(compare(in, a, &s, "with its cuts"), LP_OPTIMAL);
    int64_t before = dual_work_totals(s.work)->pivots;
    in->group.basis = a->keep;
    assert_int_equal(compare(in, a, &s, "warm"), LP_OPTIMAL);
    assert_int_equal(dual_work_totals(s.work)->pivots, before);
    assert_int_equal(dual_work_totals(s.work)->retries, 0);
    solver_free(&s);
    free(in);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_groups),
        cmocka_unit_test(a_range_that_just_suffices),
        cmocka_unit_test(a_far_bound_loosens_no_other),
        cmocka_unit_test(assignment),
        cmocka_unit_test(textbooks),
        cmocka_unit_test(inventory),
        cmocka_unit_test(ends_without_optimum),
        cmocka_unit_test(groups_of_any_size),
        cmocka_unit_test(the_infeasible_lane_is_named),
        cmocka_unit_test(identical_lanes_share_a_basis),
        cmocka_unit_test(the_past_does_not_matter),
        cmocka_unit_test(any_working_set),
        cmocka_unit_test(the_kept_basis_is_optimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
