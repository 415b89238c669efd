/**
 * builtin.h - the operations that the engine performs by itself, within its transaction.
 *
 *     control:noop       succeeds; its output is its input
 *     control:wait       succeeds after `durationMs`, or at `untilIso`
 *     control:approve    succeeds; its gate is always there
 *     control:fail       fails, with the class `class` and the message `message`
 *     workitem:create    stores a work item of `title` (and `ownerUserId`), linked to the run
 *     event:emit         adds the event ActionEvent, whose payload is the input
 */
#ifndef PORTARIUM_ENGINE_BUILTIN_H
#define PORTARIUM_ENGINE_BUILTIN_H

#include "engine/run.h"

/** Whether an operation is one of them. */
bool portarium_is_builtin(const char *operation);

/** Whether an operation is gated whatever its tier is. */
bool portarium_is_always_gated(const char *operation);

/** What a builtin did. */
typedef struct portarium_builtin_result {
    portarium_action_state state; /* SUCCEEDED, FAILED or WAITING */
    const mcp_json *output;       /* NULL: none */
    int64_t wake_at_ms;           /* WAITING */
    portarium_error_class error_class;
    const char *message; /* FAILED */
} portarium_builtin_result;

/**
 * Perform one.
 *
 * @param input resolved; NULL: none
 */
mcp_status portarium_builtin_run(portarium_builtin_result *out, portarium_run *run,
                                 portarium_run_action *action, portarium_tx *tx,
                                 const mcp_json *input, mcp_error *err);

#endif
