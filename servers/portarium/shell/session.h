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
    portarium_actor actor; /* "local:USER": who runs the command, an admin of every workspace */
    portarium_reply reply; /* of the last operation */
} portarium_session;

/** Open the database of the line. @return MCP_OK; statuses of portarium_plane_open */
mcp_status portarium_session_open(portarium_session *out, const cli_line *line, mcp_error *err);

/** The same with another database than the line's. */
mcp_status portarium_session_open_at(portarium_session *out, const cli_line *line, const char *url,
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
