/**
 * mcp.h - libmcp: Model Context Protocol servers in C.
 *
 * How to write a server:
 *
 *   1. Describe each tool in a JSON file "tools/NAME.json": name, description, inputSchema, and
 *      outputSchema where the result has a fixed structure. tools/list sends it unchanged.
 *   2. Write one function per tool (call.h): read the arguments, do the work, write the result. It
 *      runs on a worker thread, several at once, and may block. The arguments were checked against
 *      the schema.
 *   3. Bind names to functions in a table (tool.h), and pass the table and the files to a server
 *      (server.h).
 *   4. Serve: mcp_server_stdio, or mcp_server_http, optionally with REST routes of your own
 *      (http.h).
 *
 * Rules of every function: an object returned through a first argument `**out` belongs to the
 * caller, who frees it with its `_free`. Where an arena is passed, results belong to the arena. A
 * returned pointer is borrowed and lives as long as the object that returned it. `const` arguments
 * are not kept, unless the function says so. Text is UTF-8. Every function that can fail returns a
 * status and takes an error object last (error.h). The library prints nothing, and only
 * mcp_server_stdio and mcp_server_http change signal handlers.
 *
 * NULL: the object that a function works on (call, server, writer, buffer), `out`, a handler, a
 * continuation and a format must not be NULL. Any other pointer may be: free, release and close
 * functions and JSON accessors do nothing then; optional arguments say what NULL means; without a
 * required one a function returns MCP_E_PARAMS or NULL, and a writer fails.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "mcp/alloc.h"
#include "mcp/arena.h"
#include "mcp/auth.h"
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
#include "mcp/route.h"
#include "mcp/schema.h"
#include "mcp/server.h"
#include "mcp/stream.h"
#include "mcp/tool.h"
#include "mcp/version.h"

#endif
