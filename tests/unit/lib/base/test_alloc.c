/*
 * test_alloc.c - the hook that refuses memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"

static void refuses_after_the_given_number(void **state)
{
    (void)state;
    mcp__alloc_fail_after(2);
    void *first = mcp_alloc(8);
    void *second = mcp_alloc_zeroed(2, 4);
    assert_non_null(first);
    assert_non_null(second);
    assert_false(mcp__alloc_was_refused());
    assert_null(mcp_alloc(8));
    assert_null(mcp_alloc_zeroed(1, 8));
    assert_null(mcp_realloc(first, 16)); /* and `first` is still there */
    assert_true(mcp__alloc_was_refused());

    mcp__alloc_fail_after(-1);
    assert_false(mcp__alloc_was_refused());
    first = mcp_realloc(first, 16);
    assert_non_null(first);
    free(first);
    free(second);
}

static void zeroed_means_zeroed(void **state)
{
    (void)state;
    unsigned char *bytes = mcp_alloc_zeroed(10, 10);
    assert_non_null(bytes);
    for (int i = 0; i < 100; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_after_the_given_number),
        cmocka_unit_test(zeroed_means_zeroed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
