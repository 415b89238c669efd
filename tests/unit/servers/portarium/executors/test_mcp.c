/*
 * test_mcp.c - actions as tools of an MCP server: examples/hello.c, a program of this host.
 */
#include "attempt_rig.h"

enum { PATIENCE_MS = 60000 };

static attempt_rig rig;

static int begin(void **state)
{
    (void)state;
    /* A sanitizer maps terabytes of address space. */
    rig_open(&rig, NULL,
             "{\"hello\":{\"command\":[\"" EXAMPLE "\"],\"memory_mb\":0},"
             "\"both\":{\"command\":[\"" EXAMPLE "\"],\"url\":\"http://127.0.0.1:1/mcp\"},"
             "\"silent\":{\"url\":\"http://127.0.0.1:1/mcp\"},"
             "\"poor\":{\"url\":\"http://127.0.0.1:1/mcp\",\"credential\":\"NOT_THERE\"}}",
             NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static portarium_outcome perform(const char *more, const char *input)
{
    char binding[512];
    snprintf(binding, sizeof binding, "{\"kind\":\"mcp\",%s}", more);
    return rig_perform(&rig, binding, input, NULL, PATIENCE_MS);
}

static void a_tool_is_called_and_gives_its_output(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        if (perform("\"server\":\"hello\",\"tool\":\"hello\"", "{\"name\":\"Ada\"}") !=
            PORTARIUM_OUTCOME_DONE)
            fail_msg("%s", rig.result.message);
        char *output = rig_output(&rig);
        assert_non_null(strstr(output, "Hello, Ada!"));
        free(output);
    }
}

static void arguments_are_a_template(void **state)
{
    (void)state;
    assert_int_equal(perform("\"server\":\"hello\",\"tool\":\"hello\","
                             "\"arguments\":{\"name\":\"<${parameters.who}>\"}",
                             "{\"who\":\"Bob ${run.id}\"}"),
                     PORTARIUM_OUTCOME_DONE);
    char *output = rig_output(&rig);
    assert_non_null(strstr(output, "<Bob ${run.id}>"));
    free(output);
}

static void a_tool_that_does_not_exist_has_failed(void **state)
{
    (void)state;
    perform("\"server\":\"hello\",\"tool\":\"goodbye\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_VALIDATION);
}

static void a_server_that_the_host_does_not_have_is_refused(void **state)
{
    (void)state;
    perform("\"server\":\"other\",\"tool\":\"hello\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
}

static void a_url_that_is_not_listed_is_refused(void **state)
{
    (void)state;
    perform("\"url\":\"https://169.254.169.254/mcp\",\"tool\":\"hello\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
}

/* The egress list of the workspace is empty: it does not hold for a URL of the host. */
static void a_url_of_the_host_is_asked_whatever_the_list_says(void **state)
{
    (void)state;
    perform("\"server\":\"silent\",\"tool\":\"hello\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_TRANSPORT);
}

static void an_entry_with_a_command_and_a_url_is_refused(void **state)
{
    (void)state;
    perform("\"server\":\"both\",\"tool\":\"hello\"", "{}");
    rig_expect_class(&rig, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_POLICY_DENY);
    assert_non_null(strstr(rig.result.message, "mcp.both"));
}

static void the_credential_of_an_entry_is_named_where_it_is_missing(void **state)
{
    (void)state;
    assert_int_equal(perform("\"server\":\"poor\",\"tool\":\"hello\"", "{}"),
                     PORTARIUM_OUTCOME_FAILED);
    assert_non_null(strstr(rig.result.message, "NOT_THERE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_is_called_and_gives_its_output),
        cmocka_unit_test(arguments_are_a_template),
        cmocka_unit_test(a_tool_that_does_not_exist_has_failed),
        cmocka_unit_test(a_server_that_the_host_does_not_have_is_refused),
        cmocka_unit_test(a_url_that_is_not_listed_is_refused),
        cmocka_unit_test(a_url_of_the_host_is_asked_whatever_the_list_says),
        cmocka_unit_test(an_entry_with_a_command_and_a_url_is_refused),
        cmocka_unit_test(the_credential_of_an_entry_is_named_where_it_is_missing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
