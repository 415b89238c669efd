/* store.h - the SQL of universes: their rows, their log, their snapshots. sql/001-universes.sql has
 * the tables. Every function works inside the transaction that it is given. */
#ifndef UNIVERSE_STORE_H
#define UNIVERSE_STORE_H

#include "db/db.h"
#include "service/storage/record.h"
#include "service/storage/touched.h"

/** What kind of entry of the log. Stored: never renumber. */
typedef enum universe_entry_kind {
    UNIVERSE_ENTRY_COMMAND = 1,  /* `command` is one command */
    UNIVERSE_ENTRY_TICKS = 2,    /* `command` is an array of ticks, one a version; see entries.h */
    UNIVERSE_ENTRY_REPLACED = 3, /* the snapshot of this version is the state; `command` says how */
    UNIVERSE_ENTRY_RENAMED = 4   /* the state is as before */
} universe_entry_kind;

/** One entry of the log. */
typedef struct universe_entry {
    int64_t first_version, version;
    universe_entry_kind kind;
    int64_t rules; /* universe_store_rules */
    const char *command;
    size_t command_length;
    const char *events; /* JSON array; of TICKS: the time after each */
    size_t events_length;
    const char *touched; /* see touched.h; NULL: nothing but time */
    size_t touched_length;
    double time; /* after it */
    double dt;   /* of one tick, see entries.h; not stored */
    const char *actor;
    int64_t applied_ms;
} universe_entry;

/** The rules as a number of the log, and back. */
int64_t universe_store_rules(const universe_rules *rules);
universe_rules universe_store_rules_of(int64_t number);

/* ---- universes ------------------------------------------------------------------------------- */

/** The record of a universe that is not deleted. `lock`: no other transaction changes it before
 *  ours has ended. */
mcp_status universe_store_find(universe_record *out, bool *found, db_session *session,
                               const char *id, bool lock, mcp_arena *arena, mcp_error *err);

/** Records, newest first, after (created_ms, id) of the page before; `after_id` NULL: the first
 *  page. */
mcp_status universe_store_list(universe_record **out, size_t *count, db_session *session,
                               int64_t after_ms, const char *after_id, size_t limit,
                               mcp_arena *arena, mcp_error *err);

/** Insert a record; what a deleted universe of that id left goes first. *taken: it exists. */
mcp_status universe_store_insert(bool *taken, db_session *session, const universe_record *record,
                                 mcp_error *err);

/** Write name, version, time, bodies, bytes and updated_ms. */
mcp_status universe_store_update(db_session *session, const universe_record *record,
                                 mcp_error *err);

/** Mark it deleted. */
mcp_status universe_store_delete(bool *found, db_session *session, const char *id, int64_t now_ms,
                                 mcp_error *err);

/** Records that were updated since, by (updated_ms, id) after `after_id`; at most UNIVERSE_LIST_MAX
 *  at once. Those of deleted universes have version -1. */
mcp_status universe_store_versions(universe_record **out, size_t *count, db_session *session,
                                   int64_t since_ms, const char *after_id, mcp_arena *arena,
                                   mcp_error *err);

/* ---- the log --------------------------------------------------------------------------------- */

/** Append an entry. */
mcp_status universe_store_append(db_session *session, const char *id, const universe_entry *entry,
                                 mcp_arena *arena, mcp_error *err);

/** Entries of the log, in order. */
typedef struct universe_log universe_log;

/** Entries that end after `after` and begin at or before `to`. */
mcp_status universe_log_open(universe_log **out, db_session *session, const char *id, int64_t after,
                             int64_t to, mcp_error *err);

/** The next one, its strings in `arena`; *has false: that was all. */
mcp_status universe_log_next(universe_entry *out, bool *has, universe_log *log, mcp_arena *arena,
                             mcp_error *err);

/** NULL is fine. */
void universe_log_close(universe_log *log);

/** Gather what entries after `after` up to `to` touched. */
mcp_status universe_store_touched(universe_gatherer *into, db_session *session, const char *id,
                                  int64_t after, int64_t to, mcp_error *err);

/** The first version of the log; `version` + 1 where it is empty. */
mcp_status universe_store_log_begin(int64_t *out, db_session *session, const char *id,
                                    int64_t version, mcp_error *err);

/** Remove entries that end at or before `version`. */
mcp_status universe_store_trim(int64_t *removed, db_session *session, const char *id,
                               int64_t version, mcp_error *err);

/** The last version before all that is younger than `before_ms`, or beyond the newest `keep`
 *  versions; 0: none. */
mcp_status universe_store_trimmable(int64_t *version, db_session *session, const char *id,
                                    int64_t before_ms, int64_t keep, mcp_error *err);

/** One number that a query of one row and one column gives; `fallback` where it is null or no row
 *  is there. */
mcp_status universe_store_number(int64_t *out, db_session *session, const char *sql,
                                 const db_value *values, size_t count, int64_t fallback,
                                 mcp_error *err);

/* ---- snapshots ------------------------------------------------------------------------------- */

/** A snapshot's row. */
typedef struct universe_snapshot {
    int64_t version;
    const char *snapshot_id;
    int64_t format, parts, bytes;
    const char *sha256; /* of all bytes, hexadecimal */
    bool pinned;        /* an entry of the log is this snapshot */
    int64_t created_ms;
} universe_snapshot;

/** Snapshots at or before `version`, newest first. */
mcp_status universe_store_snapshots(universe_snapshot **out, size_t *count, db_session *session,
                                    const char *id, int64_t version, mcp_arena *arena,
                                    mcp_error *err);
mcp_status universe_store_add_snapshot(db_session *session, const char *id,
                                       const universe_snapshot *snapshot, mcp_error *err);
mcp_status universe_store_add_part(db_session *session, const char *snapshot_id, int64_t part,
                                   const void *bytes, size_t length, int64_t now_ms,
                                   mcp_error *err);
/** One part: the arena's. */
mcp_status universe_store_part(const void **bytes, size_t *length, db_session *session,
                               const char *snapshot_id, int64_t part, mcp_arena *arena,
                               mcp_error *err);
/** The version of the newest snapshot; 0: there is none. */
mcp_status universe_store_newest_snapshot(int64_t *version, db_session *session, const char *id,
                                          mcp_error *err);
/** Remove the parts of a snapshot that no row names. */
mcp_status universe_store_drop_parts(db_session *session, const char *snapshot_id, mcp_error *err);
/** Its row; its parts are dropped one by one afterwards. */
mcp_status universe_store_drop_snapshot(db_session *session, const char *id, int64_t version,
                                        mcp_error *err);
mcp_status universe_store_drop_part(db_session *session, const char *snapshot_id, int64_t part,
                                    mcp_error *err);

/** Remove what nobody needs: parts without a snapshot older than `before_ms`, and everything of
 *  universes deleted before it. Bounded work: *more is set where some is left. */
mcp_status universe_store_sweep(bool *more, db_session *session, int64_t before_ms, mcp_error *err);

#endif
