/**
 * start.h - a study that begins with a policy instead of with nothing.
 *
 * To be called after sddp_new, before the study trains or simulates, at most once each: first
 * sddp_set_boundary, then sddp_start. When one fails the study is to be freed.
 *
 * Source: the method page, section 11.
 */
#ifndef SDDP_START_H
#define SDDP_START_H

#include <stdbool.h>

#include "mcp/error.h"

#include "policy/policy.h"
#include "sddp/sddp.h"

typedef enum sddp_start_mode {
    SDDP_START_WARM, /* the cuts; iterations count from 1; also for a simulation without training */
    SDDP_START_RESUME /* training continues; from an exact policy with the bits of an undisturbed
                         one */
} sddp_start_mode;

/**
 * Take a policy into a fresh study. Cuts that were deactivated stay so.
 *
 * @param from     read during the call alone
 * @param is_exact what follows has the bits of the training that the policy is from; may be NULL
 * @return MCP_OK; MCP_E_PARAMS (another number of stages or state entries, other hydros, the
 *         other of single and multi-cut, or a cut that is out of range: the text says which);
 *         MCP_E_NOMEM
 */
mcp_status sddp_start(sddp *study, const policy *from, sddp_start_mode mode, bool *is_exact,
                      mcp_error *err);

/**
 * Whether a policy says that it is of other data than the study's: programs, noises, the first
 * state or risk measures. Its cuts then hold only where no future cost has fallen. To be asked
 * after sddp_set_boundary.
 */
bool sddp_is_of_other_data(const sddp *study, const policy *from);

/**
 * The active cuts of a stage of another policy become the future cost of the last stage. The case
 * has a boundary_path, else the last stage has no future.
 *
 * @return MCP_OK; MCP_E_PARAMS (no such stage, another state, multi-cut, a cycle, a cut out of
 *         range): the text says which; MCP_E_NOMEM
 */
mcp_status sddp_set_boundary(sddp *study, const policy *from, uint32_t source_stage,
                             mcp_error *err);

#endif
