/*
 * state.h - the state between two stages: a table of its entries, and how each stage moves them.
 *
 * Entries: the storages (hm3) by hydro; the inflow lags (m3/s), lag-major: entry N + l*N + h is lag
 * l + 1 of hydro h; then, where stages are parts of a period, the sums of the running period by
 * hydro, and the sums that become the lags when longer periods begin. This is the order of cut
 * coefficients and of the policy's files.
 *
 * A stage's outgoing storages are columns of its program. All other outgoing entries are linear in
 * the incoming ones and the realized inflows, so they are known before the program is solved; a
 * stage has one sparse matrix for them. Without the sums the state would not be the whole past, and
 * a cut would not hold at other pasts. Built once, read by all threads. Method page, 1 and 3.1.
 */
#ifndef SDDP_PROGRAM_STATE_H
#define SDDP_PROGRAM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/inflow.h"

typedef enum state_kind {
    STATE_STORAGE,
    STATE_LAG,
    STATE_SUM /* of weighted inflows */
} state_kind;

typedef struct state_entry {
    state_kind kind;
    size_t hydro;
    size_t lag; /* from 1: of a lag, or the lag that a sum becomes; 0: storage, running period */
} state_entry;

/* Outgoing entry hydros + i is the sum of share * value over the terms start[i] to start[i + 1]; a
 * term is of an incoming entry, or dimension + h: the inflow of hydro h. */
typedef struct state_move {
    const uint32_t *start;
    const uint32_t *from;
    const double *share;
    const uint8_t *is_random; /* by such entry: a term is of an inflow */
} state_move;

typedef struct state_table {
    const inflow_model *model;
    size_t hydros, dimension;
    const state_entry *entries;
    const state_move *moves; /* by stage */
} state_table;

/* Build the table of a model, which is borrowed. Its arrays are the arena's. MCP_OK;
 * MCP_E_NOMEM. */
mcp_status state_table_build(state_table *out, mcp_arena *arena, const inflow_model *model,
                             mcp_error *err);

/*
 * Build a table again whose last stage moves the lags as a longer study does: lags_continue. The
 * dimension stays. MCP_OK; MCP_E_NOMEM.
 */
mcp_status state_table_continue(state_table *table, mcp_arena *arena, bool is_last, double spill,
                                mcp_error *err);

/* The state before the first stage. */
void state_start(const state_table *table, const cobre_case *input, double *state);

/* The outgoing entries that are no storages: `inflow` is [hydro * lanes + lane], `tail` receives
 * [(entry - hydros) * lanes + lane]. The incoming state of a lane is `stride` behind the one before
 * it; 0: all lanes share one. */
void state_advance(const state_table *table, size_t stage, const double *state, size_t stride,
                   const double *inflow, size_t lanes, double *tail);

/*
 * The gradient by the incoming state, from those by incoming storage, by inflow and by the outgoing
 * entries that are no storages.
 *
 * by_storage, by_inflow: by hydro; by_inflow receives what the outgoing state adds to it
 * by_outgoing:           by entry of the state; storages are not read
 */
void state_pull_back(const state_table *table, size_t stage, const double *by_storage,
                     double *by_inflow, const double *by_outgoing, double *gradient);

#endif
