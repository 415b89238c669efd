/*
 * peer_memory.h - a peer that keeps what it is sent: the transport of tests.
 */
#ifndef TESTS_PEER_MEMORY_H
#define TESTS_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/core/peer.h"

/** Everything in the order of sending; a test reads the fields. */
typedef struct mcp__peer_memory {
    mcp__peer peer; /* first */
    mcp_buf text;   /* each message and a newline behind it */
    size_t answers;
    size_t notifications;
    size_t skipped; /* calls that ended without an answer */
    bool is_slow;   /* set by the test */
} mcp__peer_memory;

void mcp__peer_memory_init(mcp__peer_memory *memory);

void mcp__peer_memory_clear(mcp__peer_memory *memory);

/** Forget what was sent. */
void mcp__peer_memory_reset(mcp__peer_memory *memory);

#endif
