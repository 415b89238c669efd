/*
 * scratch_arena.c - the set-up and the tear-down that tests of written files share.
 */
#include "scratch_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ARENA_MAX ((size_t)1 << 30)

int scratch_arena_set_up(void **state)
{
    scratch_arena *self = calloc(1, sizeof *self);

    assert_non_null(self);
    scratch_open(&self->folder);
    self->arena = mcp_arena_new(ARENA_MAX);
    *state = self;
    return 0;
}

int scratch_arena_tear_down(void **state)
{
    scratch_arena *self = *state;

    mcp_arena_free(self->arena);
    scratch_close(&self->folder);
    free(self);
    return 0;
}

void scratch_arena_expect(const scratch_arena *self, mcp_status st)
{
    if (st != MCP_OK)
        fail_msg("%s", self->err.message);
}
