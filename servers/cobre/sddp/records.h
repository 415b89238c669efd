/**
 * records.h - the statistics of a training and a simulation: what the files under timing/, solver/
 * and cut_selection/ hold.
 *
 * The study hands out one sddp_records for each completed iteration and each simulated scenario.
 * Its arrays are the study's and valid during the callback. Times are wall times.
 *
 * Source: the output page, 3.2 to 3.6.
 */
#ifndef SDDP_RECORDS_H
#define SDDP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sddp_phase {
    SDDP_PHASE_FORWARD,
    SDDP_PHASE_BACKWARD,
    SDDP_PHASE_LOWER_BOUND,
    SDDP_PHASE_SIMULATION
} sddp_phase;

/** Levels of the retry ladder (method page, 12). */
#define SDDP_RETRY_LEVELS 12

/** No opening, rank or worker: null in the file. */
#define SDDP_NO_INDEX (-1)

/**
 * Solves of one phase. Forward: one row per stage. Backward: one per stage whose program was solved
 * (1 to T-1, the last first), rank, worker and opening. Lower bound and simulation: one row, stage
 * -1.
 */
typedef struct sddp_solver_row {
    sddp_phase phase;
    int32_t stage;                 /* index; -1: none */
    int32_t opening, rank, worker; /* or SDDP_NO_INDEX */
    uint32_t solves, first_try, retried, failed;
    uint32_t attempts; /* after a first one that failed */
    uint32_t bases_offered, bases_rejected;
    uint64_t pivots;
    double solve_ms, load_ms, bounds_ms, basis_ms;
    uint64_t bases_rebuilt;
    uint32_t levels[SDDP_RETRY_LEVELS]; /* solves that each level of the ladder ended */
} sddp_solver_row;

/** The selection of cuts at one stage; only of iterations in which selection or budget ran. */
typedef struct sddp_selection_row {
    int32_t stage;
    int32_t populated, active_before, deactivated, active_after;
    double time_ms;
    bool has_budget;
    int32_t evicted, active_after_budget; /* with a budget */
} sddp_selection_row;

/** One thread's part of an iteration. */
typedef struct sddp_worker_times {
    int32_t rank, worker;
    int64_t forward_ms, backward_ms, forward_setup_ms, backward_setup_ms;
} sddp_worker_times;

/** One process's part of an iteration, by its own clock. */
typedef struct sddp_rank_times {
    int32_t rank;
    int64_t forward_ms, backward_ms; /* with the exchange in them */
    int64_t exchange_ms, waiting_ms; /* moving bytes; waiting for the slowest rank */
    int64_t lp_solves;
    int32_t scenarios; /* of the forward pass */
} sddp_rank_times;

/** What rank 0 spent on an iteration outside its workers. Imbalance is the slowest worker's time
 *  less the mean; scheduling is the region's time less the slowest worker's; neither is
 *  negative. */
typedef struct sddp_process_times {
    int64_t cut_selection_ms, allreduce_ms, cut_sync_ms, lower_bound_ms, state_exchange_ms;
    int64_t cut_batch_ms;
    int64_t backward_imbalance_ms, backward_scheduling_ms;
    int64_t forward_imbalance_ms, forward_scheduling_ms;
    int64_t overhead_ms; /* what is left of the iteration */
} sddp_process_times;

typedef struct sddp_records {
    uint32_t number; /* the iteration, from 1; of a simulation the scenario, from 0 */
    const sddp_solver_row *solver;
    size_t solver_count;
    const sddp_selection_row *selection; /* of an iteration, as the members below */
    size_t selection_count;
    const sddp_worker_times *workers;
    size_t worker_count;
    sddp_process_times times;
    const sddp_rank_times *ranks;
    size_t rank_count; /* 0: one process alone */
} sddp_records;

#endif
