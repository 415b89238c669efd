/*
 * rest.h - REST routes: the same calls, workers and bounds as MCP has.
 */
#ifndef MCP_TRANSPORT_HTTP_REST_REST_H
#define MCP_TRANSPORT_HTTP_REST_REST_H

#include "mcp/core/call/call_int.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/http_int.h"

/** A header field of a route's request or answer; the arena's. */
typedef struct mcp__rest_field {
    const char *name;
    const char *value;
} mcp__rest_field;

/** The `feature` of a route's call; its handler's, then the loop's. */
typedef struct mcp__rest {
    /* the request */
    const mcp_http_options *http;
    mcp_buf body;                  /* undecoded */
    const char *path;              /* not decoded */
    const mcp__rest_field *fields; /* each name once */
    size_t field_count;
    bool is_bare; /* HEAD: the answer has no body */

    /* the answer */
    int http_status; /* 0: not set */
    const char *mime_type;
    mcp__rest_field answer_fields[MCP__REST_FIELDS_MAX];
    size_t answer_field_count;
    bool is_sent;                /* mcp_call_send: the body is the call's message */
    mcp_stream *stream;          /* the answer; NULL: it is none, or the loop has taken it */
    struct mcp__body *remainder; /* of a body in pieces, likewise */
} mcp__rest;

/** What hangs on a route's call; NULL: the call is of another kind. */
mcp__rest *mcp__rest_of(const mcp_call *call);

/** The kind of routes' calls. */
extern const mcp__call_kind mcp__rest_kind;

/** Serves the routes. Its `head` answers 404 or 405 where there is no route. */
extern const mcp__route_handler mcp__rest_handler;

#endif
