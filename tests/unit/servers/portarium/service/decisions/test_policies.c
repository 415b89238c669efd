/*
 * test_policies.c - what policies judge, and what is refused as a policy.
 */
#include "../../plane_rig.h"

static plane_rig rig;

static const portarium_actor robot = { .subject = "robot",
                                       .workspace = "ws-1",
                                       .roles = PORTARIUM_ROLE(OPERATOR),
                                       .agent_id = "ag-1",
                                       .machine_id = "m-1",
                                       .owner = "olga" };

/* 401 bytes: wherever it is cut, every second cut is within a character. */
static char long_text[402];

static int begin(void **state)
{
    (void)state;
    rig_open(&rig, "memory");
    long_text[0] = 'x';
    for (size_t i = 1; i + 1 < sizeof long_text; i += 2)
        memcpy(long_text + i, "\xc3\xa9", 2);
    rig_expect(
        &rig, &rig_admin, "createMachine", NULL,
        "{\"schemaVersion\":1,\"machineId\":\"m-1\",\"endpointUrl\":\"https://m.example\","
        "\"active\":true,\"displayName\":\"M\",\"capabilities\":[\"agent:task\",\"agent:x\"],"
        "\"executionPolicy\":{\"isolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[],"
        "\"workloadIdentity\":\"Required\"},\"authConfig\":{\"kind\":\"bearer\","
        "\"secretRef\":\"ROBOT\"}}",
        201);
    rig_expect(&rig, &rig_admin, "createAgent", NULL,
               "{\"schemaVersion\":1,\"agentId\":\"ag-1\",\"machineId\":\"m-1\",\"displayName\":"
               "\"Robot\",\"capabilities\":[\"agent:task\"]}",
               201);
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL,
               "{\"schemaVersion\":1,\"rules\":[],\"defaultEffect\":\"Allow\",\"toolClasses\":["
               "{\"toolPattern\":\"read*\",\"toolClass\":\"ReadOnly\"}]}",
               200);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static const char *text(const char *member)
{
    const char *value = mcp_json_get_string(rig_body(&rig), member);
    return value ? value : "";
}

static void create_rule(const char *id, const char *condition, const char *effect,
                        const char *rationale)
{
    char body[2048];
    snprintf(body, sizeof body,
             "{\"policyId\":\"%s\",\"name\":\"%s\",\"rules\":[{\"ruleId\":\"r\",\"condition\":"
             "\"%s\",\"effect\":\"%s\",\"rationale\":\"%s\"}]}",
             id, id, condition, effect, rationale);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL, body, 201);
}

static void remove_rule(const char *id)
{
    char arguments[64];
    snprintf(arguments, sizeof arguments, "{\"policyId\":\"%s\"}", id);
    rig_expect(&rig, &rig_admin, "updatePolicy", arguments, "{\"active\":false}", 200);
}

static const char *propose(const char *tool, const char *rationale, const char *more)
{
    char body[2048];
    snprintf(body, sizeof body,
             "{\"agentId\":\"ag-1\",\"actionKind\":\"tool\",\"toolName\":\"%s\",\"executionTier\":"
             "\"Auto\",\"policyIds\":[\"p\"],\"rationale\":\"%s\"%s}",
             tool, rationale, more);
    rig_expect(&rig, &robot, "proposeAction", NULL, body, 201);
    return text("decision");
}

/* Ask an operation about an approval or a proposal. */
static void act(const portarium_actor *actor, const char *operation, const char *id,
                const char *body, int status)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\",\"proposalId\":\"%s\"}", id, id);
    rig_expect(&rig, actor, operation, arguments, body, status);
}

/* The same with a member whose text is long. */
static void act_with(const portarium_actor *actor, const char *operation, const char *id,
                     const char *members, const char *member, int status)
{
    char body[1024];
    snprintf(body, sizeof body, "{%s\"%s\":\"%s\"}", members, member, long_text);
    act(actor, operation, id, body, status);
}

static bool has_evidence(const char *words)
{
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"limit\":\"200\"}", NULL, 200);
    return memmem(rig.reply.text, rig.reply.length, words, strlen(words)) != NULL;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void a_long_text_of_several_bytes_a_character_is_taken(void **state)
{
    char approval[64], id[64];
    char body[512];
    (void)state;
    create_rule("long", "run.parameters.n == 1", "Deny", long_text);
    assert_string_equal(propose("read_a", long_text, ",\"parameters\":{\"n\":1}"), "Denied");
    remove_rule("long");
    create_rule("long-2", "run.parameters.n == 1", "RequireApproval", long_text);
    assert_string_equal(propose("read_a", long_text, ",\"parameters\":{\"n\":1}"), "NeedsApproval");
    snprintf(approval, sizeof approval, "%s", text("approvalId"));
    remove_rule("long-2");
    act_with(&rig_approver, "decideApproval", approval, "\"decision\":\"RequestChanges\",",
             "rationale", 200);
    act_with(&robot, "resubmitApproval", approval, "", "note", 200);
    act_with(&rig_approver, "decideApproval", approval, "\"decision\":\"Approved\",", "rationale",
             200);
    act(&robot, "executeAction", approval, "{\"flowRef\":\"read_a\"}", 200);
    snprintf(body, sizeof body, "\"outcome\":\"failed\",\"executionId\":\"%s\",",
             text("executionId"));
    act_with(&robot, "completeExecution", approval, body, "errorMessage", 200);
    assert_string_equal(propose("read_b", "why", ""), "Allow");
    snprintf(id, sizeof id, "%s", text("proposalId"));
    act_with(&robot, "recordAction", id, "\"outcome\":\"failed\",", "errorMessage", 200);
    act_with(&rig_admin, "freezeWorkspace", "-", "", "rationale", 200);
    act_with(&rig_admin, "unfreezeWorkspace", "-", "", "rationale", 200);
    act_with(&rig_admin, "placeLegalHold", "-", "", "rationale", 201);
}

/* An action that a policy denies or gates with a long reason. */
static void a_run_ends_with_a_long_reason(void **state)
{
    char run[64];
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               "{\"schemaVersion\":1,\"workflowId\":\"wf\",\"name\":\"W\",\"active\":true,"
               "\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":\"a\",\"order\":1,"
               "\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\"}]}",
               201);
    create_rule("deny", "workflow.id == 'wf'", "Deny", long_text);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf\"}", 201);
    snprintf(run, sizeof run, "%s", text("runId"));
    rig_await(&rig, run, "Failed");
    remove_rule("deny");
    create_rule("gate", "workflow.id == 'wf'", "RequireApproval", long_text);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf\"}", 201);
    snprintf(run, sizeof run, "%s", text("runId"));
    rig_await(&rig, run, "WaitingForApproval");
    remove_rule("gate");
}

/* ---- gates ----------------------------------------------------------------------------------- */

/* A rule about a machine holds for its agents, whether the proposal names the machine or not. */
static void the_machine_is_the_agents(void **state)
{
    (void)state;
    create_rule("machine", "machine.id == 'm-1'", "Deny", "not there");
    assert_string_equal(propose("read_a", "why", ",\"machineId\":\"m-1\""), "Denied");
    assert_string_equal(propose("read_a", "why", ""), "Denied");
    remove_rule("machine");
}

static const char *approved(const char *tool)
{
    static char approval[64];
    assert_string_equal(propose(tool, "why", ""), "NeedsApproval");
    snprintf(approval, sizeof approval, "%s", text("approvalId"));
    act(&rig_approver, "decideApproval", approval,
        "{\"decision\":\"Approved\",\"rationale\":\"fine\"}", 200);
    return approval;
}

/* A budget that an execution finds used up does what it says, although the execution is refused. */
static void a_budget_of_an_execution_freezes_the_workspace(void **state)
{
    (void)state;
    const char *approval = approved("write_a");
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"policyId\":\"few\",\"name\":\"few\",\"autonomyBudgets\":[{\"budgetId\":\"b\","
               "\"scope\":\"Workspace\",\"metric\":\"ToolCalls\",\"hardStopAt\":1,"
               "\"hardStopMode\":\"FreezeWorkspace\",\"rationale\":\"enough\"}]}",
               201);
    assert_string_equal(propose("read_once", "why", ""), "Allow");
    act(&robot, "executeAction", approval, "{\"flowRef\":\"write_a\"}", 403);
    assert_non_null(strstr(rig.reply.detail, "budget b"));
    assert_true(has_evidence("Execution refused: policy few, budget b"));
    act(&robot, "executeAction", approval, "{\"flowRef\":\"write_a\"}", 409);
    assert_non_null(strstr(rig.reply.detail, "frozen"));
    rig_expect(&rig, &rig_admin, "unfreezeWorkspace", NULL, "{\"rationale\":\"long enough\"}", 200);
    remove_rule("few");
    act(&robot, "executeAction", approval, "{\"flowRef\":\"write_a\"}", 200);
}

static void create_budget(const char *id, const char *scope)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"policyId\":\"%s\",\"name\":\"few\",\"autonomyBudgets\":[{\"budgetId\":\"b\","
             "\"scope\":\"%s\",\"metric\":\"ApprovalRequests\",\"hardStopAt\":1,"
             "\"hardStopMode\":\"KillRun\",\"rationale\":\"enough\"}]}",
             id, scope);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL, body, 201);
}

static void expect_plan(const char *first, const char *second)
{
    const char *const expected[] = { first, second };
    rig_expect(&rig, &rig_operator, "planRun", NULL, "{\"workflowId\":\"wf-gates\"}", 200);
    const mcp_json *actions = mcp_json_get(rig_body(&rig), "actions");
    for (size_t i = 0; i < 2; i++) {
        const mcp_json *action = mcp_json_item(actions, i);
        const char *rule = mcp_json_get_string(action, "ruleId");
        assert_string_equal(mcp_json_get_string(action, "decision"), expected[i]);
        assert_string_equal(rule ? rule : "", strcmp(expected[i], "Denied") == 0 ? "b" : "");
    }
}

/* A plan says what budgets will say: of those that are used up, and of what it uses itself. */
static void a_plan_spends_budgets(void **state)
{
    (void)state;
    rig_expect(
        &rig, &rig_admin, "createWorkflow", NULL,
        "{\"schemaVersion\":1,\"workflowId\":\"wf-gates\",\"name\":\"gates\",\"active\":true,"
        "\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":\"a\",\"order\":1,"
        "\"portFamily\":\"SoftwareDev\",\"operation\":\"control:approve\"},{\"actionId\":\"b\","
        "\"order\":2,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:approve\"}]}",
        201);
    expect_plan("NeedsApproval", "NeedsApproval");
    create_budget("run-few", "Run");
    expect_plan("NeedsApproval", "Denied");
    remove_rule("run-few");
    create_budget("ws-few", "Workspace");
    expect_plan("NeedsApproval", "Denied");
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-gates\"}", 201);
    rig_await(&rig, text("runId"), "WaitingForApproval");
    expect_plan("Denied", "Denied");
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-gates\"}", 201);
    const mcp_json *run = rig_await(&rig, text("runId"), "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(run, "/failure/class"), NULL),
                        "policy-deny");
    remove_rule("ws-few");
    expect_plan("NeedsApproval", "NeedsApproval");
}

static void an_agent_in_quarantine_executes_nothing(void **state)
{
    (void)state;
    const char *approval = approved("write_b");
    rig_expect(&rig, &rig_admin, "createAgent", NULL,
               "{\"schemaVersion\":1,\"agentId\":\"ag-1\",\"machineId\":\"m-1\",\"displayName\":"
               "\"Robot\",\"capabilities\":[\"agent:task\",\"agent:x\"]}",
               409);
    act(&robot, "executeAction", approval, "{\"flowRef\":\"write_b\"}", 409);
    assert_non_null(strstr(rig.reply.detail, "quarantined"));
}

/* ---- documents ------------------------------------------------------------------------------- */

/* A pattern that no tool fits would hide, or classify, nothing. */
static void a_star_within_a_pattern_is_refused(void **state)
{
    static const char *const patterns[] = { "*_delete", "a*b", "**" };
    char body[512];
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        snprintf(
            body, sizeof body,
            "{\"schemaVersion\":1,\"rules\":[{\"toolPattern\":\"%s\"}],\"toolClasses\":[{"
            "\"toolPattern\":\"%s\",\"toolClass\":\"Dangerous\"}],\"defaultEffect\":\"Allow\"}",
            patterns[i], patterns[i]);
        rig_expect(&rig, &rig_admin, "setToolExposure", NULL, body, 422);
        assert_int_equal(rig.reply.fields.count, 2);
        assert_string_equal(rig.reply.fields.items[0].field, "/rules/0/toolPattern");
        assert_string_equal(rig.reply.fields.items[1].field, "/toolClasses/0/toolPattern");
    }
}

/* With more than these, nothing in the workspace could be judged. */
static void a_workspace_has_1000_active_policies(void **state)
{
    char body[128];
    int status = 201;
    int count = 0;
    (void)state;
    for (; status == 201 && count < 1001; count++) {
        snprintf(body, sizeof body, "{\"policyId\":\"n-%d\",\"name\":\"n\"}", count);
        status = rig_run(&rig, &rig_admin, "createPolicy", NULL, body);
    }
    assert_int_equal(status, 409);
    assert_int_equal(count, 1001);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf\"}", 201);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"policyId\":\"spare\",\"name\":\"n\",\"active\":false}", 201);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"spare\"}", "{\"active\":true}",
               409);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"n-7\"}",
               "{\"description\":\"changed\"}", 200);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"n-7\"}", "{\"active\":false}",
               200);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"spare\"}", "{\"active\":true}",
               200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_text_of_several_bytes_a_character_is_taken),
        cmocka_unit_test(a_run_ends_with_a_long_reason),
        cmocka_unit_test(the_machine_is_the_agents),
        cmocka_unit_test(a_budget_of_an_execution_freezes_the_workspace),
        cmocka_unit_test(a_plan_spends_budgets),
        cmocka_unit_test(an_agent_in_quarantine_executes_nothing),
        cmocka_unit_test(a_star_within_a_pattern_is_refused),
        cmocka_unit_test(a_workspace_has_1000_active_policies),
    };

    return cmocka_run_group_tests_name("policies", tests, begin, end);
}
