/*
 * server.c - putting a server together: options with their defaults, features, transports.
 *
 * What is assembled here does not change while the server serves, so every thread may read it. The
 * one exception is at the end: a handler that does not end within the grace time still holds its
 * tool, its schemas and its files, so a server that it was left in frees nothing of them.
 */
#include "mcp/server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/core/identity.h"
#include "mcp/hash.h"
#include "mcp/method.h"
#include "mcp/random.h"
#include "mcp/server_int.h"
#include "mcp/http.h"
#include "mcp/transport/stdio.h"
#include "mcp/transport/web.h"

#define IDENTITY_MAX_BYTES ((size_t)64 * 1024)

/* ---- options --------------------------------------------------------------------------------- */

static int default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (cores < 2)
        return 2;
    return cores > 256 ? 256 : (int)cores;
}

static void set_default(int *option, int value)
{
    if (*option == 0)
        *option = value;
}

static void set_default_size(size_t *option, size_t value)
{
    if (*option == 0)
        *option = value;
}

static void fill_bounds(mcp_server_options *options)
{
    set_default_size(&options->message_max_bytes, (size_t)4 * 1024 * 1024);
    set_default_size(&options->reply_max_bytes, (size_t)16 * 1024 * 1024);
    set_default_size(&options->arena_max_bytes, (size_t)64 * 1024 * 1024);
    set_default(&options->calls_max_running, 32);
    set_default(&options->calls_max_queued, 256);
    set_default(&options->short_threads, default_threads());
    set_default(&options->timeout_ms, 60000);
    set_default(&options->grace_ms, 10000);
}

/* Stays NONE where no revision with sessions is served. */
static void fill_without_initialize(mcp_server_options *options)
{
    mcp_revision newest = options->newest < MCP_REVISION_NEWEST_SESSION
                              ? options->newest
                              : MCP_REVISION_NEWEST_SESSION;

    if (options->oldest > MCP_REVISION_NEWEST_SESSION) {
        options->without_initialize = MCP_REVISION_NONE;
        return;
    }
    if (options->without_initialize == MCP_REVISION_NONE)
        options->without_initialize = MCP_2025_03_26;
    if (options->without_initialize < options->oldest)
        options->without_initialize = options->oldest;
    if (options->without_initialize > newest)
        options->without_initialize = newest;
}

static void fill_revisions(mcp_server_options *options)
{
    if (options->oldest == MCP_REVISION_NONE)
        options->oldest = MCP_2024_11_05;
    if (options->newest == MCP_REVISION_NONE)
        options->newest = MCP_REVISION_NEWEST;
    fill_without_initialize(options);
}

static bool is_revision(mcp_revision revision)
{
    return (int)revision >= MCP_REVISION_NONE && revision <= MCP_REVISION_NEWEST;
}

static bool bounds_are_positive(const mcp_server_options *options)
{
    return options->calls_max_running > 0 && options->calls_max_queued > 0 &&
           options->short_threads > 0 && options->timeout_ms > 0 && options->grace_ms > 0;
}

static mcp_status check_options(const mcp_server_options *options, mcp_error *err)
{
    if (!options->name || !options->version)
        return mcp_error_set(err, MCP_E_PARAMS, "a server needs a name and a version");
    if (!is_revision(options->oldest) || !is_revision(options->newest) ||
        !is_revision(options->without_initialize))
        return mcp_error_set(err, MCP_E_PARAMS, "a revision in the options is none that is served");
    if (options->newest != MCP_REVISION_NONE && options->oldest > options->newest)
        return mcp_error_set(err, MCP_E_PARAMS, "the oldest revision is newer than the newest");
    return MCP_OK;
}

static mcp_status fill_options(mcp_server_options *options, mcp_error *err)
{
    mcp_status st = check_options(options, err);

    if (st != MCP_OK)
        return st;
    fill_bounds(options);
    fill_revisions(options);
    if (!options->write_note)
        options->write_note = "Write operations are disabled.";
    if (!bounds_are_positive(options))
        return mcp_error_set(err, MCP_E_PARAMS, "a bound in the options is negative");
    return MCP_OK;
}

/* ---- assembly -------------------------------------------------------------------------------- */

/* Every result without a session carries it, so it is written once. */
static mcp_status render_identity(mcp_server *server, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;
    mcp_status st;

    mcp_buf_init(&text, IDENTITY_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    mcp__write_identity(&writer, &server->options, MCP_REVISION_NEWEST);
    st = mcp_json_writer_status(&writer);
    if (st == MCP_OK) {
        server->identity = mcp_arena_strndup(server->arena, text.data, text.length);
        st = server->identity ? MCP_OK : MCP_E_NOMEM;
    }
    mcp_buf_clear(&text);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS,
                         "the server's name, title or description cannot be sent: %s",
                         mcp_status_words(st));
}

static mcp_status make_state_key(mcp_server *server, mcp_error *err)
{
    const char *secret = server->options.state_secret;

    if (!secret)
        return mcp_random_bytes(server->state_key, sizeof(server->state_key), err);
    if (strlen(secret) < MCP__STATE_KEY_SIZE)
        return mcp_error_set(err, MCP_E_PARAMS, "state_secret is shorter than %d bytes",
                             MCP__STATE_KEY_SIZE);
    return mcp_sha256(server->state_key, secret, strlen(secret), err);
}

static mcp_status make_parts(mcp_server *server, mcp_error *err)
{
    server->arena = mcp_arena_new(0);
    if (!server->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a server");
    mcp_status st = mcp_json_read(&server->no_arguments, server->arena, "{}", 2, err);
    if (st == MCP_OK)
        st = render_identity(server, err);
    if (st == MCP_OK)
        st = make_state_key(server, err);
    if (st == MCP_OK)
        st = mcp__tools_new(&server->tools, &server->options, err);
    if (st == MCP_OK)
        st = mcp__resources_new(&server->resources, &server->options, err);
    if (st == MCP_OK)
        st = mcp__prompts_new(&server->prompts, &server->options, err);
    if (st == MCP_OK)
        st = mcp__completions_new(&server->completions, &server->options, server->prompts,
                                  server->resources, err);
    return st;
}

mcp_status mcp_server_new(mcp_server **out, const mcp_server_options *options, mcp_error *err)
{
    mcp_server_options filled = *options;
    mcp_status st = fill_options(&filled, err);

    if (st != MCP_OK)
        return st;
    mcp_server *server = mcp__alloc_zeroed(1, sizeof(*server));
    if (!server)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a server");
    server->options = filled;
    server->capabilities = filled.logging ? MCP__CAN_LOGGING : 0;
    st = make_parts(server, err);
    if (st != MCP_OK) {
        mcp_server_free(server);
        return st;
    }
    *out = server;
    return MCP_OK;
}

mcp_status mcp_server_add(mcp_server *server, const mcp_features *features, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (features->tools) {
        server->capabilities |= MCP__CAN_TOOLS;
        st = mcp__tools_load(server->tools, features, err);
    }
    if (st == MCP_OK && features->resources) {
        server->capabilities |= MCP__CAN_RESOURCES;
        st = mcp__resources_load(server->resources, features, err);
    }
    if (st == MCP_OK && features->prompts) {
        server->capabilities |= MCP__CAN_PROMPTS;
        st = mcp__prompts_load(server->prompts, features, err);
    }
    if (st == MCP_OK && features->completions) {
        server->capabilities |= MCP__CAN_COMPLETIONS;
        st = mcp__completions_load(server->completions, features, err);
    }
    return st;
}

mcp__session_setup mcp__server_session_setup(mcp_server *server, mcp__executor *executor)
{
    return (mcp__session_setup){
        .server = server,
        .options = &server->options,
        .route = mcp__method_route,
        .executor = executor,
        .no_arguments = server->no_arguments,
        .state_key = server->state_key,
        .identity = server->identity,
    };
}

mcp_status mcp_server_stdio(mcp_server *server, mcp_error *err)
{
    mcp__session_setup setup = mcp__server_session_setup(server, NULL);
    bool is_left_running = false;
    mcp_status st = mcp__stdio_serve(&setup, mcp__tools_long_threads(server->tools),
                                     &is_left_running, err);

    server->is_left_running = server->is_left_running || is_left_running;
    return st;
}

mcp_status mcp_server_http(mcp_server *server, const mcp_http_options *options, mcp_error *err)
{
    mcp__session_setup setup = mcp__server_session_setup(server, NULL);
    bool is_left_running = false;
    mcp_status st = mcp__web_serve(&setup, mcp__tools_long_threads(server->tools), options,
                                   &is_left_running, err);

    server->is_left_running = server->is_left_running || is_left_running;
    return st;
}

void mcp_server_free(mcp_server *server)
{
    if (!server || server->is_left_running)
        return;
    mcp__completions_free(server->completions);
    mcp__tools_free(server->tools);
    mcp__resources_free(server->resources);
    mcp__prompts_free(server->prompts);
    mcp_arena_free(server->arena);
    free(server);
}
