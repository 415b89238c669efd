/*
 * test_approvals.c - gates, decisions and what follows from them, by operations.
 */
#include "../../plane_rig.h"
#include "postgres.h"

#include <pthread.h>

#include "engine/gates/approval.h"
#include "model/identity.h"

static plane_rig rig;
static portarium_plane *replica; /* on the same database; NULL: there is one process alone */

static const portarium_actor bert = { .subject = "bert",
                                      .workspace = "ws-1",
                                      .roles = PORTARIUM_ROLE(APPROVER) };
static const portarium_actor carla = { .subject = "carla",
                                       .workspace = "ws-1",
                                       .roles = PORTARIUM_ROLE(APPROVER) };
static const portarium_actor auditor = { .subject = "uwe",
                                         .workspace = "ws-1",
                                         .roles = PORTARIUM_ROLE(AUDITOR) };
static const portarium_actor agent = { .subject = "agent-1",
                                       .workspace = "ws-1",
                                       .roles = PORTARIUM_ROLE(OPERATOR) | PORTARIUM_ROLE(APPROVER),
                                       .agent_id = "agent-1",
                                       .owner = "anna" };

#define ACTION(id, order, operation, more)                                                         \
    "{\"actionId\":\"" id "\",\"order\":" order                                                    \
    ",\"portFamily\":\"SoftwareDev\",\"operation\":\"" operation "\"" more "}"

#define WORKFLOW(id, tier, actions)                                                                \
    "{\"schemaVersion\":1,\"workflowId\":\"" id "\",\"workspaceId\":\"ws-1\",\"name\":\"" id       \
    "\",\"version\":1,\"active\":true,\"executionTier\":\"" tier "\",\"actions\":[" actions "]}"

static void make_workflow(void)
{
    rig_expect(
        &rig, &rig_admin, "createWorkflow", NULL,
        WORKFLOW("gated", "Auto",
                 ACTION("first", "1", "control:noop", "") "," ACTION(
                     "second", "2", "control:noop",
                     ",\"executionTierOverride\":\"HumanApprove\",\"input\":{\"n\":"
                     "\"${parameters.n}\",\"nothing\":null}") "," ACTION("third", "3",
                                                                         "control:noop", "")),
        201);
}

static int begin_memory(void **state)
{
    (void)state;
    rig_open(&rig, "memory");
    make_workflow();
    return 0;
}

static int begin_postgres(void **state)
{
    (void)state;
    mcp_error err = MCP_ERROR_INIT;
    const portarium_plane_options second = { .url = postgres_url(),
                                             .files = portarium_files,
                                             .settings = { .instance = "second" } };
    rig_open(&rig, postgres_url());
    if (portarium_plane_open(&replica, &second, &err) != MCP_OK)
        fail_msg("no second plane: %s", err.message);
    make_workflow();
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static int end_postgres(void **state)
{
    portarium_plane_close(replica);
    end(state);
    postgres_stop();
    return 0;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static const char *start(const char *workflow)
{
    char body[256];
    snprintf(body, sizeof body, "{\"workflowId\":\"%s\",\"parameters\":{\"n\":7}}", workflow);
    rig_expect(&rig, &rig_operator, "startRun", NULL, body, 201);
    return mcp_json_get_string(rig_body(&rig), "runId");
}

/* The newest approval of a run. */
static const mcp_json *approval_of(const char *run)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "{\"runId\":\"%s\"}", run);
    rig_expect(&rig, &rig_admin, "listApprovals", arguments, NULL, 200);
    const mcp_json *item = mcp_json_pointer(rig_body(&rig), "/items/0");
    assert_non_null(item);
    return item;
}

/* Start a run and wait for its gate. @return the approval's id */
static const char *gate(const char *workflow, const char **run)
{
    *run = start(workflow);
    rig_await(&rig, *run, "WaitingForApproval");
    return mcp_json_get_string(approval_of(*run), "approvalId");
}

static void decide(const portarium_actor *actor, const char *approval, const char *decision,
                   const char *more, int status)
{
    char arguments[128], body[1024];
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", approval);
    snprintf(body, sizeof body, "{\"decision\":\"%s\",\"rationale\":\"as agreed\"%s}", decision,
             more);
    rig_expect(&rig, actor, "decideApproval", arguments, body, status);
}

static const mcp_json *get(const char *operation, const char *member, const char *id)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "{\"%s\":\"%s\"}", member, id);
    rig_expect(&rig, &rig_admin, operation, arguments, NULL, 200);
    return rig_body(&rig);
}

static void expect_status(const char *approval, const char *status)
{
    const mcp_json *json = get("getApproval", "approvalId", approval);
    assert_string_equal(mcp_json_get_string(json, "status"), status);
}

typedef struct counting {
    const char *sql, *value;
    int64_t count;
} counting;

static mcp_status count_work(portarium_tx *tx, void *data, mcp_error *err)
{
    counting *self = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text("ws-1"), db_text(self->value) };
    mcp_status st = db_query(&rows, tx->session, self->sql, values, 2, err);
    if (portarium_next(rows, &st, err))
        self->count = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

static int64_t count_of(const char *sql, const char *value)
{
    counting what = { .sql = sql, .value = value };
    assert_int_equal(portarium_plane_read(rig.plane, "ws-1", rig.arena, count_work, &what, NULL),
                     MCP_OK);
    return what.count;
}

static int64_t events(const char *type, const char *aggregate)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM outbox WHERE workspace = $1 AND aggregate = $2 AND type = '%s'",
             type);
    return count_of(sql, aggregate);
}

static int64_t violations(const char *approval)
{
    return count_of("SELECT COUNT(*) FROM evidence WHERE workspace = $1 AND approval_id = $2 AND "
                    "category = 'PolicyViolation'",
                    approval);
}

static void set_policy(const char *id, const char *members)
{
    char body[2048];
    snprintf(body, sizeof body, "{\"policyId\":\"%s\",\"name\":\"%s\",%s}", id, id, members);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL, body, 201);
}

static void drop_policy(const char *id)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "{\"policyId\":\"%s\"}", id);
    rig_expect(&rig, &rig_admin, "updatePolicy", arguments, "{\"active\":false}", 200);
}

/* ---- the path -------------------------------------------------------------------------------- */

static void an_approved_gate_lets_its_run_succeed(void **state)
{
    const char *run = NULL, *id = gate("gated", &run);
    (void)state;
    const mcp_json *approval = approval_of(run);
    int64_t n = 0;
    assert_true(mcp_json_int(mcp_json_pointer(approval, "/subject/input/n"), &n));
    assert_int_equal(n, 7);
    const char *item = mcp_json_get_string(approval, "workItemId");
    assert_non_null(item);
    get("getPlan", "planId", mcp_json_get_string(approval, "planId"));
    decide(&rig_approver, id, "Approved", "", 200);
    assert_string_equal(mcp_json_get_string(rig_body(&rig), "decidedByUserId"), "anna");
    rig_await(&rig, run, "Succeeded");
    expect_status(id, "Executed");
    assert_int_equal(events("ApprovalGranted", id), 1);
    assert_int_equal(count_of("SELECT COUNT(*) FROM work_items WHERE workspace = $1 AND id = $2 "
                              "AND status = 'Resolved'",
                              item),
                     1);
}

static void a_denied_gate_fails_its_run_and_nothing_follows(void **state)
{
    const char *run = NULL, *id = gate("gated", &run);
    (void)state;
    decide(&rig_approver, id, "Denied", "", 200);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "approval-denied");
    assert_int_equal(count_of("SELECT COUNT(*) FROM run_actions WHERE workspace = $1 AND "
                              "run_id = $2 AND state = 'Cancelled'",
                              run),
                     1);
    assert_int_equal(events("RunResumed", run), 1); /* WaitingForApproval, Running, Failed */
    decide(&rig_approver, id, "Approved", "", 409);
    assert_string_equal(strchr(rig.reply.detail, ' ') + 1 + strlen(id), " is already decided.");
}

static void changes_that_are_asked_for_are_resubmitted_with_another_subject(void **state)
{
    char arguments[128], more[128], old[80];
    const char *run = NULL, *id = gate("gated", &run);
    (void)state;
    snprintf(old, sizeof old, "%s", mcp_json_get_string(approval_of(run), "subjectHash"));
    const char *plan = mcp_json_get_string(approval_of(run), "planId");
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", id);
    rig_expect(&rig, &rig_operator, "resubmitApproval", arguments, "{\"note\":\"n\"}", 409);
    decide(&rig_approver, id, "RequestChanges", "", 200);
    assert_string_equal(mcp_json_get_string(get("getRun", "runId", run), "controlState"),
                        "blocked");
    decide(&rig_approver, id, "Approved", "", 409);
    rig_expect(&rig, &rig_operator, "resubmitApproval", arguments,
               "{\"note\":\"less\",\"input\":{\"n\":6,\"nothing\":null}}", 200);
    const mcp_json *approval = rig_body(&rig);
    assert_string_equal(mcp_json_get_string(approval, "status"), "Pending");
    assert_null(mcp_json_get(approval, "decidedByUserId"));
    assert_null(mcp_json_get(approval, "decisions"));
    assert_string_not_equal(mcp_json_get_string(approval, "subjectHash"), old);
    assert_string_not_equal(mcp_json_get_string(approval, "planId"), plan);
    assert_null(mcp_json_get(get("getRun", "runId", run), "controlState"));
    snprintf(more, sizeof more, ",\"subjectHash\":\"%s\"", old);
    decide(&rig_approver, id, "Approved", more, 409);
    assert_non_null(strstr(rig.reply.detail, "stale"));
    decide(&rig_approver, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
    int64_t n = 0;
    const mcp_json *output = mcp_json_pointer(get("getApproval", "approvalId", id), "/subject");
    assert_true(mcp_json_int(mcp_json_pointer(output, "/input/n"), &n));
    assert_int_equal(n, 6);
}

static void who_resubmits_may_not_decide(void **state)
{
    static const portarium_actor both = { .subject = "berta",
                                          .workspace = "ws-1",
                                          .roles = PORTARIUM_ROLE(OPERATOR) |
                                                   PORTARIUM_ROLE(APPROVER) };
    char arguments[128];
    const char *run = NULL, *id = gate("gated", &run);
    (void)state;
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", id);
    decide(&both, id, "RequestChanges", "", 200);
    rig_expect(&rig, &both, "resubmitApproval", arguments,
               "{\"note\":\"mine\",\"input\":{\"n\":7,\"nothing\":null}}", 200);
    decide(&both, id, "Approved", "", 403);
    assert_non_null(strstr(rig.reply.detail, "Maker-checker"));
    decide(&rig_approver, id, "RequestChanges", "", 200);
    rig_expect(&rig, &rig_operator, "resubmitApproval", arguments, "{\"note\":\"again\"}", 200);
    decide(&both, id, "Approved", "", 403);
    decide(&rig_approver, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
}

/* ---- who may decide -------------------------------------------------------------------------- */

static void who_may_decide_is_checked_in_order(void **state)
{
    const char *run = NULL, *id = gate("gated", &run);
    const portarium_actor starter = { .subject = "otto",
                                      .workspace = "ws-1",
                                      .roles = PORTARIUM_ROLE(ADMIN) };
    (void)state;
    decide(&rig_operator, id, "Approved", "", 403);
    decide(&auditor, id, "Approved", "", 403);
    decide(&agent, id, "Approved", "", 403);
    decide(&rig_approver, "none", "Approved", "", 404);
    assert_int_equal(violations(id), 0);
    decide(&starter, id, "Approved", "", 403);
    assert_int_equal(violations(id), 1);
    assert_int_equal(events("SodViolationDetected", id), 1);
    char arguments[128];
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", id);
    rig_expect(&rig, &rig_approver, "decideApproval", arguments,
               "{\"decision\":\"Approved\",\"rationale\":\" \"}", 422);
    expect_status(id, "Pending");
    decide(&rig_approver, id, "Denied", "", 200);
    rig_await(&rig, run, "Failed");
}

static void several_approvers_are_collected(void **state)
{
    const char *run = NULL;
    (void)state;
    set_policy("two",
               "\"sodConstraints\":[{\"kind\":\"DistinctApprovers\",\"minimumApprovers\":2}]");
    const char *id = gate("gated", &run);
    decide(&rig_approver, id, "Approved", "", 200);
    assert_string_equal(mcp_json_get_string(rig_body(&rig), "status"), "Pending");
    assert_null(mcp_json_get(rig_body(&rig), "decidedByUserId"));
    decide(&rig_approver, id, "Approved", "", 403);
    assert_string_equal(rig.reply.detail, "SoD violation: DistinctApproversViolation");
    assert_int_equal(violations(id), 1);
    decide(&bert, id, "Approved", "", 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "decisions")), 2);
    rig_await(&rig, run, "Succeeded");
    id = gate("gated", &run);
    decide(&rig_approver, id, "Approved", "", 200);
    decide(&bert, id, "Denied", "", 200);
    rig_await(&rig, run, "Failed");
    drop_policy("two");
}

static void specialists_and_incompatible_duties_are_held(void **state)
{
    const char *run = NULL;
    (void)state;
    set_policy("special", "\"sodConstraints\":[{\"kind\":\"SpecialistApproval\",\"requiredRoles\":["
                          "\"admin\"],\"rationale\":\"money\"}]");
    const char *id = gate("gated", &run);
    decide(&rig_approver, id, "Approved", "", 403);
    assert_string_equal(rig.reply.detail, "SoD violation: SpecialistApprovalViolation");
    decide(&rig_admin, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
    drop_policy("special");
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"name\":\"x\",\"sodConstraints\":[{\"kind\":\"HazardousZoneNoSelfApproval\"}]}",
               422);
}

/* Do the manual action "by-hand" of a run. */
static void do_by_hand(const portarium_actor *actor, const char *run)
{
    char arguments[256], body[512];
    snprintf(arguments, sizeof arguments, "{\"runId\":\"%s\",\"actionId\":\"by-hand\"}", run);
    rig_expect(&rig, actor, "listHumanTasks", arguments, NULL, 200);
    const mcp_json *task = mcp_json_pointer(rig_body(&rig), "/items/0");
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"runId\":\"%s\",\"actionId\":\"by-hand\","
             "\"completionToken\":\"%s\",\"outcome\":\"Succeeded\","
             "\"completedAtIso\":\"2026-01-02T03:04:05.000Z\"}",
             run, mcp_json_get_string(task, "completionToken"));
    rig_expect(&rig, actor, "completeAction", arguments, body, 200);
}

static void who_has_done_a_part_may_not_approve_the_other(void **state)
{
    (void)state;
    set_policy("duties", "\"sodConstraints\":[{\"kind\":\"IncompatibleDuties\",\"dutyKeys\":["
                         "\"workforce:complete\",\"approval:submit\"]}]");
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("parts", "HumanApprove",
                        ACTION("by-hand", "1", "control:noop",
                               ",\"manual\":true") "," ACTION("approved", "2", "control:noop", "")),
               201);
    const char *run = start("parts");
    rig_await(&rig, run, "Paused");
    do_by_hand(&rig_approver, run);
    rig_await(&rig, run, "WaitingForApproval");
    const char *id = mcp_json_get_string(approval_of(run), "approvalId");
    decide(&rig_approver, id, "Approved", "", 403);
    assert_string_equal(rig.reply.detail, "SoD violation: IncompatibleDutiesViolation");
    decide(&bert, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
    drop_policy("duties");
}

static void another_adapter_makes_an_approval_stale(void **state)
{
    const char *run = NULL;
    (void)state;
    rig_expect(&rig, &rig_admin, "createAdapter", NULL,
               "{\"schemaVersion\":1,\"adapterId\":\"ad-1\",\"providerSlug\":\"forge\","
               "\"portFamily\":\"SoftwareDev\",\"enabled\":true,\"capabilityMatrix\":[{"
               "\"operation\":\"pr:write\",\"requiresAuth\":true}],\"executionPolicy\":{"
               "\"tenantIsolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[],"
               "\"credentialScope\":\"capabilityMatrix\",\"sandboxVerified\":true,"
               "\"sandboxAvailable\":true}}",
               201);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("merge", "HumanApprove", ACTION("one", "1", "pr:write", "")), 201);
    const char *id = gate("merge", &run);
    rig_expect(&rig, &rig_admin, "updateAdapter", "{\"adapterId\":\"ad-1\"}",
               "{\"providerSlug\":\"other\"}", 200);
    decide(&rig_approver, id, "Approved", "", 200);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "approval-stale");
    assert_int_equal(events("ActionDispatched", run), 0);
    expect_status(id, "Approved");
}

static void an_assigned_approval_is_for_its_assignee(void **state)
{
    char body[512], when[MCP_CLOCK_UTC_SIZE];
    (void)state;
    rig_expect(
        &rig, &rig_admin, "createWorkflow", NULL,
        WORKFLOW("slow", "Auto",
                 ACTION("one", "1", "control:wait", ",\"input\":{\"durationMs\":300}") "," ACTION(
                     "two", "2", "control:noop", "")),
        201);
    rig_expect(&rig, &rig_operator, "createPlan", NULL,
               "{\"planId\":\"plan-1\",\"plannedEffects\":[]}", 201);
    rig_expect(&rig, &rig_operator, "createWorkItem", NULL, "{\"title\":\"Check\"}", 201);
    const char *item = mcp_json_get_string(rig_body(&rig), "workItemId");
    const char *run = start("slow");
    snprintf(body, sizeof body,
             "{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"May it run?\","
             "\"workItemId\":\"%s\","
             "\"assigneeUserId\":\"bert\",\"escalationChain\":[{\"stepOrder\":1,"
             "\"escalateToUserId\":\"carla\",\"afterHours\":0.00001}]}",
             run, item);
    rig_expect(&rig, &rig_operator, "createApproval", NULL, body, 201);
    const char *id = mcp_json_get_string(rig_body(&rig), "approvalId");
    const mcp_json *linked = get("getWorkItem", "workItemId", item);
    assert_string_equal(mcp_json_string(mcp_json_pointer(linked, "/links/approvalIds/0"), NULL),
                        id);
    rig_await(&rig, run, "WaitingForApproval");
    decide(&rig_operator, id, "Approved", "", 403);
    decide(&rig_approver, id, "Approved", "", 403);
    for (int i = 0; i < 500 && events("ApprovalEscalated", id) == 0; i++)
        usleep(10000);
    assert_int_equal(events("ApprovalEscalated", id), 1);
    decide(&carla, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
    run = start("slow");
    snprintf(body, sizeof body, "{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"?\"}", run);
    rig_expect(&rig, &rig_operator, "createApproval", NULL, body, 201);
    id = mcp_json_get_string(rig_body(&rig), "approvalId");
    decide(&bert, id, "Denied", "", 200);
    rig_await(&rig, run, "Failed");
    assert_int_equal(events("ActionDispatched", run), 0);
    run = start("slow");
    portarium_time_write(when, mcp_clock_wall_ms() + 200);
    snprintf(body, sizeof body,
             "{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"?\",\"dueAtIso\":\"%s\"}", run,
             when);
    rig_expect(&rig, &rig_operator, "createApproval", NULL, body, 201);
    id = mcp_json_get_string(rig_body(&rig), "approvalId");
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "approval-expired");
    expect_status(id, "Expired");
    decide(&bert, id, "Approved", "", 409);
    rig_expect(&rig, &rig_operator, "createApproval", NULL, body, 422); /* due in the past */
}

static mcp_status make_late(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_record approval;
    const mcp_json *patch = NULL;
    mcp_status st = portarium_object(tx, &patch, err, "dueAtIso", "2026-01-02T03:04:05.000Z", NULL);
    if (st == MCP_OK)
        st = portarium_record_get(&approval, tx, &portarium_approvals, data, err);
    return st == MCP_OK
               ? portarium_record_patch(&approval, tx, &portarium_approvals, patch, NULL, err)
               : st;
}

/* Its time passes while the changes are made. */
static void an_approval_whose_time_is_over_is_not_asked_for_again(void **state)
{
    char body[512], when[MCP_CLOCK_UTC_SIZE];
    (void)state;
    const char *run = start("slow");
    portarium_time_write(when, mcp_clock_wall_ms() + 3600000);
    snprintf(body, sizeof body,
             "{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"?\",\"dueAtIso\":\"%s\"}", run,
             when);
    rig_expect(&rig, &rig_operator, "createApproval", NULL, body, 201);
    const char *id = mcp_json_get_string(rig_body(&rig), "approvalId");
    decide(&bert, id, "RequestChanges", "", 200);
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, make_late, (void *)id, NULL), MCP_OK);
    const char *arguments = mcp_arena_printf(rig.arena, "{\"approvalId\":\"%s\"}", id);
    rig_expect(&rig, &rig_operator, "resubmitApproval", arguments, "{\"note\":\"better\"}", 409);
    assert_non_null(strstr(rig.reply.detail, "has expired"));
    expect_status(id, "Expired");
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "approval-expired");
    assert_null(mcp_json_get(json, "controlState"));
    assert_int_equal(events("ApprovalRequested", id), 1);
    rig_expect(&rig, &rig_operator, "resubmitApproval", arguments, "{\"note\":\"better\"}", 409);
}

/* Asked for ten hours ago, due four hours ago. */
static mcp_status make_old_and_look(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_record approval;
    char asked[MCP_CLOCK_UTC_SIZE], due[MCP_CLOCK_UTC_SIZE];
    const mcp_json *patch = NULL;
    portarium_time_write(asked, tx->now_ms - 10 * 3600000);
    portarium_time_write(due, tx->now_ms - 4 * 3600000);
    mcp_status st = portarium_object(tx, &patch, err, "requestedAtIso", asked, "dueAtIso", due,
                                     NULL);
    if (st == MCP_OK)
        st = portarium_record_get(&approval, tx, &portarium_approvals, data, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&approval, tx, &portarium_approvals, patch, NULL, err);
    return st == MCP_OK ? portarium_approval_tick(tx, data, err) : st;
}

/* As after a plane was down, or its clock was set: a step behind the end is not reached. */
static void an_approval_is_not_escalated_behind_its_end(void **state)
{
    (void)state;
    const char *run = start("slow");
    rig_expect(
        &rig, &rig_operator, "createApproval", NULL,
        mcp_arena_printf(
            rig.arena,
            "{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"?\",\"assigneeUserId\":\"bert\","
            "\"escalationChain\":[{\"stepOrder\":1,\"escalateToUserId\":\"carla\","
            "\"afterHours\":5},{\"stepOrder\":2,\"escalateToUserId\":\"dora\","
            "\"afterHours\":8}]}",
            run),
        201);
    const char *id = mcp_json_get_string(rig_body(&rig), "approvalId");
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, make_old_and_look, (void *)id, NULL),
        MCP_OK);
    expect_status(id, "Expired");
    assert_int_equal(events("ApprovalEscalated", id), 1);
    rig_await(&rig, run, "Failed");
}

/* ---- forms, subjects, races ------------------------------------------------------------------ */

static void answers_of_a_form_become_output(void **state)
{
    const char *run = NULL;
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("form", "HumanApprove",
                        ACTION("ask", "1", "control:approve",
                               ",\"approvalForm\":{\"type\":\"object\",\"properties\":{\"limit\":{"
                               "\"type\":\"integer\"}},\"required\":[\"limit\"]}")),
               201);
    const char *id = gate("form", &run);
    decide(&rig_approver, id, "Approved", "", 422);
    decide(&rig_approver, id, "Approved", ",\"inputs\":{\"limit\":\"much\"}", 422);
    decide(&rig_approver, id, "Approved", ",\"inputs\":{\"limit\":12}", 200);
    int64_t limit = 0;
    const mcp_json *json = rig_await(&rig, run, "Succeeded");
    assert_true(mcp_json_int(mcp_json_pointer(json, "/output/approval/limit"), &limit));
    assert_int_equal(limit, 12);
}

enum { DECIDERS = 100, THREADS = 10 };

typedef struct racer {
    portarium_plane *plane;
    const char *arguments;
    int first;
    int won, lost;
} racer;

static void *race(void *data)
{
    racer *self = data;
    mcp_error err = MCP_ERROR_INIT;
    const portarium_operation *operation = portarium_operation_find("decideApproval");
    static const char body[] = "{\"decision\":\"Approved\",\"rationale\":\"me\"}";
    for (int i = 0; i < DECIDERS / THREADS; i++) {
        char name[32];
        portarium_reply reply;
        mcp_arena *arena = mcp_arena_new(16 << 20);
        snprintf(name, sizeof name, "user-%d", self->first + i);
        const portarium_actor actor = { .subject = name,
                                        .workspace = "ws-1",
                                        .roles = PORTARIUM_ROLE(APPROVER) };
        portarium_request request = { .actor = &actor, .workspace = "ws-1", .correlation_id = "c" };
        mcp_json_read(&request.arguments, arena, self->arguments, strlen(self->arguments), &err);
        mcp_json_read(&request.body, arena, body, sizeof body - 1, &err);
        portarium_plane_run(self->plane, operation, &request, arena, &reply);
        self->won += reply.status == 200;
        self->lost += reply.status == 409;
        mcp_arena_free(arena);
    }
    return NULL;
}

static void of_a_hundred_deciders_one_wins(void **state)
{
    char arguments[128];
    pthread_t threads[THREADS];
    racer racers[THREADS];
    int won = 0, lost = 0;
    const char *run = NULL, *id = gate("gated", &run);
    (void)state;
    snprintf(arguments, sizeof arguments, "{\"approvalId\":\"%s\"}", id);
    for (int i = 0; i < THREADS; i++) {
        racers[i] = (racer){ .plane = replica && i % 2 ? replica : rig.plane,
                             .arguments = arguments,
                             .first = i * (DECIDERS / THREADS) };
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        won += racers[i].won;
        lost += racers[i].lost;
    }
    assert_int_equal(won, 1);
    assert_int_equal(lost, DECIDERS - 1);
    assert_int_equal(events("ApprovalGranted", id), 1);
    rig_await(&rig, run, "Succeeded");
}

/* ---- policies -------------------------------------------------------------------------------- */

static const char *decision_of(const char *workflow, const char *action)
{
    char body[128];
    snprintf(body, sizeof body, "{\"workflowId\":\"%s\",\"parameters\":{\"n\":7}}", workflow);
    rig_expect(&rig, &rig_operator, "planRun", NULL, body, 200);
    const mcp_json *actions = mcp_json_get(rig_body(&rig), "actions");
    for (size_t i = 0; i < mcp_json_count(actions); i++) {
        const mcp_json *item = mcp_json_item(actions, i);
        if (strcmp(mcp_json_get_string(item, "actionId"), action) == 0)
            return mcp_json_get_string(item, "decision");
    }
    fail_msg("no action %s", action);
    return NULL;
}

static void policies_ask_for_approval_and_deny(void **state)
{
    const char *run = NULL;
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("free", "Auto", ACTION("only", "1", "control:noop", "")), 201);
    assert_string_equal(decision_of("free", "only"), "Allow");
    assert_string_equal(decision_of("gated", "second"), "NeedsApproval");
    rig_await(&rig, start("free"), "Succeeded");
    set_policy("ask", "\"rules\":[{\"ruleId\":\"r1\",\"condition\":\"workflow.id == 'free' && "
                      "run.parameters.n > 5\",\"effect\":\"RequireApproval\"}]");
    assert_string_equal(decision_of("free", "only"), "NeedsApproval");
    const char *id = gate("free", &run);
    const mcp_json *approval = approval_of(run);
    assert_string_equal(mcp_json_string(mcp_json_pointer(approval, "/raisedBy/policyId"), NULL),
                        "ask");
    assert_string_equal(mcp_json_string(mcp_json_pointer(approval, "/raisedBy/ruleId"), NULL),
                        "r1");
    set_policy("deny", "\"rules\":[{\"ruleId\":\"r1\",\"condition\":\"actor.roles contains "
                       "'operator' && workflow.name == 'free'\",\"effect\":\"Deny\"}]");
    assert_string_equal(decision_of("free", "only"), "Denied");
    decide(&rig_approver, id, "Approved", "", 200); /* but a Deny of meanwhile wins */
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "policy-deny");
    json = rig_await(&rig, start("free"), "Failed");
    assert_non_null(
        strstr(mcp_json_string(mcp_json_pointer(json, "/failure/message"), NULL), "policy deny"));
    drop_policy("ask");
    drop_policy("deny");
    rig_await(&rig, start("free"), "Succeeded");
}

static void a_simulation_says_what_then_happens(void **state)
{
    static const char rule[] =
        "\"rules\":[{\"ruleId\":\"r9\",\"condition\":\"workflow.id == 'sim'\",\"effect\":\"Deny\"}]";
    char body[512];
    int64_t judged = 0;
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               WORKFLOW("sim", "Auto", ACTION("only", "1", "control:noop", "")), 201);
    const char *run = start("sim");
    rig_await(&rig, run, "Succeeded");
    snprintf(body, sizeof body, "{\"policy\":{\"policyId\":\"sim\",\"name\":\"sim\",%s}}", rule);
    rig_expect(&rig, &rig_operator, "simulatePolicy", NULL, body, 403);
    rig_expect(&rig, &auditor, "simulatePolicy", NULL, body, 200);
    const mcp_json *changes = mcp_json_get(rig_body(&rig), "changes");
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "judged"), &judged));
    assert_true(judged > 1);
    const mcp_json *change = mcp_json_item(changes, 0); /* the newest; the policies of the tests
                                                         * before are not active any more */
    assert_string_equal(mcp_json_get_string(change, "runId"), run);
    assert_string_equal(mcp_json_get_string(change, "was"), "Allow");
    assert_string_equal(mcp_json_get_string(change, "would"), "Deny");
    assert_string_equal(mcp_json_get_string(change, "ruleId"), "r9");
    set_policy("sim", rule);
    rig_await(&rig, start("sim"), "Failed");
    drop_policy("sim");
}

static void policies_have_versions_and_are_checked(void **state)
{
    int64_t version = 0;
    (void)state;
    rig_expect(&rig, &rig_operator, "createPolicy", NULL, "{\"name\":\"x\"}", 403);
    rig_expect(&rig, &rig_admin, "createPolicy", NULL,
               "{\"name\":\"x\",\"rules\":[{\"ruleId\":\"r\",\"condition\":\"actor.id ==\","
               "\"effect\":\"Deny\"}]}",
               422);
    assert_string_equal(rig.reply.fields.items[0].field, "/rules/0/condition");
    set_policy("v", "\"active\":false");
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"v\"}", "{\"priority\":3}", 200);
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "version"), &version));
    assert_int_equal(version, 2);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"v\"}", "{\"priority\":3}", 200);
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "version"), &version));
    assert_int_equal(version, 2);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"v\"}", "{\"rules\":7}", 422);
    rig_expect(&rig, &rig_admin, "getToolExposure", NULL, NULL, 404);
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL,
               "{\"schemaVersion\":1,\"rules\":[{\"toolPattern\":\"portarium_run_*\","
               "\"allowedRoles\":[\"operator\"]}],\"defaultEffect\":\"Allow\"}",
               200);
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL,
               "{\"schemaVersion\":1,\"rules\":[],\"defaultEffect\":\"Deny\"}", 200);
    rig_expect(&rig, &rig_admin, "getToolExposure", NULL, NULL, 200);
    assert_string_equal(mcp_json_get_string(rig_body(&rig), "defaultEffect"), "Deny");
    rig_expect(&rig, &rig_admin, "setToolExposure", NULL, "{\"rules\":[]}", 422);
    rig_await(&rig, start("free"), "Succeeded"); /* it is no policy of actions */
}

static void a_budget_of_approvals_freezes_and_kills(void **state)
{
    const char *run = NULL, *id = NULL;
    (void)state;
    set_policy("few", "\"autonomyBudgets\":[{\"budgetId\":\"b\",\"scope\":\"Workspace\",\"metric\":"
                      "\"ApprovalRequests\",\"warningAt\":1,\"hardStopAt\":1,\"hardStopMode\":"
                      "\"FreezeRun\",\"rationale\":\"enough\"}]");
    id = gate("gated", &run);
    assert_int_equal(events("BudgetWarning", "few"), 1);
    const char *second = start("gated");
    const mcp_json *json = rig_await(&rig, second, "Paused");
    assert_string_equal(mcp_json_get_string(json, "controlState"), "frozen");
    assert_int_equal(events("BudgetExhausted", "few"), 1);
    rig_expect(&rig, &rig_admin, "updatePolicy", "{\"policyId\":\"few\"}",
               "{\"autonomyBudgets\":[{\"budgetId\":\"b\",\"scope\":\"Workspace\",\"metric\":"
               "\"ApprovalRequests\",\"hardStopAt\":1,\"hardStopMode\":\"KillRun\","
               "\"rationale\":\"enough\"}]}",
               200);
    json = rig_await(&rig, start("gated"), "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/failure/class"), NULL),
                        "policy-deny");
    drop_policy("few");
    decide(&rig_approver, id, "Approved", "", 200);
    rig_await(&rig, run, "Succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_approved_gate_lets_its_run_succeed),
        cmocka_unit_test(a_denied_gate_fails_its_run_and_nothing_follows),
        cmocka_unit_test(changes_that_are_asked_for_are_resubmitted_with_another_subject),
        cmocka_unit_test(who_resubmits_may_not_decide),
        cmocka_unit_test(who_may_decide_is_checked_in_order),
        cmocka_unit_test(several_approvers_are_collected),
        cmocka_unit_test(specialists_and_incompatible_duties_are_held),
        cmocka_unit_test(who_has_done_a_part_may_not_approve_the_other),
        cmocka_unit_test(another_adapter_makes_an_approval_stale),
        cmocka_unit_test(an_assigned_approval_is_for_its_assignee),
        cmocka_unit_test(an_approval_whose_time_is_over_is_not_asked_for_again),
        cmocka_unit_test(an_approval_is_not_escalated_behind_its_end),
        cmocka_unit_test(answers_of_a_form_become_output),
        cmocka_unit_test(of_a_hundred_deciders_one_wins),
        cmocka_unit_test(policies_ask_for_approval_and_deny),
        cmocka_unit_test(a_simulation_says_what_then_happens),
        cmocka_unit_test(policies_have_versions_and_are_checked),
        cmocka_unit_test(a_budget_of_approvals_freezes_and_kills),
    };
    int failures = cmocka_run_group_tests_name("in memory", tests, begin_memory, end);
    return failures +
           cmocka_run_group_tests_name("PostgreSQL", tests, begin_postgres, end_postgres);
}
