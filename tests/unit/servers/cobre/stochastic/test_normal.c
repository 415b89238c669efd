/*
 * test_normal.c - normal deviates against the golden values of the method page and their moments.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/normal.h"
#include "stochastic/normal_table.h"
#include "stochastic/seed.h"

/* Openings 0 to 2 of stage 0 with two dimensions, seed 42 (method page, 4.2). */
static void golden_deviates(void **state)
{
    static const double expected[3][2] = {
        { 0.40098936496495646, 0.22792558815859804 },
        { -1.3954121776085244, -0.26939366921736746 },
        { 0.8337031709056368, -1.6199918031824887 },
    };

    (void)state;
    for (uint32_t w = 0; w < 3; w++) {
        generator g = generator_seeded(seed_opening(42, w, 0));
        assert_true(normal_draw(&g) == expected[w][0]);
        assert_true(normal_draw(&g) == expected[w][1]);
    }
}

/* The layers of a ziggurat have equal areas: x[i] * (f(x[i+1]) - f(x[i])) = V. */
static void layers_have_equal_areas(void **state)
{
    (void)state;
    for (int i = 1; i < 255; i++) {
        double area = layer_x[i] * (exp(-layer_x[i + 1] * layer_x[i + 1] / 2.0) -
                                    exp(-layer_x[i] * layer_x[i] / 2.0));
        assert_true(fabs(area - 0.00492867323399) < 1e-13);
        assert_true(fabs(layer_f[i] - exp(-layer_x[i] * layer_x[i] / 2.0)) < 1e-15);
    }
}

/* Mean 0, variance 1, fourth moment 3; shares beyond 2 and beyond the ziggurat's tail at 3.654. */
static void moments_and_tails(void **state)
{
    enum { N = 1000000 };
    double sum = 0.0, squares = 0.0, fourth = 0.0;
    int beyond_two = 0, in_tail = 0;
    generator g = generator_seeded(1);

    (void)state;
    for (int i = 0; i < N; i++) {
        double x = normal_draw(&g);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        beyond_two += fabs(x) > 2.0;
        in_tail += fabs(x) > 3.6541528853610088;
    }
    assert_true(fabs(sum / N) < 0.005);
    assert_true(fabs(squares / N - 1.0) < 0.007);
    assert_true(fabs(fourth / N - 3.0) < 0.05);
    assert_true(fabs(beyond_two / (double)N - erfc(2.0 / sqrt(2.0))) < 0.001);
    assert_in_range(in_tail, 190, 330); /* 258 expected, standard deviation 16 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_deviates),
        cmocka_unit_test(layers_have_equal_areas),
        cmocka_unit_test(moments_and_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
