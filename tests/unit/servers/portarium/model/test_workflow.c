/*
 * Definitions of workflows: what is accepted and what it becomes, each rule by a body that breaks
 * it alone, and what is written back.
 */
#include "../bodies.h"

#include "model/workflow.h"

#define HEAD "{'schemaVersion':1,'name':'W','executionTier':'Assisted','actions':["
#define ACTION(id, order, more)                                                                    \
    "{'actionId':'" id "','order':" #order                                                         \
    ",'portFamily':'SoftwareDev','operation':'deployment:write'" more "}"

static const portarium_workflow_origin origin = { "wf-1", "ws-1", 3 };

static mcp_status read(bodies *self, const portarium_workflow **out, const char *text)
{
    const mcp_json *body = body_of(self, text);

    return portarium_workflow_read(out, self->arena, self->shapes, body, &origin, &self->fields,
                                   &self->err);
}

static const portarium_workflow *accept(bodies *self, const char *text)
{
    const portarium_workflow *out = NULL;

    if (read(self, &out, text) != MCP_OK)
        fail_msg("%s: %s", text, self->err.message);
    return out;
}

static void test_defaults(void **state)
{
    bodies *self = *state;
    const portarium_workflow *workflow = accept(self, HEAD ACTION("a", 1, "") "]}");
    const portarium_action *action = &workflow->actions[0];

    assert_string_equal(workflow->id, "wf-1");
    assert_string_equal(workflow->workspace_id, "ws-1");
    assert_int_equal(workflow->version, 3);
    assert_true(workflow->is_active);
    assert_int_equal(workflow->tier, PORTARIUM_TIER_ASSISTED);
    assert_int_equal(workflow->action_count, 1);
    assert_int_equal(action->tier, PORTARIUM_TIER_ASSISTED);
    assert_int_equal(action->timeout_ms, 300000);
    assert_int_equal(action->retry.max_attempts, 3);
    assert_int_equal(action->retry.initial_ms, 1000);
    assert_int_equal(action->retry.max_ms, 30000);
    assert_true(action->retry.multiplier == 2.0);
    assert_false(action->is_manual);
    assert_true(action->has_side_effect);
    assert_null(action->test);
    assert_int_equal(action->predecessor_count, 0);
    assert_int_equal(action->successor_count, 0);
    assert_ptr_equal(portarium_workflow_action(workflow, "a"), action);
    assert_null(portarium_workflow_action(workflow, "b"));
}

static void test_everything(void **state)
{
    bodies *self = *state;
    const portarium_workflow *workflow = accept(
        self,
        "{'schemaVersion':2,'workflowId':'wf-1','workspaceId':'ws-1','name':'W','version':3,"
        "'active':false,'executionTier':'Auto','parametersSchema':{'type':'object','required':['x'],"
        "'properties':{'x':{'type':'integer'}}},'actions':["
        "{'actionId':'two','order':2,'portFamily':'SoftwareDev','capability':'pr:write','operation':"
        "'pr:write','executionTierOverride':'ManualOnly','manual':true,'sideEffect':false,"
        "'when':'actions.one.state == null && run.parameters.x > 1','timeoutMs':5000,"
        "'input':{'a':['${actions.one.output.id}','${parameters.x}','${run.id}']},"
        "'retry':{'maxAttempts':1,'initialBackoffMs':5,'backoffMultiplier':1.5,'maxBackoffMs':9},"
        "'approvalForm':{'type':'object','properties':{'why':{'type':'string'}}},"
        "'compensationOperation':'pr:write','compensationInput':'${actions.two.output/id}'},"
        "{'actionId':'one','order':1,'portFamily':'SoftwareDev','capability':'pr:read','operation':"
        "'pr:read'}]}");
    const portarium_action *two = &workflow->actions[1];

    assert_false(workflow->is_active);
    assert_string_equal(workflow->actions[0].id, "one");
    assert_string_equal(two->id, "two");
    assert_string_equal(two->capability, "pr:write");
    assert_int_equal(two->tier, PORTARIUM_TIER_MANUAL_ONLY);
    assert_true(two->is_manual);
    assert_false(two->has_side_effect);
    assert_int_equal(two->timeout_ms, 5000);
    assert_int_equal(two->retry.max_attempts, 1);
    assert_true(two->retry.multiplier == 1.5);
    assert_non_null(two->test);
    assert_string_equal(two->compensation, "pr:write");
    /* Without dependsOn: one after the other. */
    assert_int_equal(two->predecessor_count, 1);
    assert_int_equal(two->predecessors[0], 0);
    assert_int_equal(workflow->actions[0].successor_count, 1);
    assert_int_equal(workflow->actions[0].successors[0], 1);
}

/* A diamond, and an action that nothing waits for. */
static void test_graph(void **state)
{
    bodies *self = *state;
    const portarium_workflow *workflow = accept(
        self,
        HEAD ACTION("d", 4, ",'dependsOn':['b','c'],'input':'${actions.a.output}'") "," ACTION(
            "a", 1,
            "") "," ACTION("c", 3,
                           ",'dependsOn':['a']") "," ACTION("b", 2,
                                                            ",'dependsOn':['a']") "," ACTION("e", 5,
                                                                                             "") "]}");
    const portarium_action *a = workflow->actions;

    assert_int_equal(a[0].predecessor_count, 0);
    assert_int_equal(a[0].successor_count, 2);
    assert_int_equal(a[0].successors[0], 1);
    assert_int_equal(a[0].successors[1], 2);
    assert_int_equal(a[3].predecessor_count, 2);
    assert_int_equal(a[3].predecessors[0], 1);
    assert_int_equal(a[3].predecessors[1], 2);
    assert_int_equal(a[4].predecessor_count + a[4].successor_count, 0);
}

/* Each body breaks one rule. */
static void test_rules(void **state)
{
    static const struct {
        const char *body;
        const char *field;
    } rows[] = {
        { "[]", "" },
        { "{'schemaVersion':1,'name':'W','executionTier':'Auto'}", "/actions" },
        { "{'schemaVersion':3,'name':'W','executionTier':'Auto','actions':[" ACTION("a", 1,
                                                                                    "") "]}",
          "/schemaVersion" },
        { HEAD "]}", "/actions" },
        { HEAD ACTION("a b", 1, "") "]}", "/actions/0/actionId" },
        { HEAD ACTION("a", 1, ",'when':1") "]}", "/actions/0/when" },
        { HEAD ACTION("a", 1, ",'timeoutMs':0") "]}", "/actions/0/timeoutMs" },
        { HEAD ACTION("a", 1, ",'timeoutMs':86400001") "]}", "/actions/0/timeoutMs" },
        { HEAD ACTION("a", 1, ",'retry':{'maxAttempts':11}") "]}", "/actions/0/retry/maxAttempts" },
        { HEAD ACTION("a", 1, ",'retry':{'maxAttempts':0}") "]}", "/actions/0/retry/maxAttempts" },
        { HEAD ACTION("a", 1, ",'retry':{'backoffMultiplier':0.5}") "]}",
          "/actions/0/retry/backoffMultiplier" },
        { HEAD ACTION("a", 1, ",'retry':{'attempts':1}") "]}", "/actions/0/retry/attempts" },
        { HEAD ACTION("a", 1, ",'manual':true,'manual':false") "]}", "/actions/0/manual" },
        { HEAD ACTION("a", 2, "") "]}", "/actions/0/order" },
        { HEAD ACTION("a", 1, "") "," ACTION("b", 1, "") "]}", "/actions/1/order" },
        { HEAD ACTION("a", 1, "") "," ACTION("b", 3, "") "]}", "/actions/1/order" },
        { HEAD ACTION("a", 1, "") "," ACTION("a", 2, "") "]}", "/actions/1/actionId" },
        { HEAD "{'actionId':'a','order':1,'portFamily':'Nope','operation':'x:y'}]}",
          "/actions/0/portFamily" },
        { HEAD "{'actionId':'a','order':1,'portFamily':'CrmSales','operation':'xy'}]}",
          "/actions/0/operation" },
        { HEAD ACTION("a", 1, ",'capability':'party:read'") "]}", "/actions/0/capability" },
        { "{'schemaVersion':2,'name':'W','executionTier':'Auto','actions':[" ACTION("a", 1,
                                                                                    "") "]}",
          "/actions/0/capability" },
        { HEAD ACTION("a", 1, ",'executionTierOverride':'Auto'") "]}",
          "/actions/0/executionTierOverride" },
        { HEAD ACTION("a", 1, ",'dependsOn':['z']") "]}", "/actions/0/dependsOn/0" },
        { HEAD ACTION("a", 1, ",'dependsOn':['a']") "]}", "/actions/0/dependsOn" },
        { HEAD ACTION("a", 1, ",'dependsOn':['c']") "," ACTION(
              "b", 2, ",'dependsOn':['a']") "," ACTION("c", 3, ",'dependsOn':['b']") "]}",
          "/actions/0/dependsOn" },
        { HEAD ACTION("a", 1, ",'when':'1 +'") "]}", "/actions/0/when" },
        { HEAD ACTION("a", 1, ",'when':'foo.bar'") "]}", "/actions/0/when" },
        { HEAD ACTION("a", 1, ",'when':'actions.a.state == null'") "]}", "/actions/0/when" },
        { HEAD ACTION("a", 1, "") "," ACTION("b", 2, ",'when':'actions.a.started'") "]}",
          "/actions/1/when" },
        { HEAD ACTION("a", 1, ",'input':{'x':['${nope}']}") "]}", "/actions/0/input/x/0" },
        { HEAD ACTION("a", 1, ",'input':{'x':'${credential}'}") "]}", "/actions/0/input/x" },
        { HEAD ACTION("a", 1, ",'input':'${actions.a.output}'") "]}", "/actions/0/input" },
        { HEAD ACTION("a", 1, ",'input':'${actions.b.output}'") "," ACTION("b", 2, "") "]}",
          "/actions/0/input" },
        { HEAD ACTION("a", 1, ",'input':'${actions.z.output}'") "]}", "/actions/0/input" },
        { HEAD ACTION("a", 1, ",'input':{'${run.id}':1}") "]}", "/actions/0/input/${run.id}" },
        { HEAD ACTION("a", 1, "") "," ACTION("b", 2,
                                             ",'dependsOn':[],'input':"
                                             "'${actions.a.output}'") "]}",
          "/actions/1/input" },
        { HEAD ACTION("a", 1, ",'compensationInput':{}") "]}", "/actions/0/compensationInput" },
        { HEAD ACTION("a", 1, ",'approvalForm':{}") "]}", "/actions/0/approvalForm" },
        { HEAD ACTION("a", 1,
                      ",'approvalForm':{'type':'object','properties':{'x':{'type':"
                      "'object'}}}") "]}",
          "/actions/0/approvalForm/properties/x" },
        { HEAD ACTION("a", 1,
                      ",'approvalForm':{'type':'object','properties':{'x':{'type':"
                      "'string','pattern':'('}}}") "]}",
          "/actions/0/approvalForm" },
        { HEAD ACTION("a", 1, "") "],'parametersSchema':{'type':'integre'}}", "/parametersSchema" },
        { HEAD ACTION("a", 1, "") "],'workflowId':'other'}", "/workflowId" },
        { HEAD ACTION("a", 1, "") "],'workspaceId':'other'}", "/workspaceId" },
        { HEAD ACTION("a", 1, "") "],'version':4}", "/version" },
    };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const portarium_workflow *out = NULL;
        mcp_status st = read(self, &out, rows[i].body);
        expect_field(self, st, rows[i].field, rows[i].body);
        assert_null(out);
    }
}

/* Several breaches are reported together. */
static void test_all_breaches(void **state)
{
    bodies *self = *state;
    const portarium_workflow *out = NULL;

    assert_int_equal(read(self, &out,
                          HEAD ACTION("a", 1, ",'when':'('") "," ACTION(
                              "b", 2, ",'executionTierOverride':'Auto','input':'${x}'") "]}"),
                     MCP_E_SCHEMA);
    assert_int_equal(self->fields.count, 3);
}

/* A thousand actions in a star and in a chain; one more is refused. */
static void test_many(void **state)
{
    bodies *self = *state;

    for (int count = 1000; count <= 1001; count++) {
        const portarium_workflow *out = NULL;
        mcp_buf buf;
        mcp_buf_init(&buf, 1 << 20);
        mcp_buf_puts(&buf, HEAD);
        for (int i = 1; i <= count; i++)
            mcp_buf_printf(&buf,
                           "%s{'actionId':'a%d','order':%d,'portFamily':'SoftwareDev','operation':"
                           "'pr:read','dependsOn':[%s]}",
                           i > 1 ? "," : "", i, i, i > 1 ? "'a1'" : "");
        mcp_buf_puts(&buf, "]}");
        mcp_status st = read(self, &out, buf.data);
        assert_int_equal(st, count == 1000 ? MCP_OK : MCP_E_SCHEMA);
        if (st == MCP_OK)
            assert_int_equal(out->actions[0].successor_count, 999);
        mcp_buf_clear(&buf);
    }
}

static void test_writing(void **state)
{
    bodies *self = *state;
    const mcp_json *written = NULL;
    mcp_json_writer writer;
    mcp_buf buf;
    const portarium_workflow *workflow = accept(
        self, "{'unknown':1,'name':'W','description':'D','executionTier':'Auto','schemaVersion':1,"
              "'actions':[" ACTION("a", 1, ",'other':2,'timeoutMs':7,'input':{'k':null}") "]}");

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    portarium_workflow_write(&writer, workflow);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&written, self->arena, buf.data, buf.length, NULL), MCP_OK);
    assert_true(mcp_json_equal(
        written,
        body_of(self, "{'schemaVersion':1,'workflowId':'wf-1','workspaceId':'ws-1','name':'W',"
                      "'description':'D','version':3,'active':true,'executionTier':'Auto',"
                      "'actions':[{'actionId':'a','order':1,'portFamily':'SoftwareDev','operation':"
                      "'deployment:write','timeoutMs':7,'input':{'k':null}}]}")));
    /* What was written reads as the same. */
    const portarium_workflow *again = NULL;
    portarium_fields_init(&self->fields, self->arena);
    assert_int_equal(portarium_workflow_read(&again, self->arena, self->shapes, written, &origin,
                                             &self->fields, &self->err),
                     MCP_OK);
    mcp_buf_clear(&buf);
}

static void test_parameters(void **state)
{
    bodies *self = *state;
    const portarium_workflow *workflow = accept(
        self, HEAD ACTION("a", 1, "") "],'parametersSchema':{'type':'object','required':["
                                      "'x'],'properties':{'x':{'type':'integer'}}}}");
    const portarium_workflow *open = accept(self, HEAD ACTION("a", 1, "") "]}");
    static const struct {
        const char *parameters;
        const char *field; /* NULL: accepted */
    } rows[] = {
        { "{'x':1,'y':2}", NULL },
        { "{'x':'1'}", "/parameters/x" },
        { "{}", "/parameters/x" },
    };

    for (size_t i = 0; i < 3; i++) {
        const mcp_json *parameters = body_of(self, rows[i].parameters);
        mcp_status st = portarium_workflow_check_parameters(workflow, parameters, &self->fields,
                                                            &self->err);
        if (rows[i].field)
            expect_field(self, st, rows[i].field, rows[i].parameters);
        else
            assert_int_equal(st, MCP_OK);
    }
    body_of(self, "{}");
    expect_field(self,
                 portarium_workflow_check_parameters(workflow, NULL, &self->fields, &self->err),
                 "/parameters/x", "none");
    body_of(self, "{}");
    assert_int_equal(portarium_workflow_check_parameters(open, NULL, &self->fields, &self->err),
                     MCP_OK);
    /* 256 KiB of compact JSON fit, a byte more does not. */
    for (size_t length = PORTARIUM_PARAMETERS_MAX; length <= PORTARIUM_PARAMETERS_MAX + 1;
         length++) {
        char *text = mcp_arena_alloc(self->arena, length + 1);
        memset(text, 'x', length);
        memcpy(text, "{'k':'", 6);
        memcpy(text + length - 2, "'}", 2);
        const mcp_json *parameters = body_of(self, text);
        assert_int_equal(
            portarium_workflow_check_parameters(open, parameters, &self->fields, &self->err),
            length > PORTARIUM_PARAMETERS_MAX ? MCP_E_SCHEMA : MCP_OK);
    }
}

static void test_forms(void **state)
{
    bodies *self = *state;
    const mcp_json *form = body_of(
        self, "{'type':'object','required':['why'],'properties':{'why':{'type':'string'}}}");

    assert_int_equal(
        portarium_form_check(form, body_of(self, "{'why':'x'}"), &self->fields, &self->err),
        MCP_OK);
    expect_field(self,
                 portarium_form_check(form, body_of(self, "{'why':1}"), &self->fields, &self->err),
                 "/inputs/why", "a number");
    body_of(self, "{}");
    expect_field(self, portarium_form_check(form, NULL, &self->fields, &self->err), "/inputs/why",
                 "none");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bodies_set_up, bodies_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_defaults), TEST(test_everything),   TEST(test_graph),
        TEST(test_rules),    TEST(test_all_breaches), TEST(test_many),
        TEST(test_writing),  TEST(test_parameters),   TEST(test_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
