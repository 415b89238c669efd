/*
 * oom.c - the driver of out-of-memory tests, over the hook in lib/base/alloc.c.
 */
#include "oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#define ROUNDS_MAX 10000

void oom_walk(oom_step *step, void *data)
{
    for (long successes = 0; successes < ROUNDS_MAX; successes++) {
        mcp__alloc_fail_after(successes);
        mcp_status st = step(data);
        bool was_refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        assert_string_equal(mcp_status_name(st), was_refused ? "E_NOMEM" : "OK");
        if (!was_refused)
            return;
    }
    fail_msg("memory is still refused after %d rounds", ROUNDS_MAX);
}
