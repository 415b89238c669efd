/*
 * test_files.c - finding an embedded file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/files.h"

static void finds_by_whole_path(void **state)
{
    static const mcp_file files[] = { { "tools/run.json", "{}", 2 },
                                      { "tools/validate.json", "[]", 2 },
                                      { 0 } };

    (void)state;
    assert_ptr_equal(mcp_files_find(files, "tools/validate.json"), &files[1]);
    assert_null(mcp_files_find(files, "tools/valid"));
    assert_null(mcp_files_find(files, "validate.json"));
    assert_null(mcp_files_find(files, ""));
    assert_null(mcp_files_find(NULL, "tools/run.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(finds_by_whole_path) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
