/*
 * Bodies: one that is accepted of every shape, then bodies that break one rule each.
 */
#include "../bodies.h"

#include "check/check.h"
#include "model/identity.h"

#define CREATED "2026-01-02T03:04:05.000Z"
#define PACKET(artifacts)                                                                          \
    "{'schemaVersion':1,'packetId':'k','artifacts':[" artifacts                                    \
    "],'reviewDocs':[{'title':'t','markdown':''}],'requestedCapabilities':[{'capabilityId':'c',"   \
    "'reason':'r','required':true}],'planScope':{'planId':'p','summary':'s','actionIds':['a'],"    \
    "'plannedEffectIds':[]}}"
#define ARTIFACT(id, role)                                                                         \
    "{'artifactId':'" id "','title':'t','mimeType':'text/plain','role':'" role "'}"
#define EFFECT(id, family)                                                                         \
    "{'effectId':'" id "','operation':'Update','target':{'sorName':'s','portFamily':'" family      \
    "','externalId':'e','externalType':'t'},'summary':'x'}"
#define MACHINE(more)                                                                              \
    "{'endpointUrl':'https://m.example','displayName':'M','capabilities':['notify',"               \
    "{'capability':'a:b'}],'executionPolicy':{'isolationMode':'PerTenantWorker',"                  \
    "'egressAllowlist':[],'workloadIdentity':'Required'}," more "}"
#define ADAPTER(version, capability, binding)                                                      \
    "{'schemaVersion':" version ",'providerSlug':'p','portFamily':'SoftwareDev','enabled':true,"   \
    "'capabilityMatrix':[{'operation':'pr:write','requiresAuth':true" capability "}],"             \
    "'executionPolicy':{'tenantIsolationMode':'PerTenantWorker','egressAllowlist':[],"             \
    "'credentialScope':'capabilityMatrix','sandboxVerified':true,'sandboxAvailable':false}"        \
    ",'binding':" binding "}"
#define HTTP(url, more) "{'kind':'http','url':'" url "'" more "}"

static const struct {
    portarium_shape shape;
    const char *body;
} good[] = {
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'w','parameters':{'x':1}}" },
    { PORTARIUM_SHAPE_RunCancel, "{'rationale':'enough','compensate':true}" },
    { PORTARIUM_SHAPE_Intervention,
      "{'interventionType':'pause','rationale':'look at it','surface':'steering',"
      "'authoritySource':'workspace-rbac','effect':'current-run-effect'}" },
    { PORTARIUM_SHAPE_ActionResolution, "{'outcome':'retry','rationale':'r','output':null}" },
    { PORTARIUM_SHAPE_CompletionSignal,
      "{'schemaVersion':1,'runId':'r','actionId':'a','completionToken':'0123456789012345678901',"
      "'outcome':'Succeeded','completedAtIso':'" CREATED "'}" },
    { PORTARIUM_SHAPE_UserCreate, "{'email':'a@b','roles':['admin','auditor']}" },
    { PORTARIUM_SHAPE_UserPatch, "{'active':false}" },
    { PORTARIUM_SHAPE_WorkItemCreate,
      "{'title':'T','sla':{'dueAtIso':'" CREATED "'},'externalRefs':[{'sorName':'s','portFamily':"
      "'CrmSales','externalId':'e','externalType':'t'}]}" },
    { PORTARIUM_SHAPE_WorkItemPatch, "{'status':'Resolved','ownerUserId':null}" },
    { PORTARIUM_SHAPE_Assignment, "{'workforceMemberId':null}" },
    { PORTARIUM_SHAPE_ApprovalCreate,
      "{'runId':'r','planId':'p','prompt':'?','dueAtIso':'2026-01-03T00:00:00Z','escalationChain':["
      "{'stepOrder':1,'escalateToUserId':'u','afterHours':0.5},{'stepOrder':3,'escalateToUserId':"
      "'v','afterHours':4}],'approvalPacket':" PACKET(
          ARTIFACT("1", "primary") "," ARTIFACT("2", "supporting")) "}" },
    { PORTARIUM_SHAPE_ApprovalPacket, PACKET(ARTIFACT("1", "primary")) },
    { PORTARIUM_SHAPE_ApprovalFeedback, "{'decision':'LowerScope','reason':'wrong-goal'}" },
    { PORTARIUM_SHAPE_ApprovalDecision,
      "{'decision':'Approved','rationale':'ok','inputs':{},'sodConstraints':[]}" },
    { PORTARIUM_SHAPE_ApprovalResubmission, "{'note':'n','input':[1]}" },
    { PORTARIUM_SHAPE_Plan, "{'plannedEffects':[" EFFECT("1", "CrmSales") "]}" },
    { PORTARIUM_SHAPE_ActionProposal,
      "{'agentId':'a','actionKind':'k','toolName':'t','executionTier':'Auto','policyIds':['p'],"
      "'rationale':'r'}" },
    { PORTARIUM_SHAPE_ActionExecution, "{'flowRef':'t'}" },
    { PORTARIUM_SHAPE_ExecutionEnd, "{'executionId':'e','outcome':'executed','output':7}" },
    { PORTARIUM_SHAPE_Machine, MACHINE("'active':true,'authConfig':{'kind':'bearer'}") },
    { PORTARIUM_SHAPE_Machine, MACHINE("'active':false") },
    { PORTARIUM_SHAPE_Agent, "{'agentId':'a','machineId':'m','displayName':'A'}" },
    { PORTARIUM_SHAPE_AgentForm, "{'name':'A','machineId':'m'}" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER(
          "2", ",'capability':'pr:write'",
          HTTP("https://h/${parameters.id}",
               ",'headers':{'Authorization':'Bearer ${credential}'},'body':{'a':'${run.id}'}")) },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'exec','command':'deploy'}") },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", "{'kind':'mcp','tool':'t','server':'s'}") },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'machine','machineId':'m'}") },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'pull'}") },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'builtin'}") },
    { PORTARIUM_SHAPE_Heartbeat,
      "{'status':'ok','metrics':{'load':0.5},'location':{'lat':-90,'lon':180}}" },
    { PORTARIUM_SHAPE_Rationale, "{'rationale':'r'}" },
    { PORTARIUM_SHAPE_LegalHold, "{'runId':'r-1','rationale':'case 7'}" },
    { PORTARIUM_SHAPE_ActionRecord, "{'outcome':'executed','output':{'lines':3}}" },
    { PORTARIUM_SHAPE_Webhook, "{'url':'https://h/x?y=1','types':['RunStarted']}" },
    { PORTARIUM_SHAPE_Credential, "{'value':'abcd 1234'}" },
    { PORTARIUM_SHAPE_LeaseCompletion, "{'leaseId':'l','output':{}}" },
    { PORTARIUM_SHAPE_LeaseFailure, "{'leaseId':'l','errorClass':'timeout','message':'m'}" },
    { PORTARIUM_SHAPE_Policy, "{'name':'P'}" },
    { PORTARIUM_SHAPE_PolicySimulation, "{'policy':{'name':'P'},'last':10000}" },
    { PORTARIUM_SHAPE_ToolExposurePolicy,
      "{'schemaVersion':1,'rules':[],'defaultEffect':'Allow'}" },
    { PORTARIUM_SHAPE_ToolNames, "{'tools':['a','b__c']}" },
    { PORTARIUM_SHAPE_Workflow,
      "{'schemaVersion':1,'name':'W','executionTier':'Auto','actions':[{'actionId':'a','order':1,"
      "'portFamily':'CrmSales','operation':'party:read'}]}" },
};

static mcp_status check(bodies *self, portarium_shape shape, const char *text)
{
    const mcp_json *body = body_of(self, text);
    int64_t created = 0;

    assert_true(portarium_time_read(&created, CREATED));
    return portarium_body_check(self->shapes, shape, body, created, &self->fields, &self->err);
}

static void test_accepted(void **state)
{
    bool is_seen[PORTARIUM_SHAPE_COUNT] = { false };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (check(self, good[i].shape, good[i].body) != MCP_OK)
            fail_msg("%s: %s", good[i].body, self->err.message);
        is_seen[good[i].shape] = true;
        expect_field(self, check(self, good[i].shape, "[]"), "", "an array");
    }
    for (size_t i = 0; i < PORTARIUM_SHAPE_COUNT; i++)
        assert_true(is_seen[i]);
}

static const struct {
    portarium_shape shape;
    const char *body;
    const char *field;
} bad[] = {
    /* shapes */
    { PORTARIUM_SHAPE_RunStart, "{}", "/workflowId" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':''}", "/workflowId" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'a\\u0007'}", "/workflowId" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'w','runCharter':{}}", "/runCharter" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'w','parameters':[]}", "/parameters" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'w','workflowId':'x'}", "/workflowId" },
    { PORTARIUM_SHAPE_RunStart, "{'workflowId':'w','parameters':{'a':[{'b':1,'b':2}]}}",
      "/parameters/a/0/b" },
    { PORTARIUM_SHAPE_Intervention, "{'interventionType':'pause','rationale':'short'}",
      "/rationale" },
    { PORTARIUM_SHAPE_Intervention, "{'interventionType':'stop','rationale':'long enough'}",
      "/interventionType" },
    { PORTARIUM_SHAPE_Intervention,
      "{'interventionType':'pause','rationale':'long enough','surface':'roof'}", "/surface" },
    { PORTARIUM_SHAPE_Intervention, "{'interventionType':'pause','rationale':'long enough','x':1}",
      "/x" },
    { PORTARIUM_SHAPE_ActionResolution, "{'outcome':'retry','rationale':' \\t'}", "/rationale" },
    { PORTARIUM_SHAPE_ApprovalDecision, "{'decision':'Approved','rationale':''}", "/rationale" },
    { PORTARIUM_SHAPE_ApprovalDecision, "{'decision':'Escalate','rationale':'x'}", "/decision" },
    { PORTARIUM_SHAPE_ApprovalDecision, "{'decision':'Denied','rationale':'x','subjectHash':'AB'}",
      "/subjectHash" },
    { PORTARIUM_SHAPE_ApprovalDecision,
      "{'decision':'Denied','rationale':'x','feedback':{'decision':'Denied','reason':'mood'}}",
      "/feedback/reason" },
    { PORTARIUM_SHAPE_UserCreate, "{'email':'a','roles':['admin']}", "/email" },
    { PORTARIUM_SHAPE_UserCreate, "{'email':'a@b','roles':[]}", "/roles" },
    { PORTARIUM_SHAPE_UserCreate, "{'email':'a@b','roles':['admin','admin']}", "/roles" },
    { PORTARIUM_SHAPE_UserPatch, "{}", "" },
    { PORTARIUM_SHAPE_WorkItemCreate, "{'title':'T','status':'Open'}", "/status" },
    { PORTARIUM_SHAPE_WorkItemPatch, "{'status':'Done'}", "/status" },
    { PORTARIUM_SHAPE_WorkItemPatch, "{}", "" },
    { PORTARIUM_SHAPE_Heartbeat, "{'status':'healthy'}", "/status" },
    { PORTARIUM_SHAPE_Heartbeat, "{'status':'ok','metrics':{'a':'1'}}", "/metrics/a" },
    { PORTARIUM_SHAPE_Heartbeat, "{'status':'ok','location':{'lat':91,'lon':0}}", "/location/lat" },
    { PORTARIUM_SHAPE_LegalHold, "{'runId':'r-1'}", "/rationale" },
    { PORTARIUM_SHAPE_ActionRecord, "{'outcome':'perhaps'}", "/outcome" },
    { PORTARIUM_SHAPE_Webhook, "{'url':'http://h/'}", "/url" },
    { PORTARIUM_SHAPE_Credential, "{'value':'abc'}", "/value" },
    { PORTARIUM_SHAPE_Credential, "{'value':'line\\nline'}", "/value" },
    { PORTARIUM_SHAPE_Machine, MACHINE("'active':true,'authConfig':{'kind':'basic'}"),
      "/authConfig/kind" },
    { PORTARIUM_SHAPE_PolicySimulation, "{'policy':{'name':'P'},'last':10001}", "/last" },
    { PORTARIUM_SHAPE_ActionProposal,
      "{'agentId':'a','actionKind':'k','toolName':'t','executionTier':'Auto','policyIds':[],"
      "'rationale':'r'}",
      "/policyIds" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'ftp'}"), "/binding/kind" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'http'}"), "/binding/url" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'exec','command':'rm -rf'}"),
      "/binding/command" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", "{'kind':'mcp','tool':'t'}"),
      "/binding/url" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", "{'kind':'mcp','tool':'t','server':'s','url':'https://h/'}"), "/binding" },
    /* rules */
    { PORTARIUM_SHAPE_WorkItemCreate, "{'title':'T','sla':{'dueAtIso':'2026-02-30T00:00:00Z'}}",
      "/sla/dueAtIso" },
    { PORTARIUM_SHAPE_WorkItemCreate, "{'title':'T','sla':{'dueAtIso':'2026-01-02T03:04:04.999Z'}}",
      "/sla/dueAtIso" },
    { PORTARIUM_SHAPE_WorkItemPatch,
      "{'externalRefs':[{'sorName':'s','portFamily':'X','externalId':'e','externalType':'t'}]}",
      "/externalRefs/0/portFamily" },
    { PORTARIUM_SHAPE_CompletionSignal,
      "{'schemaVersion':1,'runId':'r','actionId':'a','completionToken':'0123456789012345678901',"
      "'outcome':'Succeeded','completedAtIso':'2026-13-01T00:00:00Z'}",
      "/completedAtIso" },
    { PORTARIUM_SHAPE_ApprovalCreate,
      "{'runId':'r','planId':'p','prompt':'?','dueAtIso':'2026-01-01T00:00:00Z'}", "/dueAtIso" },
    { PORTARIUM_SHAPE_ApprovalCreate,
      "{'runId':'r','planId':'p','prompt':'?','escalationChain':[{'stepOrder':2,"
      "'escalateToUserId':'u','afterHours':1},{'stepOrder':2,'escalateToUserId':'v','afterHours':"
      "2}]}",
      "/escalationChain/1/stepOrder" },
    { PORTARIUM_SHAPE_ApprovalCreate,
      "{'runId':'r','planId':'p','prompt':'?','escalationChain':[{'stepOrder':1,"
      "'escalateToUserId':'u','afterHours':2},{'stepOrder':2,'escalateToUserId':'v','afterHours':"
      "1}]}",
      "/escalationChain/1/afterHours" },
    { PORTARIUM_SHAPE_ApprovalCreate,
      "{'runId':'r','planId':'p','prompt':'?','approvalPacket':" PACKET(
          ARTIFACT("1", "supporting")) "}",
      "/approvalPacket/artifacts" },
    { PORTARIUM_SHAPE_ApprovalPacket, PACKET(ARTIFACT("1", "primary") "," ARTIFACT("2", "primary")),
      "/artifacts" },
    { PORTARIUM_SHAPE_ApprovalPacket,
      PACKET(ARTIFACT("1", "primary") "," ARTIFACT("1", "supporting")), "/artifacts/1/artifactId" },
    { PORTARIUM_SHAPE_Plan,
      "{'plannedEffects':[" EFFECT("1", "CrmSales") "," EFFECT("1", "Payroll") "]}",
      "/plannedEffects/1/effectId" },
    { PORTARIUM_SHAPE_Plan, "{'plannedEffects':[" EFFECT("1", "Nope") "]}",
      "/plannedEffects/0/target/portFamily" },
    { PORTARIUM_SHAPE_Machine, MACHINE("'active':true"), "/authConfig/kind" },
    { PORTARIUM_SHAPE_Machine, MACHINE("'active':true,'authConfig':{'kind':'none'}"),
      "/authConfig/kind" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("2", "", "{'kind':'builtin'}"),
      "/capabilityMatrix/0/capability" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", ",'capability':'party:read'", "{'kind':'builtin'}"),
      "/capabilityMatrix/0/capability" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "},{'operation':'pr:write','requiresAuth':false", "{'kind':'builtin'}"),
      "/capabilityMatrix/1/operation" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", HTTP("https://${parameters.host}/", "")), "/binding/url" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", HTTP("https://h/${run.id}/a b", "")),
      "/binding/url" },
    { PORTARIUM_SHAPE_AdapterRegistration, ADAPTER("1", "", HTTP("https://h/${credential}", "")),
      "/binding/url" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", HTTP("https://h/", ",'headers':{'X-A':'a\\nb'}")), "/binding/headers/X-A" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", HTTP("https://h/", ",'headers':{'X-A':'${x}'}")), "/binding/headers/X-A" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", HTTP("https://h/", ",'body':{'k':['${credential}']}")),
      "/binding/body/k/0" },
    { PORTARIUM_SHAPE_AdapterRegistration,
      ADAPTER("1", "", "{'kind':'mcp','tool':'t','server':'s','arguments':{'a':'${'}}"),
      "/binding/arguments/a" },
};

static void test_refused(void **state)
{
    bodies *self = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_field(self, check(self, bad[i].shape, bad[i].body), bad[i].field, bad[i].body);
}

/* The schemas as one object, each an object with a type or a choice: for the OpenAPI document. */
static void test_schemas(void **state)
{
    bodies *self = *state;
    const mcp_json *all = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    portarium_shapes_write(&writer, self->shapes);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&all, self->arena, buf.data, buf.length, NULL), MCP_OK);
    assert_true(mcp_json_count(all) > PORTARIUM_SHAPE_COUNT);
    for (size_t i = 0; i < mcp_json_count(all); i++)
        assert_non_null(mcp_json_get_string(mcp_json_item(all, i), "type"));
    mcp_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_accepted, bodies_set_up, bodies_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, bodies_set_up, bodies_tear_down),
        cmocka_unit_test_setup_teardown(test_schemas, bodies_set_up, bodies_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
