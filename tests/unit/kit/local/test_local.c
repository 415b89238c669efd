/*
 * test_local.c - where the database of a user is, and what is said where there is no place for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "local/local.h"
#include "scratch.h"

static scratch folder;
static mcp_arena *arena;
static const char *url;

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    arena = mcp_arena_new(0);
    url = NULL;
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    return arena == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    scratch_close(&folder);
    return 0;
}

static mode_t mode_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(scratch_path(&folder, name), &status), 0);
    return status.st_mode & 0777;
}

static void assert_database(const char *name)
{
    char expected[1000];
    snprintf(expected, sizeof expected, "sqlite:%s", scratch_path(&folder, name));
    assert_string_equal(url, expected);
}

static void it_is_in_the_state_of_the_user(void **state)
{
    (void)state;
    setenv("HOME", "/nonexistent", 1);
    setenv("XDG_STATE_HOME", scratch_path(&folder, "state"), 1);
    assert_int_equal(local_database(&url, "a.db", arena, NULL), MCP_OK);
    assert_database("state/causeway/a.db");
    assert_int_equal(mode_of("state/causeway"), 0700);
    assert_int_equal(local_database(&url, "b.db", arena, NULL), MCP_OK);
    assert_database("state/causeway/b.db");
}

static void without_the_variable_it_is_below_home(void **state)
{
    (void)state;
    setenv("HOME", scratch_path(&folder, "home"), 1);
    setenv("XDG_STATE_HOME", "relative", 1); /* is ignored (XDG Base Directory Specification) */
    assert_int_equal(local_database(&url, "a.db", arena, NULL), MCP_OK);
    assert_database("home/.local/state/causeway/a.db");
    assert_int_equal(mode_of("home/.local"), 0700);
}

static void without_a_place_the_way_out_is_named(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    assert_int_equal(local_database(&url, "a.db", arena, &err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "HOME"));
    assert_non_null(strstr(err.message, "--db sqlite:/PATH/a.db"));
    setenv("HOME", "", 1);
    assert_int_equal(local_database(&url, "a.db", arena, &err), MCP_E_NOT_FOUND);
    fclose(fopen(scratch_path(&folder, "file"), "w"));
    setenv("HOME", scratch_path(&folder, "file"), 1);
    assert_int_not_equal(local_database(&url, "a.db", arena, &err), MCP_OK);
    assert_non_null(strstr(err.message, "file/.local"));
    assert_non_null(strstr(err.message, "--db"));
    assert_null(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_in_the_state_of_the_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_the_variable_it_is_below_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_place_the_way_out_is_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
