/*
 * ranks.c - words and bytes of the ranks.
 *
 * Words have one size, so a rank that ends is understood whatever step the others are at. They are
 * compared by every rank in the same way: either all continue or none does, and nobody speaks after
 * a disagreement. A rank that ended does not speak again, so those that heard it do not either.
 */
#include "sddp/ranks/ranks.h"

#include <stdio.h>
#include <string.h>

#include "mcp/arena.h"
#include "mcp/clock.h"

#define UNIT 8 /* offsets are multiples of it */
#define BYTES_MAX ((size_t)16 << 30)

/* Of a rank that ends while rank 0 works, and of rank 0 then: an internal failure. */
#define EXIT_WITHOUT_RANK 4

_Static_assert(sizeof(rank_word) % UNIT == 0, "words follow one another");

struct ranks {
    mcp_arena *arena;
    const rank_exchange *exchange;
    rank_word *words;     /* by rank */
    size_t *first;        /* offsets of gathered bytes, by rank, and their end */
    size_t *word_offsets; /* the same of words */
    mcp_buf own, all;
    uint32_t number; /* of the next exchange */
    bool is_over, is_broken;
    rank_loss lost; /* when it is over, but not by ranks_end */
    rank_times times;
    char why[sizeof((mcp_error *)0)->message];
};

mcp_status ranks_new(ranks **out, const rank_exchange *exchange, mcp_error *err)
{
    size_t count = exchange->size;
    mcp_arena *arena = mcp_arena_new(0);
    ranks *made = arena ? mcp_arena_alloc(arena, sizeof *made) : NULL;

    if (made) {
        made->exchange = exchange;
        made->words = mcp_arena_array(arena, count, sizeof *made->words);
        made->first = mcp_arena_array(arena, count + 1, sizeof *made->first);
        made->word_offsets = mcp_arena_array(arena, count + 1, sizeof *made->word_offsets);
    }
    if (!made || !made->words || !made->first || !made->word_offsets) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu ranks", count);
    }
    made->arena = arena;
    mcp_buf_init(&made->own, BYTES_MAX);
    mcp_buf_init(&made->all, BYTES_MAX);
    for (size_t i = 0; i <= count; i++)
        made->word_offsets[i] = i * sizeof *made->words;
    *out = made;
    return MCP_OK;
}

void ranks_free(ranks *self)
{
    if (!self)
        return;
    mcp_buf_clear(&self->own);
    mcp_buf_clear(&self->all);
    mcp_arena_free(self->arena);
}

unsigned ranks_count(const ranks *self)
{
    return self ? self->exchange->size : 1;
}

unsigned ranks_own(const ranks *self)
{
    return self ? self->exchange->rank : 0;
}

size_t ranks_first_task(const ranks *self, size_t tasks, unsigned rank)
{
    size_t each = tasks / ranks_count(self), more = tasks % ranks_count(self);

    return rank * each + (rank < more ? rank : more);
}

/* ---- words ----------------------------------------------------------------------------------- */

static mcp_status lose(ranks *self, const char *operation, unsigned rank, int code,
                       const char *detail, mcp_error *err)
{
    self->is_over = true;
    self->lost = (rank_loss){ .operation = operation, .rank = rank, .code = code };
    snprintf(self->lost.detail, sizeof self->lost.detail, "%s", detail);
    return mcp_error_set(err, MCP_E_INTERNAL, "%s", self->lost.detail);
}

static mcp_status exchange(ranks *self, void *all, const void *own, const size_t *first,
                           bool for_all, mcp_error *err)
{
    const rank_exchange *port = self->exchange;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = port->gather(all, own, first, for_all, port->data, &cause);

    if (st == MCP_OK)
        return MCP_OK;
    self->is_broken = true;
    return lose(self, "gather", port->rank, (int)st, cause.message, err);
}

static mcp_status gather_words(ranks *self, rank_word *own, mcp_error *err)
{
    int64_t begin = mcp_clock_mono_ns();

    if (self->is_over)
        return mcp_error_set(err, MCP_E_INTERNAL, "%s", self->lost.detail);
    own->number = self->number++;
    mcp_status st = exchange(self, self->words, own, self->word_offsets, true, err);
    self->times.waiting_ns += mcp_clock_mono_ns() - begin;
    return st;
}

/* The words of all ranks are those of one step. */
static mcp_status compare(ranks *self, mcp_error *err)
{
    char text[sizeof((mcp_error *)0)->message];

    for (unsigned i = 0; i < self->exchange->size; i++) {
        const rank_word *word = &self->words[i];
        if (word->step != RANK_ENDS)
            continue;
        snprintf(text, sizeof text, "rank %u has ended: %.200s", i, word->message);
        return lose(self, "end", i, word->exit_status, text, err);
    }
    for (unsigned i = 1; i < self->exchange->size; i++) {
        const rank_word *word = &self->words[i], *standard = &self->words[0];
        if (word->step == standard->step && word->number == standard->number &&
            word->check == standard->check)
            continue;
        snprintf(text, sizeof text,
                 standard->step == RANK_JOINS
                     ? "the study of rank %u is not that of rank 0: its files, or the arithmetic "
                       "of its machine, differ"
                     : "rank %u is not at the step of rank 0, or has another policy",
                 i);
        return lose(self, "agree", i, 0, text, err);
    }
    return MCP_OK;
}

mcp_status ranks_speak(ranks *self, rank_word *own, const rank_word **all, mcp_error *err)
{
    mcp_status st = gather_words(self, own, err);

    if (st == MCP_OK)
        st = compare(self, err);
    if (st == MCP_OK && all)
        *all = self->words;
    return st;
}

mcp_status ranks_meet(ranks *self, mcp_error *err)
{
    rank_word word = { .step = RANK_MEETS };

    return self ? ranks_speak(self, &word, NULL, err) : MCP_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

mcp_buf *ranks_own_bytes(ranks *self)
{
    mcp_buf_reset(&self->own);
    return &self->own;
}

void ranks_pad(mcp_buf *bytes)
{
    static const char zeros[UNIT];

    mcp_buf_append(bytes, zeros, (UNIT - bytes->length % UNIT) % UNIT);
}

mcp_status ranks_gather(ranks *self, const mcp_buf *own, bool for_all, const char **all,
                        const size_t **first, mcp_error *err)
{
    bool receives = for_all || self->exchange->rank == 0;
    int64_t begin = mcp_clock_mono_ns();
    size_t total = 0;
    char *room = NULL;

    for (unsigned i = 0; i < self->exchange->size; i++) {
        self->first[i] = total;
        total += self->words[i].bytes;
    }
    self->first[self->exchange->size] = total;
    mcp_buf_reset(&self->all);
    if (receives)
        room = mcp_buf_reserve(&self->all, total > 0 ? total : UNIT);
    if (receives && !room) {
        self->is_broken = true;
        return lose(self, "gather", self->exchange->rank, (int)self->all.status,
                    "no memory for what the ranks exchange", err);
    }
    mcp_status st = exchange(self, room, own->data, self->first, for_all, err);
    self->times.moving_ns += mcp_clock_mono_ns() - begin;
    *all = room;
    *first = self->first;
    return st;
}

rank_times ranks_times(const ranks *self)
{
    return self ? self->times : (rank_times){ 0, 0 };
}

/* ---- the end --------------------------------------------------------------------------------- */

const rank_loss *ranks_lost(const ranks *self)
{
    return self && self->lost.operation ? &self->lost : NULL;
}

bool ranks_is_broken(const ranks *self)
{
    return self && self->is_broken;
}

void ranks_explain(ranks *self, const char *why)
{
    if (self && !self->why[0])
        snprintf(self->why, sizeof self->why, "%s", why);
}

static int agreed_status(const ranks *self)
{
    int status = self->words[0].exit_status;

    if (self->words[0].step != RANK_ENDS)
        return EXIT_WITHOUT_RANK;
    for (unsigned i = 1; i < self->exchange->size; i++)
        if (status == 0 && self->words[i].step == RANK_ENDS)
            status = self->words[i].exit_status;
    return status;
}

int ranks_end(ranks *self, int exit_status)
{
    rank_word word = { .step = RANK_ENDS, .exit_status = exit_status };

    if (!self->is_over) {
        memcpy(word.message, self->why, sizeof word.message);
        gather_words(self, &word, NULL);
        self->is_over = true;
    }
    return self->is_broken ? EXIT_WITHOUT_RANK : agreed_status(self);
}
