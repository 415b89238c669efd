/*
 * serve.c - the command `serve`: from flags to a server, and the order in which its parts start and
 * stop.
 *
 * Each part is closed after everything that uses it: log, directories and arena belong to this
 * file, then come the parts of the program (`open`), the server, what uses the server (`start`),
 * and the transport.
 */
#include "serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "keys/base64.h"
#include "serve/http.h"

#define ICON_MAX_BYTES 4096 /* of its file */
#define ICON_BEGIN "[{\"src\":\"data:image/svg+xml;base64,"
#define ICON_END "\",\"mimeType\":\"image/svg+xml\",\"sizes\":[\"any\"]}]"

const char *const serve_tool_names[] = { "canonical", "safe", "auto", NULL };
const char *const serve_revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
                                        "2025-11-25", "2026-07-28", NULL };

/* The arguments and the directories of --allowed-dirs, between commas; without both those of its
 * variable, between colons; without that too the current one. A flag that names none is an error,
 * and does not select the current directory. */
static mcp_status open_guard(serve_setup *setup, mcp_error *err)
{
    const char *roots[SERVE_DIRS_MAX + 1];
    size_t count = 0;
    const cli_line *line = setup->line;
    bool is_given = cli_given(line, "allowed-dirs");
    const char *text = cli_string(line, "allowed-dirs");

    while (count <= SERVE_DIRS_MAX && cli_argument(line, count)) {
        roots[count] = cli_argument(line, count);
        count++;
    }
    if (count > 0 && !is_given)
        text = "";
    char *list = mcp_arena_strdup(setup->arena, text ? text : ".");
    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    while (list && count <= SERVE_DIRS_MAX) {
        const char *root = strsep(&list, is_given ? "," : ":");
        if (*root)
            roots[count++] = root;
    }
    if (count > SERVE_DIRS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d allowed directories", SERVE_DIRS_MAX);
    return guard_new(&setup->guard, roots, count, err);
}

static mcp_tool_names tool_names(const char *name)
{
    if (strcmp(name, "safe") == 0)
        return MCP_NAMES_SAFE;
    return strcmp(name, "auto") == 0 ? MCP_NAMES_AUTO : MCP_NAMES_CANONICAL;
}

static mcp_status fill_in(serve_setup *setup, void *data, mcp_error *err)
{
    const cli_line *line = setup->line;
    mcp_server_options *options = &setup->options;

    setup->arena = mcp_arena_new(0);
    if (!setup->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    options->oldest = mcp_revision_find(cli_string(line, "revision"));
    options->newest = options->oldest;
    options->strict_version = cli_flag(line, "strict-version");
    options->tool_names = tool_names(cli_string(line, "tool-names"));
    if (cli_has(line, "allow-write"))
        options->allow_write = cli_flag(line, "allow-write");
    options->data = data;
    options->log = serve_log_of(setup->log, 0);
    setup->features.data = data;
    setup->http.routes_data = data;
    setup->verify_data = data;
    setup->sample_data = data;
    return cli_has(line, "allowed-dirs") ? open_guard(setup, err) : MCP_OK;
}

/* The server's icon is a file of its own, with which clients show it. */
static mcp_status fill_icons(serve_setup *setup, mcp_error *err)
{
    const mcp_file *icon = mcp_files_find(setup->features.files, SERVE_ICON);
    mcp_buf text;

    if (!icon || setup->options.icons)
        return MCP_OK;
    if (icon->length > ICON_MAX_BYTES)
        return mcp_error_set(err, MCP_E_LIMIT, "%s has more than %d bytes", SERVE_ICON,
                             ICON_MAX_BYTES);
    mcp_buf_init(&text, sizeof ICON_BEGIN ICON_END + KEYS_BASE64_LENGTH(ICON_MAX_BYTES));
    mcp_buf_puts(&text, ICON_BEGIN);
    keys_base64(&text, icon->bytes, icon->length);
    mcp_buf_puts(&text, ICON_END);
    if (text.status == MCP_OK)
        setup->options.icons = mcp_arena_strndup(setup->arena, text.data, text.length);
    mcp_buf_clear(&text);
    return setup->options.icons ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "out of memory");
}

/* A collector that cannot be used is no reason not to serve. */
static void open_trace(serve_setup *setup)
{
    const char *endpoint = getenv(SERVE_TRACE_VARIABLE);
    const trace_options how = { .endpoint = endpoint,
                                .headers = getenv(SERVE_TRACE_HEADERS_VARIABLE),
                                .name = setup->options.name,
                                .version = setup->options.version,
                                .log = setup->options.log };
    mcp_error err = MCP_ERROR_INIT;

    if (!endpoint || !endpoint[0])
        return;
    if (trace_open(&setup->trace, &how, &err) != MCP_OK) {
        mcp_log_write(&setup->options.log, MCP_LOG_WARNING, "no traces: %s", err.message);
        return;
    }
    setup->options.ended = trace_ended;
    setup->options.ended_data = setup->trace;
}

/* Everything from `start` to `stop`. */
static mcp_status run_server(mcp_server *server, const serve_server *service, serve_setup *setup,
                             void *data, mcp_error *err)
{
    mcp_status st = service->start ? service->start(server, setup, data, err) : MCP_OK;

    if (st == MCP_OK && serve_wants_http(setup->line))
        st = serve_http(server, service, setup, err);
    else if (st == MCP_OK)
        st = mcp_server_stdio(server, err);
    if (service->stop)
        service->stop(data);
    return st;
}

/* Everything from `open` to `close`. */
static mcp_status run(const serve_server *service, serve_setup *setup, void *data, mcp_error *err)
{
    mcp_server *server = NULL;
    mcp_status st = service->open ? service->open(setup, data, err) : MCP_OK;

    if (st == MCP_OK)
        st = fill_icons(setup, err);
    if (st == MCP_OK)
        open_trace(setup);
    if (st == MCP_OK)
        st = mcp_server_new(&server, &setup->options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &setup->features, err);
    if (st == MCP_OK)
        st = run_server(server, service, setup, data, err);
    mcp_server_free(server);
    trace_close(setup->trace);
    if (service->close)
        service->close(data);
    return st;
}

int serve_run(const serve_server *service, const cli_line *line, void *data)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    serve_log log = { .file = -1 };
    serve_setup setup = {
        .line = line,
        .log = &log,
        .options = service->options,
        .features = service->features,
        .http = service->http,
        .verify = service->verify,
        .sample = service->sample,
        .jwt = AUTH_OPTIONS_INIT,
    };
    mcp_error err = MCP_ERROR_INIT;

    sigaction(SIGPIPE, &ignore, NULL);
    mcp_status st = serve_systemd_read(&setup.systemd, &err);
    if (st == MCP_OK)
        st = serve_http_check(service, line, &setup.systemd, &err);
    if (st == MCP_OK)
        st = serve_log_open(&log, cli_string(line, "log-level"), cli_string(line, "log-file"),
                            service->log_parts, &err);
    if (st == MCP_OK)
        st = fill_in(&setup, data, &err);
    if (st == MCP_OK)
        st = run(service, &setup, data, &err);
    if (st != MCP_OK)
        fprintf(cli_err(line), "error: %s\n", err.message);
    guard_free(setup.guard);
    serve_log_close(&log);
    mcp_arena_free(setup.arena);
    int exit_status = serve_exit_status(st);
    /* The input of this command is its line and its files. */
    return exit_status == SERVE_EXIT_INVALID ? SERVE_EXIT_FILES : exit_status;
}
