/*
 * group.h - many solves of one program that differ in a few of its numbers, answered together.
 *
 * A group is what one backward task solves: one stage, one trial state, some openings. An opening
 * is a lane. Lanes differ in the values of the layout's items, and in what the part of the outgoing
 * state that no column holds (inflow lags) adds to the cuts. Cuts are read in place from the pool
 * that the caller keeps; the answer is that over all active ones, whatever the working set.
 *
 * The answer of a group depends on the program, the cuts, the lanes in their order and the starting
 * basis, and on nothing else.
 */
#ifndef LP_GROUP_H
#define LP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "lp/lp.h"

/* What the value of an item replaces. */
typedef enum lp_item_kind {
    LP_ITEM_FIXED, /* both bounds of a column that the program has fixed */
    LP_ITEM_UPPER, /* the upper bound of a column */
    LP_ITEM_SHIFT, /* is added to the bounds of a row */
} lp_item_kind;

typedef struct lp_item {
    lp_item_kind kind;
    int index; /* of the column or the row */
} lp_item;

/* Where a program varies and how cuts hang on it. Borrowed for as long as the solver lives. */
typedef struct lp_layout {
    size_t items;
    const lp_item *item;
    size_t states;       /* columns of the outgoing state: the first entries of a cut's slope */
    const int *state;    /* by entry */
    size_t dimension;    /* entries of a cut's slope; those from `states` on have no column */
    int theta;           /* the first column of future cost; a cut bounds theta + its index */
    size_t thetas;       /* how many there are; 0: as many as the cuts name */
    size_t gradients;    /* fixed columns whose reduced costs are wanted */
    const int *gradient; /* the columns */
} lp_layout;

/* A view of a cut pool: column theta + theta[c] >= intercept[c] + slope of c . outgoing state.
 * Read by all threads while they solve. */
typedef struct lp_cuts {
    size_t count;
    const double *intercept;
    const double *const *slope; /* by chunk: [entry * chunk + place] */
    size_t chunk;               /* cuts of a chunk */
    const uint32_t *theta;      /* by cut; NULL: 0 for all */
    const uint8_t *active;      /* by cut; NULL: all are */
    const uint32_t *set;        /* the working set: cut numbers in the order of their rows */
    size_t set_count;
} lp_cuts;

typedef struct lp_group {
    size_t lanes;
    const double *values; /* [item * lanes + lane] */
    const double *tail;   /* [(entry - states) * lanes + lane]: outgoing entries without column */
    const lp_cuts *cuts;
    const uint8_t *basis;      /* lp_place by column, row and cut of the set; NULL: all slack */
    double activity_tolerance; /* a cut with a larger dual is active in a lane */
} lp_group;

/* What is wanted and received. A NULL is not wanted. */
typedef struct lp_answers {
    double *objective; /* by lane */
    uint32_t *which;   /* by lane: the number of the basis that it ended with */
    size_t bases;      /* how many there are; at most the lanes */
    double *gradient;  /* [basis * (gradients + dimension - states)]: the reduced costs; then, by
                          entry without column, the sum over the cuts of dual times slope */
    double *primal;    /* [lane * columns] */
    double *duals;     /* [lane * rows]: of the program's rows */
    uint8_t *keep;     /* the basis of lane 0, as lp_group.basis; may be that */
    uint8_t *tight;    /* by cut: set to 1 where it was tight at the end of a lane */
    uint32_t *hits;    /* by cut: grows by the lanes in which it was active */
    size_t failed;     /* the lane without optimum, when the status is not LP_OPTIMAL */
} lp_answers;

#endif
