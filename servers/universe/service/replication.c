/*
 * replication.c - changes that other processes make to the universes of the database.
 *
 * PostgreSQL announces commits. In a database that does not (SQLite) a thread polls once a second
 * for universes that were changed. A universe in memory is brought up to date; the streams of any
 * other, and the watcher, are notified.
 */
#include <string.h>

#include "mcp/clock.h"
#include "service/service_int.h"

enum { ROUND_MS = 1000, COMMIT_MAX_MS = 60000 };

void universe_replicate(universe_service *service, const char *id, int64_t version,
                        int64_t created_ms, bool is_new)
{
    bool is_loaded = false;
    universe_catch_up_to(&is_loaded, service, id, version, created_ms);
    if (is_loaded)
        return;
    if (version < 0)
        universe_feed_deleted(service, id);
    else /* its viewers, if it has any, fetch the state; that loads it */
        universe_feed_behind(service, id, version);
    if (is_new)
        universe_notify_watcher(service, id, version);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Records in the order in which they were changed, page by page. */
struct page {
    struct page *next;
    universe_record *records;
    size_t count;
};

/* What one look has seen. Each looks a while back, so the one after it sees most of it again. */
struct seen {
    mcp_arena *arena;
    struct page *first;
    int64_t since_ms;
};

/* A place in what was seen. */
struct place {
    const struct page *page;
    size_t at;
};

/* Negative: `a` was changed before `b`. */
static int compare(const universe_record *a, const universe_record *b)
{
    if (a->updated_ms != b->updated_ms)
        return a->updated_ms < b->updated_ms ? -1 : 1;
    return strcmp(a->id, b->id);
}

/* Whether the look before had this record, as it is; the place moves on. */
static bool was_seen(struct place *place, const universe_record *record)
{
    while (place->page) {
        const struct page *page = place->page;
        int order = place->at < page->count ? compare(&page->records[place->at], record) : -1;
        if (order >= 0)
            return order == 0 && page->records[place->at].version == record->version;
        if (++place->at >= page->count)
            *place = (struct place){ page->next, 0 };
    }
    return false;
}

/* The next page, behind what the page before ended with. */
static mcp_status read_page(struct page **out, db_session *session, int64_t since_ms,
                            const universe_record *last, mcp_arena *arena, mcp_error *err)
{
    struct page *page = mcp_arena_alloc(arena, sizeof *page);
    if (!page)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to look for others' changes");
    *page = (struct page){ 0 };
    mcp_status st = universe_store_versions(&page->records, &page->count, session,
                                            last ? last->updated_ms : since_ms,
                                            last ? last->id : "", arena, err);
    if (st == MCP_OK)
        *out = page;
    return st;
}

/* Universes that another process has changed, created again or deleted since then are brought up to
 * date. */
static mcp_status look_around(universe_service *service, struct seen *now,
                              const struct seen *before, mcp_error *err)
{
    struct page **end = &now->first, *page = NULL;
    const universe_record *last = NULL;
    struct place place = { before->first, 0 };
    db_session *session = NULL;
    mcp_status st = db_begin(&session, service->options.db, DB_READ, err);
    if (st != MCP_OK)
        return st;
    do {
        st = read_page(&page, session, before->since_ms - COMMIT_MAX_MS, last, now->arena, err);
        if (st != MCP_OK)
            break;
        *end = page;
        end = &page->next;
        for (size_t i = 0; i < page->count; i++) {
            last = &page->records[i];
            universe_replicate(service, last->id, last->version, last->created_ms,
                               !was_seen(&place, last));
        }
    } while (page->count == UNIVERSE_LIST_MAX);
    db_rollback(session);
    return st;
}

/* What was written may become visible later than its time says, by as long as a commit may take. */
static void look_for_others(universe_service *service, struct seen *before)
{
    mcp_error err = MCP_ERROR_INIT;
    struct seen now = { .since_ms = mcp_clock_wall_ms(), .arena = mcp_arena_new((size_t)1 << 30) };
    if (!now.arena)
        return;
    if (look_around(service, &now, before, &err) != MCP_OK) {
        mcp_arena_free(now.arena);
        return;
    }
    mcp_arena_free(before->arena);
    *before = now;
}

void *universe_replication_poll(void *data)
{
    universe_service *service = data;
    struct seen seen = { .since_ms = mcp_clock_wall_ms() };
    bool closing = false;

    while (!closing) {
        look_for_others(service, &seen);
        pthread_mutex_lock(&service->lock);
        if (!service->closing)
            thread_wait(&service->rest, &service->lock, ROUND_MS);
        closing = service->closing;
        pthread_mutex_unlock(&service->lock);
    }
    mcp_arena_free(seen.arena);
    return NULL;
}
