/*
 * record.c - error records: making and writing them.
 *
 * Texts that a record quotes come from a client, a command line or the file system. They may be
 * long or invalid UTF-8, so they are cleaned when the record is made; writing cannot fail on them.
 */
#include "findings/record.h"

#include <stdio.h>

#include "findings/text.h"

#define MEMBERS_MAX 16

/* ---- members --------------------------------------------------------------------------------- */

static size_t members_count(const cobre_member *members)
{
    size_t count = 0;

    while (members && count < MEMBERS_MAX && members[count].name)
        count++;
    return count;
}

static const char *const *list_copy(mcp_arena *arena, const char *const *list)
{
    size_t count = 0;

    while (list[count])
        count++;
    const char **copy = mcp_arena_array(arena, count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = cobre_text_short(arena, list[i], COBRE_RECORD_TEXT_MAX);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

const cobre_member *cobre_members_copy(mcp_arena *arena, const cobre_member *members)
{
    size_t count = members_count(members);
    cobre_member *copy = mcp_arena_array(arena, count + 1, sizeof *copy);

    for (size_t i = 0; copy && i < count; i++) {
        const cobre_member *member = &members[i];
        copy[i] = *member;
        if (member->type == COBRE_MEMBER_TEXT && member->text) {
            copy[i].text = cobre_text_short(arena, member->text, COBRE_RECORD_TEXT_MAX);
            if (!copy[i].text)
                return NULL;
        } else if (member->type == COBRE_MEMBER_LIST) {
            copy[i].list = list_copy(arena, member->list);
            if (!copy[i].list)
                return NULL;
        }
    }
    return copy;
}

static void write_list(mcp_json_writer *writer, const char *const *list)
{
    mcp_write_array(writer);
    for (size_t i = 0; list[i]; i++)
        mcp_write_string(writer, list[i]);
    mcp_write_end(writer);
}

static void write_member(mcp_json_writer *writer, const cobre_member *member)
{
    mcp_write_name(writer, member->name);
    switch (member->type) {
    case COBRE_MEMBER_TEXT:
        mcp_write_string(writer, member->text);
        break;
    case COBRE_MEMBER_INT:
        mcp_write_int(writer, member->number);
        break;
    case COBRE_MEMBER_REAL:
        mcp_write_double_or_null(writer, member->real);
        break;
    case COBRE_MEMBER_LIST:
        write_list(writer, member->list);
        break;
    case COBRE_MEMBER_JSON:
        mcp_write_value(writer, member->json);
        break;
    case COBRE_MEMBER_NULL:
        mcp_write_null(writer);
        break;
    }
}

void cobre_members_write(const cobre_member *members, mcp_json_writer *writer)
{
    for (size_t i = 0; i < members_count(members); i++)
        write_member(writer, &members[i]);
}

/* ---- records --------------------------------------------------------------------------------- */

const cobre_record *cobre_record_newv(mcp_arena *arena, const char *kind, const char *suggestion,
                                      const cobre_member *members, const char *format,
                                      va_list arguments)
{
    char text[COBRE_RECORD_TEXT_MAX + 2]; /* one byte more than fits, so that the cut is marked */
    cobre_record *record = mcp_arena_alloc(arena, sizeof *record);

    if (!record || vsnprintf(text, sizeof text, format, arguments) < 0)
        return NULL;
    record->kind = kind;
    record->message = cobre_text_short(arena, text, COBRE_RECORD_TEXT_MAX);
    record->suggestion = suggestion;
    record->members = cobre_members_copy(arena, members);
    return record->message && record->members ? record : NULL;
}

const cobre_record *cobre_record_new(mcp_arena *arena, const char *kind, const char *suggestion,
                                     const cobre_member *members, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const cobre_record *record = cobre_record_newv(arena, kind, suggestion, members, format,
                                                   arguments);
    va_end(arguments);
    return record;
}

void cobre_record_begin(mcp_json_writer *writer, const char *kind, const char *message)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "kind", kind);
    mcp_write_member_string(writer, "message", message);
    mcp_write_member_object(writer, "context");
}

void cobre_record_end(mcp_json_writer *writer, const char *suggestion)
{
    mcp_write_end(writer);
    mcp_write_member_string(writer, "suggestion", suggestion);
}

void cobre_record_write(const cobre_record *record, mcp_json_writer *writer)
{
    cobre_record_begin(writer, record->kind, record->message);
    cobre_members_write(record->members, writer);
    cobre_record_end(writer, record->suggestion);
    mcp_write_end(writer);
}
