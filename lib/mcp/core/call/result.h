/*
 * result.h - the message that answers a call, and how long requests take until then, by method and
 * tool: histograms for /metrics.
 */
#ifndef MCP_CORE_CALL_RESULT_H
#define MCP_CORE_CALL_RESULT_H

#include "base/map.h"
#include "mcp/buf.h"
#include "mcp/core/call/call_int.h"

/**
 * Render the answer of a call whose `status` is set into call->answer.message, as its kind wants
 * it: a result, a tool error or an error. Runs where the handler ran. A result that cannot be
 * rendered becomes an error; the message stays empty only when memory is out.
 */
void mcp__call_render(mcp_call *call);

/** The same for a kind without a `render` of its own. */
void mcp__result_render(mcp_call *call);

/**
 * Before the first block of a long answer: begin the message in call->answer.content, so that its
 * blocks need not be copied behind the message's head later. mcp__result_render moves it where
 * nothing else was written.
 */
void mcp__result_begin(mcp_call *call);

/** For `finish`: whether the array of blocks is open in the writer, with all its blocks. */
bool mcp__result_is_in_place(const mcp_call *call);

/** The blocks of call->answer.content; NULL: none. */
const char *mcp__result_blocks(const mcp_call *call, size_t *length);

/** Write the error to the log that the client does not get. */
void mcp__result_log(const mcp_call *call, const mcp_error *err);

/** Count, for the server, a result that does not match its tool's output schema. Any thread. */
void mcp__result_count_mismatch(const mcp_call *call);

/** Loop only. Give the rendered message to the call's peer. */
void mcp__result_send(mcp_call *call);

/** Loop only. Answer with an error in place of the call, which a worker may have. */
void mcp__result_send_fault(mcp_call *call, mcp_status status, const char *message);

/** Loop only. Answer that the time limit has passed. Reads nothing that a worker may change. */
void mcp__result_send_timeout(mcp_call *call);

/**
 * Loop only. A call has ended: count it in its context's durations, if it has any, and tell the
 * program (mcp_server_options.ended). Once more changes nothing.
 *
 * @param error_type as in mcp_ended
 */
void mcp__result_ended(mcp_call *call, const char *error_type);

/* ---- durations ------------------------------------------------------------------------------- */

#define MCP__DURATION_BOUNDS 18

/** The upper bounds of the buckets, in nanoseconds and as text in seconds; beyond the last: +Inf.
 *  Those of OpenTelemetry for MCP, and finer ones below. */
extern const struct mcp__duration_bound {
    int64_t ns;
    const char *seconds;
} mcp__duration_bounds[MCP__DURATION_BOUNDS];

typedef struct mcp__histogram {
    uint64_t counts[MCP__DURATION_BOUNDS + 1]; /* not cumulative */
    uint64_t sum_ns;
} mcp__histogram;

void mcp__histogram_add(mcp__histogram *histogram, int64_t ns);

/** How many there are, and how long the names of one are together, with their NULs. */
#define MCP__DURATIONS_MAX 1024
#define MCP__DURATION_NAMES_MAX 512

/** The histogram of one method, name and kind of error. */
typedef struct mcp__duration mcp__duration;
struct mcp__duration {
    mcp__duration *next;
    const char *method;     /* of MCP or, for a route, of HTTP; its own copy, as the others */
    const char *name;       /* of the tool as it is registered, or the route's path; "": neither */
    const char *error_type; /* as in mcp_ended; "": none */
    bool is_route;
    mcp__histogram times;
};

/** The loop's alone. */
struct mcp__durations {
    mcp__map map; /* from "method", NUL, "name", NUL, "error type" to its histogram */
    mcp__duration *first;
    mcp__duration **end;
    mcp__duration *last; /* that was added to: the next call is often like it. NULL: none */
};

void mcp__durations_init(mcp__durations *durations);

void mcp__durations_clear(mcp__durations *durations);

/** Count one call. Where no further histogram may be, or its names are too long, it counts as one
 *  of the method "other". */
void mcp__durations_add(mcp__durations *durations, const mcp_ended *ended);

#endif
