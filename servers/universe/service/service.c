/*
 * service.c - opening and closing the service, and the changes that it takes.
 *
 * Commands and replacements go through the queue of commit.c; a replacement's snapshot is written
 * before it is queued, so a commit never waits for a large one. Creating and deleting need no
 * working state and are transactions of their own.
 */
#include "service/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/random.h"
#include "service/entries.h"
#include "service/service_int.h"

enum { STALE_TRIES = 3, FULL_LOG_MS = 60000 };

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

/* ---- opening and closing --------------------------------------------------------------------- */

/* Another process has committed: "VERSION ID", -1 for a deletion. NULL: some may have been
 * missed. */
static void on_notify(const char *payload, void *data)
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
    universe_replicate(service, end + 1, version, 0, true);
}

static mcp_status init_sync(universe_service *service, mcp_error *err)
{
    if (pthread_mutex_init(&service->lock, NULL) != 0)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the service's locks");
    thread_cond_init(&service->loaded);
    thread_cond_init(&service->watched);
    thread_cond_init(&service->work);
    thread_cond_init(&service->rest);
    return MCP_OK;
}

static mcp_status start_threads(universe_service *service, mcp_error *err)
{
    static void *(*const run[])(void *) = { universe_committer, universe_snapshotter,
                                            universe_clock_run, universe_replication_poll };
    pthread_t *const threads[] = { &service->committer, &service->snapshotter, &service->clock,
                                   &service->poller };
    int wanted = db_is_shared(service->options.db) ? 3 : 4;
    for (; service->threads < wanted; service->threads++) {
        int failed = pthread_create(threads[service->threads], NULL, run[service->threads],
                                    service);
        if (failed)
            return mcp_error_errno(err, failed, "starting the service's threads");
    }
    return MCP_OK;
}

mcp_status universe_service_open(universe_service **out, const universe_service_options *options,
                                 mcp_error *err)
{
    universe_service *service = mcp_alloc_zeroed(1, sizeof *service);
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
        st = db_listen(&service->listener, options->db, UNIVERSE_CHANNEL, on_notify, service, err);
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
        pthread_join(service->poller, NULL);
    if (service->threads > 2)
        pthread_join(service->clock, NULL);
    if (service->threads > 1)
        pthread_join(service->snapshotter, NULL);
    if (service->threads > 0)
        pthread_join(service->committer, NULL);
    universe_feed_close(service);
    universe_live_clear(service);
    pthread_cond_destroy(&service->loaded);
    pthread_cond_destroy(&service->work);
    pthread_cond_destroy(&service->rest);
    pthread_cond_destroy(&service->watched);
    pthread_mutex_destroy(&service->lock);
    free(service);
}

void universe_service_watch(universe_service *service, universe_watcher *watch, void *data)
{
    pthread_mutex_lock(&service->lock);
    service->watch = watch;
    service->watch_data = data;
    while (service->watching > 0)
        pthread_cond_wait(&service->watched, &service->lock);
    pthread_mutex_unlock(&service->lock);
}

void universe_notify_watcher(universe_service *service, const char *id, int64_t version)
{
    pthread_mutex_lock(&service->lock);
    universe_watcher *watch = service->watch;
    void *data = service->watch_data;
    service->watching += watch != NULL;
    pthread_mutex_unlock(&service->lock);
    if (!watch)
        return;
    watch(id, version, data);
    pthread_mutex_lock(&service->lock);
    if (--service->watching == 0)
        pthread_cond_broadcast(&service->watched);
    pthread_mutex_unlock(&service->lock);
}

void universe_log_failure(universe_service *service, mcp_log_level level, size_t count,
                          const char *what, const mcp_error *cause)
{
    char more[64] = "";
    int64_t now_ms = mcp_clock_mono_ms();
    pthread_mutex_lock(&service->lock);
    bool is_known = cause->status == MCP_E_STORAGE && service->is_full_logged &&
                    now_ms - service->full_logged_ms < FULL_LOG_MS;
    if (!is_known && service->full_unlogged > 0)
        snprintf(more, sizeof more, "; %zu more since the last such line", service->full_unlogged);
    service->full_unlogged = is_known ? service->full_unlogged + count : 0;
    if (!is_known && cause->status == MCP_E_STORAGE) {
        service->is_full_logged = true;
        service->full_logged_ms = now_ms;
    }
    pthread_mutex_unlock(&service->lock);
    if (!is_known)
        mcp_log_write(&service->options.log, level, "%s: %s%s", what, cause->message, more);
}

void universe_service_figures(universe_figures *out, universe_service *service)
{
    pthread_mutex_lock(&service->lock);
    *out = service->figures;
    pthread_mutex_unlock(&service->lock);
    out->viewers = (int64_t)universe_feed_viewers(service);
}

/* ---- creating and deleting ------------------------------------------------------------------- */

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

/* A state with a label is the first entry of the log. */
static mcp_status append_first(db_session *session, const universe_record *record,
                               const char *label, mcp_arena *arena, mcp_error *err)
{
    universe_entry entry = universe_entries_replacement(label, 1, record->time, record->created_ms);
    const universe_changes all = { .everything = true };
    mcp_status st = universe_touched_write(&entry.touched, &entry.touched_length, &all, arena, err);
    return st == MCP_OK ? universe_store_append(session, record->id, &entry, arena, err) : st;
}

/* The commit may have been made although its failure was reported. */
static mcp_status commit_creation(db_session *session, const char *id, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = db_commit(session, &cause);
    if (st == MCP_E_IO)
        return mcp_error_set(err, st, "%.64s may have been created, see `universe list`: %s", id,
                             cause.message);
    if (st != MCP_OK && err)
        *err = cause;
    return st;
}

static mcp_status insert(bool *taken, universe_service *service, const universe_record *record,
                         const universe_snapshot *snapshot, const char *label, mcp_arena *arena,
                         mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, service->options.db, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_insert(taken, session, record, err);
    if (st == MCP_OK && !*taken && label)
        st = append_first(session, record, label, arena, err);
    if (st == MCP_OK && !*taken && snapshot)
        st = universe_store_add_snapshot(session, record->id, snapshot, err);
    if (st == MCP_OK && !*taken)
        return commit_creation(session, record->id, err);
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

/* What is answered about a universe that is created; nothing has to be read, so nothing can fail
 * after the commit. */
static mcp_status describe(universe_version *out, universe_record *record, universe_view *start,
                           mcp_arena *arena, mcp_error *err)
{
    universe_state *empty = NULL;
    universe_summary summary;
    mcp_status st = MCP_OK;

    record->id = mcp_arena_strdup(arena, record->id);
    record->name = mcp_arena_strdup(arena, record->name);
    if (!record->id || !record->name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's record");
    if (start) {
        out->view = universe_view_keep(start);
    } else {
        st = universe_state_new(&empty, err);
        if (st == MCP_OK)
            st = universe_state_freeze(&out->view, empty, err);
        universe_state_free(empty);
    }
    if (st != MCP_OK)
        return st;
    universe_view_summary(&summary, out->view);
    record->bytes = start ? (int64_t)summary.bytes : -1;
    record->time = universe_view_time(out->view);
    record->bodies = (int64_t)summary.counts[UNIVERSE_STARS];
    out->record = *record;
    out->record.bytes = -1;
    return MCP_OK;
}

mcp_status universe_service_create(universe_version *out, bool *taken, universe_service *service,
                                   const char *id, const char *name, universe_view *start,
                                   const char *label, mcp_arena *arena, mcp_error *err)
{
    char random[37];
    bool is_taken = false;
    universe_snapshot snapshot = { .pinned = true };
    universe_record record = { .id = id, .name = name, .created_ms = mcp_clock_wall_ms() };
    universe_version created = { 0 };

    mcp_status st = may_write(service, err);
    if (start && is_empty(start) && !label)
        start = NULL;
    if (st == MCP_OK && !id)
        st = random_uuid(random, err);
    if (!id)
        record.id = random;
    if (st == MCP_OK)
        st = universe_check_id(record.id, err);
    if (st == MCP_OK)
        st = check_name(name, err);
    record.updated_ms = record.created_ms;
    record.version = label ? 1 : 0;
    if (st == MCP_OK)
        st = describe(&created, &record, start, arena, err);
    if (st == MCP_OK && start)
        st = universe_snapshot_write(&snapshot, service->options.db, start, arena, err);
    snapshot.version = record.version;
    snapshot.created_ms = record.created_ms;
    snapshot.pinned = true;
    if (st == MCP_OK)
        st = insert(&is_taken, service, &record, start ? &snapshot : NULL, label, arena, err);
    if (taken)
        *taken = is_taken;
    if (st != MCP_OK) {
        universe_snapshot_discard(service->options.db, snapshot.snapshot_id);
        universe_view_free(created.view);
        return st;
    }
    forget_older(service, &record);
    *out = created;
    return MCP_OK;
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
    universe_notify_watcher(service, id, -1);
    return MCP_OK;
}

/* ---- changing -------------------------------------------------------------------------------- */

static mcp_status commit(universe_service *service, const char *id, universe_change *change,
                         mcp_error *err)
{
    mcp_status st = MCP_OK;
    int tries = 0;
    do { /* again, where another process has deleted and created the universe */
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

mcp_status universe_service_submit(universe_result *out, universe_service *service, const char *id,
                                   const universe_command *commands, size_t count, int64_t expected,
                                   const char *actor, mcp_arena *arena, mcp_error *err)
{
    universe_change change = { .kind = UNIVERSE_CHANGE_COMMANDS,
                               .commands = commands,
                               .count = count,
                               .expected = expected,
                               .actor = actor,
                               .arena = arena,
                               .out = out };
    mcp_status st = check_count(count, err);
    return st == MCP_OK ? commit(service, id, &change, err) : st;
}

/* On the committing thread. */
static void notify_sender(void *data)
{
    universe_submission *submission = data;

    submission->status = submission->change->status;
    submission->is_stale = submission->change->is_stale;
    submission->done(submission->data);
}

static mcp_status queue(universe_submission *submission, universe_service *service,
                        universe_live *live, mcp_error *err)
{
    universe_change *change = mcp_arena_alloc(submission->arena, sizeof *change);

    if (!change)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to wait for a commit");
    *change = (universe_change){ .kind = UNIVERSE_CHANGE_COMMANDS,
                                 .live = live,
                                 .commands = submission->commands,
                                 .count = submission->count,
                                 .expected = submission->expected,
                                 .actor = submission->actor,
                                 .arena = submission->arena,
                                 .out = &submission->result,
                                 .err = &submission->err,
                                 .done = notify_sender,
                                 .done_data = submission };
    submission->result = (universe_result){ 0 };
    submission->err = (mcp_error)MCP_ERROR_INIT;
    submission->service = service;
    submission->change = change;
    return universe_queue(service, change, err);
}

mcp_status universe_service_submit_begin(universe_submission *submission, universe_service *service,
                                         bool may_wait, mcp_error *err)
{
    universe_live *live = NULL;
    mcp_status st = check_count(submission->count, err);

    if (st == MCP_OK)
        st = may_wait ? universe_live_hold(&live, service, submission->id, err)
                      : universe_live_hold_loaded(&live, service, submission->id, err);
    if (st != MCP_OK)
        return st;
    st = queue(submission, service, live, err);
    if (st != MCP_OK)
        universe_live_release(service, live);
    return st;
}

mcp_status universe_service_submit_end(universe_result *out, universe_submission *submission,
                                       mcp_error *err)
{
    universe_change *change = submission->change;
    mcp_status st = change->status;

    universe_live_release(submission->service, change->live);
    if (change->is_stale)
        st = commit(submission->service, submission->id, change, &submission->err);
    *out = submission->result;
    if (st != MCP_OK && err)
        *err = submission->err;
    return st;
}

mcp_status universe_service_replace(universe_result *out, universe_service *service, const char *id,
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
