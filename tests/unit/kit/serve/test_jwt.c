/*
 * test_jwt.c - a server told by flags whose tokens to take, and what it then answers.
 *
 * Which tokens are good is tests/unit/kit/auth's business; here it is whether the flags reach it:
 * the issuer, its keys in a file or at an address, whom tokens are for, what they must allow.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "key_server.h"
#include "mcp/clock.h"
#include "mcp/mcp.h"
#include "mint.h"
#include "rig.h"
#include "scratch.h"
#include "serve/serve.h"
#include "web_rig.h"

#define ISSUER "https://as.example"
#define AUDIENCE "https://host.example/mcp"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define WORDS_MAX 24

/* ---- the server ------------------------------------------------------------------------------ */

static const cli_option options[] = { SERVE_OPTIONS("http", "3000", "warning"), { 0 } };

static const char own_data[] = "own";

/* The server's own tokens begin with "own-"; "own-old" is one no more. */
static mcp_status verify_own(mcp_principal *out, const char *token, mcp_arena *memory, void *data,
                             mcp_error *err)
{
    (void)memory;
    assert_ptr_equal(data, own_data);
    if (strncmp(token, "own-", 4) != 0)
        return MCP_E_NOT_FOUND;
    if (strcmp(token, "own-old") == 0)
        return mcp_error_set(err, MCP_E_DENIED, "the token was revoked");
    *out = (mcp_principal){ "local:bob", "", 0 };
    return MCP_OK;
}

/* Takes JWTs of one workspace alone. */
static mcp_status read_claims(mcp_principal *out, const mcp_json *claims, mcp_arena *memory,
                              void *data, mcp_error *err)
{
    const char *workspace = mcp_json_get_string(claims, "scope");

    (void)memory;
    assert_ptr_equal(data, own_data);
    if (!workspace || strcmp(workspace, "w-1") != 0)
        return mcp_error_set(err, MCP_E_DENIED, "the token is of another workspace");
    out->name = "w-1";
    return MCP_OK;
}

static bool has_own; /* the server verifies tokens itself */

static mcp_status open_own(serve_setup *setup, void *data, mcp_error *err)
{
    (void)err;
    setup->jwt.read_claims = read_claims;
    setup->jwt.data = data;
    return MCP_OK;
}

static const char *const metrics_variables[] = { "TEST_METRICS_TOKEN", NULL };
static const serve_server plain = { .options = { .name = "test", .version = "1" },
                                    .metrics_variables = metrics_variables };
static const serve_server own = { .options = { .name = "test", .version = "1" },
                                  .open = open_own,
                                  .verify = verify_own };

static int serve(const cli_line *line, void *data)
{
    (void)data;
    return serve_run(has_own ? &own : &plain, line, (char *)own_data);
}

static const cli_command commands[] = {
    { .name = "", .summary = "serves", .options = options, .run = serve },
    { 0 },
};
static const cli_program program = {
    .name = "test", .version = "1", .summary = "serves", .commands = commands
};

static struct {
    pthread_t thread;
    char *argv[WORDS_MAX + 1];
    int argc;
    FILE *err;
    int said; /* what it says there */
    int status;
    int port;
} served;

static mcp_arena *arena;
static scratch folder;
static EVP_PKEY *key;
static web_answer answer;

static void *run(void *data)
{
    (void)data;
    served.status = cli_main(&program, served.argc, served.argv, served.err, served.err, NULL);
    fclose(served.err);
    return NULL;
}

/* The words are the arena's. Returns once it says where it serves. */
static void start(const char *words)
{
    char *rest = mcp_arena_printf(arena, "test --port 0 --sessions off %s", words);
    char said[300] = "";
    int ends[2];

    served.argc = 0;
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " ")) {
        assert_true(served.argc < WORDS_MAX);
        served.argv[served.argc++] = word;
    }
    served.argv[served.argc] = NULL;
    assert_int_equal(pipe(ends), 0);
    served.said = ends[0];
    served.err = fdopen(ends[1], "w");
    assert_non_null(served.err);
    assert_int_equal(pthread_create(&served.thread, NULL, run, NULL), 0);
    for (size_t length = 0; !strchr(said, '\n');) {
        ssize_t count = read(served.said, said + length, sizeof said - 1 - length);
        if (count <= 0)
            fail_msg("it does not serve: %s", said);
        length += (size_t)count;
    }
    served.port = 0;
    if (sscanf(said, "test: serving http://127.0.0.1:%d/mcp\n", &served.port) != 1)
        fail_msg("%s", said);
}

static void stop(void)
{
    kill(getpid(), SIGTERM);
    pthread_join(served.thread, NULL);
    close(served.said);
    assert_int_equal(served.status, 0);
}

/* ---- the issuer ------------------------------------------------------------------------------ */

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    key = mint_rsa(2048);
    scratch_open(&folder);
    const char *keys = mint_jwks(arena, mint_jwk(arena, key, ",\"kid\":\"k\""), NULL, NULL);
    scratch_write(&folder, "keys.json", keys, strlen(keys));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_close(&folder);
    EVP_PKEY_free(key);
    mcp_arena_free(arena);
    return 0;
}

static const char *token(const char *issuer, const char *audience, const char *scope)
{
    int64_t now_s = mcp_clock_wall_ms() / 1000;
    const char *claims = mcp_arena_printf(
        arena, "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"ann\",\"scope\":\"%s\",\"exp\":%lld}",
        issuer, audience, scope, (long long)now_s + 600);

    return mint_token(arena, key, "RS256", "{\"alg\":\"RS256\",\"kid\":\"k\"}", claims);
}

static void ping(const char *bearer, int status)
{
    char fields[4096] = "";

    if (bearer)
        (void)snprintf(fields, sizeof fields, "Authorization: Bearer %s\r\n", bearer);
    web_ask(&answer, served.port, "POST", "/mcp", fields, PING);
    if (answer.status != status)
        fail_msg("%d: %s %s", answer.status, answer.head, answer.body);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void tokens_are_the_issuers_and_for_us(void **state)
{
    (void)state;
    start(mcp_arena_printf(
        arena, "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE " --oauth-jwks %s",
        scratch_path(&folder, "keys.json")));
    ping(NULL, 401);
    ping(token(ISSUER, AUDIENCE, ""), 200);
    assert_string_equal(answer.body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    ping(token("https://other.example", AUDIENCE, ""), 401);
    ping(token(ISSUER, "https://other.example/mcp", ""), 401);
    ping("abc", 401);
    stop();
}

static void the_scope_is_asked_of_them_too(void **state)
{
    (void)state;
    start(mcp_arena_printf(arena,
                           "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE
                           " --scope cases --oauth-jwks %s",
                           scratch_path(&folder, "keys.json")));
    ping(token(ISSUER, AUDIENCE, "read cases"), 200);
    ping(token(ISSUER, AUDIENCE, "read case"), 403);
    assert_non_null(strstr(answer.head, "error=\"insufficient_scope\""));
    stop();
}

/* RFC 9728: who has no token learns where one is to be had. */
static void clients_are_notified_of_the_issuer(void **state)
{
    (void)state;
    start(mcp_arena_printf(
        arena, "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE " --oauth-jwks %s",
        scratch_path(&folder, "keys.json")));
    web_ask(&answer, served.port, "GET", "/.well-known/oauth-protected-resource/mcp", NULL, NULL);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"resource\":\"" AUDIENCE "\""));
    assert_non_null(strstr(answer.body, "\"authorization_servers\":[\"" ISSUER "\"]"));
    stop();
}

static void keys_may_be_at_an_address(void **state)
{
    key_server *keys = key_server_start(NULL, NULL);

    (void)state;
    key_server_answer(keys, "200 OK",
                      mint_jwks(arena, mint_jwk(arena, key, ",\"kid\":\"k\""), NULL, NULL));
    start(mcp_arena_printf(
        arena, "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE " --oauth-jwks %s",
        key_server_url(keys)));
    ping(token(ISSUER, AUDIENCE, ""), 200);
    assert_int_equal(key_server_requests(keys), 1);
    stop();
    key_server_end(keys);
}

/* A file of tokens and an issuer at once: either is good. */
static void a_file_of_tokens_may_be_used_next_to_it(void **state)
{
    static const char line[] =
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ann\n"; /* abc */

    (void)state;
    scratch_write(&folder, "tokens", line, sizeof(line) - 1);
    assert_int_equal(chmod(scratch_path(&folder, "tokens"), 0600), 0); /* else it is warned of */
    start(mcp_arena_printf(arena,
                           "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE
                           " --tokens %s --oauth-jwks %s",
                           scratch_path(&folder, "tokens"), scratch_path(&folder, "keys.json")));
    ping("abc", 200);
    ping(token(ISSUER, AUDIENCE, ""), 200);
    ping("abd", 401);
    stop();
}

/* Without a flag for tokens too; a token that it does not know may be a JWT. */
static void a_server_may_verify_its_own_tokens(void **state)
{
    (void)state;
    has_own = true;
    start("--health");
    ping("own-1", 200);
    ping("own-old", 401);
    assert_non_null(strstr(answer.head, "the token was revoked"));
    ping("other", 401);
    assert_non_null(strstr(answer.head, "the token is unknown"));
    ping(NULL, 401);
    stop();
    start(mcp_arena_printf(
        arena, "--oauth-issuer " ISSUER " --oauth-audience " AUDIENCE " --oauth-jwks %s",
        scratch_path(&folder, "keys.json")));
    ping("own-1", 200);
    ping(token(ISSUER, AUDIENCE, "w-1"), 200);
    ping(token(ISSUER, AUDIENCE, "w-2"), 401);
    assert_non_null(strstr(answer.head, "the token is of another workspace"));
    ping("other", 401);
    stop();
    has_own = false;
}

/* The metrics have a token of their own, from a variable. */
static void metrics_may_require_a_token(void **state)
{
    (void)state;
    setenv("TEST_METRICS_TOKEN", "0123456789abcdef", 1);
    start("--metrics");
    web_ask(&answer, served.port, "GET", "/metrics", NULL, NULL);
    assert_int_equal(answer.status, 401);
    web_ask(&answer, served.port, "GET", "/metrics", "Authorization: Bearer 0123456789abcdef\r\n",
            NULL);
    assert_int_equal(answer.status, 200);
    ping(NULL, 200); /* it opens and closes nothing else */
    stop();
    unsetenv("TEST_METRICS_TOKEN");
}

/* A port that is free now: the audience is known before it is listened on. */
static int free_port(void)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&name, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    close(fd);
    return ntohs(name.sin_port);
}

/* Without --oauth-audience tokens are for the address that is served. */
static void the_audience_is_our_address_at_first(void **state)
{
    int port = free_port();

    (void)state;
    start(mcp_arena_printf(arena, "--port %d --oauth-issuer " ISSUER " --oauth-jwks %s", port,
                           scratch_path(&folder, "keys.json")));
    assert_int_equal(served.port, port);
    ping(token(ISSUER, mcp_arena_printf(arena, "http://127.0.0.1:%d/mcp", port), ""), 200);
    ping(token(ISSUER, AUDIENCE, ""), 401);
    stop();
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(tokens_are_the_issuers_and_for_us),       EACH(the_scope_is_asked_of_them_too),
        EACH(clients_are_notified_of_the_issuer),      EACH(keys_may_be_at_an_address),
        EACH(a_server_may_verify_its_own_tokens),      EACH(metrics_may_require_a_token),
        EACH(a_file_of_tokens_may_be_used_next_to_it), EACH(the_audience_is_our_address_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
