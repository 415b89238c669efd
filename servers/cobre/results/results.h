/**
 * results.h - writes and reads the output directory of a run.
 *
 * One `results` writes one run. Every file is written under a temporary name and renamed;
 * metadata.json is the last file but one of a phase and _SUCCESS the last, so the marker exists
 * exactly when the phase is complete. A run holds the directory's lock until it ends.
 *
 *     results_lock(&lock_fd, out_fd, err);               MCP_E_BUSY: another run holds it
 *     results_begin(&results, input, out_fd, &options, err);
 *     ... in the observer: results_add_records(results, records, err);
 *                          results_add_iteration(results, row, err);
 *     results_write_training(results, &training, err);
 *     results_begin_simulation(results, err);
 *     ... in the observer: results_write_scenario(results, scenario, err);
 *     results_end_simulation(results, &simulation, false, err);
 *     results_free(results);
 *     close(lock_fd);
 *
 * One thread uses a `results`. Between begin and end of the simulation it has a thread of its own,
 * which writes the scenarios.
 *
 * Source: the output page, sections 1 to 5.
 */
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns/columns.h"
#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "hydro/model.h"
#include "sddp/sddp.h"
#include "stochastic/inflow.h"

/* ---- the lock -------------------------------------------------------------------------------- */

/**
 * Take the directory's lock (flock on ".lock"). It ends when `lock_fd` is closed or the process
 * ends.
 *
 * @return MCP_OK; MCP_E_BUSY (another run holds it, in this process or another); MCP_E_IO
 */
mcp_status results_lock(int *lock_fd, int out_fd, mcp_error *err);

/** Whether a run holds the lock now. */
bool results_is_locked(int out_fd);

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct results results;

/** The processes of a run, as metadata.json names them. Texts are borrowed; zeros: one process. */
typedef struct results_distribution {
    unsigned ranks, nodes;
    const char *library;      /* "Open MPI v4.1.4"; NULL: no MPI, as are the next two */
    const char *standard;     /* "3.1" */
    const char *thread_level; /* "funneled" */
    const char *job;          /* the scheduler's id of the job; may be NULL */
} results_distribution;

typedef struct results_options {
    const char *version;        /* cobre_version */
    const char *solver;         /* "clp" */
    const char *solver_version; /* NULL: left out */
    unsigned threads;           /* of each process */
    results_distribution distribution;
    bool trains; /* a training comes first: older results are invalid */
    /* What the study is built from. */
    const hydro_models *hydros; /* NULL: every plant has its entity's productivity */
    const inflow_model *inflow; /* NULL: inflows have no lags */
    const state_table *state;   /* NULL: storages, then the lags */
    /* Of a training that is resumed: it keeps the statistics of the iterations up to this one that
     * an earlier run has written, where the engine can read them. */
    columns *engine;
    uint32_t resumed; /* 0: none */
} results_options;

/**
 * Begin a run: remove the markers, metadata and convergence record of the phases to come (a
 * training invalidates an older simulation as well), and write the dictionaries if it trains or
 * there are none.
 *
 * @param out     the caller's, freed by results_free
 * @param input   borrowed until then, as `out_fd` is
 * @param options its texts are borrowed as well
 */
mcp_status results_begin(results **out, const cobre_case *input, int out_fd,
                         const results_options *options, mcp_error *err);

/** NULL is allowed. Removes no file. */
void results_free(results *self);

/**
 * Keep one finished iteration. Writes convergence.parquet at most once a second, so that other
 * processes can follow a run.
 */
mcp_status results_add_iteration(results *self, const sddp_iteration *row, mcp_error *err);

/** Write convergence.parquet with all iterations so far. */
mcp_status results_show_iterations(results *self, mcp_error *err);

/**
 * Keep the statistics of an iteration or a simulated scenario: rows of the files below timing/,
 * solver/ and cut_selection/. Copied.
 */
mcp_status results_add_records(results *self, const sddp_records *records, mcp_error *err);

/**
 * Write all files of the training. The status in metadata.json is "failed" for SDDP_ERROR,
 * "partial" for SDDP_SHUTDOWN, else "complete", and only then _SUCCESS follows.
 */
mcp_status results_write_training(results *self, const sddp_training *training, mcp_error *err);

/** Begin the simulation: clear old scenarios. */
mcp_status results_begin_simulation(results *self, mcp_error *err);

/**
 * The folders of the simulation, below the output directory: "simulation/costs" and those of the
 * entities that the case has.
 *
 * @param out receives an array of the arena's, ended by NULL; NULL without memory
 */
void results_simulation_folders(const results *self, const char *const **out, mcp_arena *arena);

/**
 * Let one scenario's files be written, by a thread of the simulation's own: a file for each entity
 * of the case (entities.c). Waits only while as many scenarios as may wait to be written do.
 *
 * @param scenario copied
 * @return MCP_OK; why the files of an earlier scenario could not be written: nothing more is
 */
mcp_status results_write_scenario(results *self, const sddp_scenario *scenario, mcp_error *err);

/**
 * Wait until the scenarios are written, write metadata.json and, when they are all, _SUCCESS.
 *
 * @param failed the simulation ended with an error: status "failed"
 * @return MCP_OK; why the files of a scenario could not be written (status "failed"); MCP_E_IO
 */
mcp_status results_end_simulation(results *self, const sddp_simulation *simulation, bool failed,
                                  mcp_error *err);

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct results_convergence {
    const sddp_iteration *rows; /* all members but lower_bound_ms and overhead_ms, which are 0 */
    size_t count;
    const char
        *termination_reason; /* metadata's; "running" while a run holds the lock; "unknown" */
    const char *file;        /* at fault, when the reading failed */
} results_convergence;

/** Why a training ended, as metadata.json of cobre or Cobre 0.5 has it; NULL: "unknown". */
const char *results_reason(const char *stored);

/**
 * Read training/convergence.parquet and, if it is there, training/inner_bound.parquet, and derive
 * ci_95, gap and wall_time_ms.
 *
 * @param out its pointers are the arena's; a failure sets `file` alone
 * @return MCP_OK; MCP_E_NOT_FOUND (no such record); MCP_E_PARSE (there, but broken or not that
 *         table, or no file); MCP_E_DENIED (a link); MCP_E_NOMEM; MCP_E_LIMIT; MCP_E_UNSUPPORTED (no DuckDB)
 */
mcp_status results_read_convergence(results_convergence *out, columns *engine, int out_fd,
                                    mcp_arena *arena, mcp_error *err);

#endif
