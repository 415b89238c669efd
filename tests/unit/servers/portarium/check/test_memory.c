/*
 * Memory that runs out at any place while bodies are read: never an answer, never a leak.
 */
#include "../bodies.h"

#include "check/agent.h"
#include "check/check.h"
#include "model/workflow.h"
#include "oom.h"
#include "policy/exposure.h"
#include "policy/rules.h"

typedef struct setting {
    bodies *self;
    const mcp_json *body;
} setting;

typedef mcp_status reader(const setting *with, mcp_arena *arena, portarium_fields *fields);

static mcp_status in_new_arena(const setting *with, reader *read)
{
    mcp_arena *arena = mcp_arena_new(0);
    portarium_fields fields;
    mcp_status st = MCP_E_NOMEM;

    if (arena) {
        portarium_fields_init(&fields, arena);
        st = read(with, arena, &fields);
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status read_workflow(const setting *with, mcp_arena *arena, portarium_fields *fields)
{
    static const portarium_workflow_origin origin = { "wf", "ws", 1 };
    const portarium_workflow *out = NULL;
    mcp_status st = portarium_workflow_read(&out, arena, with->self->shapes, with->body, &origin,
                                            fields, NULL);

    return st == MCP_OK ? portarium_workflow_check_parameters(out, NULL, fields, NULL) : st;
}

static mcp_status read_policy(const setting *with, mcp_arena *arena, portarium_fields *fields)
{
    const portarium_policy *out = NULL;

    return portarium_policy_read(&out, arena, with->self->shapes, with->body, "p", 1, fields, NULL);
}

static mcp_status read_exposure(const setting *with, mcp_arena *arena, portarium_fields *fields)
{
    const portarium_exposure *out = NULL;

    return portarium_exposure_read(&out, arena, with->self->shapes, with->body, fields, NULL);
}

static mcp_status read_agent(const setting *with, mcp_arena *arena, portarium_fields *fields)
{
    const portarium_agent *out = NULL;

    return portarium_agent_read(&out, arena, with->self->shapes, with->body, fields, NULL);
}

static mcp_status check_approval(const setting *with, mcp_arena *arena, portarium_fields *fields)
{
    (void)arena;
    return portarium_body_check(with->self->shapes, PORTARIUM_SHAPE_ApprovalCreate, with->body, 0,
                                fields, NULL);
}

static mcp_status workflow_step(void *data)
{
    return in_new_arena(data, read_workflow);
}

static mcp_status policy_step(void *data)
{
    return in_new_arena(data, read_policy);
}

static mcp_status exposure_step(void *data)
{
    return in_new_arena(data, read_exposure);
}

static mcp_status agent_step(void *data)
{
    return in_new_arena(data, read_agent);
}

static mcp_status approval_step(void *data)
{
    return in_new_arena(data, check_approval);
}

static void test_readers(void **state)
{
    static const struct {
        oom_step *step;
        const char *body;
    } rows[] = {
        { workflow_step,
          "{'schemaVersion':1,'name':'W','executionTier':'Auto','parametersSchema':{'type':"
          "'object'},'actions':[{'actionId':'a','order':1,'portFamily':'CrmSales','operation':"
          "'party:read','when':'env != null','input':{'x':['${run.id}']},'approvalForm':{'type':"
          "'object','properties':{'why':{'type':'string'}}}},{'actionId':'b','order':2,"
          "'portFamily':'CrmSales','operation':'party:read','dependsOn':['a']}]}" },
        { policy_step,
          "{'name':'P','rules':[{'ruleId':'r','condition':'env in actor.roles','effect':'Deny'}],"
          "'sodConstraints':[{'kind':'IncompatibleDuties','dutyKeys':['a','b']}],"
          "'autonomyBudgets':[{'budgetId':'b','scope':'Run','metric':'ToolCalls','hardStopAt':3,"
          "'hardStopMode':'KillRun','rationale':'y'}]}" },
        { exposure_step,
          "{'schemaVersion':1,'rules':[{'toolPattern':'*','allowedRoles':['admin']}],"
          "'defaultEffect':'Deny'}" },
        { agent_step, "{'name':'A','machineId':'m','allowedCapabilities':['x','y:z']}" },
        { approval_step,
          "{'runId':'r','planId':'p','prompt':'?','dueAtIso':'2026-01-03T00:00:00Z',"
          "'escalationChain':[{'stepOrder':1,'escalateToUserId':'u','afterHours':0.5}]}" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setting with = { .self = *state, .body = body_of(*state, rows[i].body) };
        oom_walk(rows[i].step, &with);
    }
}

static mcp_status compile_shapes(void *data)
{
    portarium_shapes *shapes = NULL;
    mcp_status st = portarium_shapes_new(&shapes, portarium_files, NULL);

    (void)data;
    portarium_shapes_free(shapes);
    return st;
}

static void test_shapes(void **state)
{
    (void)state;
    oom_walk(compile_shapes, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_readers, bodies_set_up, bodies_tear_down),
        cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
