/**
 * tool.h - binding tools to functions.
 *
 * A tool is a JSON file (name, title, description, inputSchema, outputSchema, annotations: exactly
 * what tools/list sends) among the server's embedded files under "tools/", and a row that binds its
 * name to a function. Shapes that several tools share stand in "tools/_defs.json"; each tool's schemas
 * get the ones that they name copied into their `$defs`.
 *
 * Who may call it: the scopes in the file's `_meta`, {"causeway/scopes": "cases.read cases.write"}, which a
 * client's token must have, where tokens are asked for. Entries of resources.json may have the same.
 */
#ifndef MCP_TOOL_H
#define MCP_TOOL_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a tool does and how it is run. */
enum mcp_flags {
    MCP_READS = 1 << 0,         /* changes nothing */
    MCP_WRITES = 1 << 1,        /* changes things: listed but refused unless the server may write */
    MCP_LONG = 1 << 2,          /* may take minutes: has threads of its own and no time limit */
    MCP_STOP_ON_HANGUP = 1 << 3, /* a client that is gone, or an ended standard input, stops it */
    MCP_QUICK = 1 << 4,         /* a tool's or route's: never blocks, and is done within 100 us: it may run on
                                   the loop, which spares waking a worker. One that takes more than 10 ms there runs on
                                   workers for a while, and that is logged. Not with MCP_LONG, no task */

    /*
     * Tasks: the client is answered at once with a task and comes back for the result, as often as it
     * likes. The handler is the same: where it asks, the task waits for input; the message of its last
     * report is the task's. Clients know tasks by the extension io.modelcontextprotocol/tasks, and in
     * 2025-11-25 by asking for one.
     */
    MCP_TASK_OPTIONAL = 1 << 5, /* a task for clients that know tasks, an ordinary call for others */
    MCP_TASK_REQUIRED = 1 << 6, /* clients that know none are refused */
    MCP_TASK_LATER = 1 << 7,    /* with one of the two: the handler says when, by mcp_call_as_task */

    MCP_OPEN = 1 << 8           /* a route's alone: asks for no token, for what everybody may have */
};

/** One tool. A table of them ends with a row whose name is NULL. */
typedef struct mcp_tool {
    const char *name;  /* as its file has it */
    mcp_handler *run;  /* answers a call */
    unsigned flags;    /* MCP_READS or MCP_WRITES, with others */
    int timeout_ms;    /* 0: the server's default, and none for MCP_LONG */
    int max_running;   /* of an MCP_LONG tool at once; 0 means 1; one more is refused, not queued */
} mcp_tool;

#ifdef __cplusplus
}
#endif

#endif
