/*
 * list.c - the arguments of a list, and its page.
 */
#include "service/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_MAX = 4 << 20 };

static bool limit_of(int *out, const char *text)
{
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (!*text || *end || errno || number < 1 || number > PORTARIUM_LIMIT_MAX)
        return false;
    *out = (int)number;
    return true;
}

bool portarium_argument_number(int64_t *out, portarium_reply *reply,
                               const portarium_request *request, const char *name)
{
    char *end = NULL;
    const char *text = portarium_argument(request, name);
    if (!text)
        return true;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*text && !*end && !errno && number >= 1) {
        *out = number;
        return true;
    }
    portarium_fields_add(&reply->fields, name, "must be a number from 1");
    return false;
}

/* "field:asc" or "field:desc". */
static bool sort_of(portarium_query *out, mcp_arena *arena, const char *text)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (colon && strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0)
        return false;
    out->ascends = !colon || strcmp(colon, ":asc") == 0;
    out->sort = mcp_arena_strndup(arena, text, length);
    return out->sort != NULL;
}

static bool is_word(const portarium_column *column, const char *text, size_t length)
{
    for (size_t i = 0; column->word(i); i++) {
        if (strlen(column->word(i)) == length && memcmp(column->word(i), text, length) == 0)
            return true;
    }
    return false;
}

/* "Pending, Running, Failed"; in the arena. NULL: no memory */
static const char *words_of(mcp_arena *arena, const portarium_column *column)
{
    const char *out = column->word(0);
    for (size_t i = 1; out && column->word(i); i++)
        out = mcp_arena_printf(arena, "%s, %s", out, column->word(i));
    return out;
}

/* Of a filter of words the value is one of them; of some, several with commas between. */
static void judge_filter(portarium_fields *fields, const portarium_column *column,
                         const char *value)
{
    if ((column->flags & PORTARIUM_INTEGER) && strcmp(value, "true") != 0 &&
        strcmp(value, "false") != 0)
        portarium_fields_add(fields, column->member, "must be true or false");
    bool may_be_more = column->flags & PORTARIUM_SEVERAL;
    bool is_good = true;
    for (const char *at = value; column->word && is_good && at;) {
        size_t length = may_be_more ? strcspn(at, ",") : strlen(at);
        is_good = is_word(column, at, length);
        at = at[length] ? at + length + 1 : NULL;
    }
    if (!is_good)
        portarium_fields_add(fields, column->member, "must be %s: %s",
                             may_be_more ? "one or more, separated by commas, of" : "one of",
                             words_of(fields->arena, column));
}

static void add_filter(portarium_query *out, const portarium_request *request, const char *name)
{
    const char *value = portarium_argument(request, name);
    if (value && *value && out->filter_count < sizeof out->filters / sizeof out->filters[0])
        out->filters[out->filter_count++] = (portarium_filter){ .name = name, .value = value };
}

mcp_status portarium_query_read(portarium_query *out, const portarium_collection *where,
                                const portarium_request *request, portarium_reply *reply,
                                mcp_error *err)
{
    const char *limit = portarium_argument(request, "limit");
    const char *sort = portarium_argument(request, "sort");
    *out = (portarium_query){ .limit = PORTARIUM_LIMIT,
                              .cursor = portarium_argument(request, "cursor"),
                              .search = portarium_argument(request, "q") };
    if (limit && !limit_of(&out->limit, limit))
        portarium_fields_add(&reply->fields, "limit", "must be a number from 1 to %d",
                             PORTARIUM_LIMIT_MAX);
    if (sort && !sort_of(out, reply->fields.arena, sort))
        portarium_fields_add(&reply->fields, "sort", "must be FIELD:asc or FIELD:desc");
    for (const portarium_column *at = where->columns; at->name; at++) {
        const char *value = portarium_argument(request, at->member);
        if (!(at->flags & PORTARIUM_FILTER))
            continue;
        add_filter(out, request, at->member);
        if (value && *value)
            judge_filter(&reply->fields, at, value);
    }
    for (size_t i = 0; where->links[i].filter; i++)
        add_filter(out, request, where->links[i].filter);
    return portarium_fields_status(&reply->fields, err);
}

mcp_status portarium_reply_query(portarium_reply *reply, portarium_tx *tx,
                                 const portarium_collection *where, const portarium_query *query,
                                 portarium_view_writer *write, mcp_error *err)
{
    portarium_page page;
    portarium_draft draft;
    mcp_status st = portarium_page_read(&page, tx, where, query, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "items");
    for (size_t i = 0; st == MCP_OK && i < page.count; i++) {
        if (write)
            st = write(&draft.json, tx, &page.items[i], err);
        else
            mcp_write_value(&draft.json, page.items[i].json);
    }
    if (st != MCP_OK) {
        portarium_draft_clear(&draft);
        return st;
    }
    mcp_write_end(&draft.json);
    if (page.next_cursor)
        mcp_write_member_string(&draft.json, "nextCursor", page.next_cursor);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

mcp_status portarium_reply_list(portarium_reply *reply, portarium_tx *tx,
                                const portarium_collection *where, const portarium_request *request,
                                portarium_view_writer *write, mcp_error *err)
{
    portarium_query query;
    mcp_status st = portarium_query_read(&query, where, request, reply, err);
    return st == MCP_OK ? portarium_reply_query(reply, tx, where, &query, write, err) : st;
}

mcp_status portarium_reply_view(portarium_reply *reply, portarium_tx *tx,
                                const portarium_record *record, portarium_view_writer *write,
                                mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer json;
    mcp_buf_init(&buf, VIEW_MAX);
    mcp_json_writer_init(&json, &buf);
    mcp_status st = write(&json, tx, record, err);
    if (st == MCP_OK && mcp_json_writer_status(&json) != MCP_OK)
        st = mcp_error_set(err, mcp_json_writer_status(&json), "a view cannot be written");
    if (st == MCP_OK) {
        reply->status = 200;
        reply->text = mcp_arena_strndup(tx->arena, buf.data, buf.length);
        reply->length = buf.length;
        st = reply->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the answer");
    }
    mcp_buf_clear(&buf);
    return st;
}

mcp_status portarium_check_if_match_view(portarium_reply *reply, portarium_tx *tx,
                                         const portarium_request *request,
                                         const portarium_record *record,
                                         portarium_view_writer *write, mcp_error *err)
{
    portarium_reply now = { .status = 0 };
    mcp_status st = request->if_match ? portarium_reply_view(&now, tx, record, write, err) : MCP_OK;
    return st == MCP_OK
               ? portarium_check_if_match_text(reply, tx, request, now.text, now.length, err)
               : st;
}
