/*
 * test_random.c - ids have their form and do not repeat; every byte takes part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/random.h"

static void ids_are_32_hex_digits_and_differ(void **state)
{
    char first[MCP_RANDOM_ID_SIZE];
    char second[MCP_RANDOM_ID_SIZE];

    (void)state;
    assert_int_equal(mcp_random_id(first, NULL), MCP_OK);
    assert_int_equal(mcp_random_id(second, NULL), MCP_OK);
    assert_int_equal(strlen(first), 32);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    assert_string_not_equal(first, second);
}

/* 64 draws leave a given bit unset with a chance of 2^-64. */
static void every_bit_is_random(void **state)
{
    unsigned char seen[300] = { 0 };
    unsigned char drawn[300];

    (void)state;
    for (int i = 0; i < 64; i++) {
        assert_int_equal(mcp_random_bytes(drawn, sizeof drawn, NULL), MCP_OK);
        for (size_t k = 0; k < sizeof drawn; k++)
            seen[k] |= drawn[k];
    }
    for (size_t k = 0; k < sizeof seen; k++)
        assert_int_equal(seen[k], 0xff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_32_hex_digits_and_differ),
        cmocka_unit_test(every_bit_is_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
