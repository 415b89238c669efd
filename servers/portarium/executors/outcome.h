/**
 * outcome.h - what the executors have in common: results, and the time and secret of an attempt.
 */
#ifndef PORTARIUM_EXECUTORS_OUTCOME_H
#define PORTARIUM_EXECUTORS_OUTCOME_H

#include "executors/credentials.h"
#include "executors/executor.h"
#include "language/template.h"

/** The data of the executors of one registry. */
typedef struct portarium_room {
    const portarium_host *host;
    portarium_vault *vault;
    struct portarium_links *links; /* connections to MCP servers */
} portarium_room;

/** End it without success. */
void portarium_end(portarium_result *out, portarium_outcome outcome,
                   portarium_error_class error_class, const char *format, ...) MCP_PRINTF(4, 5);

/** End one that did not begin: the class is that of the status. */
void portarium_end_unsent(portarium_result *out, mcp_status status, const mcp_error *err);

/** End one whose answer did not come. @param may_have_happened the other side may have acted */
void portarium_end_unanswered(portarium_result *out, mcp_status status, const mcp_error *err,
                              bool may_have_happened);

/**
 * End it with success and an output, in which the secret is replaced.
 *
 * @param secret NULL or empty: none
 */
void portarium_end_done(portarium_result *out, const mcp_json *output, const mcp_buf *secret,
                        mcp_arena *arena);

/** What is left of its time, in milliseconds; at least 1. */
int64_t portarium_time_left(const portarium_attempt *attempt);

/** The values of a binding's templates: ${parameters} is the input as it was approved. */
portarium_scope portarium_scope_of(const portarium_attempt *attempt);

/** Whether a binding says that the system knows a key again. */
bool portarium_binding_is_idempotent(const mcp_json *binding);

#endif
