/*
 * name.c - names with '/' are the contract of some servers and refused by some hosts.
 *
 * So every tool and prompt has a second, safe name. Which one a list shows is an option; a call may
 * use either, always.
 */
#include "mcp/feature/list/name.h"

#include <stddef.h>

static bool is_safe(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void mcp__safe_name(char out[MCP__SAFE_NAME_SIZE], const char *name)
{
    size_t length = 0;

    for (; length < MCP__SAFE_NAME_SIZE - 1 && name[length]; length++)
        out[length] = is_safe(name[length]) ? name[length] : '_';
    out[length] = '\0';
}

bool mcp__safe_names_shown(mcp_tool_names mode, mcp_revision revision)
{
    if (mode == MCP_NAMES_AUTO)
        return revision >= MCP_2025_06_18;
    return mode == MCP_NAMES_SAFE;
}
