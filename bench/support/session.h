/*
 * session.h - a client of load.h as an MCP client: a session over Streamable HTTP.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "support/load.h"

/** A POST of one message to /mcp, in the client's session if it has one; gives up where `size` is
 *  too small. */
size_t session_write(char *out, size_t size, const client *by, const char *body, size_t length);

/** Initialize; with a session, it is the client's from now on and begun in full. */
void session_open(client *by, bool has_session);

#endif
