/**
 * attempt.h - attempts of actions that another system performs: their beginning and their end, each
 * in a transaction.
 */
#ifndef PORTARIUM_ENGINE_ATTEMPT_H
#define PORTARIUM_ENGINE_ATTEMPT_H

#include "engine/run.h"
#include "executors/executor.h"

/** An attempt that was stored and is to be performed after the commit. */
typedef struct portarium_dispatch {
    const char *run, *action;
    int64_t fence;
    uint32_t timeout_ms;
    const char *text; /* the members of a portarium_attempt, as JSON */
} portarium_dispatch;

/** Attempts of one transaction. In its arena. */
typedef struct portarium_dispatches {
    const portarium_executors *executors; /* who performs them; NULL: nobody */
    portarium_dispatch *items;
    size_t count, capacity;
} portarium_dispatches;

/**
 * Begin an attempt: lease, attempt row, evidence and event.
 *
 * @param input    as it is to be performed
 * @param lease_ms how long this process holds the action without renewing the lease
 */
mcp_status portarium_attempt_begin(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, const portarium_record *adapter,
                                   const mcp_json *input, int64_t lease_ms,
                                   portarium_dispatches *out, mcp_error *err);

/**
 * Begin an attempt that an agent will perform: no lease is held until an agent claims it, and it
 * has no deadline until then.
 *
 * @param is_idempotent whether it may be repeated after its outcome was lost
 */
mcp_status portarium_attempt_open(portarium_run *run, portarium_run_action *action,
                                  portarium_tx *tx, bool is_idempotent, mcp_error *err);

/**
 * Store how an attempt ended. One whose lease was lost, or whose action has ended meanwhile, is
 * late: it is stored as evidence and changes nothing.
 */
mcp_status portarium_attempt_end(portarium_run *run, const char *action, int64_t fence,
                                 const portarium_result *result, portarium_tx *tx, mcp_error *err);

/** An attempt whose process has died: repeat it where its executor is idempotent, otherwise its
 *  outcome is unknown. */
mcp_status portarium_attempt_lost(portarium_run *run, portarium_run_action *action,
                                  portarium_tx *tx, mcp_error *err);

/** An attempt that this process has not begun and will not begin: another one begins it. */
mcp_status portarium_attempt_return(portarium_run *run, const char *action, int64_t fence,
                                    portarium_tx *tx, mcp_error *err);

/** End an action without an attempt: it failed, with evidence and event. */
mcp_status portarium_action_fail(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                 portarium_error_class error_class, const char *message,
                                 mcp_error *err);

/** End an action without more: it is Cancelled, its lease is gone, its attempt is a late one. */
mcp_status portarium_action_cancel(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, mcp_error *err);

/** End an action that succeeded, with evidence and event. @param output NULL: none */
mcp_status portarium_action_succeed(portarium_run *run, portarium_run_action *action,
                                    portarium_tx *tx, const mcp_json *output, mcp_error *err);

#endif
