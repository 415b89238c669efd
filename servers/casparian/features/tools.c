/*
 * tools.c - the table of tools. Its order is that of tools/list.
 */
#include "features/tools.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const casparian_tool casparian_tools[] = {
    /* name                          function             flags      traits  timeout_ms */
    { "casparian_scan",              casparian_scan_tool, MCP_READS, 0,      0 },
    { 0 },
};
/* clang-format on */

#define TOOL_COUNT (sizeof casparian_tools / sizeof casparian_tools[0])

const mcp_tool *casparian_tool_rows(mcp_arena *arena)
{
    mcp_tool *rows = mcp_arena_array(arena, TOOL_COUNT, sizeof *rows);
    for (size_t i = 0; rows && casparian_tools[i].name; i++)
        rows[i] = (mcp_tool){ .name = casparian_tools[i].name,
                              .run = casparian_request_run,
                              .flags = casparian_tools[i].flags,
                              .timeout_ms = casparian_tools[i].timeout_ms };
    return rows;
}

/* Whether a file is not that of a tool, or its tool has a row. */
static bool is_served(const char *path)
{
    char name[128];
    if (strncmp(path, "tools/casparian_", strlen("tools/casparian_")) != 0)
        return true;
    for (const casparian_tool *tool = casparian_tools; tool->name; tool++) {
        snprintf(name, sizeof name, "tools/%s.json", tool->name);
        if (strcmp(path, name) == 0)
            return true;
    }
    return false;
}

const mcp_file *casparian_tool_files(const mcp_file *all, mcp_arena *arena)
{
    size_t count = 0, kept = 0;
    while (all[count].path)
        count++;
    mcp_file *files = mcp_arena_array(arena, count + 1, sizeof *files);
    for (size_t i = 0; files && i < count; i++)
        if (is_served(all[i].path))
            files[kept++] = all[i];
    return files;
}
