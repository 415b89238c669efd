/*
 * test_color.c - who decides about colours: the flag, NO_COLOR, FORCE_COLOR, the terminal.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"

static FILE *open_terminal(int *master)
{
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
        return NULL;
    return fopen(ptsname(*master), "r+");
}

static void the_order_is_kept(void **state)
{
    FILE *file = tmpfile();
    int master = -1;
    FILE *terminal = open_terminal(&master);

    (void)state;
    assert_non_null(terminal);
    unsetenv("NO_COLOR");
    unsetenv("FORCE_COLOR");
    setenv("TERM", "xterm", 1);
    assert_true(cli_use_color("always", file));
    assert_false(cli_use_color("never", terminal));
    assert_false(cli_use_color("auto", file));
    assert_true(cli_use_color("auto", terminal));
    assert_true(cli_use_color(NULL, terminal));
    setenv("TERM", "dumb", 1);
    assert_false(cli_use_color("auto", terminal));
    setenv("FORCE_COLOR", "1", 1);
    assert_true(cli_use_color("auto", file));
    setenv("FORCE_COLOR", "0", 1);
    assert_false(cli_use_color("auto", terminal));
    setenv("FORCE_COLOR", "1", 1);
    setenv("NO_COLOR", "1", 1);
    assert_false(cli_use_color("auto", terminal));
    assert_true(cli_use_color("always", file));
    fclose(terminal);
    close(master);
    fclose(file);
}

static void nothing_is_painted_without_leave(void **state)
{
    (void)state;
    assert_string_equal(cli_paint(false, CLI_RED), "");
    assert_string_equal(cli_paint(true, CLI_RED), "\033[31m");
    assert_string_equal(cli_paint(true, CLI_PLAIN), "\033[0m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_kept),
        cmocka_unit_test(nothing_is_painted_without_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
