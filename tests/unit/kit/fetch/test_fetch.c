/*
 * test_fetch.c - requests to servers that answer well, badly, slowly, or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fetch/fetch.h"
#include "http_peer.h"
#include "key_server.h"
#include "mcp/clock.h"
#include "mint.h"
#include "oom.h"
#include "scratch.h"

enum { LONG_MS = 60000 };

static const char *const loopback[] = { "127.0.0.0/8" };

struct world {
    http_peer *peer;
    fetch *pool;
    fetch_result result;
    mcp_error err;
    char url[128];
    char text[128];
    atomic_int calls;
};

/* ---- the server ------------------------------------------------------------------------------ */

static bool has_path(const http_peer_request *request, const char *path)
{
    const char *at = strchr(request->head, ' ');

    return at && strncmp(at + 1, path, strlen(path)) == 0;
}

static bool endless(int fd, const char *head, const char *piece)
{
    bool sent = http_peer_send(fd, head);

    while (sent)
        sent = http_peer_send(fd, piece);
    return false;
}

static bool answer(void *data, http_peer *self, int fd, const http_peer_request *request)
{
    char field[300];

    (void)data;
    if (has_path(request, "/echo")) {
        char head[400];
        snprintf(head, sizeof head, "200 OK\r\nX-Seen: %s\r\nX-Method: %.*s",
                 http_peer_field(request, "X-Sent", field, sizeof field),
                 (int)strcspn(request->head, " "), request->head);
        return http_peer_reply(fd, head, request->body);
    }
    if (has_path(request, "/head"))
        return http_peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    if (has_path(request, "/request"))
        return http_peer_reply(fd, "200 OK", request->head);
    if (has_path(request, "/redirect"))
        return http_peer_reply(fd, "302 Found\r\nLocation: http://169.254.169.254/latest", "");
    if (has_path(request, "/later"))
        return http_peer_reply(fd, "503 Later\r\nRetry-After: 7", "");
    if (has_path(request, "/by-date"))
        return http_peer_reply(fd, "429 Later\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT", "");
    if (has_path(request, "/trailer"))
        return http_peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "2\r\nhi\r\n0\r\nX-Late: trailer\r\n\r\n");
    if (has_path(request, "/continue"))
        return http_peer_send(fd, "HTTP/1.1 103 Hints\r\nX-Early: yes\r\n\r\n"
                                  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (has_path(request, "/never"))
        http_peer_wait(self, LONG_MS);
    if (has_path(request, "/endless/body"))
        return endless(fd, "HTTP/1.1 200 OK\r\n\r\n", "some more of the body ");
    if (has_path(request, "/endless/head"))
        return endless(fd, "HTTP/1.1 200 OK\r\n", "X-More: and more and more and more\r\n");
    if (has_path(request, "/half")) {
        http_peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        http_peer_reset(fd);
    }
    if (has_path(request, "/once") && request->number % 2 == 1)
        return http_peer_reply(fd, "200 OK", "first");
    return false;
}

/* ---- each test has its own ------------------------------------------------------------------- */

static int set_up(void **state)
{
    static struct world world;
    const fetch_options options = { .egress = loopback, .egress_count = 1 };

    memset(&world, 0, sizeof world);
    world.peer = http_peer_start(answer, &world);
    assert_int_equal(fetch_open(&world.pool, &options, NULL), MCP_OK);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    fetch_result_clear(&world->result);
    fetch_close(world->pool);
    http_peer_end(world->peer);
    return 0;
}

static const char *url_of(struct world *world, const char *path)
{
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d%s", http_peer_port(world->peer),
             path);
    return world->url;
}

static mcp_status run(struct world *world, fetch_request request)
{
    fetch_result_clear(&world->result);
    if (!request.timeout_ms)
        request.timeout_ms = LONG_MS;
    return fetch_run(&world->result, world->pool, &request, &world->err);
}

static mcp_status get(struct world *world, const char *path)
{
    return run(world, (fetch_request){ .url = url_of(world, path) });
}

/* ---- answers --------------------------------------------------------------------------------- */

static void a_request_arrives_as_it_is_given(void **state)
{
    struct world *world = *state;
    const fetch_header headers[] = { { "X-Sent", "a, b;c=\"d\"" }, { "X-Empty", "" } };
    fetch_request request = { .method = "PUT",
                              .url = url_of(world, "/echo?a=%20b"),
                              .headers = headers,
                              .header_count = 2,
                              .body = "bytes",
                              .body_length = 5 };

    assert_int_equal(run(world, request), MCP_OK);
    assert_int_equal(world->result.status, 200);
    assert_true(world->result.may_have_arrived);
    assert_string_equal(world->result.body.data, "bytes");
    assert_string_equal(fetch_result_header(&world->result, "x-seen"), "a, b;c=\"d\"");
    assert_string_equal(fetch_result_header(&world->result, "X-METHOD"), "PUT");
    assert_null(fetch_result_header(&world->result, "X-See"));
    assert_int_equal(world->result.retry_after_ms, -1);
}

static void methods_are_sent(void **state)
{
    static const char *const methods[] = { "GET", "POST", "PATCH", "DELETE", "OPTIONS" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        fetch_request request = { .method = methods[i], .url = url_of(world, "/echo") };
        assert_int_equal(run(world, request), MCP_OK);
        assert_string_equal(fetch_result_header(&world->result, "X-Method"), methods[i]);
    }
    fetch_request request = { .url = url_of(world, "/echo"), .body = "x", .body_length = 1 };
    assert_int_equal(run(world, request), MCP_OK);
    assert_string_equal(fetch_result_header(&world->result, "X-Method"), "POST");
    request = (fetch_request){ .method = "HEAD", .url = url_of(world, "/head") };
    assert_int_equal(run(world, request), MCP_OK);
    assert_int_equal(world->result.status, 200);
    assert_int_equal(world->result.body.length, 0);
}

static void nothing_is_added_to_a_request(void **state)
{
    struct world *world = *state;
    fetch_request request = { .method = "POST", .url = url_of(world, "/request") };

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    assert_int_equal(run(world, request), MCP_OK);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    snprintf(world->text, sizeof world->text,
             "POST /request HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n"
             "Content-Length: 0\r\n\r\n",
             http_peer_port(world->peer));
    assert_string_equal(world->result.body.data, world->text);
}

static void a_redirect_is_returned(void **state)
{
    struct world *world = *state;

    assert_int_equal(get(world, "/redirect"), MCP_OK);
    assert_int_equal(world->result.status, 302);
    assert_int_equal(http_peer_requests(world->peer), 1);
    const char *location = fetch_result_header(&world->result, "location");
    snprintf(world->text, sizeof world->text, "%s", location);
    assert_int_equal(run(world, (fetch_request){ .url = world->text }), MCP_E_DENIED);
    assert_false(world->result.may_have_arrived);
}

static void a_status_and_its_delay_are_returned(void **state)
{
    struct world *world = *state;

    assert_int_equal(get(world, "/later"), MCP_OK);
    assert_int_equal(world->result.status, 503);
    assert_int_equal(world->result.retry_after_ms, 7000);
    assert_int_equal(get(world, "/by-date"), MCP_OK);
    assert_int_equal(world->result.retry_after_ms, 0); /* a moment that has passed */
}

static void only_the_headers_of_the_answer_count(void **state)
{
    struct world *world = *state;

    assert_int_equal(get(world, "/continue"), MCP_OK);
    assert_null(fetch_result_header(&world->result, "X-Early"));
    assert_string_equal(world->result.body.data, "ok");
    assert_int_equal(get(world, "/trailer"), MCP_OK);
    assert_string_equal(world->result.body.data, "hi");
    assert_null(fetch_result_header(&world->result, "X-Late"));
}

static void connections_are_kept(void **state)
{
    struct world *world = *state;

    for (int i = 0; i < 5; i++)
        assert_int_equal(get(world, "/echo"), MCP_OK);
    assert_int_equal(http_peer_requests(world->peer), 5);
    assert_int_equal(http_peer_connections(world->peer), 1);
}

static mcp_status take_piece(void *data, const fetch_result *so_far, const char *bytes,
                             size_t length, mcp_error *err)
{
    struct world *world = data;
    size_t have = strlen(world->text);

    assert_int_equal(so_far->status, 200);
    if (have + length >= sizeof world->text)
        return mcp_error_set(err, MCP_E_SCHEMA, "enough");
    memcpy(world->text + have, bytes, length);
    return MCP_OK;
}

static void a_body_is_given_in_pieces(void **state)
{
    struct world *world = *state;
    fetch_request request = { .url = url_of(world, "/trailer"),
                              .on_body = take_piece,
                              .data = world };

    assert_int_equal(run(world, request), MCP_OK);
    assert_string_equal(world->text, "hi");
    assert_int_equal(world->result.body.length, 0);
    request.url = url_of(world, "/endless/body");
    assert_int_equal(run(world, request), MCP_E_SCHEMA);
    assert_string_equal(world->err.message, "enough");
}

/* ---- failures that certainly had no effect --------------------------------------------------- */

static void what_cannot_be_a_request_is_not_sent(void **state)
{
    static const fetch_header bad[] = {
        { "X", "a\r\nY: b" },
        { "X", "a\nb" },
        { "X\r\nY", "a" },
        { "X Y", "a" },
        { "", "a" },
        { "X:", "a" },
        { "X", "\x7f" },
        { "X", "\xc3\xa4" },
        { "X", "\x01" },
        { "Content-Length", "3" },
        { "host", "evil" },
        { "Transfer-Encoding", "chunked" },
        { "Connection", "close" },
        { "Proxy-Authorization", "x" },
    };
    static const char *const methods[] = { "", "GET /x HTTP/1.1\r\nX: y", "CONNECT", "G T",
                                           "AVERYLONGMETHODNAME" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fetch_request request = { .url = url_of(world, "/echo"),
                                  .headers = &bad[i],
                                  .header_count = 1 };
        assert_int_equal(run(world, request), MCP_E_PARAMS);
        assert_false(world->result.may_have_arrived);
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        fetch_request request = { .url = url_of(world, "/echo"), .method = methods[i] };
        assert_int_equal(run(world, request), MCP_E_PARAMS);
    }
    assert_int_equal(run(world, (fetch_request){ .url = "ftp://127.0.0.1/" }), MCP_E_PARAMS);
    assert_int_equal(run(world, (fetch_request){ .url = "http://a:b@127.0.0.1/" }), MCP_E_PARAMS);
    assert_int_equal(http_peer_connections(world->peer), 0);
}

static void a_host_out_of_the_list_is_refused(void **state)
{
    static const char *const urls[] = {
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost/",
        "http://example.com/",
        "http://10.0.0.1/",
        "https://[fe80::1]/",
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        assert_int_equal(run(world, (fetch_request){ .url = urls[i] }), MCP_E_DENIED);
        assert_false(world->result.may_have_arrived);
    }
}

/* libcurl resolves names below .localhost to the loopback addresses (RFC 6761): a listed name that
 * leads there is refused when the socket is made. */
static void a_name_is_judged_by_the_address_connected_to(void **state)
{
    static const char *const names[] = { "name.localhost", "127.0.0.0/8", "::1/128" };
    struct world *world = *state;
    fetch *strict = NULL;
    fetch_options options = { .egress = names, .egress_count = 1 };
    char url[80];

    snprintf(url, sizeof url, "http://name.localhost:%d/echo", http_peer_port(world->peer));
    fetch_request request = { .url = url };
    assert_int_equal(fetch_open(&strict, &options, NULL), MCP_OK);
    assert_int_equal(fetch_run(&world->result, strict, &request, &world->err), MCP_E_DENIED);
    assert_false(world->result.may_have_arrived);
    assert_int_equal(http_peer_connections(world->peer), 0);
    fetch_result_clear(&world->result);
    fetch_close(strict);
    options.egress_count = 3;
    assert_int_equal(fetch_open(&strict, &options, NULL), MCP_OK);
    assert_int_equal(fetch_run(&world->result, strict, &request, &world->err), MCP_OK);
    fetch_close(strict);
}

static void nobody_listens(void **state)
{
    struct world *world = *state;

    url_of(world, "/echo");
    http_peer_end(world->peer);
    assert_int_equal(run(world, (fetch_request){ .url = world->url }), MCP_E_IO);
    assert_false(world->result.may_have_arrived);
    world->peer = http_peer_start(answer, world);
}

static void a_name_that_does_not_exist(void **state)
{
    const fetch_options options = { .any_address = true };
    struct world *world = *state;
    fetch *any = NULL;
    fetch_request request = { .url = "http://name.invalid/", .timeout_ms = LONG_MS };

    assert_int_equal(fetch_open(&any, &options, NULL), MCP_OK);
    mcp_status st = fetch_run(&world->result, any, &request, &world->err);
    assert_true(st == MCP_E_IO || st == MCP_E_TIMEOUT);
    assert_false(world->result.may_have_arrived);
    fetch_close(any);
}

static void a_certificate_must_be_trusted(void **state)
{
    struct world *world = *state;
    EVP_PKEY *key = mint_ec("P-256");
    scratch folder;
    fetch *trusting = NULL;

    scratch_open(&folder);
    const char *certificate = scratch_path(&folder, "certificate.pem");
    key_server *server = key_server_start(certificate, key);
    fetch_request request = { .url = key_server_url(server), .timeout_ms = LONG_MS };
    assert_int_equal(run(world, request), MCP_E_IO);
    assert_false(world->result.may_have_arrived);
    assert_int_equal(key_server_requests(server), 0);
    fetch_result_clear(&world->result);
    const fetch_options options = { .egress = loopback, .egress_count = 1, .ca_file = certificate };
    assert_int_equal(fetch_open(&trusting, &options, NULL), MCP_OK);
    assert_int_equal(fetch_run(&world->result, trusting, &request, &world->err), MCP_OK);
    assert_string_equal(world->result.body.data, "{\"keys\":[]}");
    fetch_result_clear(&world->result);
    /* The certificate is one for 127.0.0.1 alone. */
    snprintf(world->url, sizeof world->url, "https://127.0.0.2%s",
             strrchr(key_server_url(server), ':'));
    request.url = world->url;
    assert_int_equal(fetch_run(&world->result, trusting, &request, &world->err), MCP_E_IO);
    assert_false(world->result.may_have_arrived);
    fetch_close(trusting);
    key_server_end(server);
    scratch_close(&folder);
    EVP_PKEY_free(key);
}

/* ---- failures after which the effect is unknown ---------------------------------------------- */

static void no_answer_in_time(void **state)
{
    struct world *world = *state;
    fetch_request request = { .url = url_of(world, "/never"), .timeout_ms = 200 };

    assert_int_equal(run(world, request), MCP_E_TIMEOUT);
    assert_int_equal(world->result.status, 0);
    /* On a busy machine the time may be up before the request has left. */
    assert_true(world->result.may_have_arrived || http_peer_requests(world->peer) == 0);
}

static bool stop_once_it_has_arrived(void *data)
{
    struct world *world = data;

    return http_peer_requests(world->peer) > 0;
}

static void a_request_is_stopped(void **state)
{
    struct world *world = *state;
    fetch_request request = { .url = url_of(world, "/never"),
                              .should_stop = stop_once_it_has_arrived,
                              .data = world };

    assert_int_equal(run(world, request), MCP_E_STOPPED);
    assert_true(world->result.may_have_arrived);
}

static void an_endless_answer_is_cut(void **state)
{
    struct world *world = *state;
    fetch_request request = { .url = url_of(world, "/endless/body"), .body_max_bytes = 1000 };

    assert_int_equal(run(world, request), MCP_E_LIMIT);
    assert_int_equal(world->result.status, 200);
    assert_true(world->result.may_have_arrived);
    assert_true(world->result.body.length <= 1000);
    assert_int_equal(get(world, "/endless/head"), MCP_E_LIMIT);
    assert_true(world->result.may_have_arrived);
}

static void a_body_of_its_bound_is_taken(void **state)
{
    struct world *world = *state;
    fetch_request request = {
        .url = url_of(world, "/echo"), .body = "12345", .body_length = 5, .body_max_bytes = 5
    };

    assert_int_equal(run(world, request), MCP_OK);
    request.body_max_bytes = 4;
    assert_int_equal(run(world, request), MCP_E_LIMIT);
}

static void a_connection_breaks(void **state)
{
    static const char *const paths[] = { "/half", "/close" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(get(world, paths[i]), MCP_E_IO);
        assert_true(world->result.may_have_arrived);
    }
}

/* The server takes the second request of a kept connection and closes without an answer. */
static void a_request_is_sent_again_only_where_it_may_be(void **state)
{
    struct world *world = *state;
    fetch_request request = { .url = url_of(world, "/once"), .body = "x", .body_length = 1 };

    assert_int_equal(run(world, request), MCP_OK);
    assert_int_equal(run(world, request), MCP_E_IO);
    assert_true(world->result.may_have_arrived);
    assert_int_equal(http_peer_requests(world->peer), 2);
    request.may_repeat = true;
    assert_int_equal(run(world, request), MCP_OK); /* 3: on a connection of its own */
    assert_int_equal(run(world, request), MCP_OK); /* 4 is not answered, 5 is */
    assert_int_equal(http_peer_requests(world->peer), 5);
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void a_message_keeps_secrets(void **state)
{
    struct world *world = *state;
    const fetch_header headers[] = { { "Authorization", "Bearer secret\x01" } };
    fetch_request request = { .url = url_of(world, "/half?key=secret") };

    assert_int_equal(run(world, request), MCP_E_IO);
    assert_null(strstr(world->err.message, "secret"));
    request.headers = headers;
    request.header_count = 1;
    assert_int_equal(run(world, request), MCP_E_PARAMS);
    assert_null(strstr(world->err.message, "secret"));
}

static void options_are_checked(void **state)
{
    static const char *const bad[] = { "not a host" };
    const fetch_options rows[] = {
        { .egress = loopback, .egress_count = 1, .any_address = true },
        { .egress = loopback, .egress_count = 1, .environment_proxy = true },
        { .egress = bad, .egress_count = 1 },
    };
    fetch *pool = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(fetch_open(&pool, &rows[i], NULL), MCP_E_PARAMS);
    fetch_close(NULL);
    assert_null(pool);
}

static mcp_status open_run_close(void *data)
{
    const fetch_options options = { .egress = loopback, .egress_count = 1, .ca_file = "x" };
    struct world *world = data;
    fetch_request request = { .url = world->url, .timeout_ms = LONG_MS };
    fetch *pool = NULL;
    fetch_result result = { 0 };

    mcp_status st = fetch_open(&pool, &options, NULL);
    if (st == MCP_OK)
        st = fetch_run(&result, pool, &request, NULL);
    fetch_result_clear(&result);
    fetch_close(pool);
    return st;
}

static void memory_may_run_out(void **state)
{
    struct world *world = *state;

    url_of(world, "/echo");
    oom_walk(open_run_close, world);
}

int main(void)
{
#define WITH_PEER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_PEER(a_request_arrives_as_it_is_given),
        WITH_PEER(methods_are_sent),
        WITH_PEER(nothing_is_added_to_a_request),
        WITH_PEER(a_redirect_is_returned),
        WITH_PEER(a_status_and_its_delay_are_returned),
        WITH_PEER(only_the_headers_of_the_answer_count),
        WITH_PEER(connections_are_kept),
        WITH_PEER(a_body_is_given_in_pieces),
        WITH_PEER(what_cannot_be_a_request_is_not_sent),
        WITH_PEER(a_host_out_of_the_list_is_refused),
        WITH_PEER(a_name_is_judged_by_the_address_connected_to),
        WITH_PEER(nobody_listens),
        WITH_PEER(a_name_that_does_not_exist),
        WITH_PEER(a_certificate_must_be_trusted),
        WITH_PEER(no_answer_in_time),
        WITH_PEER(a_request_is_stopped),
        WITH_PEER(an_endless_answer_is_cut),
        WITH_PEER(a_body_of_its_bound_is_taken),
        WITH_PEER(a_connection_breaks),
        WITH_PEER(a_request_is_sent_again_only_where_it_may_be),
        WITH_PEER(a_message_keeps_secrets),
        cmocka_unit_test(options_are_checked),
        WITH_PEER(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
