/*
 * peer.h - a sealed process as its program sees it.
 */
#ifndef COLUMNS_SEALED_PEER_H
#define COLUMNS_SEALED_PEER_H

#include "columns/sealed/sealed.h"
#include "columns/sealed/wire.h"
#include "proc/fork.h"
#include "proc/proc.h"

/* The descriptor of the socket in the process. */
#define PEER_SOCKET 3

/* The longest frame of the process: some rows, of which one may be long. */
#define PEER_FRAME_MAX ((size_t)48 << 20)

struct peer {
    proc *child;
    int socket;
    struct peer *next; /* on a list of those that have ended */
};

/* Name the fork server of processes with these options; it is started by the first peer_start. As
 * proc_fork_server_new. */
mcp_status peer_server(proc_fork_server **out, const columns_sealed_options *options,
                       mcp_error *err);

/*
 * Start a process and wait until its engine is open. It is a fork of the server, or where that
 * fails a new program.
 *
 * MCP_E_UNSUPPORTED: DuckDB is missing; MCP_E_TIMEOUT; MCP_E_NOMEM; MCP_E_IO and others of
 * proc_start. `out` is yours.
 */
mcp_status peer_start(struct peer **out, const columns_sealed_options *options,
                      proc_fork_server *server, mcp_error *err);

/* Kill it, if it runs, and wait for its end. NULL is fine. */
void peer_free(struct peer *self);

/* Pass the files and the rules over them. `until_ms` bounds it. */
mcp_status peer_send_files(struct peer *self, const int *fds, size_t count, bool has_rules,
                           int64_t until_ms, mcp_error *err);

/* Take a WIRE_FAILED into `end` and `err`. @return its status */
mcp_status peer_failure(columns_sealed_end *end, const struct wire_frame *frame, mcp_error *err);

/* What is known of a process that ended without an answer. */
mcp_status peer_lost(struct peer *self, columns_sealed_end *end, mcp_error *err);

#endif
