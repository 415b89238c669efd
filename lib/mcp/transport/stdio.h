/*
 * stdio.h - one client on standard input and output.
 */
#ifndef MCP_TRANSPORT_STDIO_H
#define MCP_TRANSPORT_STDIO_H

#include <stdbool.h>

#include "mcp/core/session/session.h"

/**
 * Serve until input has ended and all is answered, a signal asks to stop, or nobody reads any more.
 *
 * @param setup           its executor is ours to fill in
 * @param long_threads    how many MCP_LONG calls may run at once
 * @param is_left_running set to true when a handler did not end in time: what it may use must stay
 * @return MCP_OK; MCP_E_IO (the descriptors cannot be used); MCP_E_NOMEM
 */
mcp_status mcp__stdio_serve(const mcp__session_setup *setup, int long_threads,
                            bool *is_left_running, mcp_error *err);

#endif
