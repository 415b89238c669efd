/**
 * tool.h - the table that binds tools to functions.
 *
 * A tool is an embedded JSON file below "tools/" (name, title, description, inputSchema,
 * outputSchema, annotations: sent unchanged by tools/list) and a row that binds its name to a
 * function. Schemas that several tools share are in "tools/_defs.json"; those that a tool's schemas
 * refer to are copied into their `$defs`.
 *
 * Arguments are checked against inputSchema before the handler runs. A result is checked against
 * outputSchema before it is sent, unless mcp_server_options.skip_output_check is set. A result that
 * does not match, or no result, is answered as an internal error, logged, and counted in /metrics.
 * Tool errors are not checked.
 *
 * Schemas are of JSON Schema 2020-12. `$schema` is not published: many clients validate with an
 * older draft and refuse it (mcp_server_options.keep_schema_uri).
 *
 * Access: the file's `_meta` may list the scopes that a client's token must have,
 * {"causeway/scopes": "cases.read cases.write"}, on a server that requires tokens. Entries of
 * resources.json may have the same member.
 */
#ifndef MCP_TOOL_H
#define MCP_TOOL_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Properties of a tool or route. */
enum mcp_flags {
    MCP_READS = 1 << 0,          /* changes nothing */
    MCP_WRITES = 1 << 1,         /* changes state: listed, refused unless writes are allowed */
    MCP_LONG = 1 << 2,           /* may take minutes: has threads of its own and no time limit */
    MCP_STOP_ON_HANGUP = 1 << 3, /* stopped when the client disconnects or standard input ends */
    /** A tool or route that never blocks and takes less than 100 us. It may run on the loop, which
     *  saves waking a worker. After a run of more than 10 ms it runs on workers for a while, and
     *  that is logged. Not with MCP_LONG or a task flag. */
    MCP_NONBLOCKING = 1 << 4,

    /*
     * Tasks: the client is answered at once with a task and fetches the result later, as often as
     * it likes. The handler is the same: while it requires input the task's status is
     * input_required, and the message of its last progress report is the task's. Clients use tasks
     * by the extension io.modelcontextprotocol/tasks, and in 2025-11-25 by the `task` member of the
     * request.
     */
    MCP_TASK_OPTIONAL = 1 << 5, /* a task for clients that support tasks, else an ordinary call */
    MCP_TASK_REQUIRED = 1 << 6, /* refused to clients that do not support tasks */
    MCP_TASK_DEFERRED = 1 << 7, /* with one of the two: becomes a task by mcp_call_become_task */

    MCP_PUBLIC = 1 << 8,           /* routes only: requires no token */
    MCP_RAW_BODY = 1 << 9,         /* routes only: takes bodies that are not JSON */
    MCP_ENCODED_SLASHES = 1 << 10, /* a resource template's: see resource.h */
    MCP_UNLISTED = 1 << 11, /* a resource's: read by those who know its URI, not listed; the page of
                               a tool, for example */
    /** A prompt's: arguments may be any JSON, and its function checks them. The protocol knows
     *  strings only, so strings must do. Other values leave their placeholders empty. */
    MCP_JSON_ARGUMENTS = 1 << 12
};

/** One tool. A table of them ends with a row whose name is NULL. */
typedef struct mcp_tool {
    const char *name; /* as in its file */
    mcp_handler *run; /* answers a call */
    unsigned flags;   /* MCP_READS or MCP_WRITES, with others */
    int timeout_ms;   /* 0: the server's default, and none for MCP_LONG */
    int max_running;  /* of an MCP_LONG tool at once; 0 means 1; more are refused, not queued */
} mcp_tool;

#ifdef __cplusplus
}
#endif

#endif
