/**
 * host.h - what the configuration of this host gives to executors: commands, MCP servers, and
 * where credentials are. A workspace names them; it never says what they are.
 *
 *     [exec.deploy]
 *     command = ["/usr/local/bin/deploy", "--json"]
 *     environment = ["REGION=eu", "LANG"]   # a name alone passes on the variable of this process
 *     directory = "/srv/deploy"             # "/" otherwise
 *     readable = ["/srv/deploy"]            # besides the system's programs and libraries
 *     writable = ["/srv/deploy/state"]
 *     network = true                        # no sockets otherwise
 *     memory_mb = 512                       # of address space; 4096 otherwise, 0: no limit
 *
 *     [mcp.files]
 *     command = ["/usr/local/bin/files-mcp"]   # and the other members of exec
 *
 *     [mcp.stars]
 *     url = "http://127.0.0.1:3001/mcp"     # it runs already; no egress list holds for it
 *     credential = "STARS"                  # perhaps: the token that it is shown
 *
 *     [credentials.TRACKER]
 *     file = "/etc/portarium/tracker"       # mode 0600; or command = [...], which prints it
 *     workspaces = ["ws-1"]                 # all otherwise
 */
#ifndef PORTARIUM_EXECUTORS_HOST_H
#define PORTARIUM_EXECUTORS_HOST_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "proc/proc.h"

/** The tables of the configuration; NULL: nothing is mapped. Borrowed, never change. */
typedef struct portarium_host {
    const mcp_json *commands;    /* exec */
    const mcp_json *servers;     /* mcp */
    const mcp_json *credentials; /* credentials */
} portarium_host;

/**
 * How to start a program of the configuration: its arguments, environment and sandbox.
 *
 * @param entry     a member of `commands` or `servers`
 * @param variables further ones, "NAME=value", ending with NULL; borrowed. NULL: none
 * @return MCP_OK; MCP_E_DENIED (entry is NULL, or has no command); MCP_E_NOMEM
 */
mcp_status portarium_host_program(proc_spec *out, const mcp_json *entry,
                                  const char *const *variables, mcp_arena *arena, mcp_error *err);

#endif
