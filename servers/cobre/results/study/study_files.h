/**
 * study_files.h - writes what a study is built from: the reports on scaling and provenance, the
 * fitted production functions, and the stochastic model.
 *
 * Source: the output page, 3.8, 3.9 and 7.
 */
#ifndef RESULTS_STUDY_FILES_H
#define RESULTS_STUDY_FILES_H

#include "mcp/error.h"

#include "case/case.h"
#include "hydro/model.h"
#include "sddp/program/scaling.h"
#include "stochastic/inflow.h"
#include "stochastic/tree.h"

typedef struct study_files {
    const cobre_case *input;
    const hydro_models *hydros;     /* NULL: no plant has a fitted production function */
    const inflow_model *inflow;     /* NULL: the case's own statistics, without lags */
    const noise_tree *tree;         /* the noise after correlation */
    const program_scaling *scaling; /* by stage */
} study_files;

/** Where the parts of the stochastic model come from, in the words of model_provenance.json;
 *  constant texts. */
typedef struct study_provenance {
    const char *estimation_path;
    const char *seasonal_stats, *ar_coefficients, *correlation, *opening_tree;
} study_provenance;

/** @param inflow NULL: the case's own statistics, without lags */
study_provenance study_provenance_of(const cobre_case *input, const inflow_model *inflow);

/**
 * Write training/scaling_report.json, training/model_provenance.json and, when a plant has a
 * computed fit, hydro_models/fpha_hyperplanes.parquet, which can be copied to system/ of the case.
 * An older file of that name is removed.
 *
 * @return MCP_OK; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status study_write_reports(const study_files *files, int out_fd, mcp_error *err);

/**
 * Write stochastic/: openings, statistics, coefficients, correlation and, after an estimation, its
 * report. What an earlier run left there is removed.
 *
 * @return MCP_OK; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status study_write_stochastic(const study_files *files, int out_fd, mcp_error *err);

/** Remove stochastic/ of an earlier run. */
mcp_status study_remove_stochastic(int out_fd, mcp_error *err);

#endif
