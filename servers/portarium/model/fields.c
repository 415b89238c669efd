/*
 * fields.c - the list of a body's errors.
 */
#include "model/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/identity.h"

enum { MESSAGE_SIZE = 480 };

void portarium_fields_init(portarium_fields *fields, mcp_arena *arena)
{
    memset(fields, 0, sizeof *fields);
    fields->arena = arena;
}

void portarium_fields_add(portarium_fields *fields, const char *field, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;

    if (fields->count == PORTARIUM_FIELDS_MAX)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t end = portarium_text_whole(message, strlen(message));
    portarium_field item = { mcp_arena_strdup(fields->arena, field),
                             mcp_arena_strndup(fields->arena, message, end) };
    if (item.field && item.message)
        fields->items[fields->count++] = item;
    else
        fields->is_out_of_memory = true;
}

const char *portarium_fields_at(portarium_fields *fields, const char *base, const char *name)
{
    size_t length = strlen(base);
    char *text = mcp_arena_alloc(fields->arena, length + 2 * strlen(name) + 2);

    if (!text) {
        fields->is_out_of_memory = true;
        return "";
    }
    memcpy(text, base, length);
    text[length++] = '/';
    for (; *name; name++) {
        bool is_special = *name == '~' || *name == '/';
        if (is_special)
            text[length++] = '~';
        text[length++] = *name == '~' ? '0' : *name == '/' ? '1' : *name;
    }
    return text;
}

const char *portarium_fields_index(portarium_fields *fields, const char *base, size_t index)
{
    char name[24];

    snprintf(name, sizeof name, "%zu", index);
    return portarium_fields_at(fields, base, name);
}

void portarium_fields_judge_unique(portarium_fields *fields, const mcp_json *list,
                                   const char *member, const char *place)
{
    for (size_t i = 1; i < mcp_json_count(list); i++) {
        const char *text = mcp_json_get_string(mcp_json_item(list, i), member);
        size_t k = 0;
        while (text && k < i) {
            const char *other = mcp_json_get_string(mcp_json_item(list, k), member);
            if (other && strcmp(other, text) == 0)
                break;
            k++;
        }
        if (text && k < i)
            portarium_fields_add(
                fields,
                portarium_fields_at(fields, portarium_fields_index(fields, place, i), member),
                "'%s' is used twice", text);
    }
}

mcp_status portarium_fields_status(const portarium_fields *fields, mcp_error *err)
{
    if (fields->is_out_of_memory)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a body's errors");
    if (fields->count == 0)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_SCHEMA, "%s: %s", fields->items[0].field,
                         fields->items[0].message);
}

void portarium_fields_write(mcp_json_writer *out, const portarium_fields *fields)
{
    mcp_write_array(out);
    for (size_t i = 0; i < fields->count; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "field", fields->items[i].field);
        mcp_write_member_string(out, "message", fields->items[i].message);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}
