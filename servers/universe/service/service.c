/*
 * service.c - opening and closing the service, and the changes that it takes.
 *
 * Orders and replacements go through the queue of commit.c; a replacement's snapshot is written before it
 * is queued, so a commit never waits for a large one. Creating and deleting need no working state and are
 * transactions of their own.
 */
#include "service/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/random.h"
#include "service/service_int.h"

enum { STALE_TRIES = 3 };

static void or_default(int64_t *option, int64_t value)
{
    if (*option <= 0)
        *option = value;
}

static void fill_in(universe_service_options *options)
{
    or_default(&options->bodies_max, 4000000);
    or_default(&options->loaded_max, 10000);
    or_default(&options->snapshot_entries, 10000);
    or_default(&options->snapshot_age_ms, 10 * 60 * 1000);
    or_default(&options->log_entries_max, 1000000);
    or_default(&options->log_age_ms, (int64_t)7 * 24 * 3600 * 1000);
}

/* ---- opening and closing ---------------------------------------------------------------------- */

/* Another process has committed: "VERSION ID", -1 for a deletion. NULL: some may have been missed. */
static void heard(const char *payload, void *data)
{
    universe_service *service = data;
    char *end = NULL;

    if (!payload) {
        universe_catch_up_all(service);
        return;
    }
    errno = 0;
    long long version = strtoll(payload, &end, 10);
    if (errno != 0 || end == payload || *end != ' ')
        return;
    universe_heard(service, end + 1, version, 0, true);
}

static mcp_status init_sync(universe_service *service, mcp_error *err)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool failed = pthread_mutex_init(&service->lock, NULL) != 0 ||
                  pthread_mutex_init(&service->watch_lock, NULL) != 0 ||
                  pthread_cond_init(&service->loaded, &attributes) != 0 ||
                  pthread_cond_init(&service->work, &attributes) != 0 ||
                  pthread_cond_init(&service->rest, &attributes) != 0;
    pthread_condattr_destroy(&attributes);
    return failed ? mcp_error_set(err, MCP_E_NOMEM, "no memory for the service's locks") : MCP_OK;
}

static mcp_status start_threads(universe_service *service, mcp_error *err)
{
    static void *(*const run[])(void *) = { universe_committer, universe_keeper, universe_clock_run,
                                            universe_looker };
    pthread_t *const threads[] = { &service->committer, &service->keeper, &service->clock,
                                   &service->looker };
    int wanted = db_is_shared(service->options.db) ? 3 : 4;
    for (; service->threads < wanted; service->threads++) {
        int failed = pthread_create(threads[service->threads], NULL, run[service->threads], service);
        if (failed)
            return mcp_error_errno(err, failed, "starting the service's threads");
    }
    return MCP_OK;
}

mcp_status universe_service_open(universe_service **out, const universe_service_options *options,
                                 mcp_error *err)
{
    universe_service *service = calloc(1, sizeof *service);
    if (!service)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the service");
    service->options = *options;
    service->end = &service->first;
    service->figures.database_ok = true;
    fill_in(&service->options);

    mcp_status st = init_sync(service, err);
    if (st != MCP_OK) {
        free(service);
        return st;
    }
    st = db_migrate(options->db, options->files, "sql", err);
    if (st == MCP_OK)
        st = universe_feed_open(service, err);
    if (st == MCP_OK)
        st = db_listen(&service->listener, options->db, UNIVERSE_CHANNEL, heard, service, err);
    if (st == MCP_OK)
        st = start_threads(service, err);
    if (st != MCP_OK) {
        universe_service_close(service);
        return st;
    }
    *out = service;
    return MCP_OK;
}

void universe_service_close(universe_service *service)
{
    if (!service)
        return;
    db_listener_free(service->listener);
    pthread_mutex_lock(&service->lock);
    service->closing = true;
    pthread_cond_broadcast(&service->work);
    pthread_cond_broadcast(&service->rest);
    pthread_mutex_unlock(&service->lock);
    if (service->threads > 3)
        pthread_join(service->looker, NULL);
    if (service->threads > 2)
        pthread_join(service->clock, NULL);
    if (service->threads > 1)
        pthread_join(service->keeper, NULL);
    if (service->threads > 0)
        pthread_join(service->committer, NULL);
    universe_feed_close(service);
    universe_live_clear(service);
    pthread_cond_destroy(&service->loaded);
    pthread_cond_destroy(&service->work);
    pthread_cond_destroy(&service->rest);
    pthread_mutex_destroy(&service->watch_lock);
    pthread_mutex_destroy(&service->lock);
    free(service);
}

void universe_service_watch(universe_service *service, universe_watcher *watch, void *data)
{
    pthread_mutex_lock(&service->watch_lock);
    service->watch = watch;
    service->watch_data = data;
    pthread_mutex_unlock(&service->watch_lock);
}

void universe_tell_watcher(universe_service *service, const char *id, int64_t version)
{
    pthread_mutex_lock(&service->watch_lock);
    if (service->watch)
        service->watch(id, version, service->watch_data);
    pthread_mutex_unlock(&service->watch_lock);
}

void universe_service_figures(universe_figures *out, universe_service *service)
{
    pthread_mutex_lock(&service->lock);
    *out = service->figures;
    pthread_mutex_unlock(&service->lock);
    out->viewers = (int64_t)universe_feed_viewers(service);
}

/* ---- creating and deleting -------------------------------------------------------------------- */

static mcp_status may_write(const universe_service *service, mcp_error *err)
{
    return service->options.read_only
               ? mcp_error_set(err, MCP_E_DENIED,
                               "the server is read only; start it without --read-only")
               : MCP_OK;
}

/* A random UUID (RFC 9562, version 4). */
static mcp_status random_uuid(char out[37], mcp_error *err)
{
    unsigned char bytes[16];
    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
    if (st != MCP_OK)
        return st;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        snprintf(at, 3, "%02x", bytes[i]);
        at += 2;
    }
    return MCP_OK;
}

static mcp_status check_name(const char *name, mcp_error *err)
{
    size_t length = name ? strlen(name) : 0;
    if (length >= 1 && length <= UNIVERSE_TITLE_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "a universe's name has 1 to %d bytes, this one %zu",
                         UNIVERSE_TITLE_MAX, length);
}

static mcp_status insert(bool *taken, universe_service *service, const universe_record *record,
                         const universe_snapshot *snapshot, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, service->options.db, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_insert(taken, session, record, err);
    if (st == MCP_OK && !*taken && snapshot)
        st = universe_store_add_snapshot(session, record->id, snapshot, err);
    if (st == MCP_OK && !*taken)
        return db_commit(session, err);
    db_rollback(session);
    return st == MCP_OK ? mcp_error_set(err, MCP_E_PARAMS, "the id %.128s is taken", record->id)
                        : st;
}

/* An empty state needs no snapshot. */
static bool is_empty(const universe_view *view)
{
    size_t entities = 0;
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        entities += universe_view_count(view, (universe_map)map);
    return entities == 0 && universe_view_time(view) == 0;
}

/* One of this id that was deleted, and is still in memory. */
static void forget_older(universe_service *service, const universe_record *record)
{
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, record->id);
    if (live && live->is_loading) {
        live->is_behind = true;
    } else if (live && live->created_ms != record->created_ms) {
        live->is_deleted = true;
        universe_live_forget(service, live);
    }
    pthread_mutex_unlock(&service->lock);
}

mcp_status universe_service_create(universe_moment *out, bool *taken, universe_service *service,
                                   const char *id, const char *name, universe_view *start,
                                   mcp_arena *arena, mcp_error *err)
{
    char random[37];
    bool is_taken = false;
    universe_snapshot snapshot = { .pinned = true };
    universe_record record = { .id = id, .name = name, .created_ms = mcp_clock_wall_ms() };
    universe_summary summary;

    mcp_status st = may_write(service, err);
    if (start && is_empty(start))
        start = NULL;
    if (st == MCP_OK && !id)
        st = random_uuid(random, err);
    if (!id)
        record.id = random;
    if (st == MCP_OK)
        st = universe_check_id(record.id, err);
    if (st == MCP_OK)
        st = check_name(name, err);
    if (st == MCP_OK && start)
        st = universe_snapshot_write(&snapshot, service->options.db, start, arena, err);
    if (st != MCP_OK)
        return st;
    record.updated_ms = snapshot.created_ms = record.created_ms;
    snapshot.pinned = true;
    record.bytes = -1;
    if (start) {
        universe_view_summary(&summary, start);
        record.bytes = (int64_t)summary.bytes;
        record.time = universe_view_time(start);
        record.bodies = (int64_t)universe_view_count(start, UNIVERSE_STARS);
    }
    st = insert(&is_taken, service, &record, start ? &snapshot : NULL, err);
    if (taken)
        *taken = is_taken;
    if (st != MCP_OK) {
        universe_snapshot_discard(service->options.db, snapshot.snapshot_id);
        return st;
    }
    forget_older(service, &record);
    return universe_service_look(out, service, record.id, arena, err);
}

static mcp_status mark_deleted(bool *done, universe_record *record, universe_service *service,
                               const char *id, int64_t expected, mcp_arena *arena, mcp_error *err)
{
    char payload[UNIVERSE_KEY_MAX + 32];
    db_session *session = NULL;
    bool found = false;

    mcp_status st = db_begin(&session, service->options.db, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    snprintf(payload, sizeof payload, "-1 %s", id);
    st = universe_store_find(record, &found, session, id, true, arena, err);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id);
    *done = st == MCP_OK && (expected == UNIVERSE_ANY_VERSION || expected == record->version);
    if (!*done) {
        db_rollback(session);
        return st;
    }
    st = universe_store_delete(&found, session, id, mcp_clock_wall_ms(), err);
    if (st == MCP_OK)
        st = db_notify(session, UNIVERSE_CHANNEL, payload, err);
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}

mcp_status universe_service_delete(int64_t *version, universe_service *service, const char *id,
                                   int64_t expected, mcp_error *err)
{
    universe_record record = { 0 };
    bool is_done = false;
    mcp_status st = may_write(service, err);
    if (st == MCP_OK && universe_check_id(id, NULL) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id ? id : "");
    mcp_arena *arena = st == MCP_OK ? mcp_arena_new(0) : NULL;
    if (st == MCP_OK && !arena)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory to delete a universe");
    if (st == MCP_OK)
        st = mark_deleted(&is_done, &record, service, id, expected, arena, err);
    mcp_arena_free(arena);
    if (st == MCP_OK)
        *version = record.version;
    if (st != MCP_OK || !is_done)
        return st;
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    if (live && live->is_loading) {
        live->is_behind = true; /* what is being read may be the one that has gone */
    } else if (live) {
        live->is_deleted = true;
        universe_live_forget(service, live);
    }
    pthread_mutex_unlock(&service->lock);
    universe_feed_deleted(service, id);
    universe_tell_watcher(service, id, -1);
    return MCP_OK;
}

/* ---- changing --------------------------------------------------------------------------------- */

static mcp_status commit(universe_service *service, const char *id, universe_change *change,
                         mcp_error *err)
{
    mcp_status st = MCP_OK;
    int tries = 0;
    do { /* again, where another process has made the universe anew */
        st = universe_live_hold(&change->live, service, id, err);
        if (st != MCP_OK)
            return st;
        change->is_stale = false;
        st = universe_commit(service, change, err);
        universe_live_release(service, change->live);
    } while (change->is_stale && ++tries < STALE_TRIES);
    return st;
}

static mcp_status check_count(size_t count, mcp_error *err)
{
    if (count >= 1 && count <= UNIVERSE_BATCH_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "1 to %d commands at once, not %zu", UNIVERSE_BATCH_MAX,
                         count);
}

mcp_status universe_service_send(universe_sent *out, universe_service *service, const char *id,
                                 const universe_order *orders, size_t count, int64_t expected,
                                 const char *actor, mcp_arena *arena, mcp_error *err)
{
    universe_change change = { .kind = UNIVERSE_CHANGE_ORDERS,
                               .orders = orders,
                               .count = count,
                               .expected = expected,
                               .actor = actor,
                               .arena = arena,
                               .out = out };
    mcp_status st = check_count(count, err);
    return st == MCP_OK ? commit(service, id, &change, err) : st;
}

/* On the committing thread. */
static void tell_sender(void *data)
{
    universe_sending *sending = data;

    sending->status = sending->change->status;
    sending->is_stale = sending->change->is_stale;
    sending->told(sending->data);
}

static mcp_status queue(universe_sending *sending, universe_service *service, universe_live *live,
                        mcp_error *err)
{
    universe_change *change = mcp_arena_alloc(sending->arena, sizeof *change);

    if (!change)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to wait for a commit");
    *change = (universe_change){ .kind = UNIVERSE_CHANGE_ORDERS,
                                 .live = live,
                                 .orders = sending->orders,
                                 .count = sending->count,
                                 .expected = sending->expected,
                                 .actor = sending->actor,
                                 .arena = sending->arena,
                                 .out = &sending->sent,
                                 .err = &sending->err,
                                 .tell = tell_sender,
                                 .tell_data = sending };
    sending->sent = (universe_sent){ 0 };
    sending->err = (mcp_error)MCP_ERROR_INIT;
    sending->service = service;
    sending->change = change;
    return universe_queue(service, change, err);
}

mcp_status universe_service_begin_send(universe_sending *sending, universe_service *service,
                                       bool may_wait, mcp_error *err)
{
    universe_live *live = NULL;
    mcp_status st = check_count(sending->count, err);

    if (st == MCP_OK)
        st = may_wait ? universe_live_hold(&live, service, sending->id, err)
                      : universe_live_hold_loaded(&live, service, sending->id, err);
    if (st != MCP_OK)
        return st;
    st = queue(sending, service, live, err);
    if (st != MCP_OK)
        universe_live_release(service, live);
    return st;
}

mcp_status universe_service_end_send(universe_sent *out, universe_sending *sending, mcp_error *err)
{
    universe_change *change = sending->change;
    mcp_status st = change->status;

    universe_live_release(sending->service, change->live);
    if (change->is_stale)
        st = commit(sending->service, sending->id, change, &sending->err);
    *out = sending->sent;
    if (st != MCP_OK && err)
        *err = sending->err;
    return st;
}

mcp_status universe_service_replace(universe_sent *out, universe_service *service, const char *id,
                                    const universe_replacement *by, int64_t expected,
                                    const char *actor, mcp_arena *arena, mcp_error *err)
{
    universe_snapshot snapshot = { 0 };
    universe_change change = { .kind = UNIVERSE_CHANGE_REPLACE,
                               .by = by,
                               .snapshot = by->view ? &snapshot : NULL,
                               .expected = expected,
                               .actor = actor,
                               .arena = arena,
                               .out = out };
    mcp_status st = may_write(service, err);
    if (st == MCP_OK && by->name)
        st = check_name(by->name, err);
    if (st == MCP_OK && by->view)
        st = universe_snapshot_write(&snapshot, service->options.db, by->view, arena, err);
    if (st != MCP_OK)
        return st;
    st = commit(service, id, &change, err);
    if (st != MCP_OK || out->answer != UNIVERSE_DONE)
        universe_snapshot_discard(service->options.db, snapshot.snapshot_id);
    return st;
}
