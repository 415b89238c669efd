/*
 * http.h - the flags of a server for HTTP; private to the module.
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve/serve.h"

/** Whether the line selects HTTP. */
bool serve_wants_http(const cli_line *line);

/**
 * Check the flags, and what the service manager passes, so that an error ends the program before it
 * opens anything.
 *
 * @return MCP_OK; MCP_E_PARAMS: contradicting flags or variables, named; MCP_E_DENIED: an address
 *         that others can reach, without authorization
 */
mcp_status serve_http_check(const serve_server *service, const cli_line *line,
                            const serve_systemd *systemd, mcp_error *err);

/** Serve over HTTP; setup->http is completed from the flags. @return as mcp_server_http and
 * serve_http_check */
mcp_status serve_http(mcp_server *server, const serve_server *service, serve_setup *setup,
                      mcp_error *err);

#endif
