/**
 * compensate.h - undoing what a failed run has done.
 *
 * When a run fails after an action with a side effect has succeeded, each action that succeeded and
 * has a compensation gets another action, ID:compensate, behind those of the workflow. They run one
 * after the other, the action that ended last first; one that fails does not stop the others.
 */
#ifndef PORTARIUM_ENGINE_COMPENSATE_H
#define PORTARIUM_ENGINE_COMPENSATE_H

#include "engine/run.h"

/** Store the compensating actions. @param count how many there are */
mcp_status portarium_compensate_begin(size_t *count, portarium_run *run, portarium_tx *tx,
                                      mcp_error *err);

#endif
