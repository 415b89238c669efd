/*
 * strict_arguments.c - the program's files with another schema of send_universe_command: its
 * argument `command` is one of the 25 commands, each with its own members, instead of any object
 * with a type.
 */
#include <string.h>

#include "commands/catalogue.h"
#include "features/tools.h"

#define TOOL "tools/send_universe_command.json"

static void write_member(mcp_json_writer *json, const mcp_json *object, size_t index)
{
    mcp_write_name(json, mcp_json_name(object, index, NULL));
    mcp_write_value(json, mcp_json_item(object, index));
}

static bool is_called(const mcp_json *object, size_t index, const char *name)
{
    return strcmp(mcp_json_name(object, index, NULL), name) == 0;
}

static void write_command(mcp_json_writer *json, const mcp_json *loose)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "type", "object");
    mcp_write_member_value(json, "description", mcp_json_get(loose, "description"));
    mcp_write_member_value(json, "required", mcp_json_get(loose, "required"));
    mcp_write_name(json, "oneOf");
    universe_commands_one_of(json);
    mcp_write_end(json);
}

static void write_properties(mcp_json_writer *json, const mcp_json *properties)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(properties); i++) {
        if (!is_called(properties, i, "command")) {
            write_member(json, properties, i);
            continue;
        }
        mcp_write_name(json, "command");
        write_command(json, mcp_json_item(properties, i));
    }
    mcp_write_end(json);
}

static void write_schema(mcp_json_writer *json, const mcp_json *schema)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(schema); i++) {
        if (!is_called(schema, i, "properties")) {
            write_member(json, schema, i);
            continue;
        }
        mcp_write_name(json, "properties");
        write_properties(json, mcp_json_item(schema, i));
    }
    mcp_write_name(json, "$defs");
    universe_commands_defs(json);
    mcp_write_end(json);
}

static void write_tool(mcp_json_writer *json, const mcp_json *tool)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(tool); i++) {
        if (!is_called(tool, i, "inputSchema")) {
            write_member(json, tool, i);
            continue;
        }
        mcp_write_name(json, "inputSchema");
        write_schema(json, mcp_json_item(tool, i));
    }
    mcp_write_end(json);
}

/* The table with `tool` in the place of the file of that name. */
static const mcp_file *copy_files(const mcp_file *tool, mcp_arena *arena)
{
    size_t count = 0;

    while (universe_files[count].path)
        count++;
    mcp_file *files = mcp_arena_array(arena, count + 1, sizeof *files);
    for (size_t i = 0; files && i <= count; i++) {
        const mcp_file *file = &universe_files[i];
        files[i] = file->path && strcmp(file->path, tool->path) == 0 ? *tool : *file;
    }
    return files;
}

mcp_status universe_files_strict_arguments(const mcp_file **out, mcp_arena *arena, mcp_error *err)
{
    const mcp_file *loose = mcp_files_find(universe_files, TOOL);
    const mcp_json *tool = NULL;
    mcp_json_writer json;
    mcp_buf text;

    mcp_status st = mcp_json_read(&tool, arena, loose->bytes, loose->length, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    write_tool(&json, tool);
    st = mcp_json_writer_status(&json);
    mcp_file strict = { .path = TOOL, .length = text.length };
    if (st == MCP_OK)
        strict.bytes = mcp_arena_strndup(arena, text.data, text.length);
    mcp_buf_clear(&text);
    const mcp_file *files = strict.bytes ? copy_files(&strict, arena) : NULL;
    if (!files)
        return mcp_error_set(err, st == MCP_OK ? MCP_E_NOMEM : st, "no memory for a schema");
    *out = files;
    return MCP_OK;
}
