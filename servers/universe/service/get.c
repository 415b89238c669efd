/*
 * get.c - reading universes: the present version, earlier ones, and the changes between versions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/entries.h"
#include "service/service_int.h"

mcp_status universe_service_get(universe_version *out, universe_service *service, const char *id,
                                mcp_arena *arena, mcp_error *err)
{
    universe_live *live = NULL;
    mcp_status st = universe_live_hold(&live, service, id, err);
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&service->lock);
    st = universe_live_current(out, live, arena, err);
    pthread_mutex_unlock(&service->lock);
    universe_live_release(service, live);
    return st;
}

static mcp_status not_found(const char *id, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id ? id : "");
}

mcp_status universe_service_record(universe_record *out, universe_service *service, const char *id,
                                   mcp_arena *arena, mcp_error *err)
{
    db_session *session = NULL;
    bool found = false;
    if (universe_check_id(id, NULL) != MCP_OK)
        return not_found(id, err);
    mcp_status st = db_begin(&session, service->options.db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_find(out, &found, session, id, false, arena, err);
    db_rollback(session);
    return st == MCP_OK && !found ? not_found(id, err) : st;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* A cursor is "created_ms.id" of the last record of the page before, the id in hexadecimal: it goes
 * through a header. */
static const char *cursor_of(const universe_record *last, mcp_arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * UNIVERSE_KEY_MAX + 1];
    size_t length = 0;

    for (const char *at = last->id; *at && length + 2 < sizeof hex; at++) {
        hex[length++] = digits[(unsigned char)*at >> 4];
        hex[length++] = digits[(unsigned char)*at & 15];
    }
    hex[length] = '\0';
    return mcp_arena_printf(arena, "%lld.%s", (long long)last->created_ms, hex);
}

static const char *id_of_hex(const char *hex, mcp_arena *arena)
{
    size_t length = strlen(hex) / 2;
    char *id = length <= UNIVERSE_KEY_MAX ? mcp_arena_alloc(arena, length + 1) : NULL;

    if (!id || strspn(hex, "0123456789abcdef") != 2 * length || hex[2 * length])
        return NULL;
    for (size_t i = 0; i < length; i++) {
        const char pair[] = { hex[2 * i], hex[2 * i + 1], '\0' };
        id[i] = (char)strtol(pair, NULL, 16);
    }
    id[length] = '\0';
    return universe_check_id(id, NULL) == MCP_OK ? id : NULL;
}

static mcp_status read_cursor(int64_t *after_ms, const char **after_id, const char *cursor,
                              mcp_arena *arena, mcp_error *err)
{
    char *end = NULL;
    if (!cursor)
        return MCP_OK;
    errno = 0;
    long long ms = strtoll(cursor, &end, 10);
    const char *id = errno == 0 && end != cursor && *end == '.' ? id_of_hex(end + 1, arena) : NULL;
    if (!id)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "\"%.64s\" is no cursor; take Next-Cursor of the page before", cursor);
    *after_ms = ms;
    *after_id = id;
    return MCP_OK;
}

mcp_status universe_service_list(universe_record **out, size_t *count, const char **next,
                                 universe_service *service, const char *cursor, size_t limit,
                                 mcp_arena *arena, mcp_error *err)
{
    db_session *session = NULL;
    int64_t after_ms = 0;
    const char *after_id = NULL;
    if (limit < 1 || limit > UNIVERSE_LIST_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "limit is 1 to %d, not %zu", UNIVERSE_LIST_MAX,
                             limit);
    mcp_status st = read_cursor(&after_ms, &after_id, cursor, arena, err);
    if (st == MCP_OK)
        st = db_begin(&session, service->options.db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    /* One more than requested shows whether there is a next page. */
    st = universe_store_list(out, count, session, after_ms, after_id, limit + 1, arena, err);
    db_rollback(session);
    if (st != MCP_OK)
        return st;
    *next = NULL;
    if (*count <= limit)
        return MCP_OK;
    *count = limit;
    *next = cursor_of(&(*out)[limit - 1], arena);
    return *next ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a page's cursor");
}

/* ---- as it was ------------------------------------------------------------------------------- */

static mcp_status state_at(universe_view **out, db_session *session, const char *id,
                           int64_t version, const mcp_log *log, mcp_arena *arena, mcp_error *err)
{
    universe_record record = { 0 };
    universe_state *state = NULL;
    bool found = false;

    mcp_status st = universe_store_find(&record, &found, session, id, false, arena, err);
    if (st == MCP_OK && !found)
        return not_found(id, err);
    if (st == MCP_OK)
        st = universe_check_reach(session, &record, version, arena, err);
    if (st == MCP_OK)
        st = universe_bring_up(&state, -1, version, NULL, session, id, log, err);
    if (st == MCP_OK)
        st = universe_state_freeze(out, state, err);
    universe_state_free(state);
    return st;
}

mcp_status universe_service_at(universe_view **out, universe_service *service, const char *id,
                               int64_t version, mcp_error *err)
{
    db_session *session = NULL;
    if (universe_check_id(id, NULL) != MCP_OK)
        return not_found(id, err);
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to go back to a version");
    mcp_status st = db_begin(&session, service->options.db, DB_READ, err);
    if (st == MCP_OK) {
        st = state_at(out, session, id, version, &service->options.log, arena, err);
        db_rollback(session);
    }
    mcp_arena_free(arena);
    return st;
}

/* ---- what changed ---------------------------------------------------------------------------- */

mcp_status universe_service_changes(universe_changes *out, universe_service *service,
                                    const universe_version *current, int64_t since,
                                    mcp_arena *arena, mcp_error *err)
{
    universe_gatherer gatherer = { .arena = arena };
    db_session *session = NULL;
    int64_t begin = 0;
    const char *id = current->record.id;
    int64_t to = current->record.version;

    *out = (universe_changes){ 0 };
    if (since >= to)
        return MCP_OK;
    mcp_status st = db_begin(&session, service->options.db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    st = universe_store_log_begin(&begin, session, id, to, err);
    gatherer.everything = begin > since + 1;
    if (st == MCP_OK && !gatherer.everything)
        st = universe_store_touched(&gatherer, session, id, since, to, err);
    db_rollback(session);
    if (st == MCP_OK)
        universe_gathered(out, &gatherer);
    return st;
}

/* ---- history --------------------------------------------------------------------------------- */

struct listing {
    universe_historian *each;
    void *data;
    int64_t after;
    size_t left; /* versions that may follow */
};

/* An entry of one version. */
static mcp_status list_entry(struct listing *listing, const universe_entry *entry, mcp_error *err)
{
    bool has_command = entry->kind == UNIVERSE_ENTRY_COMMAND || entry->kind == UNIVERSE_ENTRY_TICKS;
    const universe_history one = { .version = entry->version,
                                   .time = entry->time,
                                   .command = has_command ? entry->command : NULL,
                                   .command_length = has_command ? entry->command_length : 0,
                                   .events = entry->events,
                                   .events_length = entry->events_length,
                                   .actor = entry->actor,
                                   .applied_ms = entry->applied_ms };
    if (one.version <= listing->after || listing->left == 0)
        return MCP_OK;
    listing->left--;
    return listing->each(&one, listing->data, err);
}

/* The next entry of the log. */
static mcp_status list_next(bool *has, struct listing *listing, universe_log *log, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    universe_entry stored = { 0 }, *entries = NULL;
    size_t count = 0;
    mcp_status st = arena ? universe_log_next(&stored, has, log, arena, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
    if (st == MCP_OK && *has)
        st = universe_entries_split(&entries, &count, &stored, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = list_entry(listing, &entries[i], err);
    mcp_arena_free(arena);
    return st;
}

static mcp_status list_log(struct listing *listing, db_session *session, const char *id,
                           mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    mcp_status st = universe_log_open(&log, session, id, listing->after, INT64_MAX, err);
    while (st == MCP_OK && has && listing->left > 0)
        st = list_next(&has, listing, log, err);
    universe_log_close(log);
    return st;
}

mcp_status universe_service_history(bool *complete, universe_service *service, const char *id,
                                    int64_t after, size_t limit, universe_historian *each,
                                    void *data, mcp_error *err)
{
    struct listing listing = { .each = each, .data = data, .after = after, .left = limit };
    db_session *session = NULL;
    universe_record record = { 0 };
    int64_t begin = 0;

    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
    mcp_status st = universe_service_record(&record, service, id, arena, err);
    if (st == MCP_OK)
        st = db_begin(&session, service->options.db, DB_READ, err);
    if (st == MCP_OK) {
        st = universe_store_log_begin(&begin, session, id, record.version, err);
        if (st == MCP_OK)
            st = universe_as_stored(list_log(&listing, session, id, err), id, err);
        db_rollback(session);
    }
    mcp_arena_free(arena);
    if (st == MCP_OK)
        *complete = begin - 1 <= after;
    return st;
}
