/*
 * tasks.h - tasks as clients see them: which calls become one, and the methods that look at them.
 */
#ifndef MCP_FEATURE_TASKS_H
#define MCP_FEATURE_TASKS_H

#include "mcp/core/call/call_int.h"

/**
 * Whether a call of a tool may run as its client wants it, as a task or not. Its flags are set.
 * Where it is to be a task at once, call->task.begins is set.
 *
 * @return MCP_OK; MCP_E_METHOD, MCP_E_CAPABILITY, MCP_E_PARAMS: call->err says why
 */
mcp_status mcp__tasks_decide(mcp_call *call);

/* Methods, as in features.h. */
mcp_status mcp__tasks_get(mcp_call *call);
mcp_status mcp__tasks_update(mcp_call *call);
mcp_status mcp__tasks_result(mcp_call *call);
mcp_status mcp__tasks_cancel(mcp_call *call);
mcp_status mcp__tasks_list(mcp_call *call);

#endif
