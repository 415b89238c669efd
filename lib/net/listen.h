/*
 * listen.h - sockets that take connections: TCP, and Unix-domain ones in the file system.
 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"
#include "net/loop.h"

typedef struct mcp__listener mcp__listener;

/**
 * A connection has come in. Runs on the loop.
 *
 * @param fd yours: non-blocking, closed on exec. Negative: an errno, negated, because of which none
 *           can be taken now (mostly: no descriptor is left); reported once, and tried again
 */
typedef void mcp__accept_callback(int fd, void *data);

/**
 * Listen on a TCP address.
 *
 * @param out  yours, free it with mcp__listener_free
 * @param host an address or a name, of which the first address is taken
 * @param port 0: any free one, see mcp__listener_port
 */
mcp_status mcp__listen_tcp(mcp__listener **out, mcp__loop *loop, const char *host, int port,
                           mcp__accept_callback *callback, void *data, mcp_error *err);

/**
 * Listen on a Unix-domain socket that only this user may connect to (mode 0600). A socket left
 * behind by a dead process is replaced; one that somebody answers at is not (MCP_E_BUSY).
 */
mcp_status mcp__listen_unix(mcp__listener **out, mcp__loop *loop, const char *path,
                            mcp__accept_callback *callback, void *data, mcp_error *err);

/** Room for the text of an address. */
#define MCP__ADDRESS_SIZE 64

/** The address of a listening socket: "" and 0 of a Unix-domain one. @return MCP_OK; MCP_E_PARAMS:
 *  it is none of type stream */
mcp_status mcp__socket_address(char host[MCP__ADDRESS_SIZE], int *port, int fd, mcp_error *err);

/** Listen on a socket that another process has bound and listens on already. `fd` is taken, but for
 *  an error; the file of a Unix-domain socket stays. */
mcp_status mcp__listen_socket(mcp__listener **out, mcp__loop *loop, int fd,
                              mcp__accept_callback *callback, void *data, mcp_error *err);

/** The TCP port; 0 for a Unix-domain socket. */
int mcp__listener_port(const mcp__listener *listener);

/** Whether to take none for now; they wait in the kernel's queue. */
void mcp__listener_pause(mcp__listener *listener, bool is_paused);

/** Stop listening and free; the file of a Unix-domain socket goes too. NULL is fine. */
void mcp__listener_free(mcp__listener *listener);

/**
 * Raise the limit of open descriptors to what the system lets us have.
 *
 * @param got the limit that is in force now
 */
mcp_status mcp__descriptors_raise(size_t *got, mcp_error *err);

#endif
