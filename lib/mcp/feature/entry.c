/*
 * entry.c - list entries, checked once and lowered to what a revision knows.
 *
 * No revision forbids members that it does not know, but older clients were written to their own
 * schema, and what is left out costs nothing. A member that is in no table passes through: the files
 * are ours, and vendors' members are theirs.
 */
#include "mcp/feature/entry.h"

#include <string.h>

static const mcp__member *find(const mcp__member *table, const char *name)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

mcp_status mcp__entry_check(const mcp_json *entry, const mcp__member *table, mcp_error *err)
{
    const char *twice = mcp_json_duplicate(entry);

    if (!mcp_json_is_object(entry))
        return mcp_error_set(err, MCP_E_PARAMS, "an entry is not an object");
    if (twice)
        return mcp_error_set(err, MCP_E_PARAMS, "'%s' stands twice in an entry", twice);
    for (; table->name; table++) {
        mcp_json_type type = mcp_json_type_of(mcp_json_get(entry, table->name));
        if (type != MCP_JSON_ABSENT && table->type != MCP_JSON_ABSENT && type != table->type)
            return mcp_error_set(err, MCP_E_PARAMS, "'%s' is %s where %s is due", table->name,
                                 mcp_json_type_name(type), mcp_json_type_name(table->type));
    }
    return MCP_OK;
}

void mcp__entry_write(mcp_json_writer *writer, const mcp_json *entry, const mcp__member *table,
                      mcp_revision revision)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(entry); i++) {
        const char *name = mcp_json_name(entry, i, NULL);
        const mcp_json *value = mcp_json_item(entry, i);
        const mcp__member *member = find(table, name);
        if (member && member->since > revision)
            continue;
        mcp_write_name(writer, name);
        if (member && member->members && mcp_json_is_object(value))
            mcp__entry_write(writer, value, member->members, revision);
        else
            mcp_write_value(writer, value);
    }
    mcp_write_end(writer);
}
