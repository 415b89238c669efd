/*
 * test_probe.c - /health and /metrics: for whom, and that figures are Prometheus's text format.
 *
 * The format: https://prometheus.io/docs/instrumenting/exposition_formats/, text version 0.0.4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "web_rig.h"

static web_rig *rig_of_test;
static web_answer answer;
static int port;

static int begin(void **state)
{
    const mcp_http_options http = { .health = true, .metrics = true };

    (void)state;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static int ask(const char *method, const char *path, const char *fields)
{
    web_ask(&answer, port, method, path, fields, NULL);
    return answer.status;
}

static void health_is_told_to_whoever_asks(void **state)
{
    char value[64];

    (void)state;
    assert_int_equal(ask("GET", "/health", "Host: 10.0.0.7\r\nOrigin: null\r\n"), 200);
    assert_string_equal(answer.body, "{\"status\":\"ok\"}");
    assert_string_equal(web_field(&answer, "Cache-Control", value, sizeof(value)), "no-store");
    assert_int_equal(ask("HEAD", "/health", NULL), 200);
    assert_string_equal(answer.body, "");
    assert_int_equal(ask("POST", "/health", NULL), 405);
    assert_string_equal(web_field(&answer, "Allow", value, sizeof(value)), "GET");
    assert_int_equal(ask("GET", "/health/", NULL), 404);
    assert_int_equal(ask("GET", "/healt", NULL), 404);
}

/* Each sample has HELP and TYPE of its own name before it; counters end in _total. */
static void figures_are_well_formed(void **state)
{
    char value[128];
    size_t samples = 0;
    char *rest = NULL;

    (void)state;
    assert_int_equal(ask("GET", "/metrics", "Host: 10.0.0.7\r\n"), 200);
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof(value)),
                        "text/plain; version=0.0.4; charset=utf-8");
    assert_true(answer.body[strlen(answer.body) - 1] == '\n');
    char *text = answer.text + (answer.body - answer.text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[64], type[16];
        unsigned long long number = 0;
        if (sscanf(line, "# HELP %63s ", name) == 1)
            continue;
        if (sscanf(line, "# TYPE %63s %15s", value, type) == 2) {
            assert_string_equal(value, name);
            size_t length = strlen(name);
            bool is_counter = length > 6 && strcmp(name + length - 6, "_total") == 0;
            assert_string_equal(type, is_counter ? "counter" : "gauge");
            continue;
        }
        assert_int_equal(sscanf(line, "%63s %llu", value, &number), 2);
        assert_string_equal(value, name);
        samples++;
    }
    assert_true(samples >= 10);
}

static void figures_grow_with_what_happens(void **state)
{
    (void)state;
    web_ask(
        &answer, port, "POST", "/mcp", NULL,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nmcp_messages_total 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_sessions 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_sessions_total 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_http_requests_total 2\n"));
    assert_non_null(strstr(answer.body, "\nmcp_handlers_running 0\n"));
}

/* Nothing is said of clients: neither names nor ids nor addresses. */
static void nothing_is_said_of_clients(void **state)
{
    char id[64];

    (void)state;
    web_ask(
        &answer, port, "POST", "/mcp", NULL,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"secretive\",\"version\":\"1\"}}}");
    web_field(&answer, "Mcp-Session-Id", id, sizeof(id));
    assert_int_equal(strlen(id), 32);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_null(strstr(answer.body, "secretive"));
    assert_null(strstr(answer.body, id));
    assert_null(strstr(answer.body, "127.0.0.1"));
}

static void they_are_there_when_asked_for(void **state)
{
    const mcp_http_options http = { .metrics = true };

    (void)state;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    assert_int_equal(ask("GET", "/health", NULL), 404);
    assert_int_equal(ask("GET", "/health", "Host: 10.0.0.7\r\n"), 403);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_int_equal(web_end(rig_of_test), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(health_is_told_to_whoever_asks, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_well_formed, begin, end),
        cmocka_unit_test_setup_teardown(figures_grow_with_what_happens, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_said_of_clients, begin, end),
        cmocka_unit_test(they_are_there_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
