/*
 * test_seed.c - the seeds against golden values and against SipHash's own structure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/seed.h"

/* Values of the method page, 4.1. */
static void golden_seeds(void **state)
{
    (void)state;
    assert_true(seed_forward(42, 0, 0, 0) == 4418977803187233897u);
    assert_true(seed_stage(42, 0) == 983776962555776753u);
}

/* The byte string decides: lowest byte first, numbers one after another. */
static void names_become_bytes(void **state)
{
    const uint8_t opening[] = { 8, 7, 6, 5, 4, 3, 2, 1, 12, 11, 10, 9, 16, 15, 14, 13 };

    (void)state;
    assert_true(seed_opening(0x0102030405060708u, 0x090a0b0cu, 0x0d0e0f10u) ==
                seed_hash(opening, sizeof opening));
}

static void every_name_matters(void **state)
{
    (void)state;
    uint64_t seed = seed_forward(42, 1, 2, 3);
    assert_true(seed != seed_forward(43, 1, 2, 3));
    assert_true(seed != seed_forward(42, 2, 2, 3));
    assert_true(seed != seed_forward(42, 1, 3, 3));
    assert_true(seed != seed_forward(42, 1, 2, 4));
    assert_true(seed_opening(42, 1, 2) != seed_opening(42, 2, 1));
}

/* Method page, 4.1: byte 0x01, the base in 8 bytes, then three numbers in 4, lowest byte first. */
static void grouped_seeds_hash_their_bytes(void **state)
{
    const uint8_t bytes[21] = { 1, 0x2a, 0,    0,    0,    0,    0, 0, 0, 3, 0,
                                0, 0,    0xff, 0xff, 0xff, 0x7f, 4, 1, 0, 0 };

    (void)state;
    assert_int_equal(seed_grouped(42, 3, 2147483647u, 260), seed_hash(bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_seeds),
        cmocka_unit_test(names_become_bytes),
        cmocka_unit_test(every_name_matters),
        cmocka_unit_test(grouped_seeds_hash_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
