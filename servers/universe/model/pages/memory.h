/*
 * memory.h - the one door to malloc of the model, counted, and refusing at a chosen moment for
 * tests.
 */
#ifndef UNIVERSE_MEMORY_H
#define UNIVERSE_MEMORY_H

#include <stddef.h>

/* Zeroed memory; NULL when there is none. The caller remembers the size. */
void *universe_alloc(size_t size);

/* The same, its content undefined. */
void *universe_alloc_raw(size_t size);

/* Room for the same bytes and more; NULL leaves the old room as it was. New bytes are not
 * zeroed. */
void *universe_realloc(void *memory, size_t old_size, size_t size);

/* NULL is fine. */
void universe_free(void *memory, size_t size);

/* Bytes that pages of all universes of this process take; any thread. */
size_t universe_memory_used(void);

/* For tests: let `successes` more allocations succeed and refuse all after them; negative ends
 * it. */
void universe_memory_refuse_after(long successes);

#endif
