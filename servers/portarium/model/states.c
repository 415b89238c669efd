/*
 * states.c - the transitions, one row a status: the bits of those that may follow.
 */
#include "model/states.h"

#include <math.h>
#include <string.h>

#define BIT(name) (1u << PORTARIUM_##name)

static const unsigned run_next[] = {
    [PORTARIUM_RUN_PENDING] = BIT(RUN_RUNNING) | BIT(RUN_CANCELLED),
    [PORTARIUM_RUN_RUNNING] = BIT(RUN_SUCCEEDED) | BIT(RUN_FAILED) | BIT(RUN_CANCELLED) |
                              BIT(RUN_WAITING_FOR_APPROVAL) | BIT(RUN_PAUSED),
    [PORTARIUM_RUN_WAITING_FOR_APPROVAL] = BIT(RUN_RUNNING) | BIT(RUN_CANCELLED),
    [PORTARIUM_RUN_PAUSED] = BIT(RUN_RUNNING) | BIT(RUN_CANCELLED),
    [PORTARIUM_RUN_SUCCEEDED] = 0,
    [PORTARIUM_RUN_FAILED] = 0,
    [PORTARIUM_RUN_CANCELLED] = 0,
};

/* Pending to Failed: `when` or policy refused it. Running to Pending: its lease ended and it may be
 * repeated. WaitingForApproval to Pending: approved, and due for dispatch. */
static const unsigned action_next[] = {
    [PORTARIUM_ACTION_PENDING] = BIT(ACTION_RUNNING) | BIT(ACTION_WAITING) |
                                 BIT(ACTION_WAITING_FOR_APPROVAL) |
                                 BIT(ACTION_WAITING_FOR_MANUAL_COMPLETION) | BIT(ACTION_SKIPPED) |
                                 BIT(ACTION_FAILED) | BIT(ACTION_CANCELLED),
    [PORTARIUM_ACTION_RUNNING] = BIT(ACTION_PENDING) | BIT(ACTION_WAITING) | BIT(ACTION_SUCCEEDED) |
                                 BIT(ACTION_FAILED) | BIT(ACTION_CANCELLED),
    [PORTARIUM_ACTION_WAITING] = BIT(ACTION_PENDING) | BIT(ACTION_RUNNING) | BIT(ACTION_SUCCEEDED) |
                                 BIT(ACTION_FAILED) | BIT(ACTION_CANCELLED),
    [PORTARIUM_ACTION_WAITING_FOR_APPROVAL] = BIT(ACTION_PENDING) | BIT(ACTION_RUNNING) |
                                              BIT(ACTION_SUCCEEDED) | BIT(ACTION_FAILED) |
                                              BIT(ACTION_CANCELLED),
    [PORTARIUM_ACTION_WAITING_FOR_MANUAL_COMPLETION] = BIT(ACTION_SUCCEEDED) | BIT(ACTION_FAILED) |
                                                       BIT(ACTION_CANCELLED),
    [PORTARIUM_ACTION_SUCCEEDED] = 0,
    [PORTARIUM_ACTION_SKIPPED] = 0,
    [PORTARIUM_ACTION_FAILED] = 0,
    [PORTARIUM_ACTION_CANCELLED] = 0,
};

static const unsigned approval_next[] = {
    [PORTARIUM_APPROVAL_PENDING] = BIT(APPROVAL_APPROVED) | BIT(APPROVAL_DENIED) |
                                   BIT(APPROVAL_EXPIRED) | BIT(APPROVAL_REQUEST_CHANGES),
    [PORTARIUM_APPROVAL_APPROVED] = BIT(APPROVAL_EXECUTING),
    [PORTARIUM_APPROVAL_DENIED] = 0,
    [PORTARIUM_APPROVAL_EXECUTING] = BIT(APPROVAL_EXECUTED) | BIT(APPROVAL_APPROVED),
    [PORTARIUM_APPROVAL_EXECUTED] = 0,
    [PORTARIUM_APPROVAL_EXPIRED] = 0,
    [PORTARIUM_APPROVAL_REQUEST_CHANGES] = BIT(APPROVAL_PENDING),
};

static const unsigned human_task_next[] = {
    [PORTARIUM_HUMAN_TASK_PENDING] = BIT(HUMAN_TASK_ASSIGNED) | BIT(HUMAN_TASK_ESCALATED),
    [PORTARIUM_HUMAN_TASK_ASSIGNED] = BIT(HUMAN_TASK_IN_PROGRESS) | BIT(HUMAN_TASK_ESCALATED) |
                                      BIT(HUMAN_TASK_COMPLETED),
    [PORTARIUM_HUMAN_TASK_IN_PROGRESS] = BIT(HUMAN_TASK_COMPLETED) | BIT(HUMAN_TASK_ESCALATED),
    [PORTARIUM_HUMAN_TASK_COMPLETED] = 0,
    [PORTARIUM_HUMAN_TASK_ESCALATED] = BIT(HUMAN_TASK_ASSIGNED) | BIT(HUMAN_TASK_IN_PROGRESS) |
                                       BIT(HUMAN_TASK_COMPLETED),
};

bool portarium_run_may_become(portarium_run_status from, portarium_run_status to)
{
    return (run_next[from] >> to & 1) != 0;
}

bool portarium_run_is_final(portarium_run_status status)
{
    return run_next[status] == 0;
}

bool portarium_action_may_become(portarium_action_state from, portarium_action_state to)
{
    return (action_next[from] >> to & 1) != 0;
}

bool portarium_action_is_final(portarium_action_state state)
{
    return action_next[state] == 0;
}

bool portarium_action_releases(portarium_action_state state)
{
    return state == PORTARIUM_ACTION_SUCCEEDED || state == PORTARIUM_ACTION_SKIPPED;
}

bool portarium_action_is_unstarted(portarium_action_state state)
{
    return state == PORTARIUM_ACTION_PENDING || state == PORTARIUM_ACTION_WAITING ||
           state == PORTARIUM_ACTION_WAITING_FOR_APPROVAL;
}

bool portarium_action_resolve(portarium_action_state *out, portarium_action_state state,
                              portarium_error_class error_class, const char *outcome)
{
    static const struct {
        const char *outcome;
        portarium_action_state state;
    } outcomes[] = {
        { "retry", PORTARIUM_ACTION_PENDING },
        { "succeeded", PORTARIUM_ACTION_SUCCEEDED },
        { "failed", PORTARIUM_ACTION_FAILED },
    };

    if (state != PORTARIUM_ACTION_FAILED || error_class != PORTARIUM_CLASS_UNKNOWN_OUTCOME)
        return false;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i].outcome, outcome) == 0) {
            *out = outcomes[i].state;
            return true;
        }
    return false;
}

bool portarium_approval_may_become(portarium_approval_status from, portarium_approval_status to)
{
    return (approval_next[from] >> to & 1) != 0;
}

bool portarium_approval_is_final(portarium_approval_status status)
{
    return approval_next[status] == 0;
}

portarium_approval_status portarium_approval_of(portarium_decision decision)
{
    static const portarium_approval_status of[] = {
        [PORTARIUM_DECISION_APPROVED] = PORTARIUM_APPROVAL_APPROVED,
        [PORTARIUM_DECISION_DENIED] = PORTARIUM_APPROVAL_DENIED,
        [PORTARIUM_DECISION_REQUEST_CHANGES] = PORTARIUM_APPROVAL_REQUEST_CHANGES,
    };

    return of[decision];
}

bool portarium_work_item_may_become(portarium_work_item_status from, portarium_work_item_status to)
{
    return from != PORTARIUM_WORK_ITEM_CLOSED && from != to;
}

bool portarium_human_task_may_become(portarium_human_task_status from,
                                     portarium_human_task_status to)
{
    return (human_task_next[from] >> to & 1) != 0;
}

bool portarium_error_is_retryable(portarium_error_class error_class)
{
    return error_class <= PORTARIUM_CLASS_UNKNOWN;
}

const portarium_retry portarium_retry_default = { 3, 1000, 2.0, 30000 };
const portarium_retry portarium_retry_compensation = { 2, 1000, 2.0, 10000 };

uint32_t portarium_retry_delay_ms(const portarium_retry *retry, uint32_t attempt)
{
    double delay = retry->initial_ms * pow(retry->multiplier, (double)attempt - 2);

    return delay < retry->max_ms ? (uint32_t)delay : retry->max_ms;
}
