/*
 * test_ladder.c - the climb from level to level, and that every level solves what can be solved.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "lp/ladder.h"

/* The end of each attempt, in order. */
typedef struct script {
    const lp_status *ends;
    size_t count;
    const lp_level *seen[LP_LEVELS];
} script;

static lp_status act(void *data, const lp_level *level, double seconds)
{
    script *to = data;

    assert_true(seconds > 0.0 && seconds <= level->seconds);
    to->seen[to->count] = level;
    return to->ends[to->count++];
}

static void check_climb(const lp_status *ends, size_t expected)
{
    script to = { .ends = ends };
    int64_t attempts = -1;

    assert_int_equal(lp_climb(act, &to, 100.0, &attempts), ends[expected - 1]);
    assert_int_equal(attempts, expected);
    for (size_t i = 0; i < expected; i++)
        assert_ptr_equal(to.seen[i], &lp_levels[i]);
}

/* Failures and limits lead one level up; what is optimal, infeasible, unbounded or out of memory
 * ends the climb. */
static void climbs_until_it_knows(void **state)
{
    static const lp_status optimal[] = { LP_FAILED, LP_LIMIT, LP_OPTIMAL };
    static const lp_status infeasible[] = { LP_INFEASIBLE };
    static const lp_status unbounded[] = { LP_LIMIT, LP_UNBOUNDED };
    static const lp_status out_of_memory[] = { LP_NO_MEMORY };
    lp_status never[LP_LEVELS];

    (void)state;
    check_climb(optimal, 3);
    check_climb(infeasible, 1);
    check_climb(unbounded, 2);
    check_climb(out_of_memory, 1);
    for (size_t i = 0; i < LP_LEVELS; i++)
        never[i] = LP_FAILED;
    check_climb(never, LP_LEVELS);
}

static void time_is_bounded(void **state)
{
    const lp_status ends[] = { LP_OPTIMAL };
    script to = { .ends = ends };
    int64_t attempts = -1;

    (void)state;
    assert_int_equal(lp_climb(act, &to, 0.0, &attempts), LP_LIMIT);
    assert_int_equal(attempts, 0);
}

/* The page: 15 s for each of the first five levels, 30 s for the others; relaxed from the fourth on
 * in the first group; scales of 2^-10, 2^-5, 2^-13, 2^-8 in the last ones. */
static void levels_are_those_of_the_page(void **state)
{
    (void)state;
    for (size_t i = 0; i < LP_LEVELS; i++) {
        const lp_level *level = &lp_levels[i];
        assert_true(level->seconds == (i < 5 ? 15.0 : 30.0));
        assert_int_equal(level->presolves, i > 0);
        assert_int_equal(level->is_relaxed, i == 3 || i == 4 || i == 7 || i >= 10);
        assert_int_equal(level->method == LP_INTERIOR, i == 4 || i == 11);
        assert_true(level->objective_scale * (i < 8 ? 1.0 : i < 10 ? 1024.0 : 8192.0) == 1.0);
        assert_true(level->bound_scale * (i < 9 ? 1.0 : i == 9 ? 32.0 : 256.0) == 1.0);
    }
}

/* Numbers in [0, 1) from a fixed start: the multiplier of Lewis, Goodman and Miller (1969). */
static double draw(uint64_t *seed)
{
    *seed = *seed * 16807 % 2147483647;
    return (double)*seed / 2147483647.0;
}

#define PLANTS 12
#define TOWNS 9

/*
 * A transport problem: plants with a capacity, towns with a demand, costs of each way, and a dear
 * way to serve a town from nowhere. Feasible flows and feasible prices of the same value are
 * optimal (duality), so the answers are checked by these conditions alone.
 */
typedef struct transport {
    int start[PLANTS * TOWNS + TOWNS + 1], row[2 * PLANTS * TOWNS + TOWNS];
    double value[2 * PLANTS * TOWNS + TOWNS];
    double lower[PLANTS * TOWNS + TOWNS], upper[PLANTS * TOWNS + TOWNS];
    double cost[PLANTS * TOWNS + TOWNS], row_lower[PLANTS + TOWNS], row_upper[PLANTS + TOWNS];
} transport;

static lp *make_transport(transport *t)
{
    uint64_t seed = 42;
    int at = 0, column = 0;
    lp *model = NULL;

    for (int i = 0; i < PLANTS; i++) {
        t->row_lower[i] = -LP_INFINITY;
        t->row_upper[i] = 10.0 + 40.0 * draw(&seed);
    }
    for (int j = 0; j < TOWNS; j++)
        t->row_lower[PLANTS + j] = t->row_upper[PLANTS + j] = 20.0 + 20.0 * draw(&seed);
    for (int i = 0; i < PLANTS + 1; i++)
        for (int j = 0; j < TOWNS; j++, column++) {
            t->start[column] = at;
            t->lower[column] = 0.0;
            t->upper[column] = LP_INFINITY;
            t->cost[column] = i < PLANTS ? 1.0 + 99.0 * draw(&seed) : 1000.0;
            if (i < PLANTS) {
                t->row[at] = i;
                t->value[at++] = 1.0;
            }
            t->row[at] = PLANTS + j;
            t->value[at++] = 1.0;
        }
    t->start[column] = at;
    const lp_program program = { column,   PLANTS + TOWNS, t->start, t->row,       t->value,
                                 t->lower, t->upper,       t->cost,  t->row_lower, t->row_upper };
    assert_int_equal(lp_new(&model, &program, NULL), MCP_OK);
    return model;
}

/* Primal and dual feasible, and of one value: optimal, whatever the way to it. */
static void check_transport(const transport *t, const lp *model)
{
    const double *x = lp_primal(model), *price = lp_duals(model);
    double served[PLANTS + TOWNS] = { 0.0 }, cost = 0.0, worth = 0.0;

    for (int c = 0; c < (PLANTS + 1) * TOWNS; c++) {
        double paid = 0.0;
        assert_true(x[c] >= -1e-6);
        for (int e = t->start[c]; e < t->start[c + 1]; e++) {
            served[t->row[e]] += x[c];
            paid += price[t->row[e]];
        }
        assert_true(paid <= t->cost[c] + 1e-5);
        cost += t->cost[c] * x[c];
    }
    for (int i = 0; i < PLANTS + TOWNS; i++) {
        assert_true(served[i] <= t->row_upper[i] + 1e-5);
        assert_true(served[i] >= t->row_lower[i] - 1e-5);
        assert_true(i >= PLANTS || price[i] <= 1e-6);
        worth += price[i] * t->row_upper[i];
    }
    assert_true(fabs(cost - worth) <= 1e-7 * cost);
    assert_true(fabs(cost - lp_objective(model)) <= 1e-7 * cost);
}

/* Each level finds the optimum; later solves have the bits of a model without it. */
static void every_level_solves(void **state)
{
    transport *t = test_malloc(sizeof *t);

    (void)state;
    for (unsigned level = 0; level < LP_LEVELS; level++) {
        lp *model = make_transport(t), *other = make_transport(t);
        assert_int_equal(lp_solve_at_level(model, level), LP_OPTIMAL);
        check_transport(t, model);
        assert_int_equal(lp_solve(other), LP_OPTIMAL);
        lp_set_row(model, PLANTS, 5.0, 5.0);
        lp_set_row(other, PLANTS, 5.0, 5.0);
        lp_set_basis(model, lp_basis(other));
        assert_int_equal(lp_solve(model), LP_OPTIMAL);
        assert_int_equal(lp_solve(other), LP_OPTIMAL);
        assert_true(lp_objective(model) == lp_objective(other));
        assert_memory_equal(lp_primal(model), lp_primal(other),
                            (PLANTS + 1) * TOWNS * sizeof(double));
        assert_memory_equal(lp_duals(model), lp_duals(other), (PLANTS + TOWNS) * sizeof(double));
        lp_free(other);
        lp_free(model);
    }
    test_free(t);
}

/* No level takes an infeasible program for a solved one, and none prints a word about it: standard
 * output is the protocol's. */
static void no_level_solves_the_impossible(void **state)
{
    transport *t = test_malloc(sizeof *t);
    int kept = dup(STDOUT_FILENO), file = memfd_create("stdout", 0);

    (void)state;
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    for (unsigned level = 0; level < LP_LEVELS; level++) {
        lp *model = make_transport(t);
        lp_set_row(model, 0, 2000.0, 2000.0); /* all the towns together take less */
        assert_int_not_equal(lp_solve_at_level(model, level), LP_OPTIMAL);
        lp_free(model);
    }
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    close(kept);
    test_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(climbs_until_it_knows),          cmocka_unit_test(time_is_bounded),
        cmocka_unit_test(levels_are_those_of_the_page),   cmocka_unit_test(every_level_solves),
        cmocka_unit_test(no_level_solves_the_impossible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
