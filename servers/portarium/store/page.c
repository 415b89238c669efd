/*
 * page.c - the statement of a list, and its cursor.
 */
#include "store/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "model/identity.h"

enum { SQL_MAX = 2048, VALUES_MAX = 32, SEARCH_MAX = 256, SEVERAL_MAX = 8 };

/* The statement of a list as it grows. */
typedef struct list {
    const portarium_collection *where;
    char sql[SQL_MAX];
    size_t length;
    db_value values[VALUES_MAX];
    size_t count;
    const char *key; /* SQL of the sort key */
    bool key_is_integer;
    bool ascends;
} list;

static void add(list *self, const char *text)
{
    size_t length = strlen(text);
    if (self->length + length < sizeof self->sql) {
        memcpy(self->sql + self->length, text, length + 1);
        self->length += length;
    }
}

/* Add a value, and its number to the statement. */
static void add_value(list *self, db_value value)
{
    char number[16];
    self->values[self->count++] = value;
    snprintf(number, sizeof number, "$%zu", self->count);
    add(self, number);
}

static const portarium_column *column_of(const portarium_collection *where, const char *member,
                                         unsigned flag)
{
    for (const portarium_column *at = where->columns; at->name; at++) {
        if ((at->flags & flag) && strcmp(at->member, member) == 0)
            return at;
    }
    return NULL;
}

static bool integer_of(int64_t *out, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *out = text[0] == 't';
        return true;
    }
    *out = strtoll(text, &end, 10);
    return *text && *end == '\0' && errno == 0;
}

/* The values of a filter that may have several: "pending,assigned". */
static mcp_status add_several(list *self, mcp_arena *arena, const portarium_filter *filter,
                              mcp_error *err)
{
    int count = 0;
    for (const char *at = filter->value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *one = mcp_arena_strndup(arena, at, strcspn(at, ","));
        if (!one)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list");
        if (++count > SEVERAL_MAX)
            return mcp_error_set(err, MCP_E_PARAMS, "%s names more than %d", filter->name,
                                 SEVERAL_MAX);
        add(self, count > 1 ? ", " : "");
        add_value(self, db_text(one));
    }
    return MCP_OK;
}

static mcp_status add_filter(list *self, mcp_arena *arena, const portarium_filter *filter,
                             mcp_error *err)
{
    const char *name = filter->name, *value = filter->value;
    const portarium_column *column = column_of(self->where, name, PORTARIUM_FILTER);
    int64_t number = 0;
    if (column) {
        bool is_integer = column->flags & PORTARIUM_INTEGER;
        if (is_integer && !integer_of(&number, value))
            return mcp_error_set(err, MCP_E_PARAMS, "%s must be true, false or a number", name);
        add(self, " AND ");
        add(self, column->name);
        add(self, " IN (");
        mcp_status st = MCP_OK;
        if (column->flags & PORTARIUM_SEVERAL)
            st = add_several(self, arena, filter, err);
        else
            add_value(self, is_integer ? db_int(number) : db_text(value));
        if (filter->other) {
            add(self, ", ");
            add_value(self, db_text(filter->other));
        }
        add(self, ")");
        return st;
    }
    for (size_t i = 0; self->where->links[i].filter; i++) {
        if (strcmp(self->where->links[i].filter, name) != 0)
            continue;
        add(self, " AND EXISTS (SELECT 1 FROM work_item_links l WHERE l.workspace = $1 AND "
                  "l.kind = ");
        add_value(self, db_text(self->where->links[i].kind));
        add(self, " AND l.ref = ");
        add_value(self, db_text(value));
        add(self, " AND l.work_item_id = id)");
        return MCP_OK;
    }
    return mcp_error_set(err, MCP_E_PARAMS, "%.64s is no filter of this list", name);
}

/* `%text%` for LIKE, with its signs escaped. */
static const char *pattern_of(mcp_arena *arena, const char *text)
{
    size_t length = strlen(text), at = 0;
    char *out = mcp_arena_alloc(arena, 2 * length + 3);
    if (!out)
        return NULL;
    out[at++] = '%';
    for (size_t i = 0; i < length; i++) {
        if (strchr("%_\\", text[i]))
            out[at++] = '\\';
        out[at++] = text[i];
    }
    out[at++] = '%';
    out[at] = '\0';
    return out;
}

static mcp_status add_search(list *self, mcp_arena *arena, const char *text, mcp_error *err)
{
    if (strnlen(text, SEARCH_MAX + 1) > SEARCH_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "q is longer than %d bytes", SEARCH_MAX);
    const char *pattern = pattern_of(arena, text);
    if (!pattern)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a search");
    /* Both sides by the database, which may know more capital letters than those of ASCII. */
    add(self, " AND (LOWER(id) LIKE LOWER(CAST(");
    add_value(self, db_text(pattern));
    add(self, " AS TEXT)) ESCAPE '\\'");
    for (const portarium_column *at = self->where->columns; at->name; at++) {
        if (!(at->flags & PORTARIUM_SEARCH))
            continue;
        add(self, " OR LOWER(");
        add(self, at->name);
        add(self, ") LIKE LOWER(CAST(");
        add_value(self, db_text(pattern));
        add(self, " AS TEXT)) ESCAPE '\\'");
    }
    add(self, ")");
    return MCP_OK;
}

static mcp_status set_key(list *self, const portarium_query *query, mcp_error *err)
{
    self->key = "created_at";
    self->key_is_integer = true;
    self->ascends = query->ascends;
    if (!query->sort || strcmp(query->sort, "createdAtIso") == 0)
        return MCP_OK;
    if (strcmp(query->sort, self->where->id_member) == 0) {
        self->key = "id";
        self->key_is_integer = false;
        return MCP_OK;
    }
    const portarium_column *column = column_of(self->where, query->sort, PORTARIUM_SORT);
    if (!column)
        return mcp_error_set(err, MCP_E_PARAMS, "%.64s is no sort key of this list", query->sort);
    self->key = column->name;
    self->key_is_integer = column->flags & PORTARIUM_INTEGER;
    return MCP_OK;
}

/* The key as SQL; one that may be NULL sorts as the least value. */
static void add_key(list *self)
{
    bool may_be_null = strcmp(self->key, "created_at") != 0 && strcmp(self->key, "id") != 0;
    if (may_be_null)
        add(self, "COALESCE(");
    add(self, self->key);
    if (may_be_null)
        add(self, self->key_is_integer ? ", 0)" : ", '')");
}

/* The sort key of a record that a bare id names as the cursor. */
static mcp_status key_of_id(list *self, portarium_tx *tx, const char *id, const char **key,
                            mcp_error *err)
{
    list inner = { .where = self->where, .key = self->key, .key_is_integer = self->key_is_integer };
    db_rows *rows = NULL;
    bool found = false;
    add(&inner, "SELECT CAST(");
    add_key(&inner);
    add(&inner, " AS TEXT) AS sort_key FROM ");
    add(&inner, self->where->table);
    add(&inner, " WHERE workspace = ");
    add_value(&inner, db_text(tx->workspace));
    add(&inner, " AND id = ");
    add_value(&inner, db_text(id));
    mcp_status st = db_query(&rows, tx->session, inner.sql, inner.values, inner.count, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found) {
        *key = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
        st = *key ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a cursor");
    }
    db_rows_free(rows);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_PARAMS, "cursor is invalid");
    return st;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    return 31 * hash + mcp_fnv1a(text);
}

uint64_t portarium_query_hash(const portarium_query *query, const portarium_collection *where,
                              const char *workspace)
{
    bool by_time = !query->sort || strcmp(query->sort, "createdAtIso") == 0;
    uint64_t hash = mix(mix(0, where->table), workspace);
    for (size_t i = 0; i < query->filter_count; i++) {
        const portarium_filter *filter = &query->filters[i];
        hash = mix(mix(mix(hash, filter->name), filter->value), filter->other);
    }
    hash = mix(mix(hash, query->search), by_time ? NULL : query->sort);
    return mix(hash, query->ascends ? "asc" : "desc");
}

static mcp_status add_cursor(list *self, portarium_tx *tx, const portarium_query *query,
                             mcp_error *err)
{
    portarium_cursor cursor;
    int64_t number = 0;
    mcp_status st = portarium_cursor_read(&cursor, query->cursor, tx->arena, err);
    bool is_other = st == MCP_OK && cursor.key &&
                    cursor.list != portarium_query_hash(query, self->where, tx->workspace);
    if (st == MCP_OK && !cursor.key)
        st = key_of_id(self, tx, cursor.id, &cursor.key, err);
    if (st != MCP_OK)
        return st;
    if (is_other || (self->key_is_integer && !integer_of(&number, cursor.key)))
        return mcp_error_set(err, MCP_E_PARAMS, "cursor is of another list");
    add(self, " AND (");
    add_key(self);
    add(self, self->ascends ? ", id) > (" : ", id) < (");
    add_value(self, self->key_is_integer ? db_int(number) : db_text(cursor.key));
    add(self, ", ");
    add_value(self, db_text(cursor.id));
    add(self, ")");
    return MCP_OK;
}

/* Records are those of the transaction's workspace. An actor without a workspace, the local
 * admin, sees all workspaces. */
static void add_scope(list *self, const portarium_tx *tx)
{
    if (!tx->workspace && self->where == &portarium_workspaces) {
        add(self, " WHERE 1 = 1");
        return;
    }
    add(self, " WHERE workspace = ");
    add_value(self, db_text(tx->workspace));
}

static mcp_status build(list *self, portarium_tx *tx, const portarium_query *query, mcp_error *err)
{
    mcp_status st = set_key(self, query, err);
    if (st != MCP_OK)
        return st;
    add(self, "SELECT id, revision, created_at, json, hidden, CAST(");
    add_key(self);
    add(self, " AS TEXT) AS sort_key FROM ");
    add(self, self->where->table);
    add_scope(self, tx);
    for (size_t i = 0; st == MCP_OK && i < query->filter_count; i++)
        st = add_filter(self, tx->arena, &query->filters[i], err);
    if (st == MCP_OK && query->search)
        st = add_search(self, tx->arena, query->search, err);
    if (st == MCP_OK && query->cursor)
        st = add_cursor(self, tx, query, err);
    add(self, " ORDER BY ");
    add_key(self);
    add(self, self->ascends ? " ASC, id ASC LIMIT " : " DESC, id DESC LIMIT ");
    add_value(self, db_int(query->limit + 1));
    return st;
}

/* Whether the row is left to the next page. */
static bool is_beyond(const portarium_page *page, const portarium_query *query, size_t bytes)
{
    return page->count == (size_t)query->limit || (page->count > 0 && bytes > PORTARIUM_PAGE_BYTES);
}

mcp_status portarium_page_read(portarium_page *out, portarium_tx *tx,
                               const portarium_collection *where, const portarium_query *query,
                               mcp_error *err)
{
    list self = { .where = where };
    db_rows *rows = NULL;
    const uint64_t hash = portarium_query_hash(query, where, tx->workspace);
    portarium_cursor last = { .key = NULL };
    size_t bytes = 0, length = 0;
    *out = (portarium_page){ .items = mcp_arena_array(tx->arena, (size_t)query->limit,
                                                      sizeof *out->items) };
    mcp_status st = out->items ? build(&self, tx, query, err)
                               : mcp_error_set(err, MCP_E_NOMEM, "no memory for a list");
    if (st == MCP_OK)
        st = db_query(&rows, tx->session, self.sql, self.values, self.count, err);
    while (portarium_next(rows, &st, err)) {
        db_text_at(rows, 3, &length);
        bytes += length;
        if (is_beyond(out, query, bytes)) {
            st = portarium_cursor_write(&out->next_cursor, &last, tx->arena, err);
            break;
        }
        st = portarium_record_read(&out->items[out->count], tx, rows, err);
        last = (portarium_cursor){ .key = mcp_arena_strdup(tx->arena, db_text_at(rows, 5, NULL)),
                                   .id = out->items[out->count].id,
                                   .list = hash };
        if (st == MCP_OK && !last.key)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a list");
        out->count++;
    }
    db_rows_free(rows);
    return st;
}
