/**
 * session.h - a command's plane: the database, without an engine.
 */
#ifndef PORTARIUM_SHELL_SESSION_H
#define PORTARIUM_SHELL_SESSION_H

#include "cli/cli.h"
#include "service/plane.h"

typedef struct portarium_session {
    const cli_line *line;
    portarium_plane *plane;
    mcp_arena *arena;
    const char *workspace; /* of the line, or the only one; NULL: the line has none */
    portarium_actor actor; /* "local:USER": who runs the command, an admin of every workspace */
    portarium_reply reply; /* of the last operation */
} portarium_session;

/** Open the database of the line, which must exist. @return MCP_OK; MCP_E_NOT_FOUND; statuses of
 *  portarium_plane_open */
mcp_status portarium_session_open(portarium_session *out, const cli_line *line, mcp_error *err);

/** Open a database, and make it where there is none. */
mcp_status portarium_session_make(portarium_session *out, const cli_line *line, const char *url,
                                  mcp_error *err);

void portarium_session_close(portarium_session *self);

/**
 * Run an operation as the local admin.
 *
 * @param arguments,body NULL: none
 * @return MCP_OK; MCP_E_DENIED and so on: the operation was refused; the message is its detail
 */
mcp_status portarium_session_run(portarium_session *self, const char *operation,
                                 const char *workspace, const mcp_json *arguments,
                                 const mcp_json *body, mcp_error *err);

#endif
