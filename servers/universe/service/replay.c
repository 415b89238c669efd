/*
 * replay.c - the log replayed from as far back as it goes, passing over the snapshots that a start
 * would use: so what it makes can be held against what a start makes.
 *
 * Pinned snapshots are part of the log (a state that came from elsewhere has no commands), so the
 * newest of them is where a replay can begin at the earliest.
 */
#include "service/service_int.h"

/* ---- how far back ---------------------------------------------------------------------------- */

/* The first version from which on all can be made: where the log begins, or the first snapshot that
 * it leads on from. */
static mcp_status find_reach(int64_t *out, int64_t begin, db_session *session,
                             const universe_record *record, mcp_arena *arena, mcp_error *err)
{
    universe_snapshot *snapshots = NULL;
    size_t count = 0;
    int64_t from = begin <= 1 ? 0 : record->version;

    mcp_status st = universe_store_snapshots(&snapshots, &count, session, record->id,
                                             record->version, arena, err);
    for (size_t i = 0; st == MCP_OK && begin > 1 && i < count; i++) { /* newest first */
        if (snapshots[i].version >= begin - 1)
            from = snapshots[i].version;
    }
    if (st == MCP_OK)
        *out = from;
    return st;
}

mcp_status universe_check_reach(db_session *session, const universe_record *record, int64_t version,
                                mcp_arena *arena, mcp_error *err)
{
    universe_snapshot *snapshots = NULL;
    size_t count = 0;
    int64_t begin = 0, from = 0;

    if (version < 0 || version > record->version)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "universe %.64s has versions 0 to %lld, not %lld", record->id,
                             (long long)record->version, (long long)version);
    mcp_status st = universe_store_log_begin(&begin, session, record->id, record->version, err);
    if (st != MCP_OK || begin <= 1)
        return st;
    st = universe_store_snapshots(&snapshots, &count, session, record->id, version, arena, err);
    if (st != MCP_OK)
        return st;
    if (count > 0 && (snapshots[0].version == version || snapshots[0].version >= begin - 1))
        return MCP_OK;
    st = find_reach(&from, begin, session, record, arena, err);
    return st != MCP_OK
               ? st
               : mcp_error_set(err, MCP_E_NOT_FOUND,
                               "universe %.64s: the log was cut since version %lld; versions "
                               "%lld to %lld are there",
                               record->id, (long long)version, (long long)from,
                               (long long)record->version);
}

/* ---- replaying ------------------------------------------------------------------------------- */

enum { STEP = 500 }; /* versions between two words on how far it is */

/* Where a replay of the versions up to `to` begins. */
static mcp_status find_begin(int64_t *out, db_session *session, const char *id, int64_t to,
                             mcp_arena *arena, mcp_error *err)
{
    universe_snapshot *snapshots = NULL;
    size_t count = 0;
    int64_t log_begin = 0;

    mcp_status st = universe_store_snapshots(&snapshots, &count, session, id, to, arena, err);
    if (st == MCP_OK)
        st = universe_store_log_begin(&log_begin, session, id, to, err);
    if (st != MCP_OK)
        return st;
    *out = log_begin <= 1 ? 0 : to;
    for (size_t i = 0; i < count; i++) { /* newest first */
        if (snapshots[i].pinned) {
            *out = snapshots[i].version;
            return MCP_OK;
        }
        if (log_begin > 1 && snapshots[i].version >= log_begin - 1)
            *out = snapshots[i].version;
    }
    return MCP_OK;
}

static mcp_status replay_on(universe_state **state, const universe_replayed *what,
                            db_session *session, const char *id, const mcp_log *log,
                            universe_replaying *report, void *data, mcp_error *err)
{
    int64_t at = what->from;
    mcp_status st = universe_bring_up(state, -1, at, NULL, session, id, log, err);
    while (st == MCP_OK && at < what->to) {
        int64_t next = what->to - at > STEP ? at + STEP : what->to;
        if (report && report(at - what->from, what->to - what->from, data))
            return mcp_error_set(err, MCP_E_STOPPED, "stopped");
        st = universe_bring_up(state, at, next, NULL, session, id, log, err);
        at = next;
    }
    return st;
}

static mcp_status replay(universe_view **out, universe_replayed *what, db_session *session,
                         const char *id, int64_t to, const mcp_log *log, universe_replaying *report,
                         void *data, mcp_arena *arena, mcp_error *err)
{
    universe_record record = { 0 };
    universe_state *state = NULL;
    bool found = false;

    mcp_status st = universe_store_find(&record, &found, session, id, false, arena, err);
    if (st == MCP_OK && !found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id);
    what->to = to == UNIVERSE_ANY_VERSION ? record.version : to;
    if (st == MCP_OK)
        st = universe_check_reach(session, &record, what->to, arena, err);
    if (st == MCP_OK)
        st = find_begin(&what->from, session, id, what->to, arena, err);
    if (st == MCP_OK)
        st = replay_on(&state, what, session, id, log, report, data, err);
    if (st == MCP_OK)
        st = universe_state_freeze(out, state, err);
    universe_state_free(state);
    return st;
}

mcp_status universe_service_replay(universe_view **out, universe_replayed *what,
                                   universe_service *service, const char *id, int64_t to,
                                   universe_replaying *report, void *data, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = universe_check_id(id, err);
    if (st != MCP_OK)
        return st;
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to replay a log");
    st = db_begin(&session, service->options.db, DB_READ, err);
    if (st == MCP_OK) {
        st = replay(out, what, session, id, to, &service->options.log, report, data, arena, err);
        db_rollback(session);
    }
    mcp_arena_free(arena);
    return st;
}
