/*
 * steepest.h - how steep the future cost can be in each entry of the state.
 *
 * Less water in a plant is made good by releasing less of it, at that plant and then at each one
 * below: what that costs bounds the slope, and so does what releasing more costs. That argument
 * needs a constant productivity, and a water balance that nothing but the plants' own releases and
 * limits touches. Where it does not hold, and for inflow lags, the case says the slope
 * (upper_bound_evaluation.lipschitz.fallback_value). Method page, 16.
 */
#ifndef SDDP_PROGRAM_STEEPEST_H
#define SDDP_PROGRAM_STEEPEST_H

#include "mcp/error.h"

#include "sddp/program/context.h"

/*
 * Fill `slopes`, by entry of the state: currency per hm3 or per m3/s, never negative.
 *
 * MCP_OK; MCP_E_PARAMS (the case gives no fallback_value and needs one: the text says why);
 * MCP_E_NOMEM
 */
mcp_status steepest_slopes(double *slopes, const program_context *context, mcp_error *err);

#endif
