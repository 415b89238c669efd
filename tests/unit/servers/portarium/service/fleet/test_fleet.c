/*
 * test_fleet.c - adapters, machines, agents and work items, on both engines.
 */
#include "../../plane_rig.h"
#include "postgres.h"

static plane_rig rig;

static const portarium_actor worker = { .subject = "worker",
                                        .workspace = "ws-1",
                                        .roles = PORTARIUM_ROLE(OPERATOR),
                                        .agent_id = "ag-1",
                                        .machine_id = "m-1" };

static void open_at(const char *url)
{
    const portarium_plane_options options = {
        .url = url,
        .settings = { .instance = "test", .flush_ms = 20, .stale_ms = 3600000, .offline_ms = 200 },
    };
    rig_open_with(&rig, options);
}

static int begin_memory(void **state)
{
    (void)state;
    open_at("memory");
    return 0;
}

static int begin_postgres(void **state)
{
    (void)state;
    open_at(postgres_url());
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
    end(state);
    postgres_stop();
    return 0;
}

static const char *text_at(const char *pointer)
{
    const char *text = mcp_json_string(mcp_json_pointer(rig_body(&rig), pointer), NULL);
    return text ? text : "";
}

static int64_t count_of(const char *operation, const char *arguments)
{
    rig_expect(&rig, &rig_admin, operation, arguments, NULL, 200);
    return (int64_t)mcp_json_count(mcp_json_get(rig_body(&rig), "items"));
}

/* Wait until the workspace has an event of that type. */
static void await_event(const char *type)
{
    for (int i = 0; i < 3000; i++) {
        mcp_error err = MCP_ERROR_INIT;
        db_session *session = NULL;
        db_rows *rows = NULL;
        bool found = false;
        db_value values[] = { db_text(type) };
        assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_READ, &err),
                         MCP_OK);
        assert_int_equal(
            db_query(&rows, session, "SELECT seq FROM outbox WHERE type = $1", values, 1, &err),
            MCP_OK);
        assert_int_equal(db_next(rows, &found, &err), MCP_OK);
        db_rows_free(rows);
        db_rollback(session);
        if (found)
            return;
        usleep(10000);
    }
    fail_msg("no event %s", type);
}

/* ---- adapters -------------------------------------------------------------------------------- */

#define ADAPTER(more)                                                                              \
    "{\"schemaVersion\":1,\"adapterId\":\"ad-1\",\"providerSlug\":\"forge\",\"portFamily\":"       \
    "\"SoftwareDev\",\"enabled\":true,\"capabilityMatrix\":[{\"operation\":\"pr:write\","          \
    "\"requiresAuth\":true}],\"executionPolicy\":{\"tenantIsolationMode\":\"PerTenantWorker\","    \
    "\"egressAllowlist\":[],\"credentialScope\":\"capabilityMatrix\",\"sandboxVerified\":true,"    \
    "\"sandboxAvailable\":true}" more "}"

static void each_patch_of_an_adapter_is_a_revision(void **state)
{
    int64_t revision = 0;
    (void)state;
    rig_expect(&rig, &rig_operator, "createAdapter", NULL, ADAPTER(""), 403);
    rig_expect(&rig, &rig_admin, "createAdapter", NULL, ADAPTER(""), 201);
    rig_expect(&rig, &rig_admin, "createAdapter", NULL, ADAPTER(""), 409);
    rig_expect(&rig, &rig_admin, "updateAdapter", "{\"adapterId\":\"ad-1\"}", "{\"enabled\":false}",
               200);
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "revision"), &revision));
    assert_int_equal(revision, 2);
    rig_expect(&rig, &rig_admin, "updateAdapter", "{\"adapterId\":\"ad-1\"}",
               "{\"portFamily\":\"Nothing\"}", 422);
    rig_expect(&rig, &rig_admin, "updateAdapter", "{\"adapterId\":\"ad-9\"}", "{}", 404);
    assert_int_equal(count_of("listAdapters", "{\"enabled\":\"false\"}"), 1);
}

/* ---- machines and agents --------------------------------------------------------------------- */

#define MACHINE(id)                                                                                \
    "{\"machineId\":\"" id "\",\"endpointUrl\":\"https://m.example.com\",\"active\":true,"         \
    "\"displayName\":\"" id "\",\"capabilities\":[\"agent:task\",\"notify\"],"                     \
    "\"executionPolicy\":{\"isolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[],"           \
    "\"workloadIdentity\":\"Required\"},\"authConfig\":{\"kind\":\"bearer\",\"secretRef\":"        \
    "\"CANARY_SECRET\"}}"

#define AGENT(id, machine, more)                                                                   \
    "{\"agentId\":\"" id "\",\"machineId\":\"" machine "\",\"displayName\":\"Bot\"" more "}"

static void machines_never_show_their_authentication(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "createMachine", NULL, MACHINE("m-1"), 201);
    assert_null(strstr(rig.reply.text, "CANARY"));
    rig_expect(&rig, &rig_operator, "createMachine", NULL, MACHINE("m-1"), 409);
    rig_expect(&rig, &rig_operator, "createMachine", NULL, MACHINE("m-2"), 201);
    rig_expect(&rig, &rig_admin, "getMachine", "{\"machineId\":\"m-1\"}", NULL, 200);
    assert_null(strstr(rig.reply.text, "CANARY"));
    assert_string_equal(text_at("/capabilities/1"), "notification:send");
    assert_string_equal(text_at("/liveness"), "never-seen");
    rig_expect(&rig, &rig_approver, "getMachine", "{\"machineId\":\"m-1\"}", NULL, 403);
}

static void an_agent_has_what_its_machine_has(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-1", "m-9", ""), 404);
    rig_expect(&rig, &rig_operator, "createAgent", NULL,
               AGENT("ag-1", "m-1", ",\"capabilities\":[\"code:execute\"]"), 422);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-1", "m-1", ""), 201);
    assert_string_equal(text_at("/allowedCapabilities/0"), "agent:task");
    assert_string_equal(text_at("/policyTier"), "HumanApprove");
    assert_string_equal(text_at("/endpoint"), "machine://m-1");
    rig_expect(&rig, &worker, "createAgent", NULL, AGENT("ag-1", "m-1", ""), 200);
    rig_expect(&rig, &worker, "createAgent", NULL, AGENT("ag-1", "m-2", ""), 403);
    rig_expect(&rig, &worker, "createAgent", NULL, AGENT("ag-2", "m-1", ""), 403);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-1", "m-2", ""), 409);
    rig_expect(&rig, &rig_operator, "createAgent", NULL,
               "{\"name\":\"Page\",\"machineId\":\"m-2\",\"allowedCapabilities\":[\"notify\"]}",
               201);
    assert_memory_equal(text_at("/agentId"), "agent-", 6);
    assert_string_equal(text_at("/allowedCapabilities/0"), "notification:send");
}

static void changed_capabilities_are_quarantined(void **state)
{
    static const char drifted[] = AGENT("ag-1", "m-1", ",\"capabilities\":[\"notify\"]");
    (void)state;
    rig_expect(&rig, &rig_operator, "createAgent", NULL, drifted, 409);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, drifted, 409);
    rig_expect(&rig, &rig_admin, "getAgent", "{\"agentId\":\"ag-1\"}", NULL, 200);
    assert_string_equal(text_at("/liveness"), "quarantined");
    await_event("AgentCapabilityDriftQuarantined");
    rig_expect(&rig, &rig_operator, "updateAgent", "{\"agentId\":\"ag-1\"}",
               "{\"quarantined\":false}", 403);
    rig_expect(&rig, &rig_admin, "updateAgent", "{\"agentId\":\"ag-1\"}",
               "{\"quarantined\":false,\"name\":\"Reviewed\"}", 200);
    assert_string_equal(text_at("/liveness"), "never-seen");
    assert_string_equal(text_at("/name"), "Reviewed");
}

static void heartbeats_show_who_is_there(void **state)
{
    static const char agent[] = "{\"agentId\":\"ag-1\"}";
    (void)state;
    rig_expect(&rig, &rig_operator, "agentHeartbeat", "{\"agentId\":\"ag-9\"}",
               "{\"status\":\"ok\"}", 404);
    rig_expect(&rig, &worker, "agentHeartbeat", "{\"agentId\":\"ag-9\"}", "{\"status\":\"ok\"}",
               403);
    rig_expect(&rig, &worker, "agentHeartbeat", agent, "{\"status\":\"ok\",\"machineId\":\"m-2\"}",
               409);
    rig_expect(&rig, &worker, "agentHeartbeat", agent, "{\"status\":\"healthy\"}", 422);
    rig_expect(&rig, &worker, "agentHeartbeat", agent,
               "{\"status\":\"ok\",\"metrics\":{\"load\":0.5}}", 200);
    assert_string_equal(text_at("/status"), "ok");
    await_event("AgentStatusChanged");
    await_event("AgentWentOffline");
    rig_expect(&rig, &rig_admin, "getAgent", agent, NULL, 200);
    assert_string_equal(text_at("/liveness"), "offline");
    rig_expect(&rig, &rig_operator, "testAgent", agent, NULL, 200);
    assert_string_equal(text_at("/reason"), "it is stale, offline or draining");
    rig_expect(&rig, &rig_operator, "machineHeartbeat", "{\"machineId\":\"m-2\"}",
               "{\"status\":\"degraded\"}", 200);
}

static void a_deregistered_machine_takes_no_agents(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "deleteMachine", "{\"machineId\":\"m-2\"}", NULL, 204);
    rig_expect(&rig, &rig_operator, "deleteMachine", "{\"machineId\":\"m-2\"}", NULL, 204);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-7", "m-2", ""), 409);
    rig_expect(&rig, &rig_operator, "testMachine", "{\"machineId\":\"m-2\"}", NULL, 200);
    assert_string_equal(text_at("/reason"), "the machine is inactive");
    rig_expect(&rig, &rig_operator, "createMachine", NULL, MACHINE("m-2"), 201);
    assert_int_equal(count_of("listMachines", "{\"active\":\"true\"}"), 2);
}

/* ---- work items ------------------------------------------------------------------------------ */

static const char *item_arguments(const char *id)
{
    return mcp_arena_printf(rig.arena, "{\"workItemId\":\"%s\"}", id);
}

static void work_items_change_until_they_are_closed(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_approver, "createWorkItem", NULL, "{\"title\":\"Look\"}", 403);
    rig_expect(&rig, &rig_operator, "createWorkItem", NULL, "{\"title\":\"Look\",\"x\":1}", 422);
    rig_expect(&rig, &rig_operator, "createWorkItem", NULL,
               "{\"title\":\"Look\",\"sla\":{\"dueAtIso\":\"2001-01-01T00:00:00Z\"}}", 422);
    rig_expect(&rig, &rig_operator, "createWorkItem", NULL,
               "{\"title\":\"Look\",\"externalRefs\":[{\"sorName\":\"crm\",\"portFamily\":"
               "\"CrmSales\",\"externalId\":\"7\",\"externalType\":\"deal\"}]}",
               201);
    const char *id = text_at("/workItemId");
    assert_memory_equal(id, "wi-", 3);
    assert_string_equal(text_at("/status"), "Open");
    assert_string_equal(text_at("/links/externalRefs/0/sorName"), "crm");
    const char *item = item_arguments(id);
    rig_expect(&rig, &rig_operator, "putAssignment", item, "{\"workforceMemberId\":\"anna\"}", 200);
    assert_int_equal(count_of("listWorkItems", "{\"ownerUserId\":\"anna\"}"), 1);
    rig_expect(&rig, &rig_operator, "putAssignment", item, "{\"workforceMemberId\":null}", 200);
    assert_int_equal(count_of("listWorkItems", "{\"ownerUserId\":\"anna\"}"), 0);
    rig_expect(&rig, &rig_operator, "updateWorkItem", item, "{\"status\":\"Closed\"}", 200);
    rig_expect(&rig, &rig_operator, "updateWorkItem", item, "{\"status\":\"Open\"}", 409);
    rig_expect(&rig, &rig_operator, "updateWorkItem", item, "{}", 422);
    assert_int_equal(count_of("listWorkItems", "{\"status\":\"Closed\"}"), 1);
}

static void a_work_item_is_found_by_its_evidence(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_operator, "createWorkItem", NULL, "{\"title\":\"Other\"}", 201);
    const char *id = text_at("/workItemId");
    rig_expect(&rig, &rig_admin, "listEvidence", item_arguments(id), NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 1);
    const char *evidence = text_at("/items/0/evidenceId");
    assert_int_equal(
        count_of("listWorkItems", mcp_arena_printf(rig.arena, "{\"evidenceId\":\"%s\"}", evidence)),
        1);
    assert_string_equal(text_at("/items/0/workItemId"), id);
}

/* ---- work that agents fetch ------------------------------------------------------------------ */

static const portarium_actor fetcher = { .subject = "fetcher",
                                         .workspace = "ws-1",
                                         .roles = PORTARIUM_ROLE(OPERATOR),
                                         .agent_id = "ag-5",
                                         .machine_id = "m-5" };
static const portarium_actor rival = { .subject = "rival",
                                       .workspace = "ws-1",
                                       .roles = PORTARIUM_ROLE(OPERATOR),
                                       .agent_id = "ag-6",
                                       .machine_id = "m-5" };

static void make_fleet(void)
{
    rig_expect(
        &rig, &rig_admin, "createAdapter", NULL,
        "{\"schemaVersion\":1,\"adapterId\":\"ad-5\",\"providerSlug\":\"ops\",\"portFamily\":"
        "\"MonitoringIncident\",\"enabled\":true,\"capabilityMatrix\":[{\"operation\":"
        "\"alert:write\",\"requiresAuth\":false}],\"executionPolicy\":{\"tenantIsolationMode\":"
        "\"PerTenantWorker\",\"egressAllowlist\":[],\"credentialScope\":\"capabilityMatrix\","
        "\"sandboxVerified\":true,\"sandboxAvailable\":true},\"binding\":{\"kind\":\"pull\"}}",
        201);
    rig_expect(&rig, &rig_operator, "createMachine", NULL,
               "{\"machineId\":\"m-5\",\"endpointUrl\":\"https://m.example.com\",\"active\":true,"
               "\"displayName\":\"m-5\",\"capabilities\":[\"alert:write\",\"notify\"],"
               "\"executionPolicy\":{\"isolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[],"
               "\"workloadIdentity\":\"Required\"},\"authConfig\":{\"kind\":\"mtls\"}}",
               201);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-5", "m-5", ""), 201);
    rig_expect(&rig, &rig_operator, "createAgent", NULL, AGENT("ag-6", "m-5", ""), 201);
    rig_expect(&rig, &rig_operator, "createAgent", NULL,
               AGENT("ag-7", "m-5", ",\"capabilities\":[\"notify\"]"), 201);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL,
               "{\"schemaVersion\":1,\"workflowId\":\"wf-pull\",\"workspaceId\":\"ws-1\",\"name\":"
               "\"Alerts\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":["
               "{\"actionId\":\"one\",\"order\":1,\"portFamily\":\"MonitoringIncident\","
               "\"operation\":\"alert:write\",\"input\":{\"n\":7}}]}",
               201);
}

/* Start a run, and wait until its work is there. @return arguments that name it for the agent */
static const char *await_work(const char **run)
{
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-pull\"}", 201);
    *run = text_at("/runId");
    for (int i = 0; i < 3000; i++) {
        rig_expect(&rig, &fetcher, "listAgentWork", "{\"agentId\":\"ag-5\"}", NULL, 200);
        if (mcp_json_count(mcp_json_get(rig_body(&rig), "items")) == 1)
            return mcp_arena_printf(rig.arena, "\"workItemId\":\"%s\"",
                                    text_at("/items/0/workItemId"));
        usleep(10000);
    }
    fail_msg("no work");
    return NULL;
}

static const char *of_agent(const char *agent, const char *item)
{
    return mcp_arena_printf(rig.arena, "{\"agentId\":\"%s\",%s}", agent, item);
}

static void one_agent_claims_and_completes_work(void **state)
{
    const char *run = NULL;
    int64_t n = 0;
    (void)state;
    make_fleet();
    const char *item = await_work(&run);
    const char *own = of_agent("ag-5", item), *other = of_agent("ag-6", item);
    rig_expect(&rig, &rig_operator, "listAgentWork", "{\"agentId\":\"ag-7\"}", NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 0);
    rig_expect(&rig, &rig_operator, "claimWork", own, NULL, 403);
    rig_expect(&rig, &rival, "claimWork", own, NULL, 403);
    rig_expect(&rig, &fetcher, "claimWork", own, NULL, 200);
    const char *lease = text_at("/leaseId");
    assert_true(mcp_json_int(mcp_json_pointer(rig_body(&rig), "/input/n"), &n));
    assert_int_equal(n, 7);
    rig_expect(&rig, &fetcher, "claimWork", own, NULL, 200);
    assert_string_equal(text_at("/leaseId"), lease);
    rig_expect(&rig, &rival, "claimWork", other, NULL, 409);
    const char *body = mcp_arena_printf(rig.arena,
                                        "{\"leaseId\":\"%s\",\"output\":{\"done\":true}}", lease);
    rig_expect(&rig, &rival, "completeWork", other, body, 409);
    rig_expect(&rig, &fetcher, "renewWork", own, body, 200);
    rig_expect(&rig, &fetcher, "completeWork", own, body, 200);
    assert_string_equal(text_at("/status"), "Resolved");
    bool done = false;
    assert_true(
        mcp_json_bool(mcp_json_pointer(rig_await(&rig, run, "Succeeded"), "/output/done"), &done) &&
        done);
    rig_expect(&rig, &fetcher, "completeWork", own, body, 409);
    rig_expect(&rig, &fetcher, "claimWork", own, NULL, 409);
}

static void work_that_fails_ends_its_run(void **state)
{
    const char *run = NULL;
    (void)state;
    const char *own = of_agent("ag-5", await_work(&run));
    rig_expect(&rig, &fetcher, "claimWork", own, NULL, 200);
    const char *body = mcp_arena_printf(
        rig.arena,
        "{\"leaseId\":\"%s\",\"errorClass\":\"validation\",\"message\":\"no such alert\"}",
        text_at("/leaseId"));
    rig_expect(&rig, &fetcher, "failWork", own, body, 200);
    const mcp_json *ended = rig_await(&rig, run, "Failed");
    assert_string_equal(mcp_json_string(mcp_json_pointer(ended, "/failure/message"), NULL),
                        "no such alert");
}

static void work_of_a_dead_agent_is_of_unknown_outcome(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    const char *run = NULL;
    int64_t changed = 0;
    (void)state;
    const char *own = of_agent("ag-5", await_work(&run));
    rig_expect(&rig, &fetcher, "claimWork", own, NULL, 200);
    const char *body = mcp_arena_printf(rig.arena, "{\"leaseId\":\"%s\"}", text_at("/leaseId"));
    assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_WRITE, &err),
                     MCP_OK);
    assert_int_equal(db_run(session, &changed,
                            "UPDATE run_actions SET lease_until = 1 WHERE lease_owner = "
                            "'agent:ag-5'",
                            NULL, 0, &err),
                     MCP_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(db_commit(session, &err), MCP_OK);
    rig_await(&rig, run, "Paused");
    rig_expect(&rig, &fetcher, "completeWork", own, body, 409);
}

/* ---- webhooks -------------------------------------------------------------------------------- */

static void without_hosts_there_are_no_webhooks(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createWebhook", NULL, "{\"url\":\"https://hooks.example.com/x\"}",
               422);
    assert_string_equal(rig.reply.fields.items[0].message, "this server delivers to no host");
}

/* ---- users ----------------------------------------------------------------------------------- */

static void users_have_their_addresses_alone(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createUser", NULL,
               "{\"userId\":\"u-1\",\"email\":\"A@example.com\",\"roles\":[\"admin\"]}", 201);
    rig_expect(&rig, &rig_admin, "createUser", NULL,
               "{\"userId\":\"u-2\",\"email\":\"a@EXAMPLE.com\",\"roles\":[\"admin\"]}", 409);
    rig_expect(&rig, &rig_admin, "createUser", NULL,
               "{\"userId\":\"u-2\",\"email\":\"b@example.com\",\"roles\":[\"admin\"]}", 201);
    rig_expect(&rig, &rig_admin, "updateUser", "{\"userId\":\"u-2\"}",
               "{\"email\":\"a@example.com\"}", 409);
    rig_expect(&rig, &rig_admin, "updateUser", "{\"userId\":\"u-1\"}",
               "{\"email\":\"a@example.com\"}", 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_patch_of_an_adapter_is_a_revision),
        cmocka_unit_test(machines_never_show_their_authentication),
        cmocka_unit_test(an_agent_has_what_its_machine_has),
        cmocka_unit_test(changed_capabilities_are_quarantined),
        cmocka_unit_test(heartbeats_show_who_is_there),
        cmocka_unit_test(a_deregistered_machine_takes_no_agents),
        cmocka_unit_test(work_items_change_until_they_are_closed),
        cmocka_unit_test(a_work_item_is_found_by_its_evidence),
        cmocka_unit_test(one_agent_claims_and_completes_work),
        cmocka_unit_test(work_that_fails_ends_its_run),
        cmocka_unit_test(work_of_a_dead_agent_is_of_unknown_outcome),
        cmocka_unit_test(without_hosts_there_are_no_webhooks),
        cmocka_unit_test(users_have_their_addresses_alone),
    };
    int failures = cmocka_run_group_tests_name("in memory", tests, begin_memory, end);
    return failures +
           cmocka_run_group_tests_name("PostgreSQL", tests, begin_postgres, end_postgres);
}
