/*
 * cuts.h - the cuts of one stage: theta >= intercept + slope . (outgoing state).
 *
 * The pool keeps every cut; one that selection has deactivated stays, but constrains no more. Only
 * the working set, a short ordered list of recently tight active cuts, is held as rows by the
 * stage's programs; a solve adds the others that it violates (solve.h), so the result is that of
 * all active cuts. Pool and set change between passes only, on the calling thread; inside a pass
 * all threads read them.
 *
 * Cuts lie in chunks that never move, so a pool grows without copying its coefficients.
 */
#ifndef SDDP_STAGE_CUTS_H
#define SDDP_STAGE_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/* Cuts whose coefficients lie together. */
#define CUT_CHUNK 64

/* The iteration of a cut that a policy brought along (warm start). */
#define CUT_LOADED UINT32_MAX

/* What is known of a cut besides its coefficients. */
typedef struct cut_record {
    uint32_t iteration;    /* that made it, from 1; or CUT_LOADED */
    uint32_t forward;      /* the trial state of that iteration at which it was made */
    uint32_t active_count; /* backward solves in which its dual was above the tolerance */
    uint32_t last_active;  /* the last iteration with one; at first that of its making */
    uint32_t window;       /* a bit for each of the last 32 iterations, bit 0 the running or last
                              one: was tight in some solve */
} cut_record;

typedef struct cut_pool {
    size_t dimension;
    size_t count, capacity;
    size_t active;     /* of `count` */
    size_t thetas;     /* 1; multi-cut: the openings of the next stage */
    double *intercept; /* by cut */
    double **slope;    /* by chunk: [j * CUT_CHUNK + place]: a search runs along memory */
    size_t chunks;
    uint32_t *theta;    /* by cut: multi-cut: the opening of the next stage that it is of; else 0 */
    uint8_t *is_active; /* by cut: constrains */
    cut_record *record; /* by cut */
    uint32_t *hits;     /* by cut: what the running iteration adds to its active_count */
    uint32_t *set;      /* the working set: cut numbers in the order of their rows */
    size_t set_count;
    uint8_t *in_set;  /* by cut */
    uint64_t version; /* grows with each change of the set */
    uint64_t epoch;   /* grows when cut numbers change their meaning */
} cut_pool;

void cuts_init(cut_pool *pool, size_t dimension, size_t thetas);

/* The capacity that holds `extra` more cuts: the present one where that is enough. */
size_t cuts_capacity_for(const cut_pool *pool, size_t extra);

/* Make room for `extra` more cuts. MCP_OK; MCP_E_NOMEM: the cuts are as before. */
mcp_status cuts_reserve(cut_pool *pool, mcp_arena *arena, size_t extra, mcp_error *err);

/* Coefficient j of a cut. */
double cuts_slope(const cut_pool *pool, size_t cut, size_t j);

/*
 * Append an active cut to the pool; room for it is reserved. It is not in the working set: see
 * cuts_touch.
 *
 * MCP_OK; MCP_E_PARAMS: a number of the cut is NaN or beyond LP_LARGEST, and the pool is as before
 */
mcp_status cuts_append(cut_pool *pool, double intercept, const double *slope, uint32_t theta,
                       const cut_record *record, mcp_error *err);

/* The cut constrains no more; it leaves the working set at the next cuts_prune. */
void cuts_deactivate(cut_pool *pool, size_t cut);

/* Remove the cuts from `count` on. */
void cuts_truncate(cut_pool *pool, size_t count);

/* Record that an active cut was tight, and add it to the working set if it is not in it. */
void cuts_touch(cut_pool *pool, uint32_t cut);

/* Remove the cuts from the working set that were not tight in the last `iterations` ones, 1 to 32,
 * and those that are no longer active. */
void cuts_prune(cut_pool *pool, unsigned iterations);

/* The windows move on. */
void cuts_begin_iteration(cut_pool *pool);

/* Hits become activity. */
void cuts_end_iteration(cut_pool *pool, uint32_t iteration);

/* Undo cuts_begin_iteration, and what the pool recorded since: only cuts, hits and windows. */
void cuts_take_back(cut_pool *pool, size_t count);

/* Replace the working set: its cuts in their order. */
void cuts_set_rows(cut_pool *pool, const uint32_t *set, size_t count);

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

/* Which cuts a search leaves out. */
typedef struct cut_search {
    const double *limits;  /* by theta: values up to here are no violation */
    const uint32_t *known; /* rows already, outside the working set */
    size_t known_count;
    bool with_inactive; /* deactivated cuts count too */
} cut_search;

/* The most violated cuts outside the working set: worst first, the earlier one on ties; at most
 * `most` of them, which is at most 8. */
size_t cuts_violated(const cut_pool *pool, const double *values, const cut_search *search,
                     uint32_t *out, size_t most);

#endif
