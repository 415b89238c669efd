/*
 * fields.c - the members that came later than the first revision.
 *
 * An older client is sent what its revision defines and nothing more, so that a strict one does not
 * stumble. All of that knowledge about members of results stands in this one table; what needs more
 * than leaving out (content types) is in content.c.
 */
#include "mcp/core/fields.h"

#include <stddef.h>
#include <string.h>

static const struct field {
    const char *type;
    const char *member;
    mcp_revision since;
} fields[] = {
    /* clang-format off */
    /* type             member               since */
    { "Implementation", "title",             MCP_2025_06_18 },
    { "Implementation", "description",       MCP_2025_11_25 },
    { "Implementation", "websiteUrl",        MCP_2025_11_25 },
    { "Implementation", "icons",             MCP_2025_11_25 },
    { "Tool",           "annotations",       MCP_2025_03_26 },
    { "Tool",           "title",             MCP_2025_06_18 },
    { "Tool",           "outputSchema",      MCP_2025_06_18 },
    { "Tool",           "_meta",             MCP_2025_06_18 },
    { "Tool",           "icons",             MCP_2025_11_25 },
    { "Tool",           "execution",         MCP_2025_11_25 },
    { "CallToolResult", "structuredContent", MCP_2025_06_18 },
    { "Resource",       "title",             MCP_2025_06_18 },
    { "Resource",       "_meta",             MCP_2025_06_18 },
    { "Resource",       "icons",             MCP_2025_11_25 },
    { "Annotations",    "lastModified",      MCP_2025_06_18 },
    { "Prompt",         "title",             MCP_2025_06_18 },
    { "Prompt",         "_meta",             MCP_2025_06_18 },
    { "Prompt",         "icons",             MCP_2025_11_25 },
    { "PromptArgument", "title",             MCP_2025_06_18 },
    /* clang-format on */
};

bool mcp__field_is_known(const char *type, const char *member, mcp_revision revision)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(fields[i].member, member) == 0 && strcmp(fields[i].type, type) == 0)
            return revision >= fields[i].since;
    return true;
}
