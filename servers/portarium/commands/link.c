/*
 * link.c - opening a plane, and asking it.
 *
 * Each change has an idempotency key, so that it is sent again when the answer was lost, and done
 * once.
 */
#include "commands/link.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/show/text.h"
#include "db/probe.h"
#include "gateway/actors.h"
#include "local/local.h"
#include "mcp/clock.h"
#include "mcp/random.h"
#include "serve/serve.h"

enum { ARENA_MAX = 512 << 20, DEADLINE_MS = 120 * 1000, NAMES_MAX = 10 };

/* ---- opening --------------------------------------------------------------------------------- */

static const char *token_of_user(void)
{
    const char *token = getenv("PORTARIUM_TOKEN");
    return token && *token ? token : NULL;
}

/* Whether a plane elsewhere is meant: what the line says counts before the environment. */
static bool is_remote(const cli_line *line)
{
    const char *url = cli_has(line, "base-url") ? cli_string(line, "base-url") : NULL;
    return url && *url && (cli_given(line, "base-url") || !cli_given(line, "db"));
}

/* A command makes no database: an empty one would answer every question with nothing. */
static mcp_status must_exist(const char *url, mcp_error *err)
{
    if (db_is_there(url))
        return MCP_OK;
    if (strcmp(url, "memory") == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "--db memory: a command needs a database that "
                             "exists");
    return mcp_error_set(err, MCP_E_NOT_FOUND,
                         "there is no database %s: name one by --db, or a served plane by "
                         "--base-url",
                         strchr(url, ':') + 1);
}

static mcp_status name_actor(portarium_link *self, mcp_error *err)
{
    mcp_principal principal;
    portarium_app app = { .plane = self->plane };
    const char *token = token_of_user();
    self->actor = (portarium_actor){ .subject = mcp_arena_printf(self->arena, "local:%s",
                                                                 local_user()),
                                     .roles = PORTARIUM_ROLE(ADMIN) };
    if (!token)
        return self->actor.subject ? MCP_OK
                                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for the user");
    mcp_status st = portarium_verify_token(&principal, token, self->arena, &app, err);
    if (st == MCP_E_NOT_FOUND || st == MCP_E_DENIED)
        return mcp_error_set(err, MCP_E_DENIED,
                             "PORTARIUM_TOKEN is not a valid token of this database: set it to one "
                             "of portarium tokens create, or unset it to act as %s",
                             self->actor.subject);
    return st == MCP_OK ? portarium_actor_read(&self->actor, principal.scopes, self->arena, err)
                        : st;
}

const char *portarium_place_of(mcp_arena *arena, const char *url)
{
    const char *begin = strstr(url, "://"), *host = begin ? begin + 3 : NULL;
    if (!host)
        return url;
    /* As libpq reads it: the user ends at an '@' before the first slash. */
    const char *at = memrchr(host, '@', strcspn(host, "/"));
    size_t user = at ? (size_t)(at + 1 - host) : 0;
    return mcp_arena_printf(arena, "%.*s%.*s", (int)(host - url), url,
                            (int)strcspn(host + user, "?#"), host + user);
}

static mcp_status open_here(portarium_link *self, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const portarium_plane_options options = { .url = cli_string(self->line, "db"),
                                              .files = portarium_files,
                                              .key_file = cli_string(self->line, "key-file"),
                                              .has_no_engine = true,
                                              .must_exist = true };
    self->place = portarium_place_of(self->arena, options.url);
    mcp_status st = self->place ? must_exist(options.url, err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
    if (st != MCP_OK)
        return st;
    st = portarium_plane_open(&self->plane, &options, &why);
    if (st != MCP_OK) /* the database cannot be used: no fault of the command's input */
        return mcp_error_set(err, st == MCP_E_PARAMS ? MCP_E_UNSUPPORTED : st, "%s", why.message);
    self->client = portarium_client_here(self->plane);
    st = name_actor(self, err);
    if (!self->workspace)
        self->workspace = self->actor.workspace;
    return st;
}

static mcp_status open_there(portarium_link *self, mcp_error *err)
{
    self->place = cli_string(self->line, "base-url");
    self->actor = (portarium_actor){ .subject = "remote" }; /* the plane knows it by the token */
    mcp_status st = portarium_remote_new(&self->remote, self->place, token_of_user(), err);
    if (st == MCP_OK)
        self->client = portarium_client_remote(self->remote);
    return st;
}

mcp_status portarium_link_open(portarium_link *out, const cli_line *line, mcp_error *err)
{
    *out = (portarium_link){ .line = line,
                             .arena = mcp_arena_new(ARENA_MAX),
                             .workspace = cli_has(line, "workspace") ? cli_string(line, "workspace")
                                                                     : NULL,
                             .has_token = token_of_user() != NULL,
                             .is_terminal = isatty(fileno(cli_out(line))) };
    if (!out->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
    if (cli_has(line, "base-url") && cli_given(line, "base-url") && cli_given(line, "db"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--db and --base-url name two planes: give one of them");
    serve_count_signals(2, 0);
    return is_remote(line) ? open_there(out, err) : open_here(out, err);
}

int portarium_link_end(portarium_link *self, mcp_status status, const mcp_error *err)
{
    mcp_error shown = MCP_ERROR_INIT;
    const char *words = status == MCP_OK ? NULL : portarium_visible_text(self->arena, err->message);
    if (status != MCP_OK)
        mcp_error_set(&shown, status, "%s", words ? words : mcp_status_words(status));
    int exit_status = status == MCP_OK ? SERVE_EXIT_DONE : serve_fail(self->line, status, &shown);
    portarium_plane_close(self->plane);
    portarium_remote_free(self->remote);
    mcp_arena_free(self->arena);
    *self = (portarium_link){ .line = NULL };
    return exit_status;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static mcp_status refuse_token(const portarium_link *self, const char *detail, mcp_error *err)
{
    if (!self->has_token)
        return mcp_error_set(err, MCP_E_DENIED,
                             "%s requires a token: set PORTARIUM_TOKEN to one of portarium tokens "
                             "create",
                             self->place);
    return mcp_error_set(err, MCP_E_DENIED, "%s does not accept the token in PORTARIUM_TOKEN: %s",
                         self->place, detail);
}

static mcp_status status_of(int http)
{
    switch (http) {
    case 403:
        return MCP_E_DENIED;
    case 404:
        return MCP_E_NOT_FOUND;
    case 409:
    case 412:
        return MCP_E_EXISTS;
    case 429:
    case 503:
        return MCP_E_BUSY;
    case 501:
        return MCP_E_UNSUPPORTED;
    case 504:
        return MCP_E_TIMEOUT;
    default:
        return http >= 500 ? MCP_E_IO : MCP_E_PARAMS;
    }
}

static mcp_status refuse(const portarium_link *self, const portarium_reply *reply,
                         const mcp_error *cause, mcp_error *err)
{
    const char *detail = reply->detail ? reply->detail : portarium_client_failed;
    if (serve_signals() > 0 && cause->status == MCP_E_STOPPED)
        return mcp_error_set(err, MCP_E_STOPPED, "stopped");
    if (cause->status != MCP_OK)
        return mcp_error_set(err, cause->status == MCP_E_TIMEOUT ? MCP_E_TIMEOUT : MCP_E_IO,
                             "%s cannot be reached: %s", self->place, cause->message);
    if (reply->status == 401)
        return refuse_token(self, detail, err);
    if (self->remote && detail == portarium_client_failed)
        return mcp_error_set(err, MCP_E_IO,
                             "%s answers with %d and no explanation: is it a control plane?",
                             self->place, reply->status);
    if (reply->fields.count > 0)
        return mcp_error_set(err, status_of(reply->status), "%s: %s", reply->fields.items[0].field,
                             reply->fields.items[0].message);
    return mcp_error_set(err, status_of(reply->status), "%s", detail);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool has_signal(void *data)
{
    (void)data;
    return serve_signals() > 0;
}

/* Names of the workspaces that a line may choose from. */
static mcp_status refuse_many(portarium_link *self, const mcp_json *items, mcp_error *err)
{
    const char *names = "";
    size_t count = mcp_json_count(items);
    for (size_t i = 0; names && i < count && i < NAMES_MAX; i++)
        names = mcp_arena_printf(self->arena, "%s%s%s", names, i > 0 ? ", " : "",
                                 mcp_json_get_string(mcp_json_item(items, i), "workspaceId"));
    return mcp_error_set(err, MCP_E_PARAMS,
                         "--workspace (or PORTARIUM_WORKSPACE_ID) is required; there are: %.900s%s",
                         names ? names : "", count > NAMES_MAX ? ", ..." : "");
}

static mcp_status find_workspace(portarium_link *self, mcp_error *err)
{
    const mcp_json *answer = NULL;
    mcp_status st = portarium_ask(&answer, self, "listWorkspaces", NULL, NULL, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *items = mcp_json_get(answer, "items");
    if (mcp_json_count(items) == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "%s has no workspace: portarium admin apply makes one", self->place);
    if (mcp_json_count(items) > 1)
        return refuse_many(self, items, err);
    self->workspace = mcp_json_get_string(mcp_json_item(items, 0), "workspaceId");
    return self->workspace ? MCP_OK
                           : mcp_error_set(err, MCP_E_IO, "%s names no workspace", self->place);
}

static mcp_status read_answer(const mcp_json **answer, const portarium_link *self,
                              const portarium_reply *reply, mcp_error *err)
{
    *answer = NULL;
    if (reply->length == 0)
        return MCP_OK;
    mcp_status st = mcp_json_read(answer, self->arena, reply->text, reply->length, err);
    return st == MCP_OK ? st
                        : mcp_error_set(err, MCP_E_IO,
                                        "%s answers with no JSON: is it a control "
                                        "plane?",
                                        self->place);
}

mcp_status portarium_ask(const mcp_json **answer, portarium_link *self, const char *name,
                         const mcp_json *arguments, const mcp_json *body, mcp_error *err)
{
    char key[MCP_RANDOM_ID_SIZE];
    portarium_reply reply = { .status = 0 };
    mcp_error cause = MCP_ERROR_INIT;
    const portarium_operation *operation = portarium_operation_find(name);
    portarium_request request = {
        .actor = &self->actor, .arguments = arguments, .body = body, .correlation_id = "cli"
    };
    const portarium_client_call call = { .actor = &self->actor,
                                         .correlation_id = "cli",
                                         .deadline_mono_ms = mcp_clock_mono_ms() + DEADLINE_MS,
                                         .should_stop = has_signal,
                                         .cause = &cause,
                                         .arena = self->arena };
    if (!operation)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "there is no operation %s", name);
    mcp_status st = self->workspace || (operation->flags & PORTARIUM_GLOBAL)
                        ? MCP_OK
                        : find_workspace(self, err);
    if (st == MCP_OK && (operation->flags & PORTARIUM_COMMAND)) {
        st = self->key ? MCP_OK : mcp_random_id(key, err);
        request.idempotency_key = self->key ? self->key : key;
    }
    if (st != MCP_OK)
        return st;
    request.workspace = self->workspace;
    self->client.send(self->client.data, operation, &request, &call, &reply);
    return reply.status < 400 ? read_answer(answer, self, &reply, err)
                              : refuse(self, &reply, &cause, err);
}

mcp_status portarium_end_draft(portarium_draft *draft, portarium_link *self, const mcp_json **out,
                               mcp_error *err)
{
    portarium_tx tx = { .arena = self->arena };
    return portarium_draft_read(draft, &tx, out, err);
}

bool portarium_pause(int64_t ms)
{
    int64_t until = mcp_clock_mono_ms() + ms;
    for (int64_t left = ms; left > 0; left = until - mcp_clock_mono_ms()) {
        if (serve_signals() > 0)
            return false;
        usleep((useconds_t)(left < 20 ? left : 20) * 1000);
    }
    return serve_signals() == 0;
}
