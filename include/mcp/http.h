/**
 * http.h - serving over HTTP: MCP on one path, REST routes of the program's own beside it.
 *
 * What is served where:
 *
 *     POST, GET, DELETE  /mcp                 Streamable HTTP, all revisions
 *     GET                /sse                 HTTP+SSE of 2024-11-05, where `legacy_sse`; it names the
 *     POST               /messages            path that its client posts to
 *     GET                /ws                  WebSocket, subprotocol "mcp", where `websocket`
 *     any                routes               mcp_route, below
 *     GET                /health, /metrics    where asked for
 *     GET                /.well-known/oauth-protected-resource[/mcp]   where tokens are asked for
 *
 * Zero is the safe default of every option: 127.0.0.1, only local names in Host and Origin, sessions
 * required, everything bounded. An address that others can reach is refused without authorization.
 */
#ifndef MCP_HTTP_H
#define MCP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- routes ----------------------------------------------------------------------------------- */

/**
 * One REST route. Its handler is a handler like a tool's: it runs on a worker and may block (unless the route
 * is MCP_QUICK, and has a small body). It reads
 * variables of the path, and members of the query, by mcp_arg_string (percent-decoded; a variable wins
 * over a member of its name) and the body by mcp_call_body; it answers by mcp_call_result, whose object
 * is the body, or by mcp_call_send. A table ends with an empty row.
 *
 * The HTTP status is 200, or 204 without a body, unless mcp_call_status says otherwise. A handler that
 * returns a status, or refuses, is answered by {"error":{"status":"E_PARAMS","message":...}} and 400,
 * 403, 404, 409, 413, 500, 501, 503 or 504 after it; so are requests that no handler gets, by 404 and 405 for
 * paths and methods that are not in the table. The option `problem` gives all of these another form.
 * HEAD, where it is answered, is answered without a body.
 */
typedef struct mcp_route {
    const char *method;   /* "GET", "POST", "PUT", "PATCH" or "DELETE"; HEAD is answered where GET is */
    const char *path;     /* "/universes/{id}/commands": a variable is one whole segment; a last slash is none */
    mcp_handler *run;     /* answers it */
    unsigned flags;       /* enum mcp_flags: MCP_READS or MCP_WRITES, with others */
    int timeout_ms;       /* 0: the server's default */
} mcp_route;

/** For a route's handler: the HTTP status of the answer, 200 to 599. */
void mcp_call_status(mcp_call *call, int http_status);

/** For a route's handler: the body as it came, not followed by a NUL; NULL when there is none. */
const char *mcp_call_body(const mcp_call *call, size_t *length);

/** For a route's handler: the body read as JSON; NULL where it is empty or is no JSON (see err). */
const mcp_json *mcp_call_body_json(mcp_call *call, mcp_error *err);

/** For a route's handler: a body of any type. What was written before is dropped. */
mcp_status mcp_call_send(mcp_call *call, const char *mime_type, const void *bytes, size_t length);

/**
 * The same without a copy, for what is large: the bytes are given to the connection as they are, and leave as
 * fast as the client reads. They are not held against reply_max_bytes.
 *
 * @param body its bytes are taken: it is empty afterwards, whatever is returned
 */
mcp_status mcp_call_send_buf(mcp_call *call, const char *mime_type, mcp_buf *body);

/** A body that comes in pieces. The functions are called by one thread at a time. */
typedef struct mcp_body_source {
    /**
     * Append the next piece, and say whether it is the last. On a worker, the first time within the handler; may
     * block, but not for long: a worker is taken meanwhile.
     *
     * @param piece empty, holds what an answer may have; a few hundred KiB are a good size
     * @return MCP_OK; anything else ends the answer: the first time as an error, later in its middle, with a line
     *         in the log
     */
    mcp_status (*next)(mcp_buf *piece, bool *is_last, void *data, mcp_error *err);
    /** Nothing is asked of `data` any more. Once, whatever happens; on any thread; must not block. */
    void (*done)(void *data);
    void *data; /* given to both; not in the call's arena, which it outlives */
} mcp_body_source;

/**
 * For a route's handler: a body that is never in memory as a whole. A piece is asked for when the one before it is on
 * its way: two are held at most, however slow the client is, and one that takes nothing for half a minute is
 * given up. A body of one piece is sent as by mcp_call_send_buf, a longer one without its length (chunked; to a
 * client of HTTP/1.0 until the connection is closed). What was written before is dropped.
 *
 * @param source copied; its `data` is taken, whatever is returned
 * @return MCP_OK; what `next` said; MCP_E_PARAMS (a media type is one line); MCP_E_UNSUPPORTED (not a route's
 *         handler); MCP_E_NOMEM
 */
mcp_status mcp_call_send_from(mcp_call *call, const char *mime_type, const mcp_body_source *source);

/** For a route's handler: the path of the request as it was sent, not decoded; NULL in other handlers. */
const char *mcp_call_path(const mcp_call *call);

/**
 * For a route's handler: a header field of the request, as "If-Match", in any case. A field that came more
 * than once is one list, "a, b" (RFC 9110, section 5.3).
 *
 * @return without white space around it, "" where it is empty; NULL: it did not come
 */
const char *mcp_call_header(const mcp_call *call, const char *name);

/**
 * For a route's handler: a header field of the answer: ETag, Location, Allow, Cache-Control, Retry-After ...
 * Errors have it too. A name that was set before gets the new value.
 *
 * @param value copied; NULL takes the field back
 * @return MCP_OK; MCP_E_PARAMS: a name or value that no field may have (a line end, say), or a field that is
 *         the server's: Content-Type, Content-Length, Transfer-Encoding, Connection, Date; MCP_E_LIMIT: more
 *         than 16 fields; MCP_E_NOMEM; MCP_E_UNSUPPORTED: not a route's handler
 */
mcp_status mcp_call_header_set(mcp_call *call, const char *name, const char *value);

/** An answer that tells what went wrong and that no handler wrote. */
typedef struct mcp_problem {
    int http_status;     /* 404 */
    mcp_status status;   /* MCP_E_NOT_FOUND */
    const char *message; /* one line that the client may read; never NULL */
    const char *path;    /* of the request, not decoded; NULL: it could not be read */
} mcp_problem;

/**
 * Writes the body of such an answer in the program's own form. Runs on the loop and on workers: must not
 * block.
 *
 * @param body      empty; holds 4 KiB, and what is in `problem` six times
 * @param mime_type "application/json"; may be set to another, which is borrowed
 * @param data      the options' routes_data
 */
typedef mcp_status mcp_problem_writer(mcp_buf *body, const char **mime_type,
                                      const mcp_problem *problem, void *data);

/* ---- streams of events ------------------------------------------------------------------------ */

/**
 * One server-sent event as bytes, put together once however many readers get it. It never changes and is
 * shared by counting: whoever keeps it has a count of it. Any thread.
 */
typedef struct mcp_event mcp_event;

/**
 * An event.
 *
 * @param out    yours, give it back with mcp_event_free
 * @param id     what a reader that comes back sends as Last-Event-ID; NULL: it leaves the last one in place
 * @param name   the type that listeners are told apart by; NULL: "message"
 * @param data   UTF-8, copied; each line of it, however it ends, is a line of the event; NULL: empty
 * @param length of `data`
 * @return MCP_OK; MCP_E_PARAMS (a line end in `id` or `name`); MCP_E_LIMIT (more than 32 MiB); MCP_E_NOMEM
 */
mcp_status mcp_event_new(mcp_event **out, const char *id, const char *name, const char *data,
                         size_t length, mcp_error *err);

/** A comment, ":text", which readers pass over. @return as mcp_event_new */
mcp_status mcp_event_comment(mcp_event **out, const char *text, mcp_error *err);

/** Take one more count. @return `event` */
mcp_event *mcp_event_keep(mcp_event *event);

/** Give one count back; the last frees the event. NULL is fine. */
void mcp_event_free(mcp_event *event);

/**
 * A reader that waits for events: the client of a route whose handler answered by mcp_call_stream. It
 * outlives the handler. It is shared by counting between the server, which gives its count back when the
 * reader has gone, and whoever opened it.
 *
 * Any thread may send to it and close it, several at once; of what one thread sends the order is kept. A
 * reader that is slow harms nobody: what it has not taken waits in its own queue, which is bounded, and
 * when it takes nothing at all for half a minute its connection is closed.
 */
typedef struct mcp_stream mcp_stream;

/** How a stream is kept. Zero is the default of every field, see the comments. */
typedef struct mcp_stream_options {
    size_t queue_bytes;    /* that wait; one more event must fit, unless none waits: 8 MiB */
    unsigned queue_events; /* that wait: 1000 */
    int keepalive_ms;      /* a comment when nothing was sent for so long: the server's */
    int retry_ms;          /* tells the reader, at the beginning, when to come back; 0: not */
    const char *first;     /* bytes before everything else, whole lines: ":connected\n\n"; may be NULL */

    /** Nothing waits any more, after mcp_stream_send has answered MCP_E_LIMIT. On the thread that serves:
     *  must not block; may send and close. May be NULL. */
    void (*drained)(mcp_stream *stream, void *data);
    /** The reader has gone, or the stream was closed, or its handler failed: nothing can be sent any more.
     *  Once for each stream, the last that is heard of it. On the thread that serves: must not block. May be
     *  NULL. */
    void (*closed)(mcp_stream *stream, void *data);
    void *data; /* given to both; must live until `closed` */
} mcp_stream_options;

/** Every field at its default. */
#define MCP_STREAM_OPTIONS_INIT { 0 }

/**
 * For a route's handler: answer with a stream of events, 200 and text/event-stream. The handler may send at
 * once, keep the stream for others to send to, and returns as any other: what it returns MCP_OK for begins
 * the stream; anything else is answered as an error, and the stream is closed. Header fields that were set
 * are sent. HEAD gets the head alone.
 *
 * @param out     yours, one count, give it back with mcp_stream_free: at the latest in `closed`
 * @param options copied; may be NULL
 * @return MCP_OK; MCP_E_PARAMS (`first` does not end with a line end; a second stream); MCP_E_UNSUPPORTED (not a
 *         route's handler); MCP_E_NOMEM
 */
mcp_status mcp_call_stream(mcp_stream **out, mcp_call *call, const mcp_stream_options *options,
                           mcp_error *err);

/** The id of the last event that a reader which comes back has seen; NULL: it has seen none. */
const char *mcp_call_last_event_id(const mcp_call *call);

/**
 * Send an event. Any thread; never waits.
 *
 * @param event kept until it is written; the caller's count stays the caller's
 * @return MCP_OK: it is queued; MCP_E_LIMIT: the queue is full, nothing was queued, `drained` will be called;
 *         MCP_E_STOPPED: the stream is closed, or its reader has gone; MCP_E_NOMEM
 */
mcp_status mcp_stream_send(mcp_stream *stream, mcp_event *event, mcp_error *err);

/** Take one more count. @return `stream` */
mcp_stream *mcp_stream_keep(mcp_stream *stream);

/** End the stream after what is queued. Any thread; more than once is fine. `closed` follows. NULL is fine. */
void mcp_stream_close(mcp_stream *stream);

/** Give a count back. Does not close: the reader is served on until it goes. NULL is fine. */
void mcp_stream_free(mcp_stream *stream);

/* ---- who may -------------------------------------------------------------------------------- */

/** Whoever a token stands for. */
typedef struct mcp_principal {
    const char *name;   /* sessions belong to it */
    const char *scopes; /* separated by spaces; "" for none */
    int64_t expires_ms; /* the verdict must be asked for anew then, wall clock; 0: within a minute */
} mcp_principal;

/**
 * Verifies a bearer token. Runs on a worker, several at once; may block.
 *
 * @param out filled where MCP_OK is returned; its texts in `arena`
 * @return MCP_OK; MCP_E_DENIED: the token is not good, err->message is told to the client; any other
 *         status: it could not be found out, the client gets 503
 */
typedef mcp_status mcp_token_verifier(mcp_principal *out, const char *token, mcp_arena *arena,
                                      void *data, mcp_error *err);

/** Who the client is, as its token says; NULL where no token is asked for. */
const char *mcp_call_principal(const mcp_call *call);

/** Whether the client's token has all of these scopes, separated by spaces. True where no token is asked for. */
bool mcp_call_has_scopes(const mcp_call *call, const char *scopes);

/**
 * Insist on scopes, where what is asked for decides which: those that always hold stand in the files of tools,
 * resources and prompts (tool.h).
 *
 * @return MCP_OK; MCP_E_SCOPE: return it, the client is told which scopes it needs (HTTP 403 with the challenge
 *         of RFC 6750 while nothing else was sent, else an error)
 */
mcp_status mcp_call_require_scopes(mcp_call *call, const char *scopes);

/** Authorization as an OAuth 2.1 resource server (RFC 6750, RFC 9728). */
typedef struct mcp_http_auth {
    /** A file of tokens: lines "SHA-256 in hexadecimal, principal, scopes...", separated by blanks;
     *  "#" begins a comment line. NULL: none. */
    const char *tokens_file;
    /** Tokens in clear, such as a variable of the environment has, ending with NULL; kept as hashes. Their principal
     *  is "token", with the scopes of `scope`. NULL: none. */
    const char *const *tokens;
    mcp_token_verifier *verify; /* asked where neither knows the token; NULL: nobody */
    void *verify_data;          /* given to it */
    const char *scope;          /* that every request needs, separated by spaces; NULL: none */
    const char *resource;       /* our URI as the tokens' audience; NULL: "http://HOST:PORT/mcp" */
    const char *const *servers; /* authorization servers, ending with NULL; NULL: no metadata is served */
} mcp_http_auth;

/* ---- options ---------------------------------------------------------------------------------- */

/** Whether clients up to 2025-11-25 have sessions. */
typedef enum mcp_http_sessions {
    MCP_SESSIONS_REQUIRED, /* a client up to 2025-11-25 begins with initialize, and sends its id */
    MCP_SESSIONS_OFF       /* no ids are given out: every request stands alone */
} mcp_http_sessions;

/** Where to listen, what to serve there, and to whom. */
typedef struct mcp_http_options {
    /* where */
    const char *host;            /* NULL: 127.0.0.1; "" : no TCP at all, `unix_path` is given */
    int port;                    /* 0: any free one, see `ready` */
    const char *unix_path;       /* listened on as well, mode 0600; NULL: not */
    const char *tls_certificate; /* PEM files; NULL: plain */
    const char *tls_key;         /* of the certificate; both or none */
    const char *path;            /* of MCP; NULL: "/mcp" */

    /* what */
    mcp_http_sessions sessions;  /* up to 2025-11-25; later revisions have none */
    bool legacy_sse;             /* HTTP+SSE of 2024-11-05 as well */
    bool websocket;              /* at /ws */
    bool health;                 /* GET /health answers any Host: a probe need not know our name */
    bool metrics;                /* so does GET /metrics, in Prometheus text */
    const mcp_route *routes;     /* may be NULL; borrowed while the server serves */
    void *routes_data;           /* given to their handlers */
    mcp_problem_writer *problem; /* of paths that are not MCP's; NULL: {"error":{"status","message"}} */

    /* who */
    const char *const *hosts;    /* names beside localhost, 127.0.0.1 and [::1] that Host and Origin may
                                    have, without a port; ending with NULL; may be NULL */
    const char *const *origins;  /* web pages of these origins ("https://app.example") may call us from
                                    a browser (CORS); ending with NULL; may be NULL */
    const mcp_http_auth *auth;   /* NULL: everybody who can connect */
    bool insecure_no_auth;       /* an address that others can reach, without `auth`, on your word */

    /* bounds; 0 means the default in the comment */
    int connections_max;         /* 10000 */
    int sessions_max;            /* 10000 */
    int64_t session_idle_ms;     /* 1 h */
    int keepalive_ms;            /* between comments on a silent stream: 15000 */
    int patience_ms;             /* an answer that takes longer becomes a stream: 10000 */
    size_t body_max_bytes;       /* of a route's request: as message_max_bytes */

    /** It listens; on the thread that serves. `port` is the real one, 0 without TCP. May be NULL. */
    void (*ready)(int port, void *data);
    void *data;                  /* given to it */
} mcp_http_options;

/** Every field at its safe default. */
#define MCP_HTTP_OPTIONS_INIT { 0 }

/**
 * Serve over HTTP until SIGTERM or SIGINT. Blocks. Calls that run are then told to stop and answered,
 * within the server's grace time; a second signal cancels them. Signals keep their earlier handling
 * afterwards.
 *
 * @param options the struct is not kept, what it points to is borrowed while this runs
 * @return MCP_OK; MCP_E_PARAMS (an option that cannot be, named); MCP_E_DENIED (an address that others
 *         can reach, without authorization); MCP_E_NOT_FOUND, MCP_E_IO (the address or a file cannot be used); MCP_E_NOMEM
 */
mcp_status mcp_server_http(mcp_server *server, const mcp_http_options *options, mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
