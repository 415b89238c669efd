/*
 * version.c - the protocol revisions by name, and the members that not every revision knows.
 *
 * The names are the dates that go over the wire, in the order of mcp_revision. A new revision is a
 * row here, a value in mcp/version.h, and columns where the tables of method.c and the features
 * differ.
 *
 * An older client is sent what its revision defines and nothing more, so that a strict one does not
 * stumble. All of that knowledge about members of results is in the table of fields; what needs
 * more than leaving out (content types) is in content.c.
 */
#include "mcp/core/version.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [MCP_REVISION_NONE] = "",        [MCP_2024_11_05] = "2024-11-05",
    [MCP_2025_03_26] = "2025-03-26", [MCP_2025_06_18] = "2025-06-18",
    [MCP_2025_11_25] = "2025-11-25", [MCP_2026_07_28] = "2026-07-28",
};

_Static_assert(sizeof names / sizeof names[0] == MCP_REVISION_NEWEST + 1, "a name a revision");

const char *mcp_revision_name(mcp_revision revision)
{
    if ((int)revision < 0 || revision > MCP_REVISION_NEWEST)
        return "";
    return names[revision];
}

mcp_revision mcp_revision_find(const char *name)
{
    for (int i = MCP_REVISION_NEWEST; name && i > MCP_REVISION_NONE; i--)
        if (strcmp(names[i], name) == 0)
            return (mcp_revision)i;
    return MCP_REVISION_NONE;
}

const char *mcp_version(void)
{
    return CAUSEWAY_VERSION;
}

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
