/*
 * The URL of a database as it is printed: it shows no password.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "commands/link.h"

static void test_no_password_is_printed(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    (void)state;
    assert_string_equal(portarium_place_of(arena, "sqlite:a@b.db"), "sqlite:a@b.db");
    assert_string_equal(portarium_place_of(arena, "postgres://h:5432/d"), "postgres://h:5432/d");
    assert_string_equal(portarium_place_of(arena, "postgres://app:secret@h:5432/d"),
                        "postgres://h:5432/d");
    assert_string_equal(portarium_place_of(arena, "postgresql://a:x@y@h/d?password=secret"),
                        "postgresql://h/d");
    assert_string_equal(portarium_place_of(arena, "postgres://h/d?password=sec@ret"),
                        "postgres://h/d");
    assert_string_equal(portarium_place_of(arena, "postgres://a:p?w#@h/d"), "postgres://h/d");
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_password_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
