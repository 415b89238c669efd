/*
 * test_actions.c - runs whose actions are HTTP requests to a server of the test, which sends back
 * the credential that it was given.
 */
#include <stdlib.h>

#include "../plane_rig.h"
#include "executors/registry.h"
#include "http_peer.h"

#define CANARY "canary-4711-secret"

static plane_rig rig;
static portarium_registry *registry;
static http_peer *peer;

/* The path is the answer: /lost has none, /bad is an error, all others are done. */
static bool answer(void *data, http_peer *self, int fd, const http_peer_request *request)
{
    (void)data;
    (void)self;
    if (strstr(request->head, "POST /lost "))
        return false;
    return http_peer_reply(fd, strstr(request->head, "POST /bad ") ? "400 Bad" : "200 OK",
                           request->head);
}

static int begin(void **state)
{
    (void)state;
    const portarium_host host = { .commands = NULL };
    setenv("PORTARIUM_CRED_TRACKER", CANARY, 1);
    peer = http_peer_start(answer, NULL);
    assert_int_equal(portarium_registry_new(&registry, &host, NULL), MCP_OK);
    rig_open_with(&rig, (portarium_plane_options){
                            .url = "memory",
                            .engine = { .executors = portarium_registry_executors(registry) } });
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    portarium_registry_free(registry);
    http_peer_end(peer);
    return 0;
}

/* Start a run of one action of a port family, whose adapter requests that path. @return its id */
static const char *start(const char *path, const char *family)
{
    char body[1024];
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"adapterId\":\"ad-%s\",\"providerSlug\":\"tracker\","
             "\"portFamily\":\"%s\",\"enabled\":true,\"capabilityMatrix\":[{\"operation\":"
             "\"ticket:write\",\"requiresAuth\":true}],\"executionPolicy\":{"
             "\"tenantIsolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[\"127.0.0.0/8\"],"
             "\"credentialScope\":\"capabilityMatrix\",\"sandboxVerified\":true,"
             "\"sandboxAvailable\":true},\"binding\":{\"kind\":\"http\",\"url\":"
             "\"http://127.0.0.1:%d/%s\",\"headers\":{\"Authorization\":"
             "\"Bearer ${credential}\"}}}",
             path, family, http_peer_port(peer), path);
    rig_expect(&rig, &rig_admin, "createAdapter", NULL, body, 201);
    snprintf(body, sizeof body,
             "{\"schemaVersion\":1,\"workflowId\":\"wf-%s\",\"workspaceId\":\"ws-1\",\"name\":"
             "\"%s\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{"
             "\"actionId\":\"one\",\"order\":1,\"portFamily\":\"%s\",\"operation\":"
             "\"ticket:write\"}]}",
             path, path, family);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, body, 201);
    snprintf(body, sizeof body, "{\"workflowId\":\"wf-%s\"}", path);
    rig_expect(&rig, &rig_operator, "startRun", NULL, body, 201);
    return mcp_json_get_string(rig_body(&rig), "runId");
}

/* The last answer has no credential in it. */
static void expect_no_canary(void)
{
    const char *text = mcp_arena_strndup(rig.arena, rig.reply.text, rig.reply.length);
    assert_non_null(text);
    assert_null(strstr(text, CANARY));
}

static void a_credential_is_nowhere_in_a_run(void **state)
{
    static const char *const operations[] = { "listRuns", "listEvidence", "listAdapters" };
    (void)state;
    const mcp_json *run = rig_await(&rig, start("fine", "ItsmItOps"), "Succeeded");
    const char *output = mcp_json_string(mcp_json_get(run, "output"), NULL);
    assert_non_null(output);
    assert_non_null(strstr(output, "Authorization: Bearer [REDACTED]"));
    expect_no_canary();
    rig_await(&rig, start("bad", "FinanceAccounting"), "Failed");
    expect_no_canary();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        rig_expect(&rig, &rig_admin, operations[i], NULL, NULL, 200);
        expect_no_canary();
    }
}

static void a_run_whose_request_had_no_answer_waits_for_a_person(void **state)
{
    (void)state;
    const mcp_json *run = rig_await(&rig, start("lost", "PaymentsBilling"), "Paused");
    assert_string_equal(mcp_json_get_string(run, "controlState"), "blocked");
    assert_int_equal(http_peer_requests(peer), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_is_nowhere_in_a_run),
        cmocka_unit_test(a_run_whose_request_had_no_answer_waits_for_a_person),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
