/**
 * http.h - serving over HTTP: MCP on one path, and REST routes of the program.
 *
 * Served paths:
 *
 *     POST, GET, DELETE  /mcp                 Streamable HTTP, all revisions
 *     GET                /sse                 HTTP+SSE of 2024-11-05, with `legacy_sse`
 *     POST               /messages            its path for the client's messages
 *     GET                /ws                  WebSocket, subprotocol "mcp", with `websocket`
 *     any                routes               mcp_route (route.h)
 *     GET                /health, /metrics    with `health`, `metrics`; not behind `auth`
 *     GET                /.well-known/oauth-protected-resource[/mcp]   with `auth`
 *
 * Zero is the safe default of every option: 127.0.0.1, only local names in Host, only pages of the
 * server itself, sessions required, limits on everything. A non-loopback address without
 * authorization is refused.
 */
#ifndef MCP_HTTP_H
#define MCP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/auth.h"
#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/route.h"
#include "mcp/server.h"
#include "mcp/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether clients up to 2025-11-25 have sessions. */
typedef enum mcp_http_sessions {
    MCP_SESSIONS_REQUIRED, /* such a client begins with initialize and sends its session id */
    MCP_SESSIONS_OFF       /* no session ids: every request is independent */
} mcp_http_sessions;

/** How many bytes a program may add to /metrics. */
#define MCP_METRICS_MAX ((size_t)1024 * 1024)

/**
 * Appends a program's own families to /metrics: whole lines in the text format of Prometheus, under
 * names that do not begin with "mcp_" or "process_". Runs on the loop with each request: must not
 * block.
 *
 * @param out holds MCP_METRICS_MAX bytes at most; where that is not enough, the request is answered
 *            by 503
 */
typedef void mcp_metrics_writer(mcp_buf *out, void *data);

/** How many listening sockets a server may be given. */
#define MCP_SOCKETS_MAX 16

/** Limits over HTTP. 0 means the default in the comment. */
typedef struct mcp_http_limits {
    int connections_max;     /* 10000 */
    int sessions_max;        /* 10000 */
    int64_t session_idle_ms; /* 1 h */
    int keepalive_ms;        /* interval of comments on a silent stream: 15000 */
    int stream_after_ms;     /* an answer that takes longer becomes a stream: 10000 */
    size_t body_max_bytes;   /* of a route's request: as message_max_bytes */
} mcp_http_limits;

/** Addresses, services and access rules of an HTTP server. */
typedef struct mcp_http_options {
    /* addresses */
    const char *host;      /* NULL: 127.0.0.1; "": no TCP, `unix_path` is required */
    int port;              /* 0: any free port, see `ready` */
    const char *unix_path; /* a Unix domain socket as well, mode 0600; NULL: none */
    /** Listening sockets that the program was given, TCP or Unix domain, as systemd passes them.
     *  They are listened on instead of `host`, `port` and `unix_path`, which must be unset, and
     *  closed at the end. */
    const int *sockets;
    size_t socket_count;         /* 0: none; at most MCP_SOCKETS_MAX */
    const char *tls_certificate; /* PEM file; NULL: no TLS */
    const char *tls_key;         /* PEM file of the certificate's key; both or none */
    const char *path;            /* of MCP; NULL: "/mcp" */

    /* services */
    mcp_http_sessions sessions; /* up to 2025-11-25; later revisions have none */
    bool legacy_sse;            /* HTTP+SSE of 2024-11-05 as well */
    bool websocket;             /* at /ws */
    bool health;                /* GET /health, for any Host: a probe need not know our name */
    bool metrics;               /* GET /metrics, for any Host, in Prometheus text format */
    mcp_metrics_writer *write_metrics; /* adds the program's own; NULL: none */
    void *metrics_data;                /* passed to it */
    /** Bearer tokens in clear text, ending with NULL, of which /metrics requires one. NULL: it is
     *  served without a token, as /health is. */
    const char *const *metrics_tokens;
    const mcp_route *routes; /* may be NULL; borrowed while the server serves */
    void *routes_data;       /* passed to the routes' handlers */
    /** Error bodies of all paths but MCP's; NULL: {"error":{"status","message"}}. */
    mcp_problem_writer *problem;

    /* access */
    /** Names that Host may have in addition to localhost, 127.0.0.1 and [::1]: "app.example", or
     *  with a port "app.example:8443". Pages of these names pass too, at that port or else the
     *  default one of http or https: the public name behind a proxy. Ending with NULL; may be
     *  NULL. */
    const char *const *hosts;
    /** Other origins whose web pages may call the server from a browser and read the answers
     *  (CORS), as browsers send them, without a path or a default port: "https://app.example",
     *  "http://localhost:5173". Any other form is refused. Pages of all others are answered
     *  by 403, those of another port of this machine too. Ending with NULL; may be NULL. */
    const char *const *origins;
    const mcp_http_auth *auth; /* NULL: every client that can connect */
    bool insecure_no_auth;     /* allow a non-loopback address without `auth` */

    mcp_http_limits limits; /* zero: the default of each */

    /* events, called on the serving thread: they must not block. Each may be NULL. */
    /** The server listens. `port` is the actual port, 0 without TCP. */
    void (*ready)(int port, void *data);
    /** SIGHUP: the file of tokens and the TLS pair were reloaded. Where one of them cannot be
     *  used the earlier one remains, and the log says why. Calls, streams and open connections
     *  continue with what they began with. NULL: SIGHUP does what it did before. */
    void (*reload)(void *data);
    /** The server ends: it takes no further connection. */
    void (*stopping)(void *data);
    /** Each `alive_ms`, while the loop turns: for a watchdog. */
    void (*alive)(void *data);
    int64_t alive_ms; /* between two calls of `alive`; 0: none */
    void *data;       /* passed to them */
} mcp_http_options;

/** Every field at its safe default. */
#define MCP_HTTP_OPTIONS_INIT MCP_ZERO_INIT

/**
 * Serve over HTTP until SIGTERM or SIGINT. Blocks. After the signal, running calls are asked to
 * stop and are answered within the server's grace time; a second signal cancels them. The earlier
 * signal handlers are restored afterwards.
 *
 * @param options NULL: the defaults; the struct is not kept; what it points to is borrowed while
 *                this runs
 * @return MCP_OK; MCP_E_PARAMS (an invalid option, named in the message; a descriptor that is no
 *         listening socket); MCP_E_DENIED (a non-loopback address without authorization);
 *         MCP_E_NOT_FOUND, MCP_E_IO (the address or a file cannot be used); MCP_E_BUSY (the server
 *         serves already); MCP_E_NOMEM
 */
mcp_status mcp_server_http(mcp_server *server, const mcp_http_options *options, mcp_error *err);

/** Room for the text of an address. */
#define MCP_ADDRESS_SIZE 64

/**
 * The address of a listening socket of type stream. Any thread.
 *
 * @param host the numeric address of TCP, "" of a Unix domain socket
 * @param port 0 of a Unix domain socket
 * @return MCP_OK; MCP_E_PARAMS: the descriptor is not such a socket
 */
mcp_status mcp_socket_address(char host[MCP_ADDRESS_SIZE], int *port, int socket, mcp_error *err);

/**
 * Whether an address is of this machine only: "localhost", 127.0.0.0/8 or ::1, by the text alone;
 * names are not resolved. Any thread.
 */
bool mcp_host_is_loopback(const char *host);

#ifdef __cplusplus
}
#endif

#endif
