/*
 * test_quantile.c - the normal quantile against the error function.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/points/quantile.h"

/* The distribution function gives p back: Moro's error of 3e-9 times the density. */
static void it_inverts_the_distribution(void **state)
{
    (void)state;
    for (double p = 1e-12; p < 1.0; p = p < 1e-3 ? p * 1.7 : p + 0.00037) {
        double x = quantile_normal(p), density = exp(-x * x / 2) / sqrt(2 * acos(-1.0));
        double back = 0.5 * erfc(-x / sqrt(2.0));
        assert_true(fabs(back - p) <= 3.1e-9 * density + 1e-15);
    }
}

static void it_is_odd_and_rises(void **state)
{
    double before = -9.0;

    (void)state;
    for (uint32_t i = 1; i < 4096; i++) {
        double p = i / 4096.0, x = quantile_normal(p);
        assert_true(x == -quantile_normal(1.0 - p));
        assert_true(x > before);
        before = x;
    }
    assert_true(quantile_normal(0.5) == 0.0);
}

static void ends_are_finite(void **state)
{
    (void)state;
    assert_true(quantile_normal(0.0) == -8.21);
    assert_true(quantile_normal(1e-20) == -8.21);
    assert_true(quantile_normal(-3.0) == -8.21);
    assert_true(quantile_normal(1.0) > 8.0 && quantile_normal(1.0) < 8.21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_inverts_the_distribution),
        cmocka_unit_test(it_is_odd_and_rises),
        cmocka_unit_test(ends_are_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
