/*
 * listen.c - from the flags to the options of mcp_server_http.
 *
 * A flag that is only for HTTP is refused with standard input and output rather than passed over: whoever
 * gives --tokens believes that they guard something. What the library refuses by itself is not looked at
 * twice, but for the open address, whose refusal here can name the flags.
 */
#include "listen/listen.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "listen/jwt.h"
#include "listen/variables.h"
#include "mcp/arena.h"

#define MCP_PATH "/mcp"
#define BETWEEN_NAMES ", "

const char *const listen_transports[] = { "stdio", "http", NULL };
const char *const listen_sessions[] = { "required", "off", NULL };

/* Flags that say nothing to a server on standard input and output. */
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

/* All that is to be there while the server serves. */
struct door {
    const listen_service *service;
    const cli_line *line;
    mcp_arena *arena;
    mcp_http_options http;
    mcp_http_auth auth;
    const char *servers[2]; /* the issuer, and the end */
    listen_jwt *jwt;
};

bool listen_wants_http(const cli_line *line)
{
    return strcmp(cli_string(line, "transport"), "http") == 0;
}

/* ---- what can be wrong with a line ------------------------------------------------------------- */

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

static bool has_tokens(const cli_line *line, const listen_service *service)
{
    return cli_string(line, "tokens") || cli_string(line, "oauth-jwks") ||
           listen_variables_given(service);
}

static const char *first_variable(const listen_service *service)
{
    return service->token_variables ? service->token_variables[0] : NULL;
}

/* A socket file is enough by itself; an address beside it must be asked for. */
static bool wants_tcp(const cli_line *line)
{
    return !cli_string(line, "unix") || cli_given(line, "host") || cli_given(line, "port");
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

static bool is_everywhere(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static mcp_status check_open(const cli_line *line, const listen_service *service, mcp_error *err)
{
    const char *host = cli_string(line, "host"), *variable = first_variable(service);

    if (cli_flag(line, "insecure-no-auth") && has_tokens(line, service))
        return mcp_error_set(err, MCP_E_PARAMS, "--insecure-no-auth contradicts --tokens%s%s%s",
                             variable ? ", " : "", variable ? variable : "", " and --oauth-jwks");
    if (!wants_tcp(line) || is_loopback(host) || has_tokens(line, service) ||
        cli_flag(line, "insecure-no-auth"))
        return MCP_OK;
    return mcp_error_set(
        err, MCP_E_DENIED,
        "others can reach %s: say who may come in by --tokens FILE%s%s or --oauth-jwks, "
        "or let everybody in by --insecure-no-auth",
        host, variable ? ", the variable " : "", variable ? variable : "");
}

static mcp_status check_names(const cli_line *line, const char *flag, mcp_error *err)
{
    const char *text = cli_string(line, flag);
    size_t count = 0;

    for (; text && *(text += strspn(text, BETWEEN_NAMES)); text += strcspn(text, BETWEEN_NAMES))
        count++;
    if (count <= LISTEN_NAMES_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "--%s has more than %d names", flag, LISTEN_NAMES_MAX);
}

static mcp_status check_http(const cli_line *line, const listen_service *service, mcp_error *err)
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
        st = listen_variables_check(service, err);
    return st == MCP_OK ? check_open(line, service, err) : st;
}

mcp_status listen_check(const cli_line *line, const listen_service *service, mcp_error *err)
{
    return listen_wants_http(line) ? check_http(line, service, err) : refuse_http_flags(line, err);
}

/* ---- from the line to the options -------------------------------------------------------------- */

/* The names of a list, and one more where it is given, ended by NULL. `more` may be NULL. */
static mcp_status read_names(const char *const **out, const struct door *door, const char *flag,
                             const char *more, mcp_error *err)
{
    const char *given = cli_string(door->line, flag);
    const char **names = mcp_arena_array(door->arena, LISTEN_NAMES_MAX + 2, sizeof(*names));
    char *list = mcp_arena_strdup(door->arena, given ? given : "");
    size_t count = 0;

    if (!names || !list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    for (char *name = strsep(&list, BETWEEN_NAMES); name && count < LISTEN_NAMES_MAX;
         name = strsep(&list, BETWEEN_NAMES))
        if (*name)
            names[count++] = name;
    if (more)
        names[count++] = more;
    names[count] = NULL;
    *out = count > 0 ? names : NULL;
    return MCP_OK;
}

static const char *url_of(const struct door *door, int port, const char *path)
{
    const char *host = door->http.host;
    bool is_v6 = strchr(host, ':') != NULL;

    return mcp_arena_printf(door->arena, "%s://%s%s%s:%d%s",
                            door->http.tls_certificate ? "https" : "http", is_v6 ? "[" : "", host,
                            is_v6 ? "]" : "", port, path);
}

static void say_where(int port, void *data)
{
    const struct door *door = data;
    FILE *stream = cli_err(door->line);

    if (door->http.host[0]) {
        const char *url = url_of(door, port, MCP_PATH);
        const char *page = door->service->page ? url_of(door, port, door->service->page) : NULL;
        if (page)
            fprintf(stream, "%s: the page is %s\n", door->service->name, page);
        fprintf(stream, "%s: serving %s\n", door->service->name, url ? url : "");
    }
    if (door->http.unix_path)
        fprintf(stream, "%s: serving %s\n", door->service->name, door->http.unix_path);
    if (door->http.auth && !door->http.tls_certificate && door->http.host[0] &&
        !is_loopback(door->http.host))
        fprintf(
            stream,
            "%s: warning: tokens travel in clear: give --tls-cert and --tls-key, or let a proxy "
            "end TLS\n",
            door->service->name);
    fflush(stream);
}

static mcp_status fill_jwt(struct door *door, mcp_error *err)
{
    const char *audience = cli_string(door->line, "oauth-audience");
    mcp_status st;

    if (!cli_string(door->line, "oauth-jwks"))
        return MCP_OK;
    if (!audience)
        audience = url_of(door, door->http.port, MCP_PATH);
    if (!audience)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    door->servers[0] = cli_string(door->line, "oauth-issuer");
    door->auth.servers = door->servers;
    door->auth.resource = audience;
    st = listen_jwt_open(&door->jwt, door->servers[0], audience,
                         cli_string(door->line, "oauth-jwks"), err);
    if (st != MCP_OK)
        return st;
    door->auth.verify = listen_jwt_verify;
    door->auth.verify_data = door->jwt;
    return MCP_OK;
}

static void fill_what(struct door *door)
{
    const listen_service *service = door->service;
    const cli_line *line = door->line;
    mcp_http_options *http = &door->http;

    http->legacy_sse = service->legacy_sse || cli_flag(line, "legacy-sse");
    http->websocket = service->websocket || cli_flag(line, "websocket");
    http->health = service->health || cli_flag(line, "health");
    http->metrics = cli_flag(line, "metrics");
    http->routes = service->routes;
    http->routes_data = service->routes_data;
    http->problem = service->problem;
    http->body_max_bytes = service->body_max_bytes;
    http->sessions_max = service->sessions_max;
    http->session_idle_ms = service->session_idle_ms;
    if (strcmp(cli_string(line, "sessions"), "off") == 0)
        http->sessions = MCP_SESSIONS_OFF;
    http->ready = say_where;
    http->data = door;
}

static mcp_status fill(struct door *door, mcp_error *err)
{
    const cli_line *line = door->line;
    mcp_http_options *http = &door->http;

    http->host = wants_tcp(line) ? cli_string(line, "host") : "";
    http->port = (int)cli_int(line, "port", 0);
    http->unix_path = cli_string(line, "unix");
    http->tls_certificate = cli_string(line, "tls-cert");
    http->tls_key = cli_string(line, "tls-key");
    http->insecure_no_auth = cli_flag(line, "insecure-no-auth");
    fill_what(door);
    bool is_name = http->host[0] && !is_everywhere(http->host);
    mcp_status st = read_names(&http->hosts, door, "allow-host", is_name ? http->host : NULL, err);
    if (st == MCP_OK)
        st = read_names(&http->origins, door, "allow-origin", NULL, err);
    door->auth.tokens_file = cli_string(line, "tokens");
    door->auth.scope = cli_string(line, "scope");
    if (st == MCP_OK)
        st = listen_variables_read(&door->auth.tokens, door->service, door->arena, err);
    http->auth = has_tokens(line, door->service) ? &door->auth : NULL;
    return st == MCP_OK ? fill_jwt(door, err) : st;
}

/* ---- serving ---------------------------------------------------------------------------------- */

static mcp_status serve_http(mcp_server *server, const cli_line *line,
                             const listen_service *service, mcp_error *err)
{
    struct door door = { .service = service, .line = line, .http = MCP_HTTP_OPTIONS_INIT };

    door.arena = mcp_arena_new(0);
    mcp_status st = door.arena ? fill(&door, err)
                               : mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    if (st == MCP_OK)
        st = mcp_server_http(server, &door.http, err);
    listen_jwt_close(door.jwt);
    mcp_arena_free(door.arena);
    return st;
}

mcp_status listen_serve(mcp_server *server, const cli_line *line, const listen_service *service,
                        mcp_error *err)
{
    mcp_status st = listen_check(line, service, err);

    if (st != MCP_OK)
        return st;
    return listen_wants_http(line) ? serve_http(server, line, service, err)
                                   : mcp_server_stdio(server, err);
}
