/*
 * call_table.c - open calls by id, in the order of coming, and in line.
 *
 * A call is open from the moment it was accepted until it is answered, timed out or cancelled. Only
 * open calls can be found, so the id is free again at once, even while a worker still has the call.
 *
 * Nothing here allocates: all links are in the call. At most calls_max_running + calls_max_queued
 * calls are open, so 256 buckets keep the chains short.
 */
#include "mcp/core/call/call_table.h"

#include <string.h>

void mcp__call_table_init(mcp__call_table *table)
{
    *table = (mcp__call_table){ .due_ms = INT64_MAX };
}

static uint64_t mix(uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdULL;
    return hash ^ hash >> 33;
}

static uint64_t id_hash(const mcp_json *id)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    size_t length = 0;
    const char *text = mcp_json_string(id, &length);
    int64_t number = 0;

    if (!text) {
        if (!mcp_json_int(id, &number))
            (void)mcp_json_uint(id, &hash);
        return mix((uint64_t)number ^ hash);
    }
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
    return mix(hash);
}

mcp_call *mcp__call_table_find_of(const mcp__call_table *table, const mcp_json *id,
                                  const mcp__peer *peer)
{
    uint64_t hash = id_hash(id);
    mcp_call *call = table->buckets[hash % MCP__CALL_BUCKETS];

    while (call &&
           ((peer && call->notification_peer != peer) || !mcp_json_equal(call->request.id, id)))
        call = call->loop.chain;
    return call;
}

void mcp__call_table_add(mcp__call_table *table, mcp_call *call)
{
    mcp_call **bucket = &table->buckets[id_hash(call->request.id) % MCP__CALL_BUCKETS];

    call->loop.chain = *bucket;
    *bucket = call;
    call->loop.open = (mcp__call_link){ .previous = table->last };
    if (table->last)
        table->last->loop.open.next = call;
    else
        table->first = call;
    table->last = call;
}

void mcp__call_table_remove(mcp__call_table *table, mcp_call *call)
{
    mcp_call **at = &table->buckets[id_hash(call->request.id) % MCP__CALL_BUCKETS];
    const mcp__call_link *link = &call->loop.open;

    while (*at != call)
        at = &(*at)->loop.chain;
    *at = call->loop.chain;
    if (link->previous)
        link->previous->loop.open.next = link->next;
    else
        table->first = link->next;
    if (link->next)
        link->next->loop.open.previous = link->previous;
    else
        table->last = link->previous;
}

void mcp__call_table_wait(mcp__call_table *table, mcp_call *call)
{
    call->loop.next_waiting = NULL;
    if (table->last_waiting)
        table->last_waiting->loop.next_waiting = call;
    else
        table->first_waiting = call;
    table->last_waiting = call;
    table->waiting++;
}

mcp_call *mcp__call_table_next(mcp__call_table *table)
{
    mcp_call *call = table->first_waiting;

    if (call)
        mcp__call_table_unwait(table, call);
    return call;
}

void mcp__call_table_unwait(mcp__call_table *table, mcp_call *call)
{
    mcp_call **at = &table->first_waiting;
    mcp_call *before = NULL;

    while (*at != call) {
        before = *at;
        at = &before->loop.next_waiting;
    }
    *at = call->loop.next_waiting;
    if (table->last_waiting == call)
        table->last_waiting = before;
    table->waiting--;
}

void mcp__call_table_due(mcp__call_table *table, int64_t when_ms)
{
    if (when_ms < table->due_ms)
        table->due_ms = when_ms;
}
