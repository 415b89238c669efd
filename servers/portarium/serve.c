/*
 * serve.c - portarium as a server: a control plane with REST and MCP in front of it, and the MCP
 * face alone, of a plane in this process or of a remote one.
 */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "client/remote.h"
#include "config/command_line.h"
#include "executors/registry.h"
#include "fault/fault.h"
#include "features/tools.h"
#include "gateway/actors.h"
#include "gateway/app.h"
#include "gateway/claims.h"
#include "local/local.h"
#include "mcp/clock.h"
#include "proxy.h"
#include "rest/rest.h"
#include "shell/line.h"
#include "visible.h"

/* Commands that wait for their commit, and reads. */
#define WORKERS 64
#define HOSTS_MAX 100

/* Most of them wait for a change, without a thread. All clients of REST share them. */
#define CALLS_MAX 10000

/* Of JWTs. */
#define CLOCK_SKEW_S 60

/* What of the program serves. */
typedef enum face {
    FACE_WHOLE, /* REST, MCP and the engine */
    FACE_TOOLS, /* the seven tools alone */
    FACE_GATE,  /* the tools of other servers, with the plane in front */
} face;

struct running {
    portarium_registry *registry;
    portarium_app app;
    portarium_remote *remote;
    portarium_rest *rest;
    portarium_proxy *proxy; /* of the gate */
    const char *upstreams[PORTARIUM_UPSTREAMS_MAX];
    face face;
};

/* The hosts that webhooks may be at, as many as there is room for. */
static size_t read_hosts(const char **hosts, const cli_line *line)
{
    size_t count = 0;
    while (count < HOSTS_MAX && cli_item(line, "webhook-host", count)) {
        hosts[count] = cli_item(line, "webhook-host", count);
        count++;
    }
    return count;
}

static mcp_status open_executors(struct running *self, const config *file, mcp_error *err)
{
    portarium_host host = { .commands = NULL };
    if (file)
        host = (portarium_host){ .commands = config_value(file, "exec"),
                                 .servers = config_value(file, "mcp"),
                                 .credentials = config_value(file, "credentials") };
    return portarium_registry_new(&self->registry, &host, err);
}

static bool is_stdio(const cli_line *line)
{
    return strcmp(cli_string(line, "transport"), "stdio") == 0;
}

static const char *token_of_user(void)
{
    const char *token = getenv("PORTARIUM_TOKEN");
    return token && *token ? token : NULL;
}

/* ---- settings -------------------------------------------------------------------------------- */

static portarium_arg_error arg_error_of(const char *text)
{
    static const char *const names[] = { "auto", "-32603", "-32602", "result" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], text) == 0)
            return (portarium_arg_error)i;
    }
    return PORTARIUM_ARG_ERROR_AUTO;
}

static mcp_status fill_jwt(serve_setup *setup, mcp_error *err)
{
    setup->jwt.leeway_s = CLOCK_SKEW_S;
    setup->jwt.authorized_party = cli_string(setup->line, "jwt-authorized-party");
    setup->jwt.token_type = cli_string(setup->line, "jwt-token-type");
    setup->jwt.read_claims = portarium_read_claims;
    return portarium_issuers_check(getenv("PORTARIUM_JWT_TRUSTED_ISSUERS"),
                                   cli_string(setup->line, "oauth-issuer"), err);
}

/* Outside dev and test: where the environment is stated, or the server has TLS. */
static bool has_hsts(const cli_line *line)
{
    const char *environment = cli_string(line, "environment");
    return environment ? strcmp(environment, "dev") != 0 && strcmp(environment, "test") != 0
                       : cli_string(line, "tls-cert") != NULL;
}

static mcp_status fill(struct running *self, serve_setup *setup, mcp_error *err)
{
    const cli_line *line = setup->line;
    portarium_app *app = &self->app;
    app->log = setup->options.log;
    app->started_ms = mcp_clock_wall_ms();
    app->workspace = cli_string(line, "workspace");
    app->compat_400 = cli_flag(line, "compat-400");
    app->has_hsts = has_hsts(line);
    app->arg_error = arg_error_of(cli_string(line, "arg-error"));
    setup->options.allow_write = !cli_flag(line, "read-only");
    setup->features.data = setup->options.data = setup->http.routes_data = app;
    mcp_status st = portarium_allowed_tools_read(
        &app->allowed_tools, cli_string(line, "allowed-tools"), setup->arena, err);
    if (st == MCP_OK)
        st = portarium_dev_read(&app->dev, cli_string(line, "environment"), err);
    return st == MCP_OK ? fill_jwt(setup, err) : st;
}

/* The gate has no options of the tools, and its clients are those of its flags. */
static void fill_gate(struct running *self, serve_setup *setup)
{
    portarium_app *app = &self->app;
    app->log = setup->options.log;
    app->started_ms = mcp_clock_wall_ms();
    app->workspace = cli_string(setup->line, "workspace");
    app->is_alone = true;
    setup->options.allow_write = true; /* policies decide */
    setup->options.data = self;
}

/* ---- a plane in this process ----------------------------------------------------------------- */

/* Who calls on standard input and output: the owner of PORTARIUM_TOKEN, else this user, who may
 * operate everything and approve nothing. */
static mcp_status fill_local(portarium_app *app, mcp_arena *arena, mcp_error *err)
{
    mcp_principal principal;
    const char *token = token_of_user();
    app->has_local = true;
    app->local = (portarium_actor){ .subject = mcp_arena_printf(arena, "local:%s", local_user()),
                                    .roles = PORTARIUM_ROLE(OPERATOR) };
    if (!token)
        return app->local.subject ? MCP_OK
                                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for the user");
    mcp_status st = portarium_verify_token(&principal, token, arena, app, err);
    if (st == MCP_E_NOT_FOUND || st == MCP_E_DENIED)
        return mcp_error_set(err, MCP_E_DENIED, "PORTARIUM_TOKEN is not a valid token");
    return st == MCP_OK ? portarium_actor_read(&app->local, principal.scopes, arena, err) : st;
}

static mcp_status url_of(const char **out, const serve_setup *setup, mcp_error *err)
{
    *out = cli_string(setup->line, "db");
    if (*out)
        return MCP_OK;
    if (is_stdio(setup->line))
        return local_database(out, "portarium.db", setup->arena, err);
    *out = "sqlite:portarium.db";
    return MCP_OK;
}

static mcp_status open_plane(struct running *self, serve_setup *setup, mcp_error *err)
{
    portarium_app *app = &self->app;
    bool is_gate = self->face == FACE_GATE;
    const char *hosts[HOSTS_MAX];
    size_t host_count = is_gate ? 0 : read_hosts(hosts, setup->line);
    portarium_plane_options options = { .files = portarium_files,
                                        .key_file = cli_string(setup->line, "key-file"),
                                        .evidence_key = cli_string(setup->line, "evidence-key"),
                                        .checkpoint_file = cli_string(setup->line, "checkpoints"),
                                        .webhooks = { .egress = hosts, .egress_count = host_count },
                                        .read_only = !is_gate && cli_flag(setup->line, "read-only"),
                                        .has_no_engine = is_gate,
                                        .settings = { .log = setup->options.log },
                                        .on_policies = portarium_exposures_on_policies };
    options.settings.environment = cli_string(setup->line, "environment");
    options.settings.compat_cancel = cli_flag(setup->line, "compat-cancel");
    options.settings.audit_reads = cli_flag(setup->line, "audit-reads");
    if (options.checkpoint_file && !options.evidence_key)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--checkpoints: checkpoints are signed with --evidence-key, which is "
                             "missing");
    if (options.read_only && (options.settings.audit_reads || options.checkpoint_file))
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "%s stores something, which --read-only refuses: leave out one of them",
            options.settings.audit_reads ? "--audit-reads" : "--checkpoints");
    options.settings.assisted_grace_ms = cli_int(setup->line, "assisted-grace-ms", 0);
    mcp_status st = url_of(&options.url, setup, err);
    if (st == MCP_OK)
        st = open_executors(self, config_of(setup->line), err);
    if (st == MCP_OK)
        st = portarium_exposures_new(&app->exposures, err);
    if (st != MCP_OK)
        return st;
    options.engine.lease_ms = fault_lease_ms();
    options.engine.executors = portarium_registry_executors(self->registry);
    options.policies_data = app->exposures;
    st = portarium_plane_open(&app->plane, &options, err);
    if (st == MCP_OK)
        st = portarium_exposures_follow(app->exposures, app->plane, err);
    if (st != MCP_OK)
        return st;
    app->client = portarium_client_here(app->plane);
    if (is_stdio(setup->line) || self->face == FACE_GATE)
        return fill_local(app, setup->arena, err);
    setup->verify = portarium_verify_token;
    setup->verify_data = app;
    return MCP_OK;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static mcp_status open_remote(struct running *self, const char *url, mcp_error *err)
{
    mcp_status st = portarium_remote_new(&self->remote, url, token_of_user(), err);
    if (st == MCP_OK)
        self->app.client = portarium_client_remote(self->remote);
    return st;
}

/* The agent of the gate is the token's; a token that is a remote plane's own does not tell. */
static mcp_status open_gate(struct running *self, serve_setup *setup, mcp_error *err)
{
    const cli_line *line = setup->line;
    const portarium_actor *actor = &self->app.local;
    const config *file = config_of(line);
    const portarium_host host = { .servers = file ? config_value(file, "mcp") : NULL,
                                  .credentials = file ? config_value(file, "credentials") : NULL };
    bool is_named = cli_given(line, "workspace") || !actor->workspace;
    const char *workspace = is_named ? cli_string(line, "workspace") : actor->workspace;
    const char *agent = cli_string(line, "agent");
    portarium_proxy_options options = { .app = &self->app,
                                        .workspace = workspace,
                                        .agent = agent ? agent : actor->agent_id,
                                        .machine = actor->machine_id,
                                        .token = token_of_user(),
                                        .host = host,
                                        .upstreams = self->upstreams,
                                        .wait_ms = cli_int(line, "wait", 50) * 1000,
                                        .call_ms = cli_int(line, "call-timeout", 60) * 1000 };
    while (options.upstream_count < PORTARIUM_UPSTREAMS_MAX &&
           cli_item(line, "upstream", options.upstream_count)) {
        self->upstreams[options.upstream_count] = cli_item(line, "upstream",
                                                           options.upstream_count);
        options.upstream_count++;
    }
    if (cli_item(line, "upstream", PORTARIUM_UPSTREAMS_MAX))
        return mcp_error_set(err, MCP_E_LIMIT, "--upstream: a gate has at most %d MCP servers",
                             PORTARIUM_UPSTREAMS_MAX);
    if (!options.agent)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the gate acts as an agent: PORTARIUM_TOKEN must be an agent's, or "
                             "--agent must name one");
    self->app.workspace = options.workspace;
    return portarium_proxy_new(&self->proxy, &options, err);
}

static mcp_status start_gate(mcp_server *server, const serve_setup *setup, void *data,
                             mcp_error *err)
{
    struct running *self = data;
    (void)setup;
    return portarium_proxy_start(self->proxy, server, err);
}

static bool gate_shows(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    const struct running *self = data;
    (void)call;
    return feature != MCP_FEATURE_TOOL || portarium_proxy_shows(self->proxy, name);
}

static void gate_hides(const mcp_call *call, const char *name, mcp_hiding reason, void *data)
{
    struct running *self = data;
    portarium_hidden_tool_called(call, name, reason, &self->app);
}

static void stop_gate(void *data)
{
    struct running *self = data;
    portarium_proxy_stop(self->proxy);
}

static mcp_status open_all(serve_setup *setup, void *data, mcp_error *err)
{
    struct running *self = data;
    const char *remote = self->face != FACE_WHOLE ? cli_string(setup->line, "base-url") : NULL;
    if (remote && cli_given(setup->line, "db"))
        return mcp_error_set(err, MCP_E_PARAMS, "--base-url and --db exclude each other");
    mcp_status st = MCP_OK;
    if (self->face == FACE_GATE)
        fill_gate(self, setup);
    else
        st = fill(self, setup, err);
    if (st == MCP_OK)
        st = remote ? open_remote(self, remote, err) : open_plane(self, setup, err);
    if (st == MCP_OK && self->face == FACE_GATE)
        return open_gate(self, setup, err);
    if (st != MCP_OK || self->face != FACE_WHOLE)
        return st;
    st = portarium_limits_new(&self->app.limits, cli_flag(setup->line, "compat-rate"), err);
    if (st == MCP_OK)
        st = portarium_rest_new(&self->rest, err);
    if (st != MCP_OK)
        return st;
    setup->http.routes = portarium_rest_routes(self->rest);
    setup->http.write_metrics = portarium_rest_metrics;
    setup->http.metrics_data = setup->sample_data = &self->app;
    setup->sample = portarium_rest_sample;
    return MCP_OK;
}

static void close_all(void *data)
{
    struct running *self = data;
    portarium_proxy_free(self->proxy);
    portarium_rest_free(self->rest);
    portarium_limits_free(self->app.limits);
    portarium_exposures_unfollow(self->app.exposures);
    portarium_plane_close(self->app.plane);
    portarium_registry_free(self->registry);
    portarium_exposures_free(self->app.exposures);
    portarium_remote_free(self->remote);
}

static const serve_server server = {
    .options = { .name = "portarium-mcp-server",
                 .version = "1.0.0",
                 .bare_capabilities = true,
                 .error_formatter = portarium_refuse_call,
                 .normalize_arguments = portarium_normalize_arguments,
                 .visible = portarium_tool_is_visible,
                 .hidden_called = portarium_hidden_tool_called,
                 .limits = { .short_threads = WORKERS, .calls_max_queued = CALLS_MAX } },
    .features = { .files = portarium_files, .tools = portarium_tools },
    .http = { .problem = portarium_rest_problem, .legacy_sse = true, .websocket = true },
    .open = open_all,
    .close = close_all,
    .page = "/",
};

/* Who names no revision, or one that is not served, gets the one of the seed, unless only another
 * is spoken. */
static int serve(const cli_line *line, face what_serves, const serve_server *service)
{
    struct running self = { .face = what_serves };
    serve_server what = *service;
    mcp_revision only = mcp_revision_find(cli_string(line, "revision"));
    if (what_serves != FACE_GATE)
        what.options.default_revision = what.options.offered_revision = only ? only
                                                                             : MCP_2024_11_05;
    return serve_run(&what, line, &self);
}

int portarium_line_serve(const cli_line *line, void *data)
{
    (void)data;
    return serve(line, FACE_WHOLE, &server);
}

int portarium_line_mcp(const cli_line *line, void *data)
{
    serve_server tools = server;
    (void)data;
    tools.page = NULL;
    return serve(line, FACE_TOOLS, &tools);
}

/* The gate has no tools of its own. Its errors are the library's. */
int portarium_line_gate(const cli_line *line, void *data)
{
    static const mcp_tool none[] = { { 0 } };
    const serve_server gate = {
        .options = { .name = "portarium-gate",
                     .version = PORTARIUM_VERSION,
                     .list_changed = true,
                     .visible = gate_shows,
                     .hidden_called = gate_hides,
                     .limits = { .short_threads = WORKERS } },
        .features = { .tools = none },
        .http = { .legacy_sse = true, .websocket = true },
        .open = open_all,
        .start = start_gate,
        .stop = stop_gate,
        .close = close_all,
    };
    (void)data;
    return serve(line, FACE_GATE, &gate);
}
