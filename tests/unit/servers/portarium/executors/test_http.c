/*
 * test_http.c - actions as HTTP requests, to a server of the test.
 */
#include "attempt_rig.h"
#include "http_peer.h"

enum { PATIENCE_MS = 60000, SHORT_MS = 300 };
#define CANARY "canary-4711-secret"
#define LOCAL "[\"127.0.0.0/8\"]"

static attempt_rig rig;
static http_peer *peer;
static char binding[2048];

/* The path is the answer: /status/NNN, /request (shows it), /echo (its body), /never, /garbage. */
static bool answer(void *data, http_peer *self, int fd, const http_peer_request *request)
{
    char head[64];
    const char *path = strchr(request->head, ' ') + 1;
    (void)data;
    if (strncmp(path, "/status/", 8) == 0) {
        snprintf(head, sizeof head, "%.3s Said\r\nRetry-After: 7", path + 8);
        return http_peer_reply(fd, head, "{\"secret\":\"" CANARY "\"}");
    }
    if (strncmp(path, "/echo", 5) == 0)
        return http_peer_reply(fd, "200 OK", request->body);
    if (strncmp(path, "/never", 6) == 0) {
        http_peer_wait(self, PATIENCE_MS);
        return false;
    }
    if (strncmp(path, "/broken", 7) == 0)
        return false;
    return http_peer_reply(fd, "200 OK", request->head);
}

static int begin(void **state)
{
    (void)state;
    setenv("PORTARIUM_CRED_TRACKER", CANARY, 1);
    peer = http_peer_start(answer, NULL);
    rig_open(&rig, NULL, NULL, "{\"CLOSED\":{\"workspaces\":[\"ws-2\"]}}");
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    http_peer_end(peer);
    return 0;
}

/* @param more further members of the binding, beginning with a comma */
static portarium_outcome perform(const char *path, const char *more, const char *input)
{
    snprintf(binding, sizeof binding, "{\"kind\":\"http\",\"url\":\"http://127.0.0.1:%d%s\"%s}",
             http_peer_port(peer), path, more);
    return rig_perform(&rig, binding, input, LOCAL, PATIENCE_MS);
}

/* ---- the request ----------------------------------------------------------------------------- */

static void the_input_is_the_body(void **state)
{
    (void)state;
    assert_int_equal(perform("/echo", "", "{\"title\":\"a \\\"quote\\\"\"}"),
                     PORTARIUM_OUTCOME_DONE);
    assert_string_equal(mcp_json_get_string(rig.result.output, "title"), "a \"quote\"");
}

static void the_key_goes_with_it(void **state)
{
    (void)state;
    assert_int_equal(perform("/request", "", "{}"), PORTARIUM_OUTCOME_DONE);
    const char *head = mcp_json_string(rig.result.output, NULL);
    assert_non_null(strstr(head, "Idempotency-Key: run-1:act\r\n"));
    assert_non_null(strstr(head, "X-Correlation-Id: c-1\r\n"));
    assert_non_null(strstr(head, "POST "));
}

static void the_trace_goes_with_it(void **state)
{
    static const char parent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    (void)state;
    rig.attempt.trace = (portarium_trace){ parent, "congo=t61rcWkgMzE" };
    assert_int_equal(perform("/request", "", "{}"), PORTARIUM_OUTCOME_DONE);
    const char *head = mcp_json_string(rig.result.output, NULL);
    assert_non_null(strstr(head, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-"
                                 "b7ad6b7169203331-01\r\n"));
    assert_non_null(strstr(head, "tracestate: congo=t61rcWkgMzE\r\n"));
    rig.attempt.trace = (portarium_trace){ .parent = NULL };
    assert_int_equal(perform("/request", "", "{}"), PORTARIUM_OUTCOME_DONE);
    assert_null(strstr(mcp_json_string(rig.result.output, NULL), "trace"));
}

static void values_in_a_body_change_nothing_around_them(void **state)
{
    (void)state;
    const char *input = "{\"x\":\"\\\",\\\"admin\\\":true,\\\"y\\\":\\\"${run.id}${credential}\"}";
    assert_int_equal(perform("/echo", ",\"body\":{\"t\":\"<${parameters.x}>\",\"n\":1}", input),
                     PORTARIUM_OUTCOME_DONE);
    assert_int_equal(mcp_json_count(rig.result.output), 2);
    assert_string_equal(mcp_json_get_string(rig.result.output, "t"),
                        "<\",\"admin\":true,\"y\":\"${run.id}${credential}>");
}

static void values_in_a_url_stay_in_their_segment(void **state)
{
    (void)state;
    assert_int_equal(perform("/request/${parameters.x}?q=${parameters.x}", "",
                             "{\"x\":\"../a?b=c&d#e\\r\\nX: y\"}"),
                     PORTARIUM_OUTCOME_DONE);
    const char *head = mcp_json_string(rig.result.output, NULL);
    const char *line = "POST /request/..%2Fa%3Fb%3Dc%26d%23e%0D%0AX%3A%20y"
                       "?q=..%2Fa%3Fb%3Dc%26d%23e%0D%0AX%3A%20y HTTP/1.1\r\n";
    assert_memory_equal(head, line, strlen(line));
}

static void line_ends_in_a_header_are_refused(void **state)
{
    (void)state;
    int before = http_peer_requests(peer);
    perform("/request", ",\"headers\":{\"X-Name\":\"${parameters.x}\"}",
            "{\"x\":\"a\\r\\nX-Admin: yes\"}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
    assert_int_equal(http_peer_requests(peer), before);
}

static void a_missing_value_is_refused(void **state)
{
    (void)state;
    perform("/echo", ",\"body\":{\"t\":\"${parameters.missing}\"}", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void statuses_have_classes(void **state)
{
    static const struct {
        const char *path;
        portarium_error_class class;
    } rows[] = {
        { "/status/302", PORTARIUM_CLASS_VALIDATION },
        { "/status/400", PORTARIUM_CLASS_VALIDATION },
        { "/status/401", PORTARIUM_CLASS_AUTH_DENY },
        { "/status/403", PORTARIUM_CLASS_AUTH_DENY },
        { "/status/404", PORTARIUM_CLASS_VALIDATION },
        { "/status/408", PORTARIUM_CLASS_TIMEOUT },
        { "/status/409", PORTARIUM_CLASS_CONFLICT },
        { "/status/429", PORTARIUM_CLASS_RATE_LIMIT },
        { "/status/500", PORTARIUM_CLASS_SERVER_ERROR },
        { "/status/503", PORTARIUM_CLASS_SERVER_ERROR },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perform(rows[i].path, "", "{}");
        rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, rows[i].class);
        assert_int_equal(rig.result.retry_after_ms, 7000);
        assert_null(strstr(rig.result.message, CANARY));
    }
}

static void a_binding_may_map_statuses(void **state)
{
    (void)state;
    perform("/status/404", ",\"statusClasses\":{\"404\":\"conflict\"}", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_CONFLICT);
}

static void no_answer_is_an_unknown_outcome(void **state)
{
    (void)state;
    snprintf(binding, sizeof binding, "{\"kind\":\"http\",\"url\":\"http://127.0.0.1:%d/never\"}",
             http_peer_port(peer));
    rig_perform(&rig, binding, "{}", LOCAL, SHORT_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_UNKNOWN, PORTARIUM_CLASS_TIMEOUT);
    perform("/broken", "", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_UNKNOWN, PORTARIUM_CLASS_TRANSPORT);
}

static void a_read_without_answer_has_failed(void **state)
{
    (void)state;
    perform("/broken", ",\"method\":\"GET\"", NULL);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_TRANSPORT);
}

static void nobody_listens_is_a_failure(void **state)
{
    (void)state;
    rig_perform(&rig, "{\"kind\":\"http\",\"url\":\"http://127.0.0.1:1/\"}", "{}", LOCAL,
                PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_TRANSPORT);
}

/* ---- where it may go ------------------------------------------------------------------------- */

static void addresses_that_are_not_listed_are_refused(void **state)
{
    static const char *const urls[] = {
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://localhost/",
        "http://api.example.com@127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
    };
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        snprintf(binding, sizeof binding, "{\"kind\":\"http\",\"url\":\"%s\"}", urls[i]);
        portarium_outcome outcome = rig_perform(&rig, binding, "{}", "[\"api.example.com\"]",
                                                PATIENCE_MS);
        if (outcome != PORTARIUM_OUTCOME_FAILED ||
            (rig.result.error_class != PORTARIUM_CLASS_POLICY_DENY &&
             rig.result.error_class != PORTARIUM_CLASS_VALIDATION))
            fail_msg("%s: %s", urls[i], rig.result.message);
    }
}

static void without_a_list_nothing_is_reached(void **state)
{
    (void)state;
    int before = http_peer_requests(peer);
    snprintf(binding, sizeof binding, "{\"kind\":\"http\",\"url\":\"http://127.0.0.1:%d/echo\"}",
             http_peer_port(peer));
    rig_perform(&rig, binding, "{}", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    assert_int_equal(http_peer_requests(peer), before);
}

/* ---- credentials ----------------------------------------------------------------------------- */

#define BEARER ",\"headers\":{\"Authorization\":\"Bearer ${credential}\"}"

static void a_credential_goes_out_and_does_not_come_back(void **state)
{
    (void)state;
    assert_int_equal(perform("/request", BEARER, "{}"), PORTARIUM_OUTCOME_DONE);
    char *output = rig_output(&rig);
    assert_non_null(strstr(output, "Authorization: Bearer [REDACTED]"));
    assert_null(strstr(output, CANARY));
    free(output);
}

static void a_body_cannot_have_a_credential(void **state)
{
    (void)state;
    perform("/echo", BEARER ",\"body\":{\"t\":\"${credential}\"}", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    assert_null(strstr(rig.result.message, CANARY));
}

static void a_credential_of_another_workspace_is_refused(void **state)
{
    (void)state;
    setenv("PORTARIUM_CRED_CLOSED", CANARY, 1);
    int before = http_peer_requests(peer);
    perform("/request", BEARER ",\"credential\":\"CLOSED\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    assert_int_equal(http_peer_requests(peer), before);
}

static void an_unknown_credential_sends_nothing(void **state)
{
    (void)state;
    int before = http_peer_requests(peer);
    assert_int_equal(perform("/request", BEARER ",\"credential\":\"HOME\"", "{}"),
                     PORTARIUM_OUTCOME_FAILED);
    assert_int_equal(http_peer_requests(peer), before);
}

static void a_credential_is_not_sent_in_clear(void **state)
{
    (void)state;
    rig_perform(&rig, "{\"kind\":\"http\",\"url\":\"http://api.example.com/\"" BEARER "}", "{}",
                "[\"api.example.com\"]", PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_input_is_the_body),
        cmocka_unit_test(the_key_goes_with_it),
        cmocka_unit_test(the_trace_goes_with_it),
        cmocka_unit_test(values_in_a_body_change_nothing_around_them),
        cmocka_unit_test(values_in_a_url_stay_in_their_segment),
        cmocka_unit_test(line_ends_in_a_header_are_refused),
        cmocka_unit_test(a_missing_value_is_refused),
        cmocka_unit_test(statuses_have_classes),
        cmocka_unit_test(a_binding_may_map_statuses),
        cmocka_unit_test(no_answer_is_an_unknown_outcome),
        cmocka_unit_test(a_read_without_answer_has_failed),
        cmocka_unit_test(nobody_listens_is_a_failure),
        cmocka_unit_test(addresses_that_are_not_listed_are_refused),
        cmocka_unit_test(without_a_list_nothing_is_reached),
        cmocka_unit_test(a_credential_goes_out_and_does_not_come_back),
        cmocka_unit_test(a_body_cannot_have_a_credential),
        cmocka_unit_test(a_credential_of_another_workspace_is_refused),
        cmocka_unit_test(an_unknown_credential_sends_nothing),
        cmocka_unit_test(a_credential_is_not_sent_in_clear),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
