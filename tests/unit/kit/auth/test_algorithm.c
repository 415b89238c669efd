/*
 * test_algorithm.c - which algorithms there are, after RFC 7518 section 3.1, and which there must
 * never be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/algorithm.h"

static void the_signatures_of_private_keys_are_there(void **state)
{
    static const char *const rsa[] = { "RS256", "RS384", "RS512", "PS256", "PS384", "PS512" };

    (void)state;
    for (size_t i = 0; i < sizeof rsa / sizeof rsa[0]; i++) {
        const auth_algorithm *found = auth_algorithm_find(rsa[i]);
        assert_non_null(found);
        assert_string_equal(found->name, rsa[i]);
        assert_string_equal(found->kty, "RSA");
        assert_null(found->curve);
    }
    assert_string_equal(auth_algorithm_find("ES256")->curve, "P-256");
    assert_int_equal(auth_algorithm_find("ES256")->coordinate_size, 32);
    assert_string_equal(auth_algorithm_find("ES384")->curve, "P-384");
    assert_int_equal(auth_algorithm_find("ES384")->coordinate_size, 48);
}

static void nothing_else_is(void **state)
{
    static const char *const others[] = { "none",  "None",  "NONE",  "HS256", "HS384",
                                          "HS512", "ES512", "EdDSA", "rs256", "RS1",
                                          "",      "dir",   "RS2567" };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(auth_algorithm_find(others[i]));
}

static void a_curve_has_one(void **state)
{
    (void)state;
    assert_ptr_equal(auth_algorithm_of_curve("P-256"), auth_algorithm_find("ES256"));
    assert_ptr_equal(auth_algorithm_of_curve("P-384"), auth_algorithm_find("ES384"));
    assert_null(auth_algorithm_of_curve("P-521"));
    assert_null(auth_algorithm_of_curve("secp256k1"));
    assert_null(auth_algorithm_of_curve("Ed25519"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signatures_of_private_keys_are_there),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(a_curve_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
