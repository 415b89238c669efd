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

#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- routes ----------------------------------------------------------------------------------- */

/**
 * One REST route. Its handler is a handler like a tool's: it runs on a worker and may block. It reads
 * variables of the path, and members of the query, by mcp_arg_string (percent-decoded; a variable wins
 * over a member of its name) and the body by mcp_call_body; it answers by mcp_call_result, whose object
 * is the body, or by mcp_call_send. A table ends with an empty row.
 *
 * The HTTP status is 200, or 204 without a body, unless mcp_call_status says otherwise. A handler that
 * returns a status, or refuses, is answered by {"error":{"status":"E_PARAMS","message":...}} and 400,
 * 403, 404, 413, 500, 501, 503 or 504 after it.
 */
typedef struct mcp_route {
    const char *method;   /* "GET", "POST", "PUT", "PATCH" or "DELETE"; HEAD is answered where GET is */
    const char *path;     /* "/universes/{id}/commands": a variable is one whole segment */
    mcp_handler *run;     /* answers it */
    unsigned flags;       /* enum mcp_flags: MCP_READS or MCP_WRITES, MCP_LONG, MCP_STOP_ON_HANGUP */
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

/** Authorization as an OAuth 2.1 resource server (RFC 6750, RFC 9728). */
typedef struct mcp_http_auth {
    /** A file of tokens: lines "SHA-256 in hexadecimal, principal, scopes...", separated by blanks;
     *  "#" begins a comment line. NULL: none. */
    const char *tokens_file;
    mcp_token_verifier *verify; /* asked where the file does not know the token; NULL: nobody */
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
