/*
 * heap.h - blocks of any size in persistent pages: interned strings, texts, optional numbers.
 *
 * A block is a run of units of 16 bytes inside one page, named by the number of its first unit.
 * Freed blocks are used again for blocks of the same size class. A text longer than a page is a
 * chain of blocks.
 */
#ifndef UNIVERSE_HEAP_H
#define UNIVERSE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "model/pages/array.h"

#define UNIVERSE_HEAP_CLASSES 28
#define UNIVERSE_BLOCK_MAX 4096 /* bytes */

typedef struct universe_heap {
    universe_array units;
    uint32_t used; /* units given so far */
    uint32_t free[UNIVERSE_HEAP_CLASSES];
} universe_heap;

typedef struct universe_state universe_state;
typedef struct universe_core universe_core;

void universe_heap_init(universe_heap *heap);

/* A block of that size, its content undefined; 0 when the state has `failed`. */
uint32_t universe_block_new(universe_state *state, size_t bytes);
void universe_block_free(universe_state *state, uint32_t block, size_t bytes);
const void *universe_block_at(const universe_core *core, uint32_t block);
void *universe_block_edit(universe_state *state, uint32_t block);

/* ---- strings: each content once, counted ----------------------------------------------------- */

/* The string of that content with one holder more; at most UNIVERSE_TEXT_MAX bytes. */
uint32_t universe_string_hold(universe_state *state, const char *bytes, size_t length);
void universe_string_drop(universe_state *state, uint32_t string);

/* The string of that content, 0 when there is none. */
uint32_t universe_string_find(const universe_core *core, const char *bytes, size_t length);

/* Its bytes; not ended by NUL. */
const char *universe_string_at(const universe_core *core, uint32_t string, size_t *length);

/* ---- texts: bytes of any length -------------------------------------------------------------- */

/* 0 for no bytes. */
uint32_t universe_text_new(universe_state *state, const char *bytes, size_t length);
void universe_text_free(universe_state *state, uint32_t text);
size_t universe_text_length(const universe_core *core, uint32_t text);
void universe_text_append(mcp_buf *out, const universe_core *core, uint32_t text);

#endif
