/*
 * study.h - what a study is made of; private to this folder.
 *
 * Everything is the calling thread's, except that inside a pass (pass.h) each thread has the
 * worker of its own number to itself, and writes besides only to the places of the task it runs.
 * Memory that grows does so between passes.
 */
#ifndef SDDP_STUDY_H
#define SDDP_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "lp/lp.h"
#include "sddp/cuts.h"
#include "sddp/sddp.h"
#include "sddp/stage/stage_lp.h"
#include "stochastic/tree.h"

/* A study that would need more is refused. */
#define STUDY_MAX_BYTES ((size_t)6 << 30)

/* How many rows are handed to an lp at once. */
#define ROW_BATCH 16

/* A worker's program of one stage: its rows are the stage's, then the working set as of `version`,
 * then the cuts that the last solve brought in. */
typedef struct desk {
    lp *model;      /* NULL until the worker first comes here */
    uint32_t *rows; /* the cuts that are rows now, in order */
    size_t set_count, local_count;
    uint64_t version, epoch;
    uint8_t *tight; /* by cut: was tight in a solve since the last settling */
} desk;

typedef struct worker {
    desk *desks; /* by stage */
    size_t cut_capacity;
    double *values;  /* by cut of the largest pool */
    int *gone;       /* the same */
    int *row_column; /* ROW_BATCH rows of dimension + 1 elements */
    double *row_value;
    double *state, *outgoing; /* by dimension */
    int64_t visits;           /* stage programs solved, however many LP solves each took */
    lp_status end;            /* how the last solve ended */
} worker;

/* The bases that solves of one stage start from: one a scenario, all for the same rows. */
typedef struct shelf {
    uint8_t *bytes; /* [scenario * stride] */
    size_t stride;
    uint32_t *rows; /* the cuts whose rows the bases know */
    size_t row_count;
    uint64_t version, epoch;
} shelf;

struct sddp {
    const cobre_case *input;
    mcp_arena *arena;
    unsigned threads;
    size_t stages, scenarios, lags;
    size_t dimension; /* of the state */
    uint32_t openings_max;
    const noise_tree *tree;
    stage_lp *programs;    /* by stage */
    cut_pool *pools;       /* by stage; the last one stays empty */
    shelf *shelves;        /* by stage */
    uint8_t **slack_basis; /* by stage: the basis of a freshly loaded program */
    worker *workers;       /* by thread */
    double *initial;       /* the state before the first stage */
    double *discount;      /* D_t by stage */
    double *trial;     /* [(stage * scenarios + scenario) * dimension]: states that stages meet */
    double *path_cost; /* by scenario */
    double *outcome;   /* [task * (1 + dimension)]: objective and gradient of a backward solve */
    double *weights, *objectives; /* by opening */
    uint32_t *order;              /* by opening */
    double *slope;                /* by dimension: the cut being made */
    sddp_iteration *rows;
    size_t row_count, row_capacity;
    bool is_broken; /* memory ran out half-way through a change of the cuts */
};

/* The basis of (stage, scenario). */
uint8_t *study_basis(const sddp *study, size_t stage, size_t scenario);

/* The state that a scenario brings to a stage. */
double *study_trial(const sddp *study, size_t stage, size_t scenario);

/* Columns and rows of a stage's program, without cuts; of all stages together. */
size_t study_lines(const sddp *study, size_t stage);
size_t study_lines_of_all(const sddp *study);

/* Make room for `extra` cuts of a stage, in all that has a place for each cut. */
mcp_status study_reserve_cuts(sddp *study, size_t stage, size_t extra, mcp_error *err);

/* After a pass over a stage: what was tight goes to the working set, and bases follow the set.
 * MCP_OK; MCP_E_NOMEM. */
mcp_status study_settle(sddp *study, size_t stage, uint32_t iteration, mcp_error *err);

/* After changes of a working set by other means: the bases follow. MCP_OK; MCP_E_NOMEM. */
mcp_status study_follow(sddp *study, size_t stage, mcp_error *err);

/* Time inside the LP solver, and stage programs solved, over all workers so far. */
int64_t study_solver_ns(const sddp *study);
int64_t study_visits(const sddp *study);

#endif
