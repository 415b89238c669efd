/*
 * solve.h - solves one stage's program for a group of lanes: state, noises and basis in, optima
 * over all cuts out.
 *
 * The lanes of a group share stage and starting basis, and differ in their noise; those of the
 * backward pass share the incoming state as well. The answers depend on these, on the cuts and on
 * the order of the lanes alone: neither on what was solved before, nor on the worker.
 */
#ifndef SDDP_STAGE_SOLVE_H
#define SDDP_STAGE_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "lp/dual/dual.h"
#include "lp/ladder.h"
#include "lp/lp.h"
#include "sddp/program/items.h"
#include "sddp/program/stage_lp.h"
#include "sddp/stage/cuts.h"

/* The number of rows appended to an lp at once. */
#define ROW_BATCH 16

/* What a worker keeps of one stage. The rows of `model` are the stage's, then the working set as of
 * `version`, then the cuts that the last lanes added (rows.h). */
typedef struct workspace {
    lp *model;      /* NULL until rows.h first solves the stage */
    uint32_t *rows; /* the cuts that are rows now, in order */
    size_t set_count, local_count;
    uint64_t version, epoch;
    uint8_t *tight; /* by cut: was tight in a solve since the last settling */
    uint32_t *hits; /* by cut: solves since then in which it was active */
} workspace;

/* Attempts of the LP solver after a first one without optimum. */
#define SOLVE_RETRY_LEVELS LP_LEVELS

/* What solves took. A solve is a stage program, however many cuts are brought into it. */
typedef struct solve_work {
    uint32_t solves, failed;
    uint32_t retried;  /* calls of the LP solver that another attempt than the first ended well */
    uint32_t attempts; /* after first ones */
    uint32_t bases;    /* solves that started from a stored basis */
    uint32_t levels[SOLVE_RETRY_LEVELS]; /* retried calls by the attempt that ended them */
    uint64_t pivots;
    int64_t solver_ns;
} solve_work;

/* Add `more` to `sum`. */
void solve_work_add(solve_work *sum, const solve_work *more);

/* The memory of one thread. */
typedef struct worker {
    workspace *workspaces; /* by stage */
    dual_work *dual;
    size_t cut_capacity;
    double *values;  /* by cut of the largest pool */
    double *shared;  /* the same: its intercept, and what the outgoing entries add that are no
                        storages and the same for all lanes */
    double *fixed;   /* the same: of one lane, with those that differ */
    int *gone;       /* the same */
    int *row_column; /* ROW_BATCH rows of hydros + 1 elements */
    double *row_value;
    double *state, *outgoing; /* by dimension */
    double *by_inflow;        /* by hydro */
    double *limits;           /* by theta */
    double *noise;            /* of the path that it walks */
    double *drawn;            /* [item * paths + path]: what the noises of the paths give */
    double *path_states;      /* [path * dimension]: of the paths that it walks together */
    double *path_noises;      /* [path * dimension of a noise] */
    /* Of the last group. */
    double *lane_values;      /* [item * lanes + lane] */
    double *lane_tail;        /* [(entry - hydros) * lanes + lane]: the outgoing state */
    double *reduced;          /* [basis * length]: as lp_answers.gradient */
    double *primal, *duals;   /* [lane * columns], [lane * rows]: as lp_answers has them */
    size_t solution_lanes;    /* for which they have room */
    size_t failed;            /* the lane without optimum */
    lp_status end;            /* how it ended */
    int64_t solves;           /* stage programs solved, however many LP solves each took */
    solve_work *stage_work;   /* by stage: of the forward pass */
    solve_work *opening_work; /* by opening: of the other passes */
    int64_t busy_ns;          /* inside its last pass */
} worker;

typedef struct solve_input {
    const stage_lp *program;
    const dual_program *dual; /* the same, for the dual simplex; NULL: rows.h solves it */
    const cut_pool *pool;     /* the stage's cuts */
    const double *state;      /* of the first lane (items.h) */
    item_lanes lanes;
    const uint8_t *basis; /* where the first lane starts: for the stage's rows and its working set;
                             each other one starts where a lane before it ended */
    uint8_t *keep_basis;  /* receives the first lane's; may be NULL or `basis` */
    bool all_cuts;        /* deactivated cuts constrain too */
    bool counts_hits;     /* active cuts are counted in the workspace */
    double activity_tolerance; /* a cut with a larger dual is active */
    bool wants_solution;       /* of at most w->solution_lanes lanes */
    solve_work *work;          /* by lane: receives more; may be NULL */
} solve_input;

typedef struct solve_output {
    double *objective; /* by lane; the caller's, as the next two */
    uint32_t *which;   /* by lane: the number of the basis that it ended with; with it */
    double *gradient;  /* [basis * dimension]: of the optimum by the incoming state; both
                                     may be NULL */
    size_t bases;
    const double *primal, *duals; /* when wanted, of the first lane: the worker's, valid until its
                                     next group */
} solve_output;

/*
 * Solve a group. Runs on the worker's thread, inside a pass or outside.
 *
 * MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (a lane has no optimum: w->failed is the first such lane,
 * w->end says how it ended, and w->lane_values are those of the group)
 */
mcp_status solve_group(worker *w, const solve_input *in, solve_output *out, mcp_error *err);

/* The solution of a lane, where it was wanted. */
const double *solve_primal(const solve_input *in, const solve_output *out, size_t lane);
const double *solve_duals(const solve_input *in, const solve_output *out, size_t lane);

/* After a solve with the solution: the outgoing state of a lane, which may replace its incoming
 * one. */
void solve_leave(const worker *w, const solve_input *in, const solve_output *out, size_t lane,
                 double *state);

#endif
