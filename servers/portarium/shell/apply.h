/**
 * apply.h - workspaces, and what they have, from a JSON document.
 */
#ifndef PORTARIUM_SHELL_APPLY_H
#define PORTARIUM_SHELL_APPLY_H

#include "shell/session.h"

/** What was done. */
typedef struct portarium_applied {
    int created, changed, unchanged;
} portarium_applied;

/**
 * Make what the document describes (apply.c), where it is not there yet.
 *
 * @param out counts are added to it
 * @return MCP_OK; MCP_E_PARAMS: it has no list "workspaces"; statuses of portarium_session_run
 */
mcp_status portarium_apply(portarium_applied *out, portarium_session *session,
                           const mcp_json *document, mcp_error *err);

#endif
