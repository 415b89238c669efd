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

static bool is_word(char c)
{
    return is_safe(c) || c == '/' || c == '-' || c == '.';
}

char *mcp__safe_text(mcp_arena *arena, const char *text, mcp__name_known *known, const void *data)
{
    char *out = mcp_arena_strdup(arena, text);

    for (char *at = out; at && *at; at++) {
        size_t length = 0;
        while (is_word(at[length]))
            length++;
        size_t whole = length;
        while (length > 0 && at[length - 1] == '.') /* the end of a sentence */
            length--;
        if (length < MCP__SAFE_NAME_SIZE && known(data, at, length))
            for (size_t i = 0; i < length; i++)
                at[i] = is_safe(at[i]) ? at[i] : '_';
        at += whole;
        if (*at == '\0')
            break;
    }
    return out;
}

bool mcp__safe_names_shown(mcp_tool_names mode, mcp_revision revision)
{
    if (mode == MCP_NAMES_AUTO)
        return revision >= MCP_2025_06_18;
    return mode == MCP_NAMES_SAFE;
}
