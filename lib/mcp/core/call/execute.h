/*
 * execute.h - running the handler of a call: on a worker, or on the loop where it promised to be
 * quick.
 */
#ifndef MCP_CORE_CALL_EXECUTE_H
#define MCP_CORE_CALL_EXECUTE_H

#include "mcp/core/call/call_int.h"

/**
 * Loop only. Run the handler of a QUEUED call that is in the table of its context, and render the
 * message. The hook `returned` is called on the loop when it is done.
 *
 * @param is_done true: it is done already, and the hook is not called
 * @return MCP_OK; else no thread can be had, and the call is RUNNING but nobody has it
 */
mcp_status mcp__execute(bool *is_done, mcp_call *call);

/** Loop only. Ask a call to stop. Where a worker has it, its handler is given up if it still runs
 *  after stuck_handler_ms, unless the server stops. @return whether a worker has it */
bool mcp__execute_stop(mcp_call *call, mcp_stop why);

/** Loop only. Give up handlers that were asked to stop and did not, and note when to look again. */
void mcp__execute_tick(mcp__call_table *calls, int64_t now_ms);

/* ---- the time that handlers take on the loop ------------------------------------------------- */

/** Longer than this on the loop is an overrun. */
#define MCP__INLINE_MAX_NS INT64_C(10000000)

/** Overruns of one feature; the loop's. Zeroed memory: there was none. */
struct mcp__inline_budget {
    int64_t pause_ns; /* how long the last overrun keeps it off the loop; 0: there was none */
    int64_t until_ns; /* when that is over */
};

/** Whether the handler may run on the loop. */
bool mcp__inline_budget_allows(const mcp__inline_budget *budget, int64_t now_ns);

/** Note a run on the loop. @return true: its first overrun, worth a log line */
bool mcp__inline_budget_note(mcp__inline_budget *budget, int64_t began_ns, int64_t ended_ns);

/** What the calling thread has used of the machine. */
typedef struct mcp__inline_use {
    int64_t processor_ns;
    int64_t waits; /* voluntary: for a lock, a disk, a time */
} mcp__inline_use;

mcp__inline_use mcp__inline_use_now(void);

/** Whether, since then, the calling thread neither waited nor worked for as long as an overrun:
 *  other processes had the processor. */
bool mcp__inline_use_was_starved(const mcp__inline_use *since);

#endif
