/*
 * http.c - from the flags to the options of mcp_server_http.
 *
 * A flag for HTTP is refused on standard input and output instead of being ignored: a user who
 * gives --tokens expects that the tokens are required. What the library refuses is not checked here
 * a second time, except the open address, because this message can name the flags.
 */
#include "serve/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "serve/jwt.h"
#include "serve/variables.h"

#define MCP_PATH "/mcp"
#define SEPARATORS ", "

const char *const serve_transports[] = { "stdio", "http", NULL };
const char *const serve_sessions[] = { "required", "off", NULL };

/* Flags without a meaning on standard input and output. */
static const char *const for_http[] = { "host",
                                        "port",
                                        "unix",
                                        "tls-cert",
                                        "tls-key",
                                        "tokens",
                                        "oauth-issuer",
                                        "oauth-jwks",
                                        "oauth-audience",
                                        "scope",
                                        "insecure-no-auth",
                                        "allow-host",
                                        "allow-origin",
                                        "sessions",
                                        "legacy-sse",
                                        "websocket",
                                        "health",
                                        "metrics",
                                        NULL };

/* One run of serve_http. */
struct endpoint {
    const serve_server *service;
    const serve_setup *setup;
    const cli_line *line;
    mcp_arena *arena;
    mcp_http_options *http;
    mcp_http_auth auth;
    mcp_http_auth jwt;      /* its verifier; NULL: no JWTs are taken */
    const char *servers[2]; /* the issuer, and the end */
    serve_jwt *keys;
};

bool serve_wants_http(const cli_line *line)
{
    return strcmp(cli_string(line, "transport"), "stdio") != 0;
}

/* ---- checks -------------------------------------------------------------------------------- */

static mcp_status refuse_http_flags(const cli_line *line, const serve_systemd *systemd,
                                    mcp_error *err)
{
    if (systemd->socket_count > 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the service manager passes a socket (LISTEN_FDS): this requires "
                             "--transport http");
    for (const char *const *flag = for_http; *flag; flag++)
        if (cli_given(line, *flag))
            return mcp_error_set(err, MCP_E_PARAMS, "--%s is for --transport http", *flag);
    return MCP_OK;
}

static mcp_status need_pair(const cli_line *line, const char *one, const char *other,
                            mcp_error *err)
{
    if (cli_string(line, one) && !cli_string(line, other))
        return mcp_error_set(err, MCP_E_PARAMS, "--%s needs --%s", one, other);
    return MCP_OK;
}

/* The flags that go together. */
static mcp_status check_pairs(const cli_line *line, mcp_error *err)
{
    static const char *const pairs[][2] = {
        { "tls-cert", "tls-key" },          { "tls-key", "tls-cert" },
        { "oauth-issuer", "oauth-jwks" },   { "oauth-jwks", "oauth-issuer" },
        { "oauth-audience", "oauth-jwks" },
    };
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && st == MCP_OK; i++)
        st = need_pair(line, pairs[i][0], pairs[i][1], err);
    return st;
}

static bool has_tokens(const cli_line *line, const serve_server *service)
{
    return cli_string(line, "tokens") || cli_string(line, "oauth-jwks") ||
           serve_variables_given(service->token_variables) || service->verify;
}

static const char *first_variable(const serve_server *service)
{
    return service->token_variables ? service->token_variables[0] : NULL;
}

/* A socket file replaces the address, unless the line has one too. */
static bool wants_tcp(const cli_line *line)
{
    return !cli_string(line, "unix") || cli_given(line, "host") || cli_given(line, "port");
}

/* A socket that is passed replaces all addresses. */
static mcp_status check_passed(const cli_line *line, mcp_error *err)
{
    static const char *const flags[] = { "host", "port", "unix" };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (cli_given(line, flags[i]))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "--%s: the service manager passes the socket to listen on "
                                 "(LISTEN_FDS): remove the flag, or the socket unit",
                                 flags[i]);
    return MCP_OK;
}

static bool is_everywhere(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static mcp_status check_host(const cli_line *line, const serve_server *service, const char *host,
                             mcp_error *err)
{
    const char *variable = first_variable(service);

    if (mcp_host_is_loopback(host) || has_tokens(line, service) ||
        cli_flag(line, "insecure-no-auth"))
        return MCP_OK;
    return mcp_error_set(
        err, MCP_E_DENIED,
        "others can reach %s: this requires --tokens FILE%s%s or --oauth-jwks or, to serve "
        "everybody, --insecure-no-auth",
        host, variable ? ", the variable " : "", variable ? variable : "");
}

static mcp_status check_open(const cli_line *line, const serve_server *service,
                             const serve_systemd *systemd, mcp_error *err)
{
    const char *variable = first_variable(service);
    char host[MCP_ADDRESS_SIZE];
    mcp_status st = MCP_OK;
    int port = 0;

    if (cli_flag(line, "insecure-no-auth") && service->verify)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--insecure-no-auth: this server requires a token of every client");
    if (cli_flag(line, "insecure-no-auth") && has_tokens(line, service))
        return mcp_error_set(err, MCP_E_PARAMS, "--insecure-no-auth contradicts --tokens%s%s%s",
                             variable ? ", " : "", variable ? variable : "", " and --oauth-jwks");
    for (size_t i = 0; i < systemd->socket_count && st == MCP_OK; i++) {
        st = mcp_socket_address(host, &port, systemd->sockets[i], err);
        if (st == MCP_OK && host[0])
            st = check_host(line, service, host, err);
    }
    if (systemd->socket_count > 0 || !wants_tcp(line))
        return st;
    return check_host(line, service, cli_string(line, "host"), err);
}

static mcp_status check_names(const cli_line *line, const char *flag, mcp_error *err)
{
    const char *text = cli_string(line, flag);
    size_t count = 0;

    while (text && *text) {
        text += strspn(text, SEPARATORS);
        count += *text != '\0';
        text += strcspn(text, SEPARATORS);
    }
    if (count <= SERVE_NAMES_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "--%s has more than %d names", flag, SERVE_NAMES_MAX);
}

static mcp_status check_http(const cli_line *line, const serve_server *service,
                             const serve_systemd *systemd, mcp_error *err)
{
    bool has_port = systemd->socket_count == 0 && wants_tcp(line) && cli_int(line, "port", 0) != 0;
    bool needs_audience = cli_string(line, "oauth-jwks") && !cli_string(line, "oauth-audience") &&
                          !has_port;
    mcp_status st = systemd->socket_count > 0 ? check_passed(line, err) : MCP_OK;

    if (st == MCP_OK)
        st = check_pairs(line, err);

    if (st == MCP_OK && needs_audience)
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "--oauth-jwks needs --oauth-audience where the port is not known");
    if (st == MCP_OK && cli_string(line, "scope") && !has_tokens(line, service))
        st = mcp_error_set(err, MCP_E_PARAMS, "--scope needs --tokens or --oauth-jwks");
    if (st == MCP_OK)
        st = check_names(line, "allow-host", err);
    if (st == MCP_OK)
        st = check_names(line, "allow-origin", err);
    if (st == MCP_OK)
        st = serve_variables_check(service->token_variables, err);
    if (st == MCP_OK)
        st = serve_variables_check(service->metrics_variables, err);
    return st == MCP_OK ? check_open(line, service, systemd, err) : st;
}

mcp_status serve_http_check(const serve_server *service, const cli_line *line,
                            const serve_systemd *systemd, mcp_error *err)
{
    return serve_wants_http(line) ? check_http(line, service, systemd, err)
                                  : refuse_http_flags(line, systemd, err);
}

/* ---- from the line to the options ---------------------------------------------------------- */

/* The names of a list, `more` unless it is NULL, and a NULL at the end. */
static mcp_status read_names(const char *const **out, const struct endpoint *self, const char *flag,
                             const char *more, mcp_error *err)
{
    const char *given = cli_string(self->line, flag);
    const char **names = mcp_arena_array(self->arena, SERVE_NAMES_MAX + 2, sizeof *names);
    char *list = mcp_arena_strdup(self->arena, given ? given : "");
    size_t count = 0;

    if (!names || !list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    for (char *name = strsep(&list, SEPARATORS); name && count < SERVE_NAMES_MAX;
         name = strsep(&list, SEPARATORS))
        if (*name)
            names[count++] = name;
    if (more)
        names[count++] = more;
    names[count] = NULL;
    *out = count > 0 ? names : NULL;
    return MCP_OK;
}

static const char *url_at(const struct endpoint *self, const char *host, int port, const char *path)
{
    bool is_v6 = strchr(host, ':') != NULL;

    return mcp_arena_printf(self->arena, "%s://%s%s%s:%d%s",
                            self->http->tls_certificate ? "https" : "http", is_v6 ? "[" : "", host,
                            is_v6 ? "]" : "", port, path);
}

static const char *url_of(const struct endpoint *self, int port, const char *path)
{
    return url_at(self, self->http->host, port, path);
}

static void print_serving(const struct endpoint *self, const char *place)
{
    fprintf(cli_err(self->line), "%s: serving %s\n", self->service->options.name,
            place ? place : "");
}

static void print_page(const struct endpoint *self, const char *host, int port)
{
    const char *page = self->service->page ? url_at(self, host, port, self->service->page) : NULL;

    if (page)
        fprintf(cli_err(self->line), "%s: the page is %s\n", self->service->options.name, page);
}

/* Without encryption tokens can be read on their way. */
static void warn_of_clear_tokens(const struct endpoint *self, const char *host)
{
    if (self->http->auth && !self->http->tls_certificate && !mcp_host_is_loopback(host))
        fprintf(cli_err(self->line),
                "%s: warning: tokens are sent without encryption: give --tls-cert and --tls-key, "
                "or let a proxy end TLS\n",
                self->service->options.name);
}

/* @return the URL of MCP; NULL: there is none, or no memory */
static const char *print_tcp(const struct endpoint *self, const char *host, int port)
{
    const char *url = url_at(self, host, port, MCP_PATH);

    print_page(self, host, port);
    print_serving(self, url);
    warn_of_clear_tokens(self, host);
    return url;
}

/* @return the first of them for people; NULL: no memory */
static const char *print_passed(const struct endpoint *self)
{
    const serve_systemd *systemd = &self->setup->systemd;
    const char *first = NULL;
    char host[MCP_ADDRESS_SIZE];
    int port = 0;

    for (size_t i = 0; i < systemd->socket_count; i++) {
        const char *place = "a Unix socket of the service manager";
        if (mcp_socket_address(host, &port, systemd->sockets[i], NULL) != MCP_OK)
            continue;
        if (host[0])
            place = print_tcp(self, host, port);
        else
            print_serving(self, place);
        first = first ? first : place;
    }
    return first;
}

/* @return the first address for people; NULL: no memory */
static const char *print_addresses(const struct endpoint *self, int port)
{
    const char *first = NULL;

    if (self->setup->systemd.socket_count > 0)
        return print_passed(self);
    if (self->http->host[0])
        first = print_tcp(self, self->http->host, port);
    if (self->http->unix_path)
        print_serving(self, self->http->unix_path);
    return first ? first : self->http->unix_path;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void notify(const struct endpoint *self, const char *state)
{
    const mcp_log *log = &self->setup->options.log;
    mcp_error err = MCP_ERROR_INIT;

    if (serve_systemd_notify(&self->setup->systemd, state, &err) != MCP_OK)
        mcp_log_write(log, MCP_LOG_WARNING, "%s", err.message);
}

static void on_ready(int port, void *data)
{
    const struct endpoint *self = data;
    const char *place = print_addresses(self, port);
    const char *state = mcp_arena_printf(self->arena, "READY=1\nSTATUS=serving %s",
                                         place ? place : "");

    fflush(cli_err(self->line));
    notify(self, state ? state : "READY=1");
}

static void on_reload(void *data)
{
    const struct endpoint *self = data;
    mcp_error err = MCP_ERROR_INIT;
    char state[64];

    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
             mcp_clock_mono_ns() / 1000);
    notify(self, state);
    serve_jwt_refresh(self->keys);
    if (serve_log_reopen(self->setup->log, &err) != MCP_OK)
        mcp_log_write(&self->setup->options.log, MCP_LOG_ERROR, "%s", err.message);
    notify(self, "READY=1");
}

static void on_stopping(void *data)
{
    notify(data, "STOPPING=1");
}

static void on_alive(void *data)
{
    notify(data, "WATCHDOG=1");
}

/* On a terminal SIGHUP says that the terminal is gone: it ends the program, as ever. */
static void fill_events(struct endpoint *self)
{
    mcp_http_options *http = self->http;
    bool has_terminal = isatty(STDIN_FILENO) || isatty(STDERR_FILENO);

    http->ready = on_ready;
    http->reload = has_terminal ? NULL : on_reload;
    http->stopping = on_stopping;
    http->alive = self->setup->systemd.watchdog_ms > 0 ? on_alive : NULL;
    http->alive_ms = self->setup->systemd.watchdog_ms;
    http->data = self;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* An mcp_token_verifier: the server's own first, then JWTs. */
static mcp_status verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                         mcp_error *err)
{
    const struct endpoint *self = data;
    mcp_status st = self->setup->verify(out, token, arena, self->setup->verify_data, err);

    if (st != MCP_E_NOT_FOUND)
        return st;
    if (self->jwt.verify)
        return self->jwt.verify(out, token, arena, self->jwt.verify_data, err);
    return mcp_error_set(err, MCP_E_DENIED, "the token is unknown");
}

static mcp_status fill_jwt(struct endpoint *self, mcp_error *err)
{
    auth_options options = self->setup->jwt;
    const char *keys = cli_string(self->line, "oauth-jwks");
    const char *audience = cli_string(self->line, "oauth-audience");

    if (!keys)
        return MCP_OK;
    if (!audience)
        audience = url_of(self, self->http->port, MCP_PATH);
    if (!audience)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    self->servers[0] = cli_string(self->line, "oauth-issuer");
    self->auth.servers = self->servers;
    self->auth.resource = audience;
    options.log = self->setup->options.log;
    return serve_jwt_open(&self->keys, &self->auth, keys, &options, err);
}

/* Where the server verifies tokens itself, JWTs are what it does not know. */
static mcp_status fill_verifiers(struct endpoint *self, mcp_error *err)
{
    mcp_status st = fill_jwt(self, err);

    if (st != MCP_OK || !self->setup->verify)
        return st;
    self->jwt = self->auth;
    self->auth.verify = verify;
    self->auth.verify_data = self;
    return MCP_OK;
}

static bool requires_tokens(const struct endpoint *self)
{
    return self->auth.tokens_file || self->auth.tokens || self->auth.verify;
}

static void fill_addresses(struct endpoint *self)
{
    const serve_systemd *systemd = &self->setup->systemd;
    mcp_http_options *http = self->http;

    http->sockets = systemd->sockets;
    http->socket_count = systemd->socket_count;
    http->host = "";
    if (systemd->socket_count > 0)
        return;
    http->host = wants_tcp(self->line) ? cli_string(self->line, "host") : "";
    http->port = (int)cli_int(self->line, "port", 0);
    http->unix_path = cli_string(self->line, "unix");
}

/* The file has hashes; who may write it may come in, who may read it learns the principals. */
static void warn_of_open_file(const struct endpoint *self, const char *path)
{
    struct stat about;

    if (path && stat(path, &about) == 0 && (about.st_mode & S_IRWXO))
        fprintf(cli_err(self->line),
                "%s: warning: every user may read or write %s (--tokens): chmod o= %s\n",
                self->service->options.name, path, path);
}

static mcp_status fill(struct endpoint *self, mcp_error *err)
{
    const cli_line *line = self->line;
    mcp_http_options *http = self->http;

    fill_addresses(self);
    http->tls_certificate = cli_string(line, "tls-cert");
    http->tls_key = cli_string(line, "tls-key");
    http->insecure_no_auth = cli_flag(line, "insecure-no-auth");
    http->legacy_sse = http->legacy_sse || cli_flag(line, "legacy-sse");
    http->websocket = http->websocket || cli_flag(line, "websocket");
    http->health = http->health || cli_flag(line, "health");
    http->metrics = http->metrics || cli_flag(line, "metrics");
    if (strcmp(cli_string(line, "sessions"), "off") == 0)
        http->sessions = MCP_SESSIONS_OFF;
    fill_events(self);
    bool is_name = http->host[0] && !is_everywhere(http->host);
    mcp_status st = read_names(&http->hosts, self, "allow-host", is_name ? http->host : NULL, err);
    if (st == MCP_OK)
        st = read_names(&http->origins, self, "allow-origin", NULL, err);
    self->auth.tokens_file = cli_string(line, "tokens");
    warn_of_open_file(self, self->auth.tokens_file);
    self->auth.scope = cli_string(line, "scope");
    self->auth.default_scopes = self->service->default_scopes;
    if (st == MCP_OK)
        st = serve_variables_read(&self->auth.tokens, self->service->token_variables, self->arena,
                                  err);
    if (st == MCP_OK)
        st = serve_variables_read(&http->metrics_tokens, self->service->metrics_variables,
                                  self->arena, err);
    if (st == MCP_OK)
        st = fill_verifiers(self, err);
    http->auth = requires_tokens(self) ? &self->auth : NULL;
    return st;
}

/* ---- serving ------------------------------------------------------------------------------- */

mcp_status serve_http(mcp_server *server, const serve_server *service, serve_setup *setup,
                      mcp_error *err)
{
    struct endpoint self = { .service = service,
                             .setup = setup,
                             .line = setup->line,
                             .arena = setup->arena,
                             .http = &setup->http };
    mcp_status st = fill(&self, err);

    if (st == MCP_OK)
        st = mcp_server_http(server, self.http, err);
    serve_jwt_close(self.keys);
    return st;
}
