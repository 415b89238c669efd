/*
 * record.c - making and writing error records.
 */
#include "run/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX 1024

static size_t member_count(const cobre_member *members)
{
    size_t count = 0;
    while (members && members[count].name)
        count++;
    return count;
}

static const cobre_member *members_copy(mcp_arena *arena, const cobre_member *members)
{
    size_t count = member_count(members);
    cobre_member *copy = mcp_arena_array(arena, count + 1, sizeof *copy);
    if (copy && count)
        memcpy(copy, members, count * sizeof *copy);
    return copy;
}

const cobre_record *cobre_record_new(mcp_arena *arena, const char *kind, const char *suggestion,
                                     const cobre_member *members, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    cobre_record *record = mcp_arena_alloc(arena, sizeof *record);
    if (!record || length < 0)
        return NULL;
    record->kind = kind;
    record->message = mcp_arena_strdup(arena, text);
    record->suggestion = suggestion;
    record->members = members_copy(arena, members);
    return record->message && record->members ? record : NULL;
}

void cobre_record_write(const cobre_record *record, mcp_json_writer *writer)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "kind", record->kind);
    mcp_write_member_string(writer, "message", record->message);
    mcp_write_member_object(writer, "context");
    cobre_members_write(record->members, writer);
    mcp_write_end(writer);
    mcp_write_member_string(writer, "suggestion", record->suggestion);
    mcp_write_end(writer);
}
