/*
 * groups.h - which solves of a stage are made together, and by which solver: single noises of
 * paths, and groups of the openings of a stage.
 *
 * Neighbours end near one another, so a group takes fewer pivots than its lanes one by one. An
 * answer depends on its group, so groups are cut by the case alone, never by the number of threads.
 */
#ifndef SDDP_ITERATION_GROUPS_H
#define SDDP_ITERATION_GROUPS_H

#include "sddp/study.h"

/* Make what groups need in the study and its workers, whose programs are there. MCP_OK;
 * MCP_E_NOMEM. */
mcp_status groups_prepare(sddp *study, mcp_error *err);

/* Prepare the solver of a stage again, whose program has other bounds of the same columns. MCP_OK;
 * MCP_E_NOMEM. */
mcp_status groups_replace_program(sddp *study, size_t stage, mcp_error *err);

/* Free what groups_prepare made outside the study's arena, as far as it came. */
void groups_free(sddp *study);

/* The input of a solve of a stage from the worker's state under a noise; the solution is wanted. */
solve_input groups_path_input(const sddp *study, worker *w, size_t stage, const double *noise,
                              const uint8_t *basis);

/* Paths that are walked together, at most. */
#define GROUP_PATHS_MOST 32

/* How many scenarios of a simulation are walked together: one stage of all of them is a group. */
size_t groups_paths(const sddp *study);

/* The incoming state of one of a worker's paths, and its noise. */
double *groups_path_state(const sddp *study, const worker *w, size_t path);
double *groups_path_noise(const sddp *study, const worker *w, size_t path);

/* The input of the solve of a stage for the first `paths` of a worker's paths, from their states
 * under their noises; the solutions are wanted. */
solve_input groups_paths_input(const sddp *study, worker *w, size_t stage, size_t paths,
                               const uint8_t *basis);

/* Some openings of a stage, in order. */
typedef struct opening_group {
    size_t first, count;
} opening_group;

/* The groups into which the openings of a stage are cut for one state, and one of them. */
size_t groups_count(const sddp *study, size_t stage);
opening_group groups_get(const sddp *study, size_t stage, size_t group);

/* The input of the solve of a group. */
solve_input groups_input(const sddp *study, size_t stage, const double *state,
                         const opening_group *group, const uint8_t *basis);

#endif
