/*
 * fuzz_universe_command.c - commands, one a line, against one universe: whatever is sent, the state
 * stays sound, and a rejected command leaves it as it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static mcp_status append(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_append(data, bytes, length);
}

/* The state as JSON, sound and readable. */
static void write_state(mcp_buf *out, universe_state *state, const universe_rules *rules)
{
    universe_view *view = NULL;

    mcp_buf_init(out, (size_t)1 << 30);
    must(universe_state_freeze(&view, state, NULL) == MCP_OK);
    must(universe_view_check(view, rules, NULL) == MCP_OK);
    must(universe_view_write(view, NULL, append, out, NULL, NULL) == MCP_OK);
    universe_view_free(view);
}

static void run(universe_state *state, const char *line, size_t length, const universe_rules *rules)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *command = NULL;
    const mcp_json *events = NULL;
    universe_outcome outcome;
    mcp_buf before;
    mcp_buf after;

    must(arena != NULL);
    if (mcp_json_read(&command, arena, line, length, NULL) == MCP_OK) {
        write_state(&before, state, rules);
        mcp_status st = universe_apply(&outcome, state, command, line, length, rules, arena, NULL);
        must(st == MCP_OK || st == MCP_E_LIMIT);
        write_state(&after, state, rules);
        bool is_same = before.length == after.length &&
                       memcmp(before.data, after.data, after.length) == 0;
        must(is_same || (st == MCP_OK && outcome.verdict == UNIVERSE_APPLIED));
        if (st == MCP_OK)
            must(mcp_json_read(&events, arena, outcome.events, outcome.events_length, NULL) ==
                 MCP_OK);
        mcp_buf_clear(&before);
        mcp_buf_clear(&after);
    }
    mcp_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *end = at + size;
    universe_rules rules = { .lenient = size > 0 && *at == 'L' };
    universe_state *state = NULL;

    must(universe_state_new(&state, NULL) == MCP_OK);
    for (int lines = 0; at < end && lines < 40; lines++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        run(state, at, (size_t)(stop - at), &rules);
        at = newline ? newline + 1 : end;
    }
    universe_state_free(state);
    return 0;
}
