/*
 * ui.h - what an entry says of pages to show (MCP Apps), for clients that show them and for others.
 */
#ifndef MCP_FEATURE_UI_H
#define MCP_FEATURE_UI_H

#include <stdbool.h>

#include "mcp/json.h"

/** Whether the `_meta` of a list's entry names a page. */
bool mcp__ui_is_in(const mcp_json *entry);

/** Write the entry without it. */
void mcp__ui_write_without(mcp_json_writer *writer, const mcp_json *entry);

#endif
