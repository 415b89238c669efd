/*
 * pace.h - whether a feature that was declared quick keeps its word.
 */
#ifndef MCP_CORE_PACE_H
#define MCP_CORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/** Longer than this on the loop is an overrun. */
#define MCP__PACE_MAX_NS INT64_C(10000000)

/** What is known of one feature; the loop's. Zeroed memory is one that has kept its word so far. */
typedef struct mcp__pace {
    int64_t rest_ns;  /* how long the last overrun keeps it off the loop; 0: there was none */
    int64_t until_ns; /* when that is over */
} mcp__pace;

/** Whether its handler may run on the loop. */
bool mcp__pace_allows(const mcp__pace *pace, int64_t now_ns);

/** Note a run on the loop. @return true when somebody should be told: its first overrun */
bool mcp__pace_note(mcp__pace *pace, int64_t began_ns, int64_t ended_ns);

/** What a thread has had of the machine so far. */
typedef struct mcp__pace_use {
    int64_t processor_ns;
    int64_t waits; /* of its own accord: for a lock, a disk, a time */
} mcp__pace_use;

/** Of the calling thread. */
mcp__pace_use mcp__pace_look(void);

/** Whether, since then, the calling thread neither waited nor worked for as long as an overrun: what time went by
 *  otherwise, a busy machine took. */
bool mcp__pace_was_starved(const mcp__pace_use *since);

#endif
