/*
 * state.c - large states, written while they are sent.
 *
 * The library asks for a piece when the one before it is on its way. So a client that reads slowly,
 * or not at all, holds a view, which costs what has changed since, and a piece or two; not the
 * hundreds of megabytes that the JSON of a million bodies has.
 */
#include <stdlib.h>

#include "mcp/alloc.h"
#include "rest/rest.h"

enum { PIECE_BYTES = 256 << 10, PIECE_ROOM = PIECE_BYTES + (32 << 10) };

typedef struct large_state {
    mcp_buf text; /* the body without the state */
    size_t at;    /* where that goes */
    universe_view *view;
    unsigned fields;
    universe_writing writing;
} large_state;

static mcp_status next_piece(mcp_buf *piece, bool *is_last, void *data, mcp_error *err)
{
    large_state *state = data;
    const mcp_buf *text = &state->text;

    mcp_buf_reserve(piece, PIECE_ROOM);
    if (!state->writing.has_begun && state->at > 0)
        mcp_buf_append(piece, text->data, state->at);
    mcp_status st = universe_view_write_on(&state->writing, state->view, state->fields, PIECE_BYTES,
                                           piece, err);
    *is_last = state->writing.is_whole;
    if (st == MCP_OK && *is_last && text->length > state->at)
        mcp_buf_append(piece, text->data + state->at, text->length - state->at);
    return st;
}

static void done(void *data)
{
    large_state *state = data;

    universe_view_free(state->view);
    mcp_buf_clear(&state->text);
    free(state);
}

mcp_status universe_rest_send_state(mcp_call *call, int http_status, mcp_buf *body,
                                    const universe_gap *gap, universe_view *view, unsigned fields)
{
    if (!gap->is_open)
        return universe_rest_send(call, http_status, body);
    large_state *state = mcp_alloc_zeroed(1, sizeof *state);
    if (!state) {
        mcp_buf_clear(body);
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for an answer");
    }
    state->text = *body;
    mcp_buf_init(body, body->max_bytes);
    state->at = gap->at;
    state->view = universe_view_keep(view);
    state->fields = fields;
    mcp_call_status(call, http_status);
    const mcp_body_source source = { .next = next_piece, .done = done, .data = state };
    return mcp_call_send_from(call, "application/json", &source);
}
