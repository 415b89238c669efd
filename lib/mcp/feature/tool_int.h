/*
 * tool_int.h - what the files of tools share: a tool as it was loaded.
 */
#ifndef MCP_FEATURE_TOOL_INT_H
#define MCP_FEATURE_TOOL_INT_H

#include "base/map.h"
#include "mcp/core/call/execute.h"
#include "mcp/feature/arguments.h"
#include "mcp/feature/feature.h"
#include "mcp/feature/list/name.h"
#include "mcp/schema.h"

typedef struct mcp__tool mcp__tool;

struct mcp__tool {
    mcp__tool *next;
    const mcp_tool *row;
    void *data;
    mcp__tools *owner;
    const mcp_json *definition;       /* the file */
    const mcp_json *input;            /* inputSchema, with the shared shapes that it names */
    const mcp_json *output;           /* outputSchema likewise; NULL: none */
    bool gives_object;                /* that is what it describes */
    const char *scopes;               /* that a token needs; NULL: none */
    const mcp__param_header *headers; /* arguments that come in headers too; NULL: none */
    mcp_schema *input_schema;
    mcp_schema *output_schema;
    char safe_name[MCP__SAFE_NAME_SIZE];
    int running;               /* the loop's; calls of an MCP_LONG tool */
    mcp__inline_budget budget; /* the loop's; of an MCP_NONBLOCKING one */
};

struct mcp__tools {
    const mcp_server_options *options;
    mcp_arena *arena; /* definitions and tools */
    mcp__tool *first;
    mcp__tool *last;
    mcp__map by_name; /* both names to mcp__tool */
    mcp__list *list;
    int long_threads;
    const mcp_tool *rows; /* that are being loaded: their names are registered, too */
};

/** Whether the tool writes and the server may not. */
bool mcp__tool_is_disabled(const mcp__tool *tool);

/** Whether its result is sent as structured content, too: at first only objects were. */
bool mcp__tool_is_structured(const mcp__tool *tool, mcp_revision revision);

/** Write its entry of tools/list. */
void mcp__tool_write(mcp_json_writer *writer, const void *entry, mcp_revision revision);

#endif
