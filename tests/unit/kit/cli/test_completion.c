/*
 * test_completion.c - what the word under the cursor may be, and the scripts that ask for it.
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

static int run(const cli_line *line, void *data)
{
    (void)line;
    (void)data;
    return 0;
}

/* A shell would obey these, part them, or take them for options. */
static const char *const unsafe[] = { "a\tb", "a\nb", "a b",    "$(id)",    "`id`", "a;id",
                                      "a|id", "a&b",  "a>b",    "a'b",      "a\"b", "a\\b",
                                      "~",    "a*",   "a?",     "{a,b}",    "[a]",  "#a",
                                      "!a",   "-a",   "--fast", "a\x1b[2J", NULL };

/* Offers what it was given: the option `db` and the arguments before. */
static void complete_id(const cli_line *line, size_t index, cli_words *words)
{
    if (index == 0)
        cli_offer(words, cli_string(line, "db"), "the id\nand more");
    else
        cli_offer(words, cli_argument(line, 0), NULL);
    for (const char *const *one = unsafe; *one; one++)
        cli_offer(words, *one, "no word");
    if (index == 2)
        cli_offer_files(words, false);
}

static const char *const colors[] = { "red", "green", NULL };
static const cli_option options[] = {
    { .name = "color", .type = CLI_CHOICE, .argument = "NAME", .choices = colors, .help = "of it" },
    { .name = "db", .type = CLI_STRING, .argument = "URL", .standard = "one", .help = "where" },
    { .name = "file", .letter = 'f', .type = CLI_STRING, .argument = "FILE|-", .help = "what" },
    { .name = "folder", .type = CLI_STRING, .argument = "DIR", .many = true },
    { .name = "fast", .type = CLI_FLAG, .help = "do it fast" },
    { .name = "secret", .type = CLI_FLAG, .hidden = true },
    { 0 },
};
static const cli_option shared[] = { { .name = "json", .type = CLI_FLAG, .help = "as JSON" },
                                     { 0 } };
static const cli_command commands[] = {
    { .name = "paint",
      .arguments = "INPUT [DIR...]",
      .arguments_max = 9,
      .summary = "paints",
      .options = options,
      .run = run },
    { .name = "show",
      .arguments = "ID",
      .arguments_max = 3,
      .options = options,
      .complete = complete_id,
      .run = run },
    { .name = "set", .arguments = "left|right", .arguments_max = 1, .summary = "sets", .run = run },
    { .name = "set color", .summary = "sets the color", .run = run },
    { .name = "keys list", .summary = "lists", .run = run },
    { .name = "keys make", .summary = "makes", .run = run },
    CLI_COMPLETION_COMMAND,
    { 0 },
};
static const cli_program program = {
    .name = "prog-x", .version = "1", .summary = "s", .options = shared, .commands = commands
};
static const cli_command alone[] = {
    { .name = "", .arguments = "[DIR...]", .arguments_max = 9, .options = options, .run = run },
    { .name = "check", .summary = "checks", .run = run },
    CLI_COMPLETION_COMMAND,
    { 0 },
};
static const cli_program nameless = {
    .name = "alone", .version = "1", .summary = "s", .options = shared, .commands = alone
};

static char *text;

static const char *output(const cli_program *which, const char *const *words, int expected)
{
    char *argv[24] = { (char *)"prog-x" };
    int argc = 1;
    size_t length;

    free(text);
    FILE *out = open_memstream(&text, &length);
    while (*words)
        argv[argc++] = (char *)*words++;
    assert_int_equal(cli_main(which, argc, argv, out, out, NULL), expected);
    fclose(out);
    return text;
}

#define COMPLETE(which_, ...)                                                                      \
    output(which_, (const char *const[]){ "completion", "words", "--", __VA_ARGS__, NULL }, 0)

static int tear_down(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static void commands_are_offered_once(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, ""),
                        "paint\tpaints\nshow\nset\tsets\nkeys\ncompletion\t"
                        "print the completion of this program for a shell\n");
    assert_string_equal(COMPLETE(&program, "se"), "set\tsets\n");
    assert_string_equal(COMPLETE(&program, "keys", ""), "list\tlists\nmake\tmakes\n");
    assert_string_equal(COMPLETE(&program, "keys", "m"), "make\tmakes\n");
    assert_string_equal(COMPLETE(&program, "--json", "keys", "m"), "make\tmakes\n");
    assert_string_equal(COMPLETE(&program, "nothing", "se"), "set\tsets\n");
}

/* A command that is the first word of others. */
static void second_words_stand_with_arguments(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, "set", ""), "color\tsets the color\nleft\nright\n");
    assert_string_equal(COMPLETE(&program, "set", "r"), "right\n");
    assert_string_equal(COMPLETE(&program, "set", "left", ""), "");
    assert_string_equal(COMPLETE(&program, "set", "--", ""), "left\nright\n");
}

static void a_nameless_command_has_words_too(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&nameless, "ch"), "check\tchecks\n:dirs\n");
    assert_string_equal(COMPLETE(&nameless, "--fast", "ch"), ":dirs\n");
    assert_string_equal(COMPLETE(&nameless, "check", "--j"), "--json\tas JSON\n");
    assert_string_equal(COMPLETE(&nameless, "--co"), "--color\tof it\n");
}

static void options_are_those_of_the_command_and_the_program(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, "paint", "--"),
                        "--color\tof it\n--db\twhere\n--file\twhat\n--folder\n"
                        "--fast\tdo it fast\n--json\tas JSON\n--help\tshow this help\n"
                        "--version\tshow the version\n");
    assert_string_equal(COMPLETE(&program, "--j"), "--json\tas JSON\n");
    assert_non_null(strstr(COMPLETE(&program, "paint", "-"), "--fast\tdo it fast\n--json"));
    /* Those that are given are not offered again, but for those of many values. */
    assert_string_equal(COMPLETE(&program, "paint", "--fast", "--folder", "a", "-f", "b", "--f"),
                        "--folder\n");
    assert_string_equal(COMPLETE(&program, "paint", "--", "--f"), ":files\n");
    assert_string_equal(COMPLETE(&program, "paint", "--help", "--f"), "");
}

static void values_are_choices_or_files(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, "paint", "--color", ""), "red\ngreen\n");
    assert_string_equal(COMPLETE(&program, "paint", "--color", "g"), "green\n");
    assert_string_equal(COMPLETE(&program, "paint", "--color="), "--color=red\n--color=green\n");
    assert_string_equal(COMPLETE(&program, "paint", "--color=r"), "--color=red\n");
    assert_string_equal(COMPLETE(&program, "paint", "--fast=t"), "--fast=true\n");
    assert_string_equal(COMPLETE(&program, "paint", "--file", ""), ":files\n");
    assert_string_equal(COMPLETE(&program, "paint", "-f", ""), ":files\n");
    assert_string_equal(COMPLETE(&program, "paint", "--folder=x"), ":dirs\n");
    assert_string_equal(COMPLETE(&program, "paint", "--db", ""), "");
    assert_string_equal(COMPLETE(&program, "paint", "--none", ""), ":files\n");
    assert_string_equal(COMPLETE(&program, "paint", "--none=x"), "");
}

static void arguments_go_by_their_name(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, "paint", ""), ":files\n");
    assert_string_equal(COMPLETE(&program, "paint", "a", ""), ":dirs\n");
    assert_string_equal(COMPLETE(&program, "paint", "a", "b", "c", ""), ":dirs\n");
    /* What the placeholder of a host is, is the host's. */
    assert_string_equal(COMPLETE(&program, "paint", "${a}", ""), ":dirs\n");
}

static void a_command_may_offer_its_own(void **state)
{
    (void)state;
    assert_string_equal(COMPLETE(&program, "show", ""), "one\tthe id\n");
    assert_string_equal(COMPLETE(&program, "show", "--db=two", ""), "two\tthe id\n");
    assert_string_equal(COMPLETE(&program, "show", "--color", "blue", "--db", "two", "t"),
                        "two\tthe id\n");
    assert_string_equal(COMPLETE(&program, "show", "x", ""), "x\n");
    assert_string_equal(COMPLETE(&program, "show", "größe", ""), "größe\n");
    assert_string_equal(COMPLETE(&program, "show", "x", "y", "x"), "x\n:files\n");
}

static void scripts_have_the_name(void **state)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        output(&program, (const char *const[]){ "completion", shells[i], NULL }, 0);
        assert_non_null(strstr(text, "completion of prog-x"));
        assert_non_null(strstr(text, "completion words -- "));
        assert_null(strpbrk(text, "\v\f"));
    }
    output(&program, (const char *const[]){ "completion", "csh", NULL }, CLI_USAGE);
    assert_non_null(strstr(text, "bash, zsh or fish, not 'csh'"));
    output(&program, (const char *const[]){ "completion", NULL }, CLI_USAGE);
    assert_string_equal(output(&program, (const char *const[]){ "completion", "words", NULL }, 0),
                        "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_offered_once),
        cmocka_unit_test(second_words_stand_with_arguments),
        cmocka_unit_test(a_nameless_command_has_words_too),
        cmocka_unit_test(options_are_those_of_the_command_and_the_program),
        cmocka_unit_test(values_are_choices_or_files),
        cmocka_unit_test(arguments_go_by_their_name),
        cmocka_unit_test(a_command_may_offer_its_own),
        cmocka_unit_test(scripts_have_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
