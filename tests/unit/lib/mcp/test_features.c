/*
 * test_features.c - features that come and go together, and how long they stay for calls that hold
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "feature_call.h"
#include "fixture.h"
#include "fixture_more.h"
#include "mcp/features.h"
#include "mcp/server_int.h"
#include "oom.h"

static mcp_server_options options; /* borrowed by sets */

static mcp__features *new_set(void)
{
    mcp__features *set = NULL;

    options = feature_options();
    assert_int_equal(mcp__features_new(&set, &options, NULL), MCP_OK);
    return set;
}

static void a_capability_comes_with_its_table(void **state)
{
    static const mcp_tool no_tools[] = { { 0 } };
    static const mcp_prompt no_prompts[] = { { 0 } };
    const mcp_features of_tools = { .tools = no_tools };
    const mcp_features of_prompts = { .prompts = no_prompts };
    const mcp_features of_nothing = { .tools = NULL };
    mcp__features *set = new_set();

    (void)state;
    assert_int_equal(set->capabilities, 0);
    assert_int_equal(mcp__features_capabilities(&of_nothing), 0);
    assert_int_equal(mcp__features_load(set, &of_tools, NULL), MCP_OK);
    assert_int_equal(set->capabilities, MCP__CAN_TOOLS);
    assert_int_equal(mcp__features_load(set, &of_prompts, NULL), MCP_OK);
    assert_int_equal(set->capabilities, MCP__CAN_TOOLS | MCP__CAN_PROMPTS);
    assert_int_equal(mcp__features_capabilities(&fixture_features),
                     MCP__CAN_TOOLS | MCP__CAN_RESOURCES | MCP__CAN_PROMPTS);
    assert_int_equal(mcp__features_capabilities(&fixture_more),
                     MCP__CAN_TOOLS | MCP__CAN_RESOURCES | MCP__CAN_PROMPTS | MCP__CAN_COMPLETIONS);
    mcp__features_drop(set);
}

/* What is freed too early or never is found by AddressSanitizer. */
static void it_goes_with_its_last_holder(void **state)
{
    mcp__features *set = new_set();

    (void)state;
    assert_int_equal(mcp__features_load(set, &fixture_features, NULL), MCP_OK);
    atomic_fetch_add(&set->holders, 2);
    mcp__features_drop(set);
    mcp__features_drop(set);
    assert_int_equal(set->holders, 1);
    assert_int_equal(set->capabilities, mcp__features_capabilities(&fixture_features));
    mcp__features_drop(set);
    mcp__features_drop(NULL);
}

static void two_of_one_name_are_refused(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp__features *set = new_set();

    (void)state;
    assert_int_equal(mcp__features_load(set, &fixture_features, &err), MCP_OK);
    assert_int_equal(mcp__features_load(set, &fixture_features, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "fix"));
    mcp__features_drop(set);
}

static mcp_status make(void *data)
{
    mcp__features *set = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp__features_new(&set, &options, &err);

    (void)data;
    if (st == MCP_OK)
        st = mcp__features_load(set, &fixture_features, &err);
    if (st == MCP_OK)
        st = mcp__features_load(set, &fixture_more, &err);
    mcp__features_drop(set);
    return st;
}

static void running_out_of_memory_is_a_status(void **state)
{
    (void)state;
    options = feature_options();
    oom_walk(make, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capability_comes_with_its_table),
        cmocka_unit_test(it_goes_with_its_last_holder),
        cmocka_unit_test(two_of_one_name_are_refused),
        cmocka_unit_test(running_out_of_memory_is_a_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
