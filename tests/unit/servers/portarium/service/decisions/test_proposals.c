/*
 * test_proposals.c - actions of agents: proposed, approved, executed once.
 */
#include "../../plane_rig.h"

static plane_rig rig;

static const portarium_actor agent = { .subject = "robot",
                                       .workspace = "ws-1",
                                       .roles = PORTARIUM_ROLE(OPERATOR),
                                       .agent_id = "ag-1",
                                       .machine_id = "m-1",
                                       .owner = "anna" };
static const portarium_actor other_agent = {
    .subject = "robot-2", .workspace = "ws-1", .roles = PORTARIUM_ROLE(OPERATOR), .agent_id = "ag-2"
};
static const portarium_actor bert = { .subject = "bert",
                                      .workspace = "ws-1",
                                      .roles = PORTARIUM_ROLE(ADMIN) };

static int begin(void **state)
{
    (void)state;
    rig_open(&rig, "memory");
    rig_expect(&rig, &rig_operator, "createMachine", NULL,
               "{\"schemaVersion\":1,\"machineId\":\"m-1\",\"endpointUrl\":\"https://m.example\","
               "\"active\":true,\"displayName\":\"M\",\"capabilities\":[\"agent:task\"],"
               "\"executionPolicy\":{\"isolationMode\":\"PerTenantWorker\",\"egressAllowlist\":["
               "\"https://m.example\"],\"workloadIdentity\":\"Required\"},\"authConfig\":{\"kind\":"
               "\"bearer\",\"secretRef\":\"ROBOT\"}}",
               201);
    rig_expect(&rig, &rig_operator, "createAgent", NULL,
               "{\"schemaVersion\":1,\"agentId\":\"ag-1\",\"machineId\":\"m-1\",\"displayName\":"
               "\"Robot\"}",
               201);
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL,
               "{\"schemaVersion\":1,\"rules\":[],\"defaultEffect\":\"Allow\",\"toolClasses\":["
               "{\"toolPattern\":\"read_*\",\"toolClass\":\"ReadOnly\"},"
               "{\"toolPattern\":\"drop_*\",\"toolClass\":\"Dangerous\"},"
               "{\"toolPattern\":\"send_mail\",\"toolClass\":\"Mutation\"}]}",
               200);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static const mcp_json *propose(const char *tool, const char *more, int status)
{
    char body[1024];
    snprintf(body, sizeof body,
             "{\"agentId\":\"ag-1\",\"actionKind\":\"tool\",\"toolName\":\"%s\",\"executionTier\":"
             "\"Auto\",\"policyIds\":[\"p\"],\"rationale\":\"it helps\"%s}",
             tool, more);
    rig_expect(&rig, &agent, "proposeAction", NULL, body, status);
    return status < 300 ? rig_body(&rig) : NULL;
}

static void expect_decision(const char *tool, const char *decision)
{
    const mcp_json *json = propose(tool, "", 201);
    assert_string_equal(mcp_json_get_string(json, "decision"), decision);
    assert_non_null(mcp_json_get_string(json, "evidenceId"));
    assert_true((mcp_json_get(json, "approvalId") != NULL) ==
                (strcmp(decision, "NeedsApproval") == 0));
}

static void act(const portarium_actor *actor, const char *operation, const char *approval,
                const char *body, int status)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", approval);
    rig_expect(&rig, actor, operation, arguments, body, status);
}

static const char approve[] = "{\"decision\":\"Approved\",\"rationale\":\"fine\"}";

static const char *text(const char *member)
{
    return mcp_json_get_string(rig_body(&rig), member);
}

static bool is_claimed(void)
{
    bool out = false;
    assert_true(mcp_json_bool(mcp_json_get(rig_body(&rig), "claimed"), &out));
    return out;
}

static void the_class_of_a_tool_decides(void **state)
{
    (void)state;
    expect_decision("read_file", "Allow");
    expect_decision("drop_table", "Denied");
    expect_decision("send_mail", "NeedsApproval");
    expect_decision("never_heard_of", "NeedsApproval");
    rig_expect(&rig, &other_agent, "proposeAction", NULL,
               "{\"agentId\":\"ag-1\",\"actionKind\":\"tool\",\"toolName\":\"read_file\","
               "\"executionTier\":\"Auto\",\"policyIds\":[\"p\"],\"rationale\":\"it helps\"}",
               403);
    rig_expect(&rig, &other_agent, "proposeAction", NULL,
               "{\"agentId\":\"ag-2\",\"actionKind\":\"tool\",\"toolName\":\"read_file\","
               "\"executionTier\":\"Auto\",\"policyIds\":[\"p\"],\"rationale\":\"it helps\"}",
               404);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"policyId\":\"no\",\"name\":\"no\",\"rules\":[{\"ruleId\":\"r\",\"condition\":"
               "\"agent.id == 'ag-1' && run.parameters.path == '/etc/shadow'\",\"effect\":"
               "\"Deny\"}]}",
               201);
    const mcp_json *json = propose("read_file", ",\"parameters\":{\"path\":\"/etc/shadow\"}", 201);
    assert_string_equal(mcp_json_get_string(json, "decision"), "Denied");
    assert_string_equal(mcp_json_get_string(json, "policyId"), "no");
    assert_string_equal(mcp_json_get_string(json, "ruleId"), "r");
}

static void what_was_approved_is_executed_once(void **state)
{
    char body[256];
    (void)state;
    const mcp_json *json = propose("send_mail", ",\"parameters\":{\"to\":\"a\",\"n\":null}", 201);
    const char *approval = mcp_json_get_string(json, "approvalId");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 409);
    act(&rig_approver, "decideApproval", approval, approve, 403); /* the agent's owner */
    act(&bert, "decideApproval", approval, approve, 200);
    act(&bert, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 403);
    act(&other_agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 403);
    act(&agent, "executeAction", approval, "{\"flowRef\":\"drop_table\"}", 409);
    act(&agent, "executeAction", approval,
        "{\"flowRef\":\"send_mail\",\"payload\":{\"to\":\"b\",\"n\":null}}", 409);
    act(&agent, "executeAction", approval,
        "{\"flowRef\":\"send_mail\",\"payload\":{\"n\":null,\"to\":\"a\"}}", 200);
    assert_string_equal(text("status"), "Executing");
    assert_true(is_claimed());
    const char *execution = text("executionId");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    assert_false(is_claimed());
    assert_string_equal(text("executionId"), execution);
    snprintf(body, sizeof body, "{\"executionId\":\"%s\",\"outcome\":\"released\"}", execution);
    act(&agent, "completeExecution", approval, body, 200);
    act(&rig_admin, "getApproval", approval, NULL, 200);
    assert_string_equal(text("status"), "Approved");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    assert_true(is_claimed());
    act(&agent, "completeExecution", approval, body, 409); /* of the execution before */
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    snprintf(body, sizeof body,
             "{\"executionId\":\"%s\",\"outcome\":\"executed\",\"output\":{\"id\":null}}",
             text("executionId"));
    act(&other_agent, "completeExecution", approval, body, 403);
    act(&agent, "completeExecution", approval, body, 200);
    act(&agent, "completeExecution", approval, body, 200);
    act(&rig_admin, "getApproval", approval, NULL, 200);
    assert_string_equal(text("status"), "Executed");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    assert_string_equal(text("status"), "Executed");
    assert_false(is_claimed());
    assert_true(mcp_json_is_null(mcp_json_pointer(rig_body(&rig), "/output/id")));
}

static void a_key_finds_its_proposal(void **state)
{
    static const char more[] = ",\"idempotencyKey\":\"k1\",\"parameters\":{\"to\":\"c\"}";
    (void)state;
    const char *approval = mcp_json_get_string(propose("send_mail", more, 201), "approvalId");
    assert_string_equal(mcp_json_get_string(propose("send_mail", more, 200), "approvalId"),
                        approval);
    propose("send_mail", ",\"idempotencyKey\":\"k1\",\"parameters\":{\"to\":\"d\"}", 409);
    act(&bert, "decideApproval", approval, "{\"decision\":\"Denied\",\"rationale\":\"not now\"}",
        200);
    const mcp_json *json = propose("send_mail", more, 200);
    assert_string_equal(mcp_json_get_string(json, "status"), "Denied");
    assert_string_equal(mcp_json_get_string(json, "rationale"), "not now");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 409);
}

static void a_policy_of_meanwhile_denies_the_execution(void **state)
{
    (void)state;
    const char *approval = mcp_json_get_string(propose("send_mail", "", 201), "approvalId");
    act(&bert, "decideApproval", approval, approve, 200);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"policyId\":\"late\",\"name\":\"late\",\"rules\":[{\"ruleId\":\"r\","
               "\"condition\":\"action.operation == 'send_mail'\",\"effect\":\"Deny\"}]}",
               201);
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 403);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"late\"}", "{\"active\":false}",
               200);
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
}

/* The class of send_mail as of now. */
static void set_class(const char *class)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"rules\":[],\"defaultEffect\":\"Allow\",\"toolClasses\":["
             "{\"toolPattern\":\"read_*\",\"toolClass\":\"ReadOnly\"},"
             "{\"toolPattern\":\"drop_*\",\"toolClass\":\"Dangerous\"},"
             "{\"toolPattern\":\"send_mail\",\"toolClass\":\"%s\"}]}",
             class);
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL, body, 200);
}

static void a_tool_that_has_become_dangerous_is_not_executed(void **state)
{
    (void)state;
    const char *approval = mcp_json_get_string(propose("send_mail", "", 201), "approvalId");
    act(&bert, "decideApproval", approval, approve, 200);
    set_class("Dangerous");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 403);
    set_class("Mutation");
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    assert_true(is_claimed());
}

/* A payload of evidence has at most 1 MiB: 30 texts of 40,000 bytes have more. */
static void what_evidence_cannot_have_is_not_proposed(void **state)
{
    enum { TEXTS = 30, LENGTH = 40000 };
    mcp_buf body;
    (void)state;
    mcp_buf_init(&body, 2 << 20);
    mcp_buf_puts(&body, "{\"agentId\":\"ag-1\",\"actionKind\":\"tool\",\"toolName\":\"read_w\","
                        "\"executionTier\":\"Auto\",\"policyIds\":[\"p\"],\"rationale\":\"it "
                        "helps\",\"parameters\":{\"a\":[");
    for (int i = 0; i < TEXTS; i++)
        mcp_buf_printf(&body, "%s\"%0*d\"", i > 0 ? "," : "", LENGTH, i);
    mcp_buf_puts(&body, "]}}");
    mcp_buf_putc(&body, '\0');
    assert_int_equal(body.status, MCP_OK);
    rig_expect(&rig, &agent, "proposeAction", NULL, body.data, 422);
    mcp_buf_clear(&body);
}

static void a_budget_limits_what_agents_do(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"policyId\":\"few\",\"name\":\"few\",\"autonomyBudgets\":[{\"budgetId\":\"b\","
               "\"scope\":\"Workspace\",\"metric\":\"ToolCalls\",\"hardStopAt\":2,"
               "\"hardStopMode\":\"KillRun\",\"rationale\":\"enough\"}]}",
               201);
    expect_decision("read_a", "Allow");
    expect_decision("read_b", "Allow");
    expect_decision("read_c", "Denied");
}

static void a_repeatable_key_names_an_approval(void **state)
{
    char first[64];
    const char *key = ",\"idempotencyKey\":\"again\",\"repeatable\":true";
    (void)state;
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"few\"}", "{\"active\":false}",
               200);
    snprintf(first, sizeof first, "%s",
             mcp_json_get_string(propose("read_x", key, 201), "proposalId"));
    assert_string_not_equal(mcp_json_get_string(propose("read_x", key, 201), "proposalId"), first);
    key = ",\"idempotencyKey\":\"asked\",\"repeatable\":true";
    snprintf(first, sizeof first, "%s",
             mcp_json_get_string(propose("send_mail", key, 201), "proposalId"));
    const mcp_json *json = propose("send_mail", key, 200);
    assert_string_equal(mcp_json_get_string(json, "proposalId"), first);
    const char *approval = mcp_json_get_string(json, "approvalId");
    act(&agent, "getApproval", approval, NULL, 200);
    act(&other_agent, "getApproval", approval, NULL, 404);
    act(&bert, "decideApproval", approval, "{\"decision\":\"Denied\",\"rationale\":\"no\"}", 200);
    json = propose("send_mail", key, 200);
    assert_string_equal(mcp_json_get_string(json, "status"), "Denied");
    assert_string_equal(mcp_json_get_string(json, "rationale"), "no");
}

/* All proposals are two days older. */
static mcp_status age(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return db_run(tx->session, NULL, "UPDATE proposals SET created_at = created_at - 172800000",
                  NULL, 0, err);
}

static void make_older(void)
{
    mcp_error err = MCP_ERROR_INIT;
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, age, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

/* A person may take days: the day in which the same call finds the answer begins with the end. */
static void an_answer_is_found_for_a_day_after_the_end(void **state)
{
    char body[256];
    const char *key = ",\"idempotencyKey\":\"slow\",\"repeatable\":true";
    (void)state;
    const char *approval = mcp_json_get_string(propose("send_mail", key, 201), "approvalId");
    make_older();
    act(&bert, "decideApproval", approval, "{\"decision\":\"Denied\",\"rationale\":\"no\"}", 200);
    assert_string_equal(mcp_json_get_string(propose("send_mail", key, 200), "status"), "Denied");

    key = ",\"idempotencyKey\":\"slow-2\",\"repeatable\":true";
    approval = mcp_json_get_string(propose("send_mail", key, 201), "approvalId");
    act(&bert, "decideApproval", approval, approve, 200);
    make_older();
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    snprintf(body, sizeof body, "{\"executionId\":\"%s\",\"outcome\":\"executed\",\"output\":1}",
             text("executionId"));
    act(&agent, "completeExecution", approval, body, 200);
    assert_string_equal(mcp_json_get_string(propose("send_mail", key, 200), "status"), "Executed");
}

/* The timer of the output that was kept last: how long until it is due. Then all are due. */
static mcp_status let_a_day_pass(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT MAX(due_at) FROM timers WHERE kind = 'output'", NULL, 0, err);
    if (portarium_next(rows, &st, err))
        *(int64_t *)data = db_int_at(rows, 0) - tx->now_ms;
    db_rows_free(rows);
    return st == MCP_OK ? db_run(tx->session, NULL, "UPDATE timers SET due_at = 1", NULL, 0, err)
                        : st;
}

static void an_output_is_kept_for_a_day(void **state)
{
    char body[256];
    int64_t left_ms = 0;
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    const char *approval = mcp_json_get_string(propose("send_mail", "", 201), "approvalId");
    act(&bert, "decideApproval", approval, approve, 200);
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    snprintf(body, sizeof body, "{\"executionId\":\"%s\",\"outcome\":\"executed\",\"output\":7}",
             text("executionId"));
    act(&agent, "completeExecution", approval, body, 200);
    act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    assert_non_null(mcp_json_get(rig_body(&rig), "output"));
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, let_a_day_pass, &left_ms, &err) !=
        MCP_OK)
        fail_msg("%s", err.message);
    assert_in_range(left_ms, INT64_C(23) * 3600000, INT64_C(24) * 3600000);
    for (int i = 0; i < 3000 && mcp_json_get(rig_body(&rig), "output"); i++) {
        usleep(10000);
        act(&agent, "executeAction", approval, "{\"flowRef\":\"send_mail\"}", 200);
    }
    assert_null(mcp_json_get(rig_body(&rig), "output"));
    assert_string_equal(text("status"), "Executed");
    assert_false(is_claimed());
}

static void a_frozen_workspace_allows_nothing(void **state)
{
    const char *rationale = "{\"rationale\":\"for a test\"}";
    (void)state;
    rig_expect(&rig, &rig_admin, "freezeWorkspace", NULL, rationale, 200);
    propose("read_z", "", 409);
    expect_decision("drop_z", "Denied");
    expect_decision("send_mail", "NeedsApproval");
    rig_expect(&rig, &rig_admin, "unfreezeWorkspace", NULL, rationale, 200);
    expect_decision("read_z", "Allow");
}

static void how_an_allowed_action_ended_is_noted_once(void **state)
{
    char arguments[128];
    const char *done = "{\"outcome\":\"executed\",\"output\":{\"lines\":3}}";
    (void)state;
    const char *id = mcp_json_get_string(propose("read_y", "", 201), "proposalId");
    snprintf(arguments, sizeof arguments, "{\"proposalId\":\"%s\"}", id);
    rig_expect(&rig, &other_agent, "recordAction", arguments, done, 403);
    rig_expect(&rig, &agent, "recordAction", arguments, "{\"outcome\":\"perhaps\"}", 422);
    rig_expect(&rig, &agent, "recordAction", arguments, done, 200);
    assert_string_equal(text("outcome"), "executed");
    rig_expect(&rig, &agent, "recordAction", arguments, done, 200);
    rig_expect(&rig, &agent, "recordAction", arguments, "{\"outcome\":\"failed\"}", 409);
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"limit\":\"1\"}", NULL, 200);
    const mcp_json *entry = mcp_json_pointer(rig_body(&rig), "/items/0");
    assert_string_equal(mcp_json_get_string(entry, "summary"),
                        "Call of read_y by agent ag-1: executed");
    assert_int_equal(mcp_json_count(mcp_json_get(entry, "payloadRefs")), 2);
    id = mcp_json_get_string(propose("send_mail", "", 201), "proposalId");
    snprintf(arguments, sizeof arguments, "{\"proposalId\":\"%s\"}", id);
    rig_expect(&rig, &agent, "recordAction", arguments, done, 409);
}

/* By the caller's own roles and tier. */
static void the_plane_says_which_tools_a_caller_sees(void **state)
{
    const char *names = "{\"tools\":[\"read_a\",\"hide_a\",\"strict\"]}";
    (void)state;
    rig_expect(
        &rig, &rig_admin, "setToolExposure", NULL,
        "{\"schemaVersion\":1,\"defaultEffect\":\"Allow\",\"rules\":["
        "{\"toolPattern\":\"hide_*\",\"allowedRoles\":[\"auditor\"],\"minimumTier\":\"Auto\"},"
        "{\"toolPattern\":\"strict\",\"allowedRoles\":[],\"minimumTier\":\"ManualOnly\"}]}",
        200);
    rig_expect(&rig, &agent, "judgeTools", NULL, names, 200);
    assert_string_equal(rig.reply.text, "{\"tools\":[\"read_a\"]}");
    rig_expect(&rig, &rig_auditor, "judgeTools", NULL, names, 200);
    assert_string_equal(rig.reply.text, "{\"tools\":[\"read_a\",\"hide_a\"]}");
    portarium_actor manual = agent;
    manual.tier = "ManualOnly";
    rig_expect(&rig, &manual, "judgeTools", NULL, names, 200);
    assert_string_equal(rig.reply.text, "{\"tools\":[\"read_a\",\"strict\"]}");
    rig_expect(&rig, &agent, "judgeTools", NULL, "{\"tools\":[1]}", 422);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_class_of_a_tool_decides),
        cmocka_unit_test(what_was_approved_is_executed_once),
        cmocka_unit_test(a_key_finds_its_proposal),
        cmocka_unit_test(a_policy_of_meanwhile_denies_the_execution),
        cmocka_unit_test(a_tool_that_has_become_dangerous_is_not_executed),
        cmocka_unit_test(what_evidence_cannot_have_is_not_proposed),
        cmocka_unit_test(a_budget_limits_what_agents_do),
        cmocka_unit_test(a_repeatable_key_names_an_approval),
        cmocka_unit_test(an_answer_is_found_for_a_day_after_the_end),
        cmocka_unit_test(an_output_is_kept_for_a_day),
        cmocka_unit_test(a_frozen_workspace_allows_nothing),
        cmocka_unit_test(how_an_allowed_action_ended_is_noted_once),
        cmocka_unit_test(the_plane_says_which_tools_a_caller_sees),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
