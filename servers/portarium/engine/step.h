/**
 * step.h - one step of a run: everything that can be done in one transaction.
 */
#ifndef PORTARIUM_ENGINE_STEP_H
#define PORTARIUM_ENGINE_STEP_H

#include "engine/attempt.h"

/** Step a run. A run that has ended, or is held, is left as it is.
 *  @param dispatches attempts to be performed after the commit are added */
mcp_status portarium_step(portarium_run *run, portarium_tx *tx, int64_t lease_ms,
                          portarium_dispatches *dispatches, mcp_error *err);

/**
 * End a run whose steps fail, and would fail again: nothing of it is in a state that another step
 * could continue. What has not ended is cancelled; nothing is undone.
 *
 * @param message why, for people
 */
mcp_status portarium_step_fail(portarium_run *run, portarium_tx *tx, const char *message,
                               mcp_error *err);

#endif
