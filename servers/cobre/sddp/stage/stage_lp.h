/*
 * stage_lp.h - the linear program of one stage: its columns, its rows and its varying parts.
 *
 * Built once and read by all threads; each worker loads it into an lp of its own. Solves differ in
 * bounds only: the incoming state and the inflows are fixed columns, stochastic loads are right-
 * hand sides. So the reduced costs are the gradient of the optimum by the state. All costs are
 * divided by COST_SCALE. Method page, 2.
 *
 * The state is by entity: storages (hm3), then lags, lag-major: state[N + l*N + h] is the inflow of
 * hydro h (m3/s), l + 1 stages ago.
 */
#ifndef SDDP_STAGE_STAGE_LP_H
#define SDDP_STAGE_STAGE_LP_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "lp/lp.h"

#define COST_SCALE 1000.0
#define HM3_PER_M3S_HOUR 0.0036
#define NO_COLUMN (-1)

typedef struct stage_lp {
    const cobre_case *input;
    size_t stage, lags;
    lp_program program;
    double theta_cost; /* d_t */
    bool truncates;    /* negative inflows are raised to zero where there is noise */

    /* First columns. Block regions are entity-major: first + entity * blocks + block. */
    int storage, lag, inflow, incoming, theta, turbined, spilled, thermal, direct, reverse, excess;
    int inflow_slack; /* or NO_COLUMN */
    /* By hydro: the first of its `blocks` columns (withdrawal: its only one), or NO_COLUMN. */
    const int *diverted, *outflow_below, *outflow_above, *turbined_below, *generation_below;
    const int *withdrawal_neg, *withdrawal_pos;
    const int *deficit; /* by bus: first + segment * blocks + block */

    int balance;             /* first row; by hydro */
    int load;                /* first row; by bus and block */
    const int *noise_of_bus; /* index into the noise vector, or NO_COLUMN: load is certain */
} stage_lp;

/* Build the program of stage t. Its arrays are the arena's. MCP_OK; MCP_E_NOMEM. */
mcp_status stage_lp_build(stage_lp *out, mcp_arena *arena, const cobre_case *input, size_t t,
                          size_t lags, mcp_error *err);

/* The size of the program, without building it: columns, rows and elements. */
void stage_lp_size(const cobre_case *input, size_t t, size_t lags, double out[3]);

/* Columns and rows of the program, without cuts. */
size_t stage_lp_lines(const stage_lp *stage);

/* Put the incoming state and the noise of an opening into an lp that holds this program. */
void stage_lp_enter(const stage_lp *stage, lp *model, const double *state, const double *noise);

/* The load of a bus in a block under a noise: the right-hand side of its row, MW. */
double stage_lp_load(const stage_lp *stage, size_t bus, size_t block, const double *noise);

/* The column that holds entry j of the outgoing state. */
int stage_lp_state_column(const stage_lp *stage, size_t j);

/* After an optimal solve: the outgoing state, and the gradient by the incoming state. */
void stage_lp_leave(const stage_lp *stage, const double *primal, double *state);
void stage_lp_gradient(const stage_lp *stage, const double *reduced_costs, double *gradient);

#endif
