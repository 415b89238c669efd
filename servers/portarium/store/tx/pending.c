/*
 * pending.c - the list of writes that are kept back.
 */
#include "store/tx/pending.h"

#include <stdio.h>
#include <string.h>

/* Rows of one statement: a connection keeps a prepared one for each power of two. */
enum { ROWS_MAX = 8, SQL_MAX = 2048 };

typedef struct pending_write {
    struct pending_write *next;
    const char *table, *workspace, *id; /* id NULL: rows */
    portarium_write *write;
    void *what;
} pending_write;

struct portarium_pending {
    portarium_tx *tx;
    pending_write *first;
};

/* The rows that are added to a table. */
typedef struct added_row {
    struct added_row *next;
    db_value values[];
} added_row;

typedef struct added {
    const portarium_rows *of;
    added_row *first, **end;
    size_t count;
} added;

/* ---- the list -------------------------------------------------------------------------------- */

/* Take a write out of the list and do it. */
static mcp_status write_out(portarium_tx *tx, pending_write **at, mcp_error *err)
{
    pending_write *out = *at;
    *at = out->next;
    return out->write(tx, out->what, err);
}

/* A statement that has the name of a table may see it. */
static mcp_status before_statement(db_session *session, const char *sql, void *data, mcp_error *err)
{
    struct portarium_pending *self = data;
    pending_write **at = &self->first;
    mcp_status st = MCP_OK;
    (void)session;
    while (st == MCP_OK && *at) {
        if (strstr(sql, (*at)->table))
            st = write_out(self->tx, at, err);
        else
            at = &(*at)->next;
    }
    return st;
}

mcp_status portarium_pending_begin(portarium_tx *tx, mcp_error *err)
{
    tx->pending = mcp_arena_alloc(tx->arena, sizeof *tx->pending);
    if (!tx->pending)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a transaction");
    *tx->pending = (struct portarium_pending){ .tx = tx };
    db_session_before(tx->session, before_statement, tx->pending);
    return MCP_OK;
}

mcp_status portarium_pending_end(portarium_tx *tx, mcp_error *err)
{
    mcp_status st = MCP_OK;
    db_session_before(tx->session, NULL, NULL);
    while (st == MCP_OK && tx->pending && tx->pending->first)
        st = write_out(tx, &tx->pending->first, err);
    tx->pending = NULL;
    return st;
}

void portarium_pending_drop(portarium_tx *tx)
{
    db_session_before(tx->session, NULL, NULL);
    tx->pending = NULL;
}

static bool is_of(const pending_write *write, const portarium_tx *tx, const char *table,
                  const char *id)
{
    bool is_same = id ? write->id && strcmp(write->id, id) == 0 : !write->id;
    return is_same && strcmp(write->table, table) == 0 &&
           strcmp(write->workspace, tx->workspace) == 0;
}

void *portarium_pending_find(const portarium_tx *tx, const char *table, const char *id)
{
    pending_write *at = tx->pending ? tx->pending->first : NULL;
    while (at && !is_of(at, tx, table, id))
        at = at->next;
    return at ? at->what : NULL;
}

mcp_status portarium_pending_add(portarium_tx *tx, const char *table, const char *id,
                                 portarium_write *write, void *what, mcp_error *err)
{
    if (!tx->pending)
        return write(tx, what, err);
    pending_write **end = &tx->pending->first;
    pending_write *made = mcp_arena_alloc(tx->arena, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change");
    while (*end)
        end = &(*end)->next;
    *made = (pending_write){
        .table = table, .workspace = tx->workspace, .id = id, .write = write, .what = what
    };
    *end = made;
    return MCP_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_sql(char sql[SQL_MAX], const portarium_rows *of, size_t rows)
{
    size_t at = (size_t)snprintf(sql, SQL_MAX, "INSERT INTO %s (%s) VALUES ", of->table,
                                 of->columns);
    for (size_t i = 0; i < rows * of->count; i++) {
        bool is_first = i % of->count == 0;
        at += (size_t)snprintf(sql + at, SQL_MAX - at, "%s$%zu%s",
                               i == 0     ? "("
                               : is_first ? "), ("
                                          : ", ",
                               i + 1, i + 1 == rows * of->count ? ")" : "");
    }
}

/* The largest power of two. */
static size_t rows_of(size_t left)
{
    size_t rows = ROWS_MAX;
    while (rows > left)
        rows /= 2;
    return rows;
}

static mcp_status write_rows(portarium_tx *tx, void *what, mcp_error *err)
{
    added *self = what;
    mcp_status st = MCP_OK;
    while (st == MCP_OK && self->count > 0) {
        char sql[SQL_MAX];
        db_value values[ROWS_MAX * PORTARIUM_ROW_COLUMNS_MAX];
        size_t rows = rows_of(self->count), columns = self->of->count;
        for (size_t i = 0; i < rows; i++, self->first = self->first->next)
            memcpy(values + i * columns, self->first->values, columns * sizeof values[0]);
        write_sql(sql, self->of, rows);
        st = db_defer(tx->session, MCP_OK, sql, values, rows * columns, err);
        self->count -= rows;
    }
    return st;
}

static added *added_of(portarium_tx *tx, const portarium_rows *of, mcp_error *err)
{
    added *self = portarium_pending_find(tx, of->table, NULL);
    if (self)
        return self;
    self = mcp_arena_alloc(tx->arena, sizeof *self);
    if (self) {
        *self = (added){ .of = of };
        self->end = &self->first;
    }
    return self && portarium_pending_add(tx, of->table, NULL, write_rows, self, err) == MCP_OK
               ? self
               : NULL;
}

mcp_status portarium_pending_row(portarium_tx *tx, const portarium_rows *of, const db_value *values,
                                 mcp_error *err)
{
    added alone = { .of = of, .end = &alone.first };
    added *self = tx->pending ? added_of(tx, of, err) : &alone;
    added_row *row = mcp_arena_alloc(tx->arena, sizeof *row + of->count * sizeof values[0]);
    if (!self || !row)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a row");
    row->next = NULL;
    for (size_t i = 0; i < of->count; i++) {
        row->values[i] = values[i];
        if (!values[i].bytes)
            continue;
        row->values[i].bytes = mcp_arena_strndup(tx->arena, values[i].bytes, values[i].length);
        if (!row->values[i].bytes)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a row");
    }
    *self->end = row;
    self->end = &row->next;
    self->count++;
    return tx->pending ? MCP_OK : write_rows(tx, self, err);
}
