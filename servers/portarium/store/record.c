/*
 * record.c - one record: get, insert, change, delete.
 */
#include "store/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/tx/held.h"
#include "store/tx/pending.h"

enum { SQL_MAX = 1024, COLUMNS_MAX = 8, DRAFT_MAX = 4 << 20 };

/* A process with an engine begins at once what it has stored. Others look for it so much later, so
 * that they do not do the same while it waits for its turn there. */
enum { OTHERS_AFTER_MS = 3000 };

/* ---- drafts ---------------------------------------------------------------------------------- */

void portarium_draft_object(portarium_draft *draft)
{
    mcp_buf_init(&draft->buf, DRAFT_MAX);
    mcp_json_writer_init(&draft->json, &draft->buf);
    mcp_write_object(&draft->json);
}

mcp_status portarium_draft_read(portarium_draft *draft, portarium_tx *tx, const mcp_json **out,
                                mcp_error *err)
{
    mcp_write_end(&draft->json);
    mcp_status st = mcp_json_writer_status(&draft->json);
    if (st == MCP_OK)
        st = mcp_json_read(out, tx->arena, draft->buf.data, draft->buf.length, err);
    else
        mcp_error_set(err, st, "a document cannot be written: %s", mcp_status_words(st));
    portarium_draft_clear(draft);
    return st;
}

void portarium_draft_clear(portarium_draft *draft)
{
    mcp_buf_clear(&draft->buf);
}

const char portarium_null[] = "null";

/* In pairs of name and value, a NULL value does not end the list: names do. */
mcp_status portarium_object(portarium_tx *tx, const mcp_json **out, mcp_error *err, ...)
{
    portarium_draft draft;
    va_list pairs;
    portarium_draft_object(&draft);
    va_start(pairs, err);
    for (const char *name = va_arg(pairs, const char *); name; name = va_arg(pairs, const char *)) {
        const char *value = va_arg(pairs, const char *);
        if (value == portarium_null)
            mcp_write_member_null(&draft.json, name);
        else if (value)
            mcp_write_member_string(&draft.json, name, value);
    }
    va_end(pairs);
    return portarium_draft_read(&draft, tx, out, err);
}

/* ---- merge patches --------------------------------------------------------------------------- */

static void write_merged(mcp_json_writer *json, const mcp_json *target, const mcp_json *patch)
{
    if (!mcp_json_is_object(patch)) {
        mcp_write_value(json, patch);
        return;
    }
    mcp_write_object(json);
    for (size_t i = 0; mcp_json_is_object(target) && i < mcp_json_count(target); i++) {
        size_t length;
        const char *name = mcp_json_name(target, i, &length);
        const mcp_json *change = mcp_json_get_n(patch, name, length);
        if (mcp_json_is_null(change))
            continue;
        mcp_write_name(json, name);
        if (change)
            write_merged(json, mcp_json_item(target, i), change);
        else
            mcp_write_value(json, mcp_json_item(target, i));
    }
    for (size_t i = 0; i < mcp_json_count(patch); i++) {
        size_t length;
        const char *name = mcp_json_name(patch, i, &length);
        const mcp_json *value = mcp_json_item(patch, i);
        if (mcp_json_is_null(value) || mcp_json_get_n(target, name, length))
            continue;
        mcp_write_name(json, name);
        write_merged(json, NULL, value);
    }
    mcp_write_end(json);
}

static void write_assigned(mcp_json_writer *json, const mcp_json *target, const mcp_json *patch)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(target); i++) {
        size_t length;
        const char *name = mcp_json_name(target, i, &length);
        if (!mcp_json_get_n(patch, name, length))
            mcp_write_member_value(json, name, mcp_json_item(target, i));
    }
    for (size_t i = 0; i < mcp_json_count(patch); i++) {
        if (!mcp_json_is_null(mcp_json_item(patch, i)))
            mcp_write_member_value(json, mcp_json_name(patch, i, NULL), mcp_json_item(patch, i));
    }
    mcp_write_end(json);
}

static mcp_status combine(portarium_tx *tx, const mcp_json **out, const mcp_json *target,
                          const mcp_json *patch, mcp_error *err,
                          void (*write)(mcp_json_writer *json, const mcp_json *target,
                                        const mcp_json *patch))
{
    mcp_buf buf;
    mcp_json_writer json;
    mcp_buf_init(&buf, DRAFT_MAX);
    mcp_json_writer_init(&json, &buf);
    write(&json, target, patch);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_json_read(out, tx->arena, buf.data, buf.length, err);
    else
        mcp_error_set(err, st, "a document cannot be written: %s", mcp_status_words(st));
    mcp_buf_clear(&buf);
    return st;
}

mcp_status portarium_merge(portarium_tx *tx, const mcp_json **out, const mcp_json *target,
                           const mcp_json *patch, mcp_error *err)
{
    return combine(tx, out, target, patch, err, write_merged);
}

mcp_status portarium_assign(portarium_tx *tx, const mcp_json **out, const mcp_json *target,
                            const mcp_json *patch, mcp_error *err)
{
    return combine(tx, out, target, patch, err, write_assigned);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static size_t column_count(const portarium_collection *where)
{
    size_t count = 0;
    while (count < COLUMNS_MAX && where->columns[count].name)
        count++;
    return count;
}

/* The value of a column: the member of the document, or NULL where it is absent. */
static db_value column_value(const portarium_column *column, const mcp_json *json)
{
    const mcp_json *member = mcp_json_get(json, column->member);
    bool flag = false;
    int64_t number = 0;
    size_t length = 0;
    if (mcp_json_bool(member, &flag))
        return db_int(flag);
    if (mcp_json_int(member, &number))
        return db_int(number);
    const char *text = mcp_json_string(member, &length);
    return db_text_n(text, length);
}

static mcp_status text_of(portarium_tx *tx, const char **out, size_t *length, const mcp_json *json,
                          mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer writer;
    *out = NULL;
    *length = 0;
    if (!json)
        return MCP_OK;
    mcp_buf_init(&buf, DRAFT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_value(&writer, json);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK) {
        *out = mcp_arena_strndup(tx->arena, buf.data, buf.length);
        *length = buf.length;
        st = *out ? MCP_OK : MCP_E_NOMEM;
    }
    mcp_buf_clear(&buf);
    return st == MCP_OK
               ? st
               : mcp_error_set(err, st, "a document cannot be stored: %s", mcp_status_words(st));
}

mcp_status portarium_record_read(portarium_record *out, portarium_tx *tx, const db_rows *rows,
                                 mcp_error *err)
{
    size_t length = 0;
    *out = (portarium_record){ .id = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL)),
                               .revision = db_int_at(rows, 1),
                               .created_ms = db_int_at(rows, 2) };
    if (!out->id)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a record");
    const char *text = db_text_at(rows, 3, &length);
    mcp_status st = portarium_tx_json(tx, &out->json, text, length, err);
    if (st == MCP_OK && !db_null_at(rows, 4)) {
        text = db_text_at(rows, 4, &length);
        st = portarium_tx_json(tx, &out->hidden, text, length, err);
    }
    return st;
}

/* A change of a record that is to be written. */
typedef struct change {
    const portarium_collection *where;
    const char *workspace;
    portarium_record record; /* as it will be */
    bool is_made;            /* it is not in the database */
    int64_t stored_revision; /* its revision there; 0: its documents have not changed */
    db_value due_at;
    bool has_due;
} change;

static bool has_documents(const change *what)
{
    return what->is_made || what->stored_revision > 0;
}

/* A record that was changed and is not written yet; NULL: there is none. */
static const portarium_record *changed_of(const portarium_tx *tx, const portarium_collection *where,
                                          const char *id)
{
    const change *what = portarium_pending_find(tx, where->table, id);
    return what && has_documents(what) ? &what->record : NULL;
}

mcp_status portarium_record_get(portarium_record *out, portarium_tx *tx,
                                const portarium_collection *where, const char *id, mcp_error *err)
{
    char sql[SQL_MAX];
    db_rows *rows = NULL;
    bool found = false;
    const portarium_record *changed = changed_of(tx, where, id);
    db_value values[] = { db_text(tx->workspace), db_text(id) };
    if (changed) {
        *out = *changed;
        return MCP_OK;
    }
    snprintf(sql, sizeof sql,
             "SELECT id, revision, created_at, json, hidden FROM %s WHERE workspace = $1 AND "
             "id = $2",
             where->table);
    mcp_status st = db_query(&rows, tx->session, sql, values, 2, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found)
        st = portarium_record_read(out, tx, rows, err);
    db_rows_free(rows);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "%s %.128s not found.", where->noun, id);
    return st;
}

mcp_status portarium_record_get_kept(portarium_record *out, portarium_tx *tx,
                                     const portarium_collection *where, const char *id,
                                     mcp_error *err)
{
    portarium_tx reader = portarium_held_reader(tx);
    const portarium_record *kept = portarium_held_get(tx, where, id);
    mcp_status st = MCP_OK;
    if (!kept)
        kept = changed_of(tx, where, id); /* this command's alone, until it has ended */
    if (kept) {
        *out = *kept;
        return MCP_OK;
    }
    st = portarium_record_get(out, &reader, where, id, err);
    if (st == MCP_OK)
        portarium_held_keep(tx, &reader, where, id, out, sizeof *out);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A statement under construction: an INSERT or an UPDATE. */
typedef struct statement {
    char sql[SQL_MAX];
    size_t length;
    db_value values[7 + COLUMNS_MAX];
    size_t count;
} statement;

MCP_PRINTF(2, 3)
static void print(statement *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    self->length += (size_t)vsnprintf(self->sql + self->length, SQL_MAX - self->length, format,
                                      arguments);
    va_end(arguments);
}

/* The columns that change with a record, and their values, each behind a separator. */
static mcp_status add_columns(statement *self, portarium_tx *tx, const change *what,
                              void (*add)(statement *self, const char *column, db_value value),
                              mcp_error *err)
{
    const char *texts[2];
    size_t lengths[2];
    const portarium_collection *where = what->where;
    mcp_status st = text_of(tx, &texts[0], &lengths[0], what->record.json, err);
    if (st == MCP_OK)
        st = text_of(tx, &texts[1], &lengths[1], what->record.hidden, err);
    if (st != MCP_OK)
        return st;
    add(self, "revision", db_int(what->record.revision));
    add(self, "json", db_text_n(texts[0], lengths[0]));
    add(self, "hidden", db_text_n(texts[1], lengths[1]));
    for (size_t i = 0; i < column_count(where); i++)
        add(self, where->columns[i].name, column_value(&where->columns[i], what->record.json));
    return MCP_OK;
}

static void add_column(statement *self, const char *column, db_value value)
{
    self->values[self->count++] = value;
    print(self, ", %s", column);
}

static void add_assignment(statement *self, const char *column, db_value value)
{
    self->values[self->count++] = value;
    print(self, "%s%s = $%zu", self->count > 3 ? ", " : "", column, self->count);
}

/* INSERT a record, unless there is one with its id. */
static mcp_status write_insert(statement *self, portarium_tx *tx, const change *what,
                               mcp_error *err)
{
    *self = (statement){ .values = { db_text(what->workspace), db_text(what->record.id),
                                     db_int(what->record.created_ms) },
                         .count = 3 };
    print(self, "INSERT INTO %s (workspace, id, created_at", what->where->table);
    mcp_status st = add_columns(self, tx, what, add_column, err);
    if (what->has_due)
        add_column(self, "due_at", what->due_at);
    print(self, ") VALUES (");
    for (size_t i = 0; i < self->count; i++)
        print(self, "%s$%zu", i > 0 ? ", " : "", i + 1);
    print(self, ") ON CONFLICT (workspace, id) DO NOTHING");
    return st;
}

/* UPDATE what has changed, if the record is as it was read. */
static mcp_status write_update(statement *self, portarium_tx *tx, const change *what,
                               mcp_error *err)
{
    mcp_status st = MCP_OK;
    *self = (statement){ .values = { db_text(what->workspace), db_text(what->record.id) },
                         .count = 2 };
    print(self, "UPDATE %s SET ", what->where->table);
    if (has_documents(what))
        st = add_columns(self, tx, what, add_assignment, err);
    if (what->has_due)
        add_assignment(self, "due_at", what->due_at);
    print(self, " WHERE workspace = $1 AND id = $2");
    if (has_documents(what)) {
        self->values[self->count++] = db_int(what->stored_revision);
        print(self, " AND revision = $%zu", self->count);
    }
    return st;
}

/* Nobody waits for the answer: a made id is new, and of a record that was read the workspace is
 * locked. */
static mcp_status write_change(portarium_tx *tx, void *data, mcp_error *err)
{
    const change *what = data;
    statement out;
    mcp_status otherwise = what->is_made               ? MCP_E_EXISTS
                           : what->stored_revision > 0 ? MCP_E_BUSY
                                                       : MCP_OK;
    mcp_status st = what->is_made ? write_insert(&out, tx, what, err)
                                  : write_update(&out, tx, what, err);
    return st == MCP_OK ? db_defer(tx->session, otherwise, out.sql, out.values, out.count, err)
                        : st;
}

/* ---- new records ----------------------------------------------------------------------------- */

static change made_of(portarium_tx *tx, const portarium_collection *where, const char *id,
                      const mcp_json *json, const mcp_json *hidden)
{
    return (change){
        .where = where,
        .workspace = tx->workspace,
        .record = { .id = id,
                    .revision = 1,
                    .created_ms = tx->now_ms,
                    .json = json,
                    .hidden = hidden },
        .is_made = true,
        .due_at = db_int(tx->now_ms + (tx->settings->has_engine ? OTHERS_AFTER_MS : 0)),
        .has_due = where->begins_due,
    };
}

static mcp_status exists(const portarium_collection *where, const char *id, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_EXISTS, "%s %.128s exists already.", where->noun, id);
}

mcp_status portarium_record_insert(portarium_record *out, portarium_tx *tx,
                                   const portarium_collection *where, const char *id,
                                   const mcp_json *json, const mcp_json *hidden, mcp_error *err)
{
    statement sql;
    int64_t changed = 0;
    const change what = made_of(tx, where, id, json, hidden);
    portarium_held_drop(tx, where);
    mcp_status st = write_insert(&sql, tx, &what, err);
    if (st == MCP_OK)
        st = db_run(tx->session, &changed, sql.sql, sql.values, sql.count, err);
    if (st == MCP_OK && changed == 0)
        st = exists(where, id, err);
    if (st == MCP_OK && out)
        *out = what.record;
    return st;
}

mcp_status portarium_record_make(portarium_record *out, portarium_tx *tx,
                                 const portarium_collection *where, const char *id,
                                 const mcp_json *json, const mcp_json *hidden, mcp_error *err)
{
    change *what = mcp_arena_alloc(tx->arena, sizeof *what);
    const char *own = mcp_arena_strdup(tx->arena, id);
    portarium_held_drop(tx, where);
    if (!what || !own)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a record");
    if (portarium_pending_find(tx, where->table, id))
        return exists(where, id, err);
    *what = made_of(tx, where, own, json, hidden);
    if (out)
        *out = what->record;
    return portarium_pending_add(tx, where->table, own, write_change, what, err);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The change of a record that is not written yet, or a new one. @return NULL: no memory */
static change *change_of(portarium_tx *tx, const portarium_collection *where, const char *id,
                         bool *is_new)
{
    change *what = portarium_pending_find(tx, where->table, id);
    *is_new = !what;
    if (what)
        return what;
    what = mcp_arena_alloc(tx->arena, sizeof *what);
    if (!what)
        return NULL;
    *what = (change){ .where = where, .workspace = tx->workspace };
    what->record.id = mcp_arena_strdup(tx->arena, id);
    return what->record.id ? what : NULL;
}

static mcp_status keep(portarium_tx *tx, change *what, bool is_new, mcp_error *err)
{
    return is_new ? portarium_pending_add(tx, what->where->table, what->record.id, write_change,
                                          what, err)
                  : MCP_OK;
}

/* Store a record's documents as they are now. */
static mcp_status store(portarium_record *record, portarium_tx *tx,
                        const portarium_collection *where, mcp_error *err)
{
    bool is_new = false;
    change *what = change_of(tx, where, record->id, &is_new);
    portarium_held_drop(tx, where);
    if (!what)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change");
    if (has_documents(what) && what->record.revision != record->revision)
        return mcp_error_set(err, MCP_E_BUSY, "%s %.128s was changed since it was read.",
                             where->noun, record->id);
    if (!has_documents(what))
        what->stored_revision = record->revision;
    const char *id = what->record.id;
    record->revision++;
    what->record = *record;
    what->record.id = id;
    return keep(tx, what, is_new, err);
}

mcp_status portarium_record_due(portarium_tx *tx, const portarium_collection *where, const char *id,
                                db_value at, mcp_error *err)
{
    bool is_new = false;
    change *what = change_of(tx, where, id, &is_new);
    if (!what)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change");
    what->has_due = true;
    what->due_at = at;
    return keep(tx, what, is_new, err);
}

mcp_status portarium_record_patch(portarium_record *record, portarium_tx *tx,
                                  const portarium_collection *where, const mcp_json *patch,
                                  const mcp_json *hidden_patch, mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (patch)
        st = portarium_merge(tx, &record->json, record->json, patch, err);
    if (st == MCP_OK && hidden_patch)
        st = portarium_assign(tx, &record->hidden, record->hidden, hidden_patch, err);
    return st == MCP_OK ? store(record, tx, where, err) : st;
}

mcp_status portarium_record_replace(portarium_record *record, portarium_tx *tx,
                                    const portarium_collection *where, const mcp_json *json,
                                    mcp_error *err)
{
    record->json = json;
    return store(record, tx, where, err);
}

mcp_status portarium_record_delete(portarium_tx *tx, const portarium_collection *where,
                                   const char *id, mcp_error *err)
{
    char sql[SQL_MAX];
    int64_t changed = 0;
    db_value values[] = { db_text(tx->workspace), db_text(id) };
    portarium_held_drop(tx, where);
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE workspace = $1 AND id = $2", where->table);
    mcp_status st = db_run(tx->session, &changed, sql, values, 2, err);
    if (st == MCP_OK && changed == 0)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "%s %.128s not found.", where->noun, id);
    return st;
}
