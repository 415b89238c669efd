/*
 * durations.h - how long requests take until they are answered, by method and tool: histograms for
 * /metrics.
 */
#ifndef MCP_CORE_CALL_DURATIONS_H
#define MCP_CORE_CALL_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"

#define MCP__DURATION_BOUNDS 19

/** The upper bounds of the buckets, in nanoseconds and as text in seconds; beyond the last:
 *  +Inf. */
extern const struct mcp__duration_bound {
    int64_t ns;
    const char *seconds;
} mcp__duration_bounds[MCP__DURATION_BOUNDS];

/** One histogram. */
typedef struct mcp__duration mcp__duration;
struct mcp__duration {
    mcp__duration *next;
    const char *method; /* of MCP or, for a route, of HTTP; its own copy, as `name` */
    const char *name;   /* of the tool as it is registered, or the route's path; "": neither */
    bool is_route;
    uint64_t counts[MCP__DURATION_BOUNDS + 1]; /* not cumulative */
    uint64_t sum_ns;
};

/** The loop's alone. */
struct mcp__durations {
    mcp__map map; /* from "method name" to its histogram */
    mcp__duration *first;
    mcp__duration **end;
};

void mcp__durations_init(mcp__durations *durations);

void mcp__durations_clear(mcp__durations *durations);

/** A call is answered: count it in its context's durations, if it has any. Once more changes
 *  nothing. */
void mcp__durations_record(mcp_call *call);

/** Count one request. @param name NULL: none */
void mcp__durations_add(mcp__durations *durations, const char *method, const char *name,
                        bool is_route, int64_t ns);

#endif
