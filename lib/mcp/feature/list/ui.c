/*
 * ui.c - the extension io.modelcontextprotocol/ui in lists.
 *
 * A tool names the page that shows its result in `_meta.ui`, or by the older key "ui/resourceUri". Only
 * clients that declared the extension are told: for the others nothing is different.
 */
#include "mcp/feature/list/ui.h"

#include <stddef.h>
#include <string.h>

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
