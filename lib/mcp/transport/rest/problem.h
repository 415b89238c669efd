/*
 * problem.h - answers outside MCP that no handler wrote: what they say and in which form.
 */
#ifndef MCP_TRANSPORT_HTTP_REST_PROBLEM_H
#define MCP_TRANSPORT_HTTP_REST_PROBLEM_H

#include "mcp/transport/http/http_int.h"

/** The HTTP status of a status. */
int mcp__problem_http(mcp_status status);

/** The status that says most of an HTTP status. */
mcp_status mcp__problem_status(int http_status);

/**
 * Write the body in the program's form, or in ours.
 *
 * @param body      initialized here; empty where memory is out
 * @return its type; borrowed
 */
const char *mcp__problem_write(mcp_buf *body, const mcp_http_options *http,
                               const mcp_problem *problem);

/** A copy of the request's path, as it is; NULL: it has none, or memory is out. */
const char *mcp__problem_path(mcp_arena *arena, const mcp__http_exchange *exchange);

/** Answer a request of no path of MCP's. The exchange is over. @param allowed the field Allow;
 *  NULL: none */
void mcp__problem_answer(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                         mcp_status status, const char *message, const char *allowed);

/** The same by a status, or by an HTTP status. */
void mcp__problem_refuse(mcp__web *web, mcp__http_exchange *exchange, mcp_status status,
                         const char *message);
void mcp__problem_refuse_http(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                              const char *message);

/** The body by which the listener refuses a request that it does not hand out. @param body
 *  initialized here */
bool mcp__problem_body(mcp_buf *body, const char **mime_type, const mcp__web *web,
                       const mcp__http_exchange *exchange, int http_status, const char *message);

#endif
