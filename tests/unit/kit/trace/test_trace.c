/*
 * test_trace.c - an exporter whose collector takes connections and never answers: the queue has its
 * bound, and the end its deadline. What a collector receives is in tests/client/traces.test.mjs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conversation.h"
#include "fixture.h"
#include "trace/trace.h"

#define HOUR_MS (INT64_C(3600) * 1000)

static char line[512]; /* the last of the log */

static void keep(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)data;
    (void)snprintf(line, sizeof line, "%s", message);
}

/* A socket that listens and is never accepted from. */
static int listen_only(char url[64])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(url, 64, "http://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

#define PING(flags)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"traceparent\":"    \
    "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" flags "\"}}}"

static void say(trace_exporter *exporter, const char *text, int times)
{
    mcp_server_options options = {
        .name = "t", .version = "1", .ended = trace_ended, .ended_data = exporter
    };
    conversation c;

    conversation_open(&c, &options, &fixture_features);
    for (int i = 0; i < times; i++)
        conversation_say(&c, text);
    assert_int_equal(c.peer.answers, times);
    conversation_close(&c);
}

static trace_exporter *open_exporter(const char *url, size_t queue_max, size_t batch_max)
{
    const trace_options how = { .endpoint = url,
                                .name = "t",
                                .log = { keep, NULL, MCP_LOG_DEBUG },
                                .queue_max = queue_max,
                                .batch_max = batch_max,
                                .batch_ms = HOUR_MS,
                                .timeout_ms = HOUR_MS,
                                .flush_ms = 10 };
    trace_exporter *exporter = NULL;
    mcp_error err = MCP_ERROR_INIT;

    line[0] = '\0';
    assert_int_equal(trace_open(&exporter, &how, &err), MCP_OK);
    return exporter;
}

/* What is being sent counts as held. No call waits: all are answered. */
static void the_queue_has_its_bound(void **state)
{
    trace_counts counts;
    char url[64];
    int fd = listen_only(url);

    (void)state;
    trace_exporter *exporter = open_exporter(url, 4, 2);
    say(exporter, PING("01"), 10);
    trace_count(exporter, &counts);
    assert_int_equal(counts.queue_full, 6);
    assert_int_equal(counts.exported + counts.failed, 0);
    trace_close(exporter); /* an hour before the request would end */
    assert_string_equal(line, "10 spans were not exported");
    (void)close(fd);
}

/* None waits long enough to be sent before the end. */
static void the_end_has_its_deadline(void **state)
{
    char url[64];
    int fd = listen_only(url);

    (void)state;
    trace_exporter *exporter = open_exporter(url, 0, 0);
    say(exporter, PING("01"), 3);
    trace_close(exporter);
    assert_string_equal(line, "3 spans were not exported");
    (void)close(fd);
}

static void only_sampled_calls_are_spans(void **state)
{
    trace_counts counts;

    (void)state;
    trace_exporter *exporter = open_exporter("http://127.0.0.1:1", 1, 1);
    say(exporter, PING("00"), 5);
    say(exporter, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 5);
    trace_count(exporter, &counts);
    assert_int_equal(counts.queue_full + counts.exported + counts.failed, 0);
    trace_close(exporter);
    assert_string_equal(line, "");
}

static void the_endpoint_is_a_url(void **state)
{
    static const char *const endpoints[] = { NULL, "", "collector:4318", "ftp://collector",
                                             "unix:/run/otel" };
    trace_exporter *exporter = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        const trace_options how = { .endpoint = endpoints[i], .name = "t" };
        assert_int_equal(trace_open(&exporter, &how, NULL), MCP_E_PARAMS);
        assert_null(exporter);
    }
    trace_close(NULL);
}

static void the_headers_have_their_bounds(void **state)
{
    static char many[33 * 4 + 1], wide[8193];
    const char *headers[] = { many, wide };
    trace_exporter *exporter = NULL;

    (void)state;
    for (size_t i = 0; i < 33; i++)
        memcpy(many + i * 4, "a=b,", 4);
    memset(wide, 'x', sizeof wide - 1);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const trace_options how = { .endpoint = "http://c", .name = "t", .headers = headers[i] };
        assert_int_equal(trace_open(&exporter, &how, NULL), MCP_E_LIMIT);
        assert_null(exporter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_has_its_bound),       cmocka_unit_test(the_end_has_its_deadline),
        cmocka_unit_test(only_sampled_calls_are_spans),  cmocka_unit_test(the_endpoint_is_a_url),
        cmocka_unit_test(the_headers_have_their_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
