/*
 * run.h - what is done with a call away from the loop.
 */
#ifndef MCP_CORE_RUN_H
#define MCP_CORE_RUN_H

#include <stdbool.h>

#include "mcp/core/call/call_int.h"

/** The work of a call's task: runs its handler, or what goes on for it, and writes the reply. */
bool mcp__run_work(mcp__task *task);

/** The same once, and without leaving the task. @return true: the handler wants to answer later */
bool mcp__run_step(mcp_call *call);

/** Write the reply. */
void mcp__run_render(mcp_call *call);

#endif
