/*
 * test_generator.c - the generator against an independent implementation, and its uniform numbers
 * against their definitions.
 *
 * The expected bits were computed by a Python program written from the method page, 4.2, alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/generator.h"

static void first_draws(void **state)
{
    static const uint64_t of_42[] = {
        0x39fcb970a3001809u,
        0x3d3618972c55d911u,
        0xc2c5fa789a8b6a2du,
        0x87207ff1e29660ecu,
    };
    static const uint64_t of_0[] = {
        0x20ae25dad4e2bc53u,
        0x58f938e12bbf69fbu,
        0xb5b235d60cf8e231u,
        0x09f71ee2b019a7dau,
    };

    (void)state;
    generator a = generator_seeded(42), b = generator_seeded(0);
    for (size_t i = 0; i < 4; i++) {
        assert_true(generator_u64(&a) == of_42[i]);
        assert_true(generator_u64(&b) == of_0[i]);
    }
}

static void numbers_are_made_of_the_bits(void **state)
{
    generator g = generator_seeded(7), again = g;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = generator_u64(&g);
        generator u32 = again, uniform = again, open = again;
        assert_int_equal(generator_u32(&u32), (uint32_t)bits);
        assert_true(generator_uniform(&uniform) == (double)(bits >> 11) / 9007199254740992.0);
        double inside = generator_open(&open);
        assert_true(inside > 0.0 && inside < 1.0);
        assert_true(inside == (double)(bits >> 12) / 4503599627370496.0 + 0x1p-53);
        again = g;
    }
}

static void integers_stay_below_and_reach_all(void **state)
{
    generator g = generator_seeded(11);
    int seen[10] = { 0 };

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint32_t j = generator_below(&g, 10);
        assert_true(j < 10);
        seen[j]++;
    }
    /* 1000 expected each with standard deviation 30. */
    for (int j = 0; j < 10; j++)
        assert_in_range(seen[j], 850, 1150);
    assert_int_equal(generator_below(&g, 1), 0);
}

/* Where the low half leaves room for a carry, a second draw decides it. */
static void integers_with_a_carry(void **state)
{
    static const uint32_t of_5[] = {
        1359361050u, 2855016196u, 955819142u,  1323187866u, 1393029455u, 1744384063u,
        1245028379u, 2151998963u, 2249308150u, 268865928u,  2937843300u, 1718156361u,
    };

    (void)state;
    generator g = generator_seeded(5);
    for (size_t i = 0; i < sizeof of_5 / sizeof of_5[0]; i++)
        assert_int_equal(generator_below(&g, 3000000000u), of_5[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_draws),
        cmocka_unit_test(numbers_are_made_of_the_bits),
        cmocka_unit_test(integers_stay_below_and_reach_all),
        cmocka_unit_test(integers_with_a_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
