/*
 * test_metrics.c - /health and /metrics: only where asked for, for every Host.
 *
 * The format: https://prometheus.io/docs/instrumenting/exposition_formats/, text version 0.0.4.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/clock.h"
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

static void health_is_public(void **state)
{
    char value[64];

    (void)state;
    assert_int_equal(ask("GET", "/health", "Host: 10.0.0.7\r\nOrigin: null\r\n"), 200);
    assert_string_equal(answer.body, "{\"status\":\"ok\"}");
    assert_string_equal(web_field(&answer, "Cache-Control", value, sizeof value), "no-store");
    assert_int_equal(ask("HEAD", "/health", NULL), 200);
    assert_string_equal(answer.body, "");
    assert_int_equal(ask("POST", "/health", NULL), 405);
    assert_string_equal(web_field(&answer, "Allow", value, sizeof value), "GET, HEAD");
    assert_int_equal(ask("GET", "/health/", NULL), 404);
    assert_int_equal(ask("GET", "/healt", NULL), 404);
}

/* ---- a strict reader of the format ----------------------------------------------------------- */

#define FAMILIES_MAX 64

/* What is known of the family that is being read, and of those before. */
static struct {
    char names[FAMILIES_MAX][80];
    int count;
    char type[16];
    char labels[300]; /* of the histogram being read, without le */
    bool has_labels;  /* false: the next bucket is the first of a histogram */
    double bound, cumulative;
    char samples[4000][300]; /* name and labels of every sample */
    size_t sample_count;
} reader;

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
}

static bool ends_in(const char *text, size_t length, const char *suffix)
{
    size_t tail = strlen(suffix);

    return length > tail && memcmp(text + length - tail, suffix, tail) == 0;
}

/* A family is new, and its name is not another's without _total (OpenMetrics: one base name, one
 * family). */
static void read_help(const char *line)
{
    size_t length = name_length(line), base;

    assert_true(length > 0 && length < 80 && line[length] == ' ' && line[length + 1] != '\0');
    assert_true(reader.count < FAMILIES_MAX);
    base = ends_in(line, length, "_total") ? length - 6 : length;
    for (int i = 0; i < reader.count; i++) {
        size_t other = strlen(reader.names[i]);
        other -= ends_in(reader.names[i], other, "_total") ? 6 : 0;
        if (other == base && memcmp(reader.names[i], line, base) == 0)
            fail_msg("two families share the name %.*s", (int)base, line);
    }
    (void)snprintf(reader.names[reader.count++], 80, "%.*s", (int)length, line);
    reader.type[0] = '\0';
    reader.has_labels = false;
}

static void read_type(const char *line)
{
    const char *name = reader.names[reader.count - 1];
    size_t length = strlen(name);

    assert_true(reader.count > 0 && reader.type[0] == '\0');
    assert_true(strncmp(line, name, length) == 0 && line[length] == ' ');
    (void)snprintf(reader.type, sizeof reader.type, "%s", line + length + 1);
    assert_true(strcmp(reader.type, "counter") == 0 || strcmp(reader.type, "gauge") == 0 ||
                strcmp(reader.type, "histogram") == 0);
    assert_int_equal(strcmp(reader.type, "counter") == 0, ends_in(name, length, "_total"));
}

/* name="value", with its escapes, between commas. Returns the end; copies all but le into
 * `others`. */
static const char *read_labels(const char *at, char *others, size_t size, char *le)
{
    others[0] = le[0] = '\0';
    if (*at != '{')
        return at;
    do {
        const char *begin = ++at;
        size_t length = name_length(at);
        assert_true(length > 0 && strncmp(at + length, "=\"", 2) == 0);
        for (at += length + 2; *at != '"'; at++) {
            assert_true(*at != '\0');
            if (*at == '\\')
                assert_non_null(strchr("n\"\\", *++at));
        }
        at++;
        if (length == 2 && strncmp(begin, "le", 2) == 0)
            (void)snprintf(le, 32, "%.*s", (int)(at - begin - 5), begin + 4);
        else
            (void)snprintf(others + strlen(others), size - strlen(others), "%.*s,",
                           (int)(at - begin), begin);
    } while (*at == ',');
    assert_true(*at == '}');
    return at + 1;
}

/* Buckets rise in bound and count, up to +Inf; then come _sum and _count of the same labels. */
static void read_histogram(const char *suffix, const char *labels, const char *le, double value)
{
    double bound = strcmp(le, "+Inf") == 0 ? HUGE_VAL : strtod(le, NULL);

    if (strcmp(suffix, "_bucket") != 0) {
        assert_string_equal(labels, reader.labels);
        assert_true(le[0] == '\0' && reader.bound == HUGE_VAL);
        bool is_count = strcmp(suffix, "_count") == 0;
        if (is_count)
            assert_true(value == reader.cumulative);
        else
            assert_string_equal(suffix, "_sum");
        reader.has_labels = !is_count;
        return;
    }
    assert_true(le[0] != '\0');
    if (!reader.has_labels) {
        reader.has_labels = true;
        (void)snprintf(reader.labels, sizeof reader.labels, "%s", labels);
        assert_true(bound == 0.0001);
    } else {
        assert_string_equal(labels, reader.labels);
        assert_true(bound > reader.bound && value >= reader.cumulative);
    }
    reader.bound = bound;
    reader.cumulative = value;
}

static void read_sample(const char *line)
{
    const char *family = reader.names[reader.count - 1];
    size_t length = strlen(family);
    char labels[300], le[32], suffix[16], *end = NULL;

    assert_true(reader.count > 0 && reader.type[0] != '\0');
    assert_int_equal(strncmp(line, family, length), 0);
    (void)snprintf(suffix, sizeof suffix, "%.*s", (int)(name_length(line) - length), line + length);
    const char *at = read_labels(line + name_length(line), labels, sizeof labels, le);
    assert_true(*at == ' ');
    for (size_t i = 0; i < reader.sample_count; i++)
        if (strncmp(reader.samples[i], line, (size_t)(at - line)) == 0 &&
            reader.samples[i][at - line] == '\0')
            fail_msg("twice: %s", line);
    assert_true(reader.sample_count < 4000 && at - line < 300);
    (void)snprintf(reader.samples[reader.sample_count++], 300, "%.*s", (int)(at - line), line);
    double value = strtod(at + 1, &end);
    assert_true(end > at + 1 && *end == '\0');
    if (strcmp(reader.type, "histogram") == 0)
        read_histogram(suffix, labels, le, value);
    else
        assert_string_equal(suffix, "");
    if (strcmp(reader.type, "gauge") != 0)
        assert_true(value >= 0);
}

static void read_exposition(char *text)
{
    char *next = NULL;

    memset(&reader, 0, sizeof reader);
    assert_true(text[0] != '\0' && text[strlen(text) - 1] == '\n');
    assert_null(strstr(text, "\n\n"));
    for (char *line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
        if (strncmp(line, "# HELP ", 7) == 0)
            read_help(line + 7);
        else if (strncmp(line, "# TYPE ", 7) == 0)
            read_type(line + 7);
        else
            read_sample(line);
}

static void call_tool(const char *name)
{
    char fields[200], body[600];

    (void)snprintf(fields, sizeof fields,
                   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n",
                   name);
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"%s\",\"arguments\":{\"text\":\"x\"},\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                   name);
    web_ask(&answer, port, "POST", "/mcp", fields, body);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void figures_are_well_formed(void **state)
{
    char value[128];

    (void)state;
    call_tool("fix/echo");
    assert_int_equal(answer.status, 200);
    call_tool("not/there");
    assert_int_equal(ask("GET", "/metrics", "Host: 10.0.0.7\r\n"), 200);
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof value),
                        "text/plain; version=0.0.4; charset=utf-8");
    read_exposition(answer.text + (answer.body - answer.text));
    assert_true(reader.count >= 20);
}

/* By method and registered tool; what a client makes up is no label. */
static void answers_are_counted_by_method_and_tool(void **state)
{
    (void)state;
    call_tool("fix/echo");
    call_tool("fix/echo");
    call_tool("fix_echo");
    call_tool("made/up");
    web_ask(&answer, port, "POST", "/mcp",
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: invented/method\r\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"invented/method\",\"params\":{\"_meta\":{"
            "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
            "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nmcp_operation_duration_seconds_count{"
                                        "method=\"tools/call\",tool=\"fix/echo\"} 3\n"));
    assert_non_null(
        strstr(answer.body,
               "\nmcp_operation_duration_seconds_bucket{method=\"tools/call\",tool=\"fix/echo\","
               "le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(answer.body,
                           "\nmcp_operation_duration_seconds_count{method=\"tools/call\","
                           "tool=\"other\",error_type=\"-32602\"} 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_operation_duration_seconds_count{"
                                        "method=\"other\",error_type=\"-32601\"} 1\n"));
    assert_null(strstr(answer.body, "made"));
    assert_null(strstr(answer.body, "invented"));
    assert_non_null(strstr(answer.body, "\nmcp_build_info{library=\""));
    assert_non_null(strstr(answer.body, "\nprocess_resident_memory_bytes "));
    assert_null(strstr(answer.body, "\nprocess_resident_memory_bytes 0\n"));
    assert_null(strstr(answer.body, "\nprocess_open_fds 0\n"));
    const char *start = strstr(answer.body, "\nprocess_start_time_seconds ");
    double now_s = (double)mcp_clock_wall_ms() / 1000;
    assert_non_null(start);
    assert_true(strtod(start + 28, NULL) > now_s - 86400 && strtod(start + 28, NULL) <= now_s + 1);
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
    assert_non_null(strstr(answer.body, "\nmcp_sessions_open 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_sessions_total 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_http_requests_total 2\n"));
    assert_non_null(strstr(answer.body, "\nmcp_handlers_running 0\n"));
}

/* A refused result is an error of its own kind; a session counts when it ends. */
static void errors_and_sessions_are_counted(void **state)
{
    char fields[128], id[64];

    (void)state;
    call_tool("fix/refuse");
    web_ask(
        &answer, port, "POST", "/mcp", NULL,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nmcp_operation_duration_seconds_count{"
                                        "method=\"tools/call\",tool=\"fix/refuse\","
                                        "error_type=\"tool_error\"} 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_session_duration_seconds_count 0\n"));
    (void)snprintf(fields, sizeof fields, "Mcp-Session-Id: %s\r\n", id);
    assert_int_equal(ask("DELETE", "/mcp", fields), 200);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nmcp_session_duration_seconds_count 1\n"));
    assert_non_null(strstr(answer.body, "\nmcp_session_duration_seconds_bucket{le=\"+Inf\"} 1\n"));
    read_exposition(answer.text + (answer.body - answer.text));
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
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    assert_int_equal(strlen(id), 32);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_null(strstr(answer.body, "secretive"));
    assert_null(strstr(answer.body, id));
    assert_null(strstr(answer.body, "127.0.0.1"));
}

/* ---- the program's own, and a token ---------------------------------------------------------- */

static void write_own(mcp_buf *out, void *data)
{
    const int *count = data;

    if (*count < 0) /* more than there may be */
        for (size_t i = 0; i <= MCP_METRICS_MAX / 16; i++)
            (void)mcp_buf_puts(out, "own_runs_total 1\n");
    else
        (void)mcp_buf_printf(out,
                             "# HELP own_runs_total Runs.\n# TYPE own_runs_total counter\n"
                             "own_runs_total %d\n",
                             *count);
}

static void a_program_adds_its_own_families(void **state)
{
    int count = 41;
    const mcp_http_options http = { .metrics = true,
                                    .write_metrics = write_own,
                                    .metrics_data = &count };

    (void)state;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nown_runs_total 41\n"));
    assert_non_null(strstr(answer.body, "\nmcp_messages_total 0\n"));
    read_exposition(answer.text + (answer.body - answer.text));
    count = -1;
    assert_int_equal(ask("GET", "/metrics", NULL), 503);
    assert_string_equal(answer.body, "");
    assert_int_equal(web_end(rig_of_test), MCP_OK);
}

static void a_token_may_be_required(void **state)
{
    static const char *const tokens[] = { "first-token-of-two", "other-token-of-two", NULL };
    const mcp_http_options http = { .metrics = true, .health = true, .metrics_tokens = tokens };
    static const char *const wrong[] = {
        "Authorization: Bearer first-token-of-tw\r\n",
        "Authorization: Bearer first-token-of-twoo\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Basic first-token-of-two\r\n",
        "Authorization: Bearer first-token-of-two\r\nAuthorization: Bearer other-token-of-two\r\n",
    };
    char value[64];

    (void)state;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    assert_int_equal(ask("GET", "/metrics", NULL), 401);
    assert_string_equal(web_field(&answer, "WWW-Authenticate", value, sizeof value), "Bearer");
    assert_string_equal(answer.body, "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ask("GET", "/metrics", wrong[i]), 401);
    assert_int_equal(ask("GET", "/metrics", "Authorization: bearer first-token-of-two\r\n"), 200);
    assert_int_equal(ask("GET", "/metrics", "Authorization: Bearer other-token-of-two\r\n"), 200);
    assert_non_null(strstr(answer.body, "\nmcp_messages_total 0\n"));
    assert_int_equal(ask("GET", "/health", NULL), 200); /* a probe has none */
    assert_int_equal(web_end(rig_of_test), MCP_OK);
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
        cmocka_unit_test_setup_teardown(health_is_public, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_well_formed, begin, end),
        cmocka_unit_test_setup_teardown(answers_are_counted_by_method_and_tool, begin, end),
        cmocka_unit_test_setup_teardown(figures_grow_with_what_happens, begin, end),
        cmocka_unit_test_setup_teardown(errors_and_sessions_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_said_of_clients, begin, end),
        cmocka_unit_test(a_program_adds_its_own_families),
        cmocka_unit_test(a_token_may_be_required),
        cmocka_unit_test(they_are_there_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
