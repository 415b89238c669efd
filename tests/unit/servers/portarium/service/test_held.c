/*
 * test_held.c - runs that a person holds, and who may release them.
 */
#include "../plane_rig.h"

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
    "{\"actionId\":\"" id "\",\"order\":" order ",\"portFamily\":\"SoftwareDev\","                 \
    "\"operation\":\"" operation "\"" more "}"

static void define(const char *id, const char *tier, const char *actions)
{
    char body[2048];
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"workflowId\":\"%s\",\"name\":\"%s\",\"active\":true,"
             "\"executionTier\":\"%s\",\"actions\":[%s]}",
             id, id, tier, actions);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, body, 201);
}

static const char *start(const char *workflow)
{
    char body[256];
    snprintf(body, sizeof body, "{\"workflowId\":\"%s\"}", workflow);
    rig_expect(&rig, &rig_operator, "startRun", NULL, body, 201);
    return mcp_json_get_string(rig_body(&rig), "runId");
}

static const char *of_run(const char *run, const char *more)
{
    return mcp_arena_printf(rig.arena, "{\"runId\":\"%s\"%s}", run, more);
}

static const mcp_json *full(const char *run)
{
    rig_expect(&rig, &rig_admin, "getRun", of_run(run, ",\"view\":\"full\""), NULL, 200);
    return rig_body(&rig);
}

static void intervene(const portarium_actor *by, const char *run, const char *body)
{
    rig_expect(&rig, by, "interveneInRun", of_run(run, ""), body, 200);
}

#define PAUSE "{\"interventionType\":\"pause\",\"rationale\":\"let me look\"}"
#define RESUME "{\"interventionType\":\"resume\",\"rationale\":\"looks good\"}"

/* Those who may not resume a run do not release it by giving it to somebody. */
static void a_run_that_changes_hands_stays_held(void **state)
{
    static const char reroute[] =
        "{\"interventionType\":\"reroute\",\"rationale\":\"not for me\",\"target\":\"olga\"}";
    static const struct {
        const portarium_actor *by;
        const char *type, *control;
    } holds[] = { { &rig_operator, "pause", "blocked" },
                  { &rig_operator, "sandbox", "degraded" },
                  { &rig_admin, "emergency-disable", "frozen" } };
    (void)state;
    define("wf-short", "Auto",
           ACTION("one", "1", "control:wait",
                  ",\"input\":{\"durationMs\":100}") "," ACTION("two", "2", "control:noop", ""));
    define("wf-held-gate", "HumanApprove", ACTION("one", "1", "control:noop", ""));
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
        const char *hold = mcp_arena_printf(
            rig.arena, "{\"interventionType\":\"%s\",\"rationale\":\"let me look\"}",
            holds[i].type);
        const char *run = start("wf-held-gate");
        rig_await(&rig, run, "WaitingForApproval");
        const char *approval = rig_text_at(full(run), "/pendingApprovals/0/approvalId");
        intervene(holds[i].by, run, hold);
        intervene(&rig_approver, run, reroute);
        assert_string_equal(rig_text_at(rig_body(&rig), "/controlState"), holds[i].control);
        assert_string_equal(rig_text_at(rig_body(&rig), "/operatorOwnerId"), "olga");
        rig_expect(&rig, &rig_approver, "decideApproval",
                   mcp_arena_printf(rig.arena, "{\"approvalId\":\"%s\"}", approval),
                   "{\"decision\":\"Approved\",\"rationale\":\"as agreed\"}", 200);
        usleep(300000);
        assert_string_not_equal(rig_text_at(full(run), "/status"), "Succeeded");
        intervene(&rig_operator, run, RESUME);
        rig_await(&rig, run, "Succeeded");
    }
    const char *run = start("wf-short");
    rig_await(&rig, run, "Running");
    intervene(&rig_operator, run, PAUSE);
    intervene(&rig_approver, run, reroute);
    assert_string_equal(rig_text_at(rig_body(&rig), "/controlState"), "blocked");
    usleep(300000);
    assert_string_equal(rig_text_at(full(run), "/status"), "Paused");
    intervene(&rig_operator, run, RESUME);
    rig_await(&rig, run, "Succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_run_that_changes_hands_stays_held) };

    return cmocka_run_group_tests(tests, begin, end);
}
