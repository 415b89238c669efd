/*
 * solve.h - one solve of one stage's program: state, noise and basis in, optimum over all cuts out.
 */
#ifndef SDDP_STAGE_SOLVE_H
#define SDDP_STAGE_SOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

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
} workspace;

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
    int64_t solves;           /* stage programs solved, however many LP solves each took */
    lp_status end;            /* how the last solve ended */
} worker;

typedef struct solve_input {
    const stage_lp *program;
    const cut_pool *pool; /* the stage's cuts */
    const double *state, *noise;
    const uint8_t *basis; /* where the solve starts: for the stage's rows and its working set */
    uint8_t *keep_basis;  /* receives the basis before cuts from outside the set are added; may be
                             NULL or `basis` */
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

#endif
