/*
 * snapshot.c - a universe's whole state into the database and back, and the log on top of it.
 *
 * A snapshot is cut into parts of PART_BYTES before compression, so that neither side ever holds it
 * whole. Its SHA-256 is that of its parts' digests. A snapshot that is damaged is passed over, with
 * a line in the log, for the one before it: the entries in between are still there.
 *
 * Entries of kind REPLACED have no command to replay: the pinned snapshot of their version is the
 * state. So bringing a state up begins at the newest pinned snapshot that lies ahead of it.
 */
#include "service/storage/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "commands/commands.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "mcp/random.h"

/* A part is one transaction, and commands wait meanwhile: so it is small. */
enum { PART_BYTES = 1 << 20, FORMAT = 1, ZSTD_LEVEL = 1 };

/* ---- writing --------------------------------------------------------------------------------- */

struct writing {
    db *db;
    char *part, *packed; /* PART_BYTES and its bound */
    size_t filled, packed_max;
    char id[MCP_RANDOM_ID_SIZE];
    int64_t parts, bytes;
    uint8_t digests[2 * MCP_SHA256_SIZE]; /* of all before, of this part */
};

static mcp_status chain(uint8_t digests[2 * MCP_SHA256_SIZE], const void *part, size_t length,
                        mcp_error *err)
{
    mcp_status st = mcp_sha256(digests + MCP_SHA256_SIZE, part, length, err);
    return st == MCP_OK ? mcp_sha256(digests, digests, 2 * MCP_SHA256_SIZE, err) : st;
}

static void hexadecimal(char out[2 * MCP_SHA256_SIZE + 1], const uint8_t *digest)
{
    for (size_t i = 0; i < MCP_SHA256_SIZE; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static mcp_status end_part(struct writing *to, mcp_error *err)
{
    db_session *session = NULL;
    if (to->filled == 0)
        return MCP_OK;
    size_t packed = ZSTD_compress(to->packed, to->packed_max, to->part, to->filled, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return mcp_error_set(err, MCP_E_INTERNAL, "compressing a snapshot: %s",
                             ZSTD_getErrorName(packed));
    mcp_status st = chain(to->digests, to->part, to->filled, err);
    if (st == MCP_OK)
        st = db_begin(&session, to->db, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_add_part(session, to->id, to->parts, to->packed, packed,
                                 mcp_clock_wall_ms(), err);
    if (st != MCP_OK) {
        db_rollback(session);
        return st;
    }
    to->parts++;
    to->bytes += (int64_t)to->filled;
    to->filled = 0;
    return db_commit(session, err);
}

static mcp_status take(const char *bytes, size_t length, void *data, mcp_error *err)
{
    struct writing *to = data;
    while (length > 0) {
        size_t room = PART_BYTES - to->filled;
        size_t n = length < room ? length : room;
        memcpy(to->part + to->filled, bytes, n);
        to->filled += n;
        bytes += n;
        length -= n;
        if (to->filled < PART_BYTES)
            continue;
        mcp_status st = end_part(to, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

static mcp_status describe(universe_snapshot *out, const struct writing *from, mcp_arena *arena,
                           mcp_error *err)
{
    char digest[2 * MCP_SHA256_SIZE + 1];
    hexadecimal(digest, from->digests);
    universe_snapshot made = { .snapshot_id = mcp_arena_strdup(arena, from->id),
                               .format = FORMAT,
                               .parts = from->parts,
                               .bytes = from->bytes,
                               .sha256 = mcp_arena_strdup(arena, digest) };
    if (!made.snapshot_id || !made.sha256)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot's row");
    *out = made;
    return MCP_OK;
}

mcp_status universe_snapshot_write(universe_snapshot *out, db *into, const universe_view *view,
                                   mcp_arena *arena, mcp_error *err)
{
    struct writing to = { .db = into, .packed_max = ZSTD_compressBound(PART_BYTES) };
    mcp_status st = mcp_random_id(to.id, err);
    if (st != MCP_OK)
        return st;
    to.part = mcp_alloc(PART_BYTES);
    to.packed = mcp_alloc(to.packed_max);
    if (!to.part || !to.packed)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory to write a snapshot");
    if (st == MCP_OK)
        st = universe_view_save(view, take, &to, err);
    if (st == MCP_OK)
        st = end_part(&to, err);
    if (st == MCP_OK)
        st = describe(out, &to, arena, err);
    if (st != MCP_OK && to.parts > 0)
        universe_snapshot_discard(into, to.id);
    free(to.part);
    free(to.packed);
    return st;
}

void universe_snapshot_discard(db *from, const char *snapshot_id)
{
    db_session *session = NULL;
    /* Where this fails too, the keeper sweeps the parts away after a day. */
    if (!snapshot_id || db_begin(&session, from, DB_WRITE, NULL) != MCP_OK)
        return;
    if (universe_store_drop_parts(session, snapshot_id, NULL) == MCP_OK)
        db_commit(session, NULL);
    else
        db_rollback(session);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One part into the loader; `arena` pays for its packed bytes alone. */
static mcp_status load_part(universe_load *into, char *room, uint8_t *digests, db_session *session,
                            const universe_snapshot *snapshot, int64_t part, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    const void *packed = NULL;
    size_t length = 0;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read a snapshot");
    mcp_status st = universe_store_part(&packed, &length, session, snapshot->snapshot_id, part,
                                        arena, err);
    if (st == MCP_OK) {
        size_t size = ZSTD_decompress(room, PART_BYTES, packed, length);
        if (ZSTD_isError(size))
            st = mcp_error_set(err, MCP_E_IO, "part %lld of a snapshot: %s", (long long)part,
                               ZSTD_getErrorName(size));
        if (st == MCP_OK)
            st = chain(digests, room, size, err);
        if (st == MCP_OK)
            st = universe_load_feed(into, room, size, err);
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status load_parts(universe_state **out, universe_load *into, db_session *session,
                             const universe_snapshot *snapshot, mcp_error *err)
{
    uint8_t digests[2 * MCP_SHA256_SIZE] = { 0 };
    char digest[2 * MCP_SHA256_SIZE + 1];
    mcp_status st = MCP_OK;

    char *room = mcp_alloc(PART_BYTES);
    if (!room)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read a snapshot");
    for (int64_t part = 0; st == MCP_OK && part < snapshot->parts; part++)
        st = load_part(into, room, digests, session, snapshot, part, err);
    free(room);
    hexadecimal(digest, digests);
    if (st == MCP_OK && strcmp(digest, snapshot->sha256) != 0)
        st = mcp_error_set(err, MCP_E_IO, "a snapshot's bytes do not fit its SHA-256");
    return st == MCP_OK ? universe_load_end(out, into, err) : st;
}

/* *state becomes what the snapshot holds. On an error it is what it was. */
static mcp_status load(universe_state **state, db_session *session,
                       const universe_snapshot *snapshot, mcp_error *err)
{
    universe_state *fresh = NULL;
    universe_load *into = NULL;

    if (snapshot->format != FORMAT)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "a snapshot has format %lld, this program knows %d",
                             (long long)snapshot->format, FORMAT);
    mcp_status st = universe_load_begin(&into, err);
    if (st == MCP_OK)
        st = load_parts(&fresh, into, session, snapshot, err);
    universe_load_free(into);
    if (st == MCP_OK) {
        universe_state_free(*state);
        *state = fresh;
    }
    return st;
}

/* ---- replaying ------------------------------------------------------------------------------- */

static mcp_status replay_one(universe_state *state, const mcp_json *command, const char *text,
                             size_t length, int64_t version, const universe_rules *rules,
                             const char *id, mcp_arena *arena, mcp_error *err)
{
    universe_outcome outcome = { 0 };
    mcp_status st = universe_apply(&outcome, state, command, text, length, rules, arena, err);
    if (st == MCP_OK && outcome.verdict != UNIVERSE_APPLIED)
        st = mcp_error_set(err, MCP_E_INTERNAL,
                           "universe %.64s: entry %lld of the log can no longer be applied (%s)",
                           id, (long long)version, outcome.reason ? outcome.reason : "no change");
    return st;
}

/* Those ticks of the entry that lie in (have, to]. */
static mcp_status replay_ticks(universe_state *state, const universe_entry *entry, int64_t have,
                               int64_t to, const char *id, mcp_arena *arena, mcp_error *err)
{
    universe_rules rules = universe_store_rules_of(entry->rules);
    const mcp_json *ticks = NULL;
    mcp_status st = mcp_json_read(&ticks, arena, entry->command, entry->command_length, err);

    if (st == MCP_OK && (int64_t)mcp_json_count(ticks) != entry->version - entry->first_version + 1)
        return mcp_error_set(err, MCP_E_IO, "universe %.64s: entry %lld of the log lacks ticks", id,
                             (long long)entry->version);
    for (int64_t version = entry->first_version; st == MCP_OK && version <= entry->version;
         version++) {
        if (version > have && version <= to)
            st = replay_one(state, mcp_json_item(ticks, (size_t)(version - entry->first_version)),
                            NULL, 0, version, &rules, id, arena, err);
    }
    return st;
}

static mcp_status replay_command(universe_state *state, const universe_entry *entry, const char *id,
                                 mcp_arena *arena, mcp_error *err)
{
    universe_rules rules = universe_store_rules_of(entry->rules);
    const mcp_json *command = NULL;
    mcp_status st = mcp_json_read(&command, arena, entry->command, entry->command_length, err);
    return st == MCP_OK ? replay_one(state, command, entry->command, entry->command_length,
                                     entry->version, &rules, id, arena, err)
                        : st;
}

/* The part of an entry that lies in (have, to]. */
static mcp_status replay(universe_state *state, const universe_entry *entry, int64_t have,
                         int64_t to, const char *id, mcp_arena *arena, mcp_error *err)
{
    if (entry->first_version > have + 1)
        return mcp_error_set(err, MCP_E_IO, "universe %.64s: the log has nothing on version %lld",
                             id, (long long)have + 1);
    switch (entry->kind) {
    case UNIVERSE_ENTRY_COMMAND:
        return replay_command(state, entry, id, arena, err);
    case UNIVERSE_ENTRY_TICKS:
        return replay_ticks(state, entry, have, to, id, arena, err);
    case UNIVERSE_ENTRY_RENAMED:
        return MCP_OK;
    case UNIVERSE_ENTRY_REPLACED:
        break;
    }
    return mcp_error_set(err, MCP_E_IO, "universe %.64s: the snapshot of version %lld is missing",
                         id, (long long)entry->version);
}

/* Entries after *have, one by one, up to `to`. */
static mcp_status replay_log(universe_state *state, int64_t *have, int64_t to, db_session *session,
                             const char *id, mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;

    mcp_status st = universe_log_open(&log, session, id, *have, to, err);
    while (st == MCP_OK && has) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        universe_entry entry = { 0 };
        if (!arena)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory to replay the log");
        if (st == MCP_OK)
            st = universe_log_next(&entry, &has, log, arena, err);
        if (st == MCP_OK && has)
            st = replay(state, &entry, *have, to, id, arena, err);
        if (st == MCP_OK && has)
            *have = entry.version < to ? entry.version : to;
        mcp_arena_free(arena);
    }
    universe_log_close(log);
    return st;
}

/* ---- both together --------------------------------------------------------------------------- */

/* The newest snapshot that must or may take the state's place; *have is its version then. */
static mcp_status start_from_snapshot(universe_state **state, int64_t *have, int64_t to,
                                      bool pinned_only, db_session *session, const char *id,
                                      const mcp_log *log, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    universe_snapshot *snapshots = NULL;
    size_t count = 0;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to find a snapshot");
    mcp_status st = universe_store_snapshots(&snapshots, &count, session, id, to, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count && snapshots[i].version > *have; i++) {
        mcp_error cause = MCP_ERROR_INIT;
        if (pinned_only && !snapshots[i].pinned)
            continue;
        st = load(state, session, &snapshots[i], &cause);
        if (st == MCP_OK) {
            *have = snapshots[i].version;
            break;
        }
        if (st != MCP_E_NOMEM && !snapshots[i].pinned) {
            mcp_log_write(log, MCP_LOG_WARNING,
                          "universe %s: snapshot of version %lld passed over: %s", id,
                          (long long)snapshots[i].version, cause.message);
            st = MCP_OK;
        } else if (err) {
            *err = cause;
        }
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status bring_up(universe_state **state, int64_t from, int64_t to, bool *jumped,
                           db_session *session, const char *id, const mcp_log *log, mcp_error *err)
{
    int64_t begin = 0;
    mcp_status st = universe_store_log_begin(&begin, session, id, to, err);
    if (st != MCP_OK)
        return st;

    bool has_gap = from < 0 || begin > from + 1;
    int64_t have = from;
    st = start_from_snapshot(state, &have, to, !has_gap, session, id, log, err);
    if (st != MCP_OK)
        return st;
    if (have < 0 && begin > 1)
        return mcp_error_set(err, MCP_E_IO,
                             "universe %.64s: the log begins at version %lld, and no snapshot"
                             " before %lld is left",
                             id, (long long)begin, (long long)to);
    if (jumped)
        *jumped = have != from;
    if (!*state)
        st = universe_state_new(state, err);
    if (have < 0)
        have = 0;
    if (st == MCP_OK)
        st = replay_log(*state, &have, to, session, id, err);
    if (st == MCP_OK && have != to)
        st = mcp_error_set(err, MCP_E_IO,
                           "universe %.64s: the log ends at version %lld, before %lld", id,
                           (long long)have, (long long)to);
    return st;
}

mcp_status universe_as_stored(mcp_status status, const char *id, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    if (status != MCP_E_PARSE && status != MCP_E_SCHEMA && status != MCP_E_PARAMS &&
        status != MCP_E_UNSUPPORTED)
        return status;
    if (err)
        cause = *err;
    return mcp_error_set(err, MCP_E_INTERNAL, "what is stored of universe %.64s is damaged: %s", id,
                         cause.message);
}

mcp_status universe_bring_up(universe_state **state, int64_t from, int64_t to, bool *jumped,
                             db_session *session, const char *id, const mcp_log *log,
                             mcp_error *err)
{
    return universe_as_stored(bring_up(state, from, to, jumped, session, id, log, err), id, err);
}
