/*
 * test_own_contract.c - a server with a contract older than the library: its answer to initialize
 * to the letter, and refused arguments in the form of the call's revision.
 *
 * Errors by revision: JSON-RPC errors with the code -32603 in 2024-11-05 and -32602 until
 * 2025-06-18, results with isError from 2025-11-25 on. The text names the first argument, in the
 * order of the tool's table, that is absent, no string or blank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"

static const char *const required[] = { "workspaceId", "workflowId", NULL };

/* The name of the first that is missing; NULL: none. */
static const char *missing_argument(const mcp_call *call)
{
    for (const char *const *name = required; *name; name++) {
        const char *text = mcp_arg_string(call, *name);
        if (!text || text[strspn(text, " \t\r\n")] == '\0')
            return *name;
    }
    return NULL;
}

static mcp_status refuse(mcp_call *call, const char *text)
{
    mcp_revision revision = mcp_call_revision(call);

    if (revision >= MCP_2025_11_25)
        return mcp_call_tool_error(call, "%s", text);
    return mcp_error_set(mcp_call_error(call),
                         revision == MCP_2024_11_05 ? MCP_E_NOT_FOUND : MCP_E_PARAMS, "%s", text);
}

static mcp_status refuse_missing(mcp_call *call, const char *name)
{
    char text[100];

    (void)snprintf(text, sizeof text, "Missing required string parameter: %s", name);
    return refuse(call, text);
}

static mcp_status format(mcp_call *call, mcp_refusal reason, const mcp_schema_finding *finding,
                         void *data)
{
    const char *missing = missing_argument(call);
    const mcp_status *always = data;

    if (reason != MCP_REFUSED_ARGUMENTS)
        return MCP_OK;
    if (always)
        return mcp_error_set(mcp_call_error(call), *always, "own words");
    return missing ? refuse_missing(call, missing) : refuse(call, finding->message);
}

/* A blank argument passes the schema. */
static mcp_status start(mcp_call *call, void *data)
{
    const char *missing = missing_argument(call);

    (void)data;
    if (missing)
        return refuse_missing(call, missing);
    mcp_write_member_string(mcp_call_result(call), "runId", "r-1");
    return MCP_OK;
}

static const char start_json[] =
    "{\"name\":\"run_start\",\"description\":\"Starts.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"workspaceId\":{\"type\":\"string\"},\"workflowId\":{\"type\":\"string\"},"
    "\"mode\":{\"enum\":[\"fast\",\"slow\"]}},\"required\":[\"workspaceId\",\"workflowId\"]}}";
static const mcp_file files[] = { { "tools/run_start.json", start_json, sizeof start_json - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "run_start", start, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static const mcp_server_options contract = { .name = "portarium-mcp-server",
                                             .version = "1.0.0",
                                             .title = "Portarium",
                                             .description = "Approvals.",
                                             .offered_revision = MCP_2024_11_05,
                                             .default_revision = MCP_2024_11_05,
                                             .bare_capabilities = true,
                                             .error_formatter = format };
static conversation c;

static int begin(void **state)
{
    (void)state;
    conversation_open(&c, &contract, &features);
    return 0;
}

static int end(void **state)
{
    (void)state;
    conversation_close(&c);
    return 0;
}

static void initialize(const char *asked, const char *answer)
{
    char text[300];

    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\","
                   "\"version\":\"1\"}}}",
                   asked);
    conversation_ask(&c, text, answer);
}

#define SEED                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2024-11-05\","                \
    "\"capabilities\":{\"tools\":{}},"                                                             \
    "\"serverInfo\":{\"name\":\"portarium-mcp-server\",\"version\":\"1.0.0\"}}}"

static void initialize_answers_to_the_letter(void **state)
{
    (void)state;
    initialize("2024-11-05", SEED);
    initialize("2031-01-01", SEED);
    initialize("", SEED);
}

static void a_revision_that_is_served_is_agreed_upon(void **state)
{
    (void)state;
    initialize("2025-11-25",
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\","
               "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"portarium-mcp-server\","
               "\"title\":\"Portarium\",\"version\":\"1.0.0\",\"description\":\"Approvals.\"}}}");
}

static void call(const char *arguments, const char *wanted)
{
    char text[300];
    char answer[300];

    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                   "\"name\":\"run_start\",\"arguments\":%s}}",
                   arguments);
    (void)snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", wanted);
    conversation_ask(&c, text, answer);
}

#define MISSING(name) "Missing required string parameter: " name
#define ERROR(code, text) "\"error\":{\"code\":" code ",\"message\":\"" text "\"}"
#define RESULT(text) "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]"
#define FAILED(text) RESULT(text) ",\"isError\":true}"

/* What does not depend on the revision but for its form. */
static void refusals(const char *none, const char *second, const char *number, const char *blank)
{
    call("{}", none);
    call("{\"workflowId\":7}", none);
    call("{\"workspaceId\":\"w\"}", second);
    call("{\"workspaceId\":\"w\",\"workflowId\":7}", number);
    call("{\"workspaceId\":\" \\t\",\"workflowId\":\"f\"}", blank);
}

static void the_first_revision_has_internal_errors(void **state)
{
    (void)state;
    refusals(ERROR("-32603", MISSING("workspaceId")), ERROR("-32603", MISSING("workflowId")),
             ERROR("-32603", MISSING("workflowId")), ERROR("-32603", MISSING("workspaceId")));
    call("{\"workspaceId\":\"w\",\"workflowId\":\"f\"}", RESULT("{\\\"runId\\\":\\\"r-1\\\"}") "}");
}

static void the_next_two_have_invalid_params(void **state)
{
    static const char *const revisions[] = { "2025-03-26", "2025-06-18" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        conversation_initialize(&c, revisions[i]);
        refusals(ERROR("-32602", MISSING("workspaceId")), ERROR("-32602", MISSING("workflowId")),
                 ERROR("-32602", MISSING("workflowId")), ERROR("-32602", MISSING("workspaceId")));
    }
}

static void later_ones_have_results(void **state)
{
    (void)state;
    conversation_initialize(&c, "2025-11-25");
    refusals(FAILED(MISSING("workspaceId")), FAILED(MISSING("workflowId")),
             FAILED(MISSING("workflowId")), FAILED(MISSING("workspaceId")));
}

/* A value outside its enum has the schema's words, in the same form. */
static void other_faults_have_the_same_form(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    int64_t code = 0;

    (void)state;
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"run_start\",\"arguments\":{\"workspaceId\":\"w\","
                         "\"workflowId\":\"f\",\"mode\":\"idle\"}}}");
    const mcp_json *error = mcp_json_get(conversation_answer(&c, arena), "error");
    assert_true(mcp_json_int(mcp_json_get(error, "code"), &code));
    assert_int_equal(code, -32603);
    assert_non_null(strstr(mcp_json_get_string(error, "message"), "mode"));
    mcp_arena_free(arena);
}

/* Also the status that the check of arguments itself has for too much work. */
static void a_formatter_may_return_any_status(void **state)
{
    static mcp_status limit = MCP_E_LIMIT;
    mcp_server_options options = contract;

    (void)state;
    options.data = &limit;
    conversation_open(&c, &options, &features);
    call("{}", ERROR("-32603", "own words"));
    conversation_close(&c);
}

static void a_revision_to_offer_must_be_one(void **state)
{
    mcp_server_options options = contract;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    options.offered_revision = (mcp_revision)99;
    assert_int_equal(mcp_server_new(&server, &options, &err), MCP_E_PARAMS);
    assert_null(server);
}

static void a_narrower_server_offers_what_it_serves(void **state)
{
    mcp_server_options options = contract;

    (void)state;
    options.oldest = MCP_2025_06_18;
    conversation_open(&c, &options, &features);
    initialize("2024-11-05",
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\","
               "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"portarium-mcp-server\","
               "\"title\":\"Portarium\",\"version\":\"1.0.0\"}}}");
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(initialize_answers_to_the_letter, begin, end),
        cmocka_unit_test_setup_teardown(a_revision_that_is_served_is_agreed_upon, begin, end),
        cmocka_unit_test_setup_teardown(the_first_revision_has_internal_errors, begin, end),
        cmocka_unit_test_setup_teardown(the_next_two_have_invalid_params, begin, end),
        cmocka_unit_test_setup_teardown(later_ones_have_results, begin, end),
        cmocka_unit_test_setup_teardown(other_faults_have_the_same_form, begin, end),
        cmocka_unit_test(a_formatter_may_return_any_status),
        cmocka_unit_test(a_revision_to_offer_must_be_one),
        cmocka_unit_test(a_narrower_server_offers_what_it_serves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
