/*
 * entry.h - what a list entry may hold, revision by revision.
 */
#ifndef MCP_FEATURE_ENTRY_H
#define MCP_FEATURE_ENTRY_H

#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/version.h"

/** One member that an entry may have. A table of them ends with a row whose name is NULL. */
typedef struct mcp__member {
    const char *name;
    mcp_json_type type;  /* what it must be; MCP_JSON_ABSENT: anything */
    mcp_revision since;  /* older revisions do not see it; NONE: all do */
    const struct mcp__member *members; /* of an object that changes by revision itself, else NULL */
} mcp__member;

/** The entry's members that are in the table have the types that it says; else MCP_E_PARAMS. */
mcp_status mcp__entry_check(const mcp_json *entry, const mcp__member *table, mcp_error *err);

/** Write the entry as one object without what the revision does not know. */
void mcp__entry_write(mcp_json_writer *writer, const mcp_json *entry, const mcp__member *table,
                      mcp_revision revision);

#endif
