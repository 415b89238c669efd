/*
 * test_exec.c - actions as programs of this host. The host of the test maps names to shells; what
 * a workspace says is only ever a name and JSON on the standard input.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "attempt_rig.h"

enum { PATIENCE_MS = 60000, SHORT_MS = 1500 };
#define CANARY "canary-4711-secret"
#define SHELL(name, script) "\"" name "\":{\"command\":[\"/bin/sh\",\"-c\",\"" script "\"]}"

static attempt_rig rig;
static char secret_path[] = "/tmp/portarium-secret-XXXXXX";

static const char commands[] =
    "{" SHELL("copy", "cat") "," SHELL("quiet", ":") "," SHELL("text", "echo hello") "," SHELL("refuse", "echo not today >&2; exit 3") "," SHELL("usage", "exit 64") "," SHELL(
        "later",
        "exit 75") "," SHELL("sleep",
                             "sleep 1000 & sleep 1000") "," SHELL("flood",
                                                                  "while :; do echo 0123456789; done") "," SHELL("bomb",
                                                                                                                 "i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i+1)); done; wait") "," SHELL("environment",
                                                                                                                                                                                                "printf '\\\"%s\\\"' \\\"$HOME$SECRET_OF_THE_SERVER$PORTARIUM_CREDENTIAL\\\"") "," SHELL("trace",
                                                                                                                                                                                                                                                                                         "printf '\\\"%s %s\\\"' \\\"$TRACEPARENT\\\" \\\"$TRACESTATE\\\"") ",\"nothing\":{\"command\":[\"/nonexistent/program\"]}}";

static int begin(void **state)
{
    (void)state;
    setenv("SECRET_OF_THE_SERVER", CANARY, 1);
    int file = mkstemp(secret_path);
    assert_true(file >= 0);
    assert_int_equal(write(file, CANARY "\n", sizeof CANARY), sizeof CANARY);
    close(file);
    char credentials[512];
    snprintf(credentials, sizeof credentials,
             "{\"FILED\":{\"file\":\"%s\"},"
             "\"PRINTED\":{\"command\":[\"/bin/sh\",\"-c\",\"echo " CANARY "\"]},"
             "\"BROKEN\":{\"command\":[\"/bin/sh\",\"-c\",\"echo " CANARY "; exit 1\"]}}",
             secret_path);
    rig_open(&rig, commands, NULL, credentials);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(secret_path);
    rig_close(&rig);
    return 0;
}

static portarium_outcome perform(const char *name, const char *more, const char *input,
                                 int64_t timeout_ms)
{
    char binding[256];
    snprintf(binding, sizeof binding, "{\"kind\":\"exec\",\"command\":\"%s\"%s}", name, more);
    return rig_perform(&rig, binding, input, NULL, timeout_ms);
}

static void json_goes_in_and_comes_out(void **state)
{
    (void)state;
    assert_int_equal(perform("copy", "", "{\"x\":\"'; rm -rf / #$(id)`id`\"}", PATIENCE_MS),
                     PORTARIUM_OUTCOME_DONE);
    const mcp_json *out = rig.result.output;
    assert_string_equal(mcp_json_get_string(out, "idempotencyKey"), "run-1:act");
    assert_string_equal(mcp_json_get_string(out, "operation"), "ticket:write");
    assert_string_equal(mcp_json_get_string(mcp_json_get(out, "input"), "x"),
                        "'; rm -rf / #$(id)`id`");
}

static void a_command_may_say_nothing(void **state)
{
    (void)state;
    assert_int_equal(perform("quiet", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_DONE);
    assert_null(rig.result.output);
}

static void an_output_that_is_no_json_is_an_unknown_outcome(void **state)
{
    (void)state;
    assert_int_equal(perform("text", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_UNKNOWN);
}

static void exit_statuses_have_classes(void **state)
{
    (void)state;
    perform("refuse", "", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_UNKNOWN);
    assert_string_equal(rig.result.message, "the command ended with status 3: not today");
    perform("usage", "", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
    perform("later", "", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_TRANSPORT);
}

static void a_command_that_is_not_mapped_is_refused(void **state)
{
    void *data = NULL;
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    perform("/bin/sh", "", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    const mcp_json *binding = rig_json(&rig, "{\"kind\":\"exec\",\"command\":\"deploy\"}");
    const portarium_executor *executor = portarium_executor_find(
        portarium_registry_executors(rig.registry), binding, &data);
    assert_int_equal(executor->check(binding, data, &err), MCP_E_DENIED);
    assert_int_equal(
        executor->check(rig_json(&rig, "{\"kind\":\"exec\",\"command\":\"copy\"}"), data, &err),
        MCP_OK);
}

static void a_program_that_does_not_exist_fails(void **state)
{
    (void)state;
    assert_int_equal(perform("nothing", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_FAILED);
}

static void the_deadline_ends_all_that_it_started(void **state)
{
    (void)state;
    perform("sleep", "", NULL, SHORT_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_UNKNOWN, PORTARIUM_CLASS_TIMEOUT);
}

static void many_children_end_at_its_deadline(void **state)
{
    (void)state;
    assert_int_not_equal(perform("bomb", "", NULL, SHORT_MS), PORTARIUM_OUTCOME_DONE);
}

static void too_much_output_ends_it(void **state)
{
    (void)state;
    assert_int_equal(perform("flood", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_UNKNOWN);
    assert_string_equal(rig.result.message, "the command wrote too much");
}

static void the_environment_of_the_server_stays_here(void **state)
{
    (void)state;
    assert_int_equal(perform("environment", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_DONE);
    assert_string_equal(mcp_json_string(rig.result.output, NULL), "");
}

static void the_trace_is_in_the_environment(void **state)
{
    (void)state;
    rig.attempt.trace = (portarium_trace){ "00-a-b-01", "congo=t" };
    assert_int_equal(perform("trace", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_DONE);
    assert_string_equal(mcp_json_string(rig.result.output, NULL), "00-a-b-01 congo=t");
    assert_int_equal(perform("trace", ",\"credential\":\"FILED\"", NULL, PATIENCE_MS),
                     PORTARIUM_OUTCOME_DONE);
    assert_string_equal(mcp_json_string(rig.result.output, NULL), "00-a-b-01 congo=t");
    rig.attempt.trace = (portarium_trace){ .parent = NULL };
    assert_int_equal(perform("trace", "", NULL, PATIENCE_MS), PORTARIUM_OUTCOME_DONE);
    assert_string_equal(mcp_json_string(rig.result.output, NULL), " ");
}

/* ---- credentials ----------------------------------------------------------------------------- */

static void a_credential_is_a_variable_and_does_not_come_back(void **state)
{
    static const char *const sources[] = { ",\"credential\":\"FILED\"",
                                           ",\"credential\":\"PRINTED\"" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(perform("environment", sources[i], NULL, PATIENCE_MS),
                         PORTARIUM_OUTCOME_DONE);
        assert_string_equal(mcp_json_string(rig.result.output, NULL), "[REDACTED]");
    }
}

static void a_file_that_others_can_read_is_no_credential(void **state)
{
    (void)state;
    assert_int_equal(chmod(secret_path, 0644), 0);
    perform("environment", ",\"credential\":\"FILED\"", NULL, PATIENCE_MS);
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    assert_int_equal(chmod(secret_path, 0600), 0);
}

static void a_command_that_fails_gives_no_credential(void **state)
{
    (void)state;
    assert_int_equal(perform("environment", ",\"credential\":\"BROKEN\"", NULL, PATIENCE_MS),
                     PORTARIUM_OUTCOME_FAILED);
    assert_null(strstr(rig.result.message, CANARY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_goes_in_and_comes_out),
        cmocka_unit_test(a_command_may_say_nothing),
        cmocka_unit_test(an_output_that_is_no_json_is_an_unknown_outcome),
        cmocka_unit_test(exit_statuses_have_classes),
        cmocka_unit_test(a_command_that_is_not_mapped_is_refused),
        cmocka_unit_test(a_program_that_does_not_exist_fails),
        cmocka_unit_test(the_deadline_ends_all_that_it_started),
        cmocka_unit_test(many_children_end_at_its_deadline),
        cmocka_unit_test(too_much_output_ends_it),
        cmocka_unit_test(the_environment_of_the_server_stays_here),
        cmocka_unit_test(the_trace_is_in_the_environment),
        cmocka_unit_test(a_credential_is_a_variable_and_does_not_come_back),
        cmocka_unit_test(a_file_that_others_can_read_is_no_credential),
        cmocka_unit_test(a_command_that_fails_gives_no_credential),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
