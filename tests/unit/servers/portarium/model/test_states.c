/*
 * Every pair of every table of transitions, against the tables written as words; the texts of every
 * vocabulary; delays of retries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/states.h"

/* "A: B C; D:" as a claim about one pair of texts: to is a word behind from. */
static bool rule_has(const char *rules, const char *from, const char *to)
{
    const char *at = rules;
    size_t length = strlen(from);

    while (strncmp(at, from, length) != 0 || at[length] != ':') {
        at = strchr(at, ';');
        assert_non_null(at);
        at += 2;
    }
    const char *end = at + strcspn(at, ";");
    for (at += length + 1; at < end; at += strcspn(at, " ;")) {
        at++;
        if (strcspn(at, " ;") == strlen(to) && strncmp(at, to, strlen(to)) == 0)
            return true;
    }
    return false;
}

/* Every pair of a vocabulary of `count` values. */
#define WALK(type, count, rules, may)                                                              \
    for (int from = 0; from < (count); from++)                                                     \
        for (int to = 0; to < (count); to++)                                                       \
            if (may((portarium_##type)from, (portarium_##type)to) !=                               \
                rule_has(rules, portarium_##type##_text((portarium_##type)from),                   \
                         portarium_##type##_text((portarium_##type)to)))                           \
    fail_msg("%s to %s", portarium_##type##_text((portarium_##type)from),                          \
             portarium_##type##_text((portarium_##type)to))

static void test_runs(void **unused)
{
    static const char rules[] =
        "Pending: Running Cancelled; Running: Succeeded Failed Cancelled WaitingForApproval "
        "Paused; WaitingForApproval: Running Cancelled; Paused: Running Cancelled; Succeeded:; "
        "Failed:; Cancelled:;";
    (void)unused;

    assert_int_equal(PORTARIUM_COUNT(PORTARIUM_RUN_STATUS_MAP), 7);
    WALK(run_status, 7, rules, portarium_run_may_become);
    for (int i = 0; i < 7; i++)
        assert_int_equal(portarium_run_is_final((portarium_run_status)i),
                         i >= PORTARIUM_RUN_SUCCEEDED);
}

static void test_approvals(void **unused)
{
    static const char rules[] = "Pending: Approved Denied Expired RequestChanges; RequestChanges: "
                                "Pending; Approved: Executing; Executing: Executed Approved; "
                                "Denied:; Executed:; Expired:;";
    static const char final[] = "Denied Executed Expired";
    (void)unused;

    assert_int_equal(PORTARIUM_COUNT(PORTARIUM_APPROVAL_STATUS_MAP), 7);
    WALK(approval_status, 7, rules, portarium_approval_may_become);
    for (int i = 0; i < 7; i++)
        assert_int_equal(
            portarium_approval_is_final((portarium_approval_status)i),
            strstr(final, portarium_approval_status_text((portarium_approval_status)i)) != NULL);
    for (int i = 0; i < 3; i++)
        assert_string_equal(
            portarium_decision_text((portarium_decision)i),
            portarium_approval_status_text(portarium_approval_of((portarium_decision)i)));
}

static void test_actions(void **unused)
{
    static const char rules[] =
        "Pending: Running Waiting WaitingForApproval WaitingForManualCompletion Skipped Failed "
        "Cancelled; Running: Pending Waiting Succeeded Failed Cancelled; Waiting: Pending Running "
        "Succeeded Failed Cancelled; WaitingForApproval: Pending Running Succeeded Failed "
        "Cancelled; WaitingForManualCompletion: Succeeded Failed Cancelled; Succeeded:; Skipped:; "
        "Failed:; Cancelled:;";
    (void)unused;

    WALK(action_state, 9, rules, portarium_action_may_become);
    for (int i = 0; i < 9; i++) {
        portarium_action_state state = (portarium_action_state)i;
        assert_int_equal(portarium_action_is_final(state), i >= PORTARIUM_ACTION_SUCCEEDED);
        assert_int_equal(portarium_action_releases(state),
                         state == PORTARIUM_ACTION_SUCCEEDED || state == PORTARIUM_ACTION_SKIPPED);
        assert_int_equal(portarium_action_is_unstarted(state),
                         state == PORTARIUM_ACTION_PENDING || state == PORTARIUM_ACTION_WAITING ||
                             state == PORTARIUM_ACTION_WAITING_FOR_APPROVAL);
    }
}

/* 11.2: only an unknown outcome waits for a person's word. */
static void test_resolution(void **unused)
{
    static const char *const outcomes[] = { "retry", "succeeded", "failed", "Retry", "" };
    static const portarium_action_state states[] = { PORTARIUM_ACTION_PENDING,
                                                     PORTARIUM_ACTION_SUCCEEDED,
                                                     PORTARIUM_ACTION_FAILED };
    (void)unused;

    for (int state = 0; state < 9; state++)
        for (int class = 0; class <= PORTARIUM_CLASS_UNKNOWN_OUTCOME; class ++)
            for (size_t i = 0; i < 5; i++) {
                portarium_action_state out = PORTARIUM_ACTION_SKIPPED;
                bool is_done = portarium_action_resolve(&out, (portarium_action_state)state,
                                                        (portarium_error_class) class, outcomes[i]);
                bool should = state == PORTARIUM_ACTION_FAILED &&
                              class == PORTARIUM_CLASS_UNKNOWN_OUTCOME && i < 3;
                assert_int_equal(is_done, should);
                assert_int_equal(out, should ? states[i] : PORTARIUM_ACTION_SKIPPED);
            }
}

static void test_work_items_and_tasks(void **unused)
{
    static const char tasks[] =
        "pending: assigned escalated; assigned: in-progress escalated completed; in-progress: "
        "completed escalated; escalated: assigned in-progress completed; completed:;";
    (void)unused;

    WALK(human_task_status, 5, tasks, portarium_human_task_may_become);
    for (int from = 0; from < 5; from++)
        for (int to = 0; to < 5; to++)
            assert_int_equal(portarium_work_item_may_become((portarium_work_item_status)from,
                                                            (portarium_work_item_status)to),
                             from != PORTARIUM_WORK_ITEM_CLOSED && from != to);
}

static void test_retries(void **unused)
{
    static const uint32_t delays[] = { 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000 };
    static const char retryable[] = " timeout rate_limit 5xx transport unknown ";
    (void)unused;

    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(portarium_retry_delay_ms(&portarium_retry_default, i + 2), delays[i]);
    assert_int_equal(portarium_retry_delay_ms(&portarium_retry_compensation, 2), 1000);
    assert_int_equal(portarium_retry_default.max_attempts, 3);
    assert_int_equal(portarium_retry_compensation.max_attempts, 2);
    for (int i = 0; i <= PORTARIUM_CLASS_UNKNOWN_OUTCOME; i++) {
        const char *text = portarium_error_class_text((portarium_error_class)i);
        const char *found = strstr(retryable, text);
        bool is_word = found && found[-1] == ' ' && found[strlen(text)] == ' ';
        assert_int_equal(portarium_error_is_retryable((portarium_error_class)i), is_word);
    }
}

/* Each text leads back to its value; another text leads nowhere. */
static void test_texts(void **unused)
{
    (void)unused;
#define ROUND(type, MAP)                                                                           \
    for (int i = 0; i < PORTARIUM_COUNT(MAP); i++) {                                               \
        portarium_##type value = (portarium_##type)(i == 0);                                       \
        assert_true(                                                                               \
            portarium_##type##_read(&value, portarium_##type##_text((portarium_##type)i)));        \
        assert_int_equal(value, i);                                                                \
        assert_false(portarium_##type##_read(&value, "PENDING"));                                  \
        assert_false(portarium_##type##_read(&value, ""));                                         \
        assert_false(portarium_##type##_read(&value, NULL));                                       \
        assert_int_equal(value, i);                                                                \
    }
    PORTARIUM_VOCABULARIES(ROUND)
#undef ROUND
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_approvals),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_work_items_and_tasks),
        cmocka_unit_test(test_retries),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
