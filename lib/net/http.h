/*
 * http.h - an HTTP/1.1 server on a loop.
 *
 * An *exchange* is one request and its answer. The server hands it to `head` and `request`, which
 * answer it, now or later: a whole answer by mcp__http_reply, or a stream by mcp__http_begin,
 * _write and _end. On one connection there is one exchange at a time; pipelined requests wait.
 *
 * The exchange is the server's. It is over with reply, end, drop or take_over, or when `hung_up`
 * was called; its pointer must not be used afterwards. What can be read of a request (method to
 * minor, below) is good within `head` and `request` only: copy, take, or keep, what is needed
 * later.
 *
 * Everything here is for the loop's thread. No function calls a callback before it returns, but for
 * mcp__http_free, and mcp__http_stop, which calls `stopping` of tenants. All that a turn of the
 * loop writes to a connection leaves in one write at the end of the turn.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/log.h"
#include "net/http/outbox.h"
#include "net/loop.h"
#include "net/tls.h"

typedef struct mcp__http mcp__http;
typedef struct mcp__http_exchange mcp__http_exchange;

typedef struct mcp__http_field_out {
    const char *name;
    const char *value; /* NULL: the field is left out */
} mcp__http_field_out;

/** The functions that serve requests. `data` is passed to each. */
typedef struct mcp__http_handler {
    /** The head is there, the body is not read yet. May answer; then it stays unread. May be
     *  NULL. */
    void (*head)(mcp__http_exchange *exchange, void *data);
    /** Head and body are there. */
    void (*request)(mcp__http_exchange *exchange, void *data);
    /** The client is gone, or the server ended the exchange over a limit, before it was
     *  answered. */
    void (*hung_up)(mcp__http_exchange *exchange, void *data);
    /** The client sends no more while a stream is under way: it may be gone, or has shut its side
     *  only. Write something, which a client that is gone resets; or end the stream. NULL: it is
     *  taken as gone. */
    void (*half_closed)(mcp__http_exchange *exchange, void *data);
    /** A stream whose reader was slow has nothing queued any more. May be NULL. */
    void (*drained)(mcp__http_exchange *exchange, void *data);
    /** The server refuses the request, which may be unreadable: write the answer's body, and its
     *  type. False, or NULL here: it is a line of text. */
    bool (*refused)(mcp_buf *body, const char **mime_type, const mcp__http_exchange *exchange,
                    int status, const char *words, void *data);
    void *data;
} mcp__http_handler;

/** Zero stands for the value in brackets. */
typedef struct mcp__http_options {
    size_t head_max_bytes; /* request line and fields (16 KiB) */
    size_t line_max_bytes; /* request line (8 KiB) */
    size_t fields_max;     /* (100) */
    size_t body_max_bytes; /* (4 MiB) */
    /** Of all bodies that are being read (then one that grows is refused), and of large answers
     *  that wait to be sent (then one more is refused) (1 GiB). */
    size_t bodies_max_bytes;
    size_t connections_max;   /* more wait in the kernel's queue (10,000) */
    size_t queue_max_bytes;   /* unsent: then a stream is full and no request is taken (4 MiB) */
    size_t queue_hard_bytes;  /* unsent: then the connection is closed (64 MiB) */
    int64_t head_timeout_ms;  /* from connecting, or its first byte, to the head's end (10 s) */
    int64_t body_timeout_ms;  /* from the head's to the body's end (30 s) */
    int64_t idle_timeout_ms;  /* between two requests (75 s) */
    int64_t stall_timeout_ms; /* a reader that takes no byte (30 s) */
    mcp__http_handler handler;
    const mcp__http_field_out
        *fields; /* of every answer that does not name them itself; borrowed */
    size_t field_count;
    const mcp_log *log; /* borrowed; NULL: nothing is logged */
} mcp__http_options;

/** @param out yours, free it with mcp__http_free */
mcp_status mcp__http_new(mcp__http **out, mcp__loop *loop, const mcp__http_options *options,
                         mcp_error *err);

/**
 * Listen on a TCP address too.
 *
 * @param tls  borrowed, must outlive the server; NULL: plain
 * @param real the port that was taken where `port` is 0; may be NULL
 */
mcp_status mcp__http_listen(mcp__http *http, const char *host, int port, mcp__tls_context *tls,
                            int *real, mcp_error *err);

/** Listen on a Unix-domain socket too, see mcp__listen_unix. */
mcp_status mcp__http_listen_unix(mcp__http *http, const char *path, mcp_error *err);

/** Listen on a socket that listens already, see mcp__listen_socket. @param is_unix `tls` is not
 *  for it */
mcp_status mcp__http_listen_socket(mcp__http *http, int fd, bool is_unix, mcp__tls_context *tls,
                                   mcp_error *err);

/** Take no further connection or request, let what is open end, then call `is_empty` once. */
void mcp__http_stop(mcp__http *http, mcp__loop_callback *is_empty, void *data);

/** How many connections there are. */
size_t mcp__http_connections(const mcp__http *http);

/** Close everything and free; open exchanges get `hung_up`. Not from a callback. NULL is fine. */
void mcp__http_free(mcp__http *http);

/* ---- the request; within `head` and `request` ------------------------------------------------ */

const char *mcp__http_method(const mcp__http_exchange *exchange);

/** The target as it was sent, printable ASCII, not decoded. */
const char *mcp__http_target(const mcp__http_exchange *exchange);

/** The target's path, not decoded; not followed by a NUL where there is a query. Empty where a
 *  request that is refused could not be read so far. */
const char *mcp__http_path(const mcp__http_exchange *exchange, size_t *length);

/** The target after its first "?"; NULL without one. */
const char *mcp__http_query(const mcp__http_exchange *exchange);

/** The first value of a field without white space around it, NULL when it is absent. */
const char *mcp__http_field(const mcp__http_exchange *exchange, const char *name);

/** How often the field comes. */
size_t mcp__http_field_count(const mcp__http_exchange *exchange, const char *name);

/** Whether a comma-separated field has the token, in any of its repetitions, in any case. */
bool mcp__http_field_has(const mcp__http_exchange *exchange, const char *name, const char *token);

/** The fields in their order. @return false when there are no more than `index` */
bool mcp__http_field_at(const mcp__http_exchange *exchange, size_t index, const char **name,
                        const char **value);

/** The body; not followed by a NUL. Within `request` only. */
const char *mcp__http_body(const mcp__http_exchange *exchange, size_t *length);

/** The body, moved where that can be, into `out`, which must be empty. Within `request` only. */
mcp_status mcp__http_body_take(mcp__http_exchange *exchange, mcp_buf *out, mcp_error *err);

/** Within `request`: what can be read of the request stays good until the exchange is over. */
mcp_status mcp__http_keep(mcp__http_exchange *exchange, mcp_error *err);

/** Within `head`: this request's body may have so many bytes, where that is less than the server
 *  allows. @return false: it says already that it has more */
bool mcp__http_limit_body(mcp__http_exchange *exchange, size_t max_bytes);

/** 1 for HTTP/1.1, 0 for HTTP/1.0. */
int mcp__http_minor(const mcp__http_exchange *exchange);

/* ---- the connection; while the exchange lasts ------------------------------------------------ */

bool mcp__http_is_tls(const mcp__http_exchange *exchange);

bool mcp__http_is_unix(const mcp__http_exchange *exchange);

/** A pointer of yours; NULL at first. */
void *mcp__http_data(const mcp__http_exchange *exchange);

void mcp__http_set_data(mcp__http_exchange *exchange, void *data);

/* ---- the answer ------------------------------------------------------------------------------ */

/** Date, Content-Length, Transfer-Encoding and Connection are the server's business. */
typedef struct mcp__http_head_out {
    int status;
    const mcp__http_field_out *fields;
    size_t count;
    bool is_last; /* close the connection afterwards */
} mcp__http_head_out;

/**
 * Answer whole. The exchange is over, whatever is returned.
 *
 * @param body copied; left out where the method is HEAD
 * @return MCP_OK; MCP_E_PARAMS (a field has a byte that no field may have: 500 was sent);
 *         MCP_E_NOMEM, MCP_E_LIMIT (the connection is closed); MCP_E_STOPPED (it was over before)
 */
mcp_status mcp__http_reply(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                           const void *body, size_t length, mcp_error *err);

/** The same. Takes the bytes: `body` is empty afterwards. They are in memory already, so no limit
 *  holds. */
mcp_status mcp__http_reply_buf(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                               mcp_buf *body, mcp_error *err);

/** Begin a stream. As mcp__http_reply; the exchange stays open when MCP_OK is returned. */
mcp_status mcp__http_begin(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                           mcp_error *err);

/** A piece of the stream. MCP_E_LIMIT, MCP_E_NOMEM: the connection will be closed and `hung_up`
 *  called. */
mcp_status mcp__http_write(mcp__http_exchange *exchange, const void *bytes, size_t length,
                           mcp_error *err);

/** The same. Takes the bytes: `piece` is empty afterwards. */
mcp_status mcp__http_write_buf(mcp__http_exchange *exchange, mcp_buf *piece, mcp_error *err);

/** The same with bytes that others send too: not copied; `release` is called, on the loop, when
 *  they have left or never will. */
mcp_status mcp__http_write_shared(mcp__http_exchange *exchange, const mcp__shared *piece,
                                  mcp_error *err);

/** End the stream. The exchange is over. */
void mcp__http_end(mcp__http_exchange *exchange);

/** Close the connection in the middle of things, after what is queued. The exchange is over. */
void mcp__http_drop(mcp__http_exchange *exchange);

/** Close the connection as a failed write does: a gap in what is sent cannot be mended. `hung_up`
 *  follows. */
void mcp__http_break(mcp__http_exchange *exchange);

/** Bytes that were written and have not left. */
size_t mcp__http_queued(const mcp__http_exchange *exchange);

/** Whether so much is queued that what can be left out should be. */
bool mcp__http_is_full(const mcp__http_exchange *exchange);

/** Whether the client sends no more. Then a stream without an end is ended, with what is there. */
bool mcp__http_is_half_closed(const mcp__http_exchange *exchange);

/** Whether the reader takes nothing for now; `drained` is called when it has taken all. */
bool mcp__http_is_blocked(const mcp__http_exchange *exchange);

/** Whether it is a token (RFC 9110 section 5.6.2), as a field's name has to be. */
bool mcp__http_is_token(const char *text, size_t length);

/** Whether an answer may have the field: a name and a value without bytes that they must not
 *  have. */
bool mcp__http_field_is_fit(const char *name, const char *value);

/* ---- another protocol on the connection ------------------------------------------------------ */

typedef struct mcp__http_tenant {
    /** Bytes have come. @return how many were used; the remainder comes again, with more, once
     *  unpaused */
    size_t (*input)(void *data, const char *bytes, size_t length);
    /** The connection is gone. The last that the tenant hears. */
    void (*closed)(void *data);
    /** The reader was slow, and has taken all. */
    void (*drained)(void *data);
    /** Now and then, at least once a second. */
    void (*tick)(void *data, int64_t now_ms);
    /** The server stops: say goodbye. */
    void (*stopping)(void *data);
} mcp__http_tenant;

/** Answer with `head`, whose status is 101, and give the connection to another protocol. */
mcp_status mcp__http_take_over(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                               const mcp__http_tenant *tenant, void *data, mcp_error *err);

/* The tenant's; good until `closed`. */

mcp_status mcp__http_raw_write(mcp__http_exchange *exchange, const void *bytes, size_t length,
                               mcp_error *err);

/** Whether input is held back. */
void mcp__http_raw_pause(mcp__http_exchange *exchange, bool is_paused);

/** Close, after what is queued. `closed` will be called. */
void mcp__http_raw_close(mcp__http_exchange *exchange);

#endif
