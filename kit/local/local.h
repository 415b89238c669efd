/**
 * local.h - the user of this machine: the name, and where the state of programs is kept.
 */
#ifndef LOCAL_LOCAL_H
#define LOCAL_LOCAL_H

#include "mcp/arena.h"
#include "mcp/error.h"

/** The name of who runs the program; "unknown" where the system has none. */
const char *local_user(void);

/**
 * The URL of a SQLite database of this user alone: "sqlite:", $XDG_STATE_HOME, "/causeway/" and the
 * name. Without the variable the folder is $HOME/.local/state. The folders are made, mode 0700.
 *
 * @param out  in the arena
 * @param name "universe.db"
 * @return MCP_OK; MCP_E_NOT_FOUND: neither variable is an absolute path; the statuses of mkdir;
 *         MCP_E_NOMEM. The message names the way out, --db
 */
mcp_status local_database(const char **out, const char *name, mcp_arena *arena, mcp_error *err);

#endif
