/*
 * http.c - from the flags to the options of mcp_server_http.
 *
 * A flag for HTTP is refused on standard input and output instead of being ignored: a user who
 * gives --tokens expects that the tokens are required. What the library refuses is not checked here
 * a second time, except the open address, because this message can name the flags.
 */
#include "serve/http.h"

#include <string.h>

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

static mcp_status refuse_http_flags(const cli_line *line, mcp_error *err)
{
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

static bool is_everywhere(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static mcp_status check_open(const cli_line *line, const serve_server *service, mcp_error *err)
{
    const char *host = cli_string(line, "host"), *variable = first_variable(service);

    if (cli_flag(line, "insecure-no-auth") && service->verify)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--insecure-no-auth: this server requires a token of every client");
    if (cli_flag(line, "insecure-no-auth") && has_tokens(line, service))
        return mcp_error_set(err, MCP_E_PARAMS, "--insecure-no-auth contradicts --tokens%s%s%s",
                             variable ? ", " : "", variable ? variable : "", " and --oauth-jwks");
    if (!wants_tcp(line) || mcp_host_is_loopback(host) || has_tokens(line, service) ||
        cli_flag(line, "insecure-no-auth"))
        return MCP_OK;
    return mcp_error_set(
        err, MCP_E_DENIED,
        "others can reach %s: this requires --tokens FILE%s%s or --oauth-jwks or, to serve "
        "everybody, --insecure-no-auth",
        host, variable ? ", the variable " : "", variable ? variable : "");
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

static mcp_status check_http(const cli_line *line, const serve_server *service, mcp_error *err)
{
    bool needs_audience = cli_string(line, "oauth-jwks") && !cli_string(line, "oauth-audience") &&
                          (!wants_tcp(line) || cli_int(line, "port", 0) == 0);
    mcp_status st = check_pairs(line, err);

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
    return st == MCP_OK ? check_open(line, service, err) : st;
}

mcp_status serve_http_check(const serve_server *service, const cli_line *line, mcp_error *err)
{
    return serve_wants_http(line) ? check_http(line, service, err) : refuse_http_flags(line, err);
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

static const char *url_of(const struct endpoint *self, int port, const char *path)
{
    const char *host = self->http->host;
    bool is_v6 = strchr(host, ':') != NULL;

    return mcp_arena_printf(self->arena, "%s://%s%s%s:%d%s",
                            self->http->tls_certificate ? "https" : "http", is_v6 ? "[" : "", host,
                            is_v6 ? "]" : "", port, path);
}

static void print_address(int port, void *data)
{
    const struct endpoint *self = data;
    FILE *stream = cli_err(self->line);

    if (self->http->host[0]) {
        const char *url = url_of(self, port, MCP_PATH);
        const char *page = self->service->page ? url_of(self, port, self->service->page) : NULL;
        if (page)
            fprintf(stream, "%s: the page is %s\n", self->service->options.name, page);
        fprintf(stream, "%s: serving %s\n", self->service->options.name, url ? url : "");
    }
    if (self->http->unix_path)
        fprintf(stream, "%s: serving %s\n", self->service->options.name, self->http->unix_path);
    if (self->http->auth && !self->http->tls_certificate && self->http->host[0] &&
        !mcp_host_is_loopback(self->http->host))
        fprintf(
            stream,
            "%s: warning: tokens are sent without encryption: give --tls-cert and --tls-key, or "
            "let a proxy end TLS\n",
            self->service->options.name);
    fflush(stream);
}

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

static mcp_status fill(struct endpoint *self, mcp_error *err)
{
    const cli_line *line = self->line;
    mcp_http_options *http = self->http;

    http->host = wants_tcp(line) ? cli_string(line, "host") : "";
    http->port = (int)cli_int(line, "port", 0);
    http->unix_path = cli_string(line, "unix");
    http->tls_certificate = cli_string(line, "tls-cert");
    http->tls_key = cli_string(line, "tls-key");
    http->insecure_no_auth = cli_flag(line, "insecure-no-auth");
    http->legacy_sse = http->legacy_sse || cli_flag(line, "legacy-sse");
    http->websocket = http->websocket || cli_flag(line, "websocket");
    http->health = http->health || cli_flag(line, "health");
    http->metrics = http->metrics || cli_flag(line, "metrics");
    if (strcmp(cli_string(line, "sessions"), "off") == 0)
        http->sessions = MCP_SESSIONS_OFF;
    http->ready = print_address;
    http->data = self;
    bool is_name = http->host[0] && !is_everywhere(http->host);
    mcp_status st = read_names(&http->hosts, self, "allow-host", is_name ? http->host : NULL, err);
    if (st == MCP_OK)
        st = read_names(&http->origins, self, "allow-origin", NULL, err);
    self->auth.tokens_file = cli_string(line, "tokens");
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
