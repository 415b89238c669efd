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
#include "stochastic/sampler.h"
#include "stochastic/tree.h"
#include "thread/team.h"

/* The starting bases of one stage's solves, all for the same rows: one per scenario, and in a cycle
 * one per round and scenario. */
typedef struct basis_store {
    uint8_t *bytes; /* [slot * stride] */
    size_t stride, slots;
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

/* The visited states of training: by iteration, as `trial`. */
typedef struct state_archive {
    double **blocks;
    size_t count, capacity;
} state_archive;

/* What a backward pass leaves: [scenario * openings + opening] of the stage solved. */
typedef struct backward_outcome {
    double *objective;
    uint32_t *which;  /* the opening of the scenario that has the gradient */
    double *gradient; /* times dimension */
} backward_outcome;

/* Cuts that were loaded with a policy: what they are called there. */
typedef struct loaded_cuts {
    const policy_cut *cuts;
    size_t count;
} loaded_cuts;

struct sddp {
    const cobre_case *input;
    mcp_arena *arena;
    thread_team *team;
    unsigned threads;     /* of the team */
    struct ranks *ranks;  /* that share the work; NULL: this process alone */
    unsigned all_threads; /* of all ranks */
    /* Of the other ranks' workers so far. */
    int64_t elsewhere_solves, elsewhere_solver_ns, elsewhere_fallbacks;
    pass_pace forward_pace, backward_pace, bound_pace, simulation_pace;
    size_t stages, scenarios;
    /* A training path walks positions: the stages in order, then the cycle's again, round by round.
     * A trial state lies before each position, and in a cycle also after the last one. */
    size_t cycle_start; /* the stage after the last one; COBRE_NONE: the horizon is finite */
    size_t positions, trials;
    size_t dimension; /* of the state */
    uint32_t openings_max;
    const noise_tree *tree;
    const sampler *training_sampler, *simulation_sampler;
    program_models models;
    program_context context;
    stage_lp *programs;   /* by stage */
    dual_program **duals; /* by stage: the program for the dual simplex; NULL: Clp solves it */
    /* By node of the graph, numbered by its first stage: the future cost after it. Stages that the
     * same stage follows share a node; in a finite horizon that of the last stage stays empty. */
    cut_pool *pools;
    size_t *node;              /* by stage */
    basis_store *basis_stores; /* by stage */
    uint8_t **slack_basis;     /* by stage: the basis of a freshly loaded program */
    worker *workers;           /* by thread */
    double *initial;           /* the state before the first stage */
    double *discount;          /* D by position */
    double *trial;     /* [(position * scenarios + scenario) * dimension]: the incoming states */
    double *path_cost; /* by scenario */
    backward_outcome outcome;
    double **opening_values;      /* by stage: [item * openings + opening], as items_of_noise */
    double *weights, *objectives; /* by opening */
    uint32_t *order;              /* by opening */
    double *slope;                /* by dimension: the cut being made */
    state_archive visited;        /* empty where nothing needs it */
    struct recorder *recorder;    /* training's; NULL before it */
    struct rollback *rollback;
    double *steepest; /* by entry of the state (steepest.h); NULL without upper bound */
    bool is_multi_cut;
    sddp_iteration *rows;
    size_t row_count, row_capacity;
    int64_t peak_active; /* most active cuts at the end of an iteration */
    loaded_cuts *loaded; /* by node: the first cuts of its pool */
    uint32_t completed;  /* iterations; more than row_count when earlier ones left no records */
    double *rule_memory; /* what the simulation rules look back on (simulation_rule.c) */
    size_t rule_memory_length;
    bool *rule_fires; /* by stopping rule: its simulation of the last iteration says stop */
};

/* A study that needs more is refused: what the process may have, less some for everything else. */
size_t study_most_bytes(void);

/* The stage at a position; the first stage of the cycle after the last. */
size_t study_stage_at(const sddp *study, size_t position);

/* The cuts of a stage's future cost. */
cut_pool *study_pool(const sddp *study, size_t stage);

/* Whether a stage is the first of its node: the one to count the node's pool by. */
bool study_leads_node(const sddp *study, size_t stage);

/* How often a path ends a stage of the node that a stage leads; 0: it leads none, or its future is
 * never visited. The first time is at position stage + 1, the others follow at a fixed distance. */
size_t study_node_visits(const sddp *study, size_t stage);
size_t study_node_stride(const sddp *study);

/* Whether anything follows a stage: else its cuts would bind no cost. */
bool study_has_future(const sddp *study, size_t stage);

/* Make room for one more row. MCP_OK; MCP_E_NOMEM. */
mcp_status study_reserve_row(sddp *study, mcp_error *err);

/* Whether the case needs the visited states; add the trial states to them. MCP_OK; MCP_E_NOMEM. */
bool study_keeps_states(const sddp *study);
mcp_status study_keep_states(sddp *study, mcp_error *err);

/* A basis of a stage; the one of (position, scenario). */
uint8_t *study_basis(const sddp *study, size_t stage, size_t slot);
uint8_t *study_basis_at(const sddp *study, size_t position, size_t scenario);

/* The state that a scenario brings to a position. */
double *study_trial(const sddp *study, size_t position, size_t scenario);

/* A path: which sampler draws its noises, and its number there. */
typedef struct study_path {
    const sampler *sampler;
    sampler_path at;
} study_path;

study_path study_training_path(const sddp *study, uint32_t iteration, size_t scenario);
study_path study_simulation_path(const sddp *study, size_t scenario, size_t scenarios);

/* The state that a path starts with. */
void study_begin_path(const sddp *study, const study_path *path, double *state);

/* The noise of a path at a position, in the worker's memory. `opening` receives that drawn, or -1
 * where it is none of the tree's. */
const double *study_draw(const sddp *study, worker *w, const study_path *path, size_t position,
                         const double *state, int32_t *opening);

/* Make room for `extra` cuts of a stage in the pool, the workers and the basis store. */
mcp_status study_reserve_cuts(sddp *study, size_t stage, size_t extra, mcp_error *err);

/*
 * Before anything is solved: the study continues behind its last stage, at a future cost of no less
 * than `least`, which is zero or negative, in currency. The programs are built again. MCP_OK;
 * MCP_E_NOMEM.
 */
mcp_status study_lower_floors(sddp *study, double least, mcp_error *err);

/* After a pass over a stage: tight cuts are added to the working set, hits to the pool, and the
 * bases follow the set. MCP_OK; MCP_E_NOMEM. */
mcp_status study_settle(sddp *study, size_t stage, mcp_error *err);

/* Forget what the workers noted since the last settling of a stage. */
void study_forget_notes(sddp *study, size_t stage);

/* After other changes of a working set: the bases follow. MCP_OK; MCP_E_NOMEM. */
mcp_status study_follow(sddp *study, size_t stage, mcp_error *err);

/* Time inside the LP solver, stage programs solved, and those of them that the dual simplex has
 * left to Clp, over all workers so far; of those of this process alone. */
int64_t study_solver_ns(const sddp *study);
int64_t study_solves(const sddp *study);
int64_t study_fallbacks(const sddp *study);
int64_t study_own_solver_ns(const sddp *study);
int64_t study_own_solves(const sddp *study);
int64_t study_own_fallbacks(const sddp *study);

#endif
