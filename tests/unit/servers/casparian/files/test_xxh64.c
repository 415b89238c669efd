/*
 * test_xxh64.c - XXH64 against published values.
 *
 * The input of the reference's own sanity check is made by a multiplication (prime 32 as seed of
 * the bytes); its values are those of that check.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "files/xxh64.h"

static uint64_t hash(const void *bytes, size_t length, uint64_t seed)
{
    casparian_xxh64 state;
    casparian_xxh64_init(&state, seed);
    casparian_xxh64_add(&state, bytes, length);
    return casparian_xxh64_end(&state);
}

static void texts_have_their_hashes(void **state)
{
    (void)state;
    assert_int_equal(hash("", 0, 0), 0xef46db3751d8e999U);
    assert_int_equal(hash("abc", 3, 0), 0x44bc2cf5ad770999U);
    assert_int_equal(hash("a", 1, 0), 0xd24ec4f1a98c6e5bU);
    assert_int_equal(hash("Nobody inspects the spammish repetition", 39, 0), 0xfbcea83c8a378bf1U);
}

static void bytes_of_the_reference_have_its_hashes(void **state)
{
    uint8_t bytes[222];
    uint64_t generator = 2654435761U;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(generator >> 56);
        generator *= 11400714785074694797U;
    }
    assert_int_equal(hash(bytes, 0, 0), 0xef46db3751d8e999U);
    assert_int_equal(hash(bytes, 0, 2654435761U), 0xac75fda2929b17efU);
    assert_int_equal(hash(bytes, 1, 0), 0xe934a84adb052768U);
    assert_int_equal(hash(bytes, 1, 2654435761U), 0x5014607643a9b4c3U);
    assert_int_equal(hash(bytes, 14, 0), 0x8282dcc4994e35c8U);
    assert_int_equal(hash(bytes, 14, 2654435761U), 0xc3bd6bf63deb6df0U);
    assert_int_equal(hash(bytes, 222, 0), 0xb641ae8cb691c174U);
    assert_int_equal(hash(bytes, 222, 2654435761U), 0x20cb8ab7ae10c14aU);
}

static void pieces_have_the_hash_of_the_whole(void **state)
{
    uint8_t bytes[200];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t piece = 1; piece < 70; piece++) {
        casparian_xxh64 whole;
        casparian_xxh64_init(&whole, 7);
        for (size_t at = 0; at < sizeof bytes; at += piece)
            casparian_xxh64_add(&whole, bytes + at,
                                at + piece > sizeof bytes ? sizeof bytes - at : piece);
        assert_int_equal(casparian_xxh64_end(&whole), hash(bytes, sizeof bytes, 7));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_hashes),
        cmocka_unit_test(bytes_of_the_reference_have_its_hashes),
        cmocka_unit_test(pieces_have_the_hash_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
