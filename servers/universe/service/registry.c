/*
 * registry.c - which universes are in memory.
 *
 * A universe is read from the database when somebody first asks for it, and stays until room is
 * needed: then the one that was used longest ago, and that nobody uses now, goes. While one thread
 * loads it the others wait for that thread. Loading happens outside the lock, so other universes
 * are not held up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "service/service_int.h"

/* Bytes of the character (RFC 3629) that begins here; 0: it is none. */
static size_t character(const unsigned char *at)
{
    static const struct {
        unsigned char first, last, low, high; /* first byte from, to; second byte from, to */
        size_t length;
    } forms[] = {
        { 0x20, 0x7e, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t n = 1;
        if (at[0] < forms[i].first || at[0] > forms[i].last)
            continue;
        if (forms[i].length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
            return 0;
        while (n < forms[i].length && (at[n] & 0xc0) == 0x80)
            n++;
        return n == forms[i].length ? n : 0;
    }
    return 0;
}

mcp_status universe_check_id(const char *id, mcp_error *err)
{
    size_t length = id ? strlen(id) : 0;
    if (length == 0 || length > UNIVERSE_KEY_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a universe's id has 1 to %d bytes, this one %zu",
                             UNIVERSE_KEY_MAX, length);
    if (strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a universe's id is not \"%s\": no URL could name it", id);
    for (size_t i = 0, n = 0; i < length; i += n) {
        n = character((const unsigned char *)id + i);
        if (n == 0)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "a universe's id is UTF-8 without control characters, but not at"
                                 " byte %zu",
                                 i);
    }
    return MCP_OK;
}

/* ---- the table: under the lock --------------------------------------------------------------- */

static void free_live(universe_live *live)
{
    universe_view_free(live->view);
    universe_state_free(live->state);
    free(live->name);
    free(live);
}

static void unlink_live(universe_service *service, universe_live *live)
{
    universe_live **at = &service->live[mcp_fnv1a(live->id) % LIVE_BUCKETS];
    while (*at && *at != live)
        at = &(*at)->next;
    if (*at)
        *at = live->next;
    if (live->view) {
        service->figures.loaded--;
        service->figures.bodies -= live->bodies;
    }
}

universe_live *universe_live_find(universe_service *service, const char *id)
{
    universe_live *live = service->live[mcp_fnv1a(id) % LIVE_BUCKETS];
    while (live && strcmp(live->id, id) != 0)
        live = live->next;
    return live;
}

void universe_live_forget(universe_service *service, universe_live *live)
{
    if (live->is_gone)
        return;
    live->is_gone = true;
    unlink_live(service, live);
    if (live->users == 0)
        free_live(live);
}

void universe_live_clear(universe_service *service)
{
    for (size_t i = 0; i < LIVE_BUCKETS; i++) {
        while (service->live[i])
            universe_live_forget(service, service->live[i]);
    }
}

static void release(universe_live *live)
{
    live->users--;
    live->used_ms = mcp_clock_mono_ms();
    if (live->users == 0 && live->is_gone)
        free_live(live);
}

bool universe_live_is_deleted(universe_service *service, const universe_live *live)
{
    pthread_mutex_lock(&service->lock);
    bool is_deleted = live->is_deleted;
    pthread_mutex_unlock(&service->lock);
    return is_deleted;
}

void universe_live_release(universe_service *service, universe_live *live)
{
    pthread_mutex_lock(&service->lock);
    release(live);
    pthread_mutex_unlock(&service->lock);
}

/* The universe that can go first; of those with bodies, where it is room for bodies that lacks. */
static universe_live *oldest_idle(universe_service *service, bool has_bodies)
{
    universe_live *oldest = NULL;
    for (size_t i = 0; i < LIVE_BUCKETS; i++) {
        for (universe_live *live = service->live[i]; live; live = live->next) {
            bool can_go = live->users == 0 && !live->clock.running &&
                          (live->bodies > 0 || !has_bodies);
            if (can_go && (!oldest || live->used_ms < oldest->used_ms))
                oldest = live;
        }
    }
    return oldest;
}

static mcp_status make_room(universe_service *service, int64_t bodies, const char *id,
                            mcp_error *err)
{
    if (service->figures.loaded >= service->options.loaded_max) {
        universe_live *first = oldest_idle(service, false);
        if (first)
            universe_live_forget(service, first);
    }
    while (service->figures.bodies + bodies > service->options.bodies_max) {
        universe_live *oldest = oldest_idle(service, true);
        if (!oldest)
            return mcp_error_set(err, MCP_E_LIMIT,
                                 "universe %.64s has %lld bodies: with those in use they would be "
                                 "more than %lld; raise --bodies-max",
                                 id, (long long)bodies, (long long)service->options.bodies_max);
        universe_live_forget(service, oldest);
    }
    return MCP_OK;
}

mcp_status universe_live_current(universe_version *out, universe_live *live, mcp_arena *arena,
                                 mcp_error *err)
{
    char *id = mcp_arena_strdup(arena, live->id);
    char *name = mcp_arena_strdup(arena, live->name);
    if (!id || !name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's record");
    out->record = (universe_record){ .id = id,
                                     .name = name,
                                     .version = live->version,
                                     .time = live->time,
                                     .bodies = live->bodies,
                                     .created_ms = live->created_ms,
                                     .updated_ms = live->updated_ms,
                                     .bytes = -1 };
    out->view = universe_view_keep(live->view);
    return MCP_OK;
}

/* ---- loading --------------------------------------------------------------------------------- */

static mcp_status read_state(universe_live *live, const universe_record *record,
                             db_session *session, const mcp_log *log, mcp_error *err)
{
    int64_t snapshot = 0;
    mcp_status st = universe_bring_up(&live->state, -1, record->version, NULL, session, live->id,
                                      log, err);
    if (st == MCP_OK)
        st = universe_state_freeze(&live->view, live->state, err);
    if (st != MCP_OK)
        return st;
    live->name = mcp_alloc_strdup(record->name);
    if (!live->name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's name");
    live->version = live->state_version = record->version;
    live->time = universe_view_time(live->view);
    live->created_ms = record->created_ms;
    live->updated_ms = record->updated_ms;
    live->snapshot_ms = mcp_clock_wall_ms();
    st = universe_store_newest_snapshot(&snapshot, session, live->id, err);
    live->log_entries = record->version - snapshot;
    return st;
}

static mcp_status not_found(const char *id, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id);
}

static mcp_status read_live(universe_service *service, universe_live *live, mcp_arena *arena,
                            mcp_error *err)
{
    db_session *session = NULL;
    universe_record record = { 0 };
    bool found = false;

    mcp_status st = db_begin(&session, service->options.db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_find(&record, &found, session, live->id, false, arena, err);
    if (st == MCP_OK && !found)
        st = not_found(live->id, err);
    if (st == MCP_OK) {
        pthread_mutex_lock(&service->lock);
        st = make_room(service, record.bodies, live->id, err);
        if (st == MCP_OK) { /* taken at once, or two loads would share the room */
            live->bodies = record.bodies;
            service->figures.bodies += live->bodies;
        }
        pthread_mutex_unlock(&service->lock);
    }
    if (st == MCP_OK)
        st = read_state(live, &record, session, &service->options.log, err);
    db_rollback(session);
    return st;
}

/* Reads a universe that has just been put into the table by this thread. */
static mcp_status load(universe_service *service, universe_live *live, mcp_error *err)
{
    mcp_error failure = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? read_live(service, live, arena, &failure)
                          : mcp_error_set(&failure, MCP_E_NOMEM, "no memory to load a universe");
    mcp_arena_free(arena);

    pthread_mutex_lock(&service->lock);
    bool is_behind = live->is_behind && st == MCP_OK;
    live->is_loading = false;
    service->figures.bodies -= live->bodies;
    if (st == MCP_OK) {
        service->figures.loaded++;
        live->bodies = (int64_t)universe_view_count(live->view, UNIVERSE_STARS);
        service->figures.bodies += live->bodies;
    } else {
        universe_view_free(live->view);
        live->view = NULL;
        live->failure = failure;
        universe_live_forget(service, live);
        release(live); /* in use, so not freed yet. NOLINT(clang-analyzer-unix.Malloc) */
    }
    pthread_cond_broadcast(&service->loaded);
    pthread_mutex_unlock(&service->lock);
    if (is_behind)
        universe_catch_up(service, live);
    if (st != MCP_OK && err)
        *err = failure;
    return st;
}

static universe_live *insert(universe_service *service, const char *id)
{
    universe_live *live = mcp_alloc_zeroed(1, sizeof *live);
    if (!live)
        return NULL;
    memcpy(live->id, id, strlen(id));
    live->users = 1;
    live->is_loading = true;
    universe_live **bucket = &service->live[mcp_fnv1a(id) % LIVE_BUCKETS];
    live->next = *bucket;
    *bucket = live;
    return live;
}

/* Another thread could not load it, or it was deleted meanwhile. */
static mcp_status why_gone(const universe_live *live, mcp_error *err)
{
    if (live->failure.status == MCP_OK)
        return not_found(live->id, err);
    if (err)
        *err = live->failure;
    return live->failure.status;
}

/* Waits until another thread has loaded it; gives it back where that failed. */
static mcp_status await(universe_service *service, universe_live *live, mcp_error *err)
{
    mcp_status st = MCP_OK;
    live->users++;
    while (live->is_loading && st == MCP_OK) {
        if (!thread_wait(&service->loaded, &service->lock, LOAD_WAIT_MS))
            st = mcp_error_set(err, MCP_E_TIMEOUT,
                               "universe %.64s is still being loaded; try later", live->id);
    }
    if (st == MCP_OK && live->is_gone)
        st = why_gone(live, err);
    if (st != MCP_OK)
        release(live);
    return st;
}

mcp_status universe_live_hold_loaded(universe_live **out, universe_service *service, const char *id,
                                     mcp_error *err)
{
    if (universe_check_id(id, NULL) != MCP_OK)
        return not_found(id ? id : "", err);
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    if (live && live->is_loading)
        live = NULL;
    if (live)
        live->users++;
    pthread_mutex_unlock(&service->lock);
    if (!live)
        return mcp_error_set(err, MCP_E_DEFERRED, "universe %.64s is not in memory", id);
    *out = live;
    return MCP_OK;
}

mcp_status universe_live_hold(universe_live **out, universe_service *service, const char *id,
                              mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (universe_check_id(id, NULL) != MCP_OK)
        return not_found(id ? id : "", err);

    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    bool is_mine = !live;
    if (is_mine)
        live = insert(service, id);
    if (!live)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory to load a universe");
    else if (!is_mine)
        st = await(service, live, err);
    pthread_mutex_unlock(&service->lock);

    if (st == MCP_OK && is_mine)
        st = load(service, live, err);
    if (st == MCP_OK)
        *out = live;
    return st;
}
