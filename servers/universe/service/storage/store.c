/*
 * store.c - the SQL of universes and their log; snapshot_store.c has that of snapshots.
 *
 * One SQL text serves SQLite and PostgreSQL (db.h says how). A universe's row is locked by the
 * process that commits to it, so versions rise one by one however many processes write. Entries'
 * texts are packed where they are long.
 */
#include "service/storage/store.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "service/storage/pack.h"

enum { ENTRY_MAX_BYTES = 256 << 20 };

struct universe_log {
    db_rows *rows;
};

/* ---- rules ----------------------------------------------------------------------------------- */

/* Stored: never renumber. */
enum { LENIENT = 1, REFUSE_NEGATIVE_DT = 2, NO_NESTED_NULL = 4 };

int64_t universe_store_rules(const universe_rules *rules)
{
    return (rules->lenient ? LENIENT : 0) | (rules->refuse_negative_dt ? REFUSE_NEGATIVE_DT : 0) |
           (rules->keep_nested_null ? 0 : NO_NESTED_NULL);
}

universe_rules universe_store_rules_of(int64_t number)
{
    universe_rules rules = { 0 };
    rules.lenient = (number & LENIENT) != 0;
    rules.keep_nested_null = (number & NO_NESTED_NULL) == 0;
    rules.refuse_negative_dt = (number & REFUSE_NEGATIVE_DT) != 0;
    return rules;
}

/* ---- universes ------------------------------------------------------------------------------- */

#define RECORD "id, name, version, time, bodies, created_at, updated_at, bytes"

static mcp_status read_record(universe_record *out, const db_rows *rows, mcp_arena *arena,
                              mcp_error *err)
{
    size_t id_length = 0, name_length = 0;
    const char *id = db_text_at(rows, 0, &id_length);
    const char *name = db_text_at(rows, 1, &name_length);
    char *own_id = mcp_arena_strndup(arena, id ? id : "", id_length);
    char *own_name = mcp_arena_strndup(arena, name ? name : "", name_length);
    if (!own_id || !own_name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's record");
    *out = (universe_record){ .id = own_id,
                              .name = own_name,
                              .version = db_int_at(rows, 2),
                              .time = db_double_at(rows, 3),
                              .bodies = db_int_at(rows, 4),
                              .created_ms = db_int_at(rows, 5),
                              .updated_ms = db_int_at(rows, 6),
                              .bytes = db_int_at(rows, 7) };
    return MCP_OK;
}

mcp_status universe_store_find(universe_record *out, bool *found, db_session *session,
                               const char *id, bool lock, mcp_arena *arena, mcp_error *err)
{
    const char *sql = lock ? "SELECT " RECORD
                             " FROM universes WHERE id = $1 AND deleted_at IS NULL FOR UPDATE"
                           : "SELECT " RECORD
                             " FROM universes WHERE id = $1 AND deleted_at IS NULL";
    db_value values[] = { db_text(id) };
    db_rows *rows = NULL;
    bool has = false;

    mcp_status st = db_query(&rows, session, sql, values, 1, err);
    if (st == MCP_OK)
        st = db_next(rows, &has, err);
    if (st == MCP_OK && has)
        st = read_record(out, rows, arena, err);
    if (st == MCP_OK)
        *found = has;
    db_rows_free(rows);
    return st;
}

/* All rows of a query for records; `limit` of them at most. */
static mcp_status read_records(universe_record **out, size_t *count, db_rows *rows, size_t limit,
                               mcp_arena *arena, mcp_error *err)
{
    universe_record *records = mcp_arena_array(arena, limit, sizeof *records);
    size_t n = 0;
    bool has = true;

    if (!records)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu records", limit);
    while (n < limit) {
        mcp_status st = db_next(rows, &has, err);
        if (st == MCP_OK && has)
            st = read_record(&records[n], rows, arena, err);
        if (st != MCP_OK)
            return st;
        if (!has)
            break;
        n++;
    }
    *out = records;
    *count = n;
    return MCP_OK;
}

mcp_status universe_store_list(universe_record **out, size_t *count, db_session *session,
                               int64_t after_ms, const char *after_id, size_t limit,
                               mcp_arena *arena, mcp_error *err)
{
    const char *sql = after_id ? "SELECT " RECORD
                                 " FROM universes WHERE deleted_at IS NULL AND (created_at < $1 OR"
                                 " (created_at = $1 AND id < $2))"
                                 " ORDER BY created_at DESC, id DESC LIMIT $3"
                               : "SELECT " RECORD " FROM universes WHERE deleted_at IS NULL"
                                 " ORDER BY created_at DESC, id DESC LIMIT $1";
    db_value values[] = { db_int(after_ms), db_text(after_id), db_int((int64_t)limit) };
    db_rows *rows = NULL;

    mcp_status st = db_query(&rows, session, sql, after_id ? values : values + 2, after_id ? 3 : 1,
                             err);
    if (st == MCP_OK)
        st = read_records(out, count, rows, limit, arena, err);
    db_rows_free(rows);
    return st;
}

/* Rows of a universe that was deleted and not swept away yet. */
static mcp_status forget(db_session *session, const char *id, mcp_error *err)
{
    static const char *const sql[] = {
        ("DELETE FROM universe_snapshot_parts WHERE snapshot_id IN"
         " (SELECT snapshot_id FROM universe_snapshots WHERE universe_id = $1)"),
        "DELETE FROM universe_snapshots WHERE universe_id = $1",
        "DELETE FROM universe_commands WHERE universe_id = $1",
        "DELETE FROM universes WHERE id = $1",
    };
    db_value values[] = { db_text(id) };

    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        mcp_status st = db_run(session, NULL, sql[i], values, 1, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

mcp_status universe_store_insert(bool *taken, db_session *session, const universe_record *record,
                                 mcp_error *err)
{
    db_value id[] = { db_text(record->id) };
    int64_t deleted = 0, inserted = 0;
    mcp_status st = db_run(session, &deleted,
                           "UPDATE universes SET deleted_at = deleted_at"
                           " WHERE id = $1 AND deleted_at IS NOT NULL",
                           id, 1, err);
    if (st == MCP_OK && deleted > 0)
        st = forget(session, record->id, err);
    if (st != MCP_OK)
        return st;

    db_value values[] = { db_text(record->id),        db_text(record->name),
                          db_int(record->version),    db_double(record->time),
                          db_int(record->bodies),     db_int(record->created_ms),
                          db_int(record->updated_ms), db_int(record->bytes) };
    st = db_run(session, &inserted,
                "INSERT INTO universes (" RECORD ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
                " ON CONFLICT (id) DO NOTHING",
                values, 8, err);
    if (st == MCP_OK)
        *taken = inserted == 0;
    return st;
}

mcp_status universe_store_update(db_session *session, const universe_record *record, mcp_error *err)
{
    db_value values[] = { db_text(record->name),      db_int(record->version),
                          db_double(record->time),    db_int(record->bodies),
                          db_int(record->updated_ms), db_int(record->bytes),
                          db_text(record->id) };
    return db_run(session, NULL,
                  "UPDATE universes SET name = $1, version = $2, time = $3, bodies = $4,"
                  " updated_at = $5, bytes = $6 WHERE id = $7",
                  values, 7, err);
}

mcp_status universe_store_delete(bool *found, db_session *session, const char *id, int64_t now_ms,
                                 mcp_error *err)
{
    db_value values[] = { db_int(now_ms), db_text(id) };
    int64_t changed = 0;
    mcp_status st = db_run(session, &changed,
                           "UPDATE universes SET deleted_at = $1, updated_at = $1"
                           " WHERE id = $2 AND deleted_at IS NULL",
                           values, 2, err);
    if (st == MCP_OK)
        *found = changed > 0;
    return st;
}

mcp_status universe_store_versions(universe_record **out, size_t *count, db_session *session,
                                   int64_t since_ms, const char *after_id, mcp_arena *arena,
                                   mcp_error *err)
{
    db_value values[] = { db_int(since_ms), db_text(after_id), db_int(UNIVERSE_LIST_MAX) };
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, session,
                             "SELECT id, name,"
                             " CASE WHEN deleted_at IS NULL THEN version ELSE -1 END,"
                             " time, bodies, created_at, updated_at, bytes FROM universes"
                             " WHERE updated_at > $1 OR (updated_at = $1 AND id > $2)"
                             " ORDER BY updated_at, id LIMIT $3",
                             values, 3, err);
    if (st == MCP_OK)
        st = read_records(out, count, rows, UNIVERSE_LIST_MAX, arena, err);
    db_rows_free(rows);
    return st;
}

/* ---- the log --------------------------------------------------------------------------------- */

#define ENTRY                                                                                       \
    "version, first_version, kind, rules, command, command_packed, events, events_packed, touched," \
    " touched_packed, time, actor, applied_at"

/* The text as it is stored, and whether it is packed. */
static mcp_status packed(db_value pair[2], const char *text, size_t length, mcp_arena *arena,
                         mcp_error *err)
{
    const void *bytes = NULL;
    size_t size = 0;
    bool is_packed = false;

    pair[0] = db_null();
    pair[1] = db_int(0);
    if (!text)
        return MCP_OK;
    mcp_status st = universe_pack(&bytes, &size, &is_packed, text, length, arena, err);
    if (st == MCP_OK) {
        pair[0] = db_blob(bytes, size);
        pair[1] = db_int(is_packed);
    }
    return st;
}

mcp_status universe_store_append(db_session *session, const char *id, const universe_entry *entry,
                                 mcp_arena *arena, mcp_error *err)
{
    db_value values[14] = { db_text(id), db_int(entry->version), db_int(entry->first_version),
                            db_int(entry->kind), db_int(entry->rules) };
    mcp_status st = packed(values + 5, entry->command, entry->command_length, arena, err);
    if (st == MCP_OK)
        st = packed(values + 7, entry->events, entry->events_length, arena, err);
    if (st == MCP_OK)
        st = packed(values + 9, entry->touched, entry->touched_length, arena, err);
    if (st != MCP_OK)
        return st;
    values[11] = db_double(entry->time);
    values[12] = db_text(entry->actor);
    values[13] = db_int(entry->applied_ms);
    return db_run(session, NULL,
                  "INSERT INTO universe_commands (universe_id, " ENTRY
                  ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                  values, 14, err);
}

mcp_status universe_log_open(universe_log **out, db_session *session, const char *id, int64_t after,
                             int64_t to, mcp_error *err)
{
    db_value values[] = { db_text(id), db_int(after), db_int(to) };
    universe_log *log = mcp_alloc_zeroed(1, sizeof *log);
    if (!log)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
    mcp_status st = db_query(&log->rows, session,
                             "SELECT " ENTRY " FROM universe_commands WHERE universe_id = $1"
                             " AND version > $2 AND first_version <= $3 ORDER BY version",
                             values, 3, err);
    if (st != MCP_OK) {
        free(log);
        return st;
    }
    *out = log;
    return MCP_OK;
}

static mcp_status unpacked(const char **out, size_t *length, const db_rows *rows, int column,
                           mcp_arena *arena, mcp_error *err)
{
    size_t size = 0;
    if (db_null_at(rows, column)) {
        *out = NULL;
        *length = 0;
        return MCP_OK;
    }
    const void *bytes = db_blob_at(rows, column, &size);
    return universe_unpack(out, length, db_int_at(rows, column + 1) != 0, bytes, size,
                           ENTRY_MAX_BYTES, arena, err);
}

mcp_status universe_log_next(universe_entry *out, bool *has, universe_log *log, mcp_arena *arena,
                             mcp_error *err)
{
    db_rows *rows = log->rows;
    universe_entry entry = { 0 };
    mcp_status st = db_next(rows, has, err);
    if (st != MCP_OK || !*has)
        return st;

    entry.version = db_int_at(rows, 0);
    entry.first_version = db_int_at(rows, 1);
    entry.kind = (universe_entry_kind)db_int_at(rows, 2);
    entry.rules = db_int_at(rows, 3);
    st = unpacked(&entry.command, &entry.command_length, rows, 4, arena, err);
    if (st == MCP_OK)
        st = unpacked(&entry.events, &entry.events_length, rows, 6, arena, err);
    if (st == MCP_OK)
        st = unpacked(&entry.touched, &entry.touched_length, rows, 8, arena, err);
    if (st != MCP_OK)
        return st;
    entry.time = db_double_at(rows, 10);
    if (!db_null_at(rows, 11)) {
        entry.actor = mcp_arena_strdup(arena, db_text_at(rows, 11, NULL));
        if (!entry.actor)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for an entry of the log");
    }
    entry.applied_ms = db_int_at(rows, 12);
    *out = entry;
    return MCP_OK;
}

void universe_log_close(universe_log *log)
{
    if (!log)
        return;
    db_rows_free(log->rows);
    free(log);
}

mcp_status universe_store_touched(universe_gatherer *into, db_session *session, const char *id,
                                  int64_t after, int64_t to, mcp_error *err)
{
    db_value values[] = { db_text(id), db_int(after), db_int(to) };
    db_rows *rows = NULL;
    bool has = true;

    mcp_status st = db_query(&rows, session,
                             "SELECT touched, touched_packed FROM universe_commands"
                             " WHERE universe_id = $1 AND version > $2 AND version <= $3"
                             " AND touched IS NOT NULL ORDER BY version",
                             values, 3, err);
    while (st == MCP_OK && !into->everything) {
        const char *text = NULL;
        size_t length = 0;
        st = db_next(rows, &has, err);
        if (st != MCP_OK || !has)
            break;
        mcp_arena *scratch = mcp_arena_new((size_t)1 << 30);
        st = scratch ? unpacked(&text, &length, rows, 0, scratch, err)
                     : mcp_error_set(err, MCP_E_NOMEM, "no memory to gather changed entities");
        if (st == MCP_OK)
            st = universe_gather_text(into, text, length, scratch, err);
        mcp_arena_free(scratch);
    }
    db_rows_free(rows);
    return st;
}

mcp_status universe_store_number(int64_t *out, db_session *session, const char *sql,
                                 const db_value *values, size_t count, int64_t fallback,
                                 mcp_error *err)
{
    db_rows *rows = NULL;
    bool has = false;
    mcp_status st = db_query(&rows, session, sql, values, count, err);
    if (st == MCP_OK)
        st = db_next(rows, &has, err);
    if (st == MCP_OK)
        *out = has && !db_null_at(rows, 0) ? db_int_at(rows, 0) : fallback;
    db_rows_free(rows);
    return st;
}

mcp_status universe_store_log_begin(int64_t *out, db_session *session, const char *id,
                                    int64_t version, mcp_error *err)
{
    db_value values[] = { db_text(id) };
    return universe_store_number(out, session,
                                 "SELECT first_version FROM universe_commands"
                                 " WHERE universe_id = $1 ORDER BY version LIMIT 1",
                                 values, 1, version + 1, err);
}

mcp_status universe_store_trim(int64_t *removed, db_session *session, const char *id,
                               int64_t version, mcp_error *err)
{
    db_value values[] = { db_text(id), db_int(version) };
    return db_run(session, removed,
                  "DELETE FROM universe_commands WHERE universe_id = $1 AND version <= $2", values,
                  2, err);
}

mcp_status universe_store_trimmable(int64_t *version, db_session *session, const char *id,
                                    int64_t before_ms, int64_t keep, mcp_error *err)
{
    /* From the oldest on, so it looks at what goes and not at all that stays. */
    static const char first_young[] =
        "SELECT first_version FROM universe_commands WHERE universe_id = $1 AND applied_at >= $2"
        " ORDER BY version LIMIT 1";
    static const char newest[] =
        "SELECT MAX(version) FROM universe_commands WHERE universe_id = $1";
    db_value values[] = { db_text(id), db_int(before_ms) };
    int64_t last = 0, young = 0;
    mcp_status st = universe_store_number(&last, session, newest, values, 1, 0, err);
    if (st == MCP_OK)
        st = universe_store_number(&young, session, first_young, values, 2, last + 1, err);
    if (st != MCP_OK)
        return st;
    int64_t old = young - 1, many = last > keep ? last - keep : 0;
    *version = old > many ? old : many;
    return MCP_OK;
}
