/**
 * serve.h - what the programs of all servers share: flags, transports, log, signals, exit statuses,
 * and the order in which a server starts and stops.
 *
 * A server puts the flags into the option table of its command `serve`, describes itself by a
 * serve_server, and runs it:
 *
 *     static const cli_option options[] = { SERVE_OPTIONS("stdio", "3000", "warning"), { 0 } };
 *
 *     static const serve_server server = {
 *         .options = { .name = "echo", .version = "1" },
 *         .features = { .files = echo_files, .tools = echo_tools },
 *     };
 *
 *     static int serve(const cli_line *line, void *data) { return serve_run(&server, line, data); }
 *
 *     int main(int argc, char **argv) { return serve_main(&program, argc, argv); }
 *
 * No secret is on a command line: tokens are in a file, as hashes, or in variables that the server
 * names. An address that others can reach requires tokens or the flag --insecure-no-auth.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "auth/auth.h"
#include "cli/cli.h"
#include "guard/paths.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/server.h"
#include "serve/log.h"
#include "serve/metrics.h"
#include "serve/systemd.h"
#include "trace/trace.h"

/* ---- flags ----------------------------------------------------------------------------------- */

/** How many names a list on the line may have, "a.example,b.example". */
#define SERVE_NAMES_MAX 64

/** How many directories clients may name at most. */
#define SERVE_DIRS_MAX 256

/** Choices of the flags below. */
extern const char *const serve_transports[];
extern const char *const serve_sessions[];
extern const char *const serve_tool_names[];
extern const char *const serve_revisions[];

/* clang-format off */
/**
 * The flags of every server, rows for a table of cli_option.
 *
 * @param transport_ default of --transport: "stdio" or "http"
 * @param port_      default of --port, as text
 * @param level_     default of --log-level
 */
#define SERVE_OPTIONS(transport_, port_, level_)                                                   \
    SERVE_OPTIONS_ENV(transport_, port_, level_, NULL, NULL, NULL, NULL, NULL)

/** The same, with names for the variables of --host, --port, --allow-origin, --log-level and
 * --log-file. */
#define SERVE_OPTIONS_ENV(transport_, port_, level_, host_env_, port_env_, origin_env_,            \
                          level_env_, file_env_)                                                   \
    { .name = "transport", .type = CLI_CHOICE, .argument = "KIND", .standard = transport_,         \
      .help = "how clients connect", .choices = serve_transports },                                \
    SERVE_OPTIONS_BARE(port_, level_, host_env_, port_env_, origin_env_, level_env_, file_env_,    \
                       NULL, NULL, NULL)

/** The same without --transport, which the program has itself ("stdio", or another for HTTP), and
 * with names for the variables of --oauth-issuer, --oauth-jwks and --oauth-audience. */
#define SERVE_OPTIONS_BARE(port_, level_, host_env_, port_env_, origin_env_, level_env_,           \
                           file_env_, issuer_env_, jwks_env_, audience_env_)                       \
    { .name = "host", .type = CLI_STRING, .argument = "ADDRESS", .standard = "127.0.0.1",          \
      .help = "where to listen", .env = host_env_ },                                               \
    { .name = "port", .type = CLI_INT, .argument = "N", .standard = port_, .max = 65535,           \
      .help = "the port; 0 takes a free one", .env = port_env_ },                                  \
    { .name = "unix", .type = CLI_STRING, .argument = "PATH",                                      \
      .help = "a socket file to listen on; alone, unless --host or --port is given too" },         \
    { .name = "tls-cert", .type = CLI_STRING, .argument = "FILE",                                  \
      .help = "certificate chain (PEM): serve https" },                                            \
    { .name = "tls-key", .type = CLI_STRING, .argument = "FILE", .help = "its key (PEM)" },        \
    { .name = "tokens", .type = CLI_STRING, .argument = "FILE",                                    \
      .help = "bearer tokens: lines of SHA-256, principal, scopes" },                              \
    { .name = "oauth-issuer", .type = CLI_STRING, .argument = "URL",                               \
      .help = "bearer tokens: JWTs of this issuer", .env = issuer_env_ },                          \
    { .name = "oauth-jwks", .type = CLI_STRING, .argument = "FILE|URL",                            \
      .help = "the issuer's keys", .env = jwks_env_ },                                             \
    { .name = "oauth-audience", .type = CLI_STRING, .argument = "URI",                             \
      .help = "the server's own URI, the audience of tokens (default: http://HOST:PORT/mcp)",      \
      .env = audience_env_ },                                                                      \
    { .name = "scope", .type = CLI_STRING, .argument = "SCOPES",                                   \
      .help = "what every token must allow" },                                                     \
    { .name = "insecure-no-auth", .type = CLI_FLAG,                                                \
      .help = "serve everybody who reaches the address" },                                         \
    { .name = "allow-host", .type = CLI_STRING, .argument = "A,B",                                 \
      .help = "further names of the server, besides local ones and --host" },                      \
    { .name = "allow-origin", .type = CLI_STRING, .argument = "A,B", .alias = "cors-origin",       \
      .help = "origins whose web pages may call the server (https://app.example)",                 \
      .env = origin_env_ },                                                                        \
    { .name = "sessions", .type = CLI_CHOICE, .argument = "WHEN", .standard = "required",          \
      .help = "session ids for clients up to 2025-11-25", .choices = serve_sessions },             \
    { .name = "legacy-sse", .type = CLI_FLAG,                                                      \
      .help = "serve HTTP+SSE of 2024-11-05 too, at /sse" },                                       \
    { .name = "websocket", .type = CLI_FLAG, .help = "serve WebSocket too, at /ws" },              \
    { .name = "health", .type = CLI_FLAG, .help = "answer GET /health, to any Host" },             \
    { .name = "metrics", .type = CLI_FLAG, .help = "answer GET /metrics, to any Host" },           \
    { .name = "tool-names", .type = CLI_CHOICE, .argument = "FORM", .standard = "canonical",       \
      .help = "names of tools in lists: as registered, or without other bytes than A-Z a-z 0-9 _", \
      .choices = serve_tool_names },                                                               \
    { .name = "revision", .type = CLI_CHOICE, .argument = "DATE",                                  \
      .help = "the only protocol revision to speak", .choices = serve_revisions },                 \
    { .name = "strict-version", .type = CLI_FLAG,                                                  \
      .help = "refuse an unknown revision instead of offering another" },                          \
    { .name = "log-level", .type = CLI_CHOICE, .argument = "LEVEL", .standard = level_,            \
      .help = "what to log", .choices = serve_log_levels, .env = level_env_ },                     \
    { .name = "log-file", .type = CLI_STRING, .argument = "FILE",                                  \
      .help = "append the log to this file too", .env = file_env_ }

/** The flag of a server whose tools write only when the user permits it. */
#define SERVE_OPTION_ALLOW_WRITE(help_)                                                            \
    { .name = "allow-write", .type = CLI_FLAG, .help = help_ }

/** The flag of a server whose clients name files and directories. The arguments of its command are
 * such directories too: SERVE_ARGUMENTS_DIRS is a part of its row. */
#define SERVE_OPTION_ALLOWED_DIRS                                                                  \
    { .name = "allowed-dirs", .type = CLI_STRING, .argument = "A,B",                               \
      .help = "directories that clients may name, as DIR" }
#define SERVE_ARGUMENTS_DIRS .arguments = "[DIR...]", .arguments_max = SERVE_DIRS_MAX
/* clang-format on */

/* ---- a server -------------------------------------------------------------------------------- */

/** The parts of a server: those of its serve_server, completed from the flags. */
typedef struct serve_setup {
    const cli_line *line;
    const serve_log *log;
    serve_systemd systemd; /* what the service manager passes */
    mcp_arena *arena;      /* freed after `close` */
    guard *guard; /* the allowed directories; NULL where the command has no --allowed-dirs */
    mcp_server_options options;
    mcp_features features;
    mcp_http_options http;      /* not used on standard input and output */
    mcp_token_verifier *verify; /* the server's own, below; NULL: it has none */
    void *verify_data;          /* passed to `verify` */
    serve_sample *sample;       /* the server's own, below; NULL: it has none */
    void *sample_data;          /* passed to `sample` */
    trace_exporter *trace;      /* where the variable below is set; else NULL */
    /** How JWTs are verified, beyond the flags, which set issuer, resource and keys. */
    auth_options jwt;
} serve_setup;

/** The path, among features.files, of a server's icon: an SVG of at most 4096 bytes, which clients
 * are sent where options.icons is NULL. */
#define SERVE_ICON "web/icon.svg"

/** One server program. Zero is fine in all but options.name and options.version. */
typedef struct serve_server {
    /* The flags set host, port, authorization and log, the fields that they name, and `data` of
     * all three and of `verify`. */
    mcp_server_options options; /* `name` also begins lines on the error stream */
    mcp_features features;
    mcp_http_options http;
    /** Opens what the handlers work with; may change anything in the setup. */
    mcp_status (*open)(serve_setup *setup, void *data, mcp_error *err);
    /** Starts what needs the server, before it serves. */
    mcp_status (*start)(mcp_server *server, const serve_setup *setup, void *data, mcp_error *err);
    /** Stops what `start` has started, while the server still exists. Runs also after a failed
     * start. */
    void (*stop)(void *data);
    /** Closes what `open` has opened, after the server was freed. Runs also after a failed
     * `open`. */
    void (*close)(void *data);
    const char *page;           /* path of a page for people, printed at the start */
    const char *default_scopes; /* as in mcp_http_auth */
    /** Variables with bearer tokens in clear, ending with NULL; ignored on standard input and
     * output. */
    const char *const *token_variables;
    /** Verifies the server's own tokens, those of its database for example. With it every client
     * over HTTP needs a token, so any address may be listened on. It is asked about tokens that
     * are not in a file or variable, and returns MCP_E_NOT_FOUND for one that it does not know,
     * which may be a JWT. It must end within the grace time: `close` does not wait for it. NULL:
     * there are none. */
    mcp_token_verifier *verify;
    /** Families of /metrics that have to be read from a database: they are sampled by a thread,
     * from after `start` to before `stop`, where the flags say --metrics. Others are written by
     * http.write_metrics. NULL: there are none. */
    serve_sample *sample;
    /** Variables with bearer tokens in clear, ending with NULL, of which /metrics requires one. */
    const char *const *metrics_variables;
    /** Parts of the program that log, ending with NULL; the first is the server's own. Their
     * lines are JSON. NULL: lines of text without a part. */
    const char *const *log_parts;
} serve_server;

/**
 * Variable that names the collector of traces (trace/trace.h). Where it is set, options.ended is
 * the exporter's.
 */
#define SERVE_TRACE_VARIABLE "OTEL_EXPORTER_OTLP_ENDPOINT"
/** Variable with the header fields of requests to it. */
#define SERVE_TRACE_HEADERS_VARIABLE "OTEL_EXPORTER_OTLP_HEADERS"

/**
 * The command `serve`: open the log, the directories and the server, serve as the flags say until
 * the client is gone or a signal arrives, and close everything in the opposite order. SIGPIPE is
 * ignored from here on. Flags that contradict each other end the command before anything is opened;
 * an error is printed on the line's error stream.
 *
 * @param data given to the server's functions
 * @return the exit status
 */
int serve_run(const serve_server *service, const cli_line *line, void *data);

/* ---- programs and commands ------------------------------------------------------------------- */

/** Exit statuses of every program; 3 is the program's own, 128 plus a signal is a stopped
 * command. */
enum {
    SERVE_EXIT_DONE = 0,
    SERVE_EXIT_INVALID = 1, /* the input */
    SERVE_EXIT_FILES = 2, /* a file, a database, something that does not exist, the command line */
    SERVE_EXIT_INTERNAL = 4
};

/**
 * A program: run the command of the line. SIGXFSZ is ignored, so a file that may not grow is a
 * failed write. Standard output that cannot be written is an error.
 *
 * @return the exit status
 */
int serve_main(const cli_program *program, int argc, char **argv);

/** The same with other streams, and with `data` for the commands. */
int serve_main_with(const cli_program *program, int argc, char **argv, FILE *out, FILE *err,
                    void *data);

/** What is freed stays with the process for the next allocations, up to some MiB, instead of going
 *  back to the kernel each time. Call it first in main; it does nothing where the C library has no
 *  such setting. */
void serve_keep_memory(void);

/** The exit status of a command that ended with `status`. */
int serve_exit_status(mcp_status status);

/**
 * Print why a command failed on its error stream and, where the line has --json, as
 * {"error": message, "status": name} on its output stream.
 *
 * @return the exit status
 */
int serve_fail(const cli_line *line, mcp_status status, const mcp_error *err);

/**
 * From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the program. After `most` of
 * them the next one ends it. SIGHUP stays ignored where it was so (nohup).
 *
 * @param flags SA_RESTART, or 0: a read that waits ends with EINTR
 */
void serve_count_signals(int most, int flags);

/** Count one more signal with them. */
void serve_count_signal(int number, int flags);

/** How many of them have arrived. Any thread. */
int serve_signals(void);

/** 128 plus the number of the first of them: the exit status of a command that they stopped. */
int serve_signal_status(void);

#endif
