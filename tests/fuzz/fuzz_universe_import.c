/*
 * fuzz_universe_import.c - a universe from bytes: JSON in pieces, or (after an 'S') a binary
 * snapshot. What is taken is sound, is written, and is taken again to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

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

static mcp_status import(universe_state **out, const char *text, size_t length, size_t piece,
                         bool lenient)
{
    universe_rules rules = { .lenient = lenient };
    universe_import *import = NULL;
    mcp_status st = universe_import_new(&import, &rules, NULL);

    for (size_t at = 0; at < length && st == MCP_OK; at += piece)
        st = universe_import_feed(import, text + at, length - at < piece ? length - at : piece,
                                  NULL);
    if (st == MCP_OK)
        st = universe_import_end(out, import, NULL);
    universe_import_free(import);
    return st;
}

static mcp_status load(universe_state **out, const char *bytes, size_t length, size_t piece)
{
    universe_load *load = NULL;
    mcp_status st = universe_load_begin(&load, NULL);

    for (size_t at = 0; at < length && st == MCP_OK; at += piece)
        st = universe_load_feed(load, bytes + at, length - at < piece ? length - at : piece, NULL);
    if (st == MCP_OK)
        st = universe_load_end(out, load, NULL);
    universe_load_free(load);
    return st;
}

static void must_survive(universe_state *state)
{
    static const universe_rules lenient = { .lenient = true };
    universe_state *again = NULL;
    universe_view *view = NULL;
    mcp_buf text;
    mcp_buf once;
    mcp_buf twice;

    mcp_buf_init(&text, (size_t)1 << 30);
    mcp_buf_init(&once, (size_t)1 << 30);
    mcp_buf_init(&twice, (size_t)1 << 30);
    must(universe_state_freeze(&view, state, NULL) == MCP_OK);
    must(universe_view_check(view, &lenient, NULL) == MCP_OK);
    must(universe_view_write(view, NULL, append, &text, NULL, NULL) == MCP_OK);
    must(universe_view_save(view, append, &once, NULL) == MCP_OK);
    universe_view_free(view);
    must(import(&again, text.data, text.length, 1000, true) == MCP_OK);
    universe_state_free(again);
    must(load(&again, once.data, once.length, 1000) == MCP_OK);
    must(universe_state_freeze(&view, again, NULL) == MCP_OK);
    must(universe_view_save(view, append, &twice, NULL) == MCP_OK);
    must(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    universe_view_free(view);
    universe_state_free(again);
    mcp_buf_clear(&text);
    mcp_buf_clear(&once);
    mcp_buf_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    universe_state *state = NULL;
    mcp_status st;

    if (size < 2)
        return 0;
    size_t piece = 1 + data[1] % 64;
    if (data[0] == 'S')
        st = load(&state, bytes + 2, size - 2, piece);
    else
        st = import(&state, bytes + 2, size - 2, piece, data[0] == 'L');
    if (st == MCP_OK)
        must_survive(state);
    universe_state_free(state);
    return 0;
}
