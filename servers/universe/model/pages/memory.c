/*
 * memory.c - the one door to malloc of the model.
 *
 * States live as long as the process and are shared by threads, so they cannot lie in an arena.
 * What they take is counted, because a server that holds millions of bodies has to say where its
 * memory went.
 */
#include "model/pages/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mcp/alloc.h"

static atomic_size_t used;
static atomic_bool is_refusing;
static atomic_long successes_left;

static bool is_refused(void)
{
    return atomic_load_explicit(&is_refusing, memory_order_relaxed) &&
           atomic_fetch_sub(&successes_left, 1) <= 0;
}

static void *counted(void *memory, size_t size)
{
    if (memory)
        atomic_fetch_add_explicit(&used, size, memory_order_relaxed);
    return memory;
}

void *universe_alloc(size_t size)
{
    return is_refused() ? NULL : counted(mcp_alloc_zeroed(1, size), size);
}

void *universe_alloc_raw(size_t size)
{
    return is_refused() ? NULL : counted(mcp_alloc(size), size);
}

void *universe_realloc(void *memory, size_t old_size, size_t size)
{
    void *larger = is_refused() ? NULL : mcp_realloc(memory, size);

    if (larger)
        atomic_fetch_add_explicit(&used, size - old_size, memory_order_relaxed);
    return larger;
}

void universe_free(void *memory, size_t size)
{
    if (!memory)
        return;
    atomic_fetch_sub_explicit(&used, size, memory_order_relaxed);
    free(memory);
}

void universe_memory_refuse_after(long successes)
{
    atomic_store(&successes_left, successes);
    atomic_store(&is_refusing, successes >= 0);
}

size_t universe_memory_used(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed);
}
