/*
 * alloc.c - malloc behind a hook that can refuse.
 *
 * `successes_left` is negative in every program: then an allocation costs one relaxed load more
 * than malloc. A test that set it counts down, and every allocation below zero is refused, so that
 * a test can walk through all the places where memory may run out.
 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEVER (-1L)

static atomic_long successes_left = NEVER;
static atomic_bool refused;

static bool may_allocate(void)
{
    long left = atomic_load_explicit(&successes_left, memory_order_relaxed);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&successes_left, &left, left - 1))
            return true;
    }
    if (left < 0)
        return true;
    atomic_store(&refused, true);
    return false;
}

void *mcp_alloc(size_t size)
{
    return may_allocate() ? malloc(size) : NULL;
}

void *mcp_realloc(void *memory, size_t size)
{
    return may_allocate() ? realloc(memory, size) : NULL;
}

void *mcp_alloc_zeroed(size_t count, size_t size)
{
    return may_allocate() ? calloc(count, size) : NULL;
}

char *mcp_alloc_strdup(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? mcp_alloc(size) : NULL;

    return copy ? memcpy(copy, text, size) : NULL;
}

void mcp__alloc_fail_after(long successes)
{
    atomic_store(&refused, false);
    atomic_store(&successes_left, successes < 0 ? NEVER : successes);
}

bool mcp__alloc_was_refused(void)
{
    return atomic_load(&refused);
}
