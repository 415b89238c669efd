/*
 * tool_entry.c - a tool as tools/list shows it: its file, in the form of a revision.
 *
 * The library leaves out what the revision does not know and `$schema`, and adds the safe name, the
 * note that the tool is disabled, and what its flags say of tasks. A list that shows safe names has
 * them in descriptions, too.
 */
#include <string.h>

#include "mcp/core/version.h"
#include "mcp/feature/tool_int.h"

bool mcp__tool_is_disabled(const mcp__tool *tool)
{
    return (tool->row->flags & MCP_WRITES) && !tool->owner->options->allow_write;
}

bool mcp__tool_is_structured(const mcp__tool *tool, mcp_revision revision)
{
    const char *member = tool->gives_object ? "structuredContent" : "structuredContent of any type";

    return tool->output && mcp__field_is_known("CallToolResult", member, revision);
}

static bool is_name(const void *data, const char *name, size_t length)
{
    const mcp__tools *tools = data;

    for (const mcp_tool *row = tools->rows; row && row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return true;
    return length > 0 && mcp__map_get(&tools->by_name, name, length);
}

const char *mcp__tools_text(mcp__tools *tools, mcp_arena *arena, const char *text,
                            mcp_revision revision)
{
    const char *safe = mcp__safe_names_shown(tools->options->tool_names, revision)
                           ? mcp__safe_text(arena, text, is_name, tools)
                           : NULL;

    return safe ? safe : text;
}

/* A value of the file, with the names of tools in descriptions as the list shows them. */
static void write_value(mcp_json_writer *writer, const mcp__tool *tool, const mcp_json *value,
                        mcp_revision revision)
{
    if (!mcp__safe_names_shown(tool->owner->options->tool_names, revision) ||
        (!mcp_json_is_object(value) && !mcp_json_is_array(value))) {
        mcp_write_value(writer, value);
        return;
    }
    if (mcp_json_is_object(value))
        mcp_write_object(writer);
    else
        mcp_write_array(writer);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_name(value, i, NULL);
        const char *text = mcp_json_string(mcp_json_item(value, i), NULL);
        if (name)
            mcp_write_name(writer, name);
        if (name && text && strcmp(name, "description") == 0)
            mcp_write_string(writer,
                             mcp__tools_text(tool->owner, tool->owner->arena, text, revision));
        else
            write_value(writer, tool, mcp_json_item(value, i), revision);
    }
    mcp_write_end(writer);
}

/* The members that the library adds to those of the file. */
struct additions {
    bool safe_name;   /* the name is shown in its safe form */
    const char *note; /* that the tool is disabled; NULL: it is not */
};

static struct additions additions_of(const mcp__tool *tool, mcp_revision revision)
{
    const mcp_server_options *options = tool->owner->options;

    return (struct additions){
        .safe_name = mcp__safe_names_shown(options->tool_names, revision) &&
                     strcmp(tool->safe_name, tool->row->name) != 0,
        .note = mcp__tool_is_disabled(tool) ? options->write_note : NULL,
    };
}

static void write_description(mcp_json_writer *writer, const mcp__tool *tool, const char *note,
                              mcp_revision revision)
{
    const char *own = mcp_json_get_string(tool->definition, "description");
    const char *text = mcp_arena_printf(tool->owner->arena, "%s%s%s", own ? own : "",
                                        own && note ? " " : "", note ? note : "");

    mcp_write_member_string(writer, "description",
                            text ? mcp__tools_text(tool->owner, tool->owner->arena, text, revision)
                                 : NULL);
}

static void write_meta(mcp_json_writer *writer, const mcp__tool *tool,
                       const struct additions *added)
{
    const mcp_json *own = mcp_json_get(tool->definition, "_meta");

    if (!own && !added->safe_name && !added->note)
        return;
    mcp_write_member_object(writer, "_meta");
    for (size_t i = 0; i < mcp_json_count(own); i++)
        mcp_write_member_value(writer, mcp_json_name(own, i, NULL), mcp_json_item(own, i));
    if (added->safe_name)
        mcp_write_member_string(writer, "causeway/canonicalName", tool->row->name);
    if (added->note)
        mcp_write_member_string(writer, "causeway/disabled", added->note);
    mcp_write_end(writer);
}

/* What its flags say of tasks; other members are its file's. */
static void write_execution(mcp_json_writer *writer, const mcp__tool *tool)
{
    const mcp_json *own = mcp_json_get(tool->definition, "execution");
    unsigned flags = tool->row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);

    if (!own && !flags)
        return;
    mcp_write_member_object(writer, "execution");
    for (size_t i = 0; i < mcp_json_count(own); i++)
        if (strcmp(mcp_json_name(own, i, NULL), "taskSupport") != 0)
            mcp_write_member_value(writer, mcp_json_name(own, i, NULL), mcp_json_item(own, i));
    if (flags)
        mcp_write_member_string(writer, "taskSupport",
                                flags & MCP_TASK_REQUIRED ? "required" : "optional");
    mcp_write_end(writer);
}

/* Without `$schema`: validators of an older draft refuse a schema that names 2020-12, the
 * default. */
static void write_schema(mcp_json_writer *writer, const char *name, const mcp__tool *tool,
                         const mcp_json *schema, mcp_revision revision)
{
    bool keeps_uri = tool->owner->options->keep_schema_uri;

    mcp_write_name(writer, name);
    if (!mcp_json_is_object(schema)) {
        mcp_write_value(writer, schema);
        return;
    }
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(schema); i++) {
        const char *keyword = mcp_json_name(schema, i, NULL);
        if (!keeps_uri && strcmp(keyword, "$schema") == 0)
            continue;
        mcp_write_name(writer, keyword);
        write_value(writer, tool, mcp_json_item(schema, i), revision);
    }
    mcp_write_end(writer);
}

/* One member of the tool's file, as the revision knows it. */
static void write_member(mcp_json_writer *writer, const mcp__tool *tool, size_t index,
                         const struct additions *added, mcp_revision revision)
{
    const char *name = mcp_json_name(tool->definition, index, NULL);

    if (!mcp__field_is_known("Tool", name, revision) || strcmp(name, "_meta") == 0 ||
        strcmp(name, "execution") == 0)
        return;
    if (strcmp(name, "name") == 0)
        mcp_write_member_string(writer, name, added->safe_name ? tool->safe_name : tool->row->name);
    else if (strcmp(name, "description") == 0)
        write_description(writer, tool, added->note, revision);
    else if (strcmp(name, "inputSchema") == 0)
        write_schema(writer, name, tool, tool->input, revision);
    else if (strcmp(name, "outputSchema") != 0)
        mcp_write_member_value(writer, name, mcp_json_item(tool->definition, index));
    else if (mcp__tool_is_structured(tool, revision))
        write_schema(writer, name, tool, tool->output, revision);
}

void mcp__tool_write(mcp_json_writer *writer, const void *entry, mcp_revision revision)
{
    const mcp__tool *tool = entry;
    struct additions added = additions_of(tool, revision);

    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(tool->definition); i++)
        write_member(writer, tool, i, &added, revision);
    if (added.note && !mcp_json_get(tool->definition, "description"))
        write_description(writer, tool, added.note, revision);
    if (added.safe_name && !mcp_json_get(tool->definition, "title") &&
        mcp__field_is_known("Tool", "title", revision))
        mcp_write_member_string(writer, "title", tool->row->name);
    if (added.note)
        mcp_write_member_string(writer, "annotation", added.note);
    if (mcp__field_is_known("Tool", "execution", revision))
        write_execution(writer, tool);
    if (mcp__field_is_known("Tool", "_meta", revision))
        write_meta(writer, tool, &added);
    mcp_write_end(writer);
}
