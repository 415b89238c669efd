/**
 * workspaces.h - new workspaces. REST has no route for them: the shell makes them.
 */
#ifndef PORTARIUM_SERVICE_WORKSPACES_H
#define PORTARIUM_SERVICE_WORKSPACES_H

#include "store/record.h"

/**
 * Make a workspace; the transaction continues in it.
 *
 * @param tx one without a workspace
 * @return MCP_OK; MCP_E_EXISTS; statuses of db.h
 */
mcp_status portarium_workspace_create(portarium_tx *tx, const char *id, const char *name,
                                      mcp_error *err);

#endif
