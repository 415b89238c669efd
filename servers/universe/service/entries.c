/*
 * entries.c - what one commit adds to a universe's log.
 *
 * Ticks that follow one another in it share one entry: an array of the ticks, each with its dt, and in place of
 * events the time after each.
 */
#include "service/entries.h"

#include <string.h>

enum { ENTRY_BYTES = 64 }; /* about what an entry takes beside its texts */

/* Ticks from `from` on that follow one another and have one actor. */
static size_t run_of_ticks(const universe_entry *entries, size_t count, size_t from)
{
    size_t to = from + 1;
    while (to < count && entries[to].kind == UNIVERSE_ENTRY_TICKS &&
           entries[from].kind == UNIVERSE_ENTRY_TICKS &&
           !entries[to].actor == !entries[from].actor &&
           (!entries[to].actor || strcmp(entries[to].actor, entries[from].actor) == 0))
        to++;
    return to;
}

static mcp_status join_ticks(universe_entry *out, const universe_entry *ticks, size_t count,
                             mcp_arena *arena, mcp_error *err)
{
    mcp_buf commands, times;
    mcp_json_writer list;
    mcp_buf_init(&commands, (size_t)256 << 20);
    mcp_buf_init(&times, 1 << 20);
    mcp_json_writer_init(&list, &times);
    mcp_write_array(&list);
    for (size_t i = 0; i < count; i++) {
        mcp_buf_putc(&commands, i == 0 ? '[' : ',');
        mcp_buf_append(&commands, ticks[i].command, ticks[i].command_length);
        mcp_write_double(&list, ticks[i].time);
    }
    mcp_buf_putc(&commands, ']');
    mcp_write_end(&list);

    *out = ticks[count - 1];
    out->first_version = ticks[0].first_version;
    out->command = mcp_arena_strndup(arena, commands.data ? commands.data : "", commands.length);
    out->command_length = commands.length;
    out->events = mcp_arena_strndup(arena, times.data ? times.data : "", times.length);
    out->events_length = times.length;
    bool failed = commands.status != MCP_OK || mcp_json_writer_status(&list) != MCP_OK ||
                  !out->command || !out->events;
    mcp_buf_clear(&commands);
    mcp_buf_clear(&times);
    return failed ? mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu ticks", count) : MCP_OK;
}

mcp_status universe_entries_write(universe_entry *entries, size_t *count, db_session *session,
                                  const char *id, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    size_t written = 0;
    for (size_t i = 0; st == MCP_OK && i < *count;) {
        size_t to = run_of_ticks(entries, *count, i);
        universe_entry entry = entries[i];
        if (entry.kind == UNIVERSE_ENTRY_TICKS)
            st = join_ticks(&entry, entries + i, to - i, arena, err);
        if (st == MCP_OK)
            st = universe_store_append(session, id, &entry, arena, err);
        entries[written++] = entry;
        i = entry.kind == UNIVERSE_ENTRY_TICKS ? to : i + 1;
    }
    *count = written;
    return st;
}

int64_t universe_entries_bytes(const universe_entry *entries, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += entries[i].command_length + entries[i].events_length + entries[i].touched_length +
                 ENTRY_BYTES;
    return (int64_t)bytes;
}
