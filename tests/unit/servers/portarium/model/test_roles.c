/*
 * The whole matrix of permissions, for all sixteen sets of roles; the table of interventions for
 * every role, type and status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/interventions.h"
#include "model/states.h"

/* Letters of the roles that have each permission. */
static const struct {
    portarium_permission permission;
    const char *letters;
} matrix[] = {
    { PORTARIUM_MAY_READ, "AOPU" },          { PORTARIUM_MAY_START_RUN, "AO" },
    { PORTARIUM_MAY_INTERVENE, "AOPU" },     { PORTARIUM_MAY_CANCEL_RUN, "AO" },
    { PORTARIUM_MAY_CREATE_APPROVAL, "AO" }, { PORTARIUM_MAY_DECIDE_APPROVAL, "AP" },
    { PORTARIUM_MAY_REGISTER_AGENT, "AO" },  { PORTARIUM_MAY_READ_AGENTS, "AOU" },
    { PORTARIUM_MAY_HEARTBEAT, "AO" },       { PORTARIUM_MAY_ASSIGN_TASK, "AO" },
    { PORTARIUM_MAY_COMPLETE_TASK, "AOP" },  { PORTARIUM_MAY_USE_AGENT_ACTIONS, "AO" },
    { PORTARIUM_MAY_WRITE_WORKFLOW, "AO" },  { PORTARIUM_MAY_VERIFY_EVIDENCE, "AU" },
    { PORTARIUM_MAY_ADMINISTER, "A" },
};

static bool has_letter(const char *letters, portarium_roles roles)
{
    for (int role = 0; role < 4; role++)
        if ((roles >> role & 1) && strchr(letters, "AOPU"[role]))
            return true;
    return false;
}

static void test_matrix(void **unused)
{
    (void)unused;
    assert_int_equal(sizeof matrix / sizeof *matrix, PORTARIUM_PERMISSION_COUNT);
    for (size_t i = 0; i < PORTARIUM_PERMISSION_COUNT; i++)
        for (portarium_roles roles = 0; roles < 16; roles++)
            assert_int_equal(portarium_may(roles, matrix[i].permission),
                             has_letter(matrix[i].letters, roles));
}

static void test_cancel(void **unused)
{
    (void)unused;
    for (portarium_roles roles = 0; roles < 16; roles++) {
        assert_int_equal(portarium_may_cancel(roles, false, false), has_letter("AO", roles));
        assert_int_equal(portarium_may_cancel(roles, true, false), has_letter("AOP", roles));
        assert_int_equal(portarium_may_cancel(roles, false, true), roles != 0);
    }
}

static void test_role_names(void **unused)
{
    portarium_roles roles = 0;
    (void)unused;

    assert_true(portarium_roles_add(&roles, "approver"));
    assert_true(portarium_roles_add(&roles, "admin"));
    assert_int_equal(roles, PORTARIUM_ROLE(ADMIN) | PORTARIUM_ROLE(APPROVER));
    assert_false(portarium_roles_add(&roles, "admin"));
    assert_false(portarium_roles_add(&roles, "root"));
    assert_int_equal(roles, PORTARIUM_ROLE(ADMIN) | PORTARIUM_ROLE(APPROVER));
}

/* ---- interventions --------------------------------------------------------------------------- */

/* Type, roles, 'p' where it pauses, the control state, 't' where it needs a target. */
static const struct {
    const char *type, *letters, *pauses, *control, *target;
} types[] = {
    { "pause", "AO", "p", "blocked", "" },
    { "resume", "AO", "", "", "" },
    { "reroute", "AOP", "", "operator-owned", "t" },
    { "handoff", "AO", "", "operator-owned", "t" },
    { "escalate", "AOP", "p", "blocked", "t" },
    { "annotate", "AU", "", "", "" },
    { "request-evidence", "AOP", "p", "blocked", "" },
    { "request-more-evidence", "AOP", "p", "blocked", "" },
    { "freeze", "AO", "p", "frozen", "" },
    { "sandbox", "AO", "p", "degraded", "" },
    { "emergency-disable", "A", "p", "frozen", "" },
};

enum { TYPE_COUNT = sizeof types / sizeof *types };

static portarium_intervention_verdict judge(portarium_intervention_effect *effect, const char *type,
                                            portarium_roles roles, bool has_target,
                                            portarium_run_status status)
{
    portarium_run_facts run = { .status = status };

    return portarium_intervene(effect, type, roles, has_target, &run);
}

static void test_who_may_intervene(void **unused)
{
    portarium_intervention_effect effect;
    (void)unused;

    for (size_t i = 0; i < TYPE_COUNT; i++) {
        assert_string_equal(portarium_intervention_type(i), types[i].type);
        for (portarium_roles roles = 0; roles < 16; roles++) {
            bool is_forbidden = judge(&effect, types[i].type, roles, true, PORTARIUM_RUN_PAUSED) ==
                                PORTARIUM_INTERVENTION_FORBIDDEN;
            assert_int_equal(is_forbidden, !has_letter(types[i].letters, roles));
        }
        bool is_short = judge(&effect, types[i].type, 15, false, PORTARIUM_RUN_PAUSED) ==
                        PORTARIUM_INTERVENTION_NO_TARGET;
        assert_int_equal(is_short, types[i].target[0] != '\0');
    }
    assert_null(portarium_intervention_type(TYPE_COUNT));
    assert_int_equal(judge(&effect, "stop", 15, true, PORTARIUM_RUN_RUNNING),
                     PORTARIUM_INTERVENTION_UNKNOWN);
}

static void test_effects(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < TYPE_COUNT; i++)
        for (int s = 0; s < 7; s++) {
            portarium_run_status status = (portarium_run_status)s;
            portarium_intervention_effect effect;
            bool is_annotation = strcmp(types[i].type, "annotate") == 0;
            if (strcmp(types[i].type, "resume") == 0)
                continue;
            portarium_intervention_verdict verdict = judge(&effect, types[i].type, 15, true,
                                                           status);
            if (portarium_run_is_final(status) && !is_annotation) {
                assert_int_equal(verdict, PORTARIUM_INTERVENTION_FINAL);
                continue;
            }
            assert_int_equal(verdict, PORTARIUM_INTERVENTION_DONE);
            bool does_pause = types[i].pauses[0] && status == PORTARIUM_RUN_RUNNING;
            assert_int_equal(effect.status, does_pause ? PORTARIUM_RUN_PAUSED : status);
            assert_int_equal(effect.control, is_annotation ? PORTARIUM_KEEP : PORTARIUM_SET);
            if (!is_annotation)
                assert_string_equal(portarium_control_state_text(effect.control_state),
                                    types[i].control);
            assert_int_equal(effect.owner, types[i].target[0] ? PORTARIUM_SET : PORTARIUM_KEEP);
        }
}

/* 5.4: resume opens no gate. */
static void test_resume(void **unused)
{
    (void)unused;
    for (int s = 0; s < 7; s++)
        for (int facts = 0; facts < 4; facts++) {
            portarium_run_facts run = { .status = (portarium_run_status)s,
                                        .has_control_state = (facts & 1) != 0,
                                        .has_open_gate = (facts & 2) != 0 };
            portarium_intervention_effect effect;
            portarium_intervention_verdict verdict = portarium_intervene(
                &effect, "resume", PORTARIUM_ROLE(OPERATOR), false, &run);
            bool is_held = run.status == PORTARIUM_RUN_PAUSED ||
                           run.status == PORTARIUM_RUN_WAITING_FOR_APPROVAL;
            if (portarium_run_is_final(run.status)) {
                assert_int_equal(verdict, PORTARIUM_INTERVENTION_FINAL);
            } else if (is_held && run.has_open_gate) {
                assert_int_equal(verdict, PORTARIUM_INTERVENTION_GATED);
            } else if (is_held || run.has_control_state) {
                assert_int_equal(verdict, PORTARIUM_INTERVENTION_DONE);
                assert_int_equal(effect.status, is_held ? PORTARIUM_RUN_RUNNING : run.status);
                assert_int_equal(effect.control, PORTARIUM_REMOVE);
                assert_int_equal(effect.owner, PORTARIUM_REMOVE);
            } else {
                assert_int_equal(verdict, PORTARIUM_INTERVENTION_ILLEGAL);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),     cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_role_names), cmocka_unit_test(test_who_may_intervene),
        cmocka_unit_test(test_effects),    cmocka_unit_test(test_resume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
