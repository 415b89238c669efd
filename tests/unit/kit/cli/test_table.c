/*
 * test_table.c - columns that line up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/table.h"

static const cli_table_column columns[] = { { "name", false }, { "MW", true }, { "note", false } };
static const char *const cells[] = {
    "Paran\xC3\xA1", "1.5", "upstream", "a longer name", NULL, "",
};

static void expect(size_t rows, bool color, const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    cli_table_print(stream, columns, 3, cells, rows, color);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void columns_line_up(void **state)
{
    (void)state;
    expect(2, false,
           "name            MW  note\n"
           "Paran\xC3\xA1         1.5  upstream\n"
           "a longer name    -\n");
    expect(0, false, "name  MW  note\n");
    expect(0, true, "\033[1mname  MW  note\033[0m\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(columns_line_up) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
