/**
 * view.h - the policy of a study as policy/policy.h has it, to be saved.
 */
#ifndef SDDP_VIEW_H
#define SDDP_VIEW_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "policy/policy.h"
#include "sddp/sddp.h"

/**
 * Point out the policy after the last completed iteration. Call it between trainings and
 * simulations, or from the observer's `iteration`.
 *
 * The view points into the study, and is valid until the study next trains or changes. The caller
 * sets cobre_version and created_at.
 *
 * @param arena pays for the records of cuts
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status sddp_view_policy(policy *out, const sddp *study, mcp_arena *arena, mcp_error *err);

/** What the stopping rules look back on, `means` of the policy: the study's; it changes when the
 *  rules are next applied, after an iteration's observer. */
const double *sddp_view_means(size_t *count, const sddp *study);

#endif
