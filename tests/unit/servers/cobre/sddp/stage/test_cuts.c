/*
 * test_cuts.c - the pool of cuts, its working set, and the choice of violated cuts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sddp/stage/cuts.h"

static mcp_arena *arena;

static void append(cut_pool *pool, double intercept, const double *slope, uint32_t iteration)
{
    const cut_record record = { .iteration = iteration };

    assert_int_equal(cuts_append(pool, intercept, slope, 0, &record, NULL), MCP_OK);
}

/* Cut i of the pool is i + (1 + i) x - y, made and tight in iteration i + 1. */
static void fill(cut_pool *pool, size_t count)
{
    arena = mcp_arena_new(0);
    cuts_init(pool, 2, 1);
    for (size_t i = 0; i < count; i++) {
        const double slope[] = { 1.0 + (double)i, -1.0 };
        assert_int_equal(cuts_reserve(pool, arena, 1, NULL), MCP_OK);
        cuts_begin_iteration(pool);
        append(pool, (double)i, slope, (uint32_t)i + 1);
        cuts_touch(pool, (uint32_t)i);
    }
}

static void values_survive_growth(void **state)
{
    static double values[300];
    cut_pool pool;

    (void)state;
    fill(&pool, 300);
    assert_true(pool.capacity >= 300);
    cuts_values(&pool, (double[]){ 2.0, 10.0 }, values);
    for (size_t i = 0; i < 300; i++)
        assert_true(values[i] == (double)i + 2.0 * (1.0 + (double)i) - 10.0);
    mcp_arena_free(arena);
}

static void new_cuts_are_in_the_set(void **state)
{
    cut_pool pool;

    (void)state;
    fill(&pool, 5);
    assert_int_equal(pool.set_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(pool.set[i], i);
    mcp_arena_free(arena);
}

/* Cuts 0 to 2 are removed; 1 returns at the end. */
static void old_cuts_leave_and_return(void **state)
{
    const uint32_t before[] = { 0, 1, 2, 3, 4 };
    int gone[5];
    cut_pool pool;

    (void)state;
    fill(&pool, 5);
    uint64_t version = pool.version;
    cuts_prune(&pool, 2);
    assert_true(pool.version > version);
    cuts_touch(&pool, 1);
    assert_int_equal(pool.set_count, 3);
    assert_int_equal(pool.set[0], 3);
    assert_int_equal(pool.set[1], 4);
    assert_int_equal(pool.set[2], 1);
    assert_int_equal(cuts_gone(&pool, before, 5, gone), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gone[i], i);
    version = pool.version;
    cuts_touch(&pool, 1);
    assert_true(pool.version == version);
    mcp_arena_free(arena);
}

static void truncation_forgets(void **state)
{
    cut_pool pool;

    (void)state;
    fill(&pool, 6);
    uint64_t epoch = pool.epoch;
    cuts_truncate(&pool, 4);
    assert_int_equal(pool.count, 4);
    assert_int_equal(pool.set_count, 4);
    assert_true(pool.epoch > epoch);
    assert_int_equal(pool.active, 4);
    append(&pool, 0.5, (double[]){ 0.0, 0.0 }, 9);
    cuts_touch(&pool, 4);
    assert_int_equal(pool.set_count, 5);
    assert_int_equal(pool.active, 5);
    assert_int_equal(pool.set[4], 4);
    mcp_arena_free(arena);
}

static size_t violated(const cut_pool *pool, const double *values, double limit,
                       const uint32_t *known, size_t known_count, uint32_t *out, size_t most)
{
    const cut_search search = { &limit, known, known_count, false };
    return cuts_violated(pool, values, &search, out, most);
}

/* Values 0, 5, 3, 5, 9, 4 against theta 3.5, with 4 in the set and 1 known: 3 first, then 5. */
static void most_violated_first(void **state)
{
    const double values[] = { 0.0, 5.0, 3.0, 5.0, 9.0, 4.0 };
    const uint32_t known[] = { 1 };
    uint32_t out[3];
    cut_pool pool;

    (void)state;
    fill(&pool, 6);
    cuts_set_rows(&pool, (uint32_t[]){ 4 }, 1);
    assert_int_equal(violated(&pool, values, 3.5, known, 1, out, 3), 2);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 5);
    assert_int_equal(violated(&pool, values, 3.5, NULL, 0, out, 2), 2);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 3);
    assert_int_equal(violated(&pool, values, -1.0, NULL, 0, out, 1), 1);
    assert_int_equal(out[0], 1);
    assert_int_equal(violated(&pool, values, 5.0, NULL, 0, out, 3), 0);
    mcp_arena_free(arena);
}

/* A cut at the limit is not violated. */
static void the_limit(void **state)
{
    const double values[] = { 1.0, 1.5 };
    uint32_t out[3];
    cut_pool pool;

    (void)state;
    fill(&pool, 2);
    cuts_set_rows(&pool, NULL, 0);
    assert_int_equal(violated(&pool, values, 1.0, NULL, 0, out, 3), 1);
    assert_int_equal(out[0], 1);
    mcp_arena_free(arena);
}

static void a_state_without_entries(void **state)
{
    double value;
    cut_pool pool;

    (void)state;
    arena = mcp_arena_new(0);
    cuts_init(&pool, 0, 1);
    assert_int_equal(cuts_reserve(&pool, arena, 1, NULL), MCP_OK);
    append(&pool, 3.0, NULL, 1);
    cuts_values(&pool, NULL, &value);
    assert_true(value == 3.0);
    mcp_arena_free(arena);
}

/* A search would overlook them. */
static void numbers_out_of_range_are_refused(void **state)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY, 1.1e20, -1e25 };
    cut_pool pool;

    (void)state;
    fill(&pool, 2);
    assert_int_equal(cuts_reserve(&pool, arena, 1, NULL), MCP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (int where = 0; where < 3; where++) {
            double numbers[3] = { 1.0, 1.0, 1.0 };
            mcp_error err = MCP_ERROR_INIT;
            numbers[where] = bad[i];
            assert_int_equal(
                cuts_append(&pool, numbers[0], numbers + 1, 0, &(cut_record){ 0 }, &err),
                MCP_E_PARAMS);
            assert_non_null(strstr(err.message, where == 0 ? "intercept" : "coefficient"));
            assert_int_equal(pool.count, 2);
            assert_int_equal(pool.active, 2);
        }
    append(&pool, 1e20, (double[]){ -1e20, 1e20 }, 3);
    assert_int_equal(pool.count, 3);
    mcp_arena_free(arena);
}

/* Cut 1 constrains no more: it leaves the set, and only a search for all cuts finds it. */
static void deactivated_cuts_are_left_out(void **state)
{
    const double values[] = { 4.0, 9.0, 5.0 }, limit = 1.0;
    uint32_t out[3];
    cut_pool pool;

    (void)state;
    fill(&pool, 3);
    cuts_deactivate(&pool, 1);
    assert_int_equal(pool.active, 2);
    cuts_prune(&pool, 32);
    assert_int_equal(pool.set_count, 2);
    cuts_set_rows(&pool, NULL, 0);
    const cut_search active = { &limit, NULL, 0, false }, all = { &limit, NULL, 0, true };
    assert_int_equal(cuts_violated(&pool, values, &active, out, 3), 2);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 0);
    assert_int_equal(cuts_violated(&pool, values, &all, out, 3), 3);
    assert_int_equal(out[0], 1);
    mcp_arena_free(arena);
}

/* Multi-cut: each cut is held against its own theta, and the worst is the one most above it. */
static void limits_by_theta(void **state)
{
    const double values[] = { 10.0, 7.0, 3.0 }, limits[] = { 9.5, 4.0, 5.0 };
    const cut_search search = { limits, NULL, 0, false };
    uint32_t out[3];
    cut_pool pool;

    (void)state;
    fill(&pool, 3);
    pool.thetas = 3;
    for (uint32_t i = 0; i < 3; i++)
        pool.theta[i] = i;
    cuts_set_rows(&pool, NULL, 0);
    assert_int_equal(cuts_violated(&pool, values, &search, out, 3), 2);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);
    mcp_arena_free(arena);
}

/* Hits become activity at the end of an iteration; one taken back leaves no trace. */
static void activity_of_iterations(void **state)
{
    cut_pool pool;

    (void)state;
    fill(&pool, 2);
    assert_int_equal(pool.record[0].window, 2);
    cuts_begin_iteration(&pool);
    pool.hits[0] = 3;
    cuts_touch(&pool, 0);
    cuts_end_iteration(&pool, 7);
    assert_int_equal(pool.record[0].active_count, 3);
    assert_int_equal(pool.record[0].last_active, 7);
    assert_int_equal(pool.record[0].window, 5);
    assert_int_equal(pool.record[1].active_count, 0);
    cuts_begin_iteration(&pool);
    pool.hits[1] = 2;
    cuts_touch(&pool, 1);
    cuts_take_back(&pool, 2);
    cuts_end_iteration(&pool, 8);
    assert_int_equal(pool.record[1].active_count, 0);
    assert_int_equal(pool.record[0].window, 5);
    assert_int_equal(pool.record[1].window, 2);
    mcp_arena_free(arena);
}

static void growth_is_all_or_nothing(void **state)
{
    cut_pool pool;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    arena = mcp_arena_new(1000);
    cuts_init(&pool, 40, 1);
    assert_int_equal(cuts_reserve(&pool, arena, 1, &err), MCP_E_NOMEM);
    assert_int_equal(pool.capacity, 0);
    assert_null(pool.slope);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive_growth),
        cmocka_unit_test(new_cuts_are_in_the_set),
        cmocka_unit_test(old_cuts_leave_and_return),
        cmocka_unit_test(truncation_forgets),
        cmocka_unit_test(most_violated_first),
        cmocka_unit_test(the_limit),
        cmocka_unit_test(a_state_without_entries),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(growth_is_all_or_nothing),
        cmocka_unit_test(limits_by_theta),
        cmocka_unit_test(activity_of_iterations),
        cmocka_unit_test(deactivated_cuts_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
