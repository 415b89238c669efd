/*
 * test_listen.c - which lines of flags a server takes, and what is said about the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "listen/listen.h"
#include "mcp/mcp.h"

#define WORDS_MAX 16

/* What came of a line. */
struct outcome {
    bool wants_http;
    bool serves; /* not only checked */
    mcp_status status;
    mcp_error err;
};

static const listen_service service = { .name = "test" };

static mcp_status serve(const cli_line *line, mcp_error *err)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_server *server = NULL;

    options.name = "test";
    options.version = "1";
    mcp_status st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = listen_serve(server, line, &service, err);
    mcp_server_free(server);
    return st;
}

static int look(const cli_line *line, void *data)
{
    struct outcome *outcome = data;

    outcome->wants_http = listen_wants_http(line);
    outcome->status = outcome->serves ? serve(line, &outcome->err)
                                      : listen_check(line, &service, &outcome->err);
    return 0;
}

static const cli_option options[] = { LISTEN_OPTIONS("stdio", "3000"), { 0 } };
static const cli_command commands[] = {
    { .name = "", .summary = "tests flags", .options = options, .run = look },
    { 0 },
};
static const cli_program program = {
    .name = "test", .version = "1", .summary = "tests flags", .commands = commands
};

/* The words are split at blanks. */
static int play(struct outcome *outcome, const char *words)
{
    char *text = strdup(words);
    char name[] = "test";
    char *argv[WORDS_MAX + 2] = { name };
    char *rest = text;
    int argc = 1;
    FILE *quiet = fopen("/dev/null", "w");

    assert_non_null(text);
    assert_non_null(quiet);
    for (char *word = strsep(&rest, " "); word && argc <= WORDS_MAX; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    int status = cli_main(&program, argc, argv, quiet, quiet, outcome);
    fclose(quiet);
    free(text);
    return status;
}

static struct outcome checked(const char *words)
{
    struct outcome outcome = { .err = MCP_ERROR_INIT };

    assert_int_equal(play(&outcome, words), 0);
    return outcome;
}

static void assert_refused(const char *words, mcp_status status, const char *message)
{
    struct outcome outcome = checked(words);

    assert_int_equal(outcome.status, status);
    assert_string_equal(outcome.err.message, message);
}

static void assert_taken(const char *words)
{
    struct outcome outcome = checked(words);

    assert_int_equal(outcome.status, MCP_OK);
}

static void stdio_is_what_holds_without_a_flag(void **state)
{
    (void)state;
    assert_false(checked("").wants_http);
    assert_true(checked("--transport http").wants_http);
}

static void flags_for_http_are_refused_without_it(void **state)
{
    (void)state;
    assert_refused("--tokens t", MCP_E_PARAMS, "--tokens is for --transport http");
    assert_refused("--port 3000", MCP_E_PARAMS, "--port is for --transport http");
    assert_refused("--metrics", MCP_E_PARAMS, "--metrics is for --transport http");
    assert_taken("--transport stdio");
}

static void flags_that_go_together_are_asked_for(void **state)
{
    (void)state;
    assert_refused("--transport http --tls-cert c", MCP_E_PARAMS, "--tls-cert needs --tls-key");
    assert_refused("--transport http --tls-key k", MCP_E_PARAMS, "--tls-key needs --tls-cert");
    assert_refused("--transport http --oauth-jwks k", MCP_E_PARAMS,
                   "--oauth-jwks needs --oauth-issuer");
    assert_refused("--transport http --oauth-audience a", MCP_E_PARAMS,
                   "--oauth-audience needs --oauth-jwks");
    assert_refused("--transport http --scope a", MCP_E_PARAMS,
                   "--scope needs --tokens or --oauth-jwks");
    assert_refused("--transport http --port 0 --oauth-jwks k --oauth-issuer i", MCP_E_PARAMS,
                   "--oauth-jwks needs --oauth-audience where the port is not known");
    assert_taken("--transport http --oauth-jwks k --oauth-issuer i --scope a");
}

static void an_open_address_asks_who_may_come_in(void **state)
{
    static const char message[] =
        "others can reach 0.0.0.0: say who may come in by --tokens FILE or --oauth-jwks, or let "
        "everybody in by --insecure-no-auth";

    (void)state;
    assert_refused("--transport http --host 0.0.0.0", MCP_E_DENIED, message);
    assert_refused("--transport http --tokens t --insecure-no-auth", MCP_E_PARAMS,
                   "--insecure-no-auth contradicts --tokens and --oauth-jwks");
    assert_taken("--transport http --host 0.0.0.0 --insecure-no-auth");
    assert_taken("--transport http --host 0.0.0.0 --tokens t");
    assert_taken("--transport http --host ::1");
    assert_taken("--transport http --host localhost");
    assert_taken("--transport http --unix s");
    assert_int_equal(checked("--transport http --unix s --host 192.0.2.1").status, MCP_E_DENIED);
}

static void names_are_bounded(void **state)
{
    char words[64 + LISTEN_NAMES_MAX * 2] = "--transport http --allow-host ";
    size_t length = strlen(words);

    (void)state;
    for (int i = 0; i < LISTEN_NAMES_MAX; i++)
        length += (size_t)snprintf(words + length, sizeof words - length, i ? ",a" : "a");
    assert_taken(words);
    snprintf(words + length, sizeof words - length, ",a");
    assert_refused(words, MCP_E_PARAMS, "--allow-host has more than 64 names");
    snprintf(words + length, sizeof words - length, ",,"); /* no further name */
    assert_taken(words);
}

static void a_port_that_cannot_be_is_refused(void **state)
{
    struct outcome outcome = { .err = MCP_ERROR_INIT };

    (void)state;
    assert_int_equal(play(&outcome, "--transport http --port 65536"), CLI_USAGE);
    assert_int_equal(play(&outcome, "--transport http --port -1"), CLI_USAGE);
    assert_int_equal(play(&outcome, "--transport carrier-pigeon"), CLI_USAGE);
}

/* What only serving finds out: nothing is listened on afterwards, nothing is left behind. */
static void files_that_are_not_there_end_the_server(void **state)
{
    struct outcome outcome = { .serves = true, .err = MCP_ERROR_INIT };

    (void)state;
    assert_int_equal(play(&outcome, "--transport http --port 0 --tokens /nonexistent/tokens"), 0);
    assert_int_equal(outcome.status, MCP_E_NOT_FOUND);
    assert_non_null(strstr(outcome.err.message, "/nonexistent/tokens"));
    outcome.err = (mcp_error)MCP_ERROR_INIT;
    assert_int_equal(play(&outcome, "--transport http --port 1 --oauth-jwks /nonexistent/keys "
                                    "--oauth-issuer https://as.example"),
                     0);
    assert_int_equal(outcome.status, MCP_E_NOT_FOUND);
    outcome.err = (mcp_error)MCP_ERROR_INIT;
    assert_int_equal(play(&outcome, "--transport http --port 0 --tls-cert /nonexistent/cert "
                                    "--tls-key /nonexistent/key"),
                     0);
    assert_int_not_equal(outcome.status, MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stdio_is_what_holds_without_a_flag),
        cmocka_unit_test(flags_for_http_are_refused_without_it),
        cmocka_unit_test(flags_that_go_together_are_asked_for),
        cmocka_unit_test(an_open_address_asks_who_may_come_in),
        cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(a_port_that_cannot_be_is_refused),
        cmocka_unit_test(files_that_are_not_there_end_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
