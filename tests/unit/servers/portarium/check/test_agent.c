/*
 * Registrations of agents: both forms, capabilities as words, what a machine and a tier allow.
 */
#include "../bodies.h"

#include "check/agent.h"

static mcp_status read(bodies *self, const portarium_agent **out, const char *text)
{
    return portarium_agent_read(out, self->arena, self->shapes, body_of(self, text), &self->fields,
                                &self->err);
}

static const portarium_agent *accept(bodies *self, const char *text)
{
    const portarium_agent *out = NULL;

    if (read(self, &out, text) != MCP_OK)
        fail_msg("%s: %s", text, self->err.message);
    return out;
}

static void test_canonical(void **state)
{
    bodies *self = *state;
    const portarium_agent *agent = accept(
        self, "{'agentId':'a','machineId':'m','displayName':'A','policyTier':'Auto',"
              "'capabilities':['notify',{'capability':'ticket:write'},'paint'],"
              "'allowedTools':['t1','t2']}");

    assert_string_equal(agent->id, "a");
    assert_string_equal(agent->machine_id, "m");
    assert_string_equal(agent->name, "A");
    assert_int_equal(agent->tier, PORTARIUM_TIER_AUTO);
    assert_false(agent->has_all_capabilities);
    assert_int_equal(agent->capability_count, 3);
    assert_string_equal(agent->capabilities[0], "notification:send");
    assert_string_equal(agent->capabilities[1], "ticket:write");
    assert_string_equal(agent->capabilities[2], "agent:paint");
    assert_int_equal(agent->tool_count, 2);
    agent = accept(self, "{'agentId':'a','machineId':'m','displayName':'A'}");
    assert_true(agent->has_all_capabilities);
    assert_int_equal(agent->tier, PORTARIUM_TIER_HUMAN_APPROVE);
    assert_int_equal(agent->tool_count, 0);
}

static void test_form(void **state)
{
    bodies *self = *state;
    const portarium_agent *agent = accept(
        self, "{'name':'A','machineId':'m','allowedCapabilities':['classify']}");

    assert_int_equal(strncmp(agent->id, "agent-", 6), 0);
    assert_int_equal(strlen(agent->id), 42);
    assert_string_equal(agent->name, "A");
    assert_int_equal(agent->tier, PORTARIUM_TIER_HUMAN_APPROVE);
    assert_string_equal(agent->capabilities[0], "agent:classify");
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        { "{'agentId':'a','machineId':'m'}", "/displayName" },
        { "{'name':'A'}", "/machineId" },
        { "{'agentId':'a','machineId':'m','displayName':'A','capabilities':[]}", "/capabilities" },
        { "{'agentId':'a','machineId':'m','displayName':'A','policyTier':'auto'}", "/policyTier" },
        { "{'agentId':'a','machineId':'m','displayName':'A','capabilities':['notify',"
          "'notification:send']}",
          "/capabilities/1" },
        { "{'name':'A','machineId':'m','allowedCapabilities':['x',{'capability':'agent:x'}]}",
          "/allowedCapabilities/1" },
    };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const portarium_agent *out = NULL;
        expect_field(self, read(self, &out, rows[i][0]), rows[i][1], rows[i][0]);
    }
}

static void test_judgement(void **state)
{
    static const char *const machine[] = { "ticket:read", "ticket:write" };
    static const portarium_tool_pattern patterns[] = {
        { "get_*", PORTARIUM_TOOL_READ_ONLY },
        { "set_*", PORTARIUM_TOOL_MUTATION },
        { "drop_*", PORTARIUM_TOOL_DANGEROUS },
    };
    static const struct {
        const char *tier;
        size_t refused; /* of get_x, set_x, drop_x, other */
    } rows[] = { { "Auto", 3 }, { "Assisted", 3 }, { "HumanApprove", 1 }, { "ManualOnly", 0 } };
    bodies *self = *state;

    for (size_t i = 0; i < 4; i++) {
        const portarium_agent *agent = accept(
            self, mcp_arena_printf(self->arena,
                                   "{'agentId':'a','machineId':'m','displayName':'A','policyTier':"
                                   "'%s','capabilities':['ticket:write'],'allowedTools':['get_x',"
                                   "'set_x','drop_x','other']}",
                                   rows[i].tier));
        mcp_status st = portarium_agent_judge(agent, machine, 2, patterns, 3, &self->fields,
                                              &self->err);
        assert_int_equal(st, rows[i].refused ? MCP_E_SCHEMA : MCP_OK);
        assert_int_equal(self->fields.count, rows[i].refused);
    }
    const portarium_agent *agent = accept(
        self, "{'agentId':'a','machineId':'m','displayName':'A','capabilities':["
              "'ticket:read','ticket:assign']}");
    expect_field(self,
                 portarium_agent_judge(agent, machine, 2, patterns, 3, &self->fields, &self->err),
                 "/capabilities/1", "a capability that the machine lacks");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bodies_set_up, bodies_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_canonical),
        TEST(test_form),
        TEST(test_refusals),
        TEST(test_judgement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
