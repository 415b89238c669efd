/*
 * test_cli.c - what command lines mean, and what is said about those that mean nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

struct seen {
    int runs;
    char text[400];
};

static int show(const cli_line *line, void *data)
{
    struct seen *seen = data;

    seen->runs++;
    snprintf(seen->text, sizeof seen->text,
             "case=%s n=%zu out=%s threads=%d json=%d mode=%s color=%s",
             cli_argument(line, 0) ? cli_argument(line, 0) : "-", cli_argument_count(line),
             cli_string(line, "output") ? cli_string(line, "output") : "-",
             (int)cli_int(line, "threads", -1), cli_flag(line, "json"),
             cli_string(line, "mode") ? cli_string(line, "mode") : "-", cli_string(line, "color"));
    assert_null(cli_argument(line, 99));
    assert_null(cli_string(line, "no-such-option"));
    fputs("ran\n", cli_out(line));
    return 7;
}

static const char *const modes[] = { "fast", "exact", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
static const cli_option run_options[] = {
    { .name = "output", .type = CLI_STRING, .argument = "DIR", .help = "where results go" },
    { .name = "threads",
      .type = CLI_INT,
      .argument = "N",
      .min = 1,
      .max = 64,
      .standard = "1",
      .env = "CLI_TEST_THREADS",
      .help = "worker threads" },
    { .name = "json", .type = CLI_FLAG, .env = "CLI_TEST_JSON", .help = "print one JSON object" },
    { .name = "mode", .type = CLI_CHOICE, .choices = modes, .standard = "fast", .help = "how" },
    { .name = "secret", .type = CLI_FLAG, .hidden = true },
    { 0 },
};
static const cli_option shared_options[] = {
    { .name = "color",
      .type = CLI_CHOICE,
      .argument = "WHEN",
      .choices = colors,
      .standard = "auto",
      .help = "when to colour" },
    { 0 },
};
static const cli_command commands[] = {
    { .name = "run",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "train and simulate",
      .options = run_options,
      .run = show,
      .notes = "More about runs." },
    { .name = "validate",
      .arguments = "CASE...",
      .arguments_min = 1,
      .arguments_max = 9,
      .summary = "check a case",
      .run = show },
    { 0 },
};
static const cli_program program = {
    .name = "prog",
    .version = "1.2.3",
    .summary = "Does things.",
    .options = shared_options,
    .commands = commands,
};

static struct seen seen;
static char *out_text, *err_text;

/* Run the program with words; its texts are in out_text and err_text. */
static int run_program(const cli_program *which, const char *const *words)
{
    char *argv[16] = { (char *)"prog" };
    int argc = 1;
    size_t length;

    free(out_text);
    free(err_text);
    FILE *out = open_memstream(&out_text, &length);
    FILE *err = open_memstream(&err_text, &length);
    memset(&seen, 0, sizeof seen);
    while (*words)
        argv[argc++] = (char *)*words++;
    int status = cli_main(which, argc, argv, out, err, &seen);
    fclose(out);
    fclose(err);
    return status;
}

#define RUN(...) run_program(&program, (const char *const[]){ __VA_ARGS__, NULL })

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("CLI_TEST_THREADS");
    unsetenv("CLI_TEST_JSON");
    return 0;
}

static int free_texts(void **state)
{
    (void)state;
    free(out_text);
    free(err_text);
    out_text = err_text = NULL;
    return 0;
}

static void options_stand_anywhere(void **state)
{
    static const char *const expected = "case=a n=1 out=d threads=3 json=1 mode=exact color=never";

    (void)state;
    assert_int_equal(RUN("run", "a", "--output", "d", "--threads=3", "--json", "--mode", "exact",
                         "--color=never"),
                     7);
    assert_string_equal(seen.text, expected);
    assert_string_equal(out_text, "ran\n");
    assert_int_equal(RUN("--color", "never", "run", "--mode=exact", "--json", "--threads", "3",
                         "--output=d", "a"),
                     7);
    assert_string_equal(seen.text, expected);
}

static void what_is_left_out_has_its_standard(void **state)
{
    (void)state;
    assert_int_equal(RUN("run", "a"), 7);
    assert_string_equal(seen.text, "case=a n=1 out=- threads=1 json=0 mode=fast color=auto");
    /* A command without these options has none of their standards. */
    assert_int_equal(RUN("validate", "a", "b"), 7);
    assert_string_equal(seen.text, "case=a n=2 out=- threads=-1 json=0 mode=- color=auto");
}

static void the_environment_stands_in(void **state)
{
    (void)state;
    setenv("CLI_TEST_THREADS", "8", 1);
    setenv("CLI_TEST_JSON", "1", 1);
    assert_int_equal(RUN("run", "a"), 7);
    assert_string_equal(seen.text, "case=a n=1 out=- threads=8 json=1 mode=fast color=auto");
    setenv("CLI_TEST_JSON", "false", 1);
    assert_int_equal(RUN("run", "a", "--threads", "2"), 7);
    assert_string_equal(seen.text, "case=a n=1 out=- threads=2 json=0 mode=fast color=auto");
    setenv("CLI_TEST_THREADS", "many", 1);
    assert_int_equal(RUN("run", "a"), CLI_USAGE);
    assert_non_null(strstr(err_text, "CLI_TEST_THREADS wants a whole number from 1 to 64"));
    assert_int_equal(RUN("run", "a", "--threads", "2"), 7);
    setenv("CLI_TEST_THREADS", "", 1);
    assert_int_equal(RUN("run", "a"), 7);
}

static void the_last_of_two_counts(void **state)
{
    (void)state;
    assert_int_equal(RUN("run", "a", "--threads", "2", "--threads", "5"), 7);
    assert_non_null(strstr(seen.text, "threads=5"));
}

static void two_dashes_end_options(void **state)
{
    (void)state;
    assert_int_equal(RUN("run", "--json", "--", "--threads"), 7);
    assert_non_null(strstr(seen.text, "case=--threads"));
    assert_int_equal(RUN("run", "-"), 7);
    assert_non_null(strstr(seen.text, "case=- "));
}

static void refused(int status, const char *words)
{
    assert_int_equal(status, CLI_USAGE);
    assert_int_equal(seen.runs, 0);
    if (!strstr(err_text, words))
        fail_msg("'%s' does not say '%s'", err_text, words);
    assert_string_equal(out_text, "");
}

/* Bundles and server.json give a checkbox as the words true and false. */
static void a_flag_takes_true_or_false(void **state)
{
    (void)state;
    assert_int_equal(RUN("run", "a", "--json=true"), 7);
    assert_non_null(strstr(seen.text, "json=1"));
    assert_int_equal(RUN("run", "a", "--json=false"), 7);
    assert_non_null(strstr(seen.text, "json=0"));
    setenv("CLI_TEST_JSON", "maybe", 1);
    refused(RUN("run", "a"), "the variable CLI_TEST_JSON wants true or false, not 'maybe'");
}

static const cli_command prefixed_commands[] = {
    { .name = "",
      .arguments = "[CASE]",
      .arguments_max = 1,
      .summary = "runs",
      .options = run_options,
      .env_prefix = "CLI_PREFIX_",
      .run = show },
    { 0 },
};
static const cli_program prefixed = {
    .name = "prog",
    .version = "1",
    .summary = "Has a variable for every option.",
    .options = shared_options,
    .commands = prefixed_commands,
};

static void every_option_has_a_variable_where_there_is_a_prefix(void **state)
{
    const char *const none[] = { NULL }, *const help[] = { "--help", NULL };

    (void)state;
    setenv("CLI_PREFIX_OUTPUT", "d", 1);
    setenv("CLI_PREFIX_MODE", "exact", 1);
    setenv("CLI_PREFIX_COLOR", "never", 1); /* of the program, not of the command */
    setenv("CLI_PREFIX_THREADS", "9", 1);   /* has a variable of its own */
    assert_int_equal(run_program(&prefixed, none), 7);
    assert_string_equal(seen.text, "case=- n=0 out=d threads=1 json=0 mode=exact color=auto");
    setenv("CLI_PREFIX_MODE", "slow", 1);
    refused(run_program(&prefixed, none),
            "the variable CLI_PREFIX_MODE wants fast or exact, not 'slow'");
    assert_int_equal(run_program(&prefixed, help), 0);
    assert_non_null(strstr(out_text, "environment CLI_PREFIX_OUTPUT"));
    assert_non_null(strstr(out_text, "environment CLI_TEST_THREADS"));
    assert_null(strstr(out_text, "CLI_PREFIX_COLOR"));
    assert_null(strstr(out_text, "CLI_PREFIX_HELP"));
    unsetenv("CLI_PREFIX_OUTPUT");
    unsetenv("CLI_PREFIX_MODE");
    unsetenv("CLI_PREFIX_COLOR");
    unsetenv("CLI_PREFIX_THREADS");
}

/* A host of MCP servers passes "${user_config.x}" unchanged where the user has not set x. */
static void placeholders_are_refused(void **state)
{
    (void)state;
    refused(RUN("run", "a", "--output=${user_config.dir}"),
            "--output: the host did not fill in ${user_config.dir}\n");
    refused(RUN("run", "a", "--output", "${HOME}/cases"),
            "--output: the host did not fill in ${HOME}\n");
    refused(RUN("run", "a", "--threads", "${n}"), "--threads: the host did not fill in ${n}\n");
    refused(RUN("run", "a", "--json=${json}"), "--json: the host did not fill in ${json}\n");
    refused(RUN("run", "${case}"), "prog: CASE: the host did not fill in ${case}\n");
    setenv("CLI_TEST_THREADS", "${threads}", 1);
    refused(RUN("run", "a"),
            "the variable CLI_TEST_THREADS: the host did not fill in ${threads}\n");
    unsetenv("CLI_TEST_THREADS");
    assert_int_equal(RUN("run", "a", "--output", "a${b"), 7);
}

/* The arguments of a command may be for another program, which fills them in. */
static void placeholders_may_be_taken(void **state)
{
    const cli_command taking[] = { { .name = "run",
                                     .arguments_max = 2,
                                     .options = run_options,
                                     .takes_placeholders = true,
                                     .run = show },
                                   { 0 } };
    const cli_program host = { .name = "prog",
                               .version = "1",
                               .summary = "s",
                               .options = shared_options,
                               .commands = taking };
    const char *const words[] = { "run", "--output=${a}", "${b}", NULL };

    (void)state;
    assert_int_equal(run_program(&host, words), 7);
    assert_string_equal(seen.text, "case=${b} n=1 out=${a} threads=1 json=0 mode=fast color=auto");
}

/* A command without a name may have others: the word right after the program's name is one of
 * them, or an argument. */
static void a_nameless_command_may_have_others(void **state)
{
    const cli_command several[] = {
        { .name = "",
          .arguments = "[DIR...]",
          .arguments_max = 3,
          .summary = "serves",
          .options = run_options,
          .run = show },
        { .name = "validate",
          .arguments = "CASE",
          .arguments_max = 1,
          .summary = "check",
          .run = show },
        { 0 },
    };
    const cli_program both = { .name = "prog",
                               .version = "1",
                               .summary = "s",
                               .options = shared_options,
                               .commands = several };

    (void)state;
    assert_int_equal(run_program(&both, (const char *const[]){ "a", "b", "--json", NULL }), 7);
    assert_string_equal(seen.text, "case=a n=2 out=- threads=1 json=1 mode=fast color=auto");
    assert_int_equal(run_program(&both, (const char *const[]){ "validate", "a", NULL }), 7);
    assert_string_equal(seen.text, "case=a n=1 out=- threads=-1 json=0 mode=- color=auto");
    refused(run_program(&both, (const char *const[]){ "validate", "a", "b", NULL }),
            "unexpected argument 'b'");
    assert_int_equal(run_program(&both, (const char *const[]){ "a", "validate", NULL }), 7);
    assert_int_equal(run_program(&both, (const char *const[]){ "--json", "validate", NULL }), 7);
    assert_string_equal(seen.text, "case=validate n=1 out=- threads=1 json=1 mode=fast color=auto");
    assert_int_equal(run_program(&both, (const char *const[]){ "--", "validate", NULL }), 7);
    assert_string_equal(seen.text, "case=validate n=1 out=- threads=1 json=0 mode=fast color=auto");
    assert_int_equal(run_program(&both, (const char *const[]){ "", NULL }), 7);
    assert_string_equal(seen.text, "case= n=1 out=- threads=1 json=0 mode=fast color=auto");
    assert_int_equal(run_program(&both, (const char *const[]){ "--help", NULL }), 0);
    assert_non_null(strstr(out_text, "Usage: prog [OPTIONS] [DIR...]"));
    assert_non_null(strstr(out_text, "Commands:\n  validate  check\n"));
    assert_int_equal(run_program(&both, (const char *const[]){ "validate", "--help", NULL }), 0);
    assert_non_null(strstr(out_text, "Usage: prog validate [OPTIONS] CASE"));
}

static void a_usage_record_answers_a_line_with_json(void **state)
{
    const char *const wrong[] = { "--json", "--wrong", NULL }, *const plain[] = { "--wrong", NULL };
    cli_program recorded = prefixed;

    (void)state;
    recorded.usage_record = "{\"kind\":\"Usage\"}";
    assert_int_equal(run_program(&recorded, wrong), CLI_USAGE);
    assert_string_equal(out_text, "{\"kind\":\"Usage\"}\n");
    refused(run_program(&recorded, plain), "unknown option '--wrong'");
    const char *const one[] = { "--output-format=json", "--wrong", NULL };
    const char *const two[] = { "--wrong", "--output-format", "json-lines", NULL };
    const char *const human[] = { "--output-format", "human", "--wrong", NULL };
    recorded.usage_envelope = "{\"success\":false}";
    assert_int_equal(run_program(&recorded, one), CLI_USAGE);
    assert_string_equal(out_text, "{\"success\":false}\n");
    assert_int_equal(run_program(&recorded, two), CLI_USAGE);
    assert_string_equal(out_text, "{\"success\":false}\n");
    refused(run_program(&recorded, human), "unknown option '--output-format'");
}

static void a_usage_record_may_have_the_reason(void **state)
{
    const char *const wrong[] = { "--json", "--wro\"ng", NULL };
    cli_program recorded = prefixed;

    (void)state;
    recorded.usage_record = "{\"message\":";
    recorded.usage_record_end = "}";
    assert_int_equal(run_program(&recorded, wrong), CLI_USAGE);
    assert_string_equal(out_text, "{\"message\":\"unknown option '--wro\\\"ng'\"}\n");
    assert_non_null(strstr(err_text, "unknown option '--wro\"ng'\nTry "));
}

static void wrong_lines_are_reported_with_a_hint(void **state)
{
    (void)state;
    refused(RUN("run", "a", "--thread", "2"),
            "unknown option '--thread'; did you mean '--threads'?");
    refused(RUN("run", "a", "--thread", "2"), "Try 'prog run --help'.");
    refused(RUN("run", "a", "--zzzz"), "unknown option '--zzzz'\n");
    refused(RUN("run", "a", "--secre"), "unknown option '--secre'\n");
    refused(RUN("run", "a", "-x"), "unknown option '-x'");
    refused(RUN("runn"), "unknown command 'runn'; did you mean 'run'?");
    refused(RUN("--threads", "2", "run", "a"), "unknown option '--threads'");
    refused(RUN("run"), "missing CASE");
    refused(RUN("run", "a", "b"), "unexpected argument 'b'");
    refused(RUN("run", "a", "--output"), "--output wants DIR");
    refused(RUN("run", "a", "--json=maybe"), "--json wants true or false, not 'maybe'");
    refused(RUN("run", "a", "--mode", "slow"), "--mode wants fast or exact, not 'slow'");
    refused(RUN("run", "a", "--color="), "--color wants auto, always or never, not ''");
    refused(run_program(&program, (const char *const[]){ NULL }), "Usage: prog [OPTIONS] COMMAND");
}

static const cli_command paired_commands[] = {
    { .name = "run", .arguments_max = 1, .summary = "train and simulate", .run = show },
    { .name = "schema export", .summary = "write schemas", .options = run_options, .run = show },
    { .name = "schema list", .summary = "name the schemas", .run = show },
    { 0 },
};
static const cli_program paired = {
    .name = "prog",
    .version = "1",
    .summary = "Has commands of two words.",
    .options = shared_options,
    .commands = paired_commands,
};

#define RUN_PAIRED(...) run_program(&paired, (const char *const[]){ __VA_ARGS__, NULL })

static void a_command_may_have_two_words(void **state)
{
    (void)state;
    assert_int_equal(RUN_PAIRED("schema", "export", "--output", "d"), 7);
    assert_string_equal(seen.text, "case=- n=0 out=d threads=1 json=0 mode=fast color=auto");
    assert_int_equal(RUN_PAIRED("--color=never", "schema", "list"), 7);
    assert_int_equal(RUN_PAIRED("schema", "export", "--help"), 0);
    assert_non_null(strstr(out_text, "Usage: prog schema export [OPTIONS]\n"));
    refused(RUN_PAIRED("schema"), "prog: incomplete command 'schema'\n\nCommands:\n"
                                  "  schema export  write schemas\n"
                                  "  schema list    name the schemas\n\n"
                                  "'prog schema COMMAND --help' tells more about a command.\n");
    assert_int_equal(RUN_PAIRED("schema", "--help"), 0);
    assert_non_null(strstr(out_text, "Usage: prog schema COMMAND [OPTIONS]\n\nCommands:\n"
                                     "  schema export  write schemas\n"));
    assert_null(strstr(out_text, "train and simulate"));
    assert_int_equal(RUN_PAIRED("--help"), 0);
    assert_non_null(strstr(out_text, "train and simulate"));
    refused(RUN_PAIRED("schema", "exprt"), "Try 'prog schema --help'.");
    refused(RUN_PAIRED("schema", "exprt"),
            "unknown command 'schema exprt'; did you mean 'schema export'?");
    refused(RUN_PAIRED("schema", "run", "a"), "unknown command 'schema run'\n");
    refused(RUN_PAIRED("export"), "unknown command 'export'\n");
    refused(RUN_PAIRED("schema", "--output", "d", "export"), "unknown option '--output'");
}

static const cli_command nested_commands[] = {
    { .name = "schema",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "show the schema",
      .options = run_options,
      .run = show },
    { .name = "schema diff", .arguments_max = 2, .summary = "compare", .run = show },
    { 0 },
};
static const cli_program nested = {
    .name = "prog",
    .version = "1",
    .summary = "Has a command that begins another.",
    .options = shared_options,
    .commands = nested_commands,
};

#define RUN_NESTED(...) run_program(&nested, (const char *const[]){ __VA_ARGS__, NULL })

static void a_command_may_be_the_first_word_of_others(void **state)
{
    (void)state;
    assert_int_equal(RUN_NESTED("schema", "a"), 7);
    assert_non_null(strstr(seen.text, "case=a n=1"));
    assert_int_equal(RUN_NESTED("schema", "diff", "a", "b"), 7);
    assert_non_null(strstr(seen.text, "case=a n=2"));
    assert_int_equal(RUN_NESTED("schema", "--color=never", "diff", "a", "b"), 7);
    assert_non_null(strstr(seen.text, "case=a n=2"));
    assert_int_equal(RUN_NESTED("schema", "--output", "d", "diff"), 7);
    assert_non_null(strstr(seen.text, "case=diff n=1 out=d"));
    assert_int_equal(RUN_NESTED("schema", "./diff"), 7);
    assert_non_null(strstr(seen.text, "case=./diff n=1"));
    refused(RUN_NESTED("schema", "a", "diff"), "unexpected argument 'diff'");
    assert_int_equal(RUN_NESTED("schema", "diff", "--help"), 0);
    assert_non_null(strstr(out_text, "Usage: prog schema diff [OPTIONS]"));
}

/* ---- letters, sizes, options that repeat ----------------------------------------------------- */

static int scan(const cli_line *line, void *data)
{
    struct seen *one = data;
    const char *items[4];

    one->runs++;
    for (size_t i = 0; i < 4; i++)
        items[i] = cli_item(line, "type", i) ? cli_item(line, "type", i) : "-";
    snprintf(one->text, sizeof one->text, "%s %s %s %s last=%s min=%lld deep=%d word=%s", items[0],
             items[1], items[2], items[3],
             cli_string(line, "type") ? cli_string(line, "type") : "-",
             (long long)cli_int(line, "min-size", -1), cli_flag(line, "deep"),
             cli_argument(line, 0) ? cli_argument(line, 0) : "-");
    return 7;
}

static const cli_option scan_options[] = {
    { .name = "type",
      .type = CLI_STRING,
      .argument = "EXT",
      .letter = 't',
      .many = true,
      .env = "CLI_TEST_TYPE",
      .help = "which files" },
    { .name = "min-size",
      .type = CLI_SIZE,
      .argument = "SIZE",
      .max = INT64_C(4) << 30,
      .help = "how large" },
    { .name = "deep", .type = CLI_FLAG, .letter = 'd' },
    { 0 },
};
static const cli_command scan_commands[] = {
    { .name = "", .arguments = "PATH", .arguments_max = 1, .options = scan_options, .run = scan },
    { 0 },
};
static const cli_program scanner = {
    .name = "prog", .version = "1", .summary = "Scans.", .commands = scan_commands
};

#define SCAN(...) run_program(&scanner, (const char *const[]){ __VA_ARGS__, NULL })

static void scanned(int status, const char *text)
{
    assert_int_equal(status, 7);
    assert_string_equal(seen.text, text);
}

static void an_option_may_have_a_letter(void **state)
{
    (void)state;
    scanned(SCAN("-d", "-t", "csv", "p"), "csv - - - last=csv min=-1 deep=1 word=p");
    scanned(SCAN("-tcsv"), "csv - - - last=csv min=-1 deep=0 word=-");
    scanned(SCAN("--", "-d"), "- - - - last=- min=-1 deep=0 word=-d");
    refused(SCAN("-t"), "--type wants EXT");
    refused(SCAN("-dt"), "unknown option '-dt'");
    refused(SCAN("-x"), "unknown option '-x'");
    assert_int_equal(SCAN("--help"), 0);
    assert_non_null(strstr(out_text, "  -t, --type EXT"));
    assert_non_null(strstr(out_text, "  -d, --deep"));
}

static void an_option_may_be_given_several_times(void **state)
{
    (void)state;
    scanned(SCAN("-t", "a", "--type=b", "p", "--type", "c"), "a b c - last=c min=-1 deep=0 word=p");
    setenv("CLI_TEST_TYPE", "x,y", 1);
    scanned(SCAN("-t", "a"), "a - - - last=a min=-1 deep=0 word=-");
    scanned(SCAN("p"), "x,y - - - last=x,y min=-1 deep=0 word=p");
    unsetenv("CLI_TEST_TYPE");
}

static void sizes_have_units(void **state)
{
    static const char *const wrong[] = { "",
                                         "K",
                                         "-1",
                                         "1k",
                                         "1KB",
                                         "1.5M",
                                         "5G",
                                         "0x1",
                                         " 1K",
                                         "1T",
                                         "9223372036854775807K",
                                         "4294967297" };

    (void)state;
    scanned(SCAN("--min-size", "512"), "- - - - last=- min=512 deep=0 word=-");
    scanned(SCAN("--min-size", "64K"), "- - - - last=- min=65536 deep=0 word=-");
    scanned(SCAN("--min-size", "10M"), "- - - - last=- min=10485760 deep=0 word=-");
    scanned(SCAN("--min-size", "4G"), "- - - - last=- min=4294967296 deep=0 word=-");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(SCAN("--min-size", wrong[i]),
                "--min-size wants a size such as 512, 64K, 10M or 2G from 0 to 4294967296");
}

static void numbers_are_whole_and_within_bounds(void **state)
{
    static const char *const wrong[] = { "0",  "65",  "", "2x", "1.5", " 2", "99999999999999999999",
                                         "-1", "0x10" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(RUN("run", "a", "--threads", wrong[i]),
                "--threads wants a whole number from 1 to 64, not '");
    assert_int_equal(RUN("run", "a", "--threads", "64"), 7);
}

static void a_name_without_end_is_cut(void **state)
{
    char name[400] = "--";

    (void)state;
    memset(name + 2, 'x', 300);
    refused(RUN("run", "a", name), "unknown option '--xxx");
    assert_true(strlen(err_text) < 200);
}

static void help_is_made_from_the_tables(void **state)
{
    (void)state;
    assert_int_equal(RUN("--help"), 0);
    assert_non_null(strstr(out_text, "Usage: prog [OPTIONS] COMMAND\n\nDoes things.\n"));
    assert_non_null(strstr(out_text, "  validate  check a case\n"));
    assert_non_null(
        strstr(out_text, "  --color WHEN  when to colour (auto|always|never; default auto)\n"));
    assert_int_equal(RUN("run", "-h"), 0);
    assert_non_null(strstr(out_text, "Usage: prog run [OPTIONS] CASE\n\ntrain and simulate\n"));
    assert_non_null(strstr(
        out_text, "  --threads N   worker threads (default 1; environment CLI_TEST_THREADS)\n"));
    assert_non_null(strstr(out_text, "\nMore about runs.\n"));
    assert_null(strstr(out_text, "secret"));
    assert_string_equal(err_text, "");
    assert_int_equal(seen.runs, 0);
    assert_int_equal(RUN("run", "--version"), 0);
    assert_string_equal(out_text, "prog 1.2.3\n");
}

/* Help continues below itself where the window ends, at a blank or in front of an alternative. */
static void long_help_hangs(void **state)
{
    (void)state;
    setenv("COLUMNS", "40", 1);
    assert_int_equal(RUN("--help"), 0);
    assert_non_null(strstr(out_text, "  --color WHEN  when to colour (auto\n"
                                     "                |always|never; default\n"
                                     "                auto)\n"));
    setenv("COLUMNS", "5", 1);
    assert_int_equal(RUN("--help"), 0);
    assert_non_null(strstr(out_text, "  --color WHEN  when to colour (auto\n"
                                     "                |always|never;\n"
                                     "                default auto)\n"));
    unsetenv("COLUMNS");
}

static void a_program_may_have_one_nameless_command(void **state)
{
    static const cli_command only[] = {
        { .name = "",
          .arguments = "[CASE]",
          .arguments_max = 1,
          .options = run_options,
          .run = show },
        { 0 },
    };
    static const cli_program single = {
        .name = "prog",
        .version = "1",
        .summary = "One thing.",
        .options = shared_options,
        .commands = only,
    };

    (void)state;
    assert_int_equal(run_program(&single, (const char *const[]){ "a", "--json", NULL }), 7);
    assert_non_null(strstr(seen.text, "case=a n=1"));
    assert_int_equal(run_program(&single, (const char *const[]){ NULL }), 7);
    assert_int_equal(run_program(&single, (const char *const[]){ "--help", NULL }), 0);
    assert_non_null(strstr(out_text, "Usage: prog [OPTIONS] [CASE]\n\nOne thing.\n"));
    assert_null(strstr(out_text, "Commands:"));
}

/* Another name is as good, and a command's own --version wins over the program's. */
static void options_have_other_names(void **state)
{
    static const cli_option own[] = {
        { .name = "output",
          .alias = "out",
          .type = CLI_STRING,
          .argument = "DIR",
          .help = "where" },
        { .name = "version", .type = CLI_INT, .argument = "N", .help = "which" },
        { 0 },
    };
    static const cli_command with_version[] = {
        { .name = "run", .arguments = "CASE", .arguments_max = 1, .options = own, .run = show },
        { 0 },
    };
    static const cli_program other = {
        .name = "prog", .version = "1", .summary = "One thing.", .commands = with_version
    };

    (void)state;
    assert_int_equal(run_program(&other, (const char *const[]){ "run", "a", "--out", "d", NULL }),
                     7);
    assert_non_null(strstr(seen.text, "case=a n=1 out=d "));
    assert_int_equal(
        run_program(&other, (const char *const[]){ "run", "a", "--version", "3", NULL }), 7);
    assert_int_equal(
        run_program(&other, (const char *const[]){ "run", "a", "--version", "x", NULL }),
        CLI_USAGE);
    assert_int_equal(run_program(&other, (const char *const[]){ "--version", NULL }), 0);
    assert_string_equal(out_text, "prog 1\n");
}

/* What a program opens must not become its standard output. */
static int open_something(const cli_line *line, void *data)
{
    int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
    char byte = 'x';

    (void)line;
    (void)data;
    if (fd <= STDERR_FILENO)
        return 1;
    return read(STDIN_FILENO, &byte, 1) < 0 && write(STDOUT_FILENO, &byte, 1) < 0 &&
                   write(STDERR_FILENO, &byte, 1) < 0
               ? 0
               : 2;
}

static void closed_descriptors_are_held(void **state)
{
    static const cli_command alone[] = { { .name = "", .run = open_something }, { 0 } };
    const cli_program opener = { .name = "opener", .version = "1", .commands = alone };
    char *words[] = { (char *)"opener", NULL };
    int status = -1;

    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            close(fd);
        _exit(cli_main(&opener, 1, words, stdout, stderr, NULL));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, clear_environment, free_texts)
    const struct CMUnitTest tests[] = {
        EACH(options_stand_anywhere),
        EACH(what_is_left_out_has_its_standard),
        EACH(the_environment_stands_in),
        EACH(a_flag_takes_true_or_false),
        EACH(every_option_has_a_variable_where_there_is_a_prefix),
        EACH(placeholders_are_refused),
        EACH(placeholders_may_be_taken),
        EACH(a_nameless_command_may_have_others),
        EACH(a_usage_record_answers_a_line_with_json),
        EACH(a_usage_record_may_have_the_reason),
        EACH(the_last_of_two_counts),
        EACH(two_dashes_end_options),
        EACH(wrong_lines_are_reported_with_a_hint),
        EACH(a_command_may_have_two_words),
        EACH(a_command_may_be_the_first_word_of_others),
        EACH(an_option_may_have_a_letter),
        EACH(an_option_may_be_given_several_times),
        EACH(sizes_have_units),
        EACH(numbers_are_whole_and_within_bounds),
        EACH(a_name_without_end_is_cut),
        EACH(help_is_made_from_the_tables),
        EACH(long_help_hangs),
        EACH(a_program_may_have_one_nameless_command),
        EACH(options_have_other_names),
        EACH(closed_descriptors_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
