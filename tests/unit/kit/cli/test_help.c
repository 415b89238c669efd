/*
 * test_help.c - the texts of --help, and which name is hinted at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/cli_int.h"

static char *text;

static int run(const cli_line *line, void *data)
{
    (void)line;
    (void)data;
    return 0;
}

/* The help of a command, or with NULL of the program. */
static const char *help_of(const cli_program *program, const char *command)
{
    char *words[4] = { (char *)"prog" };
    int count = 1;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (command)
        words[count++] = (char *)command;
    words[count++] = (char *)"--help";
    assert_int_equal(cli_main(program, count, words, out, out, NULL), 0);
    fclose(out);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    return setenv("COLUMNS", "60", 1);
}

static int tear_down(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return unsetenv("COLUMNS");
}

static const char *const colors[] = { "red", "green", NULL };
static const cli_option paint_options[] = {
    { .name = "color",
      .type = CLI_CHOICE,
      .argument = "NAME",
      .choices = colors,
      .standard = "red",
      .env = "PAINT_COLOR",
      .help = "which one" },
    { .name = "a-name-that-is-longer-than-the-column",
      .type = CLI_STRING,
      .argument = "WORD",
      .help = "stands on a line of its own" },
    { .name = "coats",
      .type = CLI_INT,
      .argument = "N",
      .env = "PAINT_COATS",
      .help = "how often" },
    { .name = "dry", .type = CLI_FLAG, .help = "only tell" },
    { .name = "in-secret", .type = CLI_FLAG, .hidden = true, .help = "not in the help" },
    { 0 },
};
static const cli_option shared_options[] = {
    { .name = "verbose", .type = CLI_FLAG, .help = "tell more" },
    { 0 },
};
static const cli_command commands[] = {
    { .name = "paint",
      .arguments = "WALL",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "put paint on a wall",
      .notes = "Open a window first.",
      .options = paint_options,
      .run = run },
    { .name = "go", .summary = "leave", .run = run },
    { 0 },
};
static const cli_program program = {
    .name = "prog",
    .version = "1",
    .summary = "Paints.",
    .notes = "Colours are named in English.",
    .options = shared_options,
    .commands = commands,
};

static void a_program_tells_of_its_commands(void **state)
{
    (void)state;
    assert_string_equal(help_of(&program, NULL),
                        "Usage: prog [OPTIONS] COMMAND\n"
                        "\n"
                        "Paints.\n"
                        "\n"
                        "Commands:\n"
                        "  paint  put paint on a wall\n"
                        "  go     leave\n"
                        "\n"
                        "'prog COMMAND --help' tells more about a command.\n"
                        "\n"
                        "Options:\n"
                        "  --verbose  tell more\n"
                        "  --help     show this help (also -h)\n"
                        "  --version  show the version\n"
                        "\n"
                        "Colours are named in English.\n");
}

/* Its own options first; what is too long for the column has its text below it. */
static void a_command_tells_of_its_options(void **state)
{
    (void)state;
    assert_string_equal(help_of(&program, "paint"),
                        "Usage: prog paint [OPTIONS] WALL\n"
                        "\n"
                        "put paint on a wall\n"
                        "\n"
                        "Options:\n"
                        "  --color NAME  which one (red|green; default red;\n"
                        "                environment PAINT_COLOR)\n"
                        "  --a-name-that-is-longer-than-the-column WORD\n"
                        "                stands on a line of its own\n"
                        "  --coats N     how often (environment PAINT_COATS)\n"
                        "  --dry         only tell\n"
                        "  --verbose     tell more\n"
                        "  --help        show this help (also -h)\n"
                        "  --version     show the version\n"
                        "\n"
                        "Open a window first.\n");
}

static void a_command_without_arguments_and_options_tells_of_the_common_ones(void **state)
{
    (void)state;
    assert_string_equal(help_of(&program, "go"), "Usage: prog go [OPTIONS]\n"
                                                 "\n"
                                                 "leave\n"
                                                 "\n"
                                                 "Options:\n"
                                                 "  --verbose  tell more\n"
                                                 "  --help     show this help (also -h)\n"
                                                 "  --version  show the version\n");
}

/* What --version means there is said once, and as it is. */
static void an_own_version_stands_for_the_programs(void **state)
{
    static const cli_option own[] = {
        { .name = "version", .type = CLI_INT, .argument = "N", .help = "which state" }, { 0 }
    };
    static const cli_command show[] = {
        { .name = "show", .summary = "show a state", .options = own, .run = run }, { 0 }
    };
    static const cli_program other = {
        .name = "prog", .version = "1", .summary = "Shows.", .commands = show
    };

    (void)state;
    assert_string_equal(help_of(&other, "show"), "Usage: prog show [OPTIONS]\n"
                                                 "\n"
                                                 "show a state\n"
                                                 "\n"
                                                 "Options:\n"
                                                 "  --version N  which state\n"
                                                 "  --help       show this help (also -h)\n");
    free(text);
    assert_non_null(strstr(help_of(&other, NULL), "  --version  show the version\n"));
}

/* In a narrow window a text continues below itself; a word that does not fit is cut, so nothing
 * is lost. */
static void words_longer_than_the_window_are_cut(void **state)
{
    static const cli_option own[] = {
        { .name = "o",
          .type = CLI_FLAG,
          .help = "see 0123456789012345678901234567890123456789 there" },
        { 0 },
    };
    static const cli_command only[] = { { .name = "", .options = own, .run = run }, { 0 } };
    static const cli_program single = {
        .name = "prog", .version = "1", .summary = "One.", .notes = "End.", .commands = only
    };

    (void)state;
    (void)setenv("COLUMNS", "33", 1); /* 13 for the label, 20 for the text */
    assert_string_equal(help_of(&single, NULL), "Usage: prog [OPTIONS]\n"
                                                "\n"
                                                "One.\n"
                                                "\n"
                                                "Options:\n"
                                                "  --o        see\n"
                                                "             01234567890123456789\n"
                                                "             01234567890123456789\n"
                                                "             there\n"
                                                "  --help     show this help (also\n"
                                                "             -h)\n"
                                                "  --version  show the version\n"
                                                "\n"
                                                "End.\n");
}

/* ---- hints ----------------------------------------------------------------------------------- */

static const char *hint(const char *typed, const char *first, const char *second)
{
    const char *best = NULL;
    size_t distance = CLI_HINT_DISTANCE + 1;

    cli_nearer(&best, &distance, typed, first);
    cli_nearer(&best, &distance, typed, second);
    return best ? best : "";
}

static void the_nearest_name_is_hinted_at(void **state)
{
    (void)state;
    assert_string_equal(hint("threds", "threads", "thread"), "threads"); /* as near, but first */
    assert_string_equal(hint("thread", "threads", "thread"), "thread");
    assert_string_equal(hint("tehrads", "threads", "output"), "threads"); /* two letters changed */
    assert_string_equal(hint("outptu", "threads", "output"), "output");
    assert_string_equal(hint("otput", "threads", "output"), "output");
    assert_string_equal(hint("ouuutput", "threads", "output"), "output");
}

static void what_is_too_far_off_is_no_hint(void **state)
{
    char endless[200];

    (void)state;
    assert_string_equal(hint("tpt", "threads", "output"), ""); /* three letters are missing */
    assert_string_equal(hint("xy", "ab", "cd"), "");           /* nothing of the name is left */
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_string_equal(hint(endless, endless, "a"), "");
    assert_string_equal(hint("a", endless, "ab"), "ab");
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_program_tells_of_its_commands),
        EACH(a_command_tells_of_its_options),
        EACH(a_command_without_arguments_and_options_tells_of_the_common_ones),
        EACH(an_own_version_stands_for_the_programs),
        EACH(words_longer_than_the_window_are_cut),
        EACH(the_nearest_name_is_hinted_at),
        EACH(what_is_too_far_off_is_no_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
