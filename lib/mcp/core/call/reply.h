/*
 * reply.h - the message that answers.
 */
#ifndef MCP_CORE_REPLY_H
#define MCP_CORE_REPLY_H

#include "mcp/buf.h"
#include "mcp/core/call/call_int.h"

/**
 * Render the answer of a call whose `status` is set into call->reply: its result, its refusal or
 * its error. Runs where the handler ran. A result that cannot be rendered becomes an error;
 * call->reply stays empty only when memory is out.
 */
void mcp__reply_render(mcp_call *call);

/**
 * Before the first block of a tool's answer, where that is long: begin the message in call->content, so that the
 * blocks need not be copied behind its head later. mcp__reply_render moves it where nothing came in between.
 */
void mcp__reply_begin(mcp_call *call);

/** The blocks of call->content. */
const char *mcp__reply_blocks(const mcp_call *call, size_t *length);

/** Render the time-out of a call that a worker still has: reads only what does not change any
 * more. */
mcp_status mcp__reply_timeout(mcp_buf *out, const mcp_call *call);

/**
 * Render an error.
 *
 * @param id       NULL: the request's id is not known
 * @param revision as negotiated, NONE when nothing is yet: decides how an unknown id is written
 */
mcp_status mcp__reply_error(mcp_buf *out, const mcp_json *id, mcp_revision revision,
                            mcp_status status, const char *message);

/** Write the error to the log that the client is not told. */
void mcp__reply_log(const mcp_call *call, const mcp_error *err);

#endif
