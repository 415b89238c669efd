/*
 * test_suspend.c - every state of a call against every event: the table of suspend.h, row by row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "mcp/core/call/call_int.h"
#include "mcp/core/call/suspend.h"

enum place { QUEUED, RUNNING, INPUT, DEFERRED, TASK, SUBSCRIPTION, CLOSED, PLACES, NONE = PLACES };
enum event {
    START,
    SUSPEND_INPUT,
    SUSPEND_DEFERRED,
    SUSPEND_TASK,
    SUSPEND_SUBSCRIPTION,
    RESUME,
    CLOSE,
    EVENTS
};

/* clang-format off */
static const enum place expected[PLACES][EVENTS] = {
    /*                  start    INPUT  DEFERRED  TASK  SUBSCRIPTION  resume   close */
    [QUEUED]       = { RUNNING, NONE,  NONE,     TASK, SUBSCRIPTION, NONE,    CLOSED },
    [RUNNING]      = { NONE,    INPUT, DEFERRED, NONE, NONE,         NONE,    CLOSED },
    [INPUT]        = { NONE,    NONE,  NONE,     NONE, NONE,         QUEUED,  CLOSED },
    [DEFERRED]     = { NONE,    NONE,  NONE,     NONE, NONE,         RUNNING, CLOSED },
    [TASK]         = { NONE,    NONE,  NONE,     NONE, NONE,         NONE,    CLOSED },
    [SUBSCRIPTION] = { NONE,    NONE,  NONE,     NONE, NONE,         NONE,    CLOSED },
    [CLOSED]       = { NONE,    NONE,  NONE,     NONE, NONE,         NONE,    NONE },
};
/* clang-format on */

static mcp_server_options options = { .limits.reply_max_bytes = 1000 };
static const mcp__context context = { .options = &options };

static bool happens(mcp_call *call, enum event event)
{
    switch (event) {
    case START:
        return mcp__call_start(call);
    case RESUME:
        return mcp__call_resume(call);
    case CLOSE:
        return mcp__call_close(call);
    default:
        return mcp__call_suspend(call, (mcp__call_wait)(event - SUSPEND_INPUT));
    }
}

/* A fresh call, led to a place by the shortest way. */
static mcp_call *call_at(enum place place)
{
    static const enum event ways[PLACES][2] = {
        [RUNNING] = { START },
        [INPUT] = { START, SUSPEND_INPUT },
        [DEFERRED] = { START, SUSPEND_DEFERRED },
        [TASK] = { SUSPEND_TASK },
        [SUBSCRIPTION] = { SUSPEND_SUBSCRIPTION },
        [CLOSED] = { CLOSE },
    };
    static const int lengths[PLACES] = { 0, 1, 2, 2, 1, 1, 1 };
    mcp_call *call = NULL;

    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    for (int i = 0; i < lengths[place]; i++)
        assert_true(happens(call, ways[place][i]));
    return call;
}

static enum place place_of(const mcp_call *call)
{
    switch (mcp__call_state_of(call)) {
    case MCP__CALL_QUEUED:
        return QUEUED;
    case MCP__CALL_RUNNING:
        return RUNNING;
    case MCP__CALL_CLOSED:
        return CLOSED;
    case MCP__CALL_SUSPENDED:
        break;
    }
    for (int reason = MCP__WAIT_INPUT; reason <= MCP__WAIT_SUBSCRIPTION; reason++)
        if (mcp__call_waits_for(call, (mcp__call_wait)reason))
            return (enum place)(INPUT + reason);
    return NONE;
}

static void every_event_leads_where_the_table_says_or_is_refused(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int event = 0; event < EVENTS; event++) {
            mcp_call *call = call_at((enum place)place);
            enum place wanted = expected[place][event];
            bool is_allowed = happens(call, (enum event)event);
            enum place reached = place_of(call);
            if (is_allowed != (wanted != NONE) ||
                reached != (is_allowed ? wanted : (enum place)place))
                fail_msg("event %d in place %d: allowed %d, reached %d", event, place, is_allowed,
                         reached);
            mcp__call_free(call);
        }
}

static void a_suspended_call_waits_for_one_thing(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        mcp_call *call = call_at((enum place)place);
        int reasons = 0;
        for (int reason = MCP__WAIT_INPUT; reason <= MCP__WAIT_SUBSCRIPTION; reason++)
            reasons += mcp__call_waits_for(call, (mcp__call_wait)reason);
        assert_int_equal(reasons, mcp__call_state_of(call) == MCP__CALL_SUSPENDED);
        mcp__call_free(call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_leads_where_the_table_says_or_is_refused),
        cmocka_unit_test(a_suspended_call_waits_for_one_thing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
