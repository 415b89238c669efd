/**
 * systemd.h - a program as a service of systemd, without its library: sockets that are passed at
 * the start (sd_listen_fds(3)), readiness and watchdog (sd_notify(3)).
 *
 * Another service manager may follow the same protocols.
 */
#ifndef SERVE_SYSTEMD_H
#define SERVE_SYSTEMD_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "mcp/http.h"

typedef struct serve_systemd {
    int sockets[MCP_SOCKETS_MAX]; /* $LISTEN_FDS of them, from descriptor 3 */
    size_t socket_count;
    const char *notify;  /* $NOTIFY_SOCKET, borrowed from the environment; NULL: nobody listens */
    int64_t watchdog_ms; /* half of $WATCHDOG_USEC; 0: nobody watches */
} serve_systemd;

/**
 * Read the variables. Those of another process ($LISTEN_PID, $WATCHDOG_PID) are ignored. The
 * sockets are closed on exec from now on.
 *
 * @return MCP_OK; MCP_E_PARAMS: a variable that cannot be, or a descriptor that is no listening
 *         socket, named
 */
mcp_status serve_systemd_read(serve_systemd *out, mcp_error *err);

/**
 * Send a state, "READY=1\nSTATUS=...". Does not block; does nothing where nobody listens.
 *
 * @return MCP_OK; MCP_E_PARAMS (the address cannot be), MCP_E_IO, MCP_E_NOT_FOUND, MCP_E_DENIED
 */
mcp_status serve_systemd_notify(const serve_systemd *self, const char *state, mcp_error *err);

#endif
