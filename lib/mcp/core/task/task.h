/*
 * task.h - the life of a task: a call that has answered its client once, and continues.
 *
 * All on the loop.
 */
#ifndef MCP_CORE_TASK_H
#define MCP_CORE_TASK_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/task/task_table.h"

/**
 * Make a call a task: its client is answered with that, and the call is the task's from then on, in
 * no table and ready to run from the top.
 *
 * @return MCP_OK; else the status of the error that is the call's answer, call->err filled
 */
mcp_status mcp__task_begin(mcp_call *call);

/** The handler of a task requested input: the requests go where its client looks for them.
 *  @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__task_request_input(mcp_call *call);

/** The responses are there: it works again. */
void mcp__task_resume(mcp_call *call);

/** For tasks/result: have the call answered with the end of the task. It is suspended unless the
 *  task is over. */
void mcp__task_await(mcp_call *call, mcp__task_entry *entry);

/** A suspended call is in its session's table now, or leaves it. */
void mcp__task_enter(mcp_call *call);
void mcp__task_leave(mcp_call *call);

/** Cancel a task that is not over. */
void mcp__task_cancel(mcp__task_entry *entry);

/** A session ends: its tasks that no other client can reach end with it. */
void mcp__task_session_ends(mcp__task_table *table, const mcp__session *session);

/** End tasks whose time is over, and note in table->due_ms when to look again. */
void mcp__task_expire(mcp__task_table *table, int64_t now_ms);

/** Cancel tasks that no call waits for; all of them for MCP_STOP_CANCELLED. */
void mcp__task_stop(mcp__task_table *table, mcp_stop why);

/** The members of a Task, under the names of its era. */
void mcp__task_write(const mcp__task_entry *entry, mcp_json_writer *writer);

/** The same with its input requests or its result, as it is from 2026-07-28. */
void mcp__task_write_detailed(const mcp__task_entry *entry, mcp_json_writer *writer);

#endif
