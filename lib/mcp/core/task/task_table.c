/*
 * task_table.c - which client has which tasks, and how long.
 *
 * A task is its principal's. Without one it is the session's that began it, and ends with it;
 * without a session a client is known by nothing but the id itself, which is 128 random bits.
 *
 * A working task is never forgotten: its tool has its own time limit, or was made to have none. One
 * that waits for input, or is over, is forgotten when its time since the beginning has passed, and
 * where it got there only later, a while after that.
 *
 * The number of tasks, of tasks of one client, and the bytes of their results are bounded.
 */
#include "mcp/core/task/task_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/clock.h"

#define ARENA_MAX_BYTES ((size_t)64 * 1024)

mcp_status mcp__task_table_new(mcp__task_table **out, const mcp__context *context, mcp_error *err)
{
    mcp__task_table *table = mcp_alloc_zeroed(1, sizeof *table);
    mcp__context own = *context;

    if (!table)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tasks");
    own.is_shared = true; /* clients that know nothing of one another */
    own.subscriptions = NULL;
    table->subscriptions = context->subscriptions;
    own.tasks = table;
    table->due_ms = INT64_MAX;
    mcp__map_init(&table->by_id, NULL);
    table->arena = mcp_arena_new(ARENA_MAX_BYTES);
    mcp_status st = table->arena ? mcp_json_read(&table->call_id, table->arena, "0", 1, err)
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for tasks");
    if (st == MCP_OK)
        st = mcp__session_init(&table->session, &own, err);
    if (st != MCP_OK) {
        mcp_arena_free(table->arena);
        free(table);
        return st;
    }
    *out = table;
    return MCP_OK;
}

void mcp__task_table_free(mcp__task_table *table)
{
    if (!table)
        return;
    while (!LIST_EMPTY(&table->entries)) /* removing moves it on, which the analyzer does not see */
        mcp__task_table_remove(
            LIST_FIRST(&table->entries)); /* NOLINT(clang-analyzer-unix.Malloc) */
    mcp__session_clear(&table->session);
    mcp__map_clear(&table->by_id);
    mcp_arena_free(table->arena);
    free(table);
}

/* ---- ownership ------------------------------------------------------------------------------- */

/* By which a call's client is known, next to its principal. */
static mcp__session *session_of(const mcp_call *call)
{
    return mcp__call_is_stateless(call) || call->session->is_once ? NULL : call->session;
}

bool mcp__task_table_is_of(const mcp__task_entry *entry, const mcp_call *call)
{
    const mcp_principal *principal = call->principal;

    if (entry->is_stateless != mcp__call_is_stateless(call) || !entry->principal != !principal)
        return false;
    if (principal)
        return strcmp(entry->principal, principal->name) == 0;
    return entry->session == session_of(call);
}

mcp__task_entry *mcp__task_table_find(const mcp__task_table *table, const char *id, size_t length,
                                      const mcp_call *call)
{
    mcp__task_entry *entry = mcp__map_get(&table->by_id, id, length);

    return entry && mcp__task_table_is_of(entry, call) ? entry : NULL;
}

mcp__task_entry *mcp__task_table_older(const mcp__task_table *table, uint64_t before,
                                       const mcp_call *call)
{
    mcp__task_entry *entry = LIST_FIRST(&table->entries);

    while (entry && (entry->number >= before || !mcp__task_table_is_of(entry, call)))
        entry = LIST_NEXT(entry, older);
    return entry;
}

/* ---- coming and going ------------------------------------------------------------------------ */

static mcp_status check_room(const mcp__task_table *table, const mcp_call *call, mcp_error *err)
{
    const mcp_server_options *options = call->context->options;
    bool is_known = call->principal || session_of(call);
    size_t own = 0;

    if (table->count >= (size_t)options->limits.tasks_max)
        return mcp_error_set(err, MCP_E_BUSY, "%d tasks are kept, no more can be: try again later",
                             options->limits.tasks_max);
    for (const mcp__task_entry *entry = LIST_FIRST(&table->entries); is_known && entry;
         entry = LIST_NEXT(entry, older))
        own += mcp__task_table_is_of(entry, call);
    if (own >= (size_t)options->limits.tasks_max_per_client)
        return mcp_error_set(err, MCP_E_BUSY,
                             "%d tasks of this client are kept, no more can be: try again later",
                             options->limits.tasks_max_per_client);
    return MCP_OK;
}

static mcp_status name_entry(mcp__task_entry *entry, const mcp_principal *principal, mcp_error *err)
{
    entry->principal = principal ? mcp_alloc_strdup(principal->name) : NULL;
    if (principal && !entry->principal)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    mcp_status st = mcp_random_id(entry->id, err);
    if (st == MCP_OK &&
        mcp__map_put(&entry->table->by_id, entry->id, strlen(entry->id), entry) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    return st;
}

mcp_status mcp__task_table_add(mcp__task_entry **out, mcp__task_table *table, const mcp_call *call,
                               int64_t ttl_ms, mcp_error *err)
{
    mcp_status st = check_room(table, call, err);

    if (st != MCP_OK)
        return st;
    mcp__task_entry *entry = mcp_alloc_zeroed(1, sizeof *entry);
    if (!entry)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    entry->table = table;
    entry->is_stateless = mcp__call_is_stateless(call);
    entry->session = session_of(call);
    entry->ttl_ms = ttl_ms;
    entry->began_ms = entry->since_ms = mcp_clock_mono_ms();
    entry->began_wall_ms = entry->updated_wall_ms = mcp_clock_wall_ms();
    st = name_entry(entry, call->principal, err);
    if (st != MCP_OK) {
        free(entry->principal);
        free(entry);
        return st;
    }
    entry->number = ++table->last_number;
    TAILQ_INIT(&entry->waiting);
    LIST_INSERT_HEAD(&table->entries, entry, older);
    table->count++;
    *out = entry;
    return MCP_OK;
}

void mcp__task_table_remove(mcp__task_entry *entry)
{
    mcp__task_table *table = entry->table;

    assert(!entry->call && TAILQ_EMPTY(&entry->waiting));
    (void)mcp__map_remove(&table->by_id, entry->id, strlen(entry->id));
    LIST_REMOVE(entry, older);
    table->count--;
    if (entry->owned)
        table->bytes -= entry->outcome_length;
    free(entry->owned);
    free(entry->principal);
    free(entry);
}

int64_t mcp__task_table_end_ms(const mcp__task_entry *entry)
{
    int64_t end_ms = entry->began_ms + entry->ttl_ms;

    if (entry->status == MCP__TASK_WORKING)
        return INT64_MAX;
    return entry->since_ms < end_ms ? end_ms : entry->since_ms + MCP__TASK_LATE_MS;
}
