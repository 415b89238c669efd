/*
 * arguments.c - forms of arguments that the contract's examples use and its schemas do not allow.
 *
 * The contract's example of cobre/run gives `phases` as an array of one, its case format has whole
 * numbers as ids where the schema wants text, and the directory of the lines is called exchanges.
 * These are converted before the check; all other arguments are checked unchanged. Source: the
 * output page, section 9 and section 10, "Schemas".
 */
#include <stdio.h>
#include <string.h>

#include "features/tools.h"

#define ARGUMENTS_MAX ((size_t)8 << 20)

static void write_entity_ids(mcp_json_writer *writer, const mcp_json *value)
{
    int64_t id;
    char text[24];
    if (!mcp_json_int(value, &id)) {
        mcp_write_value(writer, value);
        return;
    }
    snprintf(text, sizeof text, "%lld", (long long)id);
    mcp_write_string(writer, text);
}

static void write_filters(mcp_json_writer *writer, const mcp_json *filters)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(filters); i++) {
        const char *name = mcp_json_name(filters, i, NULL);
        mcp_write_name(writer, name);
        if (strcmp(name, "entity_id") == 0)
            write_entity_ids(writer, mcp_json_item(filters, i));
        else
            mcp_write_value(writer, mcp_json_item(filters, i));
    }
    mcp_write_end(writer);
}

static bool is_directory_of_lines(const char *name, const mcp_json *value)
{
    const char *text = mcp_json_string(value, NULL);
    return strcmp(name, "entity_type") == 0 && text && strcmp(text, "exchanges") == 0;
}

static void write_normalized(mcp_json_writer *writer, const mcp_json *arguments)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(arguments); i++) {
        const char *name = mcp_json_name(arguments, i, NULL);
        const mcp_json *value = mcp_json_item(arguments, i);
        mcp_write_name(writer, name);
        if (strcmp(name, "phases") == 0 && mcp_json_is_array(value) && mcp_json_count(value) == 1)
            mcp_write_value(writer, mcp_json_item(value, 0));
        else if (is_directory_of_lines(name, value))
            mcp_write_string(writer, "lines");
        else if (strcmp(name, "filters") == 0 && mcp_json_is_object(value))
            write_filters(writer, value);
        else
            mcp_write_value(writer, value);
    }
    mcp_write_end(writer);
}

/* A name with NUL cannot be written, and no schema has it: the check refuses the arguments
 * unchanged. */
static bool has_odd_name(const mcp_json *object)
{
    for (size_t i = 0; mcp_json_is_object(object) && i < mcp_json_count(object); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(object, i, &length);
        if (strlen(name) != length)
            return true;
    }
    return false;
}

static bool must_normalize(const mcp_json *arguments)
{
    int64_t id;
    if (has_odd_name(arguments) || has_odd_name(mcp_json_get(arguments, "filters")))
        return false;
    return is_directory_of_lines("entity_type", mcp_json_get(arguments, "entity_type")) ||
           mcp_json_is_array(mcp_json_get(arguments, "phases")) ||
           mcp_json_int(mcp_json_pointer(arguments, "/filters/entity_id"), &id);
}

mcp_status cobre_normalize_arguments(mcp_call *call, const char *tool, const mcp_json **arguments,
                                     void *data)
{
    (void)tool;
    (void)data;
    if (!must_normalize(*arguments))
        return MCP_OK;
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, ARGUMENTS_MAX);
    mcp_json_writer_init(&writer, &text);
    write_normalized(&writer, *arguments);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(arguments, mcp_call_arena(call), text.data, text.length,
                           mcp_call_error(call));
    mcp_buf_clear(&text);
    return st;
}
