/*
 * workforce.c - the routes of the workforce, which version 1 does not have: people are users.
 */
#include "service/operations.h"

static mcp_status refuse(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    (void)tx;
    (void)request;
    (void)reply;
    return mcp_error_set(err, MCP_E_UNSUPPORTED,
                         "There is no workforce in version 1; a workforceMemberId is a userId "
                         "(/users).");
}

/* clang-format off */
const portarium_operation portarium_workforce_operations[] = {
    { "listWorkforce", "GET", "/workforce", PORTARIUM_MAY_READ, 0, PORTARIUM_NO_BODY, NULL,
      "not in version 1", refuse },
    { "listWorkforceQueues", "GET", "/workforce/queues", PORTARIUM_MAY_READ, 0, PORTARIUM_NO_BODY,
      NULL, "not in version 1", refuse },
    { "getWorkforceMember", "GET", "/workforce/{workforceMemberId}", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, NULL, "not in version 1", refuse },
    { "setWorkforceAvailability", "PATCH", "/workforce/{workforceMemberId}/availability",
      PORTARIUM_MAY_ASSIGN_TASK, PORTARIUM_COMMAND | PORTARIUM_PATCH, PORTARIUM_NO_BODY, NULL,
      "not in version 1", refuse },
    { 0 },
};
/* clang-format on */
