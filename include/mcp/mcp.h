/**
 * mcp.h - libmcp: Model Context Protocol servers in C.
 *
 * How to write a server:
 *
 *   1. Describe each tool in a JSON file "tools/NAME.json": name, description, inputSchema, and
 *      outputSchema where the answer has a fixed shape. It is sent to clients as it stands.
 *   2. Write one function a tool (call.h): read arguments, do the work, write the answer. It runs on a
 *      worker thread, several at once, so it may block; arguments were checked against the schema before.
 *   3. Bind names to functions in a table (tool.h), and give the table and the files to a server
 *      (server.h).
 *   4. Serve: mcp_server_stdio, or mcp_server_http with routes of your own beside it (http.h).
 *
 * The rules that hold everywhere: what comes back through a first `**out` is yours, free it with its
 * `_free`. Where an arena is passed, what comes out is the arena's. A returned pointer is borrowed and
 * dies with the object you asked. `const` arguments are not kept, unless the function says so. Text is
 * UTF-8. Free functions take NULL. Every fallible function returns a status and takes an error object
 * last (error.h). Nothing here prints, and only mcp_server_stdio and mcp_server_http touch signals.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/clock.h"
#include "mcp/error.h"
#include "mcp/files.h"
#include "mcp/hash.h"
#include "mcp/http.h"
#include "mcp/json.h"
#include "mcp/log.h"
#include "mcp/prompt.h"
#include "mcp/random.h"
#include "mcp/resource.h"
#include "mcp/schema.h"
#include "mcp/server.h"
#include "mcp/tool.h"
#include "mcp/version.h"

#endif
