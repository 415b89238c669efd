/*
 * ladder.c - the levels as a table, and the climb.
 */
#include "lp/ladder.h"

#include <math.h>

#include "mcp/clock.h"

/* clang-format off */
const lp_level lp_levels[LP_LEVELS] = {
    /* method      presolves relaxed scaling objective  bounds    seconds */
    { LP_DUAL,     false,    false,  0,      1.0,       1.0,      15.0 },
    { LP_PRIMAL,   true,     false,  0,      1.0,       1.0,      15.0 },
    { LP_DUAL,     true,     false,  0,      1.0,       1.0,      15.0 },
    { LP_DUAL,     true,     true,   0,      1.0,       1.0,      15.0 },
    { LP_INTERIOR, true,     true,   0,      1.0,       1.0,      15.0 },
    { LP_DUAL,     true,     false,  3,      1.0,       1.0,      30.0 },
    { LP_PRIMAL,   true,     false,  4,      1.0,       1.0,      30.0 },
    { LP_DUAL,     true,     true,   3,      1.0,       1.0,      30.0 },
    { LP_DUAL,     true,     false,  3,      0x1p-10,   1.0,      30.0 },
    { LP_PRIMAL,   true,     false,  3,      0x1p-10,   0x1p-5,   30.0 },
    { LP_DUAL,     true,     true,   3,      0x1p-13,   0x1p-8,   30.0 },
    { LP_INTERIOR, true,     true,   3,      0x1p-13,   0x1p-8,   30.0 },
};
/* clang-format on */

static bool is_final(lp_status end)
{
    return end == LP_OPTIMAL || end == LP_INFEASIBLE || end == LP_UNBOUNDED || end == LP_NO_MEMORY;
}

lp_status lp_climb(lp_attempt *attempt, void *data, double seconds, int64_t *attempts)
{
    int64_t begin = mcp_clock_mono_ns();
    lp_status end = LP_LIMIT;

    *attempts = 0;
    while (*attempts < LP_LEVELS && !is_final(end)) {
        const lp_level *level = &lp_levels[*attempts];
        double left = seconds - (double)(mcp_clock_mono_ns() - begin) * 1e-9;
        if (left <= 0.0)
            break;
        end = attempt(data, level, fmin(left, level->seconds));
        ++*attempts;
    }
    return end;
}
