/*
 * Tool exposure: patterns in their order, roles, tiers, the default.
 */
#include "../bodies.h"

#include "policy/exposure.h"

static const char text[] =
    "{'schemaVersion':1,'workspaceId':'w','defaultEffect':'Deny','rules':["
    "{'toolPattern':'portarium_run_get','minimumTier':'Auto'},"
    "{'toolPattern':'portarium_run_*','allowedRoles':['admin','operator'],"
    "'minimumTier':'HumanApprove'},"
    "{'toolPattern':'portarium_approval_submit','allowedRoles':['approver']},"
    "{'toolPattern':'portarium_run_cancel','minimumTier':'Auto'}]}";

static const portarium_exposure *read(bodies *self, const char *body)
{
    const portarium_exposure *out = NULL;

    if (portarium_exposure_read(&out, self->arena, self->shapes, body_of(self, body), &self->fields,
                                &self->err) != MCP_OK)
        fail_msg("%s", self->err.message);
    return out;
}

static void test_rules(void **state)
{
    static const struct {
        const char *tool;
        portarium_roles roles;
        portarium_tier tier;
        bool is_allowed;
    } rows[] = {
        { "portarium_run_get", PORTARIUM_ROLE(AUDITOR), PORTARIUM_TIER_AUTO, true },
        { "portarium_run_get", 0, PORTARIUM_TIER_AUTO, true },
        { "portarium_run_start", PORTARIUM_ROLE(OPERATOR), PORTARIUM_TIER_HUMAN_APPROVE, true },
        { "portarium_run_start", PORTARIUM_ROLE(OPERATOR), PORTARIUM_TIER_MANUAL_ONLY, true },
        { "portarium_run_start", PORTARIUM_ROLE(OPERATOR), PORTARIUM_TIER_ASSISTED, false },
        { "portarium_run_start", PORTARIUM_ROLE(AUDITOR), PORTARIUM_TIER_MANUAL_ONLY, false },
        { "portarium_run_start", PORTARIUM_ROLE(AUDITOR) | PORTARIUM_ROLE(ADMIN),
          PORTARIUM_TIER_MANUAL_ONLY, true },
        /* The earlier pattern decides, not the later and looser one. */
        { "portarium_run_cancel", PORTARIUM_ROLE(AUDITOR), PORTARIUM_TIER_MANUAL_ONLY, false },
        { "portarium_approval_submit", PORTARIUM_ROLE(APPROVER), PORTARIUM_TIER_AUTO, true },
        { "portarium_approval_submit", PORTARIUM_ROLE(ADMIN), PORTARIUM_TIER_AUTO, false },
        { "portarium_agent_register", PORTARIUM_ROLE(ADMIN), PORTARIUM_TIER_MANUAL_ONLY, false },
    };
    bodies *self = *state;
    const portarium_exposure *policy = read(self, text);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (portarium_exposure_allows(policy, rows[i].tool, rows[i].roles, rows[i].tier) !=
            rows[i].is_allowed)
            fail_msg("row %zu: %s", i, rows[i].tool);
    assert_true(portarium_exposure_allows(NULL, "x", 0, PORTARIUM_TIER_AUTO));
    policy = read(self, "{'schemaVersion':1,'rules':[{'toolPattern':'*','allowedRoles':[]}],"
                        "'defaultEffect':'Deny'}");
    assert_true(portarium_exposure_allows(policy, "x", 0, PORTARIUM_TIER_AUTO));
    policy = read(self, "{'schemaVersion':1,'rules':[],'defaultEffect':'Allow'}");
    assert_true(portarium_exposure_allows(policy, "x", 0, PORTARIUM_TIER_AUTO));
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        { "{'schemaVersion':1,'rules':[]}", "/defaultEffect" },
        { "{'schemaVersion':2,'rules':[],'defaultEffect':'Deny'}", "/schemaVersion" },
        { "{'schemaVersion':1,'rules':[{}],'defaultEffect':'Deny'}", "/rules/0/toolPattern" },
        { "{'schemaVersion':1,'rules':[{'toolPattern':'*','minimumTier':'auto'}],"
          "'defaultEffect':'Deny'}",
          "/rules/0/minimumTier" },
        { "{'schemaVersion':1,'rules':[{'toolPattern':'*','allowedRoles':['root']}],"
          "'defaultEffect':'Deny'}",
          "/rules/0/allowedRoles/0" },
    };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const portarium_exposure *out = NULL;
        mcp_status st = portarium_exposure_read(
            &out, self->arena, self->shapes, body_of(self, rows[i][0]), &self->fields, &self->err);
        expect_field(self, st, rows[i][1], rows[i][0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules, bodies_set_up, bodies_tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, bodies_set_up, bodies_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
