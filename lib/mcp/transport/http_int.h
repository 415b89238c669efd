/*
 * http_int.h - the body of the server over HTTP, for the files that answer on it. The loop's alone.
 */
#ifndef MCP_TRANSPORT_HTTP_INT_H
#define MCP_TRANSPORT_HTTP_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mcp/core/call/result.h"
#include "mcp/core/session_table.h"
#include "mcp/http.h"
#include "mcp/transport/serve.h"
#include "net/http.h"
#include "net/tls.h"

typedef struct mcp__httpd mcp__httpd;
typedef struct mcp__httpd_peer mcp__httpd_peer;
typedef struct mcp__authorize mcp__authorize;

/** What an open exchange belongs to: its data. */
typedef struct mcp__exchange_owner mcp__exchange_owner;
struct mcp__exchange_owner {
    /** The client is gone. */
    void (*hung_up)(mcp__exchange_owner *self);
    /** A stream's client sends no more, see net/http.h. NULL: it is taken as gone. */
    void (*half_closed)(mcp__exchange_owner *self);
    /** A stream's reader was slow, and has taken all. NULL: it concerns the calls alone. */
    void (*drained)(mcp__exchange_owner *self);
};

/** For /metrics. */
typedef struct mcp__httpd_counts {
    uint64_t requests; /* of any kind */
    uint64_t messages; /* of MCP */
    uint64_t refused;  /* at the gate */
    uint64_t streams;  /* begun */
    uint64_t events;   /* of routes' streams, written */
    uint64_t overruns; /* routes' streams whose queue was full */
    uint64_t hung_up;  /* clients gone before their answer */
} mcp__httpd_counts;

struct mcp__httpd {
    mcp__serve serve;                   /* first */
    mcp_http_options http;              /* every default filled in; `port` is the real one */
    mcp__inline_budget *inline_budgets; /* of MCP_NONBLOCKING routes, by their row in the table */
    mcp__http *listener;
    mcp__tls_context *tls;
    mcp__session_table sessions;        /* its `shared`: for requests that need no session */
    LIST_HEAD(, mcp__httpd_peer) peers; /* all that are unanswered, and all streams */
    size_t peer_count;
    LIST_HEAD(, mcp_stream) streams; /* of routes */
    size_t stream_count;
    mcp_buf gathered;            /* events on their way into one write */
    mcp__authorize *authorize;   /* NULL: no token is required */
    const mcp_principal *caller; /* of the request that is being served; NULL: none is known */
    int writing;                 /* bodies of answers whose next piece a worker writes */
    mcp__timer *alive_timer;     /* http.alive is due */
    mcp__timer *peers_timer;     /* comments, streams, idle sessions */
    int64_t peers_step_ms;
    bool is_stepping; /* peers_timer runs */
    bool is_empty;    /* the listener has no connection any more */
    mcp__httpd_counts counts;
    mcp__durations durations;       /* where `metrics` is served */
    mcp__histogram session_times;   /* of sessions that have ended */
    double process_start_s;         /* since 1970 */
    char address[MCP_ADDRESS_SIZE]; /* of the first TCP socket that was given: `http.host` */
};

/** Serve a request whose token is judged. @param caller NULL: none is known */
void mcp__httpd_dispatch(mcp__httpd *httpd, mcp__http_exchange *exchange,
                         const mcp_principal *caller);

/** Look after peers and sessions in a while, if that is not planned yet. */
void mcp__httpd_step_later(mcp__httpd *httpd);

/** Calls are due, or a slow reader has taken all: reports that were held may go. @param self the
 *  mcp__httpd's */
void mcp__httpd_calls_due(mcp__serve *self);

/** Have what is open looked at so often at least. */
void mcp__httpd_quicken(mcp__httpd *httpd, int64_t every_ms);

/** The name of the caller, which its session belongs to; NULL: none is known. */
const char *mcp__httpd_caller_name(const mcp__httpd *httpd);

/** When the caller's token expires, by the wall clock; 0: never, or nobody knows. */
int64_t mcp__httpd_caller_expires_ms(const mcp__httpd *httpd);

/** A copy of the caller that outlives its request. @param arena pays; yours; NULL where none is
 *  known. @return false: no memory; free `arena` all the same */
bool mcp__httpd_copy_caller(const mcp__httpd *httpd, mcp_arena **arena, const mcp_principal **out);

/** What the connection is: "tcp" or "unix". */
const char *mcp__httpd_transport(const mcp__http_exchange *exchange);

bool mcp__httpd_is_method(const mcp__http_exchange *exchange, const char *method);

/** Whether the path is none of MCP's. */
bool mcp__httpd_is_route(const mcp__httpd *httpd, const mcp__http_exchange *exchange);

/** Answer with a status and a body of one line of JSON, which is taken, or NULL. The exchange is
 *  over. */
void mcp__httpd_answer(mcp__httpd *httpd, mcp__http_exchange *exchange, int status, mcp_buf *json);

/** The same with one more field. */
void mcp__httpd_answer_with(mcp__httpd *httpd, mcp__http_exchange *exchange, int status,
                            const char *field, const char *value, mcp_buf *json);

/** Answer with a JSON-RPC error that belongs to no request, or to the request of `id`. */
void mcp__httpd_refuse(mcp__httpd *httpd, mcp__http_exchange *exchange, int status, int code,
                       const mcp_json *id, const char *message);

/** The body of a refusal by a status of HTTP alone, on a path of a route; for the listener too.
 *  @param body initialized here. @param httpd the mcp__httpd. @return false: the path is MCP's, or
 *  memory is out */
bool mcp__httpd_refusal_body(mcp_buf *body, const char **mime_type,
                             const mcp__http_exchange *exchange, int status, const char *message,
                             void *httpd);

struct mcp__head;

/** The body of a refusal on a path of a route, with header fields of the program, added to `head`.
 *  @param fields the arena of their texts: free it after the answer
 *  @return false: memory is out */
bool mcp__httpd_refusal(mcp_buf *body, const char **mime_type, struct mcp__head *head,
                        mcp_arena **fields, const mcp__httpd *httpd,
                        const mcp__http_exchange *exchange, int status, const char *message);

/** Answers the exchange. What `incoming` holds may be taken; the remainder is freed afterwards. */
typedef void mcp__body_taker(mcp__httpd *httpd, mcp__http_exchange *exchange,
                             mcp__incoming *incoming);

/**
 * Read the body as a message and hand it to `then`: at once, or, where it is large, when a worker
 * has read it; then what can be read of the request, and the caller, are what they were. A client
 * that hangs up meanwhile is not heard of again.
 */
void mcp__httpd_read_body(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__body_taker *then);

/* ---- endpoints ------------------------------------------------------------------------------- */

/** What an endpoint does. `head` looks at a request before its body is read, and may answer it;
 *  `request` serves it. */
typedef void mcp__endpoint(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Streamable HTTP, for all revisions, at http.path (streamable.c). */
mcp__endpoint mcp__streamable_head, mcp__streamable_request;

#define MCP__WEBSOCKET_PATH "/ws"

/** MCP over WebSocket: a text message is a message, a connection is a client (websocket.c). */
mcp__endpoint mcp__websocket_head, mcp__websocket_request;

#define MCP__SSE_PATH "/sse"
#define MCP__SSE_MESSAGE_PATH "/messages"

/** HTTP+SSE of 2024-11-05: one stream for all answers, one path to post to (sse_legacy.c). */
mcp__endpoint mcp__sse_request, mcp__sse_post_head, mcp__sse_post_request;

#define MCP__HEALTH_PATH "/health"
#define MCP__METRICS_PATH "/metrics"

/** Probes; they answer at the head (http/metrics.c). */
mcp__endpoint mcp__metrics_health, mcp__metrics_answer;

/** When the process started, in seconds since 1970; 0: the system does not say. */
double mcp__process_start_s(void);

/** Routes: 404 or 405 where there is none (rest/rest.c). */
mcp__endpoint mcp__rest_head, mcp__rest_request;

#endif
