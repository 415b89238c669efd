/**
 * sddp.h - stochastic dual dynamic programming over one case: training and simulation.
 *
 * A study has the stage LPs, the opening tree and the cuts. Training runs iterations (forward pass,
 * backward pass, lower bound) until a stopping rule fires or the observer stops it; simulation
 * plays the trained policy over scenarios. Results are bit for bit the same for any number of
 * threads, and of processes that share the work (ranks/ranks.h).
 *
 * One thread calls these functions; they start and join threads of their own. The observer's
 * `iteration` and `scenario` run on the calling thread, in the order of iterations and scenarios.
 *
 * Source: the method page, sections 1 to 13; Pereira and Pinto (1991).
 */
#ifndef SDDP_SDDP_H
#define SDDP_SDDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "case/case.h"
#include "hydro/model.h"
#include "policy/policy.h"
#include "sddp/program/regions.h"
#include "sddp/program/scaling.h"
#include "sddp/program/state.h"
#include "sddp/records.h"
#include "stochastic/inflow.h"
#include "stochastic/tree.h"

typedef struct sddp sddp;
struct ranks; /* ranks/ranks.h */

/** One row of the convergence record: policy/policy.h. */
typedef policy_iteration sddp_iteration;

/** The decisions of one simulated stage. Arrays belong to the study and are valid during the
 *  callback; place k of an entity is [entity * width + k]. Costs in currency, not discounted. */
typedef struct sddp_stage_result {
    size_t stage, blocks;
    double objective;   /* with the discounted future cost */
    double future_cost; /* its part in the objective */
    double discount;    /* D_t, 1 at the first stage */
    /** The columns of the stage's program (regions.h), zeros where the stage has none. */
    const double *value[REGION_COUNT];
    size_t width[REGION_COUNT];
    /** What the columns cost, by category. Curtailment is the available power not generated times
     *  its price, though the objective has a negative price on the power generated. */
    double cost[COST_CATEGORIES];
    /* What is no column. */
    const double *generation_mw; /* hydro x block, of any production model */
    const double *load_mw;       /* bus x block */
    const double *spot_price;    /* bus x block, per MWh: dual of the load balance */
    const double *available_mw;  /* source x block */
    const double *lags;          /* incoming, m3/s: [lag * hydros + hydro]; NULL without lags */
    const double *water_value;   /* by hydro, currency per hm3: dual of the (first) water balance */
} sddp_stage_result;

typedef struct sddp_scenario {
    uint32_t scenario; /* 0-based */
    double cost;       /* discounted sum of the stages' immediate costs */
    const sddp_stage_result *stages;
    size_t stage_count;
} sddp_scenario;

/** How soon the work is to end. */
typedef enum sddp_stop {
    SDDP_STOP_NONE,
    SDDP_STOP_AFTER_ITERATION, /* training completes the running iteration */
    SDDP_STOP_NOW              /* between two groups of LP solves */
} sddp_stop;

/** Called back while the study works. Any member may be NULL. */
typedef struct sddp_observer {
    void (*iteration)(const sddp_iteration *row, void *data);
    /** Before `iteration` and before `scenario`. */
    void (*records)(const sddp_records *records, void *data);
    /** A failure ends the simulation with that status. */
    mcp_status (*scenario)(const sddp_scenario *result, void *data, mcp_error *err);
    /** Called before every group of LP solves, on any of the study's threads; must be cheap. */
    sddp_stop (*should_stop)(void *data);
    void *data;
} sddp_observer;

typedef enum sddp_reason {
    SDDP_ITERATION_LIMIT,
    SDDP_TIME_LIMIT,
    SDDP_BOUND_STALLING,
    SDDP_SIMULATION,
    SDDP_SHUTDOWN,
    SDDP_ERROR
} sddp_reason;

/** "iteration_limit", "time_limit", "bound_stalling", "simulation", "shutdown", "error". */
const char *sddp_reason_name(sddp_reason reason);

typedef struct sddp_training {
    const sddp_iteration *rows; /* the study's */
    size_t iterations;          /* completed; rows has as many */
    sddp_reason reason;
    bool converged; /* reason is bound_stalling or simulation */
    int64_t total_cuts, active_cuts, peak_active_cuts;
    int64_t wall_time_ms;
    int64_t solve_time_us; /* inside the LP solver, all threads together */
    int64_t lp_solves;
    int64_t fallbacks;  /* of these, what our dual simplex has left to Clp */
    const char *solver; /* sddp_solver; NULL: not known */
} sddp_training;

/** The upper bound that holds for certain: the last one, which is the lowest; NAN: none. */
double sddp_training_inner_bound(const sddp_training *training);

typedef struct sddp_simulation {
    uint32_t scenarios_total, scenarios_completed;
    bool stopped;                     /* from outside, before all were done */
    double mean, std, min, max, cvar; /* of the scenario costs; cvar at 0.95 */
    double ci_95;
    int64_t wall_time_ms, solve_time_us, lp_solves;
    int64_t fallbacks; /* this and the next as of a training */
    const char *solver;
} sddp_simulation;

/** Most hydros and most constraints that a failure names. */
#define SDDP_FAILURE_NAMES 8

/** Where and why a solve failed: the context of a SolverFailure record (errors page, 2.2). */
typedef struct sddp_failure {
    const char *phase;         /* "forward", "backward", "lower_bound", "upper_bound",
                                  "simulation"; constant */
    const char *solver_status; /* "infeasible", "unbounded", ...; constant; NULL: no LP failed */
    int32_t stage, iteration, opening, scenario; /* -1: does not apply */
    /* The hydros whose water balance cannot hold, largest gap first: index in the case, and the
     * water that it lacks (negative: that it cannot get rid of). */
    size_t hydro_count;
    size_t hydros[SDDP_FAILURE_NAMES];
    double missing_hm3[SDDP_FAILURE_NAMES];
    /* The same of generic constraints: index in the case's constraint_rows, and what the left side
     * lacks (negative: what it has too much). */
    size_t row_count;
    size_t rows[SDDP_FAILURE_NAMES];
    double missing[SDDP_FAILURE_NAMES];
} sddp_failure;

/**
 * Build the stage LPs and the opening tree of a case.
 *
 * @param out     the caller's, freed by sddp_free
 * @param input   borrowed while the study lives
 * @param threads >= 1
 * @return MCP_OK; MCP_E_PARAMS (fewer than two stages, for one); MCP_E_NOMEM; MCP_E_LIMIT
 */
mcp_status sddp_new(sddp **out, const cobre_case *input, unsigned threads, mcp_error *err);

/** NULL is allowed. */
void sddp_free(sddp *study);

/** What solves the stage programs: "own", "clp", or "own, clp" where it differs by stage. */
const char *sddp_solver(const sddp *study);

/**
 * Let the processes of a run share the study's work. Called on all ranks, before they train or
 * simulate; from then on all call the same functions with the same policy.
 *
 * @param all borrowed while the study lives; NULL: one process
 * @return MCP_OK; MCP_E_INTERNAL: a rank has ended, or its study is another
 */
mcp_status sddp_join(sddp *study, struct ranks *all, mcp_error *err);

/**
 * Train. SDDP_STOP_NOW abandons the running iteration and drops its cuts. Each stop returns MCP_OK
 * with the reason SDDP_SHUTDOWN.
 *
 * @param failure set when the status is not MCP_OK; never NULL
 * @param result  always set, with the completed iterations
 */
mcp_status sddp_train(sddp *study, const sddp_observer *observer, sddp_training *result,
                      sddp_failure *failure, mcp_error *err);

/** Simulate config.simulation_scenarios scenarios. Any stop abandons the running scenarios. On
 *  ranks above 0 the observer's `scenario` is not called, and `result` has no costs. */
mcp_status sddp_simulate(sddp *study, const sddp_observer *observer, sddp_simulation *result,
                         sddp_failure *failure, mcp_error *err);

/** What a study was built from; the study's. */
typedef struct sddp_parts {
    const noise_tree *tree;
    const inflow_model *inflow;
    const hydro_models *hydros;
} sddp_parts;

sddp_parts sddp_parts_of(const sddp *study);

/** The numbers of a stage's program before and after scaling. MCP_OK; MCP_E_NOMEM. */
mcp_status sddp_measure(program_scaling *out, const sddp *study, size_t stage, mcp_error *err);

/** The noise of one opening, after correlation: `dimension` values, hydros first; the study's. */
const double *sddp_opening(const sddp *study, size_t stage, uint32_t opening, size_t *dimension);

/** The entries of the state and their order: that of cut coefficients; the study's. */
const state_table *sddp_state(const sddp *study);

#endif
