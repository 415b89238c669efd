/*
 * study.h - the parts of a study; private to this folder.
 *
 * A study belongs to the calling thread. Inside a pass (pass.h) each thread uses the worker of its
 * own number, and otherwise writes only to the results of its task. Memory grows between passes
 * only.
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
#include "sddp/program/stage_lp.h"
#include "sddp/sddp.h"
#include "sddp/stage/cuts.h"
#include "sddp/stage/solve.h"
#include "stochastic/tree.h"
#include "thread/team.h"

/* A larger study is refused. */
#define STUDY_MAX_BYTES ((size_t)6 << 30)

/* The starting bases of one stage's solves: one per scenario, all for the same rows. */
typedef struct basis_store {
    uint8_t *bytes; /* [scenario * stride] */
    size_t stride;
    uint32_t *rows; /* the cuts whose rows the bases know */
    size_t row_count;
    uint64_t version, epoch;
} basis_store;

/* How long passes of one kind took, by the caller alone and by the whole team: nanoseconds a task,
 * a moving average; 0: not measured. */
typedef struct pass_pace {
    double alone_ns, together_ns;
    unsigned passes, interval; /* since the slower way was tried; until it is tried again */
} pass_pace;

struct sddp {
    const cobre_case *input;
    mcp_arena *arena;
    thread_team *team;
    unsigned threads; /* of the team */
    pass_pace forward_pace, bound_pace, simulation_pace;
    pass_pace *backward_pace; /* by stage */
    size_t stages, scenarios;
    size_t dimension; /* of the state */
    uint32_t openings_max;
    inflow_model inflow;
    const noise_tree *tree;
    program_models models;
    program_context context;
    stage_lp *programs;        /* by stage */
    cut_pool *pools;           /* by stage; the last one stays empty */
    basis_store *basis_stores; /* by stage */
    uint8_t **slack_basis;     /* by stage: the basis of a freshly loaded program */
    worker *workers;           /* by thread */
    double *initial;           /* the state before the first stage */
    double *discount;          /* D_t by stage */
    double *
        trial; /* [(stage * scenarios + scenario) * dimension]: the incoming states of the stages */
    double *path_cost; /* by scenario */
    double *outcome;   /* [task * (1 + dimension)]: objective and gradient of a backward solve */
    double *weights, *objectives; /* by opening */
    uint32_t *order;              /* by opening */
    double *slope;                /* by dimension: the cut being made */
    sddp_iteration *rows;
    size_t row_count, row_capacity;
    bool is_broken; /* memory ran out during a change of the cuts */
};

/* The basis of (stage, scenario). */
uint8_t *study_basis(const sddp *study, size_t stage, size_t scenario);

/* The state that a scenario brings to a stage. */
double *study_trial(const sddp *study, size_t stage, size_t scenario);

/* The input of a solve of a stage. */
solve_input study_input(const sddp *study, size_t stage, const double *state, const double *noise,
                        const uint8_t *basis);

/* Make room for `extra` cuts of a stage in the pool, the workers and the basis store. */
mcp_status study_reserve_cuts(sddp *study, size_t stage, size_t extra, mcp_error *err);

/* After a pass over a stage: tight cuts are added to the working set, and the bases follow the
 * set. MCP_OK; MCP_E_NOMEM. */
mcp_status study_settle(sddp *study, size_t stage, uint32_t iteration, mcp_error *err);

/* After other changes of a working set: the bases follow. MCP_OK; MCP_E_NOMEM. */
mcp_status study_follow(sddp *study, size_t stage, mcp_error *err);

/* Time inside the LP solver, and stage programs solved, over all workers so far. */
int64_t study_solver_ns(const sddp *study);
int64_t study_solves(const sddp *study);

#endif
