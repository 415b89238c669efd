/*
 * session_table.c - who is served: sessions by id, from the newest to the oldest used.
 *
 * An entry that ends may still have calls with workers, and the function that ends it may have been
 * called from within one of its own answers. So ending only takes it out of sight; its memory goes
 * when a turn of the loop is over and no call is left.
 *
 * Only entries that were given work are looked at by the clock: ten thousand idle sessions cost
 * nothing.
 */
#include "mcp/core/session_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/dispatch.h"

#define EVICTION_TRIES 32

/* ---- the lists ------------------------------------------------------------------------------- */

static void leave_ages(mcp__session_table *table, mcp__session_entry *entry)
{
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        table->newest = entry->older;
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        table->oldest = entry->newer;
}

static void enter_ages(mcp__session_table *table, mcp__session_entry *entry)
{
    entry->newer = NULL;
    entry->older = table->newest;
    if (table->newest)
        table->newest->newer = entry;
    else
        table->oldest = entry;
    table->newest = entry;
}

void mcp__session_table_work(mcp__session_table *table, mcp__session_entry *entry)
{
    if (entry->is_busy)
        return;
    entry->is_busy = true;
    entry->previous_busy = NULL;
    entry->next_busy = table->busy;
    if (table->busy)
        table->busy->previous_busy = entry;
    table->busy = entry;
}

static void leave_busy(mcp__session_table *table, mcp__session_entry *entry)
{
    if (!entry->is_busy)
        return;
    entry->is_busy = false;
    if (entry->previous_busy)
        entry->previous_busy->next_busy = entry->next_busy;
    else
        table->busy = entry->next_busy;
    if (entry->next_busy)
        entry->next_busy->previous_busy = entry->previous_busy;
}

/* ---- beginning ------------------------------------------------------------------------------- */

void mcp__session_table_init(mcp__session_table *table, const mcp__session_table_options *options)
{
    *table = (mcp__session_table){ .options = *options,
                                   .events.max_bytes = options->events_max_bytes };
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

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mcp_alloc(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The one that was idle longest among the oldest few, and to which nobody is connected. */
static bool evict_one(mcp__session_table *table)
{
    mcp__session_entry *entry = table->oldest;

    for (int i = 0; entry && i < EVICTION_TRIES; i++, entry = entry->newer) {
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
    if (principal) {
        entry->principal = copy_text(principal);
        if (!entry->principal)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    }
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
    entry->used_ms = now_ms;
    enter_ages(table, entry);
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
    if (entry->id[0] == '\0' || entry->is_ended || table->newest == entry)
        return;
    leave_ages(table, entry);
    enter_ages(table, entry);
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void let_go(mcp__session_table *table, mcp__session_entry *entry)
{
    entry->is_ended = true;
    entry->next_ended = table->ended;
    table->ended = entry;
}

void mcp__session_table_end(mcp__session_table *table, mcp__session_entry *entry)
{
    if (entry->is_ended)
        return;
    let_go(table, entry);
    if (entry->id[0] != '\0') {
        (void)mcp__map_remove(&table->by_id, entry->id, strlen(entry->id));
        leave_ages(table, entry);
        table->count--;
    }
    mcp__dispatch_stop(&entry->session, MCP_STOP_CANCELLED);
    if (entry->id[0] != '\0')
        table->options.ending(entry, table->options.data);
    mcp__event_ring_clear(&entry->events);
}

void mcp__session_table_return(mcp__session_table *table, mcp__session_entry *entry)
{
    if (!entry->is_ended)
        let_go(table, entry);
}

static void free_ended(mcp__session_table *table)
{
    mcp__session_entry *entry = table->ended;

    table->ended = NULL;
    while (entry) {
        mcp__session_entry *next = entry->next_ended;
        if (mcp__dispatch_is_idle(&entry->session)) {
            leave_busy(table, entry);
            entry_free(entry);
        } else {
            entry->next_ended = table->ended;
            table->ended = entry;
        }
        entry = next;
    }
}

int64_t mcp__session_table_settle(mcp__session_table *table)
{
    mcp__session_entry *next;
    int64_t due_ms = INT64_MAX;

    free_ended(table);
    for (mcp__session_entry *entry = table->busy; entry; entry = next) {
        next = entry->next_busy;
        if (mcp__dispatch_is_idle(&entry->session))
            leave_busy(table, entry);
        else if (entry->session.calls.due_ms < due_ms)
            due_ms = entry->session.calls.due_ms;
    }
    return due_ms;
}

void mcp__session_table_clear(mcp__session_table *table)
{
    while (table->oldest)
        mcp__session_table_end(table, table->oldest);
    free_ended(table);
    if (table->shared)
        entry_free(table->shared);
    table->shared = NULL;
    mcp__map_clear(&table->by_id);
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t mcp__session_table_expire(mcp__session_table *table, int64_t now_ms)
{
    while (table->oldest) {
        mcp__session_entry *entry = table->oldest;
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

    for (mcp__session_entry *entry = table->busy; entry; entry = next) {
        next = entry->next_busy;
        (void)mcp__dispatch_tick(&entry->session, now_ms);
    }
}

bool mcp__session_table_is_idle(const mcp__session_table *table)
{
    for (const mcp__session_entry *entry = table->busy; entry; entry = entry->next_busy)
        if (!mcp__dispatch_is_idle(&entry->session))
            return false;
    return true;
}

void mcp__session_table_stop(mcp__session_table *table, mcp_stop why)
{
    for (mcp__session_entry *entry = table->busy; entry; entry = entry->next_busy)
        mcp__dispatch_stop(&entry->session, why);
}

void mcp__session_table_refuse_waiting(mcp__session_table *table)
{
    for (mcp__session_entry *entry = table->busy; entry; entry = entry->next_busy)
        mcp__dispatch_refuse_waiting(&entry->session);
}

void mcp__session_table_abandon(mcp__session_table *table)
{
    for (mcp__session_entry *entry = table->busy; entry; entry = entry->next_busy)
        mcp__dispatch_abandon(&entry->session);
}
