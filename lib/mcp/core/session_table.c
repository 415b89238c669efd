/*
 * session_table.c - who is served: sessions by id, from the newest to the oldest used.
 *
 * An entry that ends may still have calls with workers, and the function that ends it may have been
 * called from within one of its own answers. So ending only takes it out of sight; its memory goes
 * when a turn of the loop is over and no call is left.
 *
 * Only entries that were given work are looked at by the clock: ten thousand idle sessions cost
 * nothing.
 *
 * An event is in two lists: that of its session, which is bounded in events and bytes, and that of
 * the store, which bounds the bytes of all sessions together. Both drop from their old end only, so
 * what is kept of a stream is always its tail, and finding the event that a client saw last, or the
 * one after it, proves that nothing between there and now is missing.
 */
#include "mcp/core/session_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/dispatch.h"

#define EVICTION_TRIES 32

/* ---- events ---------------------------------------------------------------------------------- */

static size_t weight(const mcp__event *event)
{
    return sizeof *event + event->length;
}

/* Only ever the oldest of its ring: the store's oldest is that too. */
static void drop(mcp__event *event)
{
    mcp__event_ring *ring = event->ring;

    TAILQ_REMOVE(&ring->events, event, of_ring);
    TAILQ_REMOVE(&ring->store->events, event, of_store);
    ring->count--;
    ring->bytes -= weight(event);
    ring->store->bytes -= weight(event);
    free(event);
}

void mcp__event_ring_init(mcp__event_ring *ring, mcp__event_store *store)
{
    *ring = (mcp__event_ring){ .store = store };
    TAILQ_INIT(&ring->events);
}

void mcp__event_ring_clear(mcp__event_ring *ring)
{
    while (!TAILQ_EMPTY(&ring->events))
        drop(TAILQ_FIRST(&ring->events)); /* NOLINT(clang-analyzer-unix.Malloc) */
}

static mcp__event *event_new(mcp__event_ring *ring, uint32_t stream, uint64_t number,
                             const char *text, size_t length)
{
    mcp__event *event = length <= MCP__EVENTS_MAX_BYTES
                            ? mcp_alloc_zeroed(1, sizeof *event + length)
                            : NULL;

    if (!event)
        return NULL;
    event->ring = ring;
    event->stream = stream;
    event->number = number;
    event->length = length;
    if (length > 0)
        memcpy(event->text, text, length);
    return event;
}

void mcp__event_ring_put(mcp__event_ring *ring, uint32_t stream, uint64_t number, const char *text,
                         size_t length)
{
    mcp__event_store *store = ring->store;
    mcp__event *event = event_new(ring, stream, number, text, length);

    if (!event) {
        mcp__event_ring_clear(ring);
        return;
    }
    TAILQ_INSERT_TAIL(&ring->events, event, of_ring);
    TAILQ_INSERT_TAIL(&store->events, event, of_store);
    ring->count++;
    ring->bytes += weight(event);
    store->bytes += weight(event);
    while (ring->count > MCP__EVENTS_MAX || ring->bytes > MCP__EVENTS_MAX_BYTES)
        drop(TAILQ_FIRST(&ring->events));
    /* Dropping moves the first on: its ring's store is this one, which the analyzer cannot know. */
    while (store->bytes > store->max_bytes)
        drop(TAILQ_FIRST(&store->events)); /* NOLINT(clang-analyzer-unix.Malloc) */
}

bool mcp__event_ring_covers(const mcp__event_ring *ring, uint32_t stream, uint64_t number)
{
    bool has_tail = false;
    uint64_t last = 0;

    for (const mcp__event *event = TAILQ_FIRST(&ring->events); event;
         event = TAILQ_NEXT(event, of_ring)) {
        if (event->stream != stream)
            continue;
        if (event->number <= number + 1)
            has_tail = true;
        last = event->number;
    }
    return has_tail && number <= last;
}

const mcp__event *mcp__event_ring_next(const mcp__event_ring *ring, uint32_t stream,
                                       uint64_t number)
{
    const mcp__event *event = TAILQ_FIRST(&ring->events);

    while (event && (event->stream != stream || event->number <= number))
        event = TAILQ_NEXT(event, of_ring);
    return event;
}

/* ---- those that may have open calls ---------------------------------------------------------- */

void mcp__session_table_work(mcp__session_table *table, mcp__session_entry *entry)
{
    if (!entry->is_busy)
        LIST_INSERT_HEAD(&table->busy, entry, busy);
    entry->is_busy = true;
}

static void leave_busy(mcp__session_entry *entry)
{
    if (entry->is_busy)
        LIST_REMOVE(entry, busy);
    entry->is_busy = false;
}

/* ---- beginning ------------------------------------------------------------------------------- */

void mcp__session_table_init(mcp__session_table *table, const mcp__session_table_options *options)
{
    *table = (mcp__session_table){ .options = *options,
                                   .events.max_bytes = options->events_max_bytes };
    TAILQ_INIT(&table->events.events);
    TAILQ_INIT(&table->ages);
    mcp__map_init(&table->by_id, NULL);
}

static void entry_free(mcp__session_entry *entry)
{
    mcp__event_ring_clear(&entry->events);
    mcp__session_clear(&entry->session);
    free(entry->principal);
    free(entry);
}

static mcp_status entry_new(mcp__session_entry **out, mcp__session_table *table, mcp_error *err)
{
    mcp__session_entry *entry = mcp_alloc_zeroed(1, sizeof *entry);

    if (!entry)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    mcp__event_ring_init(&entry->events, &table->events);
    mcp_status st = mcp__session_init(&entry->session, &table->options.context, err);
    if (st != MCP_OK) {
        free(entry);
        return st;
    }
    *out = entry;
    return MCP_OK;
}

/* The one that was idle longest among the oldest few, and to which nobody is connected. */
static bool evict_one(mcp__session_table *table)
{
    mcp__session_entry *entry = TAILQ_FIRST(&table->ages);

    for (int i = 0; entry && i < EVICTION_TRIES; i++, entry = TAILQ_NEXT(entry, age)) {
        if (entry->open_streams > 0 || !mcp__dispatch_is_idle(&entry->session))
            continue;
        mcp__session_table_end(table, entry);
        return true;
    }
    return false;
}

static mcp_status name_entry(mcp__session_table *table, mcp__session_entry *entry,
                             const char *principal, mcp_error *err)
{
    entry->principal = principal ? mcp_alloc_strdup(principal) : NULL;
    if (principal && !entry->principal)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    mcp_status st = mcp_random_id(entry->id, err);
    if (st == MCP_OK && mcp__map_put(&table->by_id, entry->id, strlen(entry->id), entry) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    return st;
}

mcp_status mcp__session_table_add(mcp__session_entry **out, mcp__session_table *table,
                                  const char *principal, int64_t now_ms, mcp_error *err)
{
    mcp__session_entry *entry = NULL;

    if (table->count >= table->options.max && !evict_one(table))
        return mcp_error_set(err, MCP_E_BUSY, "%zu sessions are open, no more can be",
                             table->count);
    mcp_status st = entry_new(&entry, table, err);
    if (st == MCP_OK)
        st = name_entry(table, entry, principal, err);
    if (st != MCP_OK) {
        if (entry)
            entry_free(entry);
        return st;
    }
    entry->session.context.session_id = entry->id;
    entry->used_ms = now_ms;
    entry->begun_ns = mcp_clock_mono_ns();
    TAILQ_INSERT_TAIL(&table->ages, entry, age);
    table->count++;
    table->opened++;
    *out = entry;
    return MCP_OK;
}

mcp_status mcp__session_table_once(mcp__session_entry **out, mcp__session_table *table,
                                   mcp_error *err)
{
    mcp_status st = entry_new(out, table, err);

    if (st == MCP_OK)
        (*out)->session.is_once = true;
    return st;
}

mcp_status mcp__session_table_share(mcp__session_entry **out, mcp__session_table *table,
                                    mcp_error *err)
{
    mcp_status st = table->shared ? MCP_OK : entry_new(&table->shared, table, err);

    if (st != MCP_OK)
        return st;
    table->shared->session.context.is_shared = true;
    *out = table->shared;
    return MCP_OK;
}

/* ---- finding --------------------------------------------------------------------------------- */

mcp__session_entry *mcp__session_table_find(const mcp__session_table *table, const char *id,
                                            const char *principal)
{
    mcp__session_entry *entry = mcp__map_get(&table->by_id, id, strlen(id));

    if (!entry || (!entry->principal) != (!principal))
        return NULL;
    return !principal || strcmp(entry->principal, principal) == 0 ? entry : NULL;
}

void mcp__session_table_touch(mcp__session_table *table, mcp__session_entry *entry, int64_t now_ms)
{
    entry->used_ms = now_ms;
    if (entry->id[0] == '\0' || entry->is_ended)
        return;
    TAILQ_REMOVE(&table->ages, entry, age);
    TAILQ_INSERT_TAIL(&table->ages, entry, age);
}

/* ---- ending ---------------------------------------------------------------------------------- */

void mcp__session_table_return(mcp__session_table *table, mcp__session_entry *entry)
{
    if (!entry->is_ended)
        LIST_INSERT_HEAD(&table->ended, entry, ended);
    entry->is_ended = true;
}

void mcp__session_table_end(mcp__session_table *table, mcp__session_entry *entry)
{
    if (entry->is_ended)
        return;
    mcp__session_table_return(table, entry);
    if (entry->id[0] != '\0') {
        (void)mcp__map_remove(&table->by_id, entry->id, strlen(entry->id));
        TAILQ_REMOVE(&table->ages, entry, age);
        table->count--;
    }
    mcp__dispatch_stop(&entry->session, MCP_STOP_CANCELLED);
    if (entry->id[0] != '\0')
        table->options.ending(entry, table->options.data);
    mcp__event_ring_clear(&entry->events);
}

static void free_ended(mcp__session_table *table)
{
    mcp__session_entry *next;

    for (mcp__session_entry *entry = LIST_FIRST(&table->ended); entry; entry = next) {
        next = LIST_NEXT(entry, ended);
        if (!mcp__dispatch_is_idle(&entry->session))
            continue;
        LIST_REMOVE(entry, ended);
        leave_busy(entry);
        entry_free(entry);
    }
}

int64_t mcp__session_table_settle(mcp__session_table *table)
{
    mcp__session_entry *next;
    int64_t due_ms = INT64_MAX;

    free_ended(table);
    for (mcp__session_entry *entry = LIST_FIRST(&table->busy); entry; entry = next) {
        next = LIST_NEXT(entry, busy);
        if (mcp__dispatch_is_idle(&entry->session))
            leave_busy(entry);
        else if (entry->session.calls.due_ms < due_ms)
            due_ms = entry->session.calls.due_ms;
    }
    return due_ms;
}

void mcp__session_table_clear(mcp__session_table *table)
{
    while (!TAILQ_EMPTY(&table->ages))
        mcp__session_table_end(table, TAILQ_FIRST(&table->ages));
    free_ended(table);
    if (table->shared)
        entry_free(table->shared);
    table->shared = NULL;
    mcp__map_clear(&table->by_id);
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t mcp__session_table_expire(mcp__session_table *table, int64_t now_ms)
{
    while (!TAILQ_EMPTY(&table->ages)) {
        mcp__session_entry *entry = TAILQ_FIRST(&table->ages);
        int64_t due_ms = entry->used_ms + table->options.idle_ms;
        if (due_ms > now_ms)
            return due_ms;
        if (mcp__dispatch_is_idle(&entry->session))
            mcp__session_table_end(table, entry);
        else
            mcp__session_table_touch(table, entry, now_ms);
    }
    return INT64_MAX;
}

void mcp__session_table_tick(mcp__session_table *table, int64_t now_ms)
{
    mcp__session_entry *next;

    for (mcp__session_entry *entry = LIST_FIRST(&table->busy); entry; entry = next) {
        next = LIST_NEXT(entry, busy);
        (void)mcp__dispatch_tick(&entry->session, now_ms);
    }
}

bool mcp__session_table_is_idle(const mcp__session_table *table)
{
    for (const mcp__session_entry *entry = LIST_FIRST(&table->busy); entry;
         entry = LIST_NEXT(entry, busy))
        if (!mcp__dispatch_is_idle(&entry->session))
            return false;
    return true;
}

void mcp__session_table_stop(mcp__session_table *table, mcp_stop why)
{
    for (mcp__session_entry *entry = LIST_FIRST(&table->busy); entry;
         entry = LIST_NEXT(entry, busy))
        mcp__dispatch_stop(&entry->session, why);
}

void mcp__session_table_refuse_waiting(mcp__session_table *table)
{
    for (mcp__session_entry *entry = LIST_FIRST(&table->busy); entry;
         entry = LIST_NEXT(entry, busy))
        mcp__dispatch_refuse_waiting(&entry->session);
}

void mcp__session_table_abandon(mcp__session_table *table)
{
    for (mcp__session_entry *entry = LIST_FIRST(&table->busy); entry;
         entry = LIST_NEXT(entry, busy))
        mcp__dispatch_abandon(&entry->session);
}
