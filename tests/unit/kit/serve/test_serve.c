/*
 * test_serve.c - the order in which a server starts and stops, what its flags become, and its exit
 * status.
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
#include <signal.h>
#include <unistd.h>

#include "scratch.h"
#include "serve/serve.h"

#define WORDS_MAX 16

/* What the server's functions have seen. */
static struct {
    char order[100];
    mcp_status open_fails, start_fails;
    serve_setup setup; /* as `open` received it */
    char said[1000];
} seen;

static void note(const char *step)
{
    strcat(seen.order, step);
}

static mcp_status open_all(serve_setup *setup, void *data, mcp_error *err)
{
    note("open ");
    assert_ptr_equal(data, &seen);
    assert_ptr_equal(setup->options.data, data);
    assert_ptr_equal(setup->features.data, data);
    assert_ptr_equal(setup->http.routes_data, data);
    seen.setup = *setup;
    return seen.open_fails ? mcp_error_set(err, seen.open_fails, "open fails") : MCP_OK;
}

static mcp_status start(mcp_server *server, const serve_setup *setup, void *data, mcp_error *err)
{
    note("start ");
    assert_non_null(server);
    assert_string_equal(setup->options.name, "test");
    assert_ptr_equal(data, &seen);
    return seen.start_fails ? mcp_error_set(err, seen.start_fails, "start fails") : MCP_OK;
}

static void stop(void *data)
{
    assert_ptr_equal(data, &seen);
    note("stop ");
}

static void close_all(void *data)
{
    assert_ptr_equal(data, &seen);
    note("close");
}

static int serve(const cli_line *line, void *data)
{
    static const serve_server server = { .options = { .name = "test", .version = "1" },
                                         .open = open_all,
                                         .start = start,
                                         .stop = stop,
                                         .close = close_all };

    (void)data;
    return serve_run(&server, line, &seen);
}

static const cli_option options[] = { SERVE_OPTIONS("stdio", "3000", "warning"),
                                      SERVE_OPTION_ALLOW_WRITE("write"),
                                      SERVE_OPTION_ALLOWED_DIRS,
                                      { 0 } };
static const cli_command commands[] = {
    { .name = "",
      SERVE_ARGUMENTS_DIRS,
      .summary = "serves",
      .options = options,
      .env_prefix = "SERVE_TEST_",
      .run = serve },
    { 0 },
};
static const cli_program program = {
    .name = "test", .version = "1", .summary = "serves", .commands = commands
};

/* Serves on standard input that has ended. The words are split at blanks. */
static int play(const char *words)
{
    char *text = strdup(words), *rest = text;
    char name[] = "test";
    char *argv[WORDS_MAX + 2] = { name };
    int argc = 1, earlier = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
    FILE *err = fmemopen(seen.said, sizeof seen.said, "w");

    assert_non_null(text);
    assert_true(earlier >= 0 && null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO);
    for (char *word = strsep(&rest, " "); word && argc <= WORDS_MAX; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    seen.order[0] = '\0';
    int status = cli_main(&program, argc, argv, err, err, NULL);
    dup2(earlier, STDIN_FILENO);
    close(earlier);
    close(null);
    fclose(err);
    free(text);
    return status;
}

static int set_up(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    return 0;
}

static void parts_stop_in_the_opposite_order(void **state)
{
    (void)state;
    assert_int_equal(play(""), SERVE_EXIT_DONE);
    assert_string_equal(seen.order, "open start stop close");
    assert_string_equal(seen.said, "");
}

static void what_failed_is_closed_too(void **state)
{
    (void)state;
    seen.open_fails = MCP_E_IO;
    assert_int_equal(play(""), SERVE_EXIT_FILES);
    assert_string_equal(seen.order, "open close");
    assert_string_equal(seen.said, "error: open fails\n");
    seen.open_fails = MCP_OK;
    seen.start_fails = MCP_E_NOMEM;
    assert_int_equal(play(""), SERVE_EXIT_INTERNAL);
    assert_string_equal(seen.order, "open start stop close");
    assert_string_equal(seen.said, "error: start fails\n");
}

static void wrong_flags_end_it_before_anything_is_opened(void **state)
{
    (void)state;
    assert_int_equal(play("--metrics"), SERVE_EXIT_FILES);
    assert_string_equal(seen.order, "");
    assert_string_equal(seen.said, "error: --metrics is for --transport http\n");
    assert_int_equal(play("--log-file /nonexistent/log"), SERVE_EXIT_FILES);
    assert_int_equal(play("--allowed-dirs /nonexistent"), SERVE_EXIT_FILES);
    assert_int_equal(play("--allowed-dirs ,"), SERVE_EXIT_FILES);
    assert_string_equal(seen.order, "");
}

static void flags_become_options(void **state)
{
    (void)state;
    assert_int_equal(play(""), SERVE_EXIT_DONE);
    assert_false(seen.setup.options.allow_write);
    assert_false(seen.setup.options.strict_version);
    assert_int_equal(seen.setup.options.oldest, mcp_revision_find(NULL));
    assert_int_equal(seen.setup.options.tool_names, MCP_NAMES_CANONICAL);
    assert_int_equal(seen.setup.options.log.level, MCP_LOG_WARNING);
    assert_int_equal(play("--allow-write --strict-version --revision 2025-06-18 --tool-names safe "
                          "--log-level trace"),
                     SERVE_EXIT_DONE);
    assert_true(seen.setup.options.allow_write);
    assert_true(seen.setup.options.strict_version);
    assert_int_equal(seen.setup.options.oldest, mcp_revision_find("2025-06-18"));
    assert_int_equal(seen.setup.options.newest, mcp_revision_find("2025-06-18"));
    assert_int_equal(seen.setup.options.tool_names, MCP_NAMES_SAFE);
    assert_int_equal(seen.setup.options.log.level, MCP_LOG_DEBUG);
    assert_int_equal(play("--tool-names auto"), SERVE_EXIT_DONE);
    assert_int_equal(seen.setup.options.tool_names, MCP_NAMES_AUTO);
}

/* The choices of --revision are exactly the revisions that the library knows. */
static void every_revision_can_be_pinned(void **state)
{
    size_t count = 0;

    (void)state;
    for (; serve_revisions[count]; count++) {
        mcp_revision revision = mcp_revision_find(serve_revisions[count]);
        assert_int_not_equal(revision, mcp_revision_find(NULL));
        assert_string_equal(mcp_revision_name(revision), serve_revisions[count]);
    }
    assert_string_equal(mcp_revision_name(MCP_REVISION_NEWEST), serve_revisions[count - 1]);
}

/* Commas separate directories of the flag, colons those of the variable. */
static void directories_come_from_the_flag_or_the_variable(void **state)
{
    scratch folder;
    char words[2000];

    (void)state;
    scratch_open(&folder);
    snprintf(words, sizeof words, "--allowed-dirs %s,/", scratch_path(&folder, ""));
    assert_int_equal(play(words), SERVE_EXIT_DONE);
    snprintf(words, sizeof words, "--allowed-dirs %s:/", scratch_path(&folder, ""));
    assert_int_equal(play(words), SERVE_EXIT_FILES);
    snprintf(words, sizeof words, "%s:/", scratch_path(&folder, ""));
    setenv("SERVE_TEST_ALLOWED_DIRS", words, 1);
    assert_int_equal(play(""), SERVE_EXIT_DONE);
    setenv("SERVE_TEST_ALLOWED_DIRS", "/nonexistent", 1);
    assert_int_equal(play(""), SERVE_EXIT_FILES);
    unsetenv("SERVE_TEST_ALLOWED_DIRS");
    scratch_close(&folder);
}

/* The arguments are directories too, together with the flag; the variable counts without both. */
static void directories_are_arguments(void **state)
{
    scratch folder;
    char words[2000];

    (void)state;
    scratch_open(&folder);
    snprintf(words, sizeof words, "%s /", scratch_path(&folder, ""));
    assert_int_equal(play(words), SERVE_EXIT_DONE);
    setenv("SERVE_TEST_ALLOWED_DIRS", "/nonexistent", 1);
    assert_int_equal(play(words), SERVE_EXIT_DONE);
    assert_int_equal(play("/ --allowed-dirs /tmp"), SERVE_EXIT_DONE);
    unsetenv("SERVE_TEST_ALLOWED_DIRS");
    assert_int_equal(play("/nonexistent"), SERVE_EXIT_FILES);
    assert_non_null(strstr(seen.said, "/nonexistent"));
    assert_int_equal(play("/ --allowed-dirs /nonexistent"), SERVE_EXIT_FILES);
    assert_int_equal(play("/nonexistent --allowed-dirs /"), SERVE_EXIT_FILES);
    scratch_close(&folder);
}

static void statuses_have_exit_statuses(void **state)
{
    (void)state;
    assert_int_equal(serve_exit_status(MCP_OK), 0);
    assert_int_equal(serve_exit_status(MCP_E_PARSE), 1);
    assert_int_equal(serve_exit_status(MCP_E_NOT_FOUND), 2);
    assert_int_equal(serve_exit_status(MCP_E_STORAGE), 2);
    assert_int_equal(serve_exit_status(MCP_E_NOMEM), 4);
    assert_int_equal(serve_exit_status(MCP_E_STOPPED), 4);
}

/* Last: the count of signals is the process's. */
static void signals_are_counted(void **state)
{
    (void)state;
    serve_count_signals(2, SA_RESTART);
    assert_int_equal(serve_signals(), 0);
    raise(SIGTERM);
    assert_int_equal(serve_signals(), 1);
    assert_int_equal(serve_exit_status(MCP_E_STOPPED), 128 + SIGTERM);
    raise(SIGINT);
    assert_int_equal(serve_signals(), 2);
    assert_int_equal(serve_signal_status(), 128 + SIGTERM);
    assert_true(signal(SIGINT, SIG_DFL) == SIG_DFL); /* the third ends the program */
    assert_true(signal(SIGTERM, SIG_DFL) == SIG_DFL);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup(test, set_up)
    const struct CMUnitTest tests[] = {
        EACH(parts_stop_in_the_opposite_order),
        EACH(what_failed_is_closed_too),
        EACH(wrong_flags_end_it_before_anything_is_opened),
        EACH(flags_become_options),
        EACH(every_revision_can_be_pinned),
        EACH(directories_come_from_the_flag_or_the_variable),
        EACH(directories_are_arguments),
        EACH(statuses_have_exit_statuses),
        EACH(signals_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
