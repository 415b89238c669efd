/*
 * level.c - the levels of log messages to the client, by name.
 */
#include <stddef.h>
#include <string.h>

#include "mcp/call.h"

static const char *const names[] = {
    [MCP_LEVEL_NONE] = "",           [MCP_LEVEL_DEBUG] = "debug",
    [MCP_LEVEL_INFO] = "info",       [MCP_LEVEL_NOTICE] = "notice",
    [MCP_LEVEL_WARNING] = "warning", [MCP_LEVEL_ERROR] = "error",
    [MCP_LEVEL_CRITICAL] = "critical", [MCP_LEVEL_ALERT] = "alert",
    [MCP_LEVEL_EMERGENCY] = "emergency",
};

const char *mcp_level_name(mcp_level level)
{
    return (int)level < 0 || level > MCP_LEVEL_EMERGENCY ? "" : names[level];
}

mcp_level mcp_level_find(const char *name)
{
    for (int level = MCP_LEVEL_DEBUG; name && level <= MCP_LEVEL_EMERGENCY; level++)
        if (strcmp(names[level], name) == 0)
            return (mcp_level)level;
    return MCP_LEVEL_NONE;
}
