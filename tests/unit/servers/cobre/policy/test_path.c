/*
 * test_path.c - the path of a policy as config.json may have it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/path.h"

static void what_names_nothing_is_left_out(void **state)
{
    static const char *const cases[][2] = {
        { "./policy", "policy" }, { "policy/", "policy" },
        { "a//b/./c", "a/b/c" },  { "/abs/./policy/", "/abs/policy" },
        { "../x", "../x" },       { ".hidden", ".hidden" },
    };
    char plain[POLICY_PATH_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(policy_path_plain(plain, cases[i][0], NULL), MCP_OK);
        assert_string_equal(plain, cases[i][1]);
    }
}

static void a_path_that_names_no_directory_is_refused(void **state)
{
    static const char *const cases[] = { "", ".", "./", "/", "//.//" };
    char plain[POLICY_PATH_SIZE], *longest = malloc(POLICY_PATH_SIZE + 1);
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(policy_path_plain(plain, cases[i], &err), MCP_E_PARAMS);
    assert_non_null(longest);
    memset(longest, 'x', POLICY_PATH_SIZE);
    longest[POLICY_PATH_SIZE] = '\0';
    assert_int_equal(policy_path_plain(plain, longest, &err), MCP_E_PARAMS);
    longest[POLICY_PATH_SIZE - 2] = '\0';
    assert_int_equal(policy_path_plain(plain, longest, &err), MCP_OK);
    free(longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_names_nothing_is_left_out),
        cmocka_unit_test(a_path_that_names_no_directory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
