/*
 * record.c - making and writing error records.
 *
 * What a record quotes comes from a client, a command line or the file system and may be long or no
 * UTF-8; it is made fit here, once, so that writing a record cannot fail.
 */
#include "run/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "validate/text.h"

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
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = members[i];
        copy[i].text = cobre_text_short(arena, members[i].text, COBRE_RECORD_TEXT_MAX);
        if (members[i].text && !copy[i].text)
            return NULL;
    }
    return copy;
}

/* One byte more than fits, so that the cut is seen. */
static const char *message_format(mcp_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static const char *message_format(mcp_arena *arena, const char *format, va_list arguments)
{
    char text[COBRE_RECORD_TEXT_MAX + 2];
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        return NULL;
    return cobre_text_short(arena, text, COBRE_RECORD_TEXT_MAX);
}

const cobre_record *cobre_record_new(mcp_arena *arena, const char *kind, const char *suggestion,
                                     const cobre_member *members, const char *format, ...)
{
    cobre_record *record = mcp_arena_alloc(arena, sizeof *record);
    va_list arguments;
    if (!record)
        return NULL;
    va_start(arguments, format);
    record->message = message_format(arena, format, arguments);
    va_end(arguments);
    record->kind = kind;
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
