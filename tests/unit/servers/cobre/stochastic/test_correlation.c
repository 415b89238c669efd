/*
 * test_correlation.c - symmetric roots against matrices worked out by hand, and who is correlated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/correlation.h"

static case_kit kit;
static cobre_source sources[4];

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-14)

/* Eigenvalues 1 + r and 1 - r with vectors (1, 1) and (1, -1): the root has the half sum of their
 * roots on the diagonal, the half difference off it. */
static void roots_of_two_by_two(void **state)
{
    static const double r[] = { 0.6, -0.6, 0.0, 1.0, -1.0, 1e-9 };
    double root[4], scratch[8];

    (void)state;
    for (size_t i = 0; i < sizeof r / sizeof r[0]; i++) {
        const double matrix[] = { 1, r[i], r[i], 1 };
        correlation_root(root, matrix, 2, scratch);
        NEAR(root[0], (sqrt(1 + r[i]) + sqrt(1 - r[i])) / 2);
        NEAR(root[1], (sqrt(1 + r[i]) - sqrt(1 - r[i])) / 2);
        assert_true(root[1] == root[2]);
        NEAR(root[3], root[0]);
    }
}

static void the_square_of_a_root_is_the_matrix(void **state)
{
    enum { N = 40 };
    static double matrix[N * N], root[N * N], scratch[2 * N * N];

    (void)state;
    for (size_t i = 0; i < N * N; i++)
        matrix[i] = pow(0.8, fabs((double)(i / N) - (double)(i % N)));
    correlation_root(root, matrix, N, scratch);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < N; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < N; j++)
                sum += root[i * N + j] * root[j * N + k];
            assert_true(fabs(sum - matrix[i * N + k]) < 1e-12);
            assert_true(root[i * N + k] == root[k * N + i]);
        }
    }
}

static void independence_changes_no_bit(void **state)
{
    const double one[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double root[9], scratch[18];

    (void)state;
    correlation_root(root, one, 3, scratch);
    assert_memory_equal(root, one, sizeof one);
}

/* No noise has correlations 0.9, 0.9 and -0.9: eigenvalues 1.9, 1.9, -0.8. The negative one counts
 * as 0, so D^2 = 1.9 (I - v v') with v = (1, -1, -1) / sqrt 3. */
static void negative_eigenvalues_count_as_zero(void **state)
{
    const double matrix[] = { 1, 0.9, 0.9, 0.9, 1, -0.9, 0.9, -0.9, 1 };
    double root[9], scratch[18];

    (void)state;
    correlation_root(root, matrix, 3, scratch);
    NEAR(root[0], sqrt(1.9) * 2 / 3);
    NEAR(root[1], sqrt(1.9) / 3);
    NEAR(root[5], -sqrt(1.9) / 3);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static const double strong[] = { 1, 0.6, 0.6, 1 };
#define DIAGONAL ((sqrt(1.6) + sqrt(0.4)) / 2)
#define OFF ((sqrt(1.6) - sqrt(0.4)) / 2)

static const correlation *make(mcp_arena *arena, const cobre_correlation_profile *profiles,
                               size_t count, const size_t *of_stage)
{
    const correlation *made = NULL;
    mcp_error err = MCP_ERROR_INIT;
    inflow_tables tables = { .profiles = profiles,
                             .profile_count = count,
                             .profile_of_stage = of_stage };

    if (correlation_new(&made, arena, &kit.c, &tables, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return made;
}

/* Hydros 0 to 2, buses 0 and 1 of which 1 is stochastic, sources 0 to 2 of which 0 and 2 are. */
static void begin_case(void)
{
    kit_begin(&kit, 2, 3, 0, 2, 0);
    kit.bus_is_stochastic[1] = true;
    for (int32_t i = 0; i < 3; i++)
        sources[i] = (cobre_source){ .id = i, .is_stochastic = i != 1 };
    kit.c.sources = sources;
    kit.c.source_count = 3;
}

static void classes_and_stages_have_their_own(void **state)
{
    const size_t hydros[] = { 0, 2 }, source_pair[] = { 0, 2 }, half[] = { 0, 1 };
    const cobre_correlation_group first[] = {
        { COBRE_CLASS_INFLOW, "h", hydros, 2, strong },
        { COBRE_CLASS_NCS, "s", source_pair, 2, strong },
        { COBRE_CLASS_LOAD, "not stochastic", half, 2, strong },
    };
    const cobre_correlation_profile profiles[] = { { "none", NULL, 0 }, { "some", first, 3 } };
    const size_t of_stage[] = { 1, 0 };
    const double given[] = { 1, 10, 2, 7, 3, -1 };
    double noise[6];
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    begin_case();
    const correlation *c = make(arena, profiles, 2, of_stage);
    memcpy(noise, given, sizeof noise);
    for (int class = 0; class < 3; class ++)
        correlation_apply(c, 1, (cobre_noise_class) class, noise);
    assert_memory_equal(noise, given, sizeof noise);
    correlation_apply(c, 0, COBRE_CLASS_INFLOW, noise);
    NEAR(noise[0], DIAGONAL * 1 + OFF * 2);
    NEAR(noise[2], DIAGONAL * 2 + OFF * 1);
    assert_true(noise[1] == 10 && noise[3] == 7 && noise[4] == 3 && noise[5] == -1);
    correlation_apply(c, 0, COBRE_CLASS_LOAD, noise);
    assert_true(noise[3] == 7);
    correlation_apply(c, 0, COBRE_CLASS_NCS, noise);
    NEAR(noise[4], DIAGONAL * 3 - OFF);
    NEAR(noise[5], OFF * 3 - DIAGONAL);
    mcp_arena_free(arena);
}

/* The same group listed in another order, its matrix with it: the same bits. */
static void the_order_of_a_list_changes_no_bit(void **state)
{
    const double matrix[] = { 1, 0.5, 0.2, 0.5, 1, -0.3, 0.2, -0.3, 1 };
    const double turned[] = { 1, 0.2, -0.3, 0.2, 1, 0.5, -0.3, 0.5, 1 };
    const size_t members[] = { 0, 1, 2 }, turned_members[] = { 2, 0, 1 };
    const cobre_correlation_group one = { COBRE_CLASS_INFLOW, "a", members, 3, matrix };
    const cobre_correlation_group other = { COBRE_CLASS_INFLOW, "b", turned_members, 3, turned };
    const cobre_correlation_profile profiles[] = { { "one", &one, 1 }, { "other", &other, 1 } };
    const size_t of_stage[] = { 0, 1 };
    double a[6] = { 0.1, -2.3, 0.7 }, b[6] = { 0.1, -2.3, 0.7 };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    begin_case();
    const correlation *c = make(arena, profiles, 2, of_stage);
    correlation_apply(c, 0, COBRE_CLASS_INFLOW, a);
    correlation_apply(c, 1, COBRE_CLASS_INFLOW, b);
    assert_memory_equal(a, b, sizeof a);
    mcp_arena_free(arena);
}

static void groups_have_a_limit(void **state)
{
    const cobre_correlation_group group = { COBRE_CLASS_INFLOW, "all rivers", NULL, 1025, NULL };
    const cobre_correlation_profile profile = { "default", &group, 1 };
    const size_t of_stage[] = { 0, 0 };
    const inflow_tables tables = { .profiles = &profile,
                                   .profile_count = 1,
                                   .profile_of_stage = of_stage };
    const correlation *made = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    begin_case();
    assert_int_equal(correlation_new(&made, arena, &kit.c, &tables, &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "all rivers"));
    assert_null(made);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_two_by_two),
        cmocka_unit_test(the_square_of_a_root_is_the_matrix),
        cmocka_unit_test(independence_changes_no_bit),
        cmocka_unit_test(negative_eigenvalues_count_as_zero),
        cmocka_unit_test(classes_and_stages_have_their_own),
        cmocka_unit_test(the_order_of_a_list_changes_no_bit),
        cmocka_unit_test(groups_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
