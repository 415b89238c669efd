/*
 * entities.c - reads entities.csv (RFC 4180), and finds entities in it.
 */
#include "query/entities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard/paths.h"

#define FILE_MAX ((size_t)64 << 20)
#define HEADER "entity_type_code,entity_id,name,bus_id,system_id"

enum { FIELD_CODE, FIELD_ID, FIELD_NAME, FIELD_COUNT = 5 };

/* The bytes that are still to be read; a field is unquoted in its place. */
struct lines {
    char *at;
    const char *end;
};

/* The next field; `*is_last` when the line ends after it. NULL: a quote without its end. */
static char *next_field(struct lines *lines, bool *is_last)
{
    bool is_quoted = lines->at < lines->end && *lines->at == '"';
    char *from = lines->at + is_quoted;
    char *to = from;
    char *field = from;

    for (; from < lines->end; from++) {
        if (is_quoted && *from == '"' && from + 1 < lines->end && from[1] == '"')
            from++;
        else if (is_quoted ? *from == '"' : *from == ',' || *from == '\n')
            break;
        *to++ = *from;
    }
    if (is_quoted && from == lines->end)
        return NULL;
    from += is_quoted;
    if (from < lines->end && *from == '\r')
        from++;
    *is_last = from >= lines->end || *from == '\n';
    if (from < lines->end && *from != ',' && *from != '\n')
        return NULL;
    lines->at = from < lines->end ? from + 1 : from;
    if (to > field && to[-1] == '\r' && !is_quoted)
        to--;
    *to = '\0'; /* the file's text ends in NUL, so there is room after the last byte */
    return field;
}

/* One line of five fields. */
static bool next_line(struct lines *lines, char *fields[FIELD_COUNT])
{
    bool is_last = false;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        fields[i] = is_last ? NULL : next_field(lines, &is_last);
        if (!fields[i])
            return false;
    }
    return is_last;
}

bool query_entity_id(int64_t *id, const char *text)
{
    const char *digits = text + (text[0] == '-');
    char *end = NULL;

    if (!digits[0] || digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    *id = strtoll(text, &end, 10);
    if (errno == ERANGE)
        *id = INT64_MIN;
    return true;
}

static mcp_status no_table(mcp_error *err, size_t line)
{
    return mcp_error_set(err, MCP_E_PARSE, QUERY_ENTITIES ": line %zu is not of the dictionary",
                         line);
}

static mcp_status read_lines(query_entities *out, struct lines *lines, query_entity *items,
                             mcp_error *err)
{
    char *fields[FIELD_COUNT];
    size_t count = 0;

    while (lines->at < lines->end) {
        query_entity *item = &items[count];
        if (!next_line(lines, fields) || !query_entity_id(&item->code, fields[FIELD_CODE]) ||
            !query_entity_id(&item->id, fields[FIELD_ID]))
            return no_table(err, count + 2);
        item->name = fields[FIELD_NAME];
        count++;
    }
    out->items = items;
    out->count = count;
    return MCP_OK;
}

mcp_status query_entities_parse(query_entities *out, char *text, size_t length, mcp_arena *arena,
                                mcp_error *err)
{
    size_t count = 1;

    if (strlen(text) != length)
        return mcp_error_set(err, MCP_E_PARSE, QUERY_ENTITIES " holds a NUL byte");
    size_t header = strcspn(text, "\r\n");
    if (header != strlen(HEADER) || memcmp(text, HEADER, header) != 0)
        return no_table(err, 1);
    for (const char *c = text; *c; c++)
        count += *c == '\n';
    struct lines lines = { text + header, text + length };
    lines.at += strspn(lines.at, "\r");
    lines.at += *lines.at == '\n';
    query_entity *items = mcp_arena_array(arena, count, sizeof *items);
    if (!items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu entities", count);
    return read_lines(out, &lines, items, err);
}

mcp_status query_entities_read(query_entities *out, int out_fd, mcp_arena *arena, mcp_error *err)
{
    const char *bytes = NULL;
    size_t length = 0;
    mcp_status st = guard_read_file(&bytes, &length, out_fd, QUERY_ENTITIES, FILE_MAX, arena, err);

    if (st != MCP_OK)
        return st;
    /* The arena's own text: nobody else sees it. */
    return query_entities_parse(out, (char *)bytes, length, arena, err);
}

size_t query_entities_find(int64_t *ids, const query_entities *entities, int64_t code,
                           const char *text)
{
    int64_t id = 0;
    bool is_id = query_entity_id(&id, text);
    size_t count = 0;

    for (size_t i = 0; i < entities->count; i++) {
        const query_entity *item = &entities->items[i];
        if (item->code != code || (is_id ? item->id != id : strcmp(item->name, text) != 0))
            continue;
        if (ids)
            ids[count] = item->id;
        count++;
    }
    return count;
}
