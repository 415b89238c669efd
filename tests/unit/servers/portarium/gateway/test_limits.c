/*
 * test_limits.c - how often principals and workspaces may ask.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/limits.h"
#include "mcp/arena.h"

static portarium_limits *limits;
static mcp_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static int64_t take(const char *operation, const char *arguments, const portarium_actor *actor)
{
    portarium_request request = { .actor = actor, .workspace = actor->workspace };
    assert_int_equal(mcp_json_read(&request.arguments, arena, arguments, strlen(arguments), NULL),
                     MCP_OK);
    return portarium_limits_take(limits, portarium_operation_find(operation), &request);
}

/* A bucket gains 100 tokens a second, and this loop takes more of them. @return how often one was
 * taken before one was refused */
static int take_until_refused(const portarium_actor *actor)
{
    for (int i = 0; i < 1000000; i++) {
        if (take("listRuns", "{}", actor) > 0)
            return i;
    }
    fail_msg("nothing was refused");
    return 0;
}

static void a_principal_is_limited_and_others_are_not(void **state)
{
    const portarium_actor otto = { .subject = "otto", .workspace = "ws-1" };
    const portarium_actor anna = { .subject = "anna", .workspace = "ws-1" };
    const portarium_actor namesake = { .subject = "otto", .workspace = "ws-2" };
    (void)state;
    assert_int_equal(portarium_limits_new(&limits, false, NULL), MCP_OK);
    assert_true(take_until_refused(&otto) >= 200);
    assert_int_equal(take("listRuns", "{}", &anna), 0);
    assert_int_equal(take("listRuns", "{}", &namesake), 0);
    assert_int_equal(portarium_limits_refused(limits), 1);
    portarium_limits_free(limits);
}

static void waiting_is_free(void **state)
{
    const portarium_actor otto = { .subject = "otto", .workspace = "ws-1" };
    (void)state;
    assert_int_equal(portarium_limits_new(&limits, false, NULL), MCP_OK);
    take_until_refused(&otto);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(take("getRun", "{\"wait\":\"60\"}", &otto), 0);
    portarium_limits_free(limits);
}

static void the_reference_limits_a_workspace_to_fifty_at_once(void **state)
{
    const portarium_actor otto = { .subject = "otto", .workspace = "ws-1" };
    const portarium_actor anna = { .subject = "anna", .workspace = "ws-1" };
    (void)state;
    assert_int_equal(portarium_limits_new(&limits, true, NULL), MCP_OK);
    assert_true(take_until_refused(&otto) >= 50);
    take_until_refused(&anna);
    assert_true(portarium_limits_refused(limits) == 2);
    portarium_limits_free(limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_principal_is_limited_and_others_are_not),
        cmocka_unit_test(waiting_is_free),
        cmocka_unit_test(the_reference_limits_a_workspace_to_fifty_at_once),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
