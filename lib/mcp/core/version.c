/*
 * version.c - the protocol revisions by name.
 *
 * The names are the dates that go over the wire, in the order of mcp_revision. A new revision is a
 * row here, a value in mcp/version.h, and columns where the tables of method.c and the features
 * differ.
 */
#include "mcp/version.h"

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
