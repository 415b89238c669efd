/**
 * local.h - the user of this machine: the name, and where the state of programs is kept.
 */
#ifndef PORTARIUM_GATEWAY_LOCAL_H
#define PORTARIUM_GATEWAY_LOCAL_H

#include "mcp/arena.h"
#include "mcp/error.h"

/** The name of who runs the program; "unknown" where the system has none. */
const char *portarium_local_user(void);

/** "sqlite:" and $XDG_STATE_HOME/causeway/portarium.db, whose folder is made; without the variable
 *  $HOME/.local/state. In the arena.
 *  @return MCP_OK; MCP_E_NOT_FOUND: neither variable is set; statuses of mkdir; MCP_E_NOMEM */
mcp_status portarium_local_database(const char **out, mcp_arena *arena, mcp_error *err);

#endif
