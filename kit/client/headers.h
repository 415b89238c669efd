/*
 * headers.h - the headers of a request to a Streamable HTTP server.
 */
#ifndef CLIENT_HEADERS_H
#define CLIENT_HEADERS_H

#include "client/client_int.h"

#define CLIENT_HEADERS_MAX 64

/* Headers, and the texts of their values in an arena. */
struct client_headers {
    mcp_arena *arena;
    fetch_header items[CLIENT_HEADERS_MAX];
    size_t count;
    mcp_status st; /* the first failure: MCP_E_LIMIT (too many), MCP_E_NOMEM */
};

/* Both texts are borrowed. A NULL value adds nothing. */
void client_headers_add(struct client_headers *self, const char *name, const char *value);

/* The same with a value of any text, encoded as 2026-07-28 says where a header cannot have it. */
void client_headers_add_text(struct client_headers *self, const char *name, const char *text,
                             size_t length);

/* Mcp-Method, Mcp-Name, and Mcp-Param-* of the arguments that the tool's schema marks by
 * x-mcp-header. */
void client_headers_add_call(struct client_headers *self, const char *method,
                             const client_call *call);

#endif
