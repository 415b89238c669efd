/*
 * fields.c - the members that not every revision knows.
 *
 * An older client is sent what its revision defines and nothing more, so that a strict one does not
 * stumble. All of that knowledge about members of results stands in this one table; what needs more
 * than leaving out (content types) is in content.c.
 */
#include "mcp/core/fields.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct field {
    const char *type;
    const char *member;
    mcp_revision since;
    mcp_revision until; /* NONE: to this day */
} fields[] = {
    /* type             member               since           until */
    { "ServerCapabilities", "completions",   MCP_2025_03_26, 0 },
    { "ServerCapabilities", "extensions",    MCP_2026_07_28, 0 },
    { "ServerCapabilities", "tasks",         MCP_2025_11_25, MCP_2025_11_25 },
    { "Implementation", "title",             MCP_2025_06_18, 0 },
    { "Implementation", "description",       MCP_2025_11_25, 0 },
    { "Implementation", "websiteUrl",        MCP_2025_11_25, 0 },
    { "Implementation", "icons",             MCP_2025_11_25, 0 },
    { "Tool",           "annotations",       MCP_2025_03_26, 0 },
    { "Tool",           "title",             MCP_2025_06_18, 0 },
    { "Tool",           "outputSchema",      MCP_2025_06_18, 0 },
    { "Tool",           "_meta",             MCP_2025_06_18, 0 },
    { "Tool",           "icons",             MCP_2025_11_25, 0 },
    { "Tool",           "execution",         MCP_2025_11_25, MCP_2025_11_25 },
    { "CallToolResult", "structuredContent", MCP_2025_06_18, 0 },
    { "CallToolResult", "structuredContent of any type", MCP_2026_07_28, 0 },
    { "Result",         "resultType",        MCP_2026_07_28, 0 },
    { "Result",         "ttlMs",             MCP_2026_07_28, 0 },
    { "Result",         "serverInfo",        MCP_2026_07_28, 0 },
    { "Resource",       "title",             MCP_2025_06_18, 0 },
    { "Resource",       "_meta",             MCP_2025_06_18, 0 },
    { "Resource",       "icons",             MCP_2025_11_25, 0 },
    { "ResourceContents", "_meta",           MCP_2025_06_18, 0 },
    { "Annotations",    "lastModified",      MCP_2025_06_18, 0 },
    { "Prompt",         "title",             MCP_2025_06_18, 0 },
    { "Prompt",         "_meta",             MCP_2025_06_18, 0 },
    { "Prompt",         "icons",             MCP_2025_11_25, 0 },
    { "PromptArgument", "title",             MCP_2025_06_18, 0 },
};
/* clang-format on */

bool mcp__field_is_known(const char *type, const char *member, mcp_revision revision)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i].member, member) == 0 && strcmp(fields[i].type, type) == 0)
            return revision >= fields[i].since &&
                   (fields[i].until == MCP_REVISION_NONE || revision <= fields[i].until);
    return true;
}
