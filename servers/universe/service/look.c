/*
 * look.c - reading universes: as they are, as they were, what changed in between.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/service_int.h"

mcp_status universe_service_look(universe_moment *out, universe_service *service, const char *id,
                                 mcp_arena *arena, mcp_error *err)
{
    universe_live *live = NULL;
    mcp_status st = universe_live_hold(&live, service, id, err);
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&service->lock);
    st = universe_live_moment(out, live, arena, err);
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

/* ---- pages ------------------------------------------------------------------------------------ */

/* A cursor is "created_ms.id" of the last record of the page before, the id in hexadecimal: it goes through a header. */
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
    /* One more than asked for tells whether there is a next page. */
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

/* ---- as it was -------------------------------------------------------------------------------- */

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

/* ---- what changed ----------------------------------------------------------------------------- */

mcp_status universe_service_changes(universe_changes *out, universe_service *service,
                                    const universe_moment *moment, int64_t since, mcp_arena *arena,
                                    mcp_error *err)
{
    universe_gatherer gatherer = { .arena = arena };
    db_session *session = NULL;
    int64_t begin = 0;
    const char *id = moment->record.id;
    int64_t to = moment->record.version;

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

/* ---- history ---------------------------------------------------------------------------------- */

struct telling {
    universe_historian *tell;
    void *data;
    int64_t after;
    size_t left; /* versions that may still be told */
};

static mcp_status tell_ticks(struct telling *telling, const universe_entry *entry,
                             mcp_arena *arena, mcp_error *err)
{
    const mcp_json *ticks = NULL, *times = NULL;
    mcp_status st = mcp_json_read(&ticks, arena, entry->command, entry->command_length, err);
    if (st == MCP_OK)
        st = mcp_json_read(&times, arena, entry->events, entry->events_length, err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(ticks) && telling->left > 0; i++) {
        mcp_buf text;
        mcp_json_writer json;
        universe_history one = { .version = entry->first_version + (int64_t)i,
                                 .time = entry->time,
                                 .events = "[]",
                                 .events_length = 2,
                                 .actor = entry->actor,
                                 .applied_ms = entry->applied_ms };
        if (one.version <= telling->after)
            continue;
        mcp_json_double(mcp_json_item(times, i), &one.time);
        mcp_buf_init(&text, entry->command_length + 64);
        mcp_json_writer_init(&json, &text);
        mcp_write_value(&json, mcp_json_item(ticks, i));
        one.command = text.data;
        one.command_length = text.length;
        st = mcp_json_writer_status(&json);
        telling->left--;
        if (st == MCP_OK)
            st = telling->tell(&one, telling->data, err);
        mcp_buf_clear(&text);
    }
    return st;
}

static mcp_status tell_entry(struct telling *telling, const universe_entry *entry,
                             mcp_arena *arena, mcp_error *err)
{
    if (entry->kind == UNIVERSE_ENTRY_TICKS)
        return tell_ticks(telling, entry, arena, err);
    bool has_command = entry->kind == UNIVERSE_ENTRY_COMMAND;
    universe_history one = { .version = entry->version,
                             .time = entry->time,
                             .command = has_command ? entry->command : NULL,
                             .command_length = has_command ? entry->command_length : 0,
                             .events = entry->events,
                             .events_length = entry->events_length,
                             .actor = entry->actor,
                             .applied_ms = entry->applied_ms };
    telling->left--;
    return telling->tell(&one, telling->data, err);
}

static mcp_status tell_log(struct telling *telling, db_session *session, const char *id,
                           mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    mcp_status st = universe_log_open(&log, session, id, telling->after, INT64_MAX, err);
    while (st == MCP_OK && has && telling->left > 0) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        universe_entry entry = { 0 };
        if (!arena)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
        if (st == MCP_OK)
            st = universe_log_next(&entry, &has, log, arena, err);
        if (st == MCP_OK && has)
            st = tell_entry(telling, &entry, arena, err);
        mcp_arena_free(arena);
    }
    universe_log_close(log);
    return st;
}

mcp_status universe_service_history(bool *complete, universe_service *service, const char *id,
                                    int64_t after, size_t limit, universe_historian *tell,
                                    void *data, mcp_error *err)
{
    struct telling telling = { .tell = tell, .data = data, .after = after, .left = limit };
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
            st = universe_as_stored(tell_log(&telling, session, id, err), id, err);
        db_rollback(session);
    }
    mcp_arena_free(arena);
    if (st == MCP_OK)
        *complete = begin - 1 <= after;
    return st;
}
