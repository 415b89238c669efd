/*
 * solve.h - one solve of one stage's program: state, noise and basis in, optimum over all cuts out.
 */
#ifndef SDDP_STAGE_SOLVE_H
#define SDDP_STAGE_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "lp/ladder.h"
#include "lp/lp.h"
#include "sddp/program/stage_lp.h"
#include "sddp/stage/cuts.h"

/* The number of rows appended to an lp at once. */
#define ROW_BATCH 16

/* A worker's program of one stage: its rows are the stage's, then the working set as of `version`,
 * then the cuts that the last solve added. */
typedef struct workspace {
    lp *model;      /* NULL until the worker first solves the stage */
    uint32_t *rows; /* the cuts that are rows now, in order */
    size_t set_count, local_count;
    uint64_t version, epoch;
    uint8_t *tight; /* by cut: was tight in a solve since the last settling */
    uint32_t *hits; /* by cut: solves since then in which it was active (solve_count_active) */
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
    size_t cut_capacity;
    double *values;  /* by cut of the largest pool */
    double *fixed;   /* the same: the value less that of the outgoing storages */
    int *gone;       /* the same */
    int *row_column; /* ROW_BATCH rows of hydros + 1 elements */
    double *row_value;
    double *state, *outgoing; /* by dimension */
    double *slopes;           /* the same */
    double *inflow;           /* by hydro: realized in the last solve */
    double *by_inflow;        /* by hydro */
    double *limits;           /* by theta */
    double *noise;            /* of the path that it walks */
    int64_t solves;           /* stage programs solved, however many LP solves each took */
    lp_status end;            /* how the last solve ended */
    solve_work *stage_work;   /* by stage: of the forward pass */
    solve_work *opening_work; /* by opening: of the other passes */
    int64_t busy_ns;          /* inside its last pass */
} worker;

typedef struct solve_input {
    const stage_lp *program;
    const cut_pool *pool; /* the stage's cuts */
    const double *state, *noise;
    /* Where the solve starts, for the stage's rows and its working set. NULL: where the worker's
     * last solve of the stage ended, with the cuts that it had added. */
    const uint8_t *basis;
    uint8_t *keep_basis; /* receives the basis before cuts from outside the set are added; may be
                            NULL or `basis` */
    bool all_cuts;       /* deactivated cuts constrain too */
    solve_work *work;    /* receives more; may be NULL */
} solve_input;

/*
 * Solve. Runs on the worker's thread, inside a pass or outside.
 *
 * model receives the lp with the solution, valid until the worker's next solve of the stage.
 * MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (no optimum; w->end says how it ended).
 */
mcp_status solve_stage(lp **model, worker *w, const solve_input *in, mcp_error *err);

/* After a solve: the outgoing state, which may replace in->state. */
void solve_leave(const worker *w, const solve_input *in, const lp *model, double *state);

/* After a solve: the gradient of the optimum by the incoming state. */
void solve_gradient(worker *w, const solve_input *in, const lp *model, double *gradient);

/* After a solve: count its active cuts, those with a dual above the tolerance, in the worker. */
void solve_count_active(worker *w, const solve_input *in, double tolerance);

#endif
