/*
 * outbox.c - pieces of bytes in a row, written from the front.
 *
 * A piece is one block: its head, and PIECE_SIZE bytes after it; or, for a run that is not worth
 * copying, its head alone and the run's memory, which is freed or released when it has left. Up to
 * SPARES empty pieces are kept, so that an answer at once costs no allocation.
 */
#include "net/http/outbox.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define PIECE_SIZE ((size_t)4096)
#define LARGE_SIZE ((size_t)16 * 1024)
#define SPARES 64

struct mcp__piece {
    mcp__piece *next;
    char *bytes; /* `own`, or a run's memory, to be freed or released */
    void (*release)(void *owner);
    void *owner;
    size_t begin;
    size_t end;
    size_t capacity;
    char own[];
};

static mcp__piece *piece_new(mcp__pieces *pieces, size_t size)
{
    mcp__piece *piece = pieces->spare;

    if (size <= PIECE_SIZE && piece) {
        pieces->spare = piece->next;
        pieces->count--;
        piece->next = NULL;
        return piece;
    }
    size_t capacity = size < PIECE_SIZE ? PIECE_SIZE : size;
    if (capacity > SIZE_MAX - sizeof *piece)
        return NULL;
    piece = mcp_alloc(sizeof *piece + capacity);
    if (piece)
        *piece = (mcp__piece){ .bytes = piece->own, .capacity = capacity };
    return piece;
}

static void piece_free(mcp__pieces *pieces, mcp__piece *piece)
{
    if (piece->bytes == piece->own && piece->capacity == PIECE_SIZE && pieces->count < SPARES) {
        piece->begin = 0;
        piece->end = 0;
        piece->next = pieces->spare;
        pieces->spare = piece;
        pieces->count++;
        return;
    }
    if (piece->release) {
        piece->release(piece->owner);
    } else if (piece->bytes != piece->own) {
        pieces->taken -= piece->capacity;
        free(piece->bytes);
    }
    free(piece);
}

static void append(mcp__outbox *out, mcp__piece *piece)
{
    if (out->last)
        out->last->next = piece;
    else
        out->first = piece;
    out->last = piece;
}

mcp_status mcp__outbox_put(mcp__outbox *out, mcp__pieces *pieces, const void *bytes, size_t length)
{
    mcp__piece *last = out->last;
    size_t room = last ? last->capacity - last->end : 0;
    size_t head = length < room ? length : room;
    mcp__piece *fresh = NULL;

    if (length == 0)
        return MCP_OK;
    if (head < length) {
        fresh = piece_new(pieces, length - head);
        if (!fresh)
            return MCP_E_NOMEM;
    }
    if (head > 0) {
        memcpy(last->bytes + last->end, bytes, head);
        last->end += head;
    }
    if (fresh) {
        memcpy(fresh->bytes, (const char *)bytes + head, length - head);
        fresh->end = length - head;
        append(out, fresh);
    }
    out->queued += length;
    return MCP_OK;
}

mcp_status mcp__outbox_put_buf(mcp__outbox *out, mcp__pieces *pieces, mcp_buf *buf)
{
    if (buf->length < LARGE_SIZE) {
        mcp_status st = mcp__outbox_put(out, pieces, buf->data, buf->length);
        mcp_buf_clear(buf);
        return st;
    }
    mcp__piece *piece = mcp_alloc(sizeof *piece);
    if (!piece) {
        mcp_buf_clear(buf);
        return MCP_E_NOMEM;
    }
    *piece = (mcp__piece){ .end = buf->length };
    piece->bytes = mcp_buf_take(buf, &piece->capacity);
    pieces->taken += piece->capacity;
    append(out, piece);
    out->queued += piece->end;
    return MCP_OK;
}

mcp_status mcp__outbox_put_shared(mcp__outbox *out, const mcp__shared *run)
{
    mcp__piece *piece = run->length > 0 ? mcp_alloc(sizeof *piece) : NULL;

    if (!piece) {
        run->release(run->owner);
        return run->length > 0 ? MCP_E_NOMEM : MCP_OK;
    }
    *piece = (mcp__piece){
        .bytes = (char *)(uintptr_t)run->bytes, /* only read. NOLINT(performance-no-int-to-ptr) */
        .end = run->length,
        .capacity = run->length,
        .release = run->release,
        .owner = run->owner
    };
    append(out, piece);
    out->queued += run->length;
    return MCP_OK;
}

int mcp__outbox_parts(const mcp__outbox *out, struct iovec *parts, int room)
{
    int count = 0;

    for (const mcp__piece *at = out->first; at && count < room; at = at->next) {
        parts[count].iov_base = at->bytes + at->begin;
        parts[count++].iov_len = at->end - at->begin;
    }
    return count;
}

void mcp__outbox_drop(mcp__outbox *out, mcp__pieces *pieces, size_t count)
{
    out->queued -= count;
    while (count > 0) {
        mcp__piece *piece = out->first;
        assert(piece); /* no more is dropped than was queued */
        size_t remainder = piece->end - piece->begin;
        if (count < remainder) {
            piece->begin += count;
            return;
        }
        count -= remainder;
        out->first = piece->next;
        if (!out->first)
            out->last = NULL;
        piece_free(pieces, piece);
    }
}

void mcp__outbox_clear(mcp__outbox *out, mcp__pieces *pieces)
{
    mcp__outbox_drop(out, pieces, out->queued);
}

void mcp__pieces_clear(mcp__pieces *pieces)
{
    while (pieces->spare) {
        mcp__piece *piece = pieces->spare;
        pieces->spare = piece->next;
        free(piece);
    }
    pieces->count = 0;
}
