/*
 * record.c - one record: get, insert, change, delete.
 */
#include "store/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/held.h"

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

mcp_status portarium_record_get(portarium_record *out, portarium_tx *tx,
                                const portarium_collection *where, const char *id, mcp_error *err)
{
    char sql[SQL_MAX];
    db_rows *rows = NULL;
    bool found = false;
    db_value values[] = { db_text(tx->workspace), db_text(id) };
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
    if (kept) {
        *out = *kept;
        return MCP_OK;
    }
    st = portarium_record_get(out, &reader, where, id, err);
    if (st == MCP_OK)
        portarium_held_keep(tx, &reader, where, id, out, sizeof *out);
    return st;
}

/* @param is_made the id is a new one, which no record has: nobody waits for the answer */
static mcp_status insert(portarium_record *out, portarium_tx *tx, const portarium_collection *where,
                         const char *id, const mcp_json *json, const mcp_json *hidden, bool is_made,
                         mcp_error *err)
{
    char sql[SQL_MAX], places[SQL_MAX / 4] = "";
    db_value values[7 + COLUMNS_MAX];
    const char *texts[2];
    size_t lengths[2], count = 6, at = 0, place = 0;
    int64_t changed = 1;
    mcp_status st = text_of(tx, &texts[0], &lengths[0], json, err);
    portarium_held_drop(tx, where);
    if (st == MCP_OK)
        st = text_of(tx, &texts[1], &lengths[1], hidden, err);
    if (st != MCP_OK)
        return st;
    values[0] = db_text(tx->workspace);
    values[1] = db_text(id);
    values[2] = db_int(1);
    values[3] = db_int(tx->now_ms);
    values[4] = db_text_n(texts[0], lengths[0]);
    values[5] = db_text_n(texts[1], lengths[1]);
    at = (size_t)snprintf(sql, sizeof sql,
                          "INSERT INTO %s (workspace, id, revision, created_at, json, hidden",
                          where->table);
    for (size_t i = 0; i < column_count(where); i++, count++) {
        values[count] = column_value(&where->columns[i], json);
        at += (size_t)snprintf(sql + at, sizeof sql - at, ", %s", where->columns[i].name);
        place += (size_t)snprintf(places + place, sizeof places - place, ", $%zu", count + 1);
    }
    if (where->begins_due) {
        values[count] = db_int(tx->now_ms + (tx->settings->has_engine ? OTHERS_AFTER_MS : 0));
        at += (size_t)snprintf(sql + at, sizeof sql - at, ", due_at");
        snprintf(places + place, sizeof places - place, ", $%zu", ++count);
    }
    snprintf(sql + at, sizeof sql - at,
             ") VALUES ($1, $2, $3, $4, $5, $6%s) ON CONFLICT (workspace, id) DO NOTHING", places);
    st = is_made ? db_defer(tx->session, MCP_E_EXISTS, sql, values, count, err)
                 : db_run(tx->session, &changed, sql, values, count, err);
    if (st == MCP_OK && changed == 0)
        st = mcp_error_set(err, MCP_E_EXISTS, "%s %.128s exists already.", where->noun, id);
    if (st == MCP_OK && out)
        *out = (portarium_record){
            .id = id, .revision = 1, .created_ms = tx->now_ms, .json = json, .hidden = hidden
        };
    return st;
}

mcp_status portarium_record_insert(portarium_record *out, portarium_tx *tx,
                                   const portarium_collection *where, const char *id,
                                   const mcp_json *json, const mcp_json *hidden, mcp_error *err)
{
    return insert(out, tx, where, id, json, hidden, false, err);
}

mcp_status portarium_record_make(portarium_record *out, portarium_tx *tx,
                                 const portarium_collection *where, const char *id,
                                 const mcp_json *json, const mcp_json *hidden, mcp_error *err)
{
    return insert(out, tx, where, id, json, hidden, true, err);
}

/* Store a record's documents as they are now. Its workspace is locked since it was read, so nobody
 * waits for the answer. */
static mcp_status store(portarium_record *record, portarium_tx *tx,
                        const portarium_collection *where, mcp_error *err)
{
    char sql[SQL_MAX];
    db_value values[5 + COLUMNS_MAX];
    const char *texts[2];
    size_t lengths[2], count = 5, at = 0;
    mcp_status st = text_of(tx, &texts[0], &lengths[0], record->json, err);
    portarium_held_drop(tx, where);
    if (st == MCP_OK)
        st = text_of(tx, &texts[1], &lengths[1], record->hidden, err);
    if (st != MCP_OK)
        return st;
    values[0] = db_text(tx->workspace);
    values[1] = db_text(record->id);
    values[2] = db_int(record->revision);
    values[3] = db_text_n(texts[0], lengths[0]);
    values[4] = db_text_n(texts[1], lengths[1]);
    at = (size_t)snprintf(sql, sizeof sql,
                          "UPDATE %s SET revision = revision + 1, json = $4, hidden = $5",
                          where->table);
    for (size_t i = 0; i < column_count(where); i++, count++) {
        values[count] = column_value(&where->columns[i], record->json);
        at += (size_t)snprintf(sql + at, sizeof sql - at, ", %s = $%zu", where->columns[i].name,
                               count + 1);
    }
    snprintf(sql + at, sizeof sql - at, " WHERE workspace = $1 AND id = $2 AND revision = $3");
    st = db_defer(tx->session, MCP_E_BUSY, sql, values, count, err);
    if (st == MCP_OK)
        record->revision++;
    return st;
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
