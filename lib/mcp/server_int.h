/*
 * server_int.h - the body of a server, for the files at the top of lib/mcp and for tests.
 */
#ifndef MCP_SERVER_INT_H
#define MCP_SERVER_INT_H

#include <stdbool.h>

#include "mcp/core/session.h"
#include "mcp/feature/feature.h"
#include "mcp/server.h"

/** What a server can do, as a bit each; a method whose bit is not set does not exist for it. */
enum mcp__capability {
    MCP__ALWAYS = 0,
    MCP__TOOLS = 1 << 0,
    MCP__RESOURCES = 1 << 1,
    MCP__PROMPTS = 1 << 2
};

struct mcp_server {
    mcp_server_options options; /* every default filled in */
    unsigned capabilities;      /* enum mcp__capability */
    mcp__tools *tools;
    mcp__resources *resources;
    mcp__prompts *prompts;
    mcp_arena *arena;
    const mcp_json *no_arguments; /* an empty object */
    bool is_left_running;         /* a handler did not end: nothing that it may use is freed */
};

/** What a session of this server is made of, whatever its transport. */
mcp__session_setup mcp__server_session_setup(mcp_server *server, mcp__executor *executor);

#endif
