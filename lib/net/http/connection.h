/*
 * connection.h - the body of a connection and of the server; for the files of lib/net that make up
 * http.h.
 *
 * Once begun, a connection goes through these phases:
 *
 *     HEAD --> BODY --> WAIT --> HEAD ...      a request is read; it is answered; the next one
 *       \        \        \--> RAW             it was an upgrade: another protocol's bytes
 *        \--------\--------\--> LINGER --> closed   the last answer is out, what still comes is dropped
 */
#ifndef NET_HTTP_CONNECTION_H
#define NET_HTTP_CONNECTION_H

#include "net/http.h"
#include "net/http/outbox.h"
#include "net/http/request.h"
#include "net/listen.h"
#include "net/loop_int.h"

typedef struct mcp__http_exchange connection;

typedef enum connection_phase {
    PHASE_HEAD,   /* between requests, or in a head */
    PHASE_BODY,   /* in a body; the exchange may be answered already */
    PHASE_WAIT,   /* the request is read; its answer is due or under way */
    PHASE_RAW,    /* a tenant's */
    PHASE_FLUSH,  /* what is queued is sent, then the connection is closed */
    PHASE_LINGER, /* the same, but the client may be sending: see connection.c */
    PHASE_CLOSED  /* the memory waits for libuv */
} connection_phase;

typedef enum connection_answer {
    ANSWER_NONE,   /* no exchange has been handed out */
    ANSWER_DUE,    /* handed out, nothing sent */
    ANSWER_STREAM, /* begun, not ended */
    ANSWER_DONE
} connection_answer;

/* A connection, and the exchange that is on it. */
struct mcp__http_exchange {
    uv_poll_t poll; /* first: freed by its close callback */
    mcp__http *http;
    connection *next, *previous; /* of the server's list */
    connection *next_due;        /* of the list of those to settle at the end of the turn */

    mcp__outbox out;
    mcp_buf pending; /* bytes that came and are not used yet */
    mcp__head_scan scan;
    mcp__request *request; /* while one is read, and while it is handed out */
    mcp__tls *tls;         /* NULL: plain */
    const mcp__http_tenant *tenant;
    void *data;                /* the exchange's user's, or the tenant's */
    int64_t read_deadline_ms;  /* 0: none */
    int64_t write_deadline_ms; /* 0: nothing is queued */
    int fd;
    uint8_t phase;
    uint8_t answer;
    uint8_t events; /* what is polled for */
    bool is_unix;
    bool is_due;         /* in the list */
    bool is_last;        /* close after this exchange */
    bool is_bye;         /* the client said so, and sends no more */
    bool is_half_closed; /* the client sends no more, and may be gone: see connection.c */
    bool is_broken;      /* close without further ado */
    bool is_blocked;     /* the reader takes nothing */
    bool is_paused;      /* by the tenant */
    bool is_shut;        /* we have said that we send no more */
    bool has_no_body;    /* the answer has no body: the method is HEAD, or the status has none */
    bool is_reading;     /* it changes nothing: GET or HEAD */
    bool is_old;         /* HTTP/1.0 */
    bool is_chunked;     /* the answer */
    bool is_begun;       /* bytes of the next head came: its time runs */
    bool is_kept;        /* the request stays until the exchange is over */
};

typedef struct http_endpoint http_endpoint;

struct mcp__http {
    mcp__loop *loop;
    mcp__http_options options; /* none zero */
    mcp__head_limits limits;
    http_endpoint *endpoints;
    connection *connections;
    size_t count;
    connection *due;    /* to settle, last in first out */
    uv_prepare_t *turn; /* runs before the loop waits */
    mcp__timer *sweep;
    int64_t sweep_ms;
    char *input; /* what recv fills, for all connections */
    char *plain; /* the same after TLS; NULL while there is no TLS */
    mcp__request *spare;
    mcp__bodies bodies; /* of all connections */
    mcp__pieces pieces;
    mcp_buf head;   /* an answer's head is put together here */
    int64_t date_s; /* the second that `date` says */
    char date[32];  /* "Fri, 21 Nov 2025 10:00:00 GMT" */
    bool is_stopping;
    bool is_full; /* the endpoints are paused */
    mcp__loop_callback *is_empty;
    void *is_empty_data;
};

#define MCP__INPUT_SIZE ((size_t)64 * 1024)

/* A body that is read and dropped, after an early answer, rather than losing the connection. */
#define MCP__DISCARD_SIZE ((size_t)64 * 1024)

/** Take a connected socket. Takes `fd`: on failure it is closed. */
mcp_status mcp__connection_new(mcp__http *http, int fd, bool is_unix, mcp__tls_context *tls,
                               mcp_error *err);

/** Have the connection settled at the end of this turn of the loop: flushed, and brought
 *  forward. */
void mcp__connection_due(connection *conn);

/** Flush, where the socket is not blocked or `can_write` again; end what is over, go on with what
 *  was held back. */
void mcp__connection_settle(connection *conn, bool can_write);

/** Look at the clock. */
void mcp__connection_tick(connection *conn, int64_t now);

/** Notify its user or tenant, and close. */
void mcp__connection_end(connection *conn);

/** Queue a refusal as the connection's last words. */
void mcp__reply_refusal(connection *conn, mcp__refusal refusal);

/** Queue an answer that another follows, 100 or 102. Not for HTTP/1.0. */
void mcp__reply_interim(connection *conn, int status);

#endif
