/**
 * remote.h - the client of a control plane elsewhere, over REST.
 *
 * A request takes at most 30 s (and the seconds that it asks to wait for), is repeated up to three
 * times after 429, 502, 503, 504 and failures of the connection, with pauses of 500, 1000 and
 * 2000 ms or what Retry-After says, and never beyond the call's deadline. A POST is repeated only
 * with an idempotency key; starting a run always has one.
 */
#ifndef PORTARIUM_CLIENT_REMOTE_H
#define PORTARIUM_CLIENT_REMOTE_H

#include "client/functions.h"
#include "fetch/fetch.h"

typedef struct portarium_remote portarium_remote;

/**
 * @param out      yours, free it with portarium_remote_free
 * @param base_url "https://plane.example", with or without a path; the program's user sets it
 * @param token    sent as the bearer token; NULL: none. Copied, as the URL
 * @return MCP_OK; MCP_E_PARAMS: not an http or https URL; MCP_E_UNSUPPORTED (there is no libcurl);
 *         MCP_E_NOMEM
 */
mcp_status portarium_remote_new(portarium_remote **out, const char *base_url, const char *token,
                                mcp_error *err);

/** NULL is fine. No request may be running. */
void portarium_remote_free(portarium_remote *self);

/** The client that sends by it. */
portarium_client portarium_client_remote(portarium_remote *self);

/** A stream of the events of a workspace. Everything is borrowed. */
typedef struct portarium_remote_stream {
    const char *workspace;
    const char *last_event_id; /* the stream begins behind it; NULL: with the next event */
    fetch_on_body *on_body;    /* receives the bytes, as in fetch_request */
    bool (*should_stop)(void *data);
    void *data; /* for both */
} portarium_remote_stream;

/**
 * Read a stream until it ends, at most a day. Blocks.
 *
 * @param http the HTTP status; 0: there was no answer
 * @return MCP_OK; statuses of fetch_run
 */
mcp_status portarium_remote_follow(int *http, portarium_remote *self,
                                   const portarium_remote_stream *how, mcp_error *err);

#endif
