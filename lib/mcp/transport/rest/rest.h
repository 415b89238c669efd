/*
 * rest.h - REST routes: the same calls, workers and bounds as MCP has.
 */
#ifndef MCP_TRANSPORT_HTTP_REST_REST_H
#define MCP_TRANSPORT_HTTP_REST_REST_H

#include "mcp/core/call/call_int.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http_int.h"

typedef struct mcp__body mcp__body;

/** A header field of a route's request or answer; the arena's. */
typedef struct mcp__rest_field {
    const char *name;
    const char *value;
} mcp__rest_field;

/** The `feature` of a route's call; its handler's, then the loop's. */
typedef struct mcp__rest {
    /* the request */
    const mcp_http_options *http;
    const mcp_route *route;
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
    bool is_sent;         /* mcp_call_send: the body is the call's message */
    mcp_stream *stream;   /* the answer; NULL: it is none, or the loop has taken it */
    mcp__body *remainder; /* of a body in pieces, likewise */
} mcp__rest;

/** Whether a field of an answer is the server's: what frames the answer, and its type. */
bool mcp__rest_is_own_field(const char *name);

/** The index of the field of that name; `count`: there is none. */
size_t mcp__rest_field_find(const mcp__rest_field *fields, size_t count, const char *name);

/** What hangs on a route's call; NULL: the call is of another kind. */
mcp__rest *mcp__rest_of(const mcp_call *call);

/** The kind of routes' calls. */
extern const mcp__call_kind mcp__rest_kind;

/**
 * Answer with the first piece of a body that is written while it is sent, and see to the others
 * from now on. Takes `body` and the exchange.
 *
 * @param first   its bytes are taken
 * @param is_bare the head is all
 */
void mcp__body_begin(mcp__body *body, mcp__httpd *httpd, mcp__http_exchange *exchange,
                     const mcp__http_head_out *head, mcp_buf *first, bool is_bare);

/** NULL is fine. */
void mcp__body_free(mcp__body *body);

/* ---- answers outside MCP that no handler wrote ----------------------------------------------- */

/** A problem on its way to the program's writer, which finds the fields by it. */
typedef struct mcp__problem {
    mcp_problem shown; /* first */
    /* the request: one of them, or nothing of it could be read */
    const mcp__http_exchange *exchange;
    const mcp__rest *rest;
    /* the answer: a call's, or a head whose texts are the arena's */
    mcp_call *call;
    mcp__head *head;
    mcp_arena *arena;
} mcp__problem;

/** The HTTP status of a status. */
int mcp__problem_http(mcp_status status);

/** The status that says most of an HTTP status. */
mcp_status mcp__problem_status(int http_status);

/**
 * Write the body in the program's form, or in ours.
 *
 * @param body      initialized here; empty where memory is out
 * @return its type; borrowed
 */
const char *mcp__problem_write(mcp_buf *body, const mcp_http_options *http,
                               const mcp__problem *problem);

/** Answer a request of no path of MCP's by an HTTP status. The exchange is over. */
void mcp__rest_refuse(mcp__httpd *httpd, mcp__http_exchange *exchange, int http_status,
                      const char *message);

/** The body of such an answer. @param body initialized here. @return false: memory is out */
bool mcp__rest_refusal_body(mcp_buf *body, const char **mime_type, const mcp__httpd *httpd,
                            const mcp__http_exchange *exchange, int http_status,
                            const char *message);

/** The same with the program's header fields, added to `head`.
 *  @param fields the arena of their texts: free it after the answer */
bool mcp__rest_refusal(mcp_buf *body, const char **mime_type, mcp__head *head, mcp_arena **fields,
                       const mcp__httpd *httpd, const mcp__http_exchange *exchange, int http_status,
                       const char *message);

#endif
