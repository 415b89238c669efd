/*
 * test_fetch.c - one GET, against servers that do not mean well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auth/fetch.h"
#include "key_server.h"
#include "mcp/clock.h"
#include "mint.h"
#include "scratch.h"

enum { BODY_MAX = 64 };

struct world {
    key_server *server;
    mcp_buf body;
    mcp_error err;
};

static int set_up(void **state)
{
    static struct world world;

    world.server = key_server_start(NULL, NULL);
    mcp_buf_init(&world.body, BODY_MAX);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    key_server_end(world->server);
    mcp_buf_clear(&world->body);
    return 0;
}

static mcp_status fetch(struct world *world)
{
    return auth_fetch(&world->body, key_server_url(world->server), NULL, &world->err);
}

static void an_answer_is_fetched(void **state)
{
    struct world *world = *state;

    key_server_answer(world->server, "200 OK", "the body");
    assert_int_equal(fetch(world), MCP_OK);
    assert_string_equal(world->body.data, "the body");
}

static void other_statuses_are_failures(void **state)
{
    static const char *const statuses[] = { "500 No", "404 No", "204 No Content", "401 No",
                                            "203 So" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        mcp_buf_reset(&world->body);
        key_server_answer(world->server, statuses[i], "");
        assert_int_equal(fetch(world), MCP_E_IO);
        assert_memory_equal(strstr(world->err.message, "status ") + 7, statuses[i], 3);
    }
}

static void a_redirect_is_not_followed(void **state)
{
    struct world *world = *state;
    char head[200] = "302 Found\r\nLocation: ";

    memcpy(head + strlen(head), key_server_url(world->server),
           strlen(key_server_url(world->server)) + 1);
    key_server_answer(world->server, head, "");
    assert_int_equal(fetch(world), MCP_E_IO);
    assert_string_equal(world->err.message, "the keys' address answers with status 302");
    assert_int_equal(key_server_requests(world->server), 1);
}

static void a_body_is_bounded(void **state)
{
    struct world *world = *state;
    char body[BODY_MAX + 2];

    memset(body, 'x', sizeof body);
    body[BODY_MAX] = '\0';
    key_server_answer(world->server, "200 OK", body);
    assert_int_equal(fetch(world), MCP_OK);
    assert_int_equal(world->body.length, BODY_MAX);
    mcp_buf_reset(&world->body);
    body[BODY_MAX] = 'x';
    body[BODY_MAX + 1] = '\0';
    key_server_answer(world->server, "200 OK", body);
    assert_int_equal(fetch(world), MCP_E_LIMIT);
}

static void what_says_it_is_compressed_is_not_unpacked(void **state)
{
    struct world *world = *state;

    key_server_answer(world->server, "200 OK\r\nContent-Encoding: gzip", "as it came");
    assert_int_equal(fetch(world), MCP_OK);
    assert_string_equal(world->body.data, "as it came");
}

static void a_slow_server_is_given_up(void **state)
{
    struct world *world = *state;
    int64_t began_ms = mcp_clock_mono_ms();

    key_server_hold(world->server);
    assert_int_equal(fetch(world), MCP_E_TIMEOUT);
    assert_true(mcp_clock_mono_ms() - began_ms >= AUTH_FETCH_TIMEOUT_MS - 100);
}

static void no_server_is_a_failure(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = mcp_arena_new(0);
    const char *url = mcp_arena_strdup(arena, key_server_url(world->server));

    key_server_end(world->server);
    assert_int_equal(auth_fetch(&world->body, url, NULL, &world->err), MCP_E_IO);
    world->server = key_server_start(NULL, NULL);
    mcp_arena_free(arena);
}

static void a_proxy_is_not_asked_about_this_machine(void **state)
{
    struct world *world = *state;

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    key_server_answer(world->server, "200 OK", "direct");
    assert_int_equal(fetch(world), MCP_OK);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
}

static void a_certificate_must_be_trusted(void **state)
{
    struct world *world = *state;
    EVP_PKEY *key = mint_ec("P-256");
    scratch folder;

    scratch_open(&folder);
    const char *certificate = scratch_path(&folder, "certificate.pem");
    key_server *server = key_server_start(certificate, key);
    setenv("NO_PROXY", "127.0.0.1", 1);
    key_server_answer(server, "200 OK", "sealed");
    assert_int_equal(auth_fetch(&world->body, key_server_url(server), NULL, &world->err), MCP_E_IO);
    assert_int_equal(key_server_requests(server), 0);
    assert_int_equal(auth_fetch(&world->body, key_server_url(server), certificate, &world->err),
                     MCP_OK);
    assert_string_equal(world->body.data, "sealed");
    key_server_end(server);
    scratch_close(&folder);
    EVP_PKEY_free(key);
}

static void only_https_is_taken(void **state)
{
    static const char *const good[] = {
        "https://as.example/jwks.json", "HTTPS://as.example/keys?a=b", "https://127.0.0.1:8443/",
        "http://127.0.0.1:8080/keys",   "http://[::1]/keys",           "http://localhost:1/keys",
    };
    static const char *const bad[] = {
        "",
        "as.example/keys",
        "http://as.example/keys",
        "http://127.0.0.1.evil.example/keys",
        "http://127.0.0.2/keys",
        "http://localhost.evil.example/",
        "https://",
        "https://ann:secret@as.example/keys",
        "https://ann@as.example/keys",
        "file:///etc/passwd",
        "ftp://as.example/keys",
        "gopher://127.0.0.1:70/",
        "https//as.example",
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(auth_fetch_check(good[i], NULL), MCP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(auth_fetch_check(bad[i], NULL), MCP_E_PARAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_is_fetched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_statuses_are_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_redirect_is_not_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_says_it_is_compressed_is_not_unpacked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slow_server_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_server_is_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_proxy_is_not_asked_about_this_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_certificate_must_be_trusted, set_up, tear_down),
        cmocka_unit_test(only_https_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
