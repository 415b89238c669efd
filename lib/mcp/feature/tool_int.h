/*
 * tool_int.h - what the files of tools share: a tool as it was loaded.
 */
#ifndef MCP_FEATURE_TOOL_INT_H
#define MCP_FEATURE_TOOL_INT_H

#include "mcp/core/call/execute.h"
#include "mcp/feature/arguments.h"
#include "mcp/features.h"
#include "mcp/schema.h"

typedef struct mcp__tool {
    mcp__feature base;
    const mcp_tool *row; /* NULL: none binds it yet */
    const mcp_file *file;
    mcp__features *owner;
    const mcp_json *definition;       /* the file */
    const mcp_json *input;            /* inputSchema, with the shared shapes that it names */
    const mcp_json *output;           /* outputSchema likewise; NULL: none */
    bool gives_object;                /* that is what it describes */
    const mcp__param_header *headers; /* arguments that come in headers too; NULL: none */
    mcp_schema *input_schema;
    mcp_schema *output_schema;
    int running;               /* the loop's; calls of an MCP_LONG tool */
    mcp__inline_budget budget; /* the loop's; of an MCP_NONBLOCKING one */
} mcp__tool;

/** How many calls of an MCP_LONG tool may run at once. */
int mcp__tool_max_running(const mcp__tool *tool);

/** Whether the tool writes and the server may not. */
static inline bool mcp__tool_is_disabled(const mcp__tool *tool)
{
    return (tool->row->flags & MCP_WRITES) && !tool->owner->options->allow_write;
}

/** Whether its result is sent as structured content, too: at first only objects were. */
bool mcp__tool_is_structured(const mcp__tool *tool, mcp_revision revision);

/**
 * A schema whose `$ref: "#/$defs/NAME"` all lead somewhere: what it does not define itself is
 * copied from `shared`, together with what that names in turn. A client gets each schema on its
 * own, so a shape that ten tools share must stand in all ten; authors write it once, in
 * tools/_defs.json. A name that neither knows is left to the compiler to report.
 *
 * @param out    `schema` itself when nothing had to be copied; else a new value, the arena's
 * @param shared an object of schemas by name, or with them in its `$defs`; NULL: none
 */
mcp_status mcp__tool_complete_schema(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                                     const mcp_json *shared, mcp_error *err);

#endif
