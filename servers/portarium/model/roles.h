/**
 * roles.h - who may do what: permissions by role. Pure tables; any thread.
 */
#ifndef PORTARIUM_ROLES_H
#define PORTARIUM_ROLES_H

#include <stdbool.h>

#include "model/vocabulary.h"

/** A set of roles, one bit each. */
typedef unsigned portarium_roles;

#define PORTARIUM_ROLE(name) (1u << PORTARIUM_##name)

/** What a principal may be permitted. */
typedef enum portarium_permission {
    PORTARIUM_MAY_READ, /* runs, approvals, work items, evidence, plans, workspaces, workflows */
    PORTARIUM_MAY_START_RUN,
    PORTARIUM_MAY_INTERVENE, /* at all; portarium_intervene judges each intervention */
    PORTARIUM_MAY_CANCEL_RUN,
    PORTARIUM_MAY_CREATE_APPROVAL,
    PORTARIUM_MAY_DECIDE_APPROVAL,
    PORTARIUM_MAY_REGISTER_AGENT, /* and machines */
    PORTARIUM_MAY_READ_AGENTS,    /* and machines */
    PORTARIUM_MAY_HEARTBEAT,
    PORTARIUM_MAY_ASSIGN_TASK,
    PORTARIUM_MAY_COMPLETE_TASK,
    PORTARIUM_MAY_USE_AGENT_ACTIONS, /* propose and execute */
    PORTARIUM_MAY_WRITE_WORKFLOW,
    PORTARIUM_MAY_VERIFY_EVIDENCE, /* verification, head, checkpoints; policy simulation */
    PORTARIUM_MAY_ADMINISTER,      /* policies, users, adapters, webhooks, workspaces, freeze */
} portarium_permission;

#define PORTARIUM_PERMISSION_COUNT (PORTARIUM_MAY_ADMINISTER + 1)

/** True when one of the roles has the permission. */
bool portarium_may(portarium_roles roles, portarium_permission permission);

/**
 * True when a run may be cancelled: by an admin or an operator, and by an approver who started it.
 *
 * @param compat rbac.compat_cancel: every role may, as in the reference
 */
bool portarium_may_cancel(portarium_roles roles, bool is_initiator, bool compat);

/**
 * Add the role of a name to a set.
 *
 * @return false, with *roles unchanged, for an unknown name or one that the set has already
 */
bool portarium_roles_add(portarium_roles *roles, const char *name);

#endif
