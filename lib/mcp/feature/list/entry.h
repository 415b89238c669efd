/*
 * entry.h - the entry of a list as a JSON file has it: checked once, written as a revision knows
 * it.
 */
#ifndef MCP_FEATURE_ENTRY_H
#define MCP_FEATURE_ENTRY_H

#include <stdbool.h>

#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/version.h"

/** What a member of an entry must be. A table of them ends with a row whose name is NULL. */
typedef struct mcp__member {
    const char *name;
    mcp_json_type type;
} mcp__member;

/** The entry is an object without duplicates whose members of that table have their type; else
 *  MCP_E_PARAMS. */
mcp_status mcp__entry_check(const mcp_json *entry, const mcp__member *table, mcp_error *err);

/** Write the entry, of that type ("Resource"; see core/version.h), without what the revision does
 *  not know. */
void mcp__entry_write(mcp_json_writer *writer, const mcp_json *entry, const char *type,
                      mcp_revision revision);

/** Whether the `_meta` of a list's entry names a page. */
bool mcp__ui_is_in(const mcp_json *entry);

/** Write the entry without it. */
void mcp__ui_write_without(mcp_json_writer *writer, const mcp_json *entry);

#endif
