/*
 * problem.h - answers outside MCP that no handler wrote: what they say and in which form.
 */
#ifndef MCP_TRANSPORT_WEB_PROBLEM_H
#define MCP_TRANSPORT_WEB_PROBLEM_H

#include "mcp/http.h"

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

#endif
