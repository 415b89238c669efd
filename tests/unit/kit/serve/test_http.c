/*
 * test_http.c - which lines of flags a server takes, and what is said about the others.
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

#include "mcp/mcp.h"
#include "serve/http.h"

#define WORDS_MAX 16

/* What came of a line. */
struct outcome {
    bool wants_http;
    bool serves; /* not only checked */
    serve_systemd systemd;
    mcp_status status;
    mcp_error err;
    char said[400]; /* on the error stream */
};

static serve_server server = { .options = { .name = "test", .version = "1" } };

static int look(const cli_line *line, void *data)
{
    struct outcome *outcome = data;

    if (outcome->serves)
        return serve_run(&server, line, NULL);
    outcome->wants_http = serve_wants_http(line);
    outcome->status = serve_http_check(&server, line, &outcome->systemd, &outcome->err);
    return 0;
}

static const cli_option options[] = { SERVE_OPTIONS("stdio", "3000", "warning"), { 0 } };
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
    FILE *err = fmemopen(outcome->said, sizeof outcome->said, "w");

    assert_non_null(text);
    assert_non_null(err);
    for (char *word = strsep(&rest, " "); word && argc <= WORDS_MAX; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    int status = cli_main(&program, argc, argv, err, err, outcome);
    fclose(err);
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
        "others can reach 0.0.0.0: this requires --tokens FILE or --oauth-jwks or, to serve "
        "everybody, --insecure-no-auth";

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

static mcp_status verify_own(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                             mcp_error *err)
{
    (void)out;
    (void)token;
    (void)arena;
    (void)data;
    return mcp_error_set(err, MCP_E_DENIED, "no token is good");
}

static void a_server_with_tokens_of_its_own_may_be_reached(void **state)
{
    (void)state;
    server.verify = verify_own;
    assert_taken("--transport http --host 0.0.0.0");
    assert_taken("--transport http --scope a");
    assert_refused("--transport http --insecure-no-auth", MCP_E_PARAMS,
                   "--insecure-no-auth: this server requires a token of every client");
    server.verify = NULL;
}

static void a_token_of_metrics_that_can_be_guessed_is_refused(void **state)
{
    static const char *const variables[] = { "TEST_METRICS_TOKEN", NULL };

    (void)state;
    server.metrics_variables = variables;
    setenv("TEST_METRICS_TOKEN", "short", 1);
    assert_int_equal(checked("--transport http --metrics").status, MCP_E_PARAMS);
    unsetenv("TEST_METRICS_TOKEN");
    server.metrics_variables = NULL;
}

static void names_are_bounded(void **state)
{
    char words[64 + SERVE_NAMES_MAX * 2] = "--transport http --allow-host ";
    size_t length = strlen(words);

    (void)state;
    for (int i = 0; i < SERVE_NAMES_MAX; i++)
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

static void assert_ends(const char *words, int exit_status, const char *said)
{
    struct outcome outcome = { .serves = true };

    assert_int_equal(play(&outcome, words), exit_status);
    if (!strstr(outcome.said, said))
        fail_msg("%s: %s", words, outcome.said);
}

/* Errors that only serving finds: nothing is listened on afterwards, and nothing leaks. */
static void files_that_are_not_there_end_the_server(void **state)
{
    (void)state;
    assert_ends("--transport http --port 0 --tokens /nonexistent/tokens", SERVE_EXIT_FILES,
                "/nonexistent/tokens");
    assert_ends("--transport http --port 1 --oauth-jwks /nonexistent/keys --oauth-issuer "
                "https://as.example",
                SERVE_EXIT_FILES, "/nonexistent/keys");
    assert_ends("--transport http --port 0 --tls-cert /nonexistent/cert --tls-key /nonexistent/key",
                SERVE_EXIT_FILES, "/nonexistent/cert");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stdio_is_what_holds_without_a_flag),
        cmocka_unit_test(flags_for_http_are_refused_without_it),
        cmocka_unit_test(flags_that_go_together_are_asked_for),
        cmocka_unit_test(an_open_address_asks_who_may_come_in),
        cmocka_unit_test(a_server_with_tokens_of_its_own_may_be_reached),
        cmocka_unit_test(a_token_of_metrics_that_can_be_guessed_is_refused),
        cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(a_port_that_cannot_be_is_refused),
        cmocka_unit_test(files_that_are_not_there_end_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
