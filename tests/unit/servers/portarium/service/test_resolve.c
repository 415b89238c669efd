/*
 * test_resolve.c - an unknown outcome of a compensation, in a run that others hold, too.
 */
#include "../plane_rig.h"

#include "fake_executor.h"

static plane_rig rig;

static mcp_status insert_adapter(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return rig_insert_adapter(tx, "ad-1", "SoftwareDev", "fake", err);
}

static int begin(void **state)
{
    (void)state;
    rig_open_with(
        &rig, (portarium_plane_options){ .url = "memory", .engine = { .executors = &executors } });
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapter, NULL, NULL), MCP_OK);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               "{\"schemaVersion\":1,\"workflowId\":\"wf\",\"workspaceId\":\"ws-1\",\"name\":"
               "\"wf\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":["
               "{\"actionId\":\"one\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":"
               "\"pr:write\",\"input\":{\"mode\":\"done\"},\"compensationOperation\":\"pr:write\","
               "\"compensationInput\":{\"mode\":\"held-unknown\"}},"
               "{\"actionId\":\"two\",\"order\":2,\"portFamily\":\"SoftwareDev\",\"operation\":"
               "\"pr:write\",\"input\":{\"mode\":\"refuse\"}}]}",
               201);
    rig_expect(&rig, &rig_operator, "createPlan", NULL,
               "{\"planId\":\"plan-1\",\"plannedEffects\":[]}", 201);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

#define WITH(form, id) mcp_arena_printf(rig.arena, form, id)

static const mcp_json *full(const char *run)
{
    rig_expect(&rig, &rig_admin, "getRun", WITH("{\"runId\":\"%s\",\"view\":\"full\"}", run), NULL,
               200);
    return rig_body(&rig);
}

/* The compensation is the third of the run's actions. */
static void await_compensation(const char *run, const char *state)
{
    for (int i = 0; i < 6000; i++) {
        if (strcmp(rig_text_at(full(run), "/actions/2/state"), state) == 0)
            return;
        usleep(10000);
    }
    fail_msg("the compensation is %s", rig_text_at(full(run), "/actions/2/state"));
}

/* Changes are asked for while it is performed. Their resubmission does not release the run, whose
 * compensation has an unknown outcome meanwhile. */
static void a_resubmission_does_not_release_an_unknown_compensation(void **state)
{
    (void)state;
    atomic_store(&held, 1);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf\"}", 201);
    const char *run = rig_text_at(rig_body(&rig), "/runId");
    await_compensation(run, "Running");
    rig_expect(&rig, &rig_operator, "createApproval", NULL,
               WITH("{\"runId\":\"%s\",\"planId\":\"plan-1\",\"prompt\":\"?\"}", run), 201);
    const char *approval = WITH("{\"approvalId\":\"%s\"}",
                                rig_text_at(rig_body(&rig), "/approvalId"));
    rig_expect(&rig, &rig_approver, "decideApproval", approval,
               "{\"decision\":\"RequestChanges\",\"rationale\":\"say why\"}", 200);
    atomic_store(&held, 0);
    await_compensation(run, "Failed");
    rig_expect(&rig, &rig_operator, "resubmitApproval", approval, "{\"note\":\"because\"}", 200);
    assert_string_equal(rig_text_at(full(run), "/controlState"), "blocked");
    rig_expect(&rig, &rig_approver, "decideApproval", approval,
               "{\"decision\":\"Approved\",\"rationale\":\"now I see\"}", 200);
    usleep(200000);
    assert_string_not_equal(rig_text_at(full(run), "/status"), "Failed");
    rig_expect(&rig, &rig_operator, "resolveAction",
               WITH("{\"runId\":\"%s\",\"actionId\":\"one:compensate\"}", run),
               "{\"outcome\":\"succeeded\",\"rationale\":\"it is gone\"}", 200);
    rig_await(&rig, run, "Failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resubmission_does_not_release_an_unknown_compensation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
