/*
 * result.h - the message that answers a call.
 */
#ifndef MCP_CORE_CALL_RESULT_H
#define MCP_CORE_CALL_RESULT_H

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

/** Count a result that does not match its tool's output schema. Any thread. */
void mcp__result_count_mismatch(void);

/** How many such results there were in this process. Any thread. */
uint64_t mcp__result_mismatches(void);

/** Loop only. Give the rendered message to the call's peer. */
void mcp__result_send(mcp_call *call);

/** Loop only. Answer with an error in place of the call, which a worker may have. */
void mcp__result_send_fault(mcp_call *call, mcp_status status, const char *message);

/** Loop only. Answer that the time limit has passed. Reads nothing that a worker may change. */
void mcp__result_send_timeout(mcp_call *call);

#endif
