/*
 * test_selection.c - the rules of cut selection on pools made by hand. Method page, 8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sddp/stage/selection.h"

static mcp_arena *arena;
static cut_pool pool;

/* Cuts of one state entry, made in iterations 1, 2, ...; all in the working set. */
static void fill(const double (*lines)[2], size_t count)
{
    arena = mcp_arena_new(0);
    cuts_init(&pool, 1, 1);
    assert_int_equal(cuts_reserve(&pool, arena, count, NULL), MCP_OK);
    for (uint32_t i = 0; i < count; i++) {
        const cut_record record = { .iteration = i + 1, .last_active = i + 1 };
        assert_int_equal(cuts_append(&pool, lines[i][0], &lines[i][1], 0, &record, NULL), MCP_OK);
        cuts_touch(&pool, i);
    }
}

static void check_active(const char *expected)
{
    size_t active = 0;

    for (size_t i = 0; expected[i]; i++) {
        assert_int_equal(pool.is_active[i], expected[i] == '1');
        assert_int_equal(pool.in_set[i], expected[i] == '1');
        active += expected[i] == '1';
    }
    assert_int_equal(pool.active, active);
    assert_int_equal(pool.set_count, active);
    mcp_arena_free(arena);
}

static const double flat[5][2] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }, { 5, 0 } };

/* Counts 0, 3, 1, 2, 0; the last is of this iteration. */
static void level1_by_count(void **state)
{
    const uint32_t counts[] = { 0, 3, 1, 2, 0 };

    (void)state;
    fill(flat, 5);
    for (size_t i = 0; i < 5; i++)
        pool.record[i].active_count = counts[i];
    assert_int_equal(selection_level1(&pool, 5, 1), 2);
    check_active("01011");
}

/* At iteration 10 the cuts were last active 9, 5, 3, 2 and 0 iterations ago. */
static void lml1_by_age(void **state)
{
    const uint32_t last[] = { 1, 5, 7, 8, 10 };

    (void)state;
    fill(flat, 5);
    for (size_t i = 0; i < 5; i++)
        pool.record[i].last_active = last[i];
    assert_int_equal(selection_lml1(&pool, 10, 3), 2);
    check_active("00111");
}

static size_t dominate(uint32_t iteration, double epsilon, const double *states, size_t count)
{
    double values[5], highest[1];
    uint8_t needed[5];
    const domination_scratch scratch = { values, highest, needed };
    const visited_states visited = { &states, count ? 1 : 0, 0, 0, 1, count };

    return selection_domination(&pool, iteration, epsilon, &visited, &scratch);
}

/* 10 - x and x cross at 5; 4 lies below them everywhere, 4.9 at all states but those near 5. */
static const double lines[4][2] = { { 10, -1 }, { 0, 1 }, { 4, 0 }, { 4.9, 0 } };

static void domination_keeps_what_is_highest_somewhere(void **state)
{
    const double states[] = { 0.0, 5.0, 9.0 };

    (void)state;
    fill(lines, 4);
    assert_int_equal(dominate(9, 0.0, states, 3), 2);
    check_active("1100");
    fill(lines, 4);
    assert_int_equal(dominate(9, 0.2, states, 3), 1);
    check_active("1101");
    fill(lines, 4);
    assert_int_equal(dominate(9, 0.0, states, 1), 3);
    check_active("1000");
}

static void domination_spares(void **state)
{
    const double states[] = { 0.0 };

    (void)state;
    fill(lines, 4);
    assert_int_equal(dominate(4, 0.0, states, 1), 2); /* cut 3 is of this iteration */
    check_active("1001");
    fill(lines, 4);
    assert_int_equal(dominate(9, 0.0, states, 0), 0); /* no state was visited */
    check_active("1111");
    fill(lines, 1);
    assert_int_equal(dominate(9, 0.0, states, 1), 0); /* one cut alone */
    check_active("1");
}

/* Multi-cut: cuts of different thetas do not dominate each other. */
static void domination_by_theta(void **state)
{
    const double states[] = { 0.0 };
    double values[4], highest[2];
    uint8_t needed[4];
    const double *block = states;
    const domination_scratch scratch = { values, highest, needed };
    const visited_states visited = { &block, 1, 0, 0, 1, 1 };

    (void)state;
    fill(lines, 4);
    pool.thetas = 2;
    pool.theta[2] = pool.theta[3] = 1;
    assert_int_equal(selection_domination(&pool, 9, 0.0, &visited, &scratch), 2);
    check_active("1001");
}

/* Oldest activity first, then the rarest, then the first; never a cut of this iteration. */
static void budget_evicts_in_order(void **state)
{
    const uint32_t last[] = { 2, 2, 1, 2, 2 }, counts[] = { 5, 3, 9, 3, 0 };

    (void)state;
    for (size_t most = 1; most <= 5; most++) {
        static const char *const left[] = { "00001", "10001", "10011", "11011", "11111" };
        fill(flat, 5);
        for (size_t i = 0; i < 5; i++) {
            pool.record[i].last_active = last[i];
            pool.record[i].active_count = counts[i];
        }
        assert_int_equal(selection_budget(&pool, 5, most), 5 - most);
        check_active(left[most - 1]);
    }
}

/* A budget below the cuts of one iteration leaves these. */
static void budget_spares_this_iteration(void **state)
{
    (void)state;
    fill(flat, 3);
    for (size_t i = 0; i < 3; i++)
        pool.record[i].iteration = 4;
    assert_int_equal(selection_budget(&pool, 4, 1), 0);
    check_active("111");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level1_by_count),
        cmocka_unit_test(lml1_by_age),
        cmocka_unit_test(domination_keeps_what_is_highest_somewhere),
        cmocka_unit_test(domination_spares),
        cmocka_unit_test(domination_by_theta),
        cmocka_unit_test(budget_evicts_in_order),
        cmocka_unit_test(budget_spares_this_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
