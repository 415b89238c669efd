/*
 * test_control.c - what people do to runs: cancel, intervene, resolve, complete, freeze.
 */
#include "../plane_rig.h"

#include <stdlib.h>

#include "fake_executor.h"
#include "mcp/clock.h"

static plane_rig rig;

static mcp_status insert_adapters(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    mcp_status st = rig_insert_adapter(tx, "ad-1", "SoftwareDev", "fake", err);
    return st == MCP_OK ? rig_insert_adapter(tx, "ad-2", "ItsmItOps", "repeatable", err) : st;
}

static const uint8_t key[32] = { 1, 2, 3 };

static int begin(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    rig_open_with(&rig, (portarium_plane_options){ .url = "memory",
                                                   .settings = { .seal_key = key },
                                                   .engine = { .executors = &executors } });
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapters, NULL, &err), MCP_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* An action of the adapter whose system knows keys again. */
#define REPEATABLE(id, order, mode)                                                                \
    "{\"actionId\":\"" id "\",\"order\":" order                                                    \
    ",\"portFamily\":\"ItsmItOps\",\"operation\":\"change:write\",\"input\":{\"mode\":\"" mode     \
    "\"},\"retry\":{\"maxAttempts\":3,\"initialBackoffMs\":10}}"

#define ACTION(id, order, operation, more)                                                         \
    "{\"actionId\":\"" id "\",\"order\":" order                                                    \
    ",\"portFamily\":\"SoftwareDev\",\"operation\":\"" operation "\"" more "}"

static const char *define(const char *id, const char *tier, const char *actions)
{
    char body[4096];
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"workflowId\":\"%s\",\"workspaceId\":\"ws-1\",\"name\":\"%s\","
             "\"version\":1,\"active\":true,\"executionTier\":\"%s\",\"actions\":[%s]}",
             id, id, tier, actions);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, body, 201);
    return id;
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

static void expect(const portarium_actor *actor, const char *operation, const char *run,
                   const char *body, int status)
{
    rig_expect(&rig, actor, operation, of_run(run, ""), body, status);
}

static const mcp_json *full(const char *run)
{
    rig_expect(&rig, &rig_operator, "getRun", of_run(run, ",\"view\":\"full\""), NULL, 200);
    return rig_body(&rig);
}

static void await_action(const char *run, const char *state)
{
    for (int i = 0; i < 3000; i++) {
        if (strcmp(rig_text_at(full(run), "/actions/0/state"), state) == 0)
            return;
        usleep(10000);
    }
    fail_msg("the action is not %s", state);
}

/* The one value of a query, as text. */
typedef struct question {
    const char *sql, *argument;
    char answer[128];
} question;

static mcp_status ask_work(portarium_tx *tx, void *data, mcp_error *err)
{
    question *self = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->argument) };
    mcp_status st = db_query(&rows, tx->session, self->sql, values, 1, err);
    snprintf(self->answer, sizeof self->answer, "%s",
             portarium_next(rows, &st, err) ? db_text_at(rows, 0, NULL) : "");
    db_rows_free(rows);
    return st;
}

static question ask(const char *sql, const char *argument)
{
    mcp_error err = MCP_ERROR_INIT;
    question self = { .sql = sql, .argument = argument };
    if (portarium_plane_read(rig.plane, "ws-1", rig.arena, ask_work, &self, &err) != MCP_OK)
        fail_msg("%s: %s", sql, err.message);
    return self;
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static void cancelling_ends_what_waits_for_people(void **state)
{
    (void)state;
    const char *run = start(define("wf-gate", "HumanApprove", ACTION("one", "1", "pr:write", "")));
    rig_await(&rig, run, "WaitingForApproval");
    const mcp_json *before = full(run);
    assert_int_equal(mcp_json_count(mcp_json_get(before, "pendingApprovals")), 1);
    assert_string_equal(rig_text_at(before, "/actions/0/state"), "WaitingForApproval");
    expect(&rig_auditor, "cancelRun", run, NULL, 403);
    expect(&rig_approver, "cancelRun", run, NULL, 403);
    expect(&rig_operator, "cancelRun", run, "{\"rationale\":\"not needed\"}", 200);
    const mcp_json *after = full(run);
    assert_string_equal(rig_text_at(after, "/status"), "Cancelled");
    assert_string_equal(rig_text_at(after, "/actions/0/state"), "Cancelled");
    assert_string_equal(rig_text_at(after, "/actions/0/startedAtIso"), "");
    assert_string_not_equal(rig_text_at(after, "/actions/0/endedAtIso"), "");
    assert_int_equal(mcp_json_count(mcp_json_get(after, "pendingApprovals")), 0);
    question status = ask("SELECT status FROM approvals WHERE run_id = $1", run);
    assert_string_equal(status.answer, "Expired");
    status = ask("SELECT i.status FROM work_items AS i JOIN work_item_links AS l ON "
                 "l.work_item_id = i.id WHERE l.kind = 'run' AND l.ref = $1",
                 run);
    assert_string_equal(status.answer, "Closed");
    question evidence = ask("SELECT CAST(COUNT(*) AS TEXT) FROM evidence WHERE run_id = $1", run);
    expect(&rig_operator, "cancelRun", run, NULL, 200);
    assert_string_equal(
        ask("SELECT CAST(COUNT(*) AS TEXT) FROM evidence WHERE run_id = $1", run).answer,
        evidence.answer);
}

static void cancelling_stops_attempts_in_flight(void **state)
{
    int before = atomic_load(&stops), begun = atomic_load(&blocked);
    (void)state;
    const char *run = start(define(
        "wf-block", "Auto", ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"block\"}")));
    await_action(run, "Running");
    /* The action is Running before its attempt begins; cancelled by then, it never begins. */
    for (int i = 0; i < 6000 && atomic_load(&blocked) == begun; i++)
        usleep(10000);
    expect(&rig_operator, "cancelRun", run, NULL, 200);
    for (int i = 0; i < 3000 && atomic_load(&stops) == before; i++)
        usleep(10000);
    assert_int_equal(atomic_load(&stops), before + 1);
    question late = { .answer = "" };
    for (int i = 0; i < 3000 && !*late.answer; i++) {
        late = ask("SELECT id FROM evidence WHERE run_id = $1 AND json LIKE '%late result%'", run);
        usleep(10000);
    }
    assert_string_not_equal(late.answer, "");
    assert_string_equal(rig_text_at(full(run), "/status"), "Cancelled");
    assert_string_equal(rig_text_at(full(run), "/actions/0/state"), "Cancelled");
}

static void an_ended_run_is_not_cancelled(void **state)
{
    (void)state;
    const char *run = start(define("wf-noop", "Auto", ACTION("one", "1", "control:noop", "")));
    rig_await(&rig, run, "Succeeded");
    expect(&rig_operator, "cancelRun", run, NULL, 409);
    expect(&rig_operator, "interveneInRun", run,
           "{\"interventionType\":\"pause\",\"rationale\":\"too late\"}", 409);
}

/* ---- interventions --------------------------------------------------------------------------- */

#define PAUSE "{\"interventionType\":\"pause\",\"rationale\":\"let me look\"}"
#define RESUME "{\"interventionType\":\"resume\",\"rationale\":\"looks good\"}"

static void a_paused_run_continues_when_it_is_resumed(void **state)
{
    (void)state;
    const char *run = start(
        define("wf-wait", "Auto",
               ACTION("one", "1", "control:wait", ",\"input\":{\"durationMs\":300000}") "," ACTION(
                   "two", "2", "control:noop", "")));
    rig_await(&rig, run, "Running");
    expect(&rig_auditor, "interveneInRun", run, PAUSE, 403);
    expect(&rig_operator, "interveneInRun", run,
           "{\"interventionType\":\"escalate\",\"rationale\":\"who is there\"}", 422);
    expect(&rig_operator, "interveneInRun", run, PAUSE, 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Paused");
    assert_string_equal(rig_text_at(rig_body(&rig), "/controlState"), "blocked");
    expect(&rig_operator, "interveneInRun", run, RESUME, 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Running");
    assert_null(mcp_json_get(rig_body(&rig), "controlState"));
    expect(&rig_operator, "interveneInRun", run,
           "{\"interventionType\":\"handoff\",\"rationale\":\"your turn now\",\"target\":\"olga\"}",
           200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/operatorOwnerId"), "olga");
    expect(&rig_operator, "cancelRun", run, NULL, 200);
    assert_null(mcp_json_get(rig_body(&rig), "operatorOwnerId"));
}

static void resuming_does_not_walk_through_a_gate(void **state)
{
    (void)state;
    const char *run = start("wf-gate");
    rig_await(&rig, run, "WaitingForApproval");
    expect(&rig_admin, "interveneInRun", run, RESUME, 409);
    assert_string_equal(rig_text_at(full(run), "/status"), "WaitingForApproval");
}

static void nothing_is_dispatched_while_the_workspace_is_frozen(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "freezeWorkspace", NULL, "{\"rationale\":\"fire\"}", 403);
    rig_expect(&rig, &rig_admin, "freezeWorkspace", NULL, "{\"rationale\":\"fire\"}", 200);
    const char *run = start("wf-noop");
    const char *second = start("wf-noop");
    assert_string_equal(rig_text_at(full(run), "/status"), "Pending");
    rig_expect(&rig, &rig_admin, "unfreezeWorkspace", NULL, "{\"rationale\":\"it is out\"}", 200);
    rig_await(&rig, run, "Succeeded");
    rig_await(&rig, second, "Succeeded");
}

/* ---- unknown outcomes ------------------------------------------------------------------------ */

static const char *start_unknown(void)
{
    const char *run = start("wf-unknown");
    const mcp_json *json = rig_await(&rig, run, "Paused");
    assert_string_equal(rig_text_at(json, "/controlState"), "blocked");
    assert_string_equal(rig_text_at(full(run), "/actions/0/errorClass"), "unknown-outcome");
    return run;
}

static void resolve(const char *run, const char *body, int status)
{
    rig_expect(&rig, &rig_operator, "resolveAction", of_run(run, ",\"actionId\":\"one\""), body,
               status);
}

static void an_unknown_outcome_waits_for_a_person(void **state)
{
    (void)state;
    define("wf-unknown", "Auto",
           ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"unknown\"}"));
    const char *run = start_unknown();
    expect(&rig_operator, "interveneInRun", run, RESUME, 409);
    resolve(run, "{\"outcome\":\"succeeded\",\"rationale\":\"I saw it\",\"output\":{\"n\":1}}",
            200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/state"), "Succeeded");
    const mcp_json *json = rig_await(&rig, run, "Succeeded");
    assert_non_null(mcp_json_pointer(json, "/output/n"));
    resolve(run, "{\"outcome\":\"retry\",\"rationale\":\"again\"}", 409);

    run = start_unknown();
    int before = atomic_load(&calls);
    resolve(run, "{\"outcome\":\"retry\",\"rationale\":\"it did not happen\"}", 200);
    rig_await(&rig, run, "Succeeded");
    assert_int_equal(atomic_load(&calls), before + 1);

    run = start_unknown();
    resolve(run, "{\"outcome\":\"failed\",\"rationale\":\"it did not happen\"}", 200);
    rig_await(&rig, run, "Failed");
}

static const char *approve(const char *run)
{
    const char *approval = rig_text_at(full(run), "/pendingApprovals/0/approvalId");
    rig_expect(&rig, &rig_approver, "decideApproval",
               mcp_arena_printf(rig.arena, "{\"approvalId\":\"%s\"}", approval),
               "{\"decision\":\"Approved\",\"rationale\":\"as agreed\"}", 200);
    return approval;
}

/* What was approved may have been done: to do it again is another decision. */
static void what_is_tried_again_passes_its_gate_again(void **state)
{
    (void)state;
    define("wf-unknown-gate", "HumanApprove",
           ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"unknown\"}"));
    const char *run = start("wf-unknown-gate");
    rig_await(&rig, run, "WaitingForApproval");
    int before = atomic_load(&calls);
    const char *first = approve(run);
    rig_await(&rig, run, "Paused");
    assert_int_equal(atomic_load(&calls), before + 1);
    resolve(run, "{\"outcome\":\"retry\",\"rationale\":\"it did not happen\"}", 200);
    rig_await(&rig, run, "WaitingForApproval");
    assert_int_equal(atomic_load(&calls), before + 1);
    assert_string_not_equal(approve(run), first);
    rig_await(&rig, run, "Succeeded");
    assert_int_equal(atomic_load(&calls), before + 2);
    question statuses = ask("SELECT COUNT(*) FROM approvals WHERE run_id = $1 AND status = "
                            "'Executed'",
                            run);
    assert_string_equal(statuses.answer, "2");
}

static void a_pause_outlives_a_resolved_outcome(void **state)
{
    (void)state;
    const char *run = start_unknown();
    expect(&rig_operator, "interveneInRun", run, PAUSE, 200);
    resolve(run, "{\"outcome\":\"succeeded\",\"rationale\":\"I saw it\"}", 200);
    assert_string_equal(rig_text_at(full(run), "/status"), "Paused");
    expect(&rig_operator, "interveneInRun", run, RESUME, 200);
    rig_await(&rig, run, "Succeeded");
}

/* ---- attempts -------------------------------------------------------------------------------- */

static void an_attempt_is_repeated_where_that_does_no_harm(void **state)
{
    static const char *const modes[] = { "flaky", "unknown" };
    (void)state;
    define("wf-flaky", "Auto", REPEATABLE("one", "1", "flaky"));
    define("wf-repeat", "Auto", REPEATABLE("one", "1", "unknown"));
    for (size_t i = 0; i < 2; i++) {
        int64_t attempt = 0;
        const char *run = start(i == 0 ? "wf-flaky" : "wf-repeat");
        rig_await(&rig, run, "Succeeded");
        mcp_json_int(mcp_json_pointer(full(run), "/actions/0/attempt"), &attempt);
        if (attempt != 2)
            fail_msg("%s: %d attempts", modes[i], (int)attempt);
    }
}

static void an_output_that_cannot_be_stored_fails_the_action(void **state)
{
    (void)state;
    const char *runs[] = {
        start(define("wf-long", "Auto",
                     ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"long\"}"))),
        start(define("wf-deep", "Auto",
                     ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"deep\"}"))),
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        assert_string_equal(rig_text_at(rig_await(&rig, runs[i], "Failed"), "/failure/class"),
                            "validation");
}

/* As if another process had taken the action over and died: it holds an expired lease. The fence
 * has risen, so what performs the action here cannot end it any more, however late it is
 * recovered. */
static mcp_status orphan(portarium_tx *tx, void *data, mcp_error *err)
{
    db_value values[] = { db_text(data) };
    return db_run(tx->session, NULL,
                  "UPDATE run_actions SET lease_owner = 'dead', lease_until = 1, fence = fence + 1 "
                  "WHERE run_id = $1",
                  values, 1, err);
}

static void a_lost_attempt_is_repeated_only_where_that_does_no_harm(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    define("wf-lost", "Auto", REPEATABLE("one", "1", "block-first"));
    define("wf-lost-2", "Auto",
           ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"block-first\"}"));
    const char *runs[] = { start("wf-lost"), start("wf-lost-2") };
    for (size_t i = 0; i < 2; i++) {
        await_action(runs[i], "Running");
        assert_int_equal(
            portarium_plane_write(rig.plane, "ws-1", rig.arena, orphan, (void *)runs[i], &err),
            MCP_OK);
    }
    rig_await(&rig, runs[0], "Succeeded");
    rig_await(&rig, runs[1], "Paused");
    assert_string_equal(rig_text_at(full(runs[1]), "/actions/0/errorClass"), "unknown-outcome");
}

/* A plane that is closed while attempts wait for a thread gives them back: another plane on the
 * same database performs them. */
static void a_plane_that_ends_gives_back_what_it_has_not_begun(void **state)
{
    char url[128], folder[] = "/tmp/portarium-XXXXXX";
    plane_rig kept = rig;
    portarium_plane_options options = {
        .url = url, .engine = { .executors = &executors, .threads = 1, .grace_ms = 1 }
    };
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof url, "sqlite:%s/p.db", folder);
    rig_open_with(&rig, options);
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapters, NULL, &err), MCP_OK);
    const char *blocked = start(
        define("wf-b", "Auto", ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"block\"}")));
    await_action(blocked, "Running");
    const char *waiting = start(
        define("wf-d", "Auto", ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"done\"}")));
    await_action(waiting, "Running");
    portarium_plane_close(rig.plane);

    options.settings.instance = "second";
    options.files = portarium_files;
    assert_int_equal(portarium_plane_open(&rig.plane, &options, &err), MCP_OK);
    rig_await(&rig, waiting, "Succeeded");
    rig_await(&rig, blocked, "Succeeded");
    rig_close(&rig);
    rig = kept;
}

#define SECRET_WORKFLOW                                                                            \
    "{\"schemaVersion\":1,\"workflowId\":\"wf-secret\",\"workspaceId\":\"ws-1\",\"name\":"         \
    "\"wf-secret\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"parametersSchema\":" \
    "{\"type\":\"object\",\"properties\":{\"token\":{\"type\":\"string\",\"writeOnly\":true}}},"   \
    "\"actions\":[" ACTION("one", "1", "pr:write",                                                 \
                           ",\"input\":{\"mode\":\"done\",\"token\":\"Bearer "                     \
                           "${parameters.token}\"}") "]}"
#define START_SECRET "{\"workflowId\":\"wf-secret\",\"parameters\":{\"token\":\"canary-7781\"}}"

static void expect_nowhere(const char *table, const char *columns)
{
    question found = ask(
        mcp_arena_printf(rig.arena, "SELECT '%s' FROM %s WHERE %s LIKE $1", table, table, columns),
        "%canary-7781%");
    assert_string_equal(found.answer, "");
}

/* Also where the other system repeats it. */
static void a_secret_parameter_reaches_the_other_system_and_nobody_else(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, SECRET_WORKFLOW, 201);
    rig_expect(&rig, &rig_operator, "startRun", NULL, START_SECRET, 201);
    assert_string_equal(rig_text_at(rig_body(&rig), "/parameters/token"), "[secret]");
    const mcp_json *run = rig_await(&rig, rig_text_at(rig_body(&rig), "/runId"), "Succeeded");
    assert_string_equal(rig_text_at(run, "/output/token"), "[secret]");
    assert_int_equal(atomic_load(&secrets), 1);
    expect_nowhere("runs", "json || COALESCE(hidden, '')");
    expect_nowhere("run_actions", "json || COALESCE(hidden, '')");
    expect_nowhere("evidence", "json");
    expect_nowhere("outbox", "json");
    expect_nowhere("payloads", "CAST(bytes AS TEXT)");
}

static void a_plane_without_a_key_refuses_secrets(void **state)
{
    plane_rig kept = rig;
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    rig_open_with(&rig, (portarium_plane_options){ .url = "memory" });
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapters, NULL, &err), MCP_OK);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, SECRET_WORKFLOW, 201);
    rig_expect(&rig, &rig_operator, "startRun", NULL, START_SECRET, 501);
    rig_close(&rig);
    rig = kept;
}

#define UNDO ",\"compensationOperation\":\"pr:write\",\"compensationInput\":{\"mode\":\"%s\"}"

static void a_failed_run_is_undone_backwards(void **state)
{
    static const char *const expected[] = { "one Succeeded",         "two Succeeded",
                                            "three Failed",          "four Cancelled",
                                            "two:compensate Failed", "one:compensate Succeeded" };
    char actions[2048];
    (void)state;
    snprintf(
        actions, sizeof actions,
        ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"done\"}" UNDO) "," ACTION(
            "two", "2", "pr:write",
            ",\"input\":{\"mode\":\"done\"}" UNDO) "," ACTION("three", "3", "pr:write",
                                                              ",\"input\":{\"mode\":\"refuse\"}" UNDO) "," ACTION("four",
                                                                                                                  "4",
                                                                                                                  "pr:write",
                                                                                                                  ""),
        "done", "refuse", "done");
    const char *run = start(define("wf-undo", "Auto", actions));
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(rig_text_at(json, "/failure/actionId"), "three");
    const mcp_json *all = mcp_json_get(full(run), "actions");
    assert_int_equal(mcp_json_count(all), 6);
    for (size_t i = 0; i < 6; i++) {
        const mcp_json *action = mcp_json_item(all, i);
        assert_string_equal(mcp_arena_printf(rig.arena, "%s %s", rig_text_at(action, "/actionId"),
                                             rig_text_at(action, "/state")),
                            expected[i]);
    }
    question summary = ask("SELECT id FROM evidence WHERE run_id = $1 AND json LIKE "
                           "'%1 of 2 compensations succeeded%'",
                           run);
    assert_string_not_equal(summary.answer, "");
}

#define GATED                                                                                      \
    ACTION("three", "3", "pr:write",                                                               \
           ",\"input\":{\"mode\":\"done\"},\"executionTierOverride\":\"HumanApprove\"")

static const char *start_undoable(const char *workflow, const char *second_hook)
{
    char actions[2048];
    snprintf(actions, sizeof actions,
             ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"done\"}" UNDO) "," ACTION(
                 "two", "2", "pr:write", ",\"input\":{\"mode\":\"done\"}" UNDO) "," GATED,
             "done", second_hook);
    return start(define(workflow, "Auto", actions));
}

static void await_evidence(const char *run, const char *pattern)
{
    const char *sql = mcp_arena_printf(
        rig.arena, "SELECT id FROM evidence WHERE run_id = $1 AND json LIKE '%%%s%%'", pattern);
    for (int i = 0; i < 6000; i++) {
        if (*ask(sql, run).answer)
            return;
        usleep(10000);
    }
    fail_msg("no evidence of: %s", pattern);
}

static void expect_actions(const char *run, const char *const *expected, size_t count)
{
    const mcp_json *all = mcp_json_get(full(run), "actions");
    assert_int_equal(mcp_json_count(all), count);
    for (size_t i = 0; i < count; i++) {
        const mcp_json *action = mcp_json_item(all, i);
        assert_string_equal(mcp_arena_printf(rig.arena, "%s %s", rig_text_at(action, "/actionId"),
                                             rig_text_at(action, "/state")),
                            expected[i]);
    }
}

static void a_cancelled_run_is_undone_backwards_on_request(void **state)
{
    static const char *const expected[] = { "one Succeeded", "two Succeeded", "three Cancelled",
                                            "two:compensate Succeeded",
                                            "one:compensate Succeeded" };
    (void)state;
    const char *run = start_undoable("wf-undo-3", "done");
    rig_await(&rig, run, "WaitingForApproval");
    expect(&rig_auditor, "cancelRun", run, "{\"compensate\":true}", 403);
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true,\"rationale\":\"wrong one\"}",
           200);
    const mcp_json *json = rig_await(&rig, run, "Cancelled");
    assert_string_equal(rig_text_at(json, "/cancellation/requestedByUserId"), "otto");
    assert_string_equal(rig_text_at(json, "/cancellation/rationale"), "wrong one");
    assert_null(mcp_json_get(json, "failure"));
    expect_actions(run, expected, 5);
    await_evidence(run, "to be undone: wrong one");
    await_evidence(run, "2 of 2 compensations succeeded");
    assert_string_equal(ask("SELECT status FROM approvals WHERE run_id = $1", run).answer,
                        "Expired");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 200);
}

static void a_second_cancellation_stops_the_undoing(void **state)
{
    static const char *const expected[] = { "one Succeeded", "two Succeeded", "three Cancelled",
                                            "two:compensate Cancelled",
                                            "one:compensate Cancelled" };
    (void)state;
    const char *run = start_undoable("wf-undo-4", "block");
    rig_await(&rig, run, "WaitingForApproval");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Running");
    assert_non_null(mcp_json_get(rig_body(&rig), "cancellation"));
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Running");
    expect(&rig_operator, "cancelRun", run, NULL, 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Cancelled");
    expect_actions(run, expected, 5);
}

static void a_run_with_nothing_to_undo_is_cancelled_at_once(void **state)
{
    (void)state;
    const char *run = start("wf-gate");
    rig_await(&rig, run, "WaitingForApproval");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "Cancelled");
    run = start("wf-noop");
    rig_await(&rig, run, "Succeeded");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 409);
}

static void an_unknown_compensation_waits_for_a_person(void **state)
{
    char actions[2048];
    (void)state;
    snprintf(actions, sizeof actions,
             ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"done\"}" UNDO) "," ACTION(
                 "two", "2", "pr:write", ",\"input\":{\"mode\":\"refuse\"}"),
             "unknown");
    const char *run = start(define("wf-undo-2", "Auto", actions));
    rig_await(&rig, run, "Paused");
    rig_expect(&rig, &rig_operator, "resolveAction",
               of_run(run, ",\"actionId\":\"one:compensate\""),
               "{\"outcome\":\"succeeded\",\"rationale\":\"it is gone\"}", 200);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(rig_text_at(json, "/failure/actionId"), "two");
}

/* Whether the second action is to be undone is not known before a person has said what it did. */
static void an_unknown_outcome_is_resolved_before_the_run_is_undone(void **state)
{
    char actions[2048];
    (void)state;
    snprintf(actions, sizeof actions,
             ACTION("one", "1", "pr:write", ",\"input\":{\"mode\":\"done\"}" UNDO) "," ACTION(
                 "two", "2", "pr:write", ",\"input\":{\"mode\":\"unknown\"}" UNDO) "," GATED,
             "done", "done");
    const char *run = start(define("wf-undo-6", "Auto", actions));
    rig_await(&rig, run, "Paused");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 409);
    assert_non_null(strstr(rig.reply.detail, "two is unknown"));
    rig_expect(&rig, &rig_operator, "resolveAction", of_run(run, ",\"actionId\":\"two\""),
               "{\"outcome\":\"succeeded\",\"rationale\":\"I saw it\"}", 200);
    rig_await(&rig, run, "WaitingForApproval");
    expect(&rig_operator, "cancelRun", run, "{\"compensate\":true}", 200);
    rig_await(&rig, run, "Cancelled");
    await_evidence(run, "2 of 2 compensations succeeded");
    run = start("wf-undo-6");
    rig_await(&rig, run, "Paused");
    expect(&rig_operator, "cancelRun", run, NULL, 200);
    rig_expect(&rig, &rig_operator, "resolveAction", of_run(run, ",\"actionId\":\"two\""),
               "{\"outcome\":\"retry\",\"rationale\":\"too late\"}", 409);
}

/* ---- manual actions -------------------------------------------------------------------------- */

static const char *task_of(const char *run, const portarium_actor *actor, const char **token)
{
    rig_expect(&rig, actor, "listHumanTasks", of_run(run, ""), NULL, 200);
    const mcp_json *task = mcp_json_pointer(rig_body(&rig), "/items/0");
    *token = mcp_json_get_string(task, "completionToken");
    return mcp_json_get_string(task, "humanTaskId");
}

static void complete(const char *run, const char *token, const char *outcome, int status)
{
    char body[512];
    snprintf(
        body, sizeof body,
        "{\"schemaVersion\":1,\"runId\":\"%s\",\"actionId\":\"one\",\"completionToken\":\"%s\","
        "\"outcome\":\"%s\",\"completedAtIso\":\"2026-01-02T03:04:05.000Z\","
        "\"notes\":\"by hand\"}",
        run, token, outcome);
    rig_expect(&rig, &rig_approver, "completeAction", of_run(run, ",\"actionId\":\"one\""), body,
               status);
}

static void a_manual_action_waits_for_its_completion(void **state)
{
    (void)state;
    const char *token = NULL, *none = NULL;
    const char *run = start(define("wf-manual", "ManualOnly", ACTION("one", "1", "pr:write", "")));
    rig_await(&rig, run, "Paused");
    const char *task = task_of(run, &rig_operator, &token);
    assert_non_null(token);
    task_of(run, &rig_auditor, &none);
    assert_null(none);
    const char *arguments = mcp_arena_printf(rig.arena, "{\"humanTaskId\":\"%s\"}", task);
    rig_expect(&rig, &rig_operator, "assignHumanTask", arguments,
               "{\"workforceMemberId\":\"anna\"}", 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "assigned");
    complete(run, "0123456789012345678901", "Succeeded", 403);
    complete(run, token, "Succeeded", 200);
    const mcp_json *json = rig_await(&rig, run, "Succeeded");
    assert_string_equal(rig_text_at(json, "/output/notes"), "by hand");
    complete(run, token, "Succeeded", 200);
    complete(run, token, "Failed", 409);
    rig_expect(&rig, &rig_operator, "getHumanTask", arguments, NULL, 200);
    assert_string_equal(rig_text_at(rig_body(&rig), "/status"), "completed");
}

static const char *await_task(const char *run, const char *status)
{
    for (int i = 0; i < 6000; i++) {
        rig_expect(&rig, &rig_operator, "listHumanTasks", of_run(run, ""), NULL, 200);
        if (strcmp(rig_text_at(rig_body(&rig), "/items/0/status"), status) == 0)
            return rig_text_at(rig_body(&rig), "/items/0/workItemId");
        usleep(10000);
    }
    fail_msg("the task is not %s: %.*s", status, (int)rig.reply.length, rig.reply.text);
    return "";
}

static void a_task_that_is_late_is_escalated(void **state)
{
    const char *token = NULL;
    (void)state;
    const char *run = start(
        define("wf-late", "ManualOnly", ACTION("one", "1", "pr:write", ",\"timeoutMs\":50")));
    const char *item = await_task(run, "escalated");
    await_evidence(run, "Human task escalated: its time limit has come");
    rig_expect(&rig, &rig_operator, "getWorkItem",
               mcp_arena_printf(rig.arena, "{\"workItemId\":\"%s\"}", item), NULL, 200);
    assert_string_not_equal(rig_text_at(rig_body(&rig), "/sla/dueAtIso"), "");
    task_of(run, &rig_approver, &token);
    complete(run, token, "Succeeded", 200);
    rig_await(&rig, run, "Succeeded");
}

static void the_time_limit_of_a_task_is_set_by_its_work_item(void **state)
{
    (void)state;
    const char *run = start(define("wf-limit", "ManualOnly", ACTION("one", "1", "pr:write", "")));
    rig_await(&rig, run, "Paused");
    const char *item = mcp_arena_printf(rig.arena, "{\"workItemId\":\"%s\"}",
                                        await_task(run, "pending"));
    rig_expect(&rig, &rig_operator, "getWorkItem", item, NULL, 200);
    rig_expect(&rig, &rig_operator, "updateWorkItem", item,
               mcp_arena_printf(rig.arena, "{\"sla\":{\"dueAtIso\":\"%s\"}}",
                                rig_text_at(rig_body(&rig), "/createdAtIso")),
               200);
    await_task(run, "escalated");
    expect(&rig_operator, "cancelRun", run, NULL, 200);
}

static void a_failed_manual_action_fails_its_run(void **state)
{
    (void)state;
    const char *token = NULL, *outcomes[] = { "Failed", "Cancelled" };
    for (size_t i = 0; i < 2; i++) {
        const char *run = start("wf-manual");
        rig_await(&rig, run, "Paused");
        task_of(run, &rig_operator, &token);
        complete(run, token, outcomes[i], 200);
        const mcp_json *json = rig_await(&rig, run, "Failed");
        assert_string_equal(rig_text_at(json, "/failure/class"), "conflict");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_ends_what_waits_for_people),
        cmocka_unit_test(cancelling_stops_attempts_in_flight),
        cmocka_unit_test(an_ended_run_is_not_cancelled),
        cmocka_unit_test(a_paused_run_continues_when_it_is_resumed),
        cmocka_unit_test(resuming_does_not_walk_through_a_gate),
        cmocka_unit_test(nothing_is_dispatched_while_the_workspace_is_frozen),
        cmocka_unit_test(an_unknown_outcome_waits_for_a_person),
        cmocka_unit_test(what_is_tried_again_passes_its_gate_again),
        cmocka_unit_test(a_pause_outlives_a_resolved_outcome),
        cmocka_unit_test(an_attempt_is_repeated_where_that_does_no_harm),
        cmocka_unit_test(an_output_that_cannot_be_stored_fails_the_action),
        cmocka_unit_test(a_lost_attempt_is_repeated_only_where_that_does_no_harm),
        cmocka_unit_test(a_plane_that_ends_gives_back_what_it_has_not_begun),
        cmocka_unit_test(a_secret_parameter_reaches_the_other_system_and_nobody_else),
        cmocka_unit_test(a_plane_without_a_key_refuses_secrets),
        cmocka_unit_test(a_failed_run_is_undone_backwards),
        cmocka_unit_test(a_cancelled_run_is_undone_backwards_on_request),
        cmocka_unit_test(a_second_cancellation_stops_the_undoing),
        cmocka_unit_test(a_run_with_nothing_to_undo_is_cancelled_at_once),
        cmocka_unit_test(an_unknown_compensation_waits_for_a_person),
        cmocka_unit_test(an_unknown_outcome_is_resolved_before_the_run_is_undone),
        cmocka_unit_test(a_manual_action_waits_for_its_completion),
        cmocka_unit_test(a_task_that_is_late_is_escalated),
        cmocka_unit_test(the_time_limit_of_a_task_is_set_by_its_work_item),
        cmocka_unit_test(a_failed_manual_action_fails_its_run),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
