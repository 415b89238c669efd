/*
 * entry.c - list entries that come from a file, in the form of a revision and of a client.
 *
 * A member that core/version.c has no row for is kept: vendors have members of their own.
 */
#include "mcp/feature/list/entry.h"

#include <string.h>

#include "mcp/core/version.h"

mcp_status mcp__entry_check(const mcp_json *entry, const mcp__member *table, mcp_error *err)
{
    const char *twice = mcp_json_duplicate(entry);

    if (!mcp_json_is_object(entry))
        return mcp_error_set(err, MCP_E_PARAMS, "is not an object");
    if (twice)
        return mcp_error_set(err, MCP_E_PARAMS, "duplicate member '%s'", twice);
    for (; table->name; table++) {
        mcp_json_type type = mcp_json_type_of(mcp_json_get(entry, table->name));
        if (type != MCP_JSON_ABSENT && type != table->type)
            return mcp_error_set(err, MCP_E_PARAMS, "'%s' is of type %s, not %s", table->name,
                                 mcp_json_type_name(type), mcp_json_type_name(table->type));
    }
    return MCP_OK;
}

void mcp__entry_write(mcp_json_writer *writer, const mcp_json *entry, const char *type,
                      mcp_revision revision)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(entry); i++) {
        const char *name = mcp_json_name(entry, i, NULL);
        const mcp_json *value = mcp_json_item(entry, i);
        if (!mcp__field_is_known(type, name, revision))
            continue;
        mcp_write_name(writer, name);
        if (strcmp(name, "annotations") == 0 && mcp_json_is_object(value))
            mcp__entry_write(writer, value, "Annotations", revision);
        else
            mcp_write_value(writer, value);
    }
    mcp_write_end(writer);
}

/* ---- pages (the extension io.modelcontextprotocol/ui) --------------------------------------- */

/* A tool names the page that shows its result by one of these; only clients with the extension
 * see them. */
static const char *const keys[] = { "ui", "ui/resourceUri" };

static bool is_ui(const char *name)
{
    return strcmp(name, keys[0]) == 0 || strcmp(name, keys[1]) == 0;
}

bool mcp__ui_is_in(const mcp_json *entry)
{
    const mcp_json *meta = mcp_json_get(entry, "_meta");

    return mcp_json_get(meta, keys[0]) || mcp_json_get(meta, keys[1]);
}

static void write_meta(mcp_json_writer *writer, const mcp_json *meta)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(meta); i++)
        if (!is_ui(mcp_json_name(meta, i, NULL)))
            mcp_write_member_value(writer, mcp_json_name(meta, i, NULL), mcp_json_item(meta, i));
    mcp_write_end(writer);
}

void mcp__ui_write_without(mcp_json_writer *writer, const mcp_json *entry)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(entry); i++) {
        const char *name = mcp_json_name(entry, i, NULL);
        mcp_write_name(writer, name);
        if (strcmp(name, "_meta") == 0)
            write_meta(writer, mcp_json_item(entry, i));
        else
            mcp_write_value(writer, mcp_json_item(entry, i));
    }
    mcp_write_end(writer);
}
