/*
 * Policies: what is read and refused, how several combine, environments, separation of duties,
 * budgets.
 */
#include "../bodies.h"

#include "policy/rules.h"

static const char context_text[] =
    "{'actor':{'id':'alice','roles':['operator']},'workflow':{'id':'w'},'action':{'operation':"
    "'pr:write','portFamily':'SoftwareDev','tier':'Auto'},'run':{'parameters':{'amount':500}},"
    "'agent':{},'machine':{},'env':'prod'}";

static mcp_status read(bodies *self, const portarium_policy **out, const char *id, const char *text)
{
    return portarium_policy_read(out, self->arena, self->shapes, body_of(self, text), id, 1,
                                 &self->fields, &self->err);
}

static const portarium_policy *accept(bodies *self, const char *id, const char *text)
{
    const portarium_policy *out = NULL;

    if (read(self, &out, id, text) != MCP_OK)
        fail_msg("%s: %s", text, self->err.message);
    return out;
}

static portarium_verdict judge(bodies *self, const portarium_policy *const *policies, size_t count)
{
    portarium_verdict verdict;
    const mcp_json *context = body_of(self, context_text);

    assert_int_equal(
        portarium_policies_judge(&verdict, policies, count, context, self->arena, &self->err),
        MCP_OK);
    return verdict;
}

static void test_reading(void **state)
{
    bodies *self = *state;
    const portarium_policy *policy = accept(
        self, "p",
        "{'schemaVersion':1,'policyId':'p','name':'P','active':false,'priority':-5,'rules':["
        "{'ruleId':'r','condition':'true','effect':'Deny','rationale':'why'}],"
        "'sodConstraints':[{'kind':'MakerChecker'},{'kind':'DistinctApprovers',"
        "'minimumApprovers':3},{'kind':'IncompatibleDuties','dutyKeys':['a','b']},"
        "{'kind':'SpecialistApproval','requiredRoles':['surgeon'],'rationale':'x'}],"
        "'autonomyBudgets':[{'budgetId':'b','scope':'Workspace','metric':'ApprovalRequests',"
        "'warningAt':2,'hardStopAt':3,'hardStopMode':'KillRun','rationale':'y'}]}");

    assert_string_equal(policy->id, "p");
    assert_false(policy->is_active);
    assert_int_equal(policy->priority, -5);
    assert_int_equal(policy->version, 1);
    assert_int_equal(policy->rule_count, 1);
    assert_int_equal(policy->rules[0].effect, PORTARIUM_EFFECT_DENY);
    assert_int_equal(policy->duty_count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(policy->duties[i].kind, i);
    assert_int_equal(portarium_duties_approvers(policy->duties, 4), 3);
    assert_int_equal(portarium_duties_approvers(policy->duties, 1), 1);
    assert_int_equal(policy->budgets[0].scope, PORTARIUM_BUDGET_WORKSPACE);
    assert_int_equal(policy->budgets[0].metric, PORTARIUM_METRIC_APPROVAL_REQUESTS);
    assert_int_equal(policy->budgets[0].stop, PORTARIUM_STOP_KILL_RUN);
    assert_string_equal(portarium_budget_stop_text(policy->budgets[0].stop), "KillRun");
    policy = accept(self, "q", "{'name':'Q'}");
    assert_true(policy->is_active);
}

#define RULES(rules) "{'name':'P','rules':[" rules "]}"
#define RULE(id, condition, effect)                                                                \
    "{'ruleId':'" id "','condition':'" condition "','effect':'" effect "'}"
#define SOD(constraint) "{'name':'P','sodConstraints':[" constraint "]}"
#define BUDGET(id, warning, stop, metric, mode)                                                    \
    "{'budgetId':'" id "','scope':'Run','metric':'" metric "','warningAt':" warning                \
    ",'hardStopAt':" stop ",'hardStopMode':'" mode "','rationale':'y'}"

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        { "{}", "/name" },
        { "{'name':'P','policyId':'other'}", "/policyId" },
        { RULES(RULE("a", "1 +", "Deny")), "/rules/0/condition" },
        { RULES(RULE("a", "user.id == null", "Deny")), "/rules/0/condition" },
        { RULES(RULE("a", "true", "deny")), "/rules/0/effect" },
        { RULES(RULE("a", "true", "Deny") "," RULE("a", "true", "Deny")), "/rules/1/ruleId" },
        { SOD("{'kind':'HazardousZoneNoSelfApproval'}"), "/sodConstraints/0/kind" },
        { SOD("{'kind':'SafetyClassifiedZoneDualApproval'}"), "/sodConstraints/0/kind" },
        { SOD("{'kind':'RemoteEstopRequesterSeparation'}"), "/sodConstraints/0/kind" },
        { SOD("{'kind':'Other'}"), "/sodConstraints/0/kind" },
        { SOD("{'kind':'DistinctApprovers'}"), "/sodConstraints/0/minimumApprovers" },
        { SOD("{'kind':'DistinctApprovers','minimumApprovers':0}"),
          "/sodConstraints/0/minimumApprovers" },
        { SOD("{'kind':'IncompatibleDuties','dutyKeys':['a']}"), "/sodConstraints/0/dutyKeys" },
        { SOD("{'kind':'SpecialistApproval','requiredRoles':['a']}"),
          "/sodConstraints/0/rationale" },
        { "{'name':'P','autonomyBudgets':[" BUDGET("b", "5", "4", "ToolCalls", "KillRun") "]}",
          "/autonomyBudgets/0/warningAt" },
        { "{'name':'P','autonomyBudgets':[" BUDGET("b", "1", "4", "Tokens", "KillRun") "]}",
          "/autonomyBudgets/0/metric" },
        { "{'name':'P','autonomyBudgets':[" BUDGET("b", "1", "4", "ToolCalls", "Warn") "]}",
          "/autonomyBudgets/0/hardStopMode" },
        { "{'name':'P','autonomyBudgets':[" BUDGET("b", "1", "4", "ToolCalls",
                                                   "KillRun") "," BUDGET("b", "1", "4", "ToolCalls",
                                                                         "KillRun") "]}",
          "/autonomyBudgets/1/budgetId" },
    };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const portarium_policy *out = NULL;
        expect_field(self, read(self, &out, "p", rows[i][0]), rows[i][1], rows[i][0]);
        assert_null(out);
    }
}

/* Every pair of effects: the stricter one holds, whatever the priorities and the order. */
static void test_combination(void **state)
{
    static const char *const effects[] = { "Allow", "RequireApproval", "Deny" };
    bodies *self = *state;

    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int order = 0; order < 2; order++) {
                const portarium_policy *policies[2];
                for (int i = 0; i < 2; i++)
                    policies[i] = accept(
                        self, i == order ? "pa" : "pb",
                        mcp_arena_printf(self->arena,
                                         "{'name':'P','priority':%d,'rules':[{'ruleId':'r%d',"
                                         "'condition':'true','effect':'%s'}]}",
                                         i == 0 ? 9 : 1, i, effects[i == 0 ? a : b]));
                portarium_verdict verdict = judge(self, policies, 2);
                int strictest = a > b ? a : b;
                assert_int_equal(verdict.effect, strictest);
                assert_int_equal(verdict.count, 2);
                assert_string_equal(verdict.rule_id, a >= b ? "r0" : "r1");
                assert_string_equal(verdict.policy_id, (a >= b ? 0 : 1) == order ? "pa" : "pb");
            }
}

static void test_conditions(void **state)
{
    bodies *self = *state;
    const portarium_policy *policies[3] = {
        accept(self, "large", RULES(RULE("r", "run.parameters.amount > 1000", "Deny"))),
        accept(self, "off", "{'name':'P','active':false,'rules':[" RULE("r", "true", "Deny") "]}"),
        accept(self, "prod",
               RULES(RULE("r", "env != null && agent.id == null", "RequireApproval"))),
    };
    portarium_verdict verdict = judge(self, policies, 3);

    assert_int_equal(verdict.effect, PORTARIUM_EFFECT_REQUIRE_APPROVAL);
    assert_int_equal(verdict.count, 1);
    assert_string_equal(verdict.policy_id, "prod");
    assert_string_equal(verdict.explanations[0].detail, "env != null && agent.id == null");
    verdict = judge(self, policies, 2);
    assert_int_equal(verdict.effect, PORTARIUM_EFFECT_ALLOW);
    assert_null(verdict.policy_id);
}

/* 8.2: any error denies, also of a rule that would only have allowed. */
static void test_errors_deny(void **state)
{
    static const char *const conditions[] = {
        "run.parameters.missing > 5",
        "env",
        "actor.roles == 1",
        "action.tier < 1",
    };
    bodies *self = *state;

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const portarium_policy *policy = accept(
            self, "p",
            mcp_arena_printf(self->arena,
                             "{'name':'P','rules':[{'ruleId':'r','condition':'%s','effect':"
                             "'Allow'}]}",
                             conditions[i]));
        portarium_verdict verdict = judge(self, &policy, 1);
        assert_int_equal(verdict.effect, PORTARIUM_EFFECT_DENY);
        assert_true(verdict.explanations[0].is_error);
        assert_string_equal(verdict.rule_id, "r");
    }
}

static void test_many_explanations(void **state)
{
    bodies *self = *state;
    const portarium_policy *policies[40];

    for (int i = 0; i < 40; i++)
        policies[i] = accept(
            self, mcp_arena_printf(self->arena, "p%02d", i),
            mcp_arena_printf(self->arena,
                             "{'name':'P','priority':%d,'rules':[{'ruleId':'r','condition':'true',"
                             "'effect':'%s'}]}",
                             i, i == 0 ? "Deny" : "Allow"));
    portarium_verdict verdict = judge(self, policies, 40);
    assert_int_equal(verdict.effect, PORTARIUM_EFFECT_DENY);
    assert_string_equal(verdict.policy_id, "p00");
    assert_int_equal(verdict.count, PORTARIUM_EXPLANATIONS_MAX);
    for (size_t i = 1; i < verdict.count; i++)
        assert_int_equal(verdict.explanations[i].priority, 40 - (int)i);
}

static void test_environments(void **state)
{
    static const int thresholds[] = { 3, 2, 1 };
    (void)state;

    for (int environment = 0; environment < 3; environment++)
        for (int tier = 0; tier < 4; tier++) {
            portarium_environment_verdict verdict = portarium_environment_judge(
                (portarium_environment)environment, (portarium_tier)tier);
            assert_int_equal(verdict.requires_approval, tier >= thresholds[environment]);
            assert_int_equal(verdict.is_enforced, environment != PORTARIUM_ENVIRONMENT_DEV);
            assert_int_equal(verdict.may_override, environment != PORTARIUM_ENVIRONMENT_PROD);
        }
}

/* ---- duties ---------------------------------------------------------------------------------- */

static void test_duties(void **state)
{
    static const char *const requesters[] = { "alice", "agent-owner" };
    static const char *const approvers[] = { "bob" };
    static const char *const roles[] = { "approver", "surgeon" };
    static const portarium_deed deeds[] = { { "carol", "plan:write" }, { "dave", "other" } };
    bodies *self = *state;
    const portarium_policy *policy = accept(
        self, "p",
        SOD("{'kind':'DistinctApprovers','minimumApprovers':2},{'kind':'IncompatibleDuties',"
            "'dutyKeys':['plan:write','approval:submit']},{'kind':'SpecialistApproval',"
            "'requiredRoles':['nurse','surgeon'],'rationale':'x'}"));
    static const struct {
        const char *decider;
        size_t roles;
        const char *violated; /* NULL: none */
    } rows[] = {
        { "alice", 2, "MakerChecker" },
        { "agent-owner", 2, "MakerChecker" },
        { "bob", 2, "DistinctApprovers" },
        { "carol", 2, "IncompatibleDuties" },
        { "dave", 1, "SpecialistApproval" },
        { "dave", 0, "SpecialistApproval" },
        { "dave", 2, NULL },
        { "erin", 2, NULL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        portarium_duty_facts facts = {
            .decider_id = rows[i].decider,
            .decider_roles = roles,
            .decider_role_count = rows[i].roles,
            .requesters = requesters,
            .requester_count = 2,
            .approvers = approvers,
            .approver_count = 1,
            .deeds = deeds,
            .deed_count = 2,
        };
        const portarium_duty *violated = portarium_duties_violated(policy->duties,
                                                                   policy->duty_count, &facts);
        assert_int_equal(violated != NULL, rows[i].violated != NULL);
        if (violated)
            assert_string_equal(portarium_duty_kind_text(violated->kind), rows[i].violated);
    }
    /* Maker-checker needs no policy. */
    portarium_duty_facts facts = { .decider_id = "alice",
                                   .requesters = requesters,
                                   .requester_count = 1 };
    assert_non_null(portarium_duties_violated(NULL, 0, &facts));
    facts.decider_id = "bob";
    assert_null(portarium_duties_violated(NULL, 0, &facts));
    /* A duty outside of the list is compatible with all. */
    facts = (portarium_duty_facts){
        .decider_id = "carol", .duty_key = "task:complete", .deeds = deeds, .deed_count = 2
    };
    assert_false(portarium_duty_is_violated(&policy->duties[1], &facts));
}

static void test_budgets(void **state)
{
    portarium_budget budget = { .warning_at = 3, .hard_stop_at = 5 };
    static const portarium_budget_verdict verdicts[] = {
        PORTARIUM_BUDGET_FITS,  PORTARIUM_BUDGET_FITS, PORTARIUM_BUDGET_WARNS,
        PORTARIUM_BUDGET_FITS,  PORTARIUM_BUDGET_FITS, PORTARIUM_BUDGET_STOPS,
        PORTARIUM_BUDGET_STOPS,
    };
    (void)state;

    /* Five uses fit, the sixth does not; the third warns. */
    for (int used = 0; used < 7; used++)
        assert_int_equal(portarium_budget_judge(&budget, used), verdicts[used]);
    budget.warning_at = 0;
    assert_int_equal(portarium_budget_judge(&budget, 2), PORTARIUM_BUDGET_FITS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bodies_set_up, bodies_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_reading),      TEST(test_refusals),    TEST(test_combination),
        TEST(test_conditions),   TEST(test_errors_deny), TEST(test_many_explanations),
        TEST(test_environments), TEST(test_duties),      TEST(test_budgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
