/**
 * policies.h - the active policies of a workspace, read once.
 *
 * A version of a policy never changes, so what was read of it is kept for the life of the process:
 * up to 1,000 versions; further ones are read each time. Which versions are active is read by each
 * transaction, so every replica judges by the policies of that moment.
 */
#ifndef PORTARIUM_ENGINE_GATES_POLICIES_H
#define PORTARIUM_ENGINE_GATES_POLICIES_H

#include "policy/rules.h"
#include "store/record.h"

/** What was read. Any thread. */
typedef struct portarium_policies_read_once portarium_policies_read_once;

/** @param shapes outlives it */
mcp_status portarium_policies_new(portarium_policies_read_once **out,
                                  const portarium_shapes *shapes, mcp_error *err);

/** NULL is fine. */
void portarium_policies_free(portarium_policies_read_once *self);

/** The active policies, in the order of their ids. */
typedef struct portarium_policy_set {
    const portarium_policy **items; /* in the transaction's arena */
    size_t count;
} portarium_policy_set;

/** Maximum number of active policies of a workspace. */
enum { PORTARIUM_POLICIES_MAX = 1000 };

/**
 * The active policies of the transaction's workspace.
 *
 * @return MCP_OK; MCP_E_LIMIT: more than PORTARIUM_POLICIES_MAX; MCP_E_INTERNAL: a stored policy is
 *         invalid; statuses of db.h. The caller must take each of them for Deny
 */
mcp_status portarium_policies_active(portarium_policy_set *out, portarium_tx *tx, mcp_error *err);

#endif
