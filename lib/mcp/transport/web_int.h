/*
 * web_int.h - the body of the server over HTTP, for the files that answer on it. The loop's alone.
 *
 * Each way of serving has two functions: `head` looks at a request before its body is read and may answer,
 * `request` has the body.
 */
#ifndef MCP_TRANSPORT_WEB_INT_H
#define MCP_TRANSPORT_WEB_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/core/session/session_table.h"
#include "mcp/core/task/task_table.h"
#include "mcp/http.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/pool.h"
#include "net/tls.h"

typedef struct mcp__web mcp__web;
typedef struct mcp__web_peer mcp__web_peer;
typedef struct mcp__authorize mcp__authorize;

/** Whoever stands behind an open exchange: its data. */
typedef struct mcp__web_guest mcp__web_guest;
struct mcp__web_guest {
    /** The client is gone. */
    void (*hung_up)(mcp__web_guest *self);
    /** A stream's reader was slow, and has taken all. NULL: nobody but the calls wants to know. */
    void (*drained)(mcp__web_guest *self);
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

struct mcp__web {
    mcp__executor executor;             /* first: the pool's, behind a bound on what may wait */
    const mcp_server_options *options;
    mcp_http_options http;              /* every default filled in */
    mcp__pace *paces;                   /* of routes that are MCP_QUICK, by their place in the table */
    mcp__loop *loop;
    mcp__pool *pool;
    mcp__executor *threads;             /* the pool's face */
    mcp__http *listener;
    mcp__tls_context *tls;
    mcp__session_table sessions;
    mcp__task_table *tasks;
    mcp__session_entry *shared;         /* for requests that need no session; NULL: no sessions yet */
    mcp__web_peer *peers;              /* all that are unanswered, and all streams */
    size_t peer_count;
    size_t socket_count;                /* WebSockets */
    mcp_stream *streams;                /* of routes */
    size_t stream_count;
    mcp_buf gathered;                   /* events on their way into one write */
    mcp__arena_budget *budget;          /* that calls take their memory from */
    const char *scopes;                 /* that features ask for, between spaces; NULL: none */
    mcp__authorize *authorize;          /* NULL: no tokens are asked for */
    const mcp_principal *caller;        /* of the request that is being served; NULL: nobody in particular */
    int verifying;                      /* tokens that a worker looks at */
    int reading;                        /* large bodies that a worker reads */
    int writing;                        /* bodies of answers whose next piece a worker writes */
    mcp__timer *calls_timer;            /* time-outs and reports */
    mcp__timer *peers_timer;            /* comments, streams, idle sessions */
    mcp__timer *leave_timer;            /* the end of the grace time */
    mcp__signal *signals[2];
    int64_t calls_due_ms;               /* when calls_timer fires; INT64_MAX: it does not run */
    int64_t peers_step_ms;
    bool is_stepping;                   /* peers_timer runs */
    bool is_ending;
    bool is_abandoned;
    bool is_empty;                      /* the listener has no connection any more */
    mcp__web_counts counts;
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
