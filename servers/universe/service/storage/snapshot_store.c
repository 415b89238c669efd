/*
 * snapshot_store.c - the SQL of snapshots, and of sweeping away what nobody needs.
 *
 * A snapshot's parts are written first, each in a transaction of its own, under a random
 * snapshot_id; the row that names them comes last. Parts without a row are what a crash left; they
 * go after a day.
 */
#include "service/storage/store.h"

enum { SNAPSHOTS_MAX = 1024, SWEEP_ROWS = 200 };

mcp_status universe_store_snapshots(universe_snapshot **out, size_t *count, db_session *session,
                                    const char *id, int64_t version, mcp_arena *arena,
                                    mcp_error *err)
{
    db_value values[] = { db_text(id), db_int(version), db_int(SNAPSHOTS_MAX) };
    universe_snapshot *found = mcp_arena_array(arena, SNAPSHOTS_MAX, sizeof *found);
    db_rows *rows = NULL;
    size_t n = 0;
    bool has = true;

    if (!found)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the list of snapshots");
    mcp_status st = db_query(&rows, session,
                             "SELECT version, snapshot_id, format, parts, bytes, sha256, pinned,"
                             " created_at FROM universe_snapshots WHERE universe_id = $1"
                             " AND version <= $2 ORDER BY version DESC LIMIT $3",
                             values, 3, err);
    while (st == MCP_OK && n < SNAPSHOTS_MAX) {
        st = db_next(rows, &has, err);
        if (st != MCP_OK || !has)
            break;
        found[n] = (universe_snapshot){
            .version = db_int_at(rows, 0),
            .snapshot_id = mcp_arena_strdup(arena, db_text_at(rows, 1, NULL)),
            .format = db_int_at(rows, 2),
            .parts = db_int_at(rows, 3),
            .bytes = db_int_at(rows, 4),
            .sha256 = mcp_arena_strdup(arena, db_text_at(rows, 5, NULL)),
            .pinned = db_int_at(rows, 6) != 0,
            .created_ms = db_int_at(rows, 7)
        };
        if (!found[n].snapshot_id || !found[n].sha256)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the list of snapshots");
        n++;
    }
    db_rows_free(rows);
    if (st == MCP_OK) {
        *out = found;
        *count = n;
    }
    return st;
}

mcp_status universe_store_add_snapshot(db_session *session, const char *id,
                                       const universe_snapshot *snapshot, mcp_error *err)
{
    db_value values[] = { db_text(id),
                          db_int(snapshot->version),
                          db_text(snapshot->snapshot_id),
                          db_int(snapshot->format),
                          db_int(snapshot->parts),
                          db_int(snapshot->bytes),
                          db_text(snapshot->sha256),
                          db_int(snapshot->pinned),
                          db_int(snapshot->created_ms) };
    return db_run(session, NULL,
                  "INSERT INTO universe_snapshots (universe_id, version, snapshot_id, format,"
                  " parts, bytes, sha256, pinned, created_at)"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
                  " ON CONFLICT (universe_id, version) DO NOTHING",
                  values, 9, err);
}

mcp_status universe_store_add_part(db_session *session, const char *snapshot_id, int64_t part,
                                   const void *bytes, size_t length, int64_t now_ms, mcp_error *err)
{
    db_value values[] = { db_text(snapshot_id), db_int(part), db_int(now_ms),
                          db_blob(bytes, length) };
    return db_run(session, NULL,
                  "INSERT INTO universe_snapshot_parts (snapshot_id, part, created_at, data)"
                  " VALUES ($1, $2, $3, $4)",
                  values, 4, err);
}

mcp_status universe_store_part(const void **bytes, size_t *length, db_session *session,
                               const char *snapshot_id, int64_t part, mcp_arena *arena,
                               mcp_error *err)
{
    db_value values[] = { db_text(snapshot_id), db_int(part) };
    db_rows *rows = NULL;
    bool has = false;
    size_t size = 0;

    mcp_status st = db_query(&rows, session,
                             "SELECT data FROM universe_snapshot_parts WHERE snapshot_id = $1"
                             " AND part = $2",
                             values, 2, err);
    if (st == MCP_OK)
        st = db_next(rows, &has, err);
    if (st == MCP_OK && !has)
        st = mcp_error_set(err, MCP_E_IO, "part %lld of snapshot %s is missing", (long long)part,
                           snapshot_id);
    if (st == MCP_OK) {
        const void *data = db_blob_at(rows, 0, &size);
        char *copy = mcp_arena_strndup(arena, data ? data : "", size);
        if (!copy)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a part of a snapshot");
        *bytes = copy;
        *length = size;
    }
    db_rows_free(rows);
    return st;
}

mcp_status universe_store_newest_snapshot(int64_t *version, db_session *session, const char *id,
                                          mcp_error *err)
{
    db_value values[] = { db_text(id) };
    return universe_store_number(
        version, session, "SELECT MAX(version) FROM universe_snapshots WHERE universe_id = $1",
        values, 1, 0, err);
}

mcp_status universe_store_drop_parts(db_session *session, const char *snapshot_id, mcp_error *err)
{
    db_value values[] = { db_text(snapshot_id) };
    return db_run(session, NULL,
                  "DELETE FROM universe_snapshot_parts WHERE snapshot_id = $1 AND NOT EXISTS"
                  " (SELECT 1 FROM universe_snapshots s WHERE s.snapshot_id = $1)",
                  values, 1, err);
}

mcp_status universe_store_drop_snapshot(db_session *session, const char *id, int64_t version,
                                        mcp_error *err)
{
    db_value values[] = { db_text(id), db_int(version) };
    return db_run(session, NULL,
                  "DELETE FROM universe_snapshots WHERE universe_id = $1 AND version = $2", values,
                  2, err);
}

mcp_status universe_store_drop_part(db_session *session, const char *snapshot_id, int64_t part,
                                    mcp_error *err)
{
    db_value values[] = { db_text(snapshot_id), db_int(part) };
    return db_run(session, NULL,
                  "DELETE FROM universe_snapshot_parts WHERE snapshot_id = $1 AND part = $2",
                  values, 2, err);
}

mcp_status universe_store_sweep(bool *more, db_session *session, int64_t before_ms, mcp_error *err)
{
    /* In this order: a universe's row goes last, when nothing else of it is left. */
    static const char *const sql[] = {
        "DELETE FROM universe_commands WHERE (universe_id, version) IN"
        " (SELECT c.universe_id, c.version FROM universe_commands c JOIN universes u"
        " ON u.id = c.universe_id WHERE u.deleted_at < $1 LIMIT $2)",
        "DELETE FROM universe_snapshots WHERE (universe_id, version) IN"
        " (SELECT s.universe_id, s.version FROM universe_snapshots s JOIN universes u"
        " ON u.id = s.universe_id WHERE u.deleted_at < $1 LIMIT $2)",
        "DELETE FROM universe_snapshot_parts WHERE (snapshot_id, part) IN"
        " (SELECT p.snapshot_id, p.part FROM universe_snapshot_parts p WHERE p.created_at < $1"
        " AND NOT EXISTS (SELECT 1 FROM universe_snapshots s WHERE s.snapshot_id = p.snapshot_id)"
        " LIMIT $2)",
        "DELETE FROM universes WHERE deleted_at < $1 AND NOT EXISTS"
        " (SELECT 1 FROM universe_commands c WHERE c.universe_id = id) AND NOT EXISTS"
        " (SELECT 1 FROM universe_snapshots s WHERE s.universe_id = id)",
    };
    db_value values[] = { db_int(before_ms), db_int(SWEEP_ROWS) };
    bool left = false;

    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        int64_t removed = 0;
        size_t count = i + 1 < sizeof sql / sizeof sql[0] ? 2 : 1;
        mcp_status st = db_run(session, &removed, sql[i], values, count, err);
        if (st != MCP_OK)
            return st;
        left = left || removed == SWEEP_ROWS;
    }
    *more = left;
    return MCP_OK;
}
