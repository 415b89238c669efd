/*
 * call_table.h - the calls of one client that are still to be answered.
 */
#ifndef MCP_CORE_CALL_TABLE_H
#define MCP_CORE_CALL_TABLE_H

#include <stdint.h>

#include "mcp/core/call/call_int.h"

#define MCP__CALL_BUCKETS 256

/** The loop's alone. Zeroed memory with `due_ms` set by mcp__call_table_init is an empty one. */
struct mcp__call_table {
    mcp_call *buckets[MCP__CALL_BUCKETS]; /* by the hash of the id */
    mcp_call *first, *last;               /* open calls, in the order of coming */
    mcp_call *first_waiting, *last_waiting;
    mcp_call *stopped;     /* running calls that were asked to stop (execute.c), open or not */
    int waiting;           /* open calls that no executor has yet */
    int running;           /* calls that an executor has, open or not */
    int64_t due_ms;        /* when a deadline passes or a report is due; INT64_MAX: never */
    bool has_held_reports; /* some wait for a slow peer */
};

void mcp__call_table_init(mcp__call_table *table);

/** The open call of that id, among those of one notification peer where `peer` is not NULL; NULL
 *  when there is none. An id is its type and its value. */
mcp_call *mcp__call_table_find_of(const mcp__call_table *table, const mcp_json *id,
                                  const mcp__peer *peer);

/** Add an open call; no other may have its id. */
void mcp__call_table_add(mcp__call_table *table, mcp_call *call);

/** Take a call out. Not a waiting one (mcp__call_table_unwait first). */
void mcp__call_table_remove(mcp__call_table *table, mcp_call *call);

/** Put an open call at the end of those that wait. */
void mcp__call_table_wait(mcp__call_table *table, mcp_call *call);

/** The call that waits longest, no longer waiting; NULL when none does. */
mcp_call *mcp__call_table_next(mcp__call_table *table);

/** Take a waiting call out of the line. */
void mcp__call_table_unwait(mcp__call_table *table, mcp_call *call);

/** Have the table looked at by then. */
void mcp__call_table_due(mcp__call_table *table, int64_t when_ms);

#endif
