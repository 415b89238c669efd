/*
 * http_int.h - the body of the server over HTTP, for the files that answer on it. The loop's alone.
 *
 * Each way of serving has two functions: `head` looks at a request before its body is read and may
 * answer, `request` has the body.
 */
#ifndef MCP_TRANSPORT_HTTP_HTTP_INT_H
#define MCP_TRANSPORT_HTTP_HTTP_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/core/call/result.h"
#include "mcp/core/session_table.h"
#include "mcp/http.h"
#include "mcp/transport/serve.h"
#include "net/http.h"
#include "net/tls.h"

typedef struct mcp__web mcp__web;
typedef struct mcp__web_peer mcp__web_peer;
typedef struct mcp__authorize mcp__authorize;

/** What an open exchange belongs to: its data. */
typedef struct mcp__exchange_owner mcp__exchange_owner;
struct mcp__exchange_owner {
    /** The client is gone. */
    void (*hung_up)(mcp__exchange_owner *self);
    /** A stream's reader was slow, and has taken all. NULL: it concerns the calls alone. */
    void (*drained)(mcp__exchange_owner *self);
};

/** For /metrics. */
typedef struct mcp__web_counts {
    uint64_t requests; /* of any kind */
    uint64_t messages; /* of MCP */
    uint64_t refused;  /* at the gate */
    uint64_t streams;  /* begun */
    uint64_t events;   /* of routes' streams, written */
    uint64_t overruns; /* routes' streams whose queue was full */
    uint64_t hung_up;  /* clients gone before their answer */
} mcp__web_counts;

/** Serves the paths outside MCP; rest/ implements it. */
typedef struct mcp__route_handler {
    /* Check the table of routes. */
    mcp_status (*check)(const mcp_route *routes, mcp_error *err);
    /* Allocate the rows' inline budgets, zeroed; free them with free(). */
    mcp_status (*inline_budgets)(mcp__inline_budget **out, const mcp_route *routes, mcp_error *err);
    /* The number of rows that are MCP_LONG. */
    int (*long_count)(const mcp_route *routes);

    /* `head` looks at a request before its body is read and may answer; `request` has the body. */
    void (*head)(mcp__web *web, mcp__http_exchange *exchange);
    void (*request)(mcp__web *web, mcp__http_exchange *exchange);
    /* Answer with an error. The exchange is over. */
    void (*refuse)(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                   const char *message);
    /* The body by which the listener refuses a request. `body` is initialized here. */
    bool (*refusal_body)(mcp_buf *body, const char **mime_type, const mcp__web *web,
                         const mcp__http_exchange *exchange, int http_status, const char *message);
} mcp__route_handler;

struct mcp__web {
    mcp__serve serve; /* first */
    const mcp__route_handler *routes;
    mcp_http_options http;              /* every default filled in; `port` is the real one */
    mcp__inline_budget *inline_budgets; /* of MCP_NONBLOCKING routes, by their row in the table */
    mcp__http *listener;
    mcp__tls_context *tls;
    mcp__session_table sessions;
    mcp__session_entry *shared; /* for requests that need no session; NULL: no sessions yet */
    mcp__web_peer *peers;       /* all that are unanswered, and all streams */
    size_t peer_count;
    size_t socket_count; /* WebSockets */
    mcp_stream *streams; /* of routes */
    size_t stream_count;
    mcp_buf gathered;            /* events on their way into one write */
    mcp__authorize *authorize;   /* NULL: no token is required */
    const mcp_principal *caller; /* of the request that is being served; NULL: none is known */
    int verifying;               /* tokens that a worker verifies */
    int writing;                 /* bodies of answers whose next piece a worker writes */
    mcp__timer *peers_timer;     /* comments, streams, idle sessions */
    int64_t peers_step_ms;
    bool is_stepping; /* peers_timer runs */
    bool is_empty;    /* the listener has no connection any more */
    mcp__web_counts counts;
    mcp__durations durations; /* where `metrics` is served */
    double process_start_s;   /* since 1970 */
};

/** Look after peers and sessions in a while, if that is not planned yet. */
void mcp__web_step_later(mcp__web *web);

/** A slow reader has taken all: reports that were held for it may go. */
void mcp__web_drained(mcp__web *web);

/** Have what is open looked at so often at least. */
void mcp__web_quicken(mcp__web *web, int64_t every_ms);

/** Whether the path is none of MCP's. */
bool mcp__web_is_route(const mcp__web *web, const mcp__http_exchange *exchange);

/** Answer with a status and a body of one line of JSON or none. The exchange is over. */
void mcp__web_answer(mcp__web *web, mcp__http_exchange *exchange, int status, mcp_buf *json);

/** The same with one more field. */
void mcp__web_answer_with(mcp__web *web, mcp__http_exchange *exchange, int status,
                          const char *field, const char *value, mcp_buf *json);

/** Answer with a JSON-RPC error that belongs to no request, or to the request of `id`. */
void mcp__web_refuse(mcp__web *web, mcp__http_exchange *exchange, int status, int code,
                     const mcp_json *id, const char *message);

#endif
