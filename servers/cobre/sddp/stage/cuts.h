/*
 * cuts.h - the cuts of one stage: theta >= intercept + slope . (outgoing state).
 *
 * The pool keeps every cut. Only the working set, a short ordered list of recently tight cuts, is
 * held as rows by the stage's programs; a solve adds the others that it violates (solve.h), so the
 * result is that of the whole pool. Pool and set change between parallel regions only, on the
 * calling thread; inside a region all threads read them.
 */
#ifndef SDDP_STAGE_CUTS_H
#define SDDP_STAGE_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

typedef struct cut_pool {
    size_t dimension;
    size_t count, capacity;
    double *intercept;    /* by cut */
    double *slope;        /* [j * capacity + cut]: a pass over all cuts runs along memory */
    uint32_t *last_tight; /* by cut: the iteration that needed it last */
    uint32_t *set;        /* the working set: cut numbers in the order of their rows */
    size_t set_count;
    uint8_t *in_set;  /* by cut */
    uint64_t version; /* grows with each change of the set */
    uint64_t epoch;   /* grows when cut numbers change their meaning */
} cut_pool;

void cuts_init(cut_pool *pool, size_t dimension);

/* The capacity that holds `extra` more cuts: the present one where that is enough. */
size_t cuts_capacity_for(const cut_pool *pool, size_t extra);

/* Make room for `capacity` cuts in all. MCP_OK; MCP_E_NOMEM: nothing has changed. */
mcp_status cuts_grow(cut_pool *pool, mcp_arena *arena, size_t capacity, mcp_error *err);

/* Append a cut to pool and working set; room for it is reserved. */
void cuts_append(cut_pool *pool, double intercept, const double *slope, uint32_t iteration);

/* Remove the cuts from `count` on. */
void cuts_truncate(cut_pool *pool, size_t count);

/* Record that a cut was tight, and add it to the working set if it is not in it. */
void cuts_touch(cut_pool *pool, uint32_t cut, uint32_t iteration);

/* Remove the cuts from the working set that were last tight before iteration `oldest`. */
void cuts_prune(cut_pool *pool, uint32_t oldest);

/*
 * The change of rows that held an earlier working set: `gone` receives the ascending positions to
 * delete from `rows`; the remaining rows are the beginning of the set.
 */
size_t cuts_gone(const cut_pool *pool, const uint32_t *rows, size_t count, int *gone);

/* The value of every cut at a state. */
void cuts_values(const cut_pool *pool, const double *state, double *values);

/* The same in parts: every cut's intercept, and what the entries `from` to `to` of the state add to
 * the values. */
void cuts_intercepts(const cut_pool *pool, double *values);
void cuts_add(const cut_pool *pool, size_t from, size_t to, const double *state, double *values);

/* The most violated cuts outside the working set and outside `known`, whose values are above
 * `limit`: worst first, the earlier one on ties; at most `most` of them, which is at most 8. */
size_t cuts_violated(const cut_pool *pool, const double *values, double limit,
                     const uint32_t *known, size_t known_count, uint32_t *out, size_t most);

#endif
