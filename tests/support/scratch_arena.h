/*
 * scratch_arena.h - a folder, an arena and an error of its own for each test.
 */
#ifndef SCRATCH_ARENA_H
#define SCRATCH_ARENA_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "scratch.h"

typedef struct scratch_arena {
    scratch folder;
    mcp_arena *arena; /* of 1 GiB */
    mcp_error err;
} scratch_arena;

/* The set-up and the tear-down of a test; its state is the scratch_arena. */
int scratch_arena_set_up(void **state);
int scratch_arena_tear_down(void **state);

/* A status other than MCP_OK ends the test with the error's message. */
void scratch_arena_expect(const scratch_arena *self, mcp_status st);

#endif
