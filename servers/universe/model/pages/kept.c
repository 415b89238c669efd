/*
 * kept.c - the texts kept with leaves, and their common bound.
 *
 * The bound is reserved before the memory is asked for, so that threads that keep at the same time
 * never pass it together. Where it is reached nothing is thrown out: what is kept goes with the
 * leaves that it belongs to.
 */
#include "model/pages/kept.h"

#include <stdatomic.h>
#include <string.h>

#include "model/pages/memory.h"

static atomic_size_t kept_bytes;

static size_t size_of(size_t length)
{
    return offsetof(universe_kept, text) + length;
}

static void give_back(size_t size)
{
    atomic_fetch_sub_explicit(&kept_bytes, size, memory_order_relaxed);
}

universe_kept *universe_kept_new(uint32_t form, const char *text, size_t length)
{
    size_t size = size_of(length);

    if (length > UNIVERSE_KEPT_MAX)
        return NULL;
    size_t before = atomic_fetch_add_explicit(&kept_bytes, size, memory_order_relaxed);
    universe_kept *kept = before + size <= UNIVERSE_KEPT_MAX ? universe_alloc_raw(size) : NULL;
    if (!kept) {
        give_back(size);
        return NULL;
    }
    kept->next = NULL;
    kept->form = form;
    kept->length = (uint32_t)length;
    memcpy(kept->text, text, length);
    return kept;
}

void universe_kept_free(universe_kept *kept)
{
    while (kept) {
        universe_kept *next = kept->next;
        size_t size = size_of(kept->length);
        give_back(size);
        universe_free(kept, size);
        kept = next;
    }
}

size_t universe_kept_bytes(void)
{
    return atomic_load_explicit(&kept_bytes, memory_order_relaxed);
}
