/*
 * Port families and capabilities; classes of tools; words of the seven tools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/families.h"
#include "model/mapping.h"
#include "model/tool_classes.h"

/* The number of capabilities of each family, counted in 6.2's table. */
static const struct {
    const char *name;
    size_t count;
    const char *last;
} families[] = {
    { "FinanceAccounting", 10, "report:read" },
    { "PaymentsBilling", 10, "balance:read" },
    { "ProcurementSpend", 10, "contract:read" },
    { "HrisHcm", 8, "org:read" },
    { "Payroll", 9, "contractor:read" },
    { "CrmSales", 11, "note:write" },
    { "CustomerSupport", 11, "csat:read" },
    { "ItsmItOps", 11, "sr:read" },
    { "IamDirectory", 10, "audit:read" },
    { "SecretsVaulting", 11, "policy:write" },
    { "MarketingAutomation", 11, "form:read" },
    { "AdsPlatforms", 12, "keyword:read" },
    { "CommsCollaboration", 13, "file:write" },
    { "ProjectsWorkMgmt", 14, "time:write" },
    { "DocumentsEsign", 12, "audit:read" },
    { "AnalyticsBi", 13, "share:write" },
    { "MonitoringIncident", 11, "notification:write" },
    { "ComplianceGrc", 14, "framework:write" },
    { "RoboticsActuation", 8, "actuator:get_state" },
    { "SoftwareDev", 8, "metrics:read" },
};

enum { FAMILY_COUNT = sizeof families / sizeof *families };

static void test_families(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        size_t count = 0;
        size_t length;
        assert_string_equal(portarium_family_name(i), families[i].name);
        assert_true(portarium_family_exists(families[i].name));
        assert_true(portarium_family_has(families[i].name, families[i].last));
        for (;; count++) {
            char word[64] = "";
            const char *at = portarium_family_capability(families[i].name, count, &length);
            if (!at)
                break;
            assert_true(length < sizeof word);
            memcpy(word, at, length);
            assert_true(portarium_is_operation(word));
            assert_true(portarium_family_has(families[i].name, word));
        }
        assert_int_equal(count, families[i].count);
    }
    assert_null(portarium_family_name(FAMILY_COUNT));
    assert_false(portarium_family_exists("crmsales"));
    assert_false(portarium_family_has("CrmSales", "invoice:read"));
    assert_false(portarium_family_has("CrmSales", "party:rea"));
    assert_false(portarium_family_has("CrmSales", "party:read company:read"));
    assert_false(portarium_family_has("CrmSales", ""));
    assert_false(portarium_family_has("None", "party:read"));
}

static void test_operations(void **unused)
{
    static const char *const good[] = { "a:b", "robot:estop_request", "x-y:z.w" };
    static const char *const bad[] = { "", ":", "a:", ":b", "a:b:c", "a b:c", "a:b\n", "ab" };
    (void)unused;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(portarium_is_operation(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(portarium_is_operation(bad[i]));
    assert_false(portarium_is_operation(NULL));
}

static void test_tool_classes(void **unused)
{
    static const portarium_tool_pattern patterns[] = {
        { "db_read", PORTARIUM_TOOL_READ_ONLY },
        { "db_*", PORTARIUM_TOOL_MUTATION },
        { "shell*", PORTARIUM_TOOL_DANGEROUS },
    };
    (void)unused;

    assert_int_equal(portarium_tool_class_of(patterns, 3, "db_read"), PORTARIUM_TOOL_READ_ONLY);
    assert_int_equal(portarium_tool_class_of(patterns, 3, "db_reads"), PORTARIUM_TOOL_MUTATION);
    assert_int_equal(portarium_tool_class_of(patterns, 3, "shell"), PORTARIUM_TOOL_DANGEROUS);
    assert_int_equal(portarium_tool_class_of(patterns, 3, "Shell"), PORTARIUM_TOOL_UNKNOWN);
    assert_int_equal(portarium_tool_class_of(NULL, 0, "x"), PORTARIUM_TOOL_UNKNOWN);
    assert_true(portarium_pattern_fits("*", ""));
    assert_false(portarium_pattern_fits("", "x"));
    assert_false(portarium_pattern_fits("a*b", "axb"));

    assert_int_equal(portarium_tool_class_tier(PORTARIUM_TOOL_READ_ONLY), PORTARIUM_TIER_AUTO);
    assert_int_equal(portarium_tool_class_tier(PORTARIUM_TOOL_MUTATION),
                     PORTARIUM_TIER_HUMAN_APPROVE);
    assert_int_equal(portarium_tool_class_tier(PORTARIUM_TOOL_DANGEROUS),
                     PORTARIUM_TIER_MANUAL_ONLY);
    assert_int_equal(portarium_tool_class_tier(PORTARIUM_TOOL_UNKNOWN),
                     PORTARIUM_TIER_HUMAN_APPROVE);
    assert_int_equal(portarium_tool_class_effect(PORTARIUM_TOOL_READ_ONLY), PORTARIUM_EFFECT_ALLOW);
    assert_int_equal(portarium_tool_class_effect(PORTARIUM_TOOL_MUTATION),
                     PORTARIUM_EFFECT_REQUIRE_APPROVAL);
    assert_int_equal(portarium_tool_class_effect(PORTARIUM_TOOL_DANGEROUS), PORTARIUM_EFFECT_DENY);
    assert_int_equal(portarium_tool_class_effect(PORTARIUM_TOOL_UNKNOWN),
                     PORTARIUM_EFFECT_REQUIRE_APPROVAL);
}

/* 2.5 */
static void test_words(void **unused)
{
    static const char *const words[] = { "pending", "in-progress", "failed", "completed",
                                         "completed" };
    unsigned statuses = 0;
    portarium_heartbeat heartbeat = PORTARIUM_HEARTBEAT_DRAINING;
    (void)unused;

    for (int i = 0; i < 5; i++) {
        portarium_work_item_status status = (portarium_work_item_status)i;
        assert_string_equal(portarium_work_item_word(status), words[i]);
        assert_true(portarium_work_items_of(&statuses, words[i], false));
        assert_true(statuses >> i & 1);
        assert_false(
            portarium_work_items_of(&statuses, portarium_work_item_status_text(status), false));
        assert_true(
            portarium_work_items_of(&statuses, portarium_work_item_status_text(status), true));
        assert_int_equal(statuses, 1u << i);
    }
    assert_false(portarium_work_items_of(&statuses, "open", true));
    assert_true(portarium_heartbeat_of(&heartbeat, NULL, false));
    assert_int_equal(heartbeat, PORTARIUM_HEARTBEAT_OK);
    assert_false(portarium_heartbeat_of(&heartbeat, "ok", false));
    assert_true(portarium_heartbeat_of(&heartbeat, "draining", false));
    assert_int_equal(heartbeat, PORTARIUM_HEARTBEAT_DRAINING);
    assert_true(portarium_heartbeat_of(&heartbeat, "ok", true));
    assert_int_equal(heartbeat, PORTARIUM_HEARTBEAT_OK);
    assert_string_equal(portarium_heartbeat_word(heartbeat), "healthy");
}

/* 5.8 */
static void test_capability_words(void **unused)
{
    static const char *const pairs[][2] = {
        { "classify", "agent:classify" },   { "generate", "agent:generate" },
        { "analyze", "agent:analyze" },     { "execute-code", "code:execute" },
        { "notify", "notification:send" },  { "paint", "agent:paint" },
        { "ticket:write", "ticket:write" },
    };
    mcp_arena *arena = mcp_arena_new(0);
    (void)unused;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(portarium_capability_of(pairs[i][0], arena), pairs[i][1]);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),         cmocka_unit_test(test_operations),
        cmocka_unit_test(test_tool_classes),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_capability_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
