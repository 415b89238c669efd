/*
 * test_stored.c - runs whose values evidence cannot have as they are, runs that no step can
 * continue or store for a while, and policies that come between two attempts.
 */
#include "../plane_rig.h"
#include "fake_executor.h"

#include <semaphore.h>
#include <time.h>

static plane_rig rig;

enum { COMMITS_MAX = 2, WAIT_S = 60 };

static atomic_int refusals, fillings, filling_begun, filling_ended;
static mcp_arena *filling_arena;

static void fill_queue(void);

/* Counts results that found no room; fills the queue when a step has failed. */
static void read_log(mcp_log_level level, const char *message, void *data)
{
    (void)level, (void)data;
    if (strstr(message, "cannot be stored: 2 changes wait for the database already"))
        atomic_fetch_add(&refusals, 1);
    if (strncmp(message, "run ", 4) == 0 && atomic_exchange(&fillings, 0) == 1)
        fill_queue();
}

static mcp_status insert_adapter(portarium_tx *tx, void *data, mcp_error *err)
{
    static const char json[] = "{\"schemaVersion\":1,\"adapterId\":\"ad\",\"providerSlug\":\"s\","
                               "\"portFamily\":\"SoftwareDev\",\"enabled\":true,\"binding\":{"
                               "\"kind\":\"fake\"},\"executionPolicy\":{\"egressAllowlist\":[]}}";
    db_value values[] = { db_text(tx->workspace), db_text("ad"), db_text("SoftwareDev"),
                          db_int(tx->now_ms), db_text(json) };
    (void)data;
    return db_run(
        tx->session, NULL,
        "INSERT INTO adapters (workspace, id, port_family, enabled, revision, created_at, "
        "json) VALUES ($1, $2, $3, 1, 1, $4, $5)",
        values, 5, err);
}

static int begin(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    rig_open_with(
        &rig, (portarium_plane_options){ .url = "memory", .engine = { .executors = &executors } });
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapter, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return 0;
}

/* Room for two commands that wait for the database. */
static int begin_small(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    const portarium_plane_options options = {
        .url = "memory",
        .settings = { .commits_max = COMMITS_MAX, .log = { read_log, NULL, MCP_LOG_WARNING } },
        .engine = { .executors = &executors },
    };
    rig_open_with(&rig, options);
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapter, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

#define NEXT                                                                                       \
    ",{\"actionId\":\"two\",\"order\":2,\"portFamily\":\"SoftwareDev\",\"operation\":"             \
    "\"control:noop\",\"input\":{\"got\":\"${actions.one.output}\"}}"

static void define(const char *id, const char *tier, const char *mode, const char *more)
{
    char body[2048];
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"workflowId\":\"%s\",\"name\":\"%s\",\"active\":true,"
             "\"executionTier\":\"%s\",\"actions\":[{\"actionId\":\"one\",\"order\":1,"
             "\"portFamily\":\"SoftwareDev\",\"operation\":\"pr:write\",\"input\":{\"mode\":"
             "\"%s\"}}%s]}",
             id, id, tier, mode, more);
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

static mcp_status run_sql(portarium_tx *tx, void *data, mcp_error *err)
{
    int64_t changed = 0;
    mcp_status st = db_run(tx->session, &changed, data, NULL, 0, err);
    return st == MCP_OK && changed == 0 ? mcp_error_set(err, MCP_E_NOT_FOUND, "no row") : st;
}

static void change(const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, run_sql, (void *)sql, &err) != MCP_OK)
        fail_msg("%s: %s", sql, err.message);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A number that a double does not hold becomes a text, for what follows and for the evidence. */
static void an_output_with_large_ids_is_stored(void **state)
{
    (void)state;
    define("wf-ids", "Auto", "ids", NEXT);
    const mcp_json *json = rig_await(&rig, start("wf-ids"), "Succeeded");
    assert_string_equal(rig_text_at(json, "/output/got/id"), "1234567890123456789");
    assert_string_equal(rig_text_at(json, "/output/got/list/0"), "-9007199254740993");
    assert_true(mcp_json_is_number(mcp_json_pointer(json, "/output/got/list/1")));
    assert_true(mcp_json_is_number(mcp_json_pointer(json, "/output/got/list/2")));
    assert_string_equal(rig_text_at(json, "/output/got/text"), "a\xef\xbf\xbd"
                                                               "b");
    assert_true(mcp_json_is_number(mcp_json_pointer(json, "/output/got/\xef\xbf\xbd")));
    rig_expect(&rig, &rig_auditor, "verifyEvidence", NULL, NULL, 200);
}

static void a_body_that_evidence_cannot_have_is_refused(void **state)
{
    static const struct {
        const char *parameters, *field;
    } cases[] = {
        { "{\"n\":1234567890123456789}", "/parameters/n" },
        { "{\"n\":-9007199254740993}", "/parameters/n" },
        { "{\"n\":18446744073709551615}", "/parameters/n" },
        { "{\"a/b\":[1,{\"t\":\"\\uffff\"}]}", "/parameters/a~1b/1/t" },
        { "{\"n\":{\"\\ufdd0\":1}}", "/parameters/n" },
    };
    char body[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(body, sizeof body, "{\"workflowId\":\"wf-ids\",\"parameters\":%s}",
                 cases[i].parameters);
        rig_expect(&rig, &rig_operator, "startRun", NULL, body, 422);
        assert_string_equal(rig.reply.fields.items[0].field, cases[i].field);
    }
    rig_expect(&rig, &rig_operator, "startRun", NULL,
               "{\"workflowId\":\"wf-ids\",\"parameters\":{\"n\":9007199254740992,\"t\":"
               "\"\\uf8ff\\ue000\\ufffd\"}}",
               201);
}

/* As an older program may have left it: the step of the run fails whenever it is tried. */
static void a_run_that_no_step_can_continue_fails(void **state)
{
    (void)state;
    define("wf-gate", "HumanApprove", "any", "");
    const char *run = start("wf-gate");
    rig_await(&rig, run, "WaitingForApproval");
    rig_expect(&rig, &rig_operator, "getRun", of_run(run, ",\"view\":\"full\""), NULL, 200);
    const char *approval = rig_text_at(rig_body(&rig), "/pendingApprovals/0/approvalId");
    change(
        "UPDATE run_actions SET hidden = REPLACE(hidden, '\"any\"', '1234567890123456789') WHERE "
        "hidden LIKE '%\"any\"%'");
    rig_expect(&rig, &rig_approver, "decideApproval",
               mcp_arena_printf(rig.arena, "{\"approvalId\":\"%s\"}", approval),
               "{\"decision\":\"Approved\",\"rationale\":\"as agreed\"}", 200);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(rig_text_at(json, "/failure/class"), "validation");
    assert_non_null(strstr(rig_text_at(json, "/failure/message"), "cannot continue it"));
    rig_await(&rig, start("wf-ids"), "Succeeded");
}

static mcp_status rename_table(portarium_tx *tx, void *data, mcp_error *err)
{
    return db_run(tx->session, NULL, data, NULL, 0, err);
}

static void rename_payloads(const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    if (portarium_plane_write(rig.plane, NULL, rig.arena, rename_table, (void *)sql, &err) !=
        MCP_OK)
        fail_msg("%s: %s", sql, err.message);
}

/* The database cannot store a result for a while, which says nothing of the run. */
static void an_error_of_the_database_ends_no_run(void **state)
{
    int before = atomic_load(&calls);
    (void)state;
    atomic_store(&held, 1);
    define("wf-away", "Auto", "held", "");
    const char *run = start("wf-away");
    for (int i = 0; i < 6000 && atomic_load(&calls) == before; i++)
        usleep(10000);
    rename_payloads("ALTER TABLE payloads RENAME TO payloads_away");
    atomic_store(&held, 0);
    for (int i = 0; i < 6000 && atomic_load(&calls) < before + 2; i++)
        usleep(10000);
    usleep(300000);
    rename_payloads("ALTER TABLE payloads_away RENAME TO payloads");
    rig_await(&rig, run, "Succeeded");
}

/* ---- a full queue ---------------------------------------------------------------------------- */

/* A command that holds the database until it is let go. */
typedef struct hold {
    sem_t begun, go, ended;
} hold;

static void wait_for(sem_t *told)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(told, &until), 0);
}

static mcp_status hold_database(portarium_tx *tx, void *data, mcp_error *err)
{
    hold *self = data;
    (void)tx, (void)err;
    sem_post(&self->begun);
    wait_for(&self->go);
    return MCP_OK;
}

static mcp_status do_nothing(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)tx, (void)data, (void)err;
    return MCP_OK;
}

static void ended(mcp_status status, const mcp_error *err, void *data)
{
    hold *self = data;
    (void)status, (void)err;
    sem_post(&self->ended);
}

/* The result of an action comes while there is no room for commands, and a run is asked for. */
static void a_full_queue_ends_no_run(void **state)
{
    static hold self;
    int before = atomic_load(&calls), submitted = 1;
    (void)state;
    sem_init(&self.begun, 0, 0), sem_init(&self.go, 0, 0), sem_init(&self.ended, 0, 0);
    atomic_store(&held, 1);
    define("wf-full", "Auto", "held", NEXT);
    const char *run = start("wf-full");
    for (int i = 0; i < 6000 && atomic_load(&calls) == before; i++)
        usleep(10000);
    const portarium_tx as = { .arena = rig.arena, .workspace = "ws-1", .actor = &rig_admin };
    portarium_plane_submit(rig.plane, &as, hold_database, ended, &self);
    wait_for(&self.begun);
    for (; submitted <= COMMITS_MAX; submitted++)
        portarium_plane_submit(rig.plane, &as, do_nothing, ended, &self);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-full\"}", 503);
    assert_true(rig.reply.retry_after_s > 0);
    atomic_store(&held, 0);
    for (int i = 0; i < 6000 && atomic_load(&refusals) < 2; i++)
        usleep(10000);
    assert_true(atomic_load(&refusals) >= 2);
    sem_post(&self.go);
    while (submitted-- > 0)
        wait_for(&self.ended);
    rig_await(&rig, run, "Succeeded");
    rig_await(&rig, start("wf-full"), "Succeeded");
}

static void filled(mcp_status status, const mcp_error *err, void *data)
{
    (void)err;
    *(mcp_status *)data = status;
    atomic_fetch_add(&filling_ended, 1);
}

/* On the thread that commits, when a step has failed and before its run is ended. */
static void fill_queue(void)
{
    static mcp_status status;
    const portarium_tx as = { .arena = filling_arena, .workspace = "ws-1", .actor = &rig_admin };
    for (status = MCP_OK; status != MCP_E_LIMIT;) {
        atomic_fetch_add(&filling_begun, 1);
        portarium_plane_submit(rig.plane, &as, do_nothing, filled, &status);
    }
}

/* What ends it finds no room, and comes again. */
static void a_run_that_no_step_can_continue_fails_later(void **state)
{
    (void)state;
    define("wf-gate", "HumanApprove", "any", "");
    const char *run = start("wf-gate");
    rig_await(&rig, run, "WaitingForApproval");
    rig_expect(&rig, &rig_operator, "getRun", of_run(run, ",\"view\":\"full\""), NULL, 200);
    const char *approval = rig_text_at(rig_body(&rig), "/pendingApprovals/0/approvalId");
    change(
        "UPDATE run_actions SET hidden = REPLACE(hidden, '\"any\"', '1234567890123456789') WHERE "
        "hidden LIKE '%\"any\"%'");
    filling_arena = mcp_arena_new(0);
    atomic_store(&fillings, 1);
    rig_expect(&rig, &rig_approver, "decideApproval",
               mcp_arena_printf(rig.arena, "{\"approvalId\":\"%s\"}", approval),
               "{\"decision\":\"Approved\",\"rationale\":\"as agreed\"}", 200);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_non_null(strstr(rig_text_at(json, "/failure/message"), "cannot continue it"));
    assert_int_equal(atomic_load(&fillings), 0);
    for (int i = 0; i < 6000 && atomic_load(&filling_ended) < atomic_load(&filling_begun); i++)
        usleep(10000);
    assert_int_equal(atomic_load(&filling_ended), COMMITS_MAX + 1);
    mcp_arena_free(filling_arena);
}

/* ---- policies -------------------------------------------------------------------------------- */

static void a_policy_of_meanwhile_denies_the_next_attempt(void **state)
{
    int before = atomic_load(&calls);
    (void)state;
    atomic_store(&held, 1);
    define("wf-held", "Auto", "held", "");
    const char *run = start("wf-held");
    for (int i = 0; i < 6000 && atomic_load(&calls) == before; i++)
        usleep(10000);
    rig_expect(
        &rig, &rig_admin, "createPolicy", NULL,
        "{\"policyId\":\"late\",\"name\":\"late\",\"rules\":[{\"ruleId\":\"r\",\"condition\":"
        "\"action.operation == 'pr:write'\",\"effect\":\"Deny\"}]}",
        201);
    atomic_store(&held, 0);
    const mcp_json *json = rig_await(&rig, run, "Failed");
    assert_string_equal(rig_text_at(json, "/failure/class"), "policy-deny");
    assert_int_equal(atomic_load(&calls), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_with_large_ids_is_stored),
        cmocka_unit_test(a_body_that_evidence_cannot_have_is_refused),
        cmocka_unit_test(a_run_that_no_step_can_continue_fails),
        cmocka_unit_test(an_error_of_the_database_ends_no_run),
        cmocka_unit_test(a_policy_of_meanwhile_denies_the_next_attempt),
    };

    const struct CMUnitTest of_a_queue[] = {
        cmocka_unit_test(a_full_queue_ends_no_run),
        cmocka_unit_test(a_run_that_no_step_can_continue_fails_later),
    };

    int failed = cmocka_run_group_tests_name("stored", tests, begin, end);
    return failed + cmocka_run_group_tests_name("a full queue", of_a_queue, begin_small, end);
}
