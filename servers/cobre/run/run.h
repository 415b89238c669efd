/**
 * run.h - one run: validate, train, simulate, write.
 *
 * The command line and the tool cobre/run both call cobre_run and cobre_run_write, so their results
 * are the same.
 *
 * With ranks all of them call cobre_run with the same order. Rank 0 writes the files and calls the
 * observer; of the others' observers should_stop alone is called, and their results say how the run
 * ended for them.
 *
 * Source: seed SS2.2; the output page, sections 1 and 10; the method page, section 10.
 */
#ifndef COBRE_RUN_RUN_H
#define COBRE_RUN_RUN_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#include "case/case.h"
#include "columns/columns.h"
#include "findings/record.h"
#include "findings/report.h"
#include "guard/paths.h"
#include "results/results.h"
#include "results/study/study_files.h"
#include "sddp/sddp.h"

/** The version in files and envelopes, and the server's (the output page, 10, "Identity"). */
#define COBRE_VERSION "2.0.0"

typedef enum cobre_phases {
    COBRE_PHASES_BOTH, /* what config.json enables */
    COBRE_PHASES_TRAINING,
    COBRE_PHASES_SIMULATION
} cobre_phases;

struct cobre_run_result;

/**
 * The progress of a run in steps: the iterations of the training, then the scenarios.
 *
 * `total` is the same from the first iteration to the last scenario when the case limits the
 * iterations. A training that ends before its limit leaves a gap in `done`.
 */
typedef struct cobre_progress {
    int64_t done;
    int64_t total; /* 0: not known, in a training without an iteration_limit */
} cobre_progress;

/**
 * Called back while a run works. Any member may be NULL. All but should_stop are called on the
 * thread that called cobre_run.
 */
typedef struct cobre_run_observer {
    /** The case is valid, the output directory is open and locked, and work begins: `input`,
     *  `report` (it may hold warnings), `warnings` and `output_dir` of the result are set. */
    void (*started)(const struct cobre_run_result *so_far, void *data);
    /** An iteration is done. */
    void (*iteration)(const sddp_iteration *row, const cobre_progress *progress, void *data);
    /** The training has ended and is written. */
    void (*trained)(const sddp_training *training, void *data);
    /** A scenario is done; its files are written, or wait for the thread that writes them. */
    void (*scenario)(uint32_t done, uint32_t total, int64_t elapsed_ms,
                     const cobre_progress *progress, void *data);
    /** Called before every LP solve, on any of the solver's threads; must be cheap. */
    sddp_stop (*should_stop)(void *data);
    void *data;
} cobre_run_observer;

typedef struct cobre_run_order {
    int case_fd;          /* the case directory; borrowed */
    const char *case_dir; /* its canonical path */
    /**
     * Opens the output directory, made if need be, once the case is valid.
     *
     * @param fd   the run closes it
     * @param path its absolute path, the arena's
     */
    mcp_status (*open_output)(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err);
    void *output_data;
    const char *output_name; /* the directory's name in messages before it is opened */
    cobre_phases phases;
    unsigned threads;                  /* >= 1 */
    struct ranks *ranks;               /* that share the run; NULL: one process */
    results_distribution distribution; /* what is reported of them */
    columns *engine;
    const guard *guard; /* of absolute paths in config.json's policy; NULL: they are refused */
    const cobre_run_observer *observer; /* may be NULL */
} cobre_run_order;

typedef enum cobre_run_end {
    COBRE_RUN_COMPLETED,
    COBRE_RUN_PARTIAL,       /* stopped from outside: the completed part is on disk */
    COBRE_RUN_INVALID,       /* the report has errors; nothing was written */
    COBRE_RUN_REFUSED,       /* the order cannot be carried out: `record` says why */
    COBRE_RUN_SOLVER_FAILED, /* an LP could not be solved: `record` says which */
    COBRE_RUN_FAILED,        /* the output directory cannot be written: `record` says why */
    COBRE_RUN_RANK_LOST      /* another rank has ended, or differs: `record` says which */
} cobre_run_end;

/** What the study is built from. */
typedef struct cobre_run_models {
    size_t hydros, with_planes, evaporating; /* plants; those with a production function at a stage,
                                                and those that evaporate at one */
    study_provenance provenance;
} cobre_run_models;

/** Texts are UTF-8; other bytes of the directory's name are replaced. */
typedef struct cobre_run_result {
    cobre_run_end end;
    const cobre_report *report;  /* never NULL */
    const cobre_record *record;  /* for the last four ends */
    const char *output_dir;      /* absolute; NULL before it was opened */
    const cobre_case *input;     /* NULL when invalid */
    cobre_run_models models;     /* once the run has started */
    const char *const *warnings; /* beyond those of the report: one sentence each */
    size_t warning_count;
    bool has_training, has_simulation;
    sddp_training training;  /* its rows are the arena's */
    policy_metadata resumed; /* of the policy that the training resumed; else zeros. Its texts and
                                ids are gone after the run */
    sddp_simulation simulation;
    const char *const *simulation_folders; /* below the output directory; ended by NULL */
} cobre_run_result;

/**
 * Run a case.
 *
 * @param out   set when MCP_OK is returned, for every end
 * @param arena pays for all that `out` points to
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_UNSUPPORTED (no DuckDB); MCP_E_INTERNAL, MCP_E_IO: the
 *         server's own failures. Output written until then does not look finished.
 */
mcp_status cobre_run(cobre_run_result *out, const cobre_run_order *order, mcp_arena *arena,
                     mcp_error *err);

/** "completed" or "partial", for a run that ended in one of these ways. */
const char *cobre_run_status(const cobre_run_result *result);

/** Write the members `training` and `simulation`: an object, or null for a phase that did not
 *  run. */
void cobre_run_write_phases(const cobre_run_result *result, mcp_json_writer *writer);

/** Write the members of cobre/run's result: status, output_dir, training, simulation. */
void cobre_run_write(const cobre_run_result *result, mcp_json_writer *writer);

#endif
