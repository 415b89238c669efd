/*
 * arena.c - chunks of memory that are handed out from front to back and freed together.
 *
 *     arena, in its first chunk        newer chunks
 *     [chunk|arena|used....|free]  <-  [chunk|used..........|free]  <-  current
 *
 * The first chunk holds the arena itself, so a small message costs one malloc. Chunks double from 4
 * KiB to 1 MiB. What is too large for the next chunk gets one of its own, which is put behind the
 * current one when the current one has more room left.
 *
 * Arenas of calls take their chunks from one budget; what it refuses comes back as MCP_E_BUSY.
 *
 * The bound counts the bytes that were asked for; alignment and chunk headers come on top, at most
 * 15 bytes a piece. Under AddressSanitizer the free part is poisoned and pieces keep a gap, so that
 * reading past a piece is found even though malloc knows only the chunk.
 */
#include "mcp/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena_int.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HAS_ASAN)
#include <sanitizer/asan_interface.h>
#define GAP ((size_t)16)
#define BYTE_ALIGNMENT ((size_t)8) /* what the shadow memory can tell apart */
#define POISON(from, size) ASAN_POISON_MEMORY_REGION(from, size)
#define UNPOISON(from, size) ASAN_UNPOISON_MEMORY_REGION(from, size)
#else
#define GAP ((size_t)0)
#define BYTE_ALIGNMENT ((size_t)1)
#define POISON(from, size) ((void)0)
#define UNPOISON(from, size) ((void)0)
#endif

#define ALIGNMENT alignof(max_align_t)
#define FIRST_CHUNK ((size_t)4096)
#define LARGEST_CHUNK ((size_t)1 << 20)
#define DEFAULT_MAX ((size_t)64 << 20)

typedef struct chunk {
    struct chunk *older;
    char *free; /* first byte not handed out */
    char *end;
    size_t padding; /* keeps the size a multiple of ALIGNMENT */
} chunk;

struct mcp_arena {
    chunk *current;
    size_t next_chunk; /* size of the chunk that comes next */
    size_t used;
    size_t max_bytes;
    mcp_status failure;
    mcp__arena_budget *budget; /* NULL: none */
    size_t charged;            /* to it */
};

static_assert(sizeof(chunk) % alignof(max_align_t) == 0, "what follows a chunk's head is aligned");

/* `alignment` is a power of two. */
static char *align_up(char *at, size_t alignment)
{
    return at + (-(uintptr_t)at & (alignment - 1));
}

static chunk *chunk_new(size_t size)
{
    chunk *fresh = mcp_alloc(size);

    if (!fresh)
        return NULL;
    *fresh = (chunk){ .free = (char *)(fresh + 1), .end = (char *)fresh + size };
    POISON(fresh->free, (size_t)(fresh->end - fresh->free));
    return fresh;
}

/* A piece of the chunk, or NULL when it does not fit. */
static void *chunk_take(chunk *from, size_t size, size_t alignment)
{
    char *piece = align_up(from->free, alignment);

    if (piece > from->end || (size_t)(from->end - piece) < size)
        return NULL;
    from->free = piece + size;
    if ((size_t)(from->end - from->free) > GAP)
        from->free += GAP;
    UNPOISON(piece, size);
    return piece;
}

mcp_arena *mcp_arena_new(size_t max_bytes)
{
    return mcp__arena_new_within(max_bytes, NULL);
}

/* Whether the budget has that much more. `is_first`: it is taken in any case, so that a small
 * request can be read and refused. */
static bool charge(mcp_arena *arena, size_t size, bool is_first)
{
    mcp__arena_budget *budget = arena->budget;

    if (!budget)
        return true;
    size_t before = atomic_fetch_add(&budget->used, size);
    if (!is_first && (before > budget->max_bytes || size > budget->max_bytes - before)) {
        (void)atomic_fetch_sub(&budget->used, size);
        return false;
    }
    arena->charged += size;
    return true;
}

mcp_arena *mcp__arena_new_within(size_t max_bytes, mcp__arena_budget *budget)
{
    chunk *first = chunk_new(FIRST_CHUNK);
    mcp_arena *arena = first ? chunk_take(first, sizeof *arena, ALIGNMENT) : NULL;

    if (!arena)
        return NULL;
    *arena = (mcp_arena){ .current = first,
                          .next_chunk = FIRST_CHUNK * 2,
                          .max_bytes = max_bytes ? max_bytes : DEFAULT_MAX,
                          .budget = budget };
    (void)charge(arena, FIRST_CHUNK, true);
    return arena;
}

void mcp_arena_free(mcp_arena *arena)
{
    chunk *at = arena ? arena->current : NULL;

    if (arena && arena->budget)
        (void)atomic_fetch_sub(&arena->budget->used, arena->charged);
    while (at) {
        chunk *older = at->older;
        /* The memory goes back as malloc gave it: some allocators write into it. */
        UNPOISON(at, (size_t)(at->end - (char *)at));
        free(at);
        at = older;
    }
}

static size_t room(const chunk *in)
{
    return (size_t)(in->end - in->free);
}

static void *fail(mcp_arena *arena, mcp_status why)
{
    arena->failure = why;
    return NULL;
}

/* Chain a chunk that has at least `size` bytes; the one with more room left becomes the current. */
static chunk *add_chunk(mcp_arena *arena, size_t size)
{
    size_t needed = sizeof(chunk) + size + ALIGNMENT + GAP;
    bool is_ordinary = needed <= arena->next_chunk;
    size_t taken = is_ordinary ? arena->next_chunk : needed;
    bool is_affordable = charge(arena, taken, false);
    chunk *fresh = is_affordable ? chunk_new(taken) : NULL;

    if (!fresh)
        return fail(arena, is_affordable ? MCP_E_NOMEM : MCP_E_BUSY);
    if (is_ordinary && arena->next_chunk < LARGEST_CHUNK)
        arena->next_chunk *= 2;
    if (is_ordinary || room(arena->current) < room(fresh) - size) {
        fresh->older = arena->current;
        arena->current = fresh;
    } else {
        fresh->older = arena->current->older;
        arena->current->older = fresh;
    }
    return fresh;
}

static void *take(mcp_arena *arena, size_t size, size_t alignment)
{
    size_t counted = size ? size : 1;

    if (!arena)
        return NULL;
    if (counted > arena->max_bytes - arena->used || counted > SIZE_MAX / 2)
        return fail(arena, MCP_E_LIMIT);
    void *piece = chunk_take(arena->current, counted, alignment);
    if (!piece) {
        chunk *fresh = add_chunk(arena, counted);
        if (!fresh)
            return NULL;
        piece = chunk_take(fresh, counted, alignment);
    }
    arena->used += counted;
    return piece;
}

void *mcp_arena_alloc(mcp_arena *arena, size_t size)
{
    void *piece = take(arena, size, ALIGNMENT);

    return piece ? memset(piece, 0, size) : NULL;
}

void *mcp_arena_array(mcp_arena *arena, size_t count, size_t size)
{
    if (arena && size != 0 && count > SIZE_MAX / size)
        return fail(arena, MCP_E_LIMIT);
    return mcp_arena_alloc(arena, count * size);
}

char *mcp__arena_bytes(mcp_arena *arena, size_t size)
{
    return take(arena, size, BYTE_ALIGNMENT);
}

char *mcp_arena_strdup(mcp_arena *arena, const char *text)
{
    return text ? mcp_arena_strndup(arena, text, strlen(text)) : NULL;
}

char *mcp_arena_strndup(mcp_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX && (text || length == 0) ? mcp__arena_bytes(arena, length + 1)
                                                            : NULL;

    if (!copy)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *mcp_arena_printf(mcp_arena *arena, const char *format, ...)
{
    char *text = NULL;
    va_list measured;
    va_list written;

    va_start(measured, format);
    va_copy(written, measured);
    int length = vsnprintf(NULL, 0, format, measured);
    if (length >= 0)
        text = mcp__arena_bytes(arena, (size_t)length + 1);
    if (text)
        (void)vsnprintf(text, (size_t)length + 1, format, written);
    va_end(written);
    va_end(measured);
    return text;
}

size_t mcp_arena_used(const mcp_arena *arena)
{
    return arena ? arena->used : 0;
}

mcp_status mcp__arena_failure(const mcp_arena *arena)
{
    return arena ? arena->failure : MCP_E_NOMEM;
}
