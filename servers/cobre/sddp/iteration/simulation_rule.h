/*
 * simulation_rule.h - the stopping rule "simulation": training may end when a simulation of the
 * policy costs the same, stage by stage, as the one before. Method page, 10.
 */
#ifndef SDDP_ITERATION_SIMULATION_RULE_H
#define SDDP_ITERATION_SIMULATION_RULE_H

#include "sddp/iteration/iteration.h"

/* Make room for what the rules look back on. MCP_OK; MCP_E_NOMEM. */
mcp_status simulation_rule_prepare(sddp *study, mcp_error *err);

/* Whether the rules have not yet seen the last iteration. */
bool simulation_rule_is_pending(const sddp *study);

/*
 * Simulate for those rules that are due after the last iteration. The study's rule_fires says by
 * rule whether it says stop.
 *
 * MCP_OK; MCP_E_STOPPED (nothing was noted: the rules are still pending); MCP_E_INTERNAL;
 * MCP_E_NOMEM
 */
mcp_status simulation_rule_check(const iteration_run *run, mcp_error *err);

#endif
