/*
 * entries.c - entries of a universe's log, joined and split.
 */
#include "service/entries.h"

#include <string.h>

enum { ENTRY_BYTES = 64 }; /* about what a row takes without its texts */

/* ---- writing --------------------------------------------------------------------------------- */

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

mcp_status universe_entries_write(const universe_entry *entries, size_t count, int64_t *bytes,
                                  db_session *session, const char *id, mcp_arena *arena,
                                  mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0, to = 0; st == MCP_OK && i < count; i = to) {
        universe_entry entry = entries[i];
        to = run_of_ticks(entries, count, i);
        if (entry.kind == UNIVERSE_ENTRY_TICKS)
            st = join_ticks(&entry, entries + i, to - i, arena, err);
        if (st == MCP_OK)
            st = universe_store_append(session, id, &entry, arena, err);
        *bytes += (int64_t)(entry.command_length + entry.events_length + entry.touched_length +
                            ENTRY_BYTES);
    }
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One tick of an array. */
static mcp_status split_tick(universe_entry *out, const universe_entry *stored,
                             const mcp_json *tick, const mcp_json *time, mcp_arena *arena)
{
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, stored->command_length + 64);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, tick);
    mcp_status st = mcp_json_writer_status(&json);
    out->command = st == MCP_OK ? mcp_arena_strndup(arena, text.data, text.length) : NULL;
    out->command_length = text.length;
    out->events = "[]";
    out->events_length = 2;
    mcp_json_double(time, &out->time);
    mcp_json_double(mcp_json_get(tick, "dt"), &out->dt);
    mcp_buf_clear(&text);
    return st == MCP_OK && !out->command ? MCP_E_NOMEM : st;
}

mcp_status universe_entries_split(universe_entry **out, size_t *count, const universe_entry *stored,
                                  mcp_arena *arena, mcp_error *err)
{
    const mcp_json *ticks = NULL, *times = NULL;
    bool is_ticks = stored->kind == UNIVERSE_ENTRY_TICKS;
    mcp_status st = MCP_OK;

    if (is_ticks)
        st = mcp_json_read(&ticks, arena, stored->command, stored->command_length, err);
    if (st == MCP_OK && is_ticks)
        st = mcp_json_read(&times, arena, stored->events, stored->events_length, err);
    if (st != MCP_OK)
        return st;
    *count = is_ticks ? mcp_json_count(ticks) : 1;
    *out = mcp_arena_array(arena, *count + 1, sizeof **out);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to split an entry of the log");
    for (size_t i = 0; st == MCP_OK && i < *count; i++) {
        universe_entry *entry = &(*out)[i];
        *entry = *stored;
        if (!is_ticks)
            continue;
        entry->first_version = entry->version = stored->first_version + (int64_t)i;
        st = split_tick(entry, stored, mcp_json_item(ticks, i), mcp_json_item(times, i), arena);
    }
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory to split an entry of the log");
}

universe_entry *universe_entries_copy(const universe_entry *entries, size_t count, mcp_arena *arena)
{
    universe_entry *copy = mcp_arena_array(arena, count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = entries[i];
        copy[i].command = mcp_arena_strndup(arena, entries[i].command, entries[i].command_length);
        copy[i].events = mcp_arena_strndup(arena, entries[i].events, entries[i].events_length);
        copy[i].actor = copy[i].touched = NULL; /* no stream has them */
        if (!copy[i].command || !copy[i].events)
            return NULL;
    }
    return copy;
}

universe_entry universe_entries_replacement(const char *label, int64_t version, double time,
                                            int64_t now_ms)
{
    static const char events[] = "[{\"type\":\"snapshotReplaced\"}]";
    return (universe_entry){ .first_version = version,
                             .version = version,
                             .kind = UNIVERSE_ENTRY_REPLACED,
                             .command = label,
                             .command_length = strlen(label),
                             .events = events,
                             .events_length = sizeof events - 1,
                             .time = time,
                             .applied_ms = now_ms };
}
