/*
 * peer_memory.c - answers kept as lines of text, as a client on stdio would see them.
 */
#include "peer_memory.h"

#include <assert.h>
#include <string.h>

#define KEPT_MAX_BYTES ((size_t)256 * 1024 * 1024)

static void keep(mcp__peer_memory *memory, mcp_buf *message)
{
    assert(!message->data || !memchr(message->data, '\n', message->length));
    (void)mcp_buf_append(&memory->text, message->data, message->length);
    (void)mcp_buf_putc(&memory->text, '\n');
    mcp_buf_clear(message);
}

static void answer(mcp__peer *peer, mcp_buf *message)
{
    mcp__peer_memory *memory = (mcp__peer_memory *)peer;

    memory->answers++;
    keep(memory, message);
}

static void notify(mcp__peer *peer, mcp_buf *message)
{
    mcp__peer_memory *memory = (mcp__peer_memory *)peer;

    memory->notifications++;
    keep(memory, message);
}

static bool is_slow(const mcp__peer *peer)
{
    return ((const mcp__peer_memory *)peer)->is_slow;
}

static void no_reply(mcp__peer *peer)
{
    ((mcp__peer_memory *)peer)->skipped++;
}

void mcp__peer_memory_init(mcp__peer_memory *memory)
{
    *memory = (mcp__peer_memory){
        .peer = { .answer = answer, .notify = notify, .is_slow = is_slow, .no_reply = no_reply }
    };
    mcp_buf_init(&memory->text, KEPT_MAX_BYTES);
}

void mcp__peer_memory_clear(mcp__peer_memory *memory)
{
    mcp_buf_clear(&memory->text);
}

void mcp__peer_memory_reset(mcp__peer_memory *memory)
{
    mcp_buf_reset(&memory->text);
    memory->answers = 0;
    memory->notifications = 0;
    memory->skipped = 0;
}
