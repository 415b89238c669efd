/*
 * test_runs.c - runs from their start to their end, by operations.
 */
#include "../plane_rig.h"
#include "engine.h"

static plane_rig rig;

static int begin(void **state)
{
    (void)state;
    rig_open(&rig, "memory");
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

#define ACTION(id, order, operation, more)                                                         \
    "{\"actionId\":\"" id "\",\"order\":" order                                                    \
    ",\"portFamily\":\"SoftwareDev\",\"operation\":\"" operation "\"" more "}"

#define WORKFLOW(id, tier, actions)                                                                \
    "{\"schemaVersion\":1,\"workflowId\":\"" id "\",\"workspaceId\":\"ws-1\",\"name\":\"" id       \
    "\",\"version\":1,\"active\":true,\"executionTier\":\"" tier "\",\"actions\":[" actions "]}"

static const char *start(const char *workflow)
{
    char body[256];
    snprintf(body, sizeof body, "{\"workflowId\":\"%s\",\"parameters\":{\"n\":7}}", workflow);
    rig_expect(&rig, &rig_operator, "startRun", NULL, body, 201);
    return mcp_json_get_string(rig_body(&rig), "runId");
}

static void a_run_of_builtins_succeeds(void **state)
{
    (void)state;
    rig_expect(
        &rig, &rig_admin, "createWorkflow", NULL,
        WORKFLOW("wf-noop", "Auto",
                 ACTION("one", "1", "control:wait", ",\"input\":{\"durationMs\":20}") "," ACTION(
                     "two", "2", "control:noop", ",\"input\":{\"n\":\"${parameters.n}\"}")),
        201);
    const char *id = start("wf-noop");
    const mcp_json *run = rig_await(&rig, id, "Succeeded");
    int64_t n = 0;
    assert_true(mcp_json_int(mcp_json_pointer(run, "/output/n"), &n));
    assert_int_equal(n, 7);
    assert_non_null(mcp_json_get_string(run, "startedAtIso"));
    assert_non_null(mcp_json_get_string(run, "endedAtIso"));
}

static void a_failing_action_fails_its_run(void **state)
{
    (void)state;
    rig_expect(
        &rig, &rig_admin, "createWorkflow", NULL,
        WORKFLOW("wf-fail", "Auto",
                 ACTION("one", "1", "control:fail",
                        ",\"input\":{\"message\":\"on purpose\"}") "," ACTION("two", "2",
                                                                              "control:noop", "")),
        201);
    const mcp_json *run = rig_await(&rig, start("wf-fail"), "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(run, "/failure/actionId"), NULL), "one");
    assert_string_equal(mcp_json_string(mcp_json_pointer(run, "/failure/message"), NULL),
                        "on purpose");
}

static void a_gate_holds_its_run(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("wf-gate", "HumanApprove", ACTION("one", "1", "control:noop", "")), 201);
    const char *id = start("wf-gate");
    rig_await(&rig, id, "WaitingForApproval");
}

static void starts_are_checked(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"none\"}", 404);
    rig_expect(&rig, &rig_approver, "startRun", NULL, "{\"workflowId\":\"wf-noop\"}", 403);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":7}", 422);
    rig_expect(&rig, &rig_operator, "startRun", NULL, NULL, 400);
    rig_expect(&rig, &rig_admin, "archiveWorkflow", "{\"workflowId\":\"wf-noop\"}", NULL, 200);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-noop\"}", 409);
}

static int64_t pending(void)
{
    return engine_int(portarium_plane_database(rig.plane),
                      "SELECT pending FROM heads WHERE workspace = 'ws-1'");
}

/* A start is refused where 10,000 runs are Pending, and not by a number that is wrong. */
static void pending_runs_have_a_limit(void **state)
{
    db *database = portarium_plane_database(rig.plane);
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("wf-many", "Auto", ACTION("one", "1", "control:noop", "")), 201);
    rig_await(&rig, start("wf-many"), "Succeeded");
    assert_int_equal(pending(), 0);
    engine_run(database, "UPDATE heads SET pending = 10000 WHERE workspace = 'ws-1'");
    rig_await(&rig, start("wf-many"), "Succeeded");
    assert_int_equal(pending(), 0);
    engine_run(database,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
               "INSERT INTO runs (workspace, id, revision, created_at, json, status, workflow_id) "
               "SELECT 'ws-1', 'run-' || CAST(i AS TEXT), 1, 0, '{}', 'Pending', 'wf-many' FROM n");
    engine_run(database, "UPDATE heads SET pending = 10000 WHERE workspace = 'ws-1'");
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-many\"}", 409);
    assert_non_null(strstr(rig.reply.detail, "10000 runs are pending"));
    engine_run(database, "DELETE FROM runs WHERE id = 'run-1'");
    rig_await(&rig, start("wf-many"), "Succeeded");
    assert_int_equal(pending(), 9999);
    engine_run(database, "DELETE FROM runs WHERE json = '{}'");
}

static void an_agent_starts_and_cancels_its_own_runs(void **state)
{
    static const portarium_actor agent = { .subject = "robot",
                                           .workspace = "ws-1",
                                           .roles = PORTARIUM_ROLE(OPERATOR) |
                                                    PORTARIUM_ROLE(APPROVER),
                                           .agent_id = "ag-1",
                                           .owner = "anna" };
    char own[128], others[128], decide[160];
    const mcp_json *waiting = NULL;
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("wf-agent", "HumanApprove", ACTION("one", "1", "control:noop", "")), 201);
    snprintf(others, sizeof others, "{\"runId\":\"%s\"}", start("wf-agent"));
    rig_expect(&rig, &agent, "listWorkflows", NULL, NULL, 200);
    rig_expect(&rig, &agent, "planRun", NULL, "{\"workflowId\":\"wf-agent\"}", 200);
    assert_string_equal(
        mcp_json_string(mcp_json_pointer(rig_body(&rig), "/actions/0/decision"), NULL),
        "NeedsApproval");
    rig_expect(&rig, &agent, "startRun", NULL, "{\"workflowId\":\"wf-agent\"}", 201);
    const char *id = mcp_json_get_string(rig_body(&rig), "runId");
    snprintf(own, sizeof own, "{\"runId\":\"%s\",\"view\":\"full\"}", id);
    rig_await(&rig, id, "WaitingForApproval");
    rig_expect(&rig, &agent, "getRun", own, NULL, 200);
    waiting = mcp_json_pointer(rig_body(&rig), "/pendingApprovals/0");
    snprintf(decide, sizeof decide, "{\"approvalId\":\"%s\"}",
             mcp_json_get_string(waiting, "approvalId"));
    rig_expect(&rig, &agent, "getApproval", decide, NULL, 200);
    rig_expect(&rig, &agent, "decideApproval", decide,
               "{\"decision\":\"Approved\",\"rationale\":\"mine\"}", 403);
    rig_expect(&rig, &rig_approver, "decideApproval", decide,
               "{\"decision\":\"Approved\",\"rationale\":\"my robot's\"}", 403);
    assert_non_null(strstr(rig.reply.detail, "Maker-checker"));
    rig_expect(&rig, &agent, "cancelRun", others, NULL, 403);
    rig_expect(&rig, &agent, "cancelRun", own, NULL, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_builtins_succeeds),
        cmocka_unit_test(a_failing_action_fails_its_run),
        cmocka_unit_test(a_gate_holds_its_run),
        cmocka_unit_test(starts_are_checked),
        cmocka_unit_test(pending_runs_have_a_limit),
        cmocka_unit_test(an_agent_starts_and_cancels_its_own_runs),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
