/*
 * snapshotter.c - the thread that writes snapshots and trims logs, which keeps starts short and the
 * log bounded.
 *
 * Once a second it looks for universes whose log has grown enough since their newest snapshot, and
 * writes one from the published view, while commands continue. Then it drops what is no longer
 * needed: of the plain snapshots all but the newest two; of the log what is older than the limits,
 * but nothing after the older of these two; and the remains of deleted universes and unfinished
 * snapshots.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "service/service_int.h"

enum {
    ROUND_MS = 1000,
    SWEEP_ROUNDS = 30,
    UNFINISHED_MS = 24 * 3600 * 1000,
    KEPT = 2,
    TRIMMED_AT_ONCE = 2000,
    FAILED_WAIT_MS = 60000,
    LAST_MS = 3000,
    FEW = 100, /* changes that are replayed as fast as a snapshot is read */
    CHEAP_BYTES = 16 << 20
};

/* ---- when ------------------------------------------------------------------------------------ */

/* Under the lock. */
static bool is_due(const universe_service *service, const universe_live *live, int64_t now_ms)
{
    const universe_service_options *options = &service->options;
    universe_summary summary;
    if (live->is_loading || live->is_gone || live->log_entries == 0 ||
        now_ms < live->snapshot_not_before_ms)
        return false;
    universe_view_summary(&summary, live->view);
    int64_t quarter = (int64_t)(summary.bytes / 4);
    int64_t bytes = options->snapshot_bytes > 0 ? options->snapshot_bytes
                    : quarter > 4 << 20         ? quarter
                                                : 4 << 20;
    if (service->closing)
        return live->log_entries > FEW && summary.bytes <= CHEAP_BYTES;
    return live->log_bytes > bytes || live->log_entries > options->snapshot_entries ||
           (live->log_entries > FEW && now_ms - live->snapshot_ms > options->snapshot_age_ms);
}

/* One universe whose snapshot is due, held. */
static universe_live *next_due(universe_service *service)
{
    universe_live *found = NULL;
    int64_t now = mcp_clock_wall_ms();
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < LIVE_BUCKETS && !found; i++) {
        for (universe_live *live = service->live[i]; live && !found; live = live->next) {
            if (is_due(service, live, now))
                found = live;
        }
    }
    if (found)
        found->users++;
    pthread_mutex_unlock(&service->lock);
    return found;
}

/* ---- writing --------------------------------------------------------------------------------- */

static mcp_status end_writing(db_session *session, mcp_status st, mcp_error *err)
{
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}

/* Unless the universe was deleted meanwhile: the id may be another's by now. */
static mcp_status add_row(universe_service *service, const universe_record *of,
                          const universe_snapshot *snapshot, mcp_arena *arena, mcp_error *err)
{
    db_session *session = NULL;
    universe_record record = { 0 };
    bool found = false;
    mcp_status st = db_begin(&session, service->options.db, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_find(&record, &found, session, of->id, true, arena, err);
    if (st == MCP_OK && (!found || record.created_ms != of->created_ms))
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "it was deleted meanwhile");
    if (st == MCP_OK)
        st = universe_store_add_snapshot(session, of->id, snapshot, err);
    return end_writing(session, st, err);
}

/* ---- dropping -------------------------------------------------------------------------------- */

/* What is to go. */
struct trimming {
    int64_t begin, cut;           /* of the log: versions from here to here */
    universe_snapshot *snapshots; /* the newest, newest first */
    size_t count;
    universe_snapshot *before; /* pinned ones that the log will not reach back to */
    size_t before_count;
};

/* The oldest version that a start may need: of the kept plain snapshots, or a pinned one after
 * it. */
static int64_t oldest_needed(const universe_snapshot *snapshots, size_t count)
{
    size_t kept = count < KEPT ? count : KEPT;
    return kept == KEPT ? snapshots[KEPT - 1].version : 0;
}

static mcp_status plan(struct trimming *out, universe_service *service, const char *id,
                       mcp_arena *arena, mcp_error *err)
{
    const universe_service_options *options = &service->options;
    db_session *session = NULL;

    mcp_status st = db_begin(&session, options->db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_snapshots(&out->snapshots, &out->count, session, id, INT64_MAX, arena, err);
    if (st == MCP_OK)
        st = universe_store_trimmable(&out->cut, session, id,
                                      mcp_clock_wall_ms() - options->log_age_ms,
                                      options->log_entries_max, err);
    if (st == MCP_OK)
        st = universe_store_log_begin(&out->begin, session, id, out->cut, err);
    if (st == MCP_OK && out->cut > oldest_needed(out->snapshots, out->count))
        out->cut = oldest_needed(out->snapshots, out->count);
    if (st == MCP_OK)
        st = universe_store_snapshots(&out->before, &out->before_count, session, id, out->cut - 1,
                                      arena, err);
    db_rollback(session);
    for (size_t i = 0; i < out->before_count; i++) {
        if (!out->before[i].pinned) /* among the others */
            out->before[i--] = out->before[--out->before_count];
    }
    return st;
}

static mcp_status trim_log(universe_service *service, const char *id, const struct trimming *what,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int64_t from = what->begin; st == MCP_OK && from <= what->cut; from += TRIMMED_AT_ONCE) {
        int64_t to = from + TRIMMED_AT_ONCE - 1, removed = 0;
        db_session *session = NULL;
        st = db_begin(&session, service->options.db, DB_WRITE, err);
        if (st == MCP_OK)
            st = end_writing(
                session,
                universe_store_trim(&removed, session, id, to < what->cut ? to : what->cut, err),
                err);
    }
    return st;
}

/* The row first: what a crash leaves is parts without one, which are swept away. */
static mcp_status drop_snapshot(universe_service *service, const char *id,
                                const universe_snapshot *snapshot, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int64_t part = -1; st == MCP_OK && part < snapshot->parts; part++) {
        db_session *session = NULL;
        st = db_begin(&session, service->options.db, DB_WRITE, err);
        if (st != MCP_OK)
            return st;
        st = part < 0 ? universe_store_drop_snapshot(session, id, snapshot->version, err)
                      : universe_store_drop_part(session, snapshot->snapshot_id, part, err);
        st = end_writing(session, st, err);
    }
    return st;
}

/* In many small transactions: commands are committed in between. */
static mcp_status trim(universe_service *service, const char *id, mcp_arena *arena, mcp_error *err)
{
    struct trimming what = { 0 };

    mcp_status st = plan(&what, service, id, arena, err);
    if (st == MCP_OK)
        st = trim_log(service, id, &what, err);
    for (size_t i = KEPT; st == MCP_OK && i < what.count; i++) {
        if (!what.snapshots[i].pinned)
            st = drop_snapshot(service, id, &what.snapshots[i], err);
    }
    for (size_t i = 0; st == MCP_OK && i < what.before_count; i++)
        st = drop_snapshot(service, id, &what.before[i], err);
    return st;
}

static mcp_status write_snapshot(universe_service *service, universe_live *live, mcp_arena *arena,
                                 mcp_error *err)
{
    universe_version current = { 0 };
    universe_snapshot snapshot = { 0 };

    pthread_mutex_lock(&service->lock);
    mcp_status st = universe_live_current(&current, live, arena, err);
    int64_t bytes = live->log_bytes, entries = live->log_entries;
    pthread_mutex_unlock(&service->lock);
    if (st != MCP_OK)
        return st;
    st = universe_snapshot_write(&snapshot, service->options.db, current.view, arena, err);
    universe_view_free(current.view);
    snapshot.version = current.record.version;
    snapshot.created_ms = mcp_clock_wall_ms();
    if (st == MCP_OK)
        st = add_row(service, &current.record, &snapshot, arena, err);
    universe_snapshot_discard(service->options.db, st == MCP_OK ? NULL : snapshot.snapshot_id);

    pthread_mutex_lock(&service->lock);
    live->snapshot_not_before_ms = st == MCP_OK ? 0 : snapshot.created_ms + FAILED_WAIT_MS;
    if (st == MCP_OK) {
        live->snapshot_ms = snapshot.created_ms;
        live->log_bytes -= bytes;
        live->log_entries -= entries;
        service->figures.snapshots++;
        service->figures.snapshot_ms = snapshot.created_ms;
    }
    pthread_mutex_unlock(&service->lock);
    return st == MCP_OK ? trim(service, live->id, arena, err) : st;
}

static void log_failure(universe_service *service, const char *id, const mcp_error *err)
{
    char what[UNIVERSE_KEY_MAX + 32];
    snprintf(what, sizeof what, "universe %s: snapshot", id);
    universe_log_failure(service, MCP_LOG_WARNING, 1, what, err);
}

/* False: nothing was due. One that fails is tried again after a while, and holds up no other. */
static bool write_next(universe_service *service)
{
    mcp_error err = MCP_ERROR_INIT;
    universe_live *live = next_due(service);
    if (!live)
        return false;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? write_snapshot(service, live, arena, &err)
                          : mcp_error_set(&err, MCP_E_NOMEM, "no memory");
    mcp_arena_free(arena);
    if (st != MCP_OK)
        log_failure(service, live->id, &err);
    universe_live_release(service, live);
    return true;
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static void sweep(universe_service *service)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    bool more = true;
    mcp_status st = MCP_OK;

    for (int i = 0; st == MCP_OK && more && i < 50; i++) {
        st = db_begin(&session, service->options.db, DB_WRITE, &err);
        if (st != MCP_OK)
            break;
        st = universe_store_sweep(&more, session, mcp_clock_wall_ms() - UNFINISHED_MS, &err);
        if (st == MCP_OK)
            st = db_commit(session, &err);
        else
            db_rollback(session);
    }
    if (st != MCP_OK)
        universe_log_failure(service, MCP_LOG_WARNING, 1, "sweeping", &err);
}

/* What is cheap to write now makes the next start short. */
static void write_last(universe_service *service)
{
    int64_t until_ms = mcp_clock_mono_ms() + LAST_MS;
    while (!service->options.read_only && mcp_clock_mono_ms() < until_ms && write_next(service))
        ;
}

void *universe_snapshotter(void *data)
{
    universe_service *service = data;
    bool closing = false;

    for (int round = 0; !closing; round++) {
        bool can_write = !service->options.read_only;
        while (can_write && write_next(service))
            ;
        if (can_write && round % SWEEP_ROUNDS == 0)
            sweep(service);
        pthread_mutex_lock(&service->lock);
        if (!service->closing)
            thread_wait(&service->rest, &service->lock, ROUND_MS);
        closing = service->closing;
        pthread_mutex_unlock(&service->lock);
    }
    write_last(service);
    return NULL;
}
