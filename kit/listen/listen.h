/**
 * listen.h - the flags by which every server is told how its clients reach it, and what they do.
 *
 * A server puts the rows into the option table of its command, and hands the line over when it serves:
 *
 *     static const cli_option serve_options[] = {
 *         LISTEN_OPTIONS("stdio", "3000"),
 *         { .name = "allow-write", ... },
 *         { 0 },
 *     };
 *
 *     const listen_service service = { .name = "cobre-mcp", .routes = routes, .routes_data = app };
 *     mcp_status st = listen_check(line, &service, err);          (before anything is opened)
 *     ...
 *     if (st == MCP_OK)
 *         st = listen_serve(server, line, &service, err);
 *
 * Nothing secret stands on a command line: tokens are in a file, as hashes, or in variables that the server
 * names. An address that others can reach wants tokens, or the flag --insecure-no-auth.
 */
#ifndef LISTEN_LISTEN_H
#define LISTEN_LISTEN_H

#include "cli/cli.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/server.h"

/** The names that a list on the line may have, "a.example,b.example". */
#define LISTEN_NAMES_MAX 64

/** The choices of --transport and --sessions. */
extern const char *const listen_transports[];
extern const char *const listen_sessions[];

/* clang-format off */
/**
 * The rows, for a table of cli_option.
 *
 * @param transport_ what holds without --transport: "stdio" or "http"
 * @param port_      what holds without --port, as text
 */
#define LISTEN_OPTIONS(transport_, port_) LISTEN_OPTIONS_ENV(transport_, port_, NULL, NULL, NULL)

/** The same, where variables of the environment stand in for --host, --port and --allow-origin. */
#define LISTEN_OPTIONS_ENV(transport_, port_, host_env_, port_env_, origin_env_)                    \
    { .name = "transport", .type = CLI_CHOICE, .argument = "KIND", .standard = transport_,          \
      .help = "how clients connect", .choices = listen_transports },                                \
    { .name = "host", .type = CLI_STRING, .argument = "ADDRESS", .standard = "127.0.0.1",           \
      .help = "where to listen", .env = host_env_ },                                                \
    { .name = "port", .type = CLI_INT, .argument = "N", .standard = port_, .max = 65535,            \
      .help = "the port; 0 takes a free one", .env = port_env_ },                                   \
    { .name = "unix", .type = CLI_STRING, .argument = "PATH",                                       \
      .help = "a socket file to listen on; alone, unless --host or --port is given too" },          \
    { .name = "tls-cert", .type = CLI_STRING, .argument = "FILE",                                   \
      .help = "certificate chain (PEM): serve https" },                                             \
    { .name = "tls-key", .type = CLI_STRING, .argument = "FILE", .help = "its key (PEM)" },         \
    { .name = "tokens", .type = CLI_STRING, .argument = "FILE",                                     \
      .help = "bearer tokens: lines of SHA-256, principal, scopes" },                               \
    { .name = "oauth-issuer", .type = CLI_STRING, .argument = "URL",                                \
      .help = "bearer tokens: JWTs of this issuer" },                                               \
    { .name = "oauth-jwks", .type = CLI_STRING, .argument = "FILE|URL",                             \
      .help = "the issuer's keys" },                                                                \
    { .name = "oauth-audience", .type = CLI_STRING, .argument = "URI",                              \
      .help = "our own URI, that tokens are for (default: http://HOST:PORT/mcp)" },                 \
    { .name = "scope", .type = CLI_STRING, .argument = "SCOPES",                                    \
      .help = "what every token must allow" },                                                      \
    { .name = "insecure-no-auth", .type = CLI_FLAG,                                                 \
      .help = "let everybody who reaches the address in" },                                         \
    { .name = "allow-host", .type = CLI_STRING, .argument = "A,B",                                  \
      .help = "names that clients may call us by, beside local ones and --host" },                  \
    { .name = "allow-origin", .type = CLI_STRING, .argument = "A,B", .alias = "cors-origin",        \
      .help = "origins whose web pages may call us (https://app.example)", .env = origin_env_ },    \
    { .name = "sessions", .type = CLI_CHOICE, .argument = "WHEN", .standard = "required",           \
      .help = "session ids for clients up to 2025-11-25", .choices = listen_sessions },             \
    { .name = "legacy-sse", .type = CLI_FLAG,                                                       \
      .help = "serve HTTP+SSE of 2024-11-05 too, at /sse" },                                        \
    { .name = "websocket", .type = CLI_FLAG, .help = "serve WebSocket too, at /ws" },               \
    { .name = "health", .type = CLI_FLAG, .help = "answer GET /health, to any Host" },              \
    { .name = "metrics", .type = CLI_FLAG, .help = "answer GET /metrics, to any Host" }
/* clang-format on */

/** What a server serves beside MCP. Zero is fine but for the name. */
typedef struct listen_service {
    const char *name;        /* begins what is said on the line's error stream */
    const mcp_route *routes; /* may be NULL */
    void *routes_data;       /* given to their handlers */
    mcp_problem_writer *problem; /* the form of errors that no handler wrote; may be NULL */
    size_t body_max_bytes;   /* of a route's request; 0: the library's default */
    int sessions_max;        /* likewise */
    int64_t session_idle_ms; /* likewise */
    bool legacy_sse;         /* as if the flag were given */
    bool websocket;          /* likewise */
    bool health;             /* likewise */
    const char *page;        /* path of a page for people, said at the start; NULL: there is none */
    /** Variables of the environment that have tokens in clear, ending with NULL; with standard input and output they
     *  are passed over. NULL: none. */
    const char *const *token_variables;
} listen_service;

/** Whether the line asks for HTTP. */
bool listen_wants_http(const cli_line *line);

/**
 * Look at the flags, so that a mistake ends the program before it opens anything.
 *
 * @return MCP_OK; MCP_E_PARAMS: flags or variables that make no sense, named; MCP_E_DENIED: an address that
 *         others can reach, and no word about who may
 */
mcp_status listen_check(const cli_line *line, const listen_service *service, mcp_error *err);

/**
 * Serve as the line says until the client is gone or a signal ends it: mcp_server_stdio or
 * mcp_server_http. Where it listens is said on the line's error stream.
 *
 * @return as those two, and as listen_check
 */
mcp_status listen_serve(mcp_server *server, const cli_line *line, const listen_service *service,
                        mcp_error *err);

#endif
