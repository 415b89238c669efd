/*
 * test_rng.c - the generator of random numbers against the values of the contract's page
 * (universe.md 13.1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/system/rng.h"

struct golden {
    universe_rng rng;
    uint32_t next[4];
    double floats[3];
    int64_t dice[5];
    double forked[2];
};

static void hold(const struct golden *golden)
{
    universe_rng next = golden->rng, floats = golden->rng, dice = golden->rng;
    universe_rng fork = universe_rng_fork(&golden->rng, "lsystem");
    for (int i = 0; i < 4; i++)
        assert_int_equal(universe_rng_next(&next), golden->next[i]);
    for (int i = 0; i < 3; i++)
        assert_true(universe_rng_float(&floats) == golden->floats[i]);
    for (int i = 0; i < 5; i++)
        assert_int_equal(universe_rng_int(&dice, 1, 6), golden->dice[i]);
    for (int i = 0; i < 2; i++)
        assert_true(universe_rng_float(&fork) == golden->forked[i]);
}

static void a_text_seeds_it(void **unused)
{
    (void)unused;
    const struct golden golden = {
        universe_rng_text("universe", 8),
        { 1141655122u, 415698326u, 2338043383u, 2498790921u },
        { 0.2658122934161671, 0.5443681447341673, 0.2905404211533751 },
        { 5, 3, 2, 4, 4 },
        { 0.5012999802457747, 0.5999007883724116 },
    };
    hold(&golden);
}

static void a_number_seeds_it(void **unused)
{
    (void)unused;
    const struct golden golden = {
        universe_rng_number(42),
        { 2837322924u, 544945897u, 479756282u, 3500138142u },
        { 0.6606157208001621, 0.1117019639532224, 0.0791056456144914 },
        { 1, 2, 3, 1, 1 },
        { 0.6608884711301664, 0.266451298395487 },
    };
    hold(&golden);
}

static void zero_is_a_seed(void **unused)
{
    (void)unused;
    const struct golden golden = {
        universe_rng_number(0),
        { 3809008728u, 1133695204u, 53579671u, 2891528803u },
        { 0.8868539502021594, 0.012474988946590604, 0.032522145755498943 },
        { 1, 5, 2, 2, 5 },
        { 0.4519457503281802, 0.4361656298143317 },
    };
    hold(&golden);
}

/* U+1F30D is two units in UTF-16, D83C DF0D, so its hash is not that of one number. */
static void a_text_is_hashed_by_its_utf16_units(void **unused)
{
    (void)unused;
    uint32_t hash = (2166136261u ^ 0xd83cu) * 16777619u;
    hash = (hash ^ 0xdf0du) * 16777619u;
    universe_rng from_text = universe_rng_text("\xF0\x9F\x8C\x8D", 4);
    universe_rng from_hash = universe_rng_number(hash);
    assert_memory_equal(&from_text, &from_hash, sizeof from_hash);
}

static void draws_keep_their_bounds(void **unused)
{
    (void)unused;
    universe_rng rng = universe_rng_number(7);
    const double weights[] = { 1, 0, 3 };
    for (int i = 0; i < 10000; i++) {
        assert_in_range(universe_rng_int(&rng, 0, 2147483647), 0, 2147483647);
        assert_int_equal(universe_rng_int(&rng, 3, 3), 3);
        assert_int_not_equal(universe_rng_weighted(&rng, weights, 3), 1);
        assert_true(universe_rng_geometric(&rng, .5) >= 0);
    }
    assert_int_equal(universe_rng_geometric(&rng, 0), 0);
    assert_int_equal(universe_rng_geometric(&rng, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_seeds_it),
        cmocka_unit_test(a_number_seeds_it),
        cmocka_unit_test(zero_is_a_seed),
        cmocka_unit_test(a_text_is_hashed_by_its_utf16_units),
        cmocka_unit_test(draws_keep_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
