/*
 * test_machine.c - actions as tasks and tools of a machine.
 */
#include "attempt_rig.h"
#include "http_peer.h"

enum { PATIENCE_MS = 60000 };
#define CANARY "canary-4711-secret"

static attempt_rig rig;
static http_peer *peer;
static const char *status, *body; /* of the answer; NULL: the request itself */

static bool answer(void *data, http_peer *self, int fd, const http_peer_request *request)
{
    (void)data;
    (void)self;
    if (body)
        return http_peer_reply(fd, status, body);
    char text[8192];
    snprintf(text, sizeof text, "%s%s", request->head, request->body);
    return http_peer_reply(fd, "200 OK", text);
}

static int begin(void **state)
{
    (void)state;
    setenv("PORTARIUM_CRED_ROBOT", CANARY, 1);
    peer = http_peer_start(answer, NULL);
    rig_open(&rig, NULL, NULL, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    http_peer_end(peer);
    return 0;
}

static portarium_outcome perform(const char *more, const char *auth, const char *input)
{
    char machine[256], binding[256];
    snprintf(machine, sizeof machine,
             "{\"endpointUrl\":\"http://127.0.0.1:%d/base/\",\"auth\":\"%s\","
             "\"credential\":\"ROBOT\"}",
             http_peer_port(peer), auth);
    snprintf(binding, sizeof binding, "{\"kind\":\"machine\",\"machineId\":\"m-1\"%s}", more);
    rig.attempt.machine = rig_json(&rig, machine);
    return rig_perform(&rig, binding, input, "[\"127.0.0.0/8\"]", PATIENCE_MS);
}

static void a_task_is_text_with_metadata(void **state)
{
    (void)state;
    body = NULL;
    assert_int_equal(perform("", "bearer", "\"sort ${run.id} \\\"it\\\"\""),
                     PORTARIUM_OUTCOME_DONE);
    const char *sent = mcp_json_string(rig.result.output, NULL);
    assert_non_null(strstr(sent, "POST /base/v1/responses HTTP/1.1\r\n"));
    assert_non_null(strstr(sent, "Authorization: Bearer [REDACTED]\r\n"));
    assert_non_null(strstr(sent, "Idempotency-Key: run-1:act\r\n"));
    assert_non_null(strstr(sent, "{\"input\":\"sort ${run.id} \\\"it\\\"\",\"metadata\":"
                                 "{\"runId\":\"run-1\",\"actionId\":\"act\","
                                 "\"operation\":\"ticket:write\"}}"));
}

static void a_tool_has_arguments(void **state)
{
    (void)state;
    body = NULL;
    assert_int_equal(perform(",\"tool\":\"mail\"", "apiKey", "{\"to\":\"Ada\"}"),
                     PORTARIUM_OUTCOME_DONE);
    const char *sent = mcp_json_string(rig.result.output, NULL);
    assert_non_null(strstr(sent, "POST /base/tools/invoke HTTP/1.1\r\n"));
    assert_non_null(strstr(sent, "X-API-Key: [REDACTED]\r\n"));
    assert_non_null(strstr(sent, "{\"tool\":\"mail\",\"args\":{\"to\":\"Ada\"}}"));
}

static void errors_have_classes(void **state)
{
    static const struct {
        const char *status, *body;
        portarium_error_class class;
    } rows[] = {
        { "403 No", "{\"error\":{\"type\":\"PolicyDenied\"}}", PORTARIUM_CLASS_POLICY_DENY },
        { "200 OK", "{\"error\":{\"kind\":\"Unauthorized\"}}", PORTARIUM_CLASS_AUTH_DENY },
        { "500 No", "{\"error\":{\"type\":\"RateLimited\"}}", PORTARIUM_CLASS_RATE_LIMIT },
        { "500 No", "{\"error\":{\"type\":\"Timeout\"}}", PORTARIUM_CLASS_TIMEOUT },
        { "200 OK", "{\"error\":{\"type\":\"RemoteError\"}}", PORTARIUM_CLASS_UNKNOWN },
        { "429 No", "", PORTARIUM_CLASS_RATE_LIMIT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        status = rows[i].status;
        body = rows[i].body;
        perform("", "bearer", "{}");
        rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, rows[i].class);
    }
}

static void a_machine_that_is_away_is_not_called(void **state)
{
    (void)state;
    rig.attempt.machine = NULL;
    rig_perform(&rig, "{\"kind\":\"machine\",\"machineId\":\"m-2\"}", "{}", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
    perform("", "mtls", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_text_with_metadata),
        cmocka_unit_test(a_tool_has_arguments),
        cmocka_unit_test(errors_have_classes),
        cmocka_unit_test(a_machine_that_is_away_is_not_called),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
