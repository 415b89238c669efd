/**
 * states.h - which status may follow which, and which are final. Pure tables; any thread.
 *
 * No status follows itself: a command that would change nothing is the caller's case.
 */
#ifndef PORTARIUM_STATES_H
#define PORTARIUM_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/vocabulary.h"

/** True when a run may pass from one status to the other. A denied gate takes two steps:
 *  WaitingForApproval to Running, then to Failed. */
bool portarium_run_may_become(portarium_run_status from, portarium_run_status to);
/** True for Succeeded, Failed and Cancelled. */
bool portarium_run_is_final(portarium_run_status status);

/** True when an action may pass from one state to the other. Nothing follows a final state, except
 *  by portarium_action_resolve. */
bool portarium_action_may_become(portarium_action_state from, portarium_action_state to);
/** True for Succeeded, Skipped, Failed and Cancelled. */
bool portarium_action_is_final(portarium_action_state state);
/** True when the successors of an action in this state may start: Succeeded and Skipped. */
bool portarium_action_releases(portarium_action_state state);
/** True when an action in this state has not started, as compensation counts it: Pending, Waiting
 *  and WaitingForApproval. */
bool portarium_action_is_unstarted(portarium_action_state state);

/**
 * The state in which a person's word leaves an action whose outcome is unknown.
 *
 * @param out     Pending for "retry", Succeeded for "succeeded", Failed for "failed"
 * @param outcome one of those three words
 * @return false, with *out untouched, for another word, another state than Failed, or another class
 *         than unknown-outcome
 */
bool portarium_action_resolve(portarium_action_state *out, portarium_action_state state,
                              portarium_error_class error_class, const char *outcome);

/** True when an approval may pass from one status to the other. Executing goes back to Approved
 *  when the dispatch certainly did not happen. */
bool portarium_approval_may_become(portarium_approval_status from, portarium_approval_status to);
/** True for Denied, Executed and Expired. */
bool portarium_approval_is_final(portarium_approval_status status);
/** The status that a decision leads to, from Pending. */
portarium_approval_status portarium_approval_of(portarium_decision decision);

/** True when a work item may pass from one status to the other: any change, except out of
 *  Closed. */
bool portarium_work_item_may_become(portarium_work_item_status from, portarium_work_item_status to);
/** True when a human task may pass from one status to the other. */
bool portarium_human_task_may_become(portarium_human_task_status from,
                                     portarium_human_task_status to);

/** True for the classes after which an attempt may be repeated: timeout, rate_limit, 5xx, transport
 *  and unknown. */
bool portarium_error_is_retryable(portarium_error_class error_class);

/** How an action's attempts are repeated. */
typedef struct portarium_retry {
    uint32_t max_attempts; /* 1 to 10; 3 */
    uint32_t initial_ms;   /* delay before the second attempt; 1,000 */
    double multiplier;     /* at least 1; 2.0 */
    uint32_t max_ms;       /* limit of a delay; 30,000 */
} portarium_retry;

/** The defaults of an action, and of a compensation. */
extern const portarium_retry portarium_retry_default;
extern const portarium_retry portarium_retry_compensation;

/** The delay in milliseconds before attempt `attempt` (2 or more):
 *  min(initial_ms * multiplier^(attempt - 2), max_ms). */
uint32_t portarium_retry_delay_ms(const portarium_retry *retry, uint32_t attempt);

#endif
