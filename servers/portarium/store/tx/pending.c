/*
 * pending.c - the writes that are kept back, by table, and an index of their rows: a run may have a
 * thousand actions.
 */
#include "store/tx/pending.h"

#include <stdio.h>
#include <string.h>

#include "mcp/hash.h"

/* Rows of one statement: a connection keeps a prepared one for each power of two. */
enum { ROWS_MAX = 8, SQL_MAX = 2048, BUCKETS = 128 };

typedef struct pending_write {
    struct pending_write *next;         /* of the table */
    struct pending_write *chain;        /* in the bucket */
    const char *table, *workspace, *id; /* id NULL: rows */
    portarium_write *write;
    void *what;
    bool is_written;
} pending_write;

typedef struct pending_table {
    struct pending_table *next;
    const char *name;
    pending_write *first, **end;
} pending_table;

struct portarium_pending {
    portarium_tx *tx;
    pending_table *tables, **end; /* in the order of their first write */
    pending_write *buckets[BUCKETS];
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

/* ---- the writes ------------------------------------------------------------------------------ */

static mcp_status write_table(portarium_tx *tx, pending_table *table, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (pending_write *at = table->first; at && st == MCP_OK; at = at->next) {
        at->is_written = true;
        st = at->write(tx, at->what, err);
    }
    table->first = NULL;
    table->end = &table->first;
    return st;
}

/* A statement that has the name of a table may see it. */
static mcp_status before_statement(db_session *session, const char *sql, void *data, mcp_error *err)
{
    struct portarium_pending *self = data;
    mcp_status st = MCP_OK;
    (void)session;
    for (pending_table *at = self->tables; at && st == MCP_OK; at = at->next) {
        if (at->first && strstr(sql, at->name))
            st = write_table(self->tx, at, err);
    }
    return st;
}

mcp_status portarium_pending_begin(portarium_tx *tx, mcp_error *err)
{
    tx->pending = mcp_arena_alloc(tx->arena, sizeof *tx->pending);
    if (!tx->pending)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a transaction");
    *tx->pending = (struct portarium_pending){ .tx = tx };
    tx->pending->end = &tx->pending->tables;
    db_session_before(tx->session, before_statement, tx->pending);
    return MCP_OK;
}

mcp_status portarium_pending_end(portarium_tx *tx, mcp_error *err)
{
    mcp_status st = MCP_OK;
    db_session_before(tx->session, NULL, NULL);
    for (pending_table *at = tx->pending ? tx->pending->tables : NULL; at && st == MCP_OK;
         at = at->next)
        st = write_table(tx, at, err);
    tx->pending = NULL;
    return st;
}

void portarium_pending_drop(portarium_tx *tx)
{
    db_session_before(tx->session, NULL, NULL);
    tx->pending = NULL;
}

/* ---- finding and adding ---------------------------------------------------------------------- */

static pending_write **bucket_of(struct portarium_pending *self, const char *table, const char *id)
{
    return &self->buckets[mcp_fnv1a(id ? id : table) % BUCKETS];
}

static bool is_of(const pending_write *write, const portarium_tx *tx, const char *table,
                  const char *id)
{
    bool is_same = id ? write->id && strcmp(write->id, id) == 0 : !write->id;
    return is_same && !write->is_written && strcmp(write->table, table) == 0 &&
           strcmp(write->workspace, tx->workspace) == 0;
}

void *portarium_pending_find(const portarium_tx *tx, const char *table, const char *id)
{
    pending_write *at = tx->pending ? *bucket_of(tx->pending, table, id) : NULL;
    while (at && !is_of(at, tx, table, id))
        at = at->chain;
    return at ? at->what : NULL;
}

/* @return NULL: no memory */
static pending_table *table_of(portarium_tx *tx, const char *name)
{
    struct portarium_pending *self = tx->pending;
    pending_table *at = self->tables;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    if (at)
        return at;
    at = mcp_arena_alloc(tx->arena, sizeof *at);
    if (!at)
        return NULL;
    *at = (pending_table){ .name = name };
    at->end = &at->first;
    *self->end = at;
    self->end = &at->next;
    return at;
}

mcp_status portarium_pending_add(portarium_tx *tx, const char *table, const char *id,
                                 portarium_write *write, void *what, mcp_error *err)
{
    if (!tx->pending)
        return write(tx, what, err);
    pending_table *of = table_of(tx, table);
    pending_write *made = mcp_arena_alloc(tx->arena, sizeof *made);
    pending_write **bucket = bucket_of(tx->pending, table, id);
    if (!of || !made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change");
    *made = (pending_write){ .chain = *bucket,
                             .table = table,
                             .workspace = tx->workspace,
                             .id = id,
                             .write = write,
                             .what = what };
    *bucket = made;
    *of->end = made;
    of->end = &made->next;
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
