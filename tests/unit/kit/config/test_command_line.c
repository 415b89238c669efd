/*
 * test_command_line.c - where the value of an option comes from: the line, the environment, the
 * file, the default, in this order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/command_line.h"
#include "oom.h"
#include "scratch.h"

static const char *const levels[] = { "info", "debug", NULL };

/* What the command saw. */
static char seen[300];

static int run(const cli_line *line, void *data)
{
    const config *file = config_of(line);

    (void)data;
    (void)snprintf(seen, sizeof seen, "%s %lld %s %s %s %s",
                   cli_string(line, "host") ? cli_string(line, "host") : "-",
                   (long long)cli_int(line, "port", -1), cli_flag(line, "open") ? "open" : "closed",
                   cli_string(line, "level"), cli_given(line, "port") ? "given" : "-",
                   file && config_string(file, "own.word") ? config_string(file, "own.word") : "-");
    return 0;
}

static const cli_option options[] = {
    { .name = "config", .type = CLI_STRING, .argument = "FILE", .env = "TEST_CONFIG" },
    { .name = "host", .key = "serve.host", .type = CLI_STRING, .argument = "A,B" },
    { .name = "port",
      .key = "serve.port",
      .type = CLI_INT,
      .argument = "N",
      .min = 1,
      .max = 99,
      .env = "TEST_PORT",
      .standard = "10" },
    { .name = "open", .key = "serve.open", .type = CLI_FLAG },
    { .name = "level",
      .key = "log.level",
      .type = CLI_CHOICE,
      .argument = "L",
      .standard = "info",
      .choices = levels },
    { 0 },
};
static const cli_option others[] = {
    { .name = "depth", .key = "other.depth", .type = CLI_INT, .argument = "N" },
    { .name = "port", .key = "serve.port", .type = CLI_INT, .argument = "N" },
    { 0 },
};
static const cli_command commands[] = {
    { .name = "serve", .summary = "serves", .options = options, .run = run },
    { .name = "other", .summary = "has no file", .options = others, .run = run },
    { 0 },
};
static const config_key keys[] = { { .name = "own.word", .type = CONFIG_STRING }, { 0 } };
static const config_file file = CONFIG_FILE(keys, 0);
static const cli_program program = {
    .name = "test", .version = "1", .summary = "tests", .commands = commands, .file = &file.face
};

static scratch folder;
static char said[400];

static int begin(void **state)
{
    (void)state;
    scratch_open(&folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_close(&folder);
    return 0;
}

/* Run "serve" with a file of that text, NULL for none, and further words. */
static int play(const char *text, const char *more)
{
    static char path[SCRATCH_PATH_MAX + 16];
    char words[200], name[] = "test", command[] = "serve";
    char *argv[16] = { name, command };
    int argc = 2;
    FILE *err = fmemopen(said, sizeof said, "w");

    assert_non_null(err);
    seen[0] = '\0';
    if (text) {
        static char flag[] = "--config";
        scratch_write(&folder, "t.toml", text, strlen(text));
        (void)snprintf(path, sizeof path, "%s", scratch_path(&folder, "t.toml"));
        argv[argc++] = flag;
        argv[argc++] = path;
    }
    (void)snprintf(words, sizeof words, "%s", more);
    char *rest = words;
    for (char *word = strsep(&rest, " "); word && argc < 16; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    int status = cli_main(&program, argc, argv, err, err, NULL);
    fclose(err);
    return status;
}

static void assert_seen(const char *text, const char *more, const char *expected)
{
    if (play(text, more) != 0)
        fail_msg("%s", said);
    assert_string_equal(seen, expected);
}

#define ALL                                                                                        \
    "[serve]\nhost = ['a', 'b']\nport = 20\nopen = true\n[log]\nlevel = 'debug'\n[own]\n"          \
    "word = 'w'\n[other]\ndepth = 3\n"

static void the_file_has_what_line_and_environment_lack(void **state)
{
    (void)state;
    assert_seen(NULL, "", "- 10 closed info - -");
    assert_seen("", "", "- 10 closed info - -");
    assert_seen(ALL, "", "a,b 20 open debug - w");
    setenv("TEST_PORT", "30", 1);
    assert_seen(ALL, "", "a,b 30 open debug - w");
    assert_seen(ALL, "--port 40 --open=false --level info", "a,b 40 closed info given w");
    unsetenv("TEST_PORT");
    assert_seen("serve.host = 'x'\n", "--port 5", "x 5 closed info given -");
}

static void assert_refused(const char *text, const char *words)
{
    assert_int_equal(play(text, ""), CLI_USAGE);
    assert_string_equal(seen, "");
    if (!strstr(said, words))
        fail_msg("%s", said);
}

/* Also where the line has the value: the file is wrong. */
static void wrong_values_name_their_place(void **state)
{
    (void)state;
    assert_refused("[serve]\nport = 100\n",
                   "t.toml:2:1: serve.port wants a whole number from 1 to 99, not '100'");
    assert_refused("[log]\nlevel = 'loud'\n",
                   "t.toml:2:1: log.level wants info or debug, not 'loud'");
    assert_refused("[serve]\nport = 'x'\n", "t.toml:2:1: serve.port: wants a whole number");
    assert_refused("[serve]\npotr = 1\n", "serve.potr: unknown key; did you mean serve.port?");
    assert_refused("[serve]\nhost = ['a,b']\n", "serve.host: an item must not contain a comma");
    assert_refused("[serve\n", "t.toml:1:");
    assert_int_equal(play("[serve]\nport = 'x'\n", "--port 3"), CLI_USAGE);
}

static void the_file_that_is_named_must_exist(void **state)
{
    (void)state;
    setenv("TEST_CONFIG", "/nonexistent/t.toml", 1);
    assert_int_equal(play(NULL, ""), CLI_USAGE);
    assert_non_null(strstr(said, "/nonexistent/t.toml"));
    unsetenv("TEST_CONFIG");
}

static mcp_status open_once(void *data)
{
    void *opened = NULL;
    mcp_status st = config_file_open(&opened, &file.face, &program, data, true, NULL);

    config_file_close(st == MCP_OK ? opened : NULL);
    return st;
}

static void want_of_memory_is_reported(void **state)
{
    char path[SCRATCH_PATH_MAX + 16];

    (void)state;
    assert_true(oom_has_new);
    scratch_write(&folder, "t.toml", ALL, sizeof ALL - 1);
    (void)snprintf(path, sizeof path, "%s", scratch_path(&folder, "t.toml"));
    oom_walk(open_once, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_has_what_line_and_environment_lack),
        cmocka_unit_test(wrong_values_name_their_place),
        cmocka_unit_test(the_file_that_is_named_must_exist),
        cmocka_unit_test(want_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
