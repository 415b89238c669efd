/*
 * heap.c - blocks, strings and texts.
 *
 * Blocks never move and never cross a page, so a block can be read as plain memory. Size classes
 * are a quarter of a power of two apart; what is left of a page when a block does not fit goes to
 * the free lists. A free block holds the handle of the next one of its class.
 */
#include "model/heap.h"

#include "mcp/hash.h"

#include <string.h>

#include "model/core.h"

#define UNIT 16u
#define PAGE_UNITS (UNIVERSE_LEAF_MAX / UNIT)

static const uint16_t class_units[UNIVERSE_HEAP_CLASSES] = {
    1,  2,  3,  4,  5,  6,  7,  8,  10,  12,  14,  16,  20,  24,
    28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256,
};

/* A content that is kept once; its bytes follow. */
typedef struct interned {
    uint32_t holders;
    uint32_t chain;
    uint32_t length;
} interned;

/* A piece of a text; its bytes follow. */
typedef struct segment {
    uint32_t next;
    uint32_t length;
} segment;

#define SEGMENT_MAX (UNIVERSE_BLOCK_MAX - sizeof(segment))

void universe_heap_init(universe_heap *heap)
{
    universe_array_init(&heap->units, UNIT, 8);
    heap->used = 1;
    memset(heap->free, 0, sizeof heap->free);
}

/* The smallest class that holds so many units. */
static unsigned class_of(size_t units)
{
    unsigned size_class = 0;

    while (class_units[size_class] < units)
        size_class++;
    return size_class;
}

const void *universe_block_at(const universe_core *core, uint32_t block)
{
    return universe_array_row(&core->heap.units, block);
}

void *universe_block_edit(universe_state *state, uint32_t block)
{
    void *room = universe_array_edit(&state->core.heap.units, block);

    if (room)
        return room;
    state->failed = true;
    return state->scratch;
}

static void push_free(universe_state *state, uint32_t block, unsigned size_class)
{
    universe_heap *heap = &state->core.heap;

    *(uint32_t *)universe_block_edit(state, block) = heap->free[size_class];
    heap->free[size_class] = block;
}

/* Give what is left of the present page to the free lists. */
static void finish_page(universe_state *state)
{
    universe_heap *heap = &state->core.heap;
    uint32_t left = (PAGE_UNITS - heap->used % PAGE_UNITS) % PAGE_UNITS;

    while (left > 0 && !state->failed) {
        unsigned size_class = class_of(left);
        if (class_units[size_class] > left)
            size_class--;
        push_free(state, heap->used, size_class);
        heap->used += class_units[size_class];
        left -= class_units[size_class];
    }
}

uint32_t universe_block_new(universe_state *state, size_t bytes)
{
    universe_heap *heap = &state->core.heap;
    unsigned size_class = class_of((bytes + UNIT - 1) / UNIT);
    uint32_t block = heap->free[size_class];

    if (state->failed)
        return 0;
    if (block) {
        heap->free[size_class] = *(const uint32_t *)universe_block_at(&state->core, block);
        return block;
    }
    if (heap->used % PAGE_UNITS + class_units[size_class] > PAGE_UNITS)
        finish_page(state);
    if (heap->used > UINT32_MAX - 2 * PAGE_UNITS)
        state->failed = true;
    block = heap->used;
    heap->used += class_units[size_class];
    return state->failed ? 0 : block;
}

void universe_block_free(universe_state *state, uint32_t block, size_t bytes)
{
    if (block && !state->failed)
        push_free(state, block, class_of((bytes + UNIT - 1) / UNIT));
}

/* ---- strings --------------------------------------------------------------------------------- */

static const interned *string_at(const universe_core *core, uint32_t string)
{
    return universe_block_at(core, string);
}

const char *universe_string_at(const universe_core *core, uint32_t string, size_t *length)
{
    const interned *found = string_at(core, string);

    *length = found->length;
    return (const char *)(found + 1);
}

static uint32_t string_bucket(const universe_core *core, const char *bytes, size_t length)
{
    return universe_index_bucket(&core->strings, mcp_siphash13(core->hash_key, bytes, length));
}

uint32_t universe_string_find(const universe_core *core, const char *bytes, size_t length)
{
    if (core->strings.buckets == 0)
        return 0;
    uint32_t at = universe_index_head(&core->strings, string_bucket(core, bytes, length));
    while (at) {
        const interned *found = string_at(core, at);
        if (found->length == length && memcmp(found + 1, bytes, length) == 0)
            return at;
        at = found->chain;
    }
    return 0;
}

static uint32_t *head_edit(universe_state *state, uint32_t bucket)
{
    uint32_t *head = universe_array_edit(&state->core.strings.heads, bucket);

    if (head)
        return head;
    state->failed = true;
    return (uint32_t *)state->scratch;
}

static void string_chain(universe_state *state, uint32_t string)
{
    size_t length = 0;
    const char *bytes = universe_string_at(&state->core, string, &length);
    uint32_t bucket = string_bucket(&state->core, bytes, length);
    interned *mine = universe_block_edit(state, string);

    mine->chain = universe_index_head(&state->core.strings, bucket);
    *head_edit(state, bucket) = string;
}

/* Before a string comes: make room for it in the index. */
static void grow_strings(universe_state *state)
{
    uint32_t split = 0;

    if (!universe_index_grow(&state->core.strings, &split))
        return;
    uint32_t at = universe_index_head(&state->core.strings, split);
    *head_edit(state, split) = 0;
    while (at && !state->failed) {
        uint32_t next = string_at(&state->core, at)->chain;
        string_chain(state, at);
        at = next;
    }
}

uint32_t universe_string_hold(universe_state *state, const char *bytes, size_t length)
{
    uint32_t string = universe_string_find(&state->core, bytes, length);

    if (string) {
        ((interned *)universe_block_edit(state, string))->holders++;
        return string;
    }
    grow_strings(state);
    string = universe_block_new(state, sizeof(interned) + length);
    if (!string)
        return 0;
    interned *mine = universe_block_edit(state, string);
    *mine = (interned){ .holders = 1, .length = (uint32_t)length };
    memcpy(mine + 1, bytes, length);
    if (state->failed)
        return 0;
    string_chain(state, string);
    state->core.strings.count++;
    return string;
}

static void string_unchain(universe_state *state, uint32_t string)
{
    size_t length = 0;
    const char *bytes = universe_string_at(&state->core, string, &length);
    uint32_t bucket = string_bucket(&state->core, bytes, length);
    uint32_t next = string_at(&state->core, string)->chain;
    uint32_t at = universe_index_head(&state->core.strings, bucket);

    if (at == string) {
        *head_edit(state, bucket) = next;
        return;
    }
    while (at && string_at(&state->core, at)->chain != string)
        at = string_at(&state->core, at)->chain;
    if (at)
        ((interned *)universe_block_edit(state, at))->chain = next;
}

void universe_string_drop(universe_state *state, uint32_t string)
{
    if (!string || state->failed)
        return;
    interned *mine = universe_block_edit(state, string);
    if (state->failed || --mine->holders > 0)
        return;
    uint32_t length = mine->length;
    string_unchain(state, string);
    universe_block_free(state, string, sizeof(interned) + length);
    state->core.strings.count--;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const segment *segment_at(const universe_core *core, uint32_t text)
{
    return universe_block_at(core, text);
}

/* Pieces are made from the last to the first, so that each knows the next. */
uint32_t universe_text_new(universe_state *state, const char *bytes, size_t length)
{
    uint32_t text = 0;
    size_t left = length;

    while (left > 0) {
        size_t size = left % SEGMENT_MAX ? left % SEGMENT_MAX : SEGMENT_MAX;
        uint32_t block = universe_block_new(state, sizeof(segment) + size);
        if (!block)
            return 0;
        segment *piece = universe_block_edit(state, block);
        *piece = (segment){ .next = text, .length = (uint32_t)size };
        left -= size;
        memcpy(piece + 1, bytes + left, size);
        text = block;
    }
    return text;
}

void universe_text_free(universe_state *state, uint32_t text)
{
    while (text && !state->failed) {
        const segment *piece = segment_at(&state->core, text);
        uint32_t next = piece->next;
        universe_block_free(state, text, sizeof(segment) + piece->length);
        text = next;
    }
}

size_t universe_text_length(const universe_core *core, uint32_t text)
{
    size_t length = 0;

    for (; text; text = segment_at(core, text)->next)
        length += segment_at(core, text)->length;
    return length;
}

void universe_text_append(mcp_buf *out, const universe_core *core, uint32_t text)
{
    for (; text; text = segment_at(core, text)->next)
        mcp_buf_append(out, segment_at(core, text) + 1, segment_at(core, text)->length);
}
