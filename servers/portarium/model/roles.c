/*
 * roles.c - the matrix of permissions: a row each, the bits of the roles that have it.
 */
#include "model/roles.h"

#define A PORTARIUM_ROLE(ADMIN)
#define O PORTARIUM_ROLE(OPERATOR)
#define P PORTARIUM_ROLE(APPROVER)
#define U PORTARIUM_ROLE(AUDITOR)

static const portarium_roles matrix[PORTARIUM_PERMISSION_COUNT] = {
    [PORTARIUM_MAY_READ] = A | O | P | U,
    [PORTARIUM_MAY_START_RUN] = A | O,
    [PORTARIUM_MAY_INTERVENE] = A | O | P | U,
    [PORTARIUM_MAY_CANCEL_RUN] = A | O,
    [PORTARIUM_MAY_CREATE_APPROVAL] = A | O,
    [PORTARIUM_MAY_DECIDE_APPROVAL] = A | P,
    [PORTARIUM_MAY_REGISTER_AGENT] = A | O,
    [PORTARIUM_MAY_READ_AGENTS] = A | O | U,
    [PORTARIUM_MAY_HEARTBEAT] = A | O,
    [PORTARIUM_MAY_ASSIGN_TASK] = A | O,
    [PORTARIUM_MAY_COMPLETE_TASK] = A | O | P,
    [PORTARIUM_MAY_USE_AGENT_ACTIONS] = A | O,
    [PORTARIUM_MAY_WRITE_WORKFLOW] = A | O,
    [PORTARIUM_MAY_VERIFY_EVIDENCE] = A | U,
    [PORTARIUM_MAY_ADMINISTER] = A,
};

bool portarium_may(portarium_roles roles, portarium_permission permission)
{
    return (roles & matrix[permission]) != 0;
}

bool portarium_may_cancel(portarium_roles roles, bool is_initiator, bool compat)
{
    return portarium_may(roles, PORTARIUM_MAY_CANCEL_RUN) || ((roles & P) && is_initiator) ||
           (compat && portarium_may(roles, PORTARIUM_MAY_INTERVENE));
}

bool portarium_roles_add(portarium_roles *roles, const char *name)
{
    portarium_role_name role;

    if (!portarium_role_name_read(&role, name) || (*roles >> role & 1))
        return false;
    *roles |= 1u << role;
    return true;
}
