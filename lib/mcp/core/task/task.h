/*
 * task.h - the life of a task: a call that has answered its client once, and goes on.
 *
 * All on the loop, but for mcp__task_note.
 */
#ifndef MCP_CORE_TASK_H
#define MCP_CORE_TASK_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/task/task_table.h"

/**
 * Make a call a task: its client is answered with that, and the call is the task's from then on, not open and
 * ready to be run from the top.
 *
 * @return MCP_OK; else the status of the error that is the call's answer, call->err filled
 */
mcp_status mcp__task_begin(mcp_call *call);

/** The handler of a task asked: the questions go where its client looks for them.
 *  @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__task_ask(mcp_call *call);

/** All is answered: it works again. */
void mcp__task_resume(mcp_call *call);

/** A call waits for the end of a task, or does so no more. It is in its session's table. */
void mcp__task_await(mcp_call *call);
void mcp__task_forget(mcp_call *call);

static inline bool mcp__task_is_over(const mcp__task_entry *entry)
{
    return entry->status >= MCP__TASK_COMPLETED;
}

/** Cancel a task that is not over. */
void mcp__task_cancel(mcp__task_entry *entry);

/** A session ends: its tasks that nobody else can ask for end with it. */
void mcp__task_leave(mcp__task_table *table, const mcp__session *session);

/** Whether no call of a task is running. */
bool mcp__task_all_idle(const mcp__task_table *table);

/** Time-outs, reports, and tasks whose time is over. @return when to call again */
int64_t mcp__task_tick(mcp__task_table *table, int64_t now_ms);

/** When mcp__task_tick wants to be called. */
int64_t mcp__task_due_ms(const mcp__task_table *table);

/** Ask tasks to stop. Those that nobody waits for are cancelled: nobody will come for them. */
void mcp__task_stop_all(mcp__task_table *table, mcp_stop why);

/** End every task with an error, whatever its worker still does. */
void mcp__task_abandon(mcp__task_table *table);

/* ---- what is told of it (task_reply.c) --------------------------------------------------------- */

/** The id of the task that a call of the session era goes on as; NULL: what it sends need not say so. */
const char *mcp__task_id(const mcp_call *call);

/** The member of _meta that says which task a message belongs to. */
void mcp__task_write_related(mcp_json_writer *writer, const char *id);

/** The members of a Task, under the names of its era. */
void mcp__task_write(const mcp__task_entry *entry, mcp_json_writer *writer);

/** The same with what it waits for or ended with, as it is from 2026-07-28. */
void mcp__task_write_detailed(const mcp__task_entry *entry, mcp_json_writer *writer);

/** Answer a call that waited with what the task ended with: a render function. */
void mcp__task_render_outcome(mcp_call *call);

/** Tell those who want to know of the status. */
void mcp__task_tell(mcp__task_entry *entry);

/** Any thread that has the call: how far the task is, in words. NULL is passed over. */
void mcp__task_note(mcp_call *call, const char *message);

#endif
